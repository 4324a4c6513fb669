//! What a label holder brings: labels, columns of its own, ids.

use super::joined::OwnRows;
use super::message::Message;
use super::release::kept_once;
use super::{Alignment, LabelHolderPlan, meeting};
use crate::Error;
use crate::data::{Cells, Names, Table, Target};
use crate::error::JournalFault;
use crate::party::{Context, Item, Keeper, Record};
use crate::privacy::account::Price;
use crate::privacy::journal::Journal;
use crate::privacy::mechanism::ordered::{Column, Desensitised};
use crate::privacy::{Certificate, Epsilon, Ledger, Neighbours, Private, Unprotected};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// What a record calls the labels.
const LABELS: &str = "the labels";
/// What labels are released for, as the ledger says it.
const TRAINING: &str = "training";

/// Under what terms a label holder's own rows are used.
pub(super) enum Terms {
    /// As they are: whoever sees the model may learn about them.
    Open(Box<Unprotected>),
    /// Its columns are public, its labels change before they are used, or did so before.
    Noisy {
        ledger: Box<Ledger>,
        labels: Option<Box<NoisyLabels>>,
    },
}

/// What a label holder has brought.
pub(super) struct Brought {
    pub(super) own: OwnRows,
    pub(super) ids: Option<Names>,
    pub(super) certificate: Certificate,
}

/// Released labels, changed, and what was promised about them: whoever has them may train on them any number of times.
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
    /// The labels of a table, changed: from the record if it has them; else they are paid for, drawn, and written there. As
    /// [`Release::keep`](super::Release::keep) does with columns.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#randomised-response` and `docs/proofs/ordered.md#redraw`.
    ///
    /// # Errors
    /// As [`Release::keep`](super::Release::keep), and [`Error::Parameter`] if labels do not change.
    pub fn keep<N: Neighbours>(
        plan: &LabelHolderPlan,
        table: &Table,
        ledger: Ledger<N>,
        record: Box<dyn Record>,
    ) -> Result<Self, Error> {
        plan.check(table)?;
        plan.labels(&ledger.relation().relation())?;
        let mut keeper = Keeper::open(record)?;
        let ledger = ledger.at_run_time().for_run(keeper.name().to_text())?;
        let draw = || Self::draw(plan, table, ledger);
        let labels = kept_once(draw, |draw| keeper.once(LABELS, draw))?;
        labels.check(plan, None)?;
        Ok(labels)
    }

    /// Whether [`keep`](Self::keep) would refuse these labels: as [`Release::check_keep`](super::Release::check_keep).
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    pub fn check_keep<N: Neighbours>(
        plan: &LabelHolderPlan,
        table: &Table,
        ledger: Ledger<N>,
        record: &mut dyn Record,
    ) -> Result<(), Error> {
        plan.check(table)?;
        let (name, response) = plan.labels(&ledger.relation().relation())?;
        let mut ledger = ledger;
        for place in 0.. {
            let Some(item) = record.read(place)? else {
                break;
            };
            match item {
                Item::Named(name) => ledger = ledger.for_run(name.to_text())?,
                Item::Once { what, value } if what == LABELS => {
                    let labels = Self::from_bytes(&value).map_err(|e| {
                        Error::journal(
                            JournalFault::Damaged,
                            format!("the labels in the record cannot be read: {e}"),
                        )
                    })?;
                    return labels.check(plan, None);
                }
                _ => {}
            }
        }
        let column = Column::slots(name, response, Private::new(Vec::new()));
        ledger.admits_columns(TRAINING, &[column.distance()])
    }

    /// That they are the labels that the job speaks of.
    pub(super) fn check(&self, plan: &LabelHolderPlan, rows: Option<usize>) -> Result<(), Error> {
        if plan.vertical.label_epsilon != Some(self.epsilon) {
            let why = format!(
                "label_epsilon is another now, but the labels that were kept were changed with {}. Labels are released once: use that",
                self.epsilon
            );
            return Err(Error::parameter("label_epsilon", why));
        }
        if rows.is_some_and(|rows| rows != self.classes.len()) {
            return Err(Error::data(
                "the labels that were kept are of another table: it has not as many rows",
            ));
        }
        Ok(())
    }

    fn draw(
        plan: &LabelHolderPlan,
        table: &Table,
        mut ledger: Ledger,
    ) -> Result<(Self, Box<dyn Journal>), Error> {
        let (name, response) = plan.labels(ledger.relation())?;
        let classes = table.cells().as_ref().map(|cells| match cells.target() {
            Some(Target::Classes(classes)) => classes.clone(),
            _ => Vec::new(),
        });
        let column = Column::slots(name, response, classes);
        // Nothing is written about columns that are public if the labels cannot be released.
        ledger.admits_columns(TRAINING, &[column.distance()])?;
        if table.schema().features().next().is_some() {
            // Against a change of whole people nothing protects public columns.
            ledger.reserve("public columns, as they are", Price::Pure(Epsilon::ZERO), 1)?;
        }
        let drawn = ledger.desensitise(TRAINING, vec![column])?.into_inner();
        let [Desensitised::Slots(classes)] = <[_; 1]>::try_from(drawn)
            .map_err(|_| Error::internal("one column that is drawn stays one column"))?
        else {
            return Err(Error::internal("a column of slots is drawn as slots"));
        };
        let (certificate, held) = ledger.close_holding();
        let labels = Self {
            epsilon: plan.vertical.label_epsilon.unwrap_or(Epsilon::ZERO),
            classes,
            certificate,
        };
        Ok((labels, held))
    }
}

impl Terms {
    pub(super) fn bring(
        self,
        plan: &LabelHolderPlan,
        table: Table,
        context: &mut Context<'_, Message>,
    ) -> Result<Brought, Error> {
        match self {
            Self::Open(permission) => {
                let certificate = permission.certificate();
                let schema = table.schema().clone();
                let cells = permission.reveal(table.into_cells());
                let ids = cells.ids().cloned();
                let own = OwnRows { schema, cells };
                Ok(Brought {
                    own,
                    ids,
                    certificate,
                })
            }
            Self::Noisy { ledger, labels } => noisy(plan, &table, (*ledger, labels), context),
        }
    }
}

/// # Privacy
/// Labels by randomised response (`docs/proofs/ordered.md#randomised-response`); ids enter a private set intersection; own
/// columns are public under the ledger's relation. Everything else follows from these.
fn noisy(
    plan: &LabelHolderPlan,
    table: &Table,
    (mut ledger, labels): (Ledger, Option<Box<NoisyLabels>>),
    context: &mut Context<'_, Message>,
) -> Result<Brought, Error> {
    let schema = table.schema();
    let count = schema.features().count();
    let features = match table.public_under(ledger.relation()) {
        Some(public) if public.places.len() == count => public.cells.features().to_vec(),
        _ if count == 0 => Vec::new(),
        _ => {
            return Err(Error::internal("the schema was checked for private columns"));
        }
    };
    let ids = match plan.vertical.alignment {
        Alignment::Given => None,
        Alignment::Private => {
            let ids = table.cells().as_ref().map(meeting::ids);
            Some(meeting::disclose(
                &mut ledger,
                &meeting::leaks_of_label_holder(),
                ids,
            )?)
        }
    };
    let labels = match labels {
        None => {
            let draw = || NoisyLabels::draw(plan, table, ledger);
            kept_once(draw, |draw| context.once(LABELS, draw))?
        }
        Some(labels) => {
            let certificate = meeting::certified(labels.certificate, ledger, context)?;
            NoisyLabels {
                certificate,
                ..*labels
            }
        }
    };
    let rows = labels.classes.len();
    let cells = Cells::joined(rows, features, Some(Target::Classes(labels.classes)))?;
    let own = OwnRows {
        schema: schema.clone(),
        cells,
    };
    Ok(Brought {
        own,
        ids,
        certificate: labels.certificate,
    })
}
