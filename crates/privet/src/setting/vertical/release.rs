//! Columns that have left: drawn once, kept, sent to whoever trains on them.

use super::desensitisation::{Changes, Reading};
use super::packed;
use super::purse::Purse;
use crate::Error;
use crate::data::schema::Kind;
use crate::data::{Schema, Table};
use crate::privacy::Certificate;
use crate::privacy::mechanism::ordered::Desensitised;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The longest schema or certificate that a party may send.
const LONGEST: usize = 1 << 24;

/// One column that has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Left {
    pub(super) reading: Reading,
    /// Row by row.
    pub(super) values: Vec<u16>,
}

/// All columns of one feature holder that have left, with what they mean and what was promised about them. It is public, as
/// far as its promise goes: whoever has it may use it as often as they like.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    pub(super) rows: usize,
    /// Its features are the columns; slots and bounds come from what was declared, never from rows.
    pub(super) schema: Schema,
    pub(super) columns: Vec<Left>,
    pub(super) certificate: Certificate,
}

impl Release {
    /// Pays for and draws the chosen columns of a table, all rows of it.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#columns`. The value table is the schema's (`docs/proofs/ordered.md#columns`, assumptions).
    pub(super) fn draw(
        what: &str,
        table: &Table,
        changes: &Changes,
        chosen: &[usize],
        mut purse: Box<dyn Purse>,
    ) -> Result<Self, Error> {
        let drawn = purse.desensitise(what, changes.leaving(table.cells(), chosen))?;
        let columns: Vec<Left> = chosen
            .iter()
            .zip(drawn)
            .map(|(&place, drawn)| {
                let (Desensitised::Slots(values) | Desensitised::Flags(values)) = drawn else {
                    return Err(Error::Misuse("a column of slots or flags stays one".into()));
                };
                Ok(Left {
                    reading: changes.reading(place),
                    values: values
                        .into_iter()
                        .map(|value| changes.read(place, value))
                        .collect(),
                })
            })
            .collect::<Result<_, _>>()?;
        let rows = columns
            .first()
            .map_or(0, |column| column.values.len() / column.reading.each.max(1));
        let names: Vec<&str> = changes.schema().features().map(|c| c.name.as_str()).collect();
        let sent = |name: &str| chosen.iter().any(|&place| names[place] == name);
        Ok(Self {
            rows,
            schema: changes.schema().select(|column| sent(&column.name))?.alone(),
            columns,
            certificate: purse.close(),
        })
    }

    /// The same columns, these rows, in this order.
    pub(super) fn take(&self, rows: &[usize]) -> Self {
        let column = |column: &Left| Left {
            reading: column.reading,
            values: rows
                .iter()
                .flat_map(|&row| &column.values[row * column.reading.each..][..column.reading.each])
                .copied()
                .collect(),
        };
        Self {
            rows: rows.len(),
            schema: self.schema.clone(),
            columns: self.columns.iter().map(column).collect(),
            certificate: self.certificate.clone(),
        }
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// What the columns mean.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What was promised about them.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }
}

/// That the outputs of a column can be those of its declaration.
fn fits(kind: &Kind, reading: Reading) -> bool {
    let Reading {
        lowest,
        outputs,
        each,
    } = reading;
    match kind {
        Kind::Number(number) => {
            let below = i64::from(lowest).unsigned_abs() as usize;
            lowest <= 0 && each == 1 && outputs <= 65_535 && outputs >= below + number.cuts().bins()
        }
        Kind::Ordinal(declared) | Kind::Flag(declared) => {
            (lowest, outputs, each) == (0, declared.values().len(), 1)
        }
        Kind::Category(_) => {
            let slots = kind.slots();
            lowest == 0 && [(slots, 1), (2, slots)].contains(&(outputs, each))
        }
        Kind::Id | Kind::Skip | Kind::Label(_) => false,
    }
}

impl Wire for Release {
    fn write(&self, to: &mut Writer) {
        to.long(self.rows as u64);
        to.text(&self.schema.to_toml());
        to.list(&self.columns, |column, to| {
            let Reading {
                lowest,
                outputs,
                each,
            } = column.reading;
            to.word(lowest as u32);
            to.word(outputs as u32);
            to.word(each as u32);
            let bits = packed::width(outputs);
            to.bytes(&packed::pack(column.values.iter().copied(), bits));
        });
        to.text(&self.certificate.to_json());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let rows = usize::try_from(from.long()?).map_err(|_| Malformed::new("too many rows"))?;
        let schema = Schema::from_toml("its schema", &from.text(LONGEST)?)
            .map_err(|e| Malformed::new(e.to_string()))?;
        if schema.label().is_some() {
            return Err(Malformed::new("columns that declare a label"));
        }
        let columns = from.list(20, |from| {
            let reading = Reading {
                lowest: from.word()? as i32,
                outputs: from.word()? as usize,
                each: from.word()? as usize,
            };
            let plausible = (2..=65_535).contains(&reading.outputs) && (1..=65_535).contains(&reading.each);
            let count = rows.checked_mul(reading.each).filter(|_| plausible);
            let count = count.ok_or_else(|| Malformed::new("a column that cannot be"))?;
            let values = packed::unpack(from.bytes()?, count, reading.outputs)?;
            Ok(Left { reading, values })
        })?;
        let fitting = schema.features().count() == columns.len()
            && schema
                .features()
                .zip(&columns)
                .all(|(declared, column)| fits(&declared.kind, column.reading));
        if !fitting {
            return Err(Malformed::new("columns that are not what its schema declares"));
        }
        let certificate = Certificate::from_json(&from.text(LONGEST)?)
            .ok_or_else(|| Malformed::new("a certificate that cannot be read"))?;
        Ok(Self {
            rows,
            schema,
            columns,
            certificate,
        })
    }
}
