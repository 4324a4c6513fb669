//! Categories without an order: generalised randomised response, and unary encoding.

use dashu_ratio::RBig;

use super::channel::{Channel, RowLaw};
use super::loss::{Log, LogOdds};
use super::row_sampler::ChannelCache;
use super::{Audit, Loss, MOST, MOST_TABULATED, domain, positive};
use crate::Error;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::{Anchor, Epsilon, Randomness, getters};

/// `exp(−x)`.
fn decay(x: &RBig, bits: usize) -> Enclosure {
    Enclosure::ratio(&-x.clone(), bits).exp()
}

/// The true category `e^ε` times as often as each other one.
///
/// # Privacy
/// ε between any two categories; `docs/proofs/ordered.md#randomised-response`.
#[derive(Debug)]
pub struct RandomisedResponse {
    epsilon: Epsilon,
    categories: usize,
    table: ChannelCache,
}

impl RandomisedResponse {
    /// Among `categories` categories, including one for missing or unknown values.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero or the number of categories is not supported.
    pub fn new(epsilon: Epsilon, categories: usize) -> Result<Self, Error> {
        domain(categories, MOST_TABULATED)?;
        positive(epsilon)?;
        Ok(Self {
            epsilon,
            categories,
            table: ChannelCache::default(),
        })
    }
}

impl Channel for RandomisedResponse {
    fn inputs(&self) -> usize {
        self.categories
    }

    fn rows(&self, bits: usize) -> RowLaw<'_> {
        let one = Enclosure::integer(1, bits);
        let other = decay(&self.epsilon.to_ratio(), bits);
        let others = other.mul(&Enclosure::integer(self.categories - 1, bits));
        let share = one.div(&one.add(&others));
        Box::new(move |x| {
            let weight = |y: usize| {
                let whole = other.mul(&Enclosure::integer(y + usize::from(y < x), bits));
                if y < x { whole } else { whole.add(&one) }
            };
            (0..self.categories - 1).map(|y| weight(y).mul(&share)).collect()
        })
    }

    fn odds(&self, x: usize) -> LogOdds {
        let mut odds = vec![Some(Log::ZERO); self.categories];
        odds[x] = Some(Log::epsilon(self.epsilon));
        odds
    }

    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        self.table.change(self, values, random);
    }

    fn audit(&self) -> Audit {
        self.table.audit(self)
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#randomised-response")
    }

    fn describe(&self) -> String {
        format!(
            "randomised response among {}, ε = {}",
            self.categories, self.epsilon
        )
    }
}

/// One flag of a unary code: 1 where it is 1 with probability `1/(1 + e^−one)`, and 1 where it is 0 with `1/(1 + e^zero)`.
#[derive(Debug)]
struct Flag {
    one: RBig,
    zero: RBig,
    table: ChannelCache,
}

impl Channel for Flag {
    fn inputs(&self) -> usize {
        2
    }

    fn rows(&self, bits: usize) -> RowLaw<'_> {
        let one = Enclosure::integer(1, bits);
        // P(0|0) = 1/(1 + e^−zero), and P(0|1) = e^−one/(1 + e^−one).
        let [decay_zero, decay_one] = [&self.zero, &self.one].map(|x| decay(x, bits));
        let kept = one.div(&one.add(&decay_zero));
        let lost = decay_one.div(&one.add(&decay_one));
        Box::new(move |x| vec![if x == 0 { kept.clone() } else { lost.clone() }])
    }

    fn odds(&self, x: usize) -> LogOdds {
        let row = self.rows(160)(x);
        let rest = Enclosure::integer(1, 160).sub(&row[0]);
        vec![Some(Log::ln(&row[0])), Some(Log::ln(&rest))]
    }

    fn change(&self, values: &mut [u16], random: &mut Randomness) {
        self.table.change(self, values, random);
    }

    fn proof(&self) -> Anchor {
        Anchor::new("ordered#unary-encoding")
    }

    fn describe(&self) -> String {
        format!("a flag kept with odds e^{} and e^{}", self.one, self.zero)
    }
}

/// A category as one flag per category, each flag randomised on its own.
///
/// # Privacy
/// Another category changes **two** flags, so a row costs the sum of their losses; `docs/proofs/ordered.md#unary-encoding`.
#[derive(Debug)]
pub struct Unary {
    categories: usize,
    flag: Flag,
    cost: Loss,
    name: &'static str,
}

impl Unary {
    /// Both kinds of flag with odds of `e^(ε/2)` (SUE): a row costs ε.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero or the number of categories is not supported.
    pub fn symmetric(epsilon: Epsilon, categories: usize) -> Result<Self, Error> {
        let half = positive(epsilon)? / RBig::from(2);
        Self::new("symmetric", [half.clone(), half], categories)
    }

    /// The true flag is a fair coin, the others have odds of `e^ε` (OUE): a row costs ε, and estimates vary least.
    ///
    /// # Errors
    /// As [`Unary::symmetric`].
    pub fn optimised(epsilon: Epsilon, categories: usize) -> Result<Self, Error> {
        Self::new("optimised", [RBig::ZERO, positive(epsilon)?], categories)
    }

    /// Randomised response on each flag with ε of its own, as the reference implementation does: a row costs **2ε**.
    ///
    /// # Errors
    /// As [`Unary::symmetric`].
    pub fn flag_by_flag(epsilon: Epsilon, categories: usize) -> Result<Self, Error> {
        let each = positive(epsilon)?;
        Self::new("flag by flag", [each.clone(), each], categories)
    }

    fn new(name: &'static str, [one, zero]: [RBig; 2], categories: usize) -> Result<Self, Error> {
        domain(categories, MOST)?;
        // One flag falls, another rises: ln of (e^one : 1)·(e^zero : 1), attained when both show the old category.
        let cost = Loss::Bounded(Epsilon::from_ratio_up(&(&one + &zero))?);
        let table = ChannelCache::default();
        Ok(Self {
            categories,
            flag: Flag { one, zero, table },
            cost,
            name,
        })
    }

    getters! {
        /// How many flags a row has.
        pub categories(categories) -> usize;
        /// Where its cost is proved.
        pub proof(flag.proof()) -> Anchor;
    }

    /// What one row costs, between any two categories.
    pub fn audit(&self) -> Audit {
        Audit {
            within: self.cost,
            across: None,
            whole: self.cost,
        }
    }

    /// The probability that a flag shows 1 where it is 1, and where it is 0, to the accuracy of a float.
    pub fn shown(&self) -> [f64; 2] {
        let rows = self.flag.rows(160);
        [1, 0].map(|x| 1.0 - rows(x)[0].to_f64())
    }

    /// The mechanism and its parameters in words.
    pub fn describe(&self) -> String {
        format!(
            "{} unary encoding of {} categories, ε = {} for a row",
            self.name, self.categories, self.cost
        )
    }

    /// All flags of all rows, row by row: 0 or 1.
    pub(super) fn change(&self, values: &[u16], random: &mut Randomness) -> Vec<u16> {
        let mut flags = vec![0u16; values.len() * self.categories];
        for (row, value) in flags.chunks_mut(self.categories).zip(values) {
            // Every flag is written, so that the time does not tell which of them is set.
            let value = usize::from(*value).min(self.categories - 1);
            for (category, flag) in row.iter_mut().enumerate() {
                *flag = u16::from(category == value);
            }
        }
        self.flag.change(&mut flags, random);
        flags
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The claimed cost against every output of every pair of rows, bit by bit.
    #[test]
    fn a_one_hot_row_costs_two_flags() {
        let epsilon = Epsilon::from_billionths(700_000_000);
        for (unary, cost) in [
            (Unary::symmetric(epsilon, 4), 0.7),
            (Unary::optimised(epsilon, 4), 0.7),
            (Unary::flag_by_flag(epsilon, 4), 1.4),
        ] {
            let unary = unary.expect("a code");
            let rows = [0, 1].map(|x| {
                let zero = unary.flag.rows(160)(x)[0].to_f64();
                [zero, 1.0 - zero]
            });
            let mass = |category: usize, output: usize| -> f64 {
                (0..4)
                    .map(|i| rows[usize::from(i == category)][output >> i & 1])
                    .product()
            };
            let mut worst = 0.0f64;
            for output in 0..16 {
                for (a, b) in [(0, 1), (2, 3), (3, 0)] {
                    worst = worst.max((mass(a, output) / mass(b, output)).ln().abs());
                }
            }
            assert!((worst - cost).abs() < 1e-12, "{}: {worst}", unary.describe());
            assert_eq!(unary.audit().whole, Loss::Bounded(Epsilon::new(cost).expect("ε")));
            // The loss of a single flag, which is what one would charge by mistake.
            assert!(unary.flag.loss(0, 1).to_f64() <= cost);
        }
    }
}
