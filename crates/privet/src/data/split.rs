//! Cutting one table into several, for simulation: by a declared seed, never by what the rows say.

use std::num::NonZeroUsize;
use std::sync::Arc;

use super::schema::Kind;
use super::table::{Cells, Table};
use crate::Error;
use crate::privacy::{Coins, Unprotected};

impl Table {
    /// Deals the people of the table to parties at random, in shares that differ by at most one person.
    ///
    /// One person more changes where everybody goes, so what is released about a share has no bound: only for rows that
    /// are used without protection.
    pub fn parties(&self, parties: NonZeroUsize, seed: [u8; 32], _leave: &Unprotected) -> Vec<Self> {
        (0..parties.get())
            .map(|party| {
                let cells = self.cells().as_ref().map(|cells| {
                    let order = order(cells, seed);
                    cells.take(&rows_of(cells, |unit| order[unit] % parties.get() == party))
                });
                Self::of(Arc::clone(self.shared_schema()), cells)
            })
            .collect()
    }

    /// Sets aside `percent` of the people at random: what remains, and what was set aside. As with
    /// [`parties`](Self::parties), only for rows that are used without protection.
    pub fn hold_out(&self, percent: u8, seed: [u8; 32], _leave: &Unprotected) -> (Self, Self) {
        let part = |aside: bool| {
            let cells = self.cells().as_ref().map(|cells| {
                let order = order(cells, seed);
                let first = order.len() * usize::from(percent.min(100)) / 100;
                cells.take(&rows_of(cells, |unit| (order[unit] < first) == aside))
            });
            Self::of(Arc::clone(self.shared_schema()), cells)
        };
        (part(false), part(true))
    }

    /// Gives each party the columns that it names. Everybody has the columns that tell people apart.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a name that is no column, or a party without anything.
    pub fn columns(&self, parties: &[Vec<String>]) -> Result<Vec<Self>, Error> {
        let schema = self.schema();
        for name in parties.iter().flatten() {
            if !schema.columns().iter().any(|column| &column.name == name) {
                return Err(Error::Parameter(format!(
                    "there is no column '{name}' to give to a party"
                )));
            }
        }
        parties
            .iter()
            .map(|names| {
                let has = |name: &str| names.iter().any(|other| other == name);
                let part = schema.select(|column| column.kind == Kind::Id || has(&column.name))?;
                let kept: Vec<bool> = schema.features().map(|column| has(&column.name)).collect();
                let label = schema.label().is_some_and(|(column, _)| has(&column.name));
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
                    units: cells.units.clone(),
                    ids: cells.ids.clone(),
                });
                Ok(Self::of(Arc::new(part), cells))
            })
            .collect()
    }
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
