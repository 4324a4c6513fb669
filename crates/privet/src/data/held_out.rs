//! Rows that are kept out of training, so that a model can be judged by them.

use std::sync::Arc;

use super::table::{Cells, Table};
use crate::privacy::Coins;

impl Table {
    /// Holds out each person with a chance of `percent` in a hundred, by a coin of their own: what remains, and what was held out. A person is
    /// the rows of one unit, where the schema tells units apart by a column; else a row.
    ///
    /// # Privacy
    /// `docs/proofs/horizontal.md#held-out`, if the seed is drawn at random and nobody sees it: a person more or less changes nobody else's
    /// part then. Coins that others knew would tell them apart by their places.
    pub(crate) fn held_out(&self, percent: u32, seed: [u8; 32]) -> (Self, Self) {
        let part = |is_held_out: bool| {
            let cells = self.cells().as_ref().map(|cells| {
                let coins = tossed(cells, percent, seed);
                let of = |row: usize| cells.units().map_or(row, |units| units[row] as usize);
                let rows = (0..cells.rows()).filter(|&row| coins[of(row)] == is_held_out);
                cells.take(&rows.map(|row| row as u32).collect::<Vec<u32>>())
            });
            self.with(Arc::clone(self.shared_schema()), cells)
        };
        (part(false), part(true))
    }
}

/// Whether each person is held out, in the order in which they come.
fn tossed(cells: &Cells, percent: u32, seed: [u8; 32]) -> Vec<bool> {
    let people = match cells.units() {
        Some(units) => units.iter().max().map_or(0, |&last| last as usize + 1),
        None => cells.rows(),
    };
    let mut coins = Coins::from_seed(seed);
    (0..people)
        .map(|_| coins.below(100) < u64::from(percent))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Frame, Intake, Keep, Schema};
    use super::*;
    use crate::privacy::Unprotected;

    const SCHEMA: &str = r#"
        dataset = "visits"
        unit = "who"
        rows_per_unit = 3
        [columns]
        who = { type = "id" }
        x = { type = "integer", min = 0, max = 9 }
        y = { type = "label", values = ["a", "b"] }
    "#;

    /// Of 2,000 people with three rows each, 600 are held out on average, with a standard deviation of 20.5: 100 more or fewer happen once in
    /// a million seeds, and these are fixed.
    #[test]
    fn people_are_held_out_whole_and_as_often_as_declared() {
        let schema = Schema::from_toml("schema.toml", SCHEMA).expect("a schema");
        let intake = Intake::everything(Arc::new(schema), Keep::Bins);
        let people: Vec<String> = (0..6000).map(|row| format!("p{}", row % 2000)).collect();
        let x: Vec<i64> = (0..6000).map(|row| row % 10).collect();
        let y: Vec<&str> = (0..6000).map(|row| ["a", "b"][row % 2]).collect();
        let rows = Frame::new()
            .column("who", &people)
            .column("x", &x)
            .column("y", &y);
        let table = Table::read(&intake, &rows).expect("a table");
        let leave = Unprotected::unrecorded("visits", &table.schema().relation(), "a test");
        let people = |table: &Table| {
            let cells = leave.reveal(table.cells().as_ref());
            let units = cells.units().expect("people are told apart");
            let mut each = std::collections::BTreeMap::<u32, usize>::new();
            units.iter().for_each(|unit| *each.entry(*unit).or_default() += 1);
            assert_eq!(cells.rows(), units.len());
            each
        };
        for seed in [1, 2] {
            let (rest, held_out) = table.held_out(30, [seed; 32]);
            let [rest, held_out] = [people(&rest), people(&held_out)];
            assert!(rest.values().chain(held_out.values()).all(|rows| *rows == 3));
            assert!(rest.keys().all(|unit| !held_out.contains_key(unit)));
            assert_eq!(rest.len() + held_out.len(), 2000);
            assert!((500..=700).contains(&held_out.len()), "{}", held_out.len());
        }
        let one = people(&table.held_out(30, [1; 32]).1);
        let other = people(&table.held_out(30, [2; 32]).1);
        assert_ne!(one, other, "another seed holds out others");
    }
}
