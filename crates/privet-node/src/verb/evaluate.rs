//! `privet evaluate`

use std::path::Path;
use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Schema, Table};
use privet::model::Model;
use privet::noisy::evaluation::{Evaluation, PaidReport};
use privet::privacy::account::Price;
use privet::privacy::{Certificate, Delta, Epsilon, Randomness};
use serde_json::json;

use super::account::{Account, Opened};
use super::exit::Failure;
use super::request::{Consent, Evaluate};
use super::{Answer, open_model, output, permission, words};
use crate::job::{Rows, Source};

pub(super) fn run(evaluate: &Evaluate) -> Result<Answer, Failure> {
    let model = open_model(&evaluate.model)?;
    let schema = Arc::new(match &evaluate.schema {
        // A model made from public rows does not make other rows public.
        None if !model.schema().is_private() => {
            return Err(Failure::usage(
                "the model was trained on public rows, which does not make these rows public: add their schema with --schema FILE. \
                 Nothing was read.",
            ));
        }
        None => model.schema().clone(),
        Some(file) => schema_of(file, &model)?,
    });
    let rows = Source {
        schema,
        data: evaluate.data.clone(),
    };
    let account = Account::File(&evaluate.ledger);
    let Some(out) = &evaluate.out else {
        return evaluated(&model, &rows, evaluate.consent, &account);
    };
    check_out(evaluate, out)?;
    let answer = evaluated(&model, &rows, evaluate.consent, &account)?;
    output::written_paid(out, answer.json.as_bytes())?;
    Ok(Answer {
        text: format!("{}\nWrote {}\n", answer.text, out.display()),
        is_paid: false,
        ..answer
    })
}

/// That a report can be written there, before it is paid for.
fn check_out(evaluate: &Evaluate, out: &Path) -> Result<(), Failure> {
    if !matches!(evaluate.consent, Consent::Spend(_)) {
        return Err(Failure::usage(
            "--out is for a report that may be published: add --spend E, or remove --out. Nothing was read.",
        ));
    }
    output::check(&evaluate.ledger, out)?;
    let mut read = vec![evaluate.model.as_path(), evaluate.data.as_path()];
    read.extend(evaluate.schema.as_deref());
    if output::clash(&[out], &read).is_some() {
        return Err(Failure::usage(format!(
            "--out would overwrite {}, which the report is made from: choose another name. Nothing was read.",
            out.display()
        )));
    }
    output::check_new(out, evaluate.overwrite)?;
    output::check_writable(out)
}

/// How good a model is on labelled rows, whose columns are the model's.
///
/// # Errors
/// A [`Failure`] if that may not be measured, cannot be paid for, or the rows cannot be read.
pub fn evaluated(
    model: &Model,
    rows: &dyn Rows,
    consent: Consent,
    account: &Account<'_>,
) -> Result<Answer, Failure> {
    let schema = Arc::clone(rows.schema());
    let evaluation = Evaluation::of(&schema)?;
    permitted(&schema, consent)?;
    // Figures count every row alike.
    let read = || rows.read(&Intake::everything(schema, model.keep()).without_weights());
    if let Consent::Spend(epsilon) = consent {
        let budget = account.budget(epsilon, Delta::ZERO);
        let opened = account.open(rows.schema().dataset(), &rows.schema().relation(), &budget)?;
        let key = opened.signing_key()?;
        let (report, certificate) = paid(rows, &opened, epsilon, (&evaluation, model), read)
            .map_err(|failure| failure.enough(&budget))?;
        let text = format!("{report}\n{certificate}\n");
        let signed = key.map_or_else(|| certificate.to_json(), |key| certificate.to_signed_json(&key));
        let signed: serde_json::Value = serde_json::from_str(&signed).unwrap_or_default();
        let json = json!({"report": report, "certificate": signed});
        return Ok(Answer::paid(words::wrapped(&text), json));
    }
    let Account::File(ledger) = account else {
        return Err(Failure::usage(
            "an exact evaluation looks into the ledger whether these rows are private: give one that lasts. Nothing was read.",
        ));
    };
    let table = read()?;
    let permission = permission::take(
        rows,
        "a model was evaluated without noise (--not-protected)",
        ledger,
    )?;
    let report = evaluation.open(
        table.into_cells().map(|cells| evaluation.judge(model, &cells)),
        &permission,
    );
    Ok(Answer::new(report.to_string(), json!({"report": report})))
}

/// Whether the rows may be evaluated at all; from their schema and the command alone.
fn permitted(schema: &Schema, consent: Consent) -> Result<(), Failure> {
    match consent {
        Consent::Nothing if schema.is_private() => Err(Failure::usage(format!(
            "the schema of '{}' marks {} as private, and an exact accuracy reveals something about these people. Add --spend E to pay ε = E \
             for a noisy answer, or --not-protected for an exact one on your own terminal, which the ledger records. \
             Nothing was read.",
            schema.dataset(),
            permission::private_columns(schema)
        ))),
        Consent::NotProtected => permission::own_terminal(schema),
        Consent::Spend(_) if !schema.is_private() => Err(Failure::usage(
            "the schema declares nothing private, so there is nothing to pay for: remove --spend. Nothing was read.",
        )),
        _ => Ok(()),
    }
}

/// The rows' own schema, if its columns are the model's: in the model's bins, where it says nothing about bins.
fn schema_of(file: &Path, model: &Model) -> Result<Schema, Failure> {
    let schema = super::schema::open(file)?.with_bins_of(model.schema());
    match schema.differs(model.schema()) {
        None => Ok(schema),
        Some(why) => Err(Failure::input(format!(
            "{}: {why}, so the model cannot read these rows",
            file.display()
        ))),
    }
}

/// What may be released of the rows for ε. What cannot be, or cannot be paid for, is refused before the rows are opened.
fn paid(
    rows: &dyn Rows,
    opened: &Opened<'_>,
    epsilon: Epsilon,
    (evaluation, model): (&Evaluation, &Model),
    read: impl FnOnce() -> Result<Table, Error>,
) -> Result<(PaidReport, Certificate), Failure> {
    let (schema, relation) = (rows.schema(), rows.schema().relation());
    evaluation.check(schema, &relation, epsilon)?;
    let price = (Price::Pure(epsilon), Delta::ZERO);
    let mut ledger = opened.ledger(schema.dataset(), &relation, price, Randomness::from_os()?)?;
    ledger.promise(Price::Pure(epsilon), Delta::ZERO)?;
    let table = read()?;
    opened.recognise(rows)?;
    let report = evaluation.paid(model, table, &mut ledger, epsilon)?;
    Ok((report, ledger.close()))
}
