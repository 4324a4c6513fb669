//! Cutting one table into several, for simulation: by a declared seed, never by what the rows say; and joining several into one,
//! to compare with.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use super::Schema;
use super::schema::Kind;
use super::table::{Cells, Table};
use crate::Error;
use crate::privacy::{Coins, Private, Unprotected};

impl Table {
    /// Distributes the people of the table to parties at random, in shares that differ by at most one person.
    ///
    /// Adding one person changes the share of all others, so a release about a share has unbounded sensitivity: only for rows
    /// that are used without protection.
    pub fn parties(&self, parties: NonZeroUsize, seed: [u8; 32], _: &Unprotected) -> Vec<Self> {
        (0..parties.get())
            .map(|party| {
                let cells = self.cells().as_ref().map(|cells| {
                    let order = order(cells, seed);
                    cells.take(&rows_of(cells, |unit| order[unit] % parties.get() == party))
                });
                self.with(Arc::clone(self.shared_schema()), cells)
            })
            .collect()
    }

    /// Sets aside `percent` of the people at random: what remains, and what was set aside. As with
    /// [`parties`](Self::parties), only for rows that are used without protection.
    pub fn hold_out(&self, percent: u8, seed: [u8; 32], _: &Unprotected) -> (Self, Self) {
        let part = |aside: bool| {
            let cells = self.cells().as_ref().map(|cells| {
                let order = order(cells, seed);
                let first = order.len() * usize::from(percent.min(100)) / 100;
                cells.take(&rows_of(cells, |unit| (order[unit] < first) == aside))
            });
            self.with(Arc::clone(self.shared_schema()), cells)
        };
        (part(false), part(true))
    }

    /// Gives so many people to one, and the rest to another: at random, and only for rows that are used without protection.
    pub fn dealt(&self, people: usize, seed: [u8; 32], _: &Unprotected) -> (Self, Self) {
        let part = |first: bool| {
            let cells = self.cells().as_ref().map(|cells| {
                let order = order(cells, seed);
                cells.take(&rows_of(cells, |unit| (order[unit] < people) == first))
            });
            self.with(Arc::clone(self.shared_schema()), cells)
        };
        (part(true), part(false))
    }

    /// Gives each party the columns that it names. Everybody has the columns that tell people apart.
    ///
    /// # Errors
    /// [`Error::Parameter`] for an unknown column name, or a party without columns.
    pub fn columns(&self, parties: &[Vec<String>]) -> Result<Vec<Self>, Error> {
        let schema = self.schema();
        for name in parties.iter().flatten() {
            if !schema.columns().iter().any(|column| &column.name == name) {
                let why = format!("there is no column '{name}' to give to a party");
                return Err(Error::parameter("columns", why));
            }
        }
        parties
            .iter()
            .map(|names| {
                let has = |name: &str| names.iter().any(|other| other == name);
                let part = schema.select(|column| column.kind == Kind::Id || has(&column.name))?;
                let kept: Vec<bool> = schema.features().map(|column| has(&column.name)).collect();
                let label = schema.label().is_some_and(|(column, _)| has(&column.name));
                let weight = schema.weight().is_some_and(|(column, _)| has(&column.name));
                let cells = self.cells().as_ref().map(|cells| Cells {
                    rows: cells.rows,
                    features: cells
                        .features
                        .iter()
                        .zip(&kept)
                        .filter(|(_, kept)| **kept)
                        .map(|(feature, _)| feature.clone())
                        .collect(),
                    target: cells.target.clone().filter(|_| label),
                    weights: cells.weights.clone().filter(|_| weight),
                    units: cells.units.clone(),
                    ids: cells.ids.clone(),
                });
                Ok(self.with(Arc::new(part), cells))
            })
            .collect()
    }

    /// The same rows under a schema that reads them alike: the data set's name, how the file is written and columns that nothing is learnt from
    /// may be others.
    ///
    /// # Errors
    /// [`Error::Misuse`] if features, label, weights or units are declared otherwise.
    pub fn as_of(&self, schema: &Arc<Schema>) -> Result<Self, Error> {
        let alike = self.schema().unit() == schema.unit() && self.schema().weight() == schema.weight();
        if self.schema().differs(schema).is_some() || !alike {
            return Err(Error::misuse("the rows were read otherwise than by this schema"));
        }
        Ok(self.with(Arc::clone(schema), self.cells().clone()))
    }

    /// One table of the rows of all, which were read with one schema. All rows are used without protection; a person of several tables
    /// counts as several.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there is no table, or schemas differ.
    pub fn pooled(tables: &[(Self, &Unprotected)]) -> Result<Self, Error> {
        let Some((first, _)) = tables.first() else {
            return Err(Error::misuse("there is no table to pool"));
        };
        if tables.iter().any(|(table, _)| table.schema() != first.schema()) {
            return Err(Error::misuse("tables that are pooled were read with one schema"));
        }
        let all: Vec<&Cells> = tables
            .iter()
            .map(|(table, leave)| leave.reveal(table.cells().as_ref()))
            .collect();
        let cells = Private::new(Cells::appended(&all));
        Ok(first.with(Arc::clone(first.shared_schema()), cells))
    }

    /// The schema of tables that are joined: the features of all, and the first one's label.
    ///
    /// # Errors
    /// [`Error::Data`] if two columns have one name.
    pub fn joint_schema<'a>(mut tables: impl Iterator<Item = &'a Self>) -> Result<Schema, Error> {
        let Some(first) = tables.next().map(Self::schema) else {
            return Err(Error::misuse("there is no table to join"));
        };
        let features = first
            .features()
            .chain(tables.flat_map(|table| table.schema().features()));
        let label = first.label().map(|(column, _)| column);
        Schema::builder(first.dataset())
            .missing(first.missing())
            .columns(features.chain(label).cloned())
            .build()
            .map_err(|e| Error::data(format!("the parties' columns do not go together: {e}")))
    }

    /// One table of the rows that all have, with the features of all and the first one's label: rows are matched by their ids if all
    /// tables were read with ids, otherwise by position. All rows are used without protection.
    ///
    /// # Errors
    /// [`Error::Data`] if rows cannot be matched, or two columns have one name.
    pub fn joined(tables: &[(Self, &Unprotected)]) -> Result<Self, Error> {
        let schema = Self::joint_schema(tables.iter().map(|(table, _)| table))?;
        let all: Vec<&Cells> = tables
            .iter()
            .map(|(table, leave)| leave.reveal(table.cells().as_ref()))
            .collect();
        let met: Vec<Cells> = all
            .iter()
            .zip(common(&all)?)
            .map(|(cells, rows)| cells.take(&rows))
            .collect();
        let rows = met.first().map_or(0, Cells::rows);
        let target = met.first().and_then(|cells| cells.target.clone());
        let features = met.into_iter().flat_map(|cells| cells.features).collect();
        let cells = Private::new(Cells::joined(rows, features, target)?);
        // As little is kept of the numbers as the least that is kept of a part.
        let least = tables.iter().min_by_key(|(table, _)| table.keeps_values());
        let (like, _) = least.ok_or_else(|| Error::misuse("there is no table to join"))?;
        Ok(like.with(Arc::new(schema), cells))
    }
}

/// The rows of each table that all have, in the order of the first.
fn common(all: &[&Cells]) -> Result<Vec<Vec<u32>>, Error> {
    let ids: Option<Vec<_>> = all.iter().map(|cells| cells.ids()).collect();
    let Some(ids) = ids else {
        let rows = all.first().map_or(0, |cells| cells.rows());
        if all.iter().any(|cells| cells.rows() != rows) {
            return Err(Error::data(
                "tables without ids must have the same number of rows, and these do not",
            ));
        }
        return Ok(vec![(0..rows as u32).collect(); all.len()]);
    };
    let mut places: Vec<HashMap<&[u8], u32>> = Vec::new();
    for names in &ids {
        let places_here: HashMap<&[u8], u32> = names.iter().zip(0..).collect();
        if places_here.len() != names.len() || places_here.contains_key(&b""[..]) {
            return Err(Error::data(
                "rows cannot be matched: an id is empty or occurs twice",
            ));
        }
        places.push(places_here);
    }
    let mut rows = vec![Vec::new(); all.len()];
    for name in ids.first().into_iter().flat_map(|names| names.iter()) {
        let found: Option<Vec<u32>> = places.iter().map(|places| places.get(name).copied()).collect();
        if let Some(found) = found {
            rows.iter_mut().zip(found).for_each(|(rows, row)| rows.push(row));
        }
    }
    if rows.first().is_none_or(Vec::is_empty) {
        return Err(Error::data(
            "the parties have no id in common, so there is nothing to learn from: check that all write ids alike, and that each names \
             the right column",
        ));
    }
    Ok(rows)
}

/// The place of each person in a random order.
fn order(cells: &Cells, seed: [u8; 32]) -> Vec<usize> {
    let people = match cells.units() {
        Some(units) => units.iter().max().map_or(0, |&last| last as usize + 1),
        None => cells.rows(),
    };
    let mut order: Vec<usize> = (0..people).collect();
    let mut coins = Coins::from_seed(seed);
    for i in (1..people).rev() {
        order.swap(i, coins.below(i as u64 + 1) as usize);
    }
    order
}

fn rows_of(cells: &Cells, takes: impl Fn(usize) -> bool) -> Vec<u32> {
    (0..cells.rows())
        .filter(|&row| takes(cells.units().map_or(row, |units| units[row] as usize)))
        .map(|row| row as u32)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Intake, Keep};
    use super::*;

    const SCHEMA: &str = r#"
        dataset = "visits"
        unit = "who"
        rows_per_unit = 2
        [columns]
        who = { type = "id" }
        x = { type = "integer", min = 0, max = 9 }
        y = { type = "label", values = ["a", "b"] }
    "#;

    fn table(dataset: &str, who: &[&str], x: &[i64], y: &[&str]) -> Table {
        let schema = Schema::from_toml("schema.toml", SCHEMA).expect("a schema");
        let intake = Intake::everything(Arc::new(schema.of_dataset(dataset)), Keep::Bins);
        let rows = Frame::new().column("who", who).column("x", x).column("y", y);
        Table::read(&intake, &rows).expect("a table")
    }

    #[test]
    fn pooled_rows_come_one_after_another_and_people_stay_apart() {
        let one = table("one", &["p", "q", "p"], &[1, 2, 3], &["a", "b", "a"]);
        let two = table("two", &["p", "r"], &[4, 5], &["b", "b"]);
        let leave = Unprotected::unrecorded("one", &one.schema().relation(), "a test");
        let different = Table::pooled(&[(one.clone(), &leave), (two.clone(), &leave)]);
        assert!(different.is_err(), "their data sets have different names");
        let two = two.as_of(one.shared_schema()).expect("columns are alike");
        let all = Table::pooled(&[(one.clone(), &leave), (two, &leave)]).expect("one schema");
        let cells = leave.reveal(all.cells().as_ref());
        let whole = table(
            "one",
            &["p", "q", "p", "s", "r"],
            &[1, 2, 3, 4, 5],
            &["a", "b", "a", "b", "b"],
        );
        assert_eq!(cells, leave.reveal(whole.cells().as_ref()));
        assert_eq!(cells.units(), Some(&[0, 1, 0, 2, 3][..]));
        assert!(Table::pooled(&[]).is_err());
    }

    #[test]
    fn rows_that_were_read_otherwise_are_of_no_other_schema() {
        let rows = table("one", &["p"], &[1], &["a"]);
        for (old, new) in [
            ("max = 9", "max = 10"),
            ("rows_per_unit = 2", "rows_per_unit = 3"),
        ] {
            let other = Schema::from_toml("schema.toml", &SCHEMA.replace(old, new)).expect("a schema");
            assert!(rows.as_of(&Arc::new(other)).is_err(), "{new}");
        }
    }

    /// Of 2,000 people with two rows each, 600 are held out on average, with a standard deviation of 20.5: 100 more or fewer happen once in
    /// a million seeds, and these are fixed.
    #[test]
    fn people_are_held_out_whole_and_as_often_as_declared() {
        let who: Vec<String> = (0..4000).map(|row| format!("p{}", row % 2000)).collect();
        let who: Vec<&str> = who.iter().map(String::as_str).collect();
        let x: Vec<i64> = (0..4000).map(|row| row % 10).collect();
        let y: Vec<&str> = (0..4000).map(|row| ["a", "b"][row % 2]).collect();
        let table = table("one", &who, &x, &y);
        let leave = Unprotected::unrecorded("one", &table.schema().relation(), "a test");
        let people = |table: &Table| {
            let units = leave.reveal(table.cells().as_ref()).units().expect("people");
            let mut each = HashMap::<u32, usize>::new();
            units.iter().for_each(|unit| *each.entry(*unit).or_default() += 1);
            each
        };
        let parts = [1, 2].map(|seed| {
            let (rest, held_out) = table.held_out(30, [seed; 32]);
            let [rest, held_out] = [people(&rest), people(&held_out)];
            assert!(rest.values().chain(held_out.values()).all(|rows| *rows == 2));
            assert!(rest.keys().all(|unit| !held_out.contains_key(unit)));
            assert_eq!(rest.len() + held_out.len(), 2000);
            assert!((500..=700).contains(&held_out.len()), "{}", held_out.len());
            held_out
        });
        assert_ne!(parts[0], parts[1], "another seed holds out others");
    }
}
