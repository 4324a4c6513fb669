//! `privet train`

mod vertical;

use std::fmt::Write;

use privet::model::Model;
use privet::privacy::{Ledger, Neighbours, Randomness, Typed};
use privet::setting::plain::Plain;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::high::{Train, Where};
use super::{Answer, leave, words};
use crate::job::{Curated, Job, Setting, Source};
use crate::ledger::{Shared, Store, write_whole};
use crate::progress::Progress;

pub(super) fn run(train: &Train) -> Result<Answer, Failure> {
    let job = Job::read(&train.job)?.with(train.data.as_deref(), train.out.as_deref())?;
    leave::spare_model(&train.ledger, &job.output, train.overwrite)?;
    let model = match &job.setting {
        Setting::Plain(plain, source) => unprotected(plain, source, train)?,
        Setting::Central(curated, source) => {
            let relation = curated.relation.clone();
            let ledger = &train.ledger;
            relation.typed(Curator {
                curated,
                source,
                ledger,
            })?
        }
        Setting::Vertical(apart) => return vertical::run(apart, &job, train),
    };
    save(&job, &model)?;

    let mut text = String::new();
    let _ = writeln!(text, "{}", model.certificate());
    let _ = writeln!(
        text,
        "\nWrote {}: {}",
        job.output.display(),
        model.ensemble().summary()
    );
    let json = json!({"model": job.output, "certificate": model.certificate(), "ensemble": model.ensemble().summary()});
    Ok(Answer::new(words::wrapped(&text), json))
}

fn unprotected(plain: &Plain, source: &Source, train: &Train) -> Result<Model, Failure> {
    leave::ask(&source.schema, "setting = \"plain\"", train.not_protected)?;
    let table = source.table(plain.keep())?;
    let rows = leave::Rows::of(source);
    let leave = leave::take(
        &rows,
        "a model was trained without privacy (setting = \"plain\")",
        &train.ledger,
    )?;
    let bar = Progress::steps("Training");
    Ok(plain.fit(table, &leave, &|done, of| bar.at(done, of))?)
}

/// One curator, who pays from a ledger.
struct Curator<'a> {
    curated: &'a Curated,
    source: &'a Source,
    ledger: &'a Where,
}

impl Typed for Curator<'_> {
    type Output = Result<Model, Failure>;

    fn under<N: Neighbours>(self, relation: N) -> Self::Output {
        let Self {
            curated,
            source,
            ledger,
        } = self;
        // Before the rows are opened: what cannot be paid for is not read.
        let price = curated.central.price(&source.schema, &curated.relation)?;
        let shared = Shared::new(Store::open(ledger.path()?)?);
        let dataset = source.schema.dataset();
        let mut ledger = Ledger::open(dataset, relation, shared.clone(), Randomness::from_os()?)?;
        ledger.promise(price)?;
        let table = source.table(curated.central.keep())?;
        leave::recognise(&mut shared.store(), &[&leave::Rows::of(source)])?;
        let bar = Progress::steps("Training");
        Ok(curated.central.fit(table, ledger, &|done, of| bar.at(done, of))?)
    }
}

/// The whole model is there afterwards, or what was before.
fn save(job: &Job, model: &Model) -> Result<(), Failure> {
    write_whole(&job.output, &model.to_bytes()).map_err(|e| Failure {
        exit: Exit::Unexpected,
        message: format!("{} cannot be written: {e}", job.output.display()),
    })
}
