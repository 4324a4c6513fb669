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
