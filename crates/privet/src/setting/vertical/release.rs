//! Released columns: drawn once, kept, sent to whoever trains on them.

use super::columns::{ColumnsPlan, Reading, other_loss};
use super::desensitisation::{Budget, Desensitisation};
use super::kept::{Earlier, check_rows, moved_on, rows_of, unreadable};
use super::packed::Packed;
use crate::Error;
use crate::data::schema::{Column, Kind};
use crate::data::{Schema, Table};
use crate::error::{Refusal, Subject};
use crate::parameters::Parameters;
use crate::privacy::ledger::{Kept, Standing};
use crate::privacy::mechanism::ordered::{Desensitised, Distance};
use crate::privacy::{Certificate, Guarantee, Ledger, Neighbours, getters};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// How often a ledger is asked again while other processes release the same columns.
pub(super) const ATTEMPTS: usize = 8;
/// The longest schema or certificate that a party may send.
const LONGEST: usize = 1 << 22;

/// One released column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReleasedColumn {
    pub(super) reading: Reading,
    /// Row by row.
    pub(super) values: Packed,
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

    /// What the draw of the chosen columns is, to be kept.
    fn of_draw(
        plan: &ColumnsPlan,
        chosen: &[usize],
        drawn: Vec<Desensitised>,
        certificate: Certificate,
    ) -> Result<Self, Error> {
        let columns: Vec<ReleasedColumn> = chosen
            .iter()
            .zip(drawn)
            .map(|(&place, drawn)| {
                let (Desensitised::Slots(values) | Desensitised::Flags(values)) = drawn else {
                    return Err(Error::internal(
                        "a column of slots or flags is drawn as slots or flags",
                    ));
                };
                let values = values.into_iter().map(|value| plan.read(place, value));
                let reading = plan.reading(place);
                Ok(ReleasedColumn {
                    reading,
                    values: Packed::new(values, reading.outputs),
                })
            })
            .collect::<Result<_, _>>()?;
        let rows = columns
            .first()
            .map_or(0, |column| column.values.len() / column.reading.each.max(1));
        let names = plan.names();
        let sent = |name: &str| chosen.iter().any(|&place| names[place] == name);
        let schema = plan.schema().select(|column| sent(&column.name))?.alone();
        Ok(Self {
            rows,
            settings: plan.desensitisation().settings(),
            schema,
            columns,
            certificate,
        })
    }

    /// The columns of a table, changed: as the ledger has kept them; else they are paid for, drawn, and kept by the ledger before
    /// anybody sees them. So they are released once, and can be used any number of times.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#columns` and `docs/proofs/ordered.md#redraw`. The value table is the schema's
    /// (`docs/proofs/ordered.md#columns`, assumptions).
    ///
    /// # Errors
    /// [`Error::Budget`] if they were released and the ledger has not kept them; [`Error::Parameter`] or [`Error::Data`] if they were
    /// changed otherwise or declared otherwise; [`Error::Journal`] if the ledger cannot be read or written, if what it kept is missing
    /// or damaged, or if the table has changed since; [`Error::Misuse`] if the table was read with another schema than the plan's, or
    /// the budget protects less than the schema.
    pub fn keep<N: Neighbours>(plan: &ColumnsPlan, table: &Table, ledger: Ledger<N>) -> Result<Self, Error> {
        plan.check(table, &ledger.relation().relation())?;
        Self::obtain(plan, table, &mut ledger.at_run_time())
    }

    /// The same with a ledger that is used on, for a table that was checked.
    pub(super) fn obtain(plan: &ColumnsPlan, table: &Table, ledger: &mut Ledger) -> Result<Self, Error> {
        Self::check_readable(plan)?;
        for _ in 0..ATTEMPTS {
            let names = plan.names();
            let chosen = match ledger.standing(Self::TO, &names)? {
                Standing::Kept(kept) => return Self::of_kept(*kept, plan, table, ledger),
                Standing::Elsewhere { columns, .. } => return Err(plan.released_elsewhere(&columns)),
                Standing::Paid(columns) => plan.places(&columns)?,
                Standing::Free => plan.choose(ledger)?,
            };
            let binding = rows_of(table, Some(&chosen), ledger)?;
            let columns = plan.columns(table.cells(), &chosen);
            let make = |drawn, certificate| {
                Self::of_draw(plan, &chosen, drawn, certificate).map(|release| release.to_bytes())
            };
            let kept = ledger.keep_columns((Self::TO, &names), columns, (&binding, None), make)?;
            if let Some(kept) = kept {
                return Self::of_kept(kept, plan, table, ledger);
            }
        }
        Err(moved_on())
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
    ) -> Result<(), Error> {
        plan.check(table, &ledger.relation().relation())?;
        Self::check_obtain(plan, table, &mut ledger.at_run_time())
    }

    pub(super) fn check_obtain(plan: &ColumnsPlan, table: &Table, ledger: &mut Ledger) -> Result<(), Error> {
        Self::check_readable(plan)?;
        match ledger.standing(Self::TO, &plan.names())? {
            Standing::Kept(kept) => Self::of_kept(*kept, plan, table, ledger).map(drop),
            Standing::Elsewhere { columns, .. } => Err(plan.released_elsewhere(&columns)),
            Standing::Paid(columns) => plan.places(&columns).map(drop),
            Standing::Free => match plan.desensitisation().budget {
                Budget::Sample(_) => Ok(()),
                _ => ledger.admits_columns(plan.distances()),
            },
        }
    }

    /// That what would be kept can be read again, asked before it is paid for.
    fn check_readable(plan: &ColumnsPlan) -> Result<(), Error> {
        let length = plan.schema().to_toml().len();
        if length <= LONGEST {
            return Ok(());
        }
        let why = format!(
            "the declarations of the columns take {length} bytes, and {LONGEST} can be sent: declare fewer or shorter values"
        );
        Err(Error::parameter(Subject::Schema, why))
    }

    /// Takes columns into the ledger that a version before stored in a file of their own; compares them, if the ledger has them.
    /// With `write = false` it only says whether that can be done.
    ///
    /// # Errors
    /// As [`keep`](Self::keep), and [`Error::Journal`] if the file is not what the ledger knows of.
    pub fn import<N: Neighbours>(
        plan: &ColumnsPlan,
        table: &Table,
        ledger: Ledger<N>,
        earlier: &Earlier,
        write: bool,
    ) -> Result<(), Error> {
        plan.check(table, &ledger.relation().relation())?;
        let (ledger, names) = (&mut ledger.at_run_time(), plan.names());
        match (ledger.standing(Self::TO, &names)?, earlier.value()) {
            (Standing::Kept(kept), Some(value)) if kept.value == value => Ok(()),
            (Standing::Elsewhere { run, columns }, Some(value)) if run == earlier.run() => {
                let release = Self::decoded(value)?;
                let chosen = plan.places(&columns)?;
                let binding = rows_of(table, Some(&chosen), ledger)?;
                release.check_same(plan, table.rows_under(ledger.relation()))?;
                release.check_columns(&columns)?;
                if write {
                    let value = value.to_vec();
                    ledger.import_columns(Self::TO, (&run, &names), &binding, value)?;
                }
                Ok(())
            }
            (Standing::Elsewhere { columns, .. }, None) => Err(plan.released_elsewhere(&columns)),
            (Standing::Free, None) => Ok(()),
            // That run was ended before it paid; others were released since.
            (_, None) if !ledger.knows_run(earlier.run()) => Ok(()),
            _ => Err(earlier.mismatch()),
        }
    }

    /// What the ledger has kept, if it is of this table and plan.
    fn of_kept(kept: Kept, plan: &ColumnsPlan, table: &Table, ledger: &mut Ledger) -> Result<Self, Error> {
        let mut release = Self::decoded(&kept.value)?;
        release.certificate = kept.certificate;
        release.check_same(plan, table.rows_under(ledger.relation()))?;
        let names = plan.names();
        let places: Vec<usize> = release
            .schema
            .features()
            .filter_map(|column| names.iter().position(|name| *name == column.name))
            .collect();
        check_rows(&kept.binding, &rows_of(table, Some(&places), ledger)?)?;
        Ok(release)
    }

    fn decoded(value: &[u8]) -> Result<Self, Error> {
        Self::from_bytes(value).map_err(|e| unreadable("columns", &e))
    }

    /// That these are the columns of an entry.
    fn check_columns(&self, paid: &[Distance]) -> Result<(), Error> {
        let names = self.schema.features().map(|column| &column.name);
        match names.eq(paid.iter().map(|column| &column.column)) {
            true => Ok(()),
            false => Err(Refusal::OtherColumns.into()),
        }
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
        self.check_all(plan)?;
        if rows.is_some_and(|rows| rows != self.rows) {
            return Err(Error::data(format!(
                "the columns that were kept have {} rows and the table has {}: they are of another table. Rows that are new are a data set of \
                 their own: give it a name of its own in its schema",
                self.rows,
                rows.unwrap_or(0)
            )));
        }
        Ok(())
    }

    /// That all columns of a plan are here, unless it sends some of them by chance.
    fn check_all(&self, plan: &ColumnsPlan) -> Result<(), Error> {
        if let Budget::Sample(_) = plan.desensitisation().budget {
            return Ok(());
        }
        let has = |name: &str| self.schema.features().any(|column| column.name == name);
        match plan.names().into_iter().find(|name| !has(name)) {
            None => Ok(()),
            Some(missing) => {
                let why = format!(
                    "the schema declares the column '{missing}', which was not among the columns when they were released: use the schema they \
                     were released with, or declare this column as type = \"skip\""
                );
                Err(Error::data_of(missing, why))
            }
        }
    }

    /// That the columns were changed as was agreed on, and that the promise which came with them is about them.
    pub(super) fn check_promised(&self, agreed: &Desensitisation) -> Result<(), String> {
        if self.settings != agreed.settings() {
            return Err("columns that were changed otherwise than was agreed on".into());
        }
        let distances = agreed.distances_of(&self.schema)?;
        promised(&self.certificate, &distances)
    }

    /// The same columns, these rows, in this order.
    pub(super) fn take(&self, rows: &[usize]) -> Self {
        let column = |column: &ReleasedColumn| {
            let Reading { outputs, each, .. } = column.reading;
            let place = |at: usize| rows[at / each] * each + at % each;
            let values = (0..rows.len() * each).map(|at| column.values.get(place(at)));
            ReleasedColumn {
                reading: column.reading,
                values: Packed::new(values, outputs),
            }
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

/// The losses that a certificate claims, if it adds them up; nothing if it is void, and promises nothing.
pub(super) fn claimed(certificate: &Certificate) -> Result<Option<Vec<&Distance>>, String> {
    if certificate.is_void() {
        return Ok(None);
    }
    let mut claimed = Vec::new();
    for claim in &certificate.claims {
        let Guarantee::Distance {
            columns,
            record,
            unit,
        } = &claim.guarantee
        else {
            continue;
        };
        let sum = Distance::record(columns);
        if (*record, *unit) != (sum, sum.times(claim.protects.rows().get().into())) {
            return Err(
                "a certificate whose loss for a row or a unit is not the sum over its columns".into(),
            );
        }
        claimed.extend(columns);
    }
    Ok(Some(claimed))
}

/// That a certificate promises exactly these losses: they follow from what was agreed on and from the columns' declarations, so that nobody has
/// to be believed.
fn promised(certificate: &Certificate, distances: &[Distance]) -> Result<(), String> {
    let Some(mut claimed) = claimed(certificate)? else {
        return Ok(());
    };
    for distance in distances {
        match claimed.iter().position(|claim| claim.column == distance.column) {
            None => {
                return Err(format!(
                    "a certificate that says nothing of the column '{}', which came with it",
                    distance.column
                ));
            }
            Some(place) if claimed[place] != distance => {
                return Err(other_loss(&distance.column));
            }
            Some(place) => drop(claimed.swap_remove(place)),
        }
    }
    match claimed.first() {
        None => Ok(()),
        Some(other) => Err(format!(
            "a certificate that speaks of the column '{}', which did not come with it",
            other.column
        )),
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
        Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => false,
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
            to.bytes(column.values.bytes());
        });
        to.text(&self.certificate.to_json());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let rows = usize::try_from(from.long()?).map_err(|_| Malformed::new("too many rows"))?;
        let settings = from.settings()?;
        let text = from.text(LONGEST)?;
        let schema = Schema::from_peer("its schema", &text).map_err(|e| Malformed::new(e.to_string()))?;
        if schema.alone() != schema || schema.to_toml() != text {
            return Err(Malformed::new("a schema that is not of columns alone"));
        }
        let declared = schema.features().count();
        let columns = from.exactly(declared, 20, |from| {
            let reading = Reading {
                lowest: from.word()? as i32,
                outputs: from.word()? as usize,
                each: from.word()? as usize,
            };
            let plausible = (2..=65_535).contains(&reading.outputs) && (1..=65_535).contains(&reading.each);
            let count = rows.checked_mul(reading.each).filter(|_| plausible);
            let count = count.ok_or_else(|| Malformed::new("a column that cannot be"))?;
            let values = Packed::read(from.bytes()?, count, reading.outputs)?;
            Ok(ReleasedColumn { reading, values })
        })?;
        let fitting = schema
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
