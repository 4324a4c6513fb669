//! A domain cut into parts of equal width.

use super::{MOST_TABULATED, Outputs, domain};
use crate::Error;

/// Where the parts of a domain begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Alignment {
    /// At the first slot, as the paper has it: the last part may be short.
    #[default]
    FirstSlot,
    /// At zero, as the reference implementation has it: a value `v` lies in part `⌊v/θ⌋`. All parts are whole, so outputs may lie
    /// below and above the domain.
    Zero {
        /// The value of the first slot, L.
        first: u32,
    },
}

/// The parts, by the outputs that they hold.
#[derive(Debug)]
pub(super) struct Blocks {
    pub(super) inputs: usize,
    pub(super) width: usize,
    /// Outputs before the first slot.
    lead: usize,
    outputs: usize,
    alignment: Alignment,
}

impl Blocks {
    pub(super) fn new(slots: usize, width: usize, alignment: Alignment) -> Result<Self, Error> {
        domain(slots, MOST_TABULATED)?;
        if width == 0 || width >= slots {
            let why = format!(
                "parts of {width} do not cut {slots} slots: give a width from 1 to {}",
                slots - 1
            );
            return Err(Error::parameter("width", why));
        }
        let (lead, outputs) = match alignment {
            Alignment::FirstSlot => (0, slots),
            Alignment::Zero { first } => {
                let lead = first as usize % width;
                (lead, (lead + slots).next_multiple_of(width))
            }
        };
        Ok(Self {
            inputs: slots,
            width,
            lead,
            outputs,
            alignment,
        })
    }

    pub(super) fn outputs(&self) -> Outputs {
        Outputs {
            lowest: -(self.lead as i32),
            count: self.outputs,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.outputs.div_ceil(self.width)
    }

    /// The part of an input.
    pub(super) fn of(&self, x: usize) -> usize {
        (self.lead + x) / self.width
    }

    /// The first output of a part.
    pub(super) fn start(&self, block: usize) -> usize {
        block * self.width
    }

    fn width_of(&self, block: usize) -> usize {
        self.width.min(self.outputs - self.start(block))
    }

    /// All widths that occur.
    pub(super) fn widths(&self) -> [usize; 2] {
        [self.width, self.width_of(self.count() - 1)]
    }

    /// The width of a part, and where in it a draw for `x` is anchored: at `x`, or at the end that is nearest to it. The law is the
    /// same as if it were anchored at `x` itself, since `exp(−r·|x − y|)` differs from that by a factor that cancels.
    pub(super) fn anchor(&self, block: usize, x: usize) -> (usize, usize) {
        let width = self.width_of(block);
        let anchor = (self.lead + x).saturating_sub(self.start(block));
        (width, anchor.min(width - 1))
    }

    pub(super) fn aligned(&self) -> String {
        match self.alignment {
            Alignment::FirstSlot => String::new(),
            Alignment::Zero { first } => format!(" aligned at zero, the first slot being {first}"),
        }
    }
}
