//! `privet train` where owners have different rows: every party on this machine, each owner with its own table and its own line in the ledger.

use std::fmt::Write;

use privet::Error;
use privet::model::Model;
use privet::setting::horizontal::{Outcome, PaidReport};
use serde_json::json;

use super::save;
use crate::job::{HorizontalJob, Job};
use crate::ledger::Shared;
use crate::verb::exit::Failure;
use crate::verb::gathering::Traffic;
use crate::verb::owners::{OwnersPlayed, OwnersRun, charges, refusal};
use crate::verb::request::Train;
use crate::verb::{Answer, permission, words};

pub(super) fn run(owners: &HorizontalJob, job: &Job, train: &Train) -> Result<Answer, Failure> {
    let path = train.ledger.path()?;
    if std::fs::symlink_metadata(path).is_err() {
        let charges = charges(owners, path)?;
        refused(refusal(owners, &charges, path))?;
    }
    let shared = Shared::new(train.ledger.open()?);
    let run = OwnersRun::find(owners, &shared, path)?;
    // A run that goes on may have paid already; what was not paid for is checked by each ledger when it pays.
    if !run.is_resumed {
        let charges = charges(owners, path)?;
        refused(refusal(owners, &charges, path))?;
    }
    let key = shared.store().signing_key()?;
    let tables = owners.owners.iter().map(|owner| owner.read());
    let tables = tables.collect::<Result<Vec<_>, _>>()?;
    permission::recognise(&mut shared.store(), &owners.sources())?;
    let OwnersPlayed { outcome, traffic } = run.play(tables)?;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(failure) => {
            run.end()?;
            return Err(failure);
        }
    };
    let Outcome::Trained {
        model,
        owners: count,
        report,
    } = outcome
    else {
        return Err(Error::internal("the miner has a model").into());
    };
    save(job, &model, Some(&key))?;
    run.end()?;
    Ok(answer(
        (owners, job),
        (&model, report.as_deref()),
        &traffic,
        (count, run.is_resumed),
    ))
}

fn refused(failure: Option<Failure>) -> Result<(), Failure> {
    let Some(failure) = failure else { return Ok(()) };
    Err(Failure {
        message: format!("refused, and nobody has paid: {}", failure.message),
        ..failure
    })
}

fn answer(
    (owners, job): (&HorizontalJob, &Job),
    (model, report): (&Model, Option<&PaidReport>),
    traffic: &Traffic,
    (count, is_resumed): (usize, bool),
) -> Answer {
    let mut text = words::warnings(&owners.plan.warnings());
    let _ = writeln!(text, "{}\n", model.certificate());
    text += &traffic.text();
    let _ = writeln!(
        text,
        "trained    on the rows of {count} of {} owners",
        owners.owners.len()
    );
    if let Some(report) = report {
        let _ = writeln!(text, "\nHOW GOOD THE MODEL IS ON HELD-OUT ROWS\n{report}");
    }
    if is_resumed {
        let _ = writeln!(
            text,
            "resumed    a run that was broken off: nothing was paid or drawn a second time"
        );
    }
    let _ = writeln!(
        text,
        "\nWrote {}: {}",
        job.output.display(),
        model.ensemble().summary()
    );
    let json = json!({
        "model": job.output,
        "certificate": model.certificate(),
        "ensemble": model.ensemble().summary(),
        "report": report,
        "sent": traffic.json(),
        "owners": count,
        "resumed": is_resumed,
        "warnings": owners.plan.warnings(),
    });
    Answer::new(words::wrapped(&text), json)
}
