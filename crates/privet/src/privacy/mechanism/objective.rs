//! Objective perturbation: noise on the slope of a convex loss, and the minimum released.
//!
//! Chaudhuri, Monteleoni and Sarwate (2011) for the round ball; Awan and Slavković (2021) for the norm that fits the rows' slopes.
//! With the cube, noise on m coefficients is as large as one row's slope in one coordinate asks for, not m times that.
//!
//! It is no [`Mechanism`](super::Mechanism): there is no integer answer that noise is added to. It is **not hardened**. Noise and
//! minimum are floating-point numbers, and the proof is about real ones and the exact minimum
//! (`docs/proofs/objective.md#perturbed-objectives`): so every payment for it says what it assumes ([`Assumption`]), and so do
//! certificates and totals that rest on it.

use super::Paid;
use crate::Error;
use crate::privacy::account::Price;
use crate::privacy::query::Anchor;
use crate::privacy::{Epsilon, Neighbours, Private, Randomness, Relation};

/// What the noise gets of ε; the ridge gets the rest.
const SHARE: f64 = 0.85;
/// No ridge is smaller.
const LEAST_RIDGE: f64 = 1.0;
/// Scales and ridges are this much larger than computed, which is more than their rounding.
const OUTWARDS: f64 = 1.0 + 1e-12;

/// Why whatever rests on [`Assumption::EXACT_MINIMUM`] is void.
pub const ROUNDING_TELLS: &str = "noise and minimum were computed in floating point, and the last digits of the coefficients can show \
                                  whether one person was in the table";

/// A sentence that an ε rests on and that this program does not make true to the letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assumption(&'static str);

impl Assumption {
    /// For [`Objective`].
    pub const EXACT_MINIMUM: Self = Self(
        "rounding tells nothing: the proof is about real numbers and an exact minimum, and this program computes noise and minimum to \
         about ten digits",
    );

    /// The sentence.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

/// The norm that slopes are measured in, by its unit ball.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ball {
    /// The largest coordinate.
    Cube,
    /// The length.
    Sphere,
    /// The sum of the coordinates' sizes.
    Cross,
}

impl Ball {
    /// How long a vector is.
    pub fn norm(self, vector: &[f64]) -> f64 {
        let sizes = vector.iter().map(|x| x.abs());
        match self {
            Self::Cube => sizes.fold(0.0, f64::max),
            Self::Sphere => sizes.map(|x| x * x).sum::<f64>().sqrt(),
            Self::Cross => sizes.sum(),
        }
    }
}

/// What one row can add to a loss: you claim it, you prove it.
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

impl RowLoss {
    /// The scale of the noise and the ridge that cost `epsilon`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if ε is zero, there is no coefficient, or a bound is not above zero and finite.
    pub fn amounts(&self, epsilon: Epsilon, relation: &Relation) -> Result<[f64; 2], Error> {
        let bad = |why: String| Err(Error::Parameter(why));
        if epsilon == Epsilon::ZERO {
            return bad("epsilon = 0 allows no answer at all: give it a positive share".into());
        }
        if self.dimension == 0 {
            return bad("dimension = 0: a loss without coefficients has nothing to minimise".into());
        }
        for (name, bound) in [("slope", self.slope), ("curvature", self.curvature)] {
            if !(bound > 0.0 && bound.is_finite()) {
                return bad(format!("{name} = {bound}: it must be above zero and finite"));
            }
        }
        let budget = epsilon.to_f64();
        let rows = f64::from(relation.rows().get());
        let scale = OUTWARDS * relation.steps() as f64 * self.slope / (SHARE * budget);
        let ridge = OUTWARDS * self.curvature / ((1.0 - SHARE) * budget / rows).exp_m1();
        if !(scale.is_finite() && ridge.is_finite()) {
            return bad(format!(
                "epsilon = {epsilon} asks for more noise than numbers can hold"
            ));
        }
        Ok([scale, ridge.max(LEAST_RIDGE)])
    }

    /// The standard deviation of one coordinate of the noise, to plan with before paying.
    ///
    /// # Errors
    /// As [`RowLoss::amounts`].
    pub fn deviation(&self, epsilon: Epsilon, relation: &Relation) -> Result<f64, Error> {
        let [scale, _] = self.amounts(epsilon, relation)?;
        let m = self.dimension as f64;
        let variance = match self.ball {
            Ball::Cube => (m + 1.0) * (m + 2.0) / 3.0,
            Ball::Sphere => m + 1.0,
            Ball::Cross => 2.0,
        };
        Ok(scale * variance.sqrt())
    }
}

/// A loss that is perturbed so that its minimum may be released.
///
/// Minimised is Σ (losses of the rows) + ridge/2 · ‖θ‖² + V·θ, the ridge on **every** coefficient, the intercept too; V has a
/// density proportional to exp(−‖V‖/scale).
///
/// # Privacy
/// Pure ε under `N`, as long as its [`Assumption`] holds; `docs/proofs/objective.md#perturbed-objectives`.
#[derive(Debug, Clone)]
pub struct Objective<N> {
    relation: N,
    loss: RowLoss,
    epsilon: Epsilon,
    scale: f64,
    ridge: f64,
}

impl<N: Neighbours> Objective<N> {
    /// The least noise and ridge that cost `epsilon`.
    ///
    /// # Errors
    /// As [`RowLoss::amounts`].
    pub fn calibrated(epsilon: Epsilon, relation: &N, loss: RowLoss) -> Result<Self, Error> {
        let [scale, ridge] = loss.amounts(epsilon, &relation.relation())?;
        Ok(Self {
            relation: relation.clone(),
            loss,
            epsilon,
            scale,
            ridge,
        })
    }

    /// What one minimum costs.
    pub fn price(&self) -> Price {
        Price::Pure(self.epsilon)
    }

    /// The change that it protects against.
    pub fn relation(&self) -> &N {
        &self.relation
    }

    /// How many coefficients there are.
    pub fn dimension(&self) -> usize {
        self.loss.dimension
    }

    /// What one row can add to the loss.
    pub fn loss(&self) -> &RowLoss {
        &self.loss
    }

    /// The scale of the noise.
    pub fn scale(&self) -> f64 {
        self.scale
    }

    /// The ridge, on every coefficient.
    pub fn ridge(&self) -> f64 {
        self.ridge
    }

    /// What its ε rests on.
    pub fn assumption(&self) -> Assumption {
        Assumption::EXACT_MINIMUM
    }

    /// The logarithm of the noise's density, up to a constant: for audits.
    pub fn log_density(&self, noise: &[f64]) -> f64 {
        -self.loss.ball.norm(noise) / self.scale
    }

    /// The parts that ε falls into: for the noise, and for the ridge.
    pub fn shares(&self) -> [f64; 2] {
        let budget = self.epsilon.to_f64();
        [SHARE * budget, (1.0 - SHARE) * budget]
    }

    /// The mechanism and its parameters in words.
    pub fn describe(&self) -> String {
        format!(
            "the minimum of a loss of {} coefficients with noise of scale {} in the {} and a ridge of {}",
            self.loss.dimension,
            self.scale,
            match self.loss.ball {
                Ball::Cube => "cube",
                Ball::Sphere => "sphere",
                Ball::Cross => "cross-polytope",
            },
            self.ridge
        )
    }

    /// Whether it can be paid for from a budget for `relation` at all: known before anything is paid.
    pub(in crate::privacy) fn check(&self, relation: &N) -> Result<(), Error> {
        let [claimed, paid] = [self.relation.relation(), relation.relation()];
        if claimed == paid {
            return Ok(());
        }
        Err(Error::Misuse(format!(
            "the loss was bounded for the case that {claimed}, the budget is for the case that {paid}"
        )))
    }

    /// Draws noise, and lets `solve` find the minimum. The number of coefficients is public: whatever `solve` gives is cut or
    /// padded to it, and what is no finite number counts as zero, since an error would tell about the rows.
    pub(in crate::privacy) fn minimum(
        &self,
        solve: impl FnOnce(Private<Vec<f64>>) -> Private<Vec<f64>>,
        paid: Paid,
        random: &mut Randomness,
    ) -> Vec<f64> {
        let noise = Private::wrap(self.noise(paid, random));
        let mut found = solve(noise).expose();
        found.resize(self.loss.dimension, 0.0);
        found.iter_mut().filter(|x| !x.is_finite()).for_each(|x| *x = 0.0);
        found
    }

    /// Draws the noise: a radius times a point of the unit ball, or independent coordinates where that is the same.
    fn noise(&self, _paid: Paid, random: &mut Randomness) -> Vec<f64> {
        let dimension = self.loss.dimension;
        match self.loss.ball {
            Ball::Cube => {
                // The radius of a uniform point of the ball has density m·r^(m−1): the Gamma law of shape m + 1 mends that.
                let radius = self.scale * gamma(dimension + 1, random);
                (0..dimension)
                    .map(|_| radius * (2.0 * unit(random) - 1.0))
                    .collect()
            }
            Ball::Sphere => {
                let radius = self.scale * gamma(dimension, random);
                let direction: Vec<f64> = (0..dimension).map(|_| normal(random)).collect();
                let length = Ball::Sphere.norm(&direction).max(f64::MIN_POSITIVE);
                direction.iter().map(|x| radius * x / length).collect()
            }
            Ball::Cross => (0..dimension)
                .map(|_| {
                    let size = self.scale * exponential(random);
                    if random.word() & 1 == 0 { size } else { -size }
                })
                .collect(),
        }
    }
}

/// A number on the middles of 2⁵³ steps of (0, 1).
fn unit(random: &mut Randomness) -> f64 {
    ((random.word() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

fn exponential(random: &mut Randomness) -> f64 {
    -unit(random).ln()
}

/// The Gamma law of a whole shape: a sum of exponentials.
fn gamma(shape: usize, random: &mut Randomness) -> f64 {
    (0..shape).map(|_| exponential(random)).sum()
}

/// Box and Muller (1958).
fn normal(random: &mut Randomness) -> f64 {
    let radius = (2.0 * exponential(random)).sqrt();
    radius * (std::f64::consts::TAU * unit(random)).cos()
}

#[cfg(test)]
mod tests;
