//! `privet plan` for the secure setting.

use std::fmt::Write;

use serde_json::json;

use super::{SHOWN, summary};
use crate::job::{Job, SecureJob};
use crate::verb::exit::{Exit, Failure};
use crate::verb::parties::unlisted_for;
use crate::verb::request::LedgerFile;
use crate::verb::{Answer, output, words};

pub(super) fn run(parties: &SecureJob, job: &Job, ledger: &LedgerFile) -> Result<Answer, Failure> {
    let plan = parties.plan();
    let path = ledger.path()?;
    let [peer, reader] = ["the other party", "whoever sees the model"].map(|to| shown(plan, to));
    let mut text = String::from("WHAT EACH PARTY SHOWS THE OTHER\n");
    for line in &peer {
        let _ = writeln!(text, "  -  {line}");
    }
    let bits = plan.most_bits();
    let _ = writeln!(
        text,
        "  Together that is at most {bits:.0} bits. Nothing else about rows leaves a party: the rest of what it sends can be made up from this list."
    );
    let _ = writeln!(text, "\nWHAT A READER OF THE MODEL LEARNS");
    for line in &reader {
        let _ = writeln!(text, "  -  {line}");
    }
    for line in plan.cautions() {
        let _ = writeln!(text, "  -  {line}");
    }
    let _ = writeln!(text, "\nWHAT HAPPENS");
    for (role, party) in ["initiator", "responder"].iter().zip(&parties.parties) {
        let _ = writeln!(
            text,
            "  reads      {}, at {}, the {role}",
            party.source.data.display(),
            party.name
        );
    }
    let settings = plan.settings();
    let _ = writeln!(text, "  trains     {}", summary(&settings));
    let _ = writeln!(text, "  writes     {}", output::describe(&job.output));
    let refused = unlisted_for(path, &parties.data_sets(), SHOWN)?;
    if let Some(why) = &refused {
        let _ = writeln!(text, "\n`privet train` would be refused: {why}");
    }
    let json = json!({
        "setting": "secure",
        "protected": true,
        "output": job.output,
        "settings": settings,
        "shown_to_the_other_party": peer,
        "most_bits": bits,
        "shown_to_readers": reader,
        "cautions": plan.cautions(),
        "refused": refused,
    });
    let exit = if refused.is_some() { Exit::Budget } else { Exit::Ok };
    let answer = Answer::new(words::wrapped(&text), json);
    Ok(Answer { exit, ..answer })
}

/// What is shown to somebody, item by item.
pub(in crate::verb) fn shown(plan: &privet::setting::secure::Plan, to: &str) -> Vec<String> {
    let items = plan.items();
    let items = items.iter().filter(|item| item.leak.to() == to);
    let line = |item: &privet::setting::secure::Item| {
        format!(
            "{}, {} at most",
            item.leak.what(),
            words::count(item.most, "time", "times")
        )
    };
    items.map(line).collect()
}
