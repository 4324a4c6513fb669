//! `privet evaluate`

use std::path::Path;
use std::sync::Arc;

use privet::data::{Intake, Schema, Table};
use privet::model::Model;
use privet::privacy::account::Price;
use privet::privacy::{Certificate, Delta, Epsilon, Ledger, Neighbours, Randomness, Typed};
use privet::setting::evaluation::{Evaluation, PaidReport};
use serde_json::json;

use super::exit::Failure;
use super::request::{Consent, Evaluate};
use super::{Answer, leave, open_model, words};
use crate::ledger::{Shared, Store};
use crate::progress::Progress;
use crate::table::{self, Extra};

pub(super) fn run(evaluate: &Evaluate) -> Result<Answer, Failure> {
    let model = open_model(&evaluate.model)?;
    let schema = Arc::new(match &evaluate.schema {
        // A model made from public rows does not make other rows public.
        None if !model.schema().is_private() => {
            return Err(Failure::usage(
                "the model was made from rows that are public; whether these are, their own schema has to say: add --schema FILE. \
                 Nothing was read.",
            ));
        }
        None => model.schema().clone(),
        Some(file) => schema_of(file, &model)?,
    });
    let evaluation = Evaluation::of(&schema)?;
    permitted(&schema, evaluate.consent)?;
    let rows = leave::Rows {
        schema: &schema,
        file: &evaluate.data,
    };
    let read = || read(&model, &schema, &evaluate.data);
    if let Consent::Spend(epsilon) = evaluate.consent {
        let shared = Shared::new(Store::open(evaluate.ledger.path()?)?);
        let key = shared.store().signing_key()?;
        let paying = Paying {
            rows: &rows,
            shared,
            epsilon,
            evaluation: &evaluation,
            model: &model,
            read,
        };
        let (report, certificate) = schema.relation().typed(paying)?;
        let text = format!("{report}\n{certificate}\n");
        let signed: serde_json::Value =
            serde_json::from_str(&certificate.to_signed_json(&key)).unwrap_or_default();
        let json = json!({"report": report, "certificate": signed});
        return Ok(Answer::new(words::wrapped(&text), json));
    }
    let table = read()?;
    let leave = leave::take(
        &rows,
        "a model was evaluated without noise (--not-protected)",
        &evaluate.ledger,
    )?;
    let report = evaluation.open(
        table.into_cells().map(|cells| evaluation.judge(&model, &cells)),
        &leave,
    );
    Ok(Answer::new(report.to_string(), json!({"report": report})))
}

/// Whether the rows may be evaluated at all; from their schema and the command alone.
fn permitted(schema: &Schema, consent: Consent) -> Result<(), Failure> {
    match consent {
        Consent::Nothing if schema.is_private() => Err(Failure::usage(format!(
            "the schema of '{}' marks {} as private, and an exact accuracy tells about these people. Say --spend E to pay ε = E \
             for a noisy answer, or --not-protected for an exact one on your own terminal, which the ledger records. \
             Nothing was read.",
            schema.dataset(),
            leave::private_columns(schema)
        ))),
        Consent::NotProtected => leave::own_terminal(schema),
        Consent::Spend(_) if !schema.is_private() => Err(Failure::usage(
            "the schema declares nothing private, so there is nothing to pay for: leave out --spend. Nothing was read.",
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

fn read(model: &Model, schema: &Arc<Schema>, data: &Path) -> Result<Table, Failure> {
    let intake = Intake::everything(Arc::clone(schema), model.keep());
    let bar = Progress::bytes(format!("Reading {}", data.display()));
    Ok(table::read(data, &intake, Extra::Refuse, &|done, of| {
        bar.at(done, of)
    })?)
}

struct Paying<'a, R> {
    rows: &'a leave::Rows<'a>,
    shared: Shared,
    epsilon: Epsilon,
    evaluation: &'a Evaluation,
    model: &'a Model,
    read: R,
}

impl<R: FnOnce() -> Result<Table, Failure>> Typed for Paying<'_, R> {
    type Output = Result<(PaidReport, Certificate), Failure>;

    fn under<N: Neighbours>(self, relation: N) -> Self::Output {
        let schema = self.rows.schema;
        // Before the rows are opened: what cannot be, or cannot be paid for, is not read.
        self.evaluation
            .check(schema, &relation.relation(), self.epsilon)?;
        let journal = self.shared.clone();
        let mut ledger = Ledger::open(schema.dataset(), relation, journal, Randomness::from_os()?)?;
        ledger.promise(Price::Pure(self.epsilon), Delta::ZERO)?;
        let table = (self.read)()?;
        leave::recognise(&mut self.shared.store(), &[self.rows])?;
        let report = self
            .evaluation
            .paid(self.model, table, &mut ledger, self.epsilon)?;
        Ok((report, ledger.close()))
    }
}
