//! Released columns: drawn once, kept, sent to whoever trains on them.

use std::collections::BTreeSet;

use super::columns::{ColumnsPlan, Reading};
use super::desensitisation::{Budget, Desensitisation};
use super::packed;
use crate::Error;
use crate::data::schema::{Column, Kind};
use crate::data::{Schema, Table};
use crate::error::JournalFault;
use crate::parameters::Parameters;
use crate::party::{Item, Keeper, Record};
use crate::privacy::journal::Journal;
use crate::privacy::mechanism::ordered::{Desensitised, Distance};
use crate::privacy::{Certificate, Guarantee, Ledger, Neighbours, getters};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// What a record calls the columns.
pub(super) const COLUMNS: &str = "the columns";
/// What a record calls the choice of columns.
pub(super) const CHOICE: &str = "which columns leave";
/// The longest schema or certificate that a party may send.
const LONGEST: usize = 1 << 24;

/// One released column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReleasedColumn {
    pub(super) reading: Reading,
    /// Row by row.
    pub(super) values: Vec<u16>,
}

/// The released columns of one feature holder, with what they mean and what was promised about them. They are public as far as
/// the promise goes: whoever has them may use them any number of times.
#[derive(Debug, Clone, PartialEq)]
pub struct Release {
    pub(super) rows: usize,
    /// How they were changed, as a job says it.
    pub(super) settings: Vec<(String, String)>,
    /// Its features are the columns; slots and bounds come from what was declared, never from rows.
    pub(super) schema: Schema,
    pub(super) columns: Vec<ReleasedColumn>,
    pub(super) certificate: Certificate,
}

impl Release {
    /// To whom they are sent, as the ledger says it.
    pub(super) const TO: &str = "the label holder";

    /// Pays for and draws the chosen columns of a table, all rows of it. The journal is held until it is dropped.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#columns`. The value table is the schema's (`docs/proofs/ordered.md#columns`, assumptions).
    pub(super) fn draw(
        plan: &ColumnsPlan,
        table: &Table,
        chosen: &[usize],
        mut ledger: Ledger,
    ) -> Result<(Self, Box<dyn Journal>), Error> {
        let drawn = ledger.desensitise(Self::TO, plan.columns(table.cells(), chosen))?;
        let columns: Vec<ReleasedColumn> = chosen
            .iter()
            .zip(drawn.into_inner())
            .map(|(&place, drawn)| {
                let (Desensitised::Slots(values) | Desensitised::Flags(values)) = drawn else {
                    return Err(Error::internal(
                        "a column of slots or flags is drawn as slots or flags",
                    ));
                };
                let values = values.into_iter().map(|value| plan.read(place, value));
                Ok(ReleasedColumn {
                    reading: plan.reading(place),
                    values: values.collect(),
                })
            })
            .collect::<Result<_, _>>()?;
        let rows = columns
            .first()
            .map_or(0, |column| column.values.len() / column.reading.each.max(1));
        let names: Vec<&str> = plan.schema().features().map(|c| c.name.as_str()).collect();
        let sent = |name: &str| chosen.iter().any(|&place| names[place] == name);
        let schema = plan.schema().select(|column| sent(&column.name))?.alone();
        let (certificate, held) = ledger.close_holding();
        let release = Self {
            rows,
            settings: plan.desensitisation().settings(),
            schema,
            columns,
            certificate,
        };
        Ok((release, held))
    }

    /// The columns of a table, changed: from the record if it has them; else they are paid for, drawn, and written there before
    /// anybody sees them. So they are released once, and can be used any number of times.
    ///
    /// That a record has the columns of *these* rows, in this order, is the caller's to know: only their number and the schema are
    /// compared. (`privet-node` keeps a fingerprint of the file beside them.)
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#redraw`, with the record of the columns in place of a run's.
    ///
    /// # Errors
    /// [`Error::Budget`] if they were released and the record does not have them; [`Error::Parameter`] if they were changed otherwise;
    /// [`Error::Journal`] if record or ledger cannot be read or written; [`Error::Misuse`] if the table was read with another schema
    /// than the plan's, or the budget protects less than the schema.
    pub fn keep<N: Neighbours>(
        plan: &ColumnsPlan,
        table: &Table,
        ledger: Ledger<N>,
        record: Box<dyn Record>,
    ) -> Result<Self, Error> {
        let relation = ledger.relation().relation();
        plan.check(table, &relation)?;
        let mut keeper = Keeper::open(record)?;
        let mut ledger = ledger.at_run_time().for_run(keeper.name().to_text())?;
        let chosen = plan.choose(&mut ledger, |draw| keeper.once(CHOICE, draw))?;
        let draw = || Self::draw(plan, table, &chosen, ledger);
        let release = kept_once(draw, |draw| keeper.once(COLUMNS, draw))?;
        release.check_same(plan, table.rows_under(&relation))?;
        Ok(release)
    }

    /// Whether [`keep`](Self::keep) would refuse these columns. Nothing is paid, drawn or written: parties that release columns
    /// together ask for each of them before the first one's are released. Which columns are sent is not known yet where they are
    /// drawn by chance; whether these were released is then asked when they are.
    ///
    /// # Errors
    /// As [`keep`](Self::keep).
    pub fn check_keep<N: Neighbours>(
        plan: &ColumnsPlan,
        table: &Table,
        ledger: Ledger<N>,
        record: &mut dyn Record,
    ) -> Result<(), Error> {
        let relation = ledger.relation().relation();
        plan.check(table, &relation)?;
        if let Some(release) = Self::kept_in(record)? {
            return release.check_same(plan, table.rows_under(&relation));
        }
        if let Budget::Sample(_) = plan.desensitisation().budget {
            return Ok(());
        }
        let ledger = match record.read(0)? {
            Some(Item::Named(name)) => ledger.for_run(name.to_text())?,
            _ => ledger,
        };
        ledger.admits_columns(Self::TO, plan.distances())
    }

    /// The columns that were released in a run, from the run's own record: a run that broke off after they were drawn has them, and
    /// another run can go on with them.
    ///
    /// # Errors
    /// [`Error::Journal`] if the record cannot be read.
    pub fn kept_in(record: &mut dyn Record) -> Result<Option<Self>, Error> {
        let (mut place, mut columns) = (0, None);
        while let Some(item) = record.read(place)? {
            place += 1;
            if let Item::Once { what, value } = item
                && what == COLUMNS
            {
                columns = Some(value);
            }
        }
        let read = columns.map(|value| Self::from_bytes(&value));
        read.transpose().map_err(|e| {
            Error::journal(
                JournalFault::Damaged,
                format!("the columns in the record cannot be read: {e}"),
            )
        })
    }

    /// That these are the columns of a table, changed as a plan says.
    pub(super) fn check_same(&self, plan: &ColumnsPlan, rows: Option<usize>) -> Result<(), Error> {
        let ours = plan.desensitisation().settings();
        if let Some((name, value)) = ours.iter().find(|setting| !self.settings.contains(setting)) {
            let then = self.settings.iter().find(|(other, _)| other == name);
            let why = format!(
                "{name} = {value} now, but the columns that were kept were changed with {name} = {}. A column is released once: use the \
                 settings it was released with",
                then.map_or("nothing", |(_, value)| value)
            );
            return Err(Error::parameter(name.clone(), why));
        }
        let known = |column: &Column| plan.schema().features().any(|other| other == column);
        if let Some(column) = self.schema.features().find(|column| !known(column)) {
            let why = format!(
                "the schema declares the column '{}' otherwise than when it was released: use the schema it was released with",
                column.name
            );
            return Err(Error::data_of(&column.name, why));
        }
        if rows.is_some_and(|rows| rows != self.rows) {
            return Err(Error::data(format!(
                "the columns that were kept have {} rows and the table has {}: they are of another table",
                self.rows,
                rows.unwrap_or(0)
            )));
        }
        Ok(())
    }

    /// That the columns were changed as was agreed on, and that the promise which came with them is about them.
    pub(super) fn check_promised(&self, agreed: &Desensitisation) -> Result<(), &'static str> {
        if self.settings != agreed.settings() {
            return Err("columns that were changed otherwise than was agreed on");
        }
        let said = self
            .certificate
            .claims
            .iter()
            .filter_map(|claim| match &claim.guarantee {
                Guarantee::Distance { columns, record, .. } => Some((columns, *record)),
                _ => None,
            });
        let said: Vec<_> = said.collect();
        let sums = said
            .iter()
            .all(|(columns, record)| Distance::record(columns) == *record);
        let claimed: BTreeSet<&str> = said
            .iter()
            .flat_map(|(columns, _)| columns.iter())
            .map(|distance| distance.column.as_str())
            .collect();
        let all = self
            .schema
            .features()
            .all(|column| claimed.contains(&column.name[..]));
        if self.certificate.is_void() || (sums && all) {
            Ok(())
        } else {
            Err("a certificate that is not about the columns it came with")
        }
    }

    /// The same columns, these rows, in this order.
    pub(super) fn take(&self, rows: &[usize]) -> Self {
        let column = |column: &ReleasedColumn| ReleasedColumn {
            reading: column.reading,
            values: rows
                .iter()
                .flat_map(|&row| &column.values[row * column.reading.each..][..column.reading.each])
                .copied()
                .collect(),
        };
        Self {
            rows: rows.len(),
            settings: self.settings.clone(),
            schema: self.schema.clone(),
            columns: self.columns.iter().map(column).collect(),
            certificate: self.certificate.clone(),
        }
    }

    getters! {
        /// How many rows there are.
        pub rows(rows) -> usize;
        /// What the columns mean.
        pub schema(&schema) -> &Schema;
        /// What was promised about them.
        pub certificate(&certificate) -> &Certificate;
    }
}

/// Draws what `once` does not find in a record. The journal is held until the record has the value: another process would find it
/// paid for and not kept, and draw it too.
pub(super) fn kept_once<T>(
    draw: impl FnOnce() -> Result<(T, Box<dyn Journal>), Error>,
    once: impl FnOnce(Box<dyn FnOnce() -> Result<T, Error> + '_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let mut held = None;
    let value = once(Box::new(|| {
        let (value, journal) = draw()?;
        held = Some(journal);
        Ok(value)
    }));
    drop(held);
    value
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
        to.settings(&self.settings);
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
        let settings = from.settings()?;
        let text = from.text(LONGEST)?;
        let schema = Schema::from_toml("its schema", &text).map_err(|e| Malformed::new(e.to_string()))?;
        if schema.alone() != schema || schema.to_toml() != text {
            return Err(Malformed::new("a schema that is not of columns alone"));
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
            Ok(ReleasedColumn { reading, values })
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
            settings,
            schema,
            columns,
            certificate,
        })
    }
}
