//! What a label holder brings: labels, columns of its own, ids.

use super::joined::Own;
use super::purse::Purse;
use super::{Vertical, meeting};
use crate::Error;
use crate::data::schema::Label;
use crate::data::{Cells, Names, Schema, Table, Target};
use crate::party::Context;
use crate::privacy::mechanism::ordered::{Column, Desensitised, RandomisedResponse};
use crate::privacy::{Certificate, Epsilon, Unprotected};
use crate::wire::{Malformed, Reader, Wire, Writer};

use super::message::Message;

/// Under what terms a label holder's own rows are used.
pub(super) enum Terms {
    /// As they are: whoever sees the model may learn about them.
    Open(Unprotected),
    /// Its columns are public, its labels change before they are used.
    Noisy(Box<dyn Purse>),
}

/// What a label holder has brought.
pub(super) struct Brought {
    pub(super) own: Own,
    pub(super) ids: Option<Names>,
    pub(super) certificate: Certificate,
}

/// Labels that have left, and what was promised about them.
struct Labels {
    classes: Vec<u16>,
    certificate: Certificate,
}

impl Wire for Labels {
    fn write(&self, to: &mut Writer) {
        to.list(&self.classes, |class, to| to.word((*class).into()));
        to.text(&self.certificate.to_json());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let class = |from: &mut Reader<'_>| {
            u16::try_from(from.word()?).map_err(|_| Malformed::new("a class that cannot be"))
        };
        let classes = from.list(4, class)?;
        let certificate = Certificate::from_json(&from.text(1 << 24)?)
            .ok_or_else(|| Malformed::new("a certificate that cannot be read"))?;
        Ok(Self { classes, certificate })
    }
}

impl Terms {
    pub(super) fn bring(
        self,
        vertical: &Vertical,
        table: Table,
        context: &mut Context<'_, Message>,
    ) -> Result<Brought, Error> {
        let schema = table.schema().clone();
        match self {
            Self::Open(leave) => {
                let certificate = leave.certificate();
                let (own, ids) = Own::new(schema, leave.reveal(table.into_cells()));
                Ok(Brought {
                    own,
                    ids,
                    certificate,
                })
            }
            Self::Noisy(purse) => {
                let epsilon = vertical.label_epsilon;
                let epsilon =
                    epsilon.ok_or_else(|| Error::Misuse("labels change by a label_epsilon".into()))?;
                noisy(&table, &schema, epsilon, vertical, purse, context)
            }
        }
    }
}

/// # Privacy
/// Labels by randomised response (`docs/proofs/ordered.md#randomised-response`); ids enter a private set intersection; own
/// columns are public under the ledger's relation. Everything else follows from these.
fn noisy(
    table: &Table,
    schema: &Schema,
    epsilon: Epsilon,
    vertical: &Vertical,
    mut purse: Box<dyn Purse>,
    context: &mut Context<'_, Message>,
) -> Result<Brought, Error> {
    let Some((column, Label::Classes(declared))) = schema.label() else {
        return Err(Error::Misuse("the schema was checked for classes".into()));
    };
    let relation = purse.relation();
    let features = match table.public_under(&relation) {
        Some(public) if public.places.len() == schema.features().count() => public.cells.features().to_vec(),
        _ if schema.features().count() == 0 => Vec::new(),
        _ => {
            return Err(Error::Misuse("the schema was checked for private columns".into()));
        }
    };
    let ids = match vertical.alignment {
        super::Alignment::Given => None,
        super::Alignment::Private => {
            let ids = table.cells().as_ref().map(meeting::ids);
            Some(purse.disclose(&meeting::leaks_of_label_holder(), ids)?)
        }
    };
    let response = RandomisedResponse::new(epsilon, declared.values().len())?;
    // Held until the record has the labels: another process would find them paid for and not kept, and draw them too.
    let mut held = None;
    let labels = context.once("the labels", || {
        let classes = table.cells().as_ref().map(|cells| match cells.target() {
            Some(Target::Classes(classes)) => classes.clone(),
            _ => Vec::new(),
        });
        if !features.is_empty() {
            purse.use_public()?;
        }
        let drawn = purse.desensitise("training", vec![Column::slots(&column.name, &response, classes)])?;
        let [Desensitised::Slots(classes)] =
            <[_; 1]>::try_from(drawn).map_err(|_| Error::Misuse("one column leaves as one".into()))?
        else {
            return Err(Error::Misuse("a column of slots stays one".into()));
        };
        let (certificate, ledger) = purse.close();
        held = Some(ledger);
        Ok(Labels { classes, certificate })
    })?;
    drop(held);
    let rows = labels.classes.len();
    let cells = Cells::joined(rows, features, Some(Target::Classes(labels.classes)))?;
    let (own, _) = Own::new(schema.clone(), cells);
    Ok(Brought {
        own,
        ids,
        certificate: labels.certificate,
    })
}
