//! `privet plan`

use std::fmt::Write;
use std::path::Path;

use privet::setting::plain::Plain;
use serde_json::json;

use super::exit::Failure;
use super::high::Where;
use super::{Answer, leave, words};
use crate::job::{Job, Setting};

fn summary(plain: &Plain) -> String {
    let settings = plain.settings();
    settings.iter().skip(1).map(|(name, value)| format!("{name} = {value}")).collect::<Vec<_>>().join(", ")
}

pub(super) fn run(file: &Path, ledger: &Where) -> Result<Answer, Failure> {
    let job = Job::read(file)?;
    let Setting::Plain(plain) = &job.setting;
    let schema = &job.schema;
    let mut text = String::new();
    let _ = writeln!(text, "NOBODY IS PROTECTED. setting = \"plain\" trains without privacy: whoever sees the model may learn about");
    let _ = writeln!(text, "the people in '{}'. It is for tables that are public, and for comparison.\n", schema.dataset());
    let _ = writeln!(text, "reads      {}", job.data.display());
    let _ = writeln!(text, "trains     {}", summary(plain));
    let _ = writeln!(text, "writes     {}", job.output.display());
    let _ = if schema.is_private() {
        writeln!(
            text,
            "ledger     {}: it will say that '{}' was used without protection, for ever",
            ledger.path()?.display(),
            schema.dataset()
        )
    } else {
        writeln!(text, "ledger     not needed: the schema declares nothing private")
    };
    if schema.is_private() {
        let _ = writeln!(
            text,
            "\nThe schema marks {} as private, so `privet train` will refuse without --not-protected.",
            leave::private_columns(schema)
        );
    }
    let json = json!({
        "setting": "plain",
        "protected": false,
        "dataset": schema.dataset(),
        "data": job.data,
        "output": job.output,
        "algorithm": summary(plain),
        "needs_not_protected": schema.is_private(),
        "charges": [],
    });
    Ok(Answer::new(words::wrapped(&text), json))
}
