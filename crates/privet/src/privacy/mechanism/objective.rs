//! Objective perturbation: noise on the slope of a convex loss, and its minimum released on a grid, with a little exact noise on top.
//!
//! Chaudhuri, Monteleoni and Sarwate (2011); Awan and Slavković (2021) for the norm that fits the rows' slopes; Iyengar and others (2019)
//! for minima that are only approximate. With the cube, noise on m coefficients is as large as one row's slope in one coordinate asks
//! for, not m times that.
//!
//! It does not implement [`Mechanism`](super::Mechanism): there is no integer answer that noise is added to. The proof for real numbers
//! and exact minima is carried over to this program by two more parts of ε, one for either table (`docs/proofs/objective.md#released-minima`):
//! noise and loss are integers, the point that is found is *proved* to be near the exact minimum of the loss with real noise,
//! and discrete Laplace noise on its rounded coefficients hides where exactly it lies.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `noise` | noise on a grid, near to real noise of exactly the wanted density |
//! | `sigmoid`, `slopes` | the slope of a logistic loss with a proved error |
//! | `descent` | down to where the slope is proved to be small |
//! | `floating` | the same in floating point, for a sphere: void |

mod descent;
mod floating;
mod noise;
mod sigmoid;
mod slopes;

use dashu_int::IBig;
use dashu_ratio::RBig;

use super::Paid;
use crate::Error;
use crate::privacy::account::Price;
use crate::privacy::enclosure::Enclosure;
use crate::privacy::query::Anchor;
use crate::privacy::sampler::{DiscreteLaplace, Noise};
use crate::privacy::{Epsilon, Neighbours, Private, Randomness, Ratio, Relation, getters};
use descent::{Perturbed, float, rounded};
pub use floating::{Floating, ROUNDING_TELLS};
use noise::Law;
pub use slopes::{ENTRY_DIGITS, LogisticRow, LogisticRows, WEIGHT_DIGITS};

/// ε divided by this hides the distance from the exact minimum to the point found for one table; the same again for the other.
const HIDING: u64 = 200;
/// Of the rest, 17 twentieths go to the noise and three to the ridge.
const SHARE: u64 = 17;
const TWENTIETHS: u64 = 20;
/// Digits of a ridge after the point; no ridge is smaller than one.
const RIDGE_DIGITS: usize = 10;
/// Points are at most 2^−32·√m from the exact minimum.
const NEAR: usize = 32;
/// Released coefficients are multiples of 2^−36.
const GRID: usize = 36;

/// The norm that slopes are measured in, by its unit ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ball {
    /// The largest coordinate.
    Cube,
    /// The sum of the coordinates' sizes.
    Cross,
}

impl Ball {
    /// The norm of a vector.
    pub fn norm(self, vector: &[f64]) -> f64 {
        let sizes = vector.iter().map(|x| x.abs());
        match self {
            Self::Cube => sizes.fold(0.0, f64::max),
            Self::Cross => sizes.sum(),
        }
    }
}

/// Bounds on one row's part of a loss, claimed with their proof. Each `f64` stands for exactly its binary fraction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowLoss {
    /// The norm of slopes.
    pub ball: Ball,
    /// How many coefficients there are.
    pub dimension: usize,
    /// A row's slope is never longer than this, in the ball's norm.
    pub slope: f64,
    /// A row's matrix of second derivatives has rank one, and its one eigenvalue is never above this.
    pub curvature: f64,
    /// Where that is proved.
    pub anchor: Anchor,
}

/// The amounts of noise and ridge that an ε pays for.
#[derive(Debug, Clone)]
struct Amounts {
    /// The scale of the noise.
    scale: RBig,
    /// The ridge, in units of 2^−10.
    ridge: IBig,
    /// What hides a point, for either table.
    hiding: Epsilon,
}

impl RowLoss {
    /// # Errors
    /// [`Error::Parameter`] if ε is too small, there is no coefficient, or a bound is not above zero and finite.
    fn amounts(&self, epsilon: Epsilon, relation: &Relation) -> Result<Amounts, Error> {
        let bad = |key, why: String| Err(Error::parameter(key, why));
        let hiding = Epsilon::from_billionths(epsilon.billionths() / HIDING);
        if hiding == Epsilon::ZERO {
            return bad(
                "epsilon",
                format!(
                    "epsilon = {epsilon} is too little for a minimum: give it at least {}",
                    Epsilon::from_billionths(HIDING)
                ),
            );
        }
        if self.dimension == 0 {
            return bad(
                "dimension",
                "dimension = 0: a loss without coefficients has nothing to minimise".into(),
            );
        }
        for (name, bound) in [("slope", self.slope), ("curvature", self.curvature)] {
            if !(bound > 0.0 && bound.is_finite()) {
                return bad(
                    name,
                    format!("{name} = {bound}: it must be above zero and finite"),
                );
            }
        }
        let rest = part(epsilon.billionths() - 2 * hiding.billionths(), 1_000_000_000);
        let scale = RBig::from(relation.steps()) * exact(self.slope) / (&rest * part(SHARE, TWENTIETHS));
        let each = rest * part(TWENTIETHS - SHARE, TWENTIETHS) / RBig::from(relation.rows().get());
        let ridge = RBig::from(IBig::ONE << RIDGE_DIGITS) * exact(self.curvature) / growth(&each);
        Ok(Amounts {
            scale,
            ridge: ridge.ceil().max(IBig::ONE << RIDGE_DIGITS),
            hiding,
        })
    }

    /// The standard deviation of one coordinate of the noise, to plan with before paying.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is too small, there is no coefficient, or a bound is not above zero and finite.
    pub fn deviation(&self, epsilon: Epsilon, relation: &Relation) -> Result<f64, Error> {
        let scale = self.amounts(epsilon, relation)?.scale.to_f64().value();
        let m = self.dimension as f64;
        let variance = match self.ball {
            Ball::Cube => (m + 1.0) * (m + 2.0) / 3.0,
            Ball::Cross => 2.0,
        };
        Ok(scale * variance.sqrt())
    }
}

fn part(numerator: u64, denominator: u64) -> RBig {
    RBig::from(numerator) / RBig::from(denominator)
}

/// The number itself, which is a binary fraction.
fn exact(x: f64) -> RBig {
    // Digits below 2^−1100 are none.
    RBig::from(descent::fixed(x, 1100)) / RBig::from(IBig::ONE << 1100)
}

/// e^x − 1, rounded down, for x above zero.
fn growth(x: &RBig) -> RBig {
    let bits = 256;
    // Beyond, a smaller number does as well: the ridge is never below one.
    let x = x.clone().min(RBig::from(64));
    let power = Enclosure::ratio(&x, bits).exp();
    let one = IBig::ONE << bits;
    RBig::from(power.low() - &one) / RBig::from(one)
}

/// A loss that is perturbed so that its minimum may be released.
///
/// Minimised is Σ (losses of the rows) + ridge/2 · ‖θ‖² + V·θ, the ridge on **every** coefficient, the intercept too; V has a
/// density proportional to exp(−‖V‖/scale).
///
/// # Privacy
/// Pure ε under `N`; `docs/proofs/objective.md#released-minima`.
#[derive(Debug, Clone)]
pub struct Objective<N> {
    relation: N,
    loss: RowLoss,
    epsilon: Epsilon,
    amounts: Amounts,
    noise: Law,
    /// On the released coefficients.
    hiding: DiscreteLaplace,
}

impl<N: Neighbours> Objective<N> {
    /// The least noise and ridge that cost `epsilon`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is too small, there is no coefficient, or a bound is not above zero and finite.
    pub fn calibrated(epsilon: Epsilon, relation: &N, loss: RowLoss) -> Result<Self, Error> {
        let amounts = loss.amounts(epsilon, &relation.relation())?;
        let too_much = |_| {
            Error::parameter(
                "epsilon",
                format!("epsilon = {epsilon} asks for more noise than numbers can hold"),
            )
        };
        let scale = part(moves(loss.dimension), amounts.hiding.billionths()) * RBig::from(1_000_000_000);
        Ok(Self {
            relation: relation.clone(),
            loss,
            epsilon,
            noise: Law::new(loss.ball, loss.dimension, &amounts.scale, &amounts.ridge).map_err(too_much)?,
            hiding: DiscreteLaplace::new(Ratio::from_big(scale)?).map_err(too_much)?,
            amounts,
        })
    }

    /// What one minimum costs.
    pub fn price(&self) -> Price {
        Price::Pure(self.epsilon)
    }

    getters! {
        /// The change that it protects against.
        pub relation(&relation) -> &N;
        /// How many coefficients there are.
        pub dimension(loss.dimension) -> usize;
        /// What one row can add to the loss.
        pub loss(&loss) -> &RowLoss;
        /// The scale of the noise.
        pub scale(amounts.scale.to_f64().value()) -> f64;
    }

    /// The ridge, on every coefficient.
    pub fn ridge(&self) -> f64 {
        float(&self.amounts.ridge, RIDGE_DIGITS)
    }

    /// The logarithm of the noise's density, up to a constant: for audits.
    pub fn log_density(&self, noise: &[f64]) -> f64 {
        -self.loss.ball.norm(noise) / self.scale()
    }

    /// The parts that ε falls into: for the noise, for the ridge, and for what hides the point, of both tables together.
    pub fn shares(&self) -> [f64; 3] {
        let hidden = 2.0 * self.amounts.hiding.to_f64();
        let rest = self.epsilon.to_f64() - hidden;
        let noise = SHARE as f64 / TWENTIETHS as f64;
        [noise * rest, (1.0 - noise) * rest, hidden]
    }

    /// The mechanism and its parameters in words.
    pub fn describe(&self) -> String {
        format!(
            "the minimum of a loss of {} coefficients with noise of scale {} in the {} and a ridge of {}",
            self.loss.dimension,
            self.scale(),
            match self.loss.ball {
                Ball::Cube => "cube",
                Ball::Cross => "cross-polytope",
            },
            self.ridge()
        )
    }

    /// Checks that it can be paid from a budget for `relation`, before anything is paid.
    pub(in crate::privacy) fn check(&self, relation: &N) -> Result<(), Error> {
        let [claimed, paid] = [self.relation.relation(), relation.relation()];
        if claimed == paid {
            return Ok(());
        }
        Err(Error::misuse(format!(
            "the loss was bounded for the case that {claimed}, the budget is for the case that {paid}"
        )))
    }

    /// Draws noise, goes down until it is proved to be near the minimum, and releases where that is, with noise.
    pub(in crate::privacy) fn minimum<R: LogisticRows>(
        &self,
        rows: Private<R>,
        _paid: Paid,
        random: &mut Randomness,
    ) -> Vec<f64> {
        let noise = self.noise.draw(random);
        let point = self.perturbed(&rows.expose(), &noise).near_minimum();
        let on_grid = |x| rounded(x, point.digits, GRID);
        let mut released: Vec<i64> = point.values.iter().map(on_grid).collect();
        self.hiding.add_to(&mut released, random);
        // What the last digits of large ones lose here was released before.
        released
            .iter()
            .map(|&x| x as f64 / (1u64 << GRID) as f64)
            .collect()
    }

    fn perturbed<'a, R>(&'a self, rows: &'a R, noise: &'a noise::Vector) -> Perturbed<'a, R> {
        Perturbed {
            rows,
            ridge: &self.amounts.ridge,
            noise,
            near: NEAR,
        }
    }
}

/// How far a released point moves at most in L1, in units of the grid, if it moves by 2^−32·√m: √m times as far in L1, and one for
/// the rounding of each coordinate.
const fn moves(dimension: usize) -> u64 {
    ((1 << (GRID - NEAR)) + 1) * dimension as u64
}

/// For audits: the slope of the loss and its minimum for a given noise, without protection.
#[cfg(feature = "audit")]
impl<N: Neighbours> Objective<N> {
    /// How long the slope may be where it stops.
    pub(in crate::privacy) fn slack(&self) -> f64 {
        0.75 * self.ridge() * (0.5f64).powi(NEAR as i32) * (self.loss.dimension as f64).sqrt()
    }

    /// The slopes of all rows together at `at`.
    pub(in crate::privacy) fn slope_at<R: LogisticRows>(&self, rows: &R, at: &[f64]) -> Vec<f64> {
        let fixed: Vec<IBig> = at.iter().map(|&x| descent::fixed(x, slopes::FAST)).collect();
        let sum = slopes::slopes(rows, &fixed, slopes::FAST);
        sum.values.iter().map(|x| float(x, sum.digits)).collect()
    }

    /// The point that is found for this noise.
    pub(in crate::privacy) fn point_for<R: LogisticRows>(&self, rows: &R, noise: &[f64]) -> Vec<f64> {
        let noise = noise::Vector {
            values: noise.iter().map(|&x| descent::fixed(x, slopes::FAST)).collect(),
            digits: slopes::FAST,
        };
        let point = self.perturbed(rows, &noise).near_minimum();
        point.values.iter().map(|x| float(x, point.digits)).collect()
    }
}

#[cfg(test)]
mod tests;
