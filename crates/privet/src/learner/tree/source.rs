//! Where the slots of rows come from when they are scored.

use crate::data::{Bins, Cells};

/// Where slots come from: a table, or raw numbers that are put into bins on the way.
pub trait SlotSource: Sync {
    /// How many rows there are.
    fn rows(&self) -> usize;

    /// The slots of a feature for the rows from `begin` on.
    fn slots(&self, feature: usize, begin: usize, out: &mut [u16]);

    /// The same for a feature of at most 256 slots.
    fn narrow(&self, feature: usize, begin: usize, out: &mut [u8]);
}

impl SlotSource for Cells {
    fn rows(&self) -> usize {
        Self::rows(self)
    }

    fn slots(&self, feature: usize, begin: usize, out: &mut [u16]) {
        let bins = &self.features()[feature].bins;
        for (place, slot) in out.iter_mut().enumerate() {
            *slot = bins.get(begin + place);
        }
    }

    fn narrow(&self, feature: usize, begin: usize, out: &mut [u8]) {
        match &self.features()[feature].bins {
            Bins::Narrow(bins) => out.copy_from_slice(&bins[begin..begin + out.len()]),
            Bins::Wide(_) => out.fill(0),
        }
    }
}
