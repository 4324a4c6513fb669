//! Columns of small integers, in which cells are stored.

use crate::privacy::getters;

/// Slot numbers of one column, as narrow as they fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bins {
    /// At most 256 slots.
    Narrow(Vec<u8>),
    /// More.
    Wide(Vec<u16>),
}

impl Bins {
    /// How many slots still fit into a byte.
    pub const NARROW: usize = 256;

    pub(super) fn with_slots(slots: usize) -> Self {
        if slots <= Self::NARROW {
            Self::Narrow(Vec::new())
        } else {
            Self::Wide(Vec::new())
        }
    }

    #[inline]
    pub(super) fn push(&mut self, slot: u16) {
        match self {
            Self::Narrow(bins) => bins.push(slot as u8),
            Self::Wide(bins) => bins.push(slot),
        }
    }

    #[inline]
    pub(super) fn extend(&mut self, slots: impl Iterator<Item = u16>) {
        match self {
            Self::Narrow(bins) => bins.extend(slots.map(|slot| slot as u8)),
            Self::Wide(bins) => bins.extend(slots),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(bins) => bins.len(),
            Self::Wide(bins) => bins.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot of one row.
    #[inline]
    pub fn get(&self, row: usize) -> u16 {
        match self {
            Self::Narrow(bins) => u16::from(bins[row]),
            Self::Wide(bins) => bins[row],
        }
    }

    /// The slots of all rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    /// Adds to each number what stands at the slot of its row, the first being row `first`.
    pub(crate) fn add(&self, first: usize, at: &[u16], to: &mut [u16]) {
        match self {
            Self::Narrow(bins) => {
                // As long as a byte can count: then no place needs a check.
                let mut table = [0; Self::NARROW];
                for (own, &given) in table.iter_mut().zip(at) {
                    *own = given;
                }
                for (sum, &slot) in to.iter_mut().zip(&bins[first..]) {
                    *sum += table[usize::from(slot)];
                }
            }
            Self::Wide(bins) => {
                for (sum, &slot) in to.iter_mut().zip(&bins[first..]) {
                    *sum += at.get(usize::from(slot)).copied().unwrap_or(0);
                }
            }
        }
    }

    pub(super) fn take(&self, rows: &[u32]) -> Self {
        match self {
            Self::Narrow(bins) => Self::Narrow(pick(bins, rows)),
            Self::Wide(bins) => Self::Wide(pick(bins, rows)),
        }
    }
}

pub(super) fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

/// One feature of all rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Feature {
    /// The slot of each row.
    pub bins: Bins,
    /// The values of numbers, if kept, on the transformed scale: -1 and 1 at the bounds, 0 if missing.
    pub scaled: Option<Vec<f32>>,
}

impl Feature {
    /// A feature of so many slots from the slot of each row.
    pub(crate) fn of_slots(slots: usize, rows: impl Iterator<Item = u16>) -> Self {
        let mut bins = Bins::with_slots(slots);
        bins.extend(rows);
        Self { bins, scaled: None }
    }

    pub(super) fn join(rows: usize, parts: impl Iterator<Item = Self>) -> Self {
        let mut parts = parts;
        let Some(mut all) = parts.next() else {
            return Self::default();
        };
        let missing = rows.saturating_sub(all.bins.len());
        match &mut all.bins {
            Bins::Narrow(bins) => bins.reserve_exact(missing),
            Bins::Wide(bins) => bins.reserve_exact(missing),
        }
        if let Some(scaled) = &mut all.scaled {
            scaled.reserve_exact(missing);
        }
        for part in parts {
            match (&mut all.bins, part.bins) {
                (Bins::Narrow(bins), Bins::Narrow(more)) => bins.extend_from_slice(&more),
                (Bins::Wide(bins), Bins::Wide(more)) => bins.extend_from_slice(&more),
                (bins, more) => bins.extend(more.iter()),
            }
            if let (Some(scaled), Some(more)) = (&mut all.scaled, part.scaled) {
                scaled.extend_from_slice(&more);
            }
        }
        all
    }
}

/// The labels of all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The number of each row's class.
    Classes(Vec<u16>),
    /// Each row's number.
    Numbers(Vec<f32>),
}

impl Target {
    pub(super) fn join(rows: usize, parts: impl Iterator<Item = Option<Self>>) -> Option<Self> {
        let mut parts = parts.flatten();
        let mut all = parts.next()?;
        let missing = rows.saturating_sub(all.len());
        match &mut all {
            Self::Classes(classes) => classes.reserve_exact(missing),
            Self::Numbers(numbers) => numbers.reserve_exact(missing),
        }
        for part in parts {
            match (&mut all, part) {
                (Self::Classes(classes), Self::Classes(more)) => classes.extend_from_slice(&more),
                (Self::Numbers(numbers), Self::Numbers(more)) => numbers.extend_from_slice(&more),
                _ => {}
            }
        }
        Some(all)
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Texts one after another, without an allocation for each.
#[derive(Clone, PartialEq, Default)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Names {
    #[inline]
    pub(super) fn push(&mut self, text: &[u8]) {
        self.bytes.extend_from_slice(text);
        self.ends.push(self.bytes.len());
    }

    #[inline]
    pub(super) fn extend<'c>(&mut self, texts: impl Iterator<Item = &'c [u8]>) {
        texts.for_each(|text| self.push(text));
    }

    getters! {
        /// How many there are.
        pub len(ends.len()) -> usize;
        /// Whether there is none.
        pub is_empty(ends.is_empty()) -> bool;
    }

    pub(super) fn take(&self, rows: &[u32]) -> Self {
        let mut taken = Self::default();
        taken.extend(rows.iter().map(|&row| self.get(row as usize)));
        taken
    }

    /// The one of a row.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.bytes[start..self.ends[row]]
    }

    /// One after another; a missing one is empty.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.bytes[start..end];
            start = end;
            text
        })
    }
}

impl std::fmt::Debug for Names {
    /// Does not print the names.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

impl Default for Bins {
    fn default() -> Self {
        Self::Narrow(Vec::new())
    }
}
