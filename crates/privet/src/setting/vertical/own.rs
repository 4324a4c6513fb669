//! What a label holder brings: labels, columns of its own, ids.

use super::joined::OwnRows;
use super::kept::{Earlier, check_rows, moved_on, rows_of, unreadable};
use super::message::Message;
use super::release::ATTEMPTS;
use super::{Alignment, LabelHolderPlan, meeting};
use crate::Error;
use crate::data::{Cells, Names, Table, Target};
use crate::error::Refusal;
use crate::party::Context;
use crate::privacy::ledger::{Kept, Standing};
use crate::privacy::mechanism::ordered::{Column, Desensitised};
use crate::privacy::{Binding, Certificate, Epsilon, Ledger, Neighbours, Private, Unprotected};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// What labels are released for, as the ledger says it.
const TRAINING: &str = "training";
/// What is said of columns that are used as they are.
const PUBLIC: &str = "public columns, as they are";
/// What labels are bound to besides their rows.
const CLASSES: &str = "classes";

/// Under what terms a label holder's own rows are used.
pub(super) enum Terms {
    /// As they are: whoever sees the model may learn about them.
    Open(Box<Unprotected>),
    /// Its columns are public, its labels change before they are used, or did so before.
    Noisy(Box<Ledger>),
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
    /// The labels of a table, changed: as the ledger has kept them; else they are paid for, drawn, and kept by the ledger. As
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
    ) -> Result<Self, Error> {
        plan.check(table)?;
        Self::obtain(plan, table, &mut ledger.at_run_time())
    }

    /// The same with a ledger that is used on, for a table that was checked.
    fn obtain(plan: &LabelHolderPlan, table: &Table, ledger: &mut Ledger) -> Result<Self, Error> {
        let (name, response) = plan.labels(ledger.relation())?;
        let beside = table.schema().features().next().map(|_| PUBLIC);
        for _ in 0..ATTEMPTS {
            let classes = table.cells().as_ref().map(|cells| match cells.target() {
                Some(Target::Classes(classes)) => classes.clone(),
                _ => Vec::new(),
            });
            let column = Column::slots(name, response, classes);
            match ledger.standing(TRAINING, &[name])? {
                Standing::Kept(kept) => return Self::of_kept(*kept, plan, table, ledger),
                Standing::Elsewhere { .. } => return Err(plan.labels_elsewhere(name)),
                Standing::Paid(paid) if paid != [column.distance()] => {
                    return Err(Refusal::OtherColumns.into());
                }
                Standing::Paid(_) | Standing::Free => {}
            }
            let binding = Self::binding(plan, table, ledger)?;
            let make = |drawn: Vec<Desensitised>, certificate| {
                let [Desensitised::Slots(classes)] = <[_; 1]>::try_from(drawn)
                    .map_err(|_| Error::internal("one column that is drawn stays one column"))?
                else {
                    return Err(Error::internal("a column of slots is drawn as slots"));
                };
                let labels = Self {
                    epsilon: plan.vertical.label_epsilon.unwrap_or(Epsilon::ZERO),
                    classes,
                    certificate,
                };
                Ok(labels.to_bytes())
            };
            // Against a change of whole people nothing protects public columns: the run says so.
            let kept = ledger.keep_columns((TRAINING, &[name]), vec![column], (&binding, beside), make)?;
            if let Some(kept) = kept {
                return Self::of_kept(kept, plan, table, ledger);
            }
        }
        Err(moved_on())
    }

    /// Whether [`keep`](Self::keep) would refuse these labels: as [`Release::check_keep`](super::Release::check_keep).
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    pub fn check_keep<N: Neighbours>(
        plan: &LabelHolderPlan,
        table: &Table,
        ledger: Ledger<N>,
    ) -> Result<(), Error> {
        plan.check(table)?;
        let mut ledger = ledger.at_run_time();
        let (name, response) = plan.labels(ledger.relation())?;
        let distance = Column::slots(name, response, Private::new(Vec::new())).distance();
        match ledger.standing(TRAINING, &[name])? {
            Standing::Kept(kept) => Self::of_kept(*kept, plan, table, &mut ledger).map(drop),
            Standing::Elsewhere { .. } => Err(plan.labels_elsewhere(name)),
            Standing::Paid(paid) if paid != [distance.clone()] => Err(Refusal::OtherColumns.into()),
            Standing::Paid(_) => Ok(()),
            Standing::Free => ledger.admits_columns(&[distance]),
        }
    }

    /// Takes labels into the ledger that a version before stored in a file of their own: as
    /// [`Release::import`](super::Release::import). That file does not say which classes they are: they are taken for the schema's.
    ///
    /// # Errors
    /// As [`Release::import`](super::Release::import).
    pub fn import<N: Neighbours>(
        plan: &LabelHolderPlan,
        table: &Table,
        ledger: Ledger<N>,
        earlier: &Earlier,
        write: bool,
    ) -> Result<(), Error> {
        plan.check(table)?;
        let mut ledger = ledger.at_run_time();
        let (name, _) = plan.labels(ledger.relation())?;
        match (ledger.standing(TRAINING, &[name])?, earlier.value()) {
            (Standing::Kept(kept), Some(value)) if kept.value == value => Ok(()),
            (Standing::Elsewhere { run, .. }, Some(value)) if run == earlier.run() => {
                let labels = Self::decoded(value)?;
                labels.check(plan, table.rows_under(ledger.relation()))?;
                let binding = Self::binding(plan, table, &mut ledger)?;
                if write {
                    let value = value.to_vec();
                    ledger.import_columns(TRAINING, (&run, &[name]), &binding, value)?;
                }
                Ok(())
            }
            (Standing::Elsewhere { .. }, None) => Err(plan.labels_elsewhere(name)),
            (Standing::Free, None) => Ok(()),
            // That run was ended before it paid; others were released since.
            (_, None) if !ledger.knows_run(earlier.run()) => Ok(()),
            _ => Err(earlier.mismatch()),
        }
    }

    /// What labels are bound to.
    fn binding(plan: &LabelHolderPlan, table: &Table, ledger: &mut Ledger) -> Result<Binding, Error> {
        // Unwrap safety: a list of texts always serialises.
        let classes = serde_json::to_string(plan.classes()).expect("texts are plain data");
        Ok(rows_of(table, None, ledger)?.with(CLASSES, classes))
    }

    /// What the ledger has kept, if it is of this table and plan.
    fn of_kept(
        kept: Kept,
        plan: &LabelHolderPlan,
        table: &Table,
        ledger: &mut Ledger,
    ) -> Result<Self, Error> {
        let mut labels = Self::decoded(&kept.value)?;
        labels.certificate = kept.certificate;
        let now = Self::binding(plan, table, ledger)?;
        if kept.binding.contradicts(&now, CLASSES) {
            let name = plan.schema().label().map_or("", |(column, _)| &column.name);
            let why = format!(
                "the schema declares the classes {} of '{name}', and its labels were released and kept with the classes {}: use these, in \
                 the same order",
                now.get(CLASSES).unwrap_or_default(),
                kept.binding.get(CLASSES).unwrap_or_default(),
            );
            return Err(Error::data_of(name, why));
        }
        labels.check(plan, table.rows_under(ledger.relation()))?;
        check_rows(&kept.binding, &now)?;
        Ok(labels)
    }

    fn decoded(value: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(value).map_err(|e| unreadable("labels", &e))
    }

    /// That they are the labels that the job speaks of.
    fn check(&self, plan: &LabelHolderPlan, rows: Option<usize>) -> Result<(), Error> {
        if plan.vertical.label_epsilon != Some(self.epsilon) {
            let why = format!(
                "label_epsilon is another now, but the labels that were kept were changed with {}. Labels are released once: use that",
                self.epsilon
            );
            return Err(Error::parameter("label_epsilon", why));
        }
        let classes = plan.classes().len();
        if self.classes.iter().any(|class| usize::from(*class) >= classes) {
            let name = plan.schema().label().map_or("", |(column, _)| &column.name);
            let why = format!(
                "the labels that were kept have more classes than the {classes} that the schema declares for '{name}': use the schema they \
                 were released with"
            );
            return Err(Error::data_of(name, why));
        }
        if rows.is_some_and(|rows| rows != self.classes.len()) {
            return Err(Error::data(
                "the labels that were kept are of another table: it has not as many rows",
            ));
        }
        Ok(())
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
            Self::Noisy(ledger) => noisy(plan, &table, *ledger, context),
        }
    }
}

/// # Privacy
/// Labels by randomised response (`docs/proofs/ordered.md#randomised-response`); ids enter a private set intersection; own
/// columns are public under the ledger's relation. Everything else follows from these.
fn noisy(
    plan: &LabelHolderPlan,
    table: &Table,
    mut ledger: Ledger,
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
    let labels = NoisyLabels::obtain(plan, table, &mut ledger)?;
    let certificate = meeting::certified(labels.certificate, ledger, context)?;
    let rows = labels.classes.len();
    let cells = Cells::joined(rows, features, Some(Target::Classes(labels.classes)))?;
    let own = OwnRows {
        schema: schema.clone(),
        cells,
    };
    Ok(Brought {
        own,
        ids,
        certificate,
    })
}
