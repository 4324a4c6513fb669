//! Columns that were read in finer bins than they are cut between.

use crate::data::Cuts;
use crate::data::schema::Number;

/// The usual bins of a column that was read in finer ones.
#[derive(Debug, Clone)]
pub(super) struct CoarseGrid {
    cuts: Cuts,
    /// The last slot of each bin.
    last: Vec<u16>,
    /// The width of each slot.
    widths: Vec<f64>,
}

impl CoarseGrid {
    /// Of a number that was read in finer bins.
    pub(super) fn of(fine: &Number) -> Option<Self> {
        let coarse = fine.coarser()?;
        let points = fine.cuts().points();
        let place = |cut: &f32| points.partition_point(|point| point < cut) as u16;
        let mut last: Vec<u16> = coarse.cuts().points().iter().map(place).collect();
        last.push(points.len() as u16);
        let inner = points.iter().map(|&point| f64::from(point));
        let ends: Vec<f64> = [fine.min()]
            .into_iter()
            .chain(inner)
            .chain([fine.max()])
            .collect();
        Some(Self {
            cuts: coarse.cuts().clone(),
            last,
            widths: ends.windows(2).map(|pair| (pair[1] - pair[0]).max(0.0)).collect(),
        })
    }

    /// The slot after which the column is cut at a number: the last of that number's bin, which is not the last of all.
    pub(super) fn last_slot(&self, x: f32) -> u16 {
        let bin = usize::from(self.cuts.bin(x)).min(self.bins().saturating_sub(2));
        self.last[bin]
    }

    /// How many bins there are.
    pub(super) fn bins(&self) -> usize {
        self.last.len()
    }

    /// One slot of each bin, and that of missing cells.
    pub(super) fn slots(&self) -> impl Iterator<Item = usize> {
        let missing = self.widths.len();
        self.last.iter().map(|&slot| slot.into()).chain([missing])
    }

    /// The bin of a slot.
    pub(super) fn bin(&self, slot: u16) -> usize {
        self.last.partition_point(|&last| last < slot)
    }

    /// Whether no other slot is in its bin.
    pub(super) fn is_alone(&self, slot: u16) -> bool {
        let bin = self.bin(slot);
        let before = bin.checked_sub(1).map(|bin| self.last[bin]);
        self.last[bin] == slot && before.map_or(slot == 0, |before| before + 1 == slot)
    }

    /// The width of each slot but that of missing cells.
    pub(super) fn widths(&self) -> &[f64] {
        &self.widths
    }
}
