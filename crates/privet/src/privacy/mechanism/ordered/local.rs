//! The paper's local map.

use super::blocks::{Alignment, Blocks};
use super::channel::{Channel, RowLaw};
use super::hill::Hill;
use super::loss::LogOdds;
use super::maps::{Route, half};
use super::row_sampler::ChannelCache;
use super::{Audit, Outputs, positive};
use crate::Error;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::{Anchor, Epsilon, Randomness};

/// `P(y|x) ∝ exp(−ε·|x − y|/2)` within the part of `x`: which part that is, is shown.
///
/// # Paper
/// OpBoost, section 4.2.
///
/// # Privacy
/// ε per slot of distance within a part, nothing over a border; `docs/proofs/ordered.md#local-map`.
#[derive(Debug)]
pub struct LocalMap {
    epsilon: Epsilon,
    blocks: Blocks,
    hill: Hill,
    route: Route,
    table: ChannelCache,
}

impl LocalMap {
    /// On a domain of `slots` slots, in parts of `width`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero, parts do not cut the domain, or the number of slots is not supported.
    pub fn new(
        epsilon: Epsilon,
        slots: usize,
        width: usize,
        alignment: Alignment,
        route: Route,
    ) -> Result<Self, Error> {
        let blocks = Blocks::new(slots, width, alignment)?;
        let hill = Hill::new(&half(&positive(epsilon)?)?, blocks.widths());
        Ok(Self {
            epsilon,
            blocks,
            hill: hill.for_route(route),
            route,
            table: ChannelCache::default(),
        })
    }
}

impl Channel for LocalMap {
    fn inputs(&self) -> usize {
        self.blocks.inputs
    }

    fn outputs(&self) -> Outputs {
        self.blocks.outputs()
    }

    fn rows(&self, bits: usize) -> RowLaw<'_> {
        let sums = self.hill.sums(bits);
        let [zero, one] = [0, 1].map(|x| Enclosure::integer(x, bits));
        Box::new(move |x| {
            let block = self.blocks.of(x);
            let (width, anchor) = self.blocks.anchor(block, x);
            let mut row = vec![zero.clone(); self.blocks.start(block)];
            row.extend(sums.cumulative(width, anchor, &one));
            row.resize(self.outputs().count, one.clone());
            row.pop();
            row
        })
    }

    fn odds(&self, x: usize) -> LogOdds {
        let block = self.blocks.of(x);
        let (width, anchor) = self.blocks.anchor(block, x);
        let mut odds = vec![None; self.outputs().count];
        for y in 0..width {
            odds[self.blocks.start(block) + y] = Some(self.hill.log(width, anchor, y));
        }
        odds
    }

    fn part(&self, x: usize) -> usize {
        self.blocks.of(x)
    }

    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        match self.route {
            Route::BoundedLaplace => self.table.change(self, values, random),
            Route::Exponential => {
                for value in values {
                    let x = usize::from(*value).min(self.inputs() - 1);
                    let block = self.blocks.of(x);
                    let (width, anchor) = self.blocks.anchor(block, x);
                    *value = (self.blocks.start(block) + self.hill.select(width, anchor, random)) as u16;
                }
            }
        }
    }

    fn audit(&self) -> Audit {
        self.table.audit(self)
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#local-map")
    }

    fn describe(&self) -> String {
        format!(
            "local map on {} slots, ε = {}, parts of {}{}",
            self.inputs(),
            self.epsilon,
            self.blocks.width,
            self.blocks.aligned()
        )
    }
}
