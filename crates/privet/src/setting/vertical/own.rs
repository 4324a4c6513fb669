//! What a label holder brings: labels, columns of its own, ids.

use super::joined::Own;
use super::message::Message;
use super::purse::{Held, Purse, purse};
use super::{Alignment, Vertical, meeting};
use crate::Error;
use crate::data::schema::Label;
use crate::data::{Cells, Names, Schema, Table, Target};
use crate::error::JournalFault;
use crate::party::{Context, Item, Keeper, Record};
use crate::privacy::mechanism::ordered::{Column, Desensitised, RandomisedResponse};
use crate::privacy::{Certificate, Epsilon, Ledger, Neighbours, Private, Relation, Unprotected};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// What a record calls the labels.
const LABELS: &str = "the labels";
/// What labels leave for, as the ledger says it.
const TRAINING: &str = "training";

/// That a budget protects the labels that change, and whatever else the schema calls private.
pub(super) fn protects(vertical: &Vertical, schema: &Schema, relation: &Relation) -> Result<(), Error> {
    vertical.check_label_holder(schema)?;
    if vertical.label_epsilon.is_none() {
        return Err(Error::parameter(
            "label_epsilon",
            "label_epsilon is missing: say how much labels change",
        ));
    }
    schema.covered_by(relation)?;
    let label = schema.label().map(|(column, _)| &column.name);
    match (relation, label) {
        (Relation::ReplacePrivate { columns, .. }, Some(label)) if !columns.contains(label) => {
            Err(Error::misuse(format!(
                "labels change so that they are protected, and the budget does not protect '{label}'"
            )))
        }
        _ => Ok(()),
    }
}

/// Under what terms a label holder's own rows are used.
pub(super) enum Terms {
    /// As they are: whoever sees the model may learn about them.
    Open(Box<Unprotected>),
    /// Its columns are public, its labels change before they are used, or did so before.
    Noisy {
        purse: Box<dyn Purse>,
        labels: Option<Box<NoisyLabels>>,
    },
}

/// What a label holder has brought.
pub(super) struct Brought {
    pub(super) own: Own,
    pub(super) ids: Option<Names>,
    pub(super) certificate: Certificate,
}

/// Labels that have left, changed, and what was promised about them: whoever has them may train on them as often as they like.
#[derive(Debug, Clone, PartialEq)]
pub struct NoisyLabels {
    epsilon: Epsilon,
    classes: Vec<u16>,
    certificate: Certificate,
}

impl Wire for NoisyLabels {
    fn write(&self, to: &mut Writer) {
        to.long(self.epsilon.billionths());
        to.list(&self.classes, |class, to| to.word((*class).into()));
        to.text(&self.certificate.to_json());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let class = |from: &mut Reader<'_>| {
            u16::try_from(from.word()?).map_err(|_| Malformed::new("a class that cannot be"))
        };
        Ok(Self {
            epsilon: Epsilon::from_billionths(from.long()?),
            classes: from.list(4, class)?,
            certificate: Certificate::from_json(&from.text(1 << 24)?)
                .ok_or_else(|| Malformed::new("a certificate that cannot be read"))?,
        })
    }
}

impl NoisyLabels {
    /// The labels of a table, changed: from the record if they stand there; else they are paid for, drawn, and written there. As
    /// [`Release::keep`](super::Release::keep) does with columns.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#randomised-response` and `docs/proofs/ordered.md#redraw`.
    ///
    /// # Errors
    /// As [`Release::keep`](super::Release::keep), and [`Error::Parameter`] if labels do not change or cannot.
    pub fn keep<N: Neighbours>(
        vertical: &Vertical,
        table: &Table,
        ledger: Ledger<N>,
        record: Box<dyn Record>,
    ) -> Result<Self, Error> {
        protects(vertical, table.schema(), &ledger.relation().relation())?;
        let mut keeper = Keeper::open(record)?;
        let purse = purse(ledger, keeper.name())?;
        // Held until the record has the labels: another process would find them paid for and not kept, and draw them too.
        let mut held = None;
        let labels = keeper.once(LABELS, || {
            let (labels, ledger) = Self::draw(vertical, table, purse)?;
            held = Some(ledger);
            Ok(labels)
        })?;
        drop(held);
        labels.check(vertical, None)?;
        Ok(labels)
    }

    /// Whether [`keep`](Self::keep) would refuse these labels: as [`Release::check_keep`](super::Release::check_keep).
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    pub fn check_keep<N: Neighbours>(
        vertical: &Vertical,
        table: &Table,
        ledger: Ledger<N>,
        record: &mut dyn Record,
    ) -> Result<(), Error> {
        protects(vertical, table.schema(), &ledger.relation().relation())?;
        let mut ledger = ledger;
        for item in record.read()? {
            match item {
                Item::Began(name) => ledger = ledger.for_run(name.to_text())?,
                Item::Released { what, value } if what == LABELS => {
                    let labels = Self::from_bytes(&value).map_err(|e| {
                        Error::journal(
                            JournalFault::Damaged,
                            format!("the labels in the record cannot be read: {e}"),
                        )
                    })?;
                    return labels.check(vertical, None);
                }
                _ => {}
            }
        }
        let (name, _, response) = response(vertical, table.schema())?;
        let column = Column::slots(name, &response, Private::new(Vec::new()));
        ledger.admits_columns(TRAINING, &[column.distance()])
    }

    /// That they are the labels that the job speaks of.
    pub(super) fn check(&self, vertical: &Vertical, rows: Option<usize>) -> Result<(), Error> {
        if vertical.label_epsilon != Some(self.epsilon) {
            return Err(Error::parameter(
                "label_epsilon",
                format!(
                    "label_epsilon is another now, but the labels that were kept were changed with {}. Labels leave once: go on with that",
                    self.epsilon
                ),
            ));
        }
        if rows.is_some_and(|rows| rows != self.classes.len()) {
            return Err(Error::data(
                "the labels that were kept are of another table: it has not as many rows",
            ));
        }
        Ok(())
    }

    fn draw(vertical: &Vertical, table: &Table, mut purse: Box<dyn Purse>) -> Result<(Self, Held), Error> {
        let (name, epsilon, response) = response(vertical, table.schema())?;
        let classes = table.cells().as_ref().map(|cells| match cells.target() {
            Some(Target::Classes(classes)) => classes.clone(),
            _ => Vec::new(),
        });
        let column = Column::slots(name, &response, classes);
        // Nothing is written about columns that are public if the labels cannot leave.
        purse.admits(TRAINING, &[column.distance()])?;
        if table.schema().features().next().is_some() {
            purse.use_public()?;
        }
        let drawn = purse.desensitise(TRAINING, vec![column])?;
        let [Desensitised::Slots(classes)] = <[_; 1]>::try_from(drawn)
            .map_err(|_| Error::internal("one column that is drawn stays one column"))?
        else {
            return Err(Error::internal("a column of slots is drawn as slots"));
        };
        let (certificate, held) = purse.close();
        let labels = Self {
            epsilon,
            classes,
            certificate,
        };
        Ok((labels, held))
    }
}

/// The label's name, and by how much and in what way its classes change.
fn response<'a>(
    vertical: &Vertical,
    schema: &'a Schema,
) -> Result<(&'a str, Epsilon, RandomisedResponse), Error> {
    let (Some((column, Label::Classes(declared))), Some(epsilon)) = (schema.label(), vertical.label_epsilon)
    else {
        return Err(Error::internal("the schema was checked for classes"));
    };
    let response = RandomisedResponse::new(epsilon, declared.values().len())?;
    Ok((&column.name, epsilon, response))
}

impl Terms {
    pub(super) fn bring(
        self,
        vertical: &Vertical,
        table: Table,
        context: &mut Context<'_, Message>,
    ) -> Result<Brought, Error> {
        match self {
            Self::Open(leave) => {
                let certificate = leave.certificate();
                let schema = table.schema().clone();
                let (own, ids) = Own::new(schema, leave.reveal(table.into_cells()));
                Ok(Brought {
                    own,
                    ids,
                    certificate,
                })
            }
            Self::Noisy { purse, labels } => noisy(vertical, &table, (purse, labels), context),
        }
    }
}

/// # Privacy
/// Labels by randomised response (`docs/proofs/ordered.md#randomised-response`); ids enter a private set intersection; own
/// columns are public under the ledger's relation. Everything else follows from these.
fn noisy(
    vertical: &Vertical,
    table: &Table,
    (mut purse, labels): (Box<dyn Purse>, Option<Box<NoisyLabels>>),
    context: &mut Context<'_, Message>,
) -> Result<Brought, Error> {
    let schema = table.schema();
    let count = schema.features().count();
    let features = match table.public_under(&purse.relation()) {
        Some(public) if public.places.len() == count => public.cells.features().to_vec(),
        _ if count == 0 => Vec::new(),
        _ => {
            return Err(Error::internal("the schema was checked for private columns"));
        }
    };
    let ids = match vertical.alignment {
        Alignment::Given => None,
        Alignment::Private => {
            let ids = table.cells().as_ref().map(meeting::ids);
            Some(purse.disclose(&meeting::leaks_of_label_holder(), ids)?)
        }
    };
    let labels = match labels {
        None => {
            // Held until the record has the labels: another process would find them paid for and not kept, and draw them too.
            let mut held = None;
            let labels = context.once(LABELS, || {
                let (labels, ledger) = NoisyLabels::draw(vertical, table, purse)?;
                held = Some(ledger);
                Ok(labels)
            })?;
            drop(held);
            labels
        }
        Some(labels) => {
            let certificate = meeting::certified(labels.certificate, purse, context)?;
            NoisyLabels {
                certificate,
                ..*labels
            }
        }
    };
    let rows = labels.classes.len();
    let cells = Cells::joined(rows, features, Some(Target::Classes(labels.classes)))?;
    let (own, _) = Own::new(schema.clone(), cells);
    Ok(Brought {
        own,
        ids,
        certificate: labels.certificate,
    })
}
