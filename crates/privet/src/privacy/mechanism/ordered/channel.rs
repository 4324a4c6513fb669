//! The shared interface of desensitisers on a finite domain: a law on outputs for each input.

use super::loss::{LogOdds, Widest, between};
use super::{Audit, Loss, Outputs};
use crate::privacy::enclosure::Enclosure;
use crate::privacy::{Anchor, Randomness};

/// The cumulative probabilities P(Y ≤ 0), P(Y ≤ 1), … of an input's row, without the last output.
pub(super) type RowLaw<'a> = Box<dyn Fn(usize) -> Vec<Enclosure> + 'a>;

/// A law on `0..outputs` for each of `0..inputs`, stated twice: as the digits that are drawn by, and as the logarithms that
/// are claimed. Tests compare the two.
pub(super) trait Channel: std::fmt::Debug + Send + Sync {
    fn inputs(&self) -> usize;

    fn outputs(&self) -> Outputs {
        Outputs {
            lowest: 0,
            count: self.inputs(),
        }
    }

    /// Rows with `bits` digits; what they share is computed once. Each enclosure must become as narrow as one likes when
    /// `bits` grow.
    fn rows(&self, bits: usize) -> RowLaw<'_>;

    /// `ln P(y|x)` for each output `y`, up to a term of `y` alone: that cancels when two inputs are compared.
    fn odds(&self, x: usize) -> LogOdds;

    /// Which part of the domain an input lies in.
    fn part(&self, _x: usize) -> usize {
        0
    }

    fn describe(&self) -> String;

    fn proof(&self) -> Anchor;

    /// Replaces each value by a draw from its row; a value outside the domain counts as the last.
    fn change(&self, values: &mut [u16], random: &mut Randomness);

    fn loss(&self, x: usize, other: usize) -> Loss {
        between(&self.odds(x), &self.odds(other))
    }

    fn audit(&self) -> Audit {
        audit(self)
    }
}

/// Every row against the one before it, and all against each other.
pub(super) fn audit<C: Channel + ?Sized>(channel: &C) -> Audit {
    let mut audit = Audit {
        within: Loss::NONE,
        across: None,
        whole: Loss::NONE,
    };
    let mut last = channel.odds(0);
    let mut widest = Widest::of(last.len());
    let mut bounded = widest.see(&last);
    for x in 1..channel.inputs() {
        let odds = channel.odds(x);
        bounded &= widest.see(&odds);
        let step = between(&last, &odds);
        if channel.part(x) == channel.part(x - 1) {
            audit.within = audit.within.max(step);
        } else {
            audit.across = audit.across.max(Some(step));
        }
        last = odds;
    }
    audit.whole = if bounded { widest.loss() } else { Loss::Unbounded };
    audit
}

/// The probabilities of a row, to the accuracy of a float: with enough digits that the least of them has some.
pub(super) fn masses(channel: &impl Channel, x: usize) -> Vec<f64> {
    let mut bits = 192;
    loop {
        let one = Enclosure::integer(1, bits);
        let mut below = Enclosure::integer(0, bits);
        let mut fine = true;
        let ends = channel.rows(bits)(x).into_iter().chain([one]);
        let masses = ends
            .map(|end| {
                let mass = end.sub(&below);
                below = end;
                let error = mass.high() - mass.low();
                fine &= *mass.low() >= error << 50 || mass.high() == mass.low();
                mass.to_f64().max(0.0)
            })
            .collect();
        // Below 2^-800 a float in a table is as good as zero.
        if fine || bits > 800 {
            return masses;
        }
        bits *= 2;
    }
}
