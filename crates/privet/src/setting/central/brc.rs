//! Boosting with random classifiers.
//!
//! # Paper
//! BRC, algorithm 2 (some features private, the label public) and algorithm 3 (everything private, which is algorithm 2
//! without the public branch). A plane is drawn without looking at rows, its weighted error is released, and it is taken
//! with the coefficient ½ − error; rows that it gets wrong count more in the rounds that follow, within clips.
//!
//! # Deviations
//! Weights are integers, so that sums are exact and noise is discrete. By default the signed edge Σ w (½ − wrong) is
//! released and divided by the public number of rows: the paper's error over the sum of weights needs more noise, and
//! ½ − error over the number of rows is not zero for a coin. Weights may be projected into the clips instead of frozen.
//! Round t is noised for the largest weight that a row can have by then, which the earlier releases tell.

use std::num::NonZeroU32;

use super::rows::{Candidate, Known, Matrix, Rows};
use super::{Budget, Progress};
use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::learner::{Learner, Linear, Plane};
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Laplace, Mechanism, PermuteAndFlip};
use crate::privacy::{
    Anchor, Coins, Epsilon, Ledger, Neighbours, Norm, Private, Query, Relation, Reservation, Sensitivity,
};

/// The weight of a row at the start: weights are whole multiples of its 4096th part.
pub(super) const ONE: i64 = 1 << 12;
/// Binary digits of a released error, where the sum of weights is the normaliser.
const DIGITS: u32 = 36;
/// Intercepts on the public grid that one may be chosen from, and each from behind.
const INTERCEPTS: usize = 65;

/// Parameters of boosting with random classifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct Brc {
    /// Rounds; if not given, what ε and the number of rows allow, at most 25.
    pub rounds: Option<u32>,
    /// A weight is never below one over this (the paper's c₁).
    pub lower: f64,
    /// A weight is never above this (the paper's c₂).
    pub upper: f64,
    /// How planes are drawn.
    pub planes: Planes,
    /// What becomes of a weight that would leave the clips.
    pub clip: Clip,
    /// What the error is measured against.
    pub normaliser: Normaliser,
    /// How an error becomes a coefficient.
    pub coefficient: Coefficient,
}

impl Default for Brc {
    fn default() -> Self {
        Self {
            rounds: None,
            lower: std::f64::consts::SQRT_2,
            upper: std::f64::consts::SQRT_2,
            planes: Planes::Random,
            clip: Clip::Freeze,
            normaliser: Normaliser::Rows,
            coefficient: Coefficient::Linear,
        }
    }
}

/// How planes are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Planes {
    /// Coefficients and intercept uniform in [-1, 1].
    Random,
    /// Coefficients uniform in [-1, 1], through the middle.
    ZeroIntercept,
    /// Coefficients uniform in [-1, 1]; the intercept chosen from a public grid by weighted accuracy, for half of the round's ε.
    ChosenIntercept,
    /// One feature at random, its threshold uniform in [-1, 1].
    Thresholds,
}

impl Planes {
    /// Their names in a job.
    pub const NAMES: [(&str, Self); 4] = [
        ("random", Self::Random),
        ("zero-intercept", Self::ZeroIntercept),
        ("chosen-intercept", Self::ChosenIntercept),
        ("thresholds", Self::Thresholds),
    ];
}

/// What becomes of a weight that would leave the clips.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clip {
    /// It stays as it was (as printed).
    Freeze,
    /// It goes to the clip.
    Project,
}

impl Clip {
    /// Their names in a job.
    pub const NAMES: [(&str, Self); 2] = [("freeze", Self::Freeze), ("project", Self::Project)];
}

/// What the error is measured against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Normaliser {
    /// The public number of rows: the signed edge is released.
    Rows,
    /// The sum of the weights (as printed): their quotient is released.
    Weights,
}

impl Normaliser {
    /// Their names in a job.
    pub const NAMES: [(&str, Self); 2] = [("rows", Self::Rows), ("weights", Self::Weights)];
}

/// How an error becomes a coefficient.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coefficient {
    /// ½ − error (as printed).
    Linear,
    /// Half the log-odds of the error, which is first brought into [0.1, 0.9]: AdaBoost's own.
    Logarithm,
}

impl Coefficient {
    /// Their names in a job.
    pub const NAMES: [(&str, Self); 2] = [("linear", Self::Linear), ("log", Self::Logarithm)];

    fn of(self, edge: f64) -> f64 {
        match self {
            Self::Linear => edge,
            Self::Logarithm => {
                let error = (0.5 - edge).clamp(0.1, 0.9);
                ((1.0 - error) / error).ln() / 2.0
            }
        }
    }
}

impl Brc {
    /// Names and values as a job says them.
    pub(super) fn settings(&self, budget: &Budget) -> Vec<(String, String)> {
        let name = |names: &[(&str, bool)]| {
            let found = names.iter().find(|(_, is)| *is);
            found.map_or(String::new(), |(name, _)| (*name).to_owned())
        };
        vec![
            ("rounds".into(), self.rounds(budget).to_string()),
            ("lower".into(), self.lower.to_string()),
            ("upper".into(), self.upper.to_string()),
            (
                "planes".into(),
                name(&Planes::NAMES.map(|(n, p)| (n, p == self.planes))),
            ),
            (
                "clip".into(),
                name(&Clip::NAMES.map(|(n, p)| (n, p == self.clip))),
            ),
            (
                "normaliser".into(),
                name(&Normaliser::NAMES.map(|(n, p)| (n, p == self.normaliser))),
            ),
            (
                "coefficient".into(),
                name(&Coefficient::NAMES.map(|(n, p)| (n, p == self.coefficient))),
            ),
        ]
    }

    /// Rounds by the paper's rule of thumb (section 4): so many that the noise c₁c₂T/(εn) is at most a half; 25 are enough.
    pub(super) fn rounds(&self, budget: &Budget) -> u32 {
        self.rounds.unwrap_or_else(|| {
            let most = budget.epsilon.to_f64() * budget.rows as f64 / (2.0 * self.lower * self.upper);
            (most.min(25.0) as u32).max(1)
        })
    }

    /// The clips in whole 4096ths, rounded inwards.
    fn clips(&self) -> (i64, i64) {
        let one = ONE as f64;
        (
            (one / self.lower).ceil() as i64,
            (one * self.upper).floor() as i64,
        )
    }

    /// How far noise puts a released edge off in the last round, as a share of all rows: one standard error.
    pub(super) fn deviation(&self, budget: &Budget, relation: &Relation) -> Result<f64, Error> {
        let share = budget.share(self.draws(budget))?;
        let clips = self.clips();
        let (l1, unit) = match self.normaliser {
            Normaliser::Rows => (
                relation.steps() * clips.1 as u64,
                (2 * ONE) as f64 * budget.rows as f64,
            ),
            Normaliser::Weights => (
                quotient_bound(clips, budget.rows, relation.rows()),
                f64::from(DIGITS).exp2(),
            ),
        };
        Ok(Laplace::calibrated(share, l1)?.variance().sqrt() / unit)
    }

    /// How many draws all rounds take.
    pub(super) fn draws(&self, budget: &Budget) -> u64 {
        let each = if self.planes == Planes::ChosenIntercept {
            2
        } else {
            1
        };
        u64::from(self.rounds(budget)) * each
    }

    /// # Paper
    /// Algorithm 2, and algorithm 3 where nothing is public.
    ///
    /// # Privacy
    /// Pure ε in T (or 2T) equal shares; `docs/proofs/central.md#edges`, `#quotients`, `#intercepts`.
    pub(super) fn train<N: Neighbours>(
        &self,
        rows: &Rows,
        ledger: &mut Ledger<N>,
        budget: &Budget,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        let mut coins = ledger.coins()?;
        let relation = ledger.relation().clone();
        let (rounds, draws) = (self.rounds(budget), self.draws(budget));
        let share = budget.share(draws)?;
        let what = format!("errors of {rounds} random planes");
        let mut asking = Asking {
            relation,
            paid: ledger.reserve(&what, Price::Pure(budget.epsilon), draws)?,
            share,
            rows: budget.rows,
            noise: None,
        };
        // line 2: every weight is one
        let mut weights = Weights::new(self, rows);
        let mut public = Branch::new(rows);
        let mut members = Vec::new();
        for round in 0..rounds {
            progress(u64::from(round), u64::from(rounds));
            // line 5: a plane that looks at no row
            let drawn = self.plane(&mut coins, rows.coordinates.len());
            let plane = match self.planes {
                Planes::ChosenIntercept => asking.intercept(drawn.coefficients, &weights, rows)?,
                _ => drawn,
            };
            // line 6: how far it is from a coin, with noise
            weights.judge(rows, &plane);
            let edge = match self.normaliser {
                Normaliser::Rows => asking.edge(&weights)?,
                Normaliser::Weights => asking.quotient(&weights)?,
            };
            // line 7: whichever classifier is further from a coin
            match public.as_mut().filter(|public| public.edge.abs() > edge.abs()) {
                Some(public) => {
                    // lines 8 to 10
                    members.push(member(self.coefficient.of(public.edge), public.linear.clone()));
                    public.take(rows, self.coefficient.of(public.edge));
                }
                None => {
                    // lines 12 to 20
                    let coefficient = self.coefficient.of(edge);
                    members.push(member(coefficient, plane.linear(rows)));
                    weights.take(rows, coefficient);
                }
            }
        }
        progress(u64::from(rounds), u64::from(rounds));
        Ok(Ensemble {
            link: Link::Vote,
            base: vec![0.0],
            members,
        })
    }

    fn plane(&self, coins: &mut Coins, width: usize) -> Candidate {
        let mut uniform = || (2.0 * coins.unit() - 1.0) as f32;
        let mut coefficients: Vec<f32> = (0..width).map(|_| uniform()).collect();
        let mut intercept = uniform();
        match self.planes {
            Planes::Random | Planes::ChosenIntercept => {}
            Planes::ZeroIntercept => intercept = 0.0,
            Planes::Thresholds => {
                coefficients.fill(0.0);
                if let Some(one) = coefficients.get_mut(coins.below(width as u64) as usize) {
                    *one = 1.0;
                }
            }
        }
        Candidate {
            coefficients,
            intercept,
        }
    }
}

/// What is paid for, and asked round by round.
struct Asking<'l, N> {
    relation: N,
    paid: Reservation<'l, N>,
    share: Epsilon,
    /// The public number of rows.
    rows: u64,
    /// Noise for a sensitivity: it takes longer to build than to draw, and rounds share it.
    noise: Option<(u64, Laplace)>,
}

impl<N: Neighbours> Asking<'_, N> {
    /// One number with noise.
    fn noisy(&mut self, l1: u64, query: Query<'_, N>) -> Result<i64, Error> {
        let (_, mechanism) = match self.noise.take().filter(|(built, _)| *built == l1) {
            Some(noise) => self.noise.insert(noise),
            None => self.noise.insert((l1, Laplace::calibrated(self.share, l1)?)),
        };
        Ok(self.paid.release(mechanism, query)?.into_inner()[0])
    }

    /// Half the signed edge as a share of the rows, with noise: ½ less the error, were all weights one.
    ///
    /// # Privacy
    /// `docs/proofs/central.md#edges`.
    fn edge(&mut self, weights: &Weights) -> Result<f64, Error> {
        let l1 = self.relation.steps() * weights.most();
        let claim = Sensitivity::claim(&self.relation, Norm::L1(l1), Anchor::new("central#edges"))?;
        let query = Query::new(1, claim, || {
            weights.state.as_ref().map(|state| {
                let each = state.right.iter().zip(&state.weights);
                vec![
                    each.map(|(right, weight)| if *right { *weight } else { -weight })
                        .sum(),
                ]
            })
        });
        let noisy = self.noisy(l1, query)?;
        Ok(noisy as f64 / (2 * ONE) as f64 / self.rows as f64)
    }

    /// ½ less the wrong rows' share of all weight, with noise.
    ///
    /// # Privacy
    /// `docs/proofs/central.md#quotients`.
    fn quotient(&mut self, weights: &Weights) -> Result<f64, Error> {
        let (low, high) = weights.clips;
        let l1 = quotient_bound((low, high), self.rows, self.relation.relation().rows());
        let claim = Sensitivity::claim(&self.relation, Norm::L1(l1), Anchor::new("central#quotients"))?;
        let least = i128::from(low) * i128::from(self.rows);
        let query = Query::new(1, claim, || {
            weights.state.as_ref().map(|state| {
                let each = state.right.iter().zip(&state.weights);
                let wrong: i64 = each.map(|(right, weight)| if *right { 0 } else { *weight }).sum();
                let all: i64 = state.weights.iter().sum();
                let quotient = (i128::from(wrong) << DIGITS) / i128::from(all).max(least);
                vec![quotient as i64]
            })
        });
        let noisy = self.noisy(l1, query)?;
        Ok(0.5 - noisy as f64 / f64::from(DIGITS).exp2())
    }

    /// The intercept on a public grid, seen from either side, that puts most weight right.
    ///
    /// # Paper
    /// Section 6 takes "at most n intercepts" from the rows themselves, which neighbours do not share; a public grid is shared.
    ///
    /// # Privacy
    /// `docs/proofs/central.md#intercepts`.
    fn intercept(&mut self, slopes: Vec<f32>, weights: &Weights, rows: &Rows) -> Result<Candidate, Error> {
        let reach: f32 = 1.0 + slopes.iter().map(|c| c.abs()).sum::<f32>();
        let candidates: Vec<Candidate> = (0..INTERCEPTS)
            .map(|i| Candidate {
                coefficients: slopes.clone(),
                intercept: reach * (2.0 * i as f32 / (INTERCEPTS - 1) as f32 - 1.0),
            })
            .collect();
        let width = self.relation.steps() * weights.most();
        let claim = Sensitivity::claim(
            &self.relation,
            Norm::Width(width),
            Anchor::new("central#intercepts"),
        )?;
        let query = Query::new(2 * candidates.len(), claim, || {
            let matrix = rows.matrix.as_ref();
            matrix.zip(weights.state.as_ref(), |matrix, state| {
                let right = candidates.iter().map(|plane| {
                    let right = matrix.right(&plane.coefficients, plane.intercept);
                    let own = right.iter().zip(&state.weights);
                    own.map(|(right, weight)| if *right { *weight } else { 0 }).sum()
                });
                let right: Vec<i64> = right.collect();
                let all: i64 = state.weights.iter().sum();
                let behind: Vec<i64> = right.iter().map(|right| all - right).collect();
                [right, behind].concat()
            })
        });
        let mechanism = PermuteAndFlip::calibrated(self.share, width)?;
        let chosen = self.paid.release(&mechanism, query)?.into_inner();
        let plane = &candidates[chosen % candidates.len()];
        Ok(if chosen < candidates.len() {
            plane.clone()
        } else {
            plane.reversed()
        })
    }
}

fn member(coefficient: f64, linear: Linear) -> Member {
    Member {
        weight: coefficient,
        output: 0,
        learner: Learner::Plane(Plane { linear }),
    }
}

/// The public classifier of algorithm 2 with its own weights: all of it public.
struct Branch<'r> {
    known: &'r Known,
    weights: Vec<f64>,
    linear: Linear,
    right: Vec<bool>,
    edge: f64,
}

impl<'r> Branch<'r> {
    fn new(rows: &'r Rows) -> Option<Self> {
        let known = rows.public.as_ref().filter(|known| known.has_features())?;
        let mut branch = Self {
            known,
            weights: vec![1.0; known.rows()],
            linear: rows.linear(&[], 0.0),
            right: Vec::new(),
            edge: 0.0,
        };
        branch.fit(rows);
        Some(branch)
    }

    /// lines 4 and 6
    fn fit(&mut self, rows: &Rows) {
        self.linear = self.known.classifier(&self.weights, &rows.shapes);
        let scores = self.known.scores(&self.linear);
        let labels = self.known.labels.iter().map(|&label| label > 0);
        self.right = scores
            .iter()
            .zip(labels)
            .map(|(score, label)| (*score >= 0.0) == label)
            .collect();
        let total: f64 = self.weights.iter().sum();
        let wrong = self.weights.iter().zip(&self.right).filter(|(_, right)| !**right);
        let error = wrong.map(|(weight, _)| weight).sum::<f64>() / total;
        self.edge = if total > 0.0 { 0.5 - error } else { 0.0 };
    }

    /// line 9, and the classifier of the next round
    fn take(&mut self, rows: &Rows, coefficient: f64) {
        let factor = coefficient.exp();
        for (weight, right) in self.weights.iter_mut().zip(&self.right) {
            if !right {
                *weight *= factor;
            }
        }
        self.fit(rows);
    }
}

/// The private weights, behind the wall, and what is public about them.
struct Weights {
    state: Private<State>,
    clip: Clip,
    /// In 4096ths.
    clips: (i64, i64),
    /// No row's weight has a logarithm above this: it follows from what was released.
    peak: f64,
}

struct State {
    /// In 4096ths.
    weights: Vec<i64>,
    logarithms: Vec<f64>,
    /// Whether the plane of this round puts each row right.
    right: Vec<bool>,
}

impl Weights {
    fn new(brc: &Brc, rows: &Rows) -> Self {
        Self {
            state: rows.matrix.as_ref().map(|matrix| State {
                weights: vec![ONE; matrix.rows()],
                logarithms: vec![0.0; matrix.rows()],
                right: Vec::new(),
            }),
            clip: brc.clip,
            clips: brc.clips(),
            peak: 0.0,
        }
    }

    /// The largest weight that any row can have by now, in steps of an eighth so that rounds share their noise. Rounding up
    /// covers two exponentials of neighbouring numbers that come in the wrong order.
    fn most(&self) -> u64 {
        let step = ONE / 8;
        let most = if self.peak > 0.0 {
            (whole(self.peak).min(self.clips.1) + 1).div_euclid(step) * step + step
        } else {
            ONE
        };
        most.min(self.clips.1) as u64
    }

    fn judge(&mut self, rows: &Rows, plane: &Candidate) {
        self.state.update(rows.matrix.as_ref(), |state, matrix: &Matrix| {
            state.right = matrix.right(&plane.coefficients, plane.intercept);
        });
    }

    /// lines 13 to 19: rows that were wrong count `exp(coefficient)` times as much, within the clips.
    fn take(&mut self, rows: &Rows, coefficient: f64) {
        let ((low, high), clip) = (self.clips, self.clip);
        self.peak += coefficient.max(0.0);
        self.state.update(rows.matrix.as_ref(), |state, _: &Matrix| {
            let each = state.weights.iter_mut().zip(&mut state.logarithms);
            for ((weight, logarithm), right) in each.zip(&state.right) {
                if *right {
                    continue;
                }
                let next = whole(*logarithm + coefficient);
                if (low..=high).contains(&next) {
                    (*weight, *logarithm) = (next, *logarithm + coefficient);
                } else if clip == Clip::Project {
                    *weight = next.clamp(low, high);
                    *logarithm = (*weight as f64 / ONE as f64).ln();
                }
            }
        });
    }
}

/// The weight of a logarithm, in 4096ths.
fn whole(logarithm: f64) -> i64 {
    // `as` saturates.
    (ONE as f64 * logarithm.exp()).round() as i64
}

/// The most that a unit of `k` rows moves the floor of 2^DIGITS times a quotient whose denominator is at least rows × low.
fn quotient_bound((low, high): (i64, i64), rows: u64, k: NonZeroU32) -> u64 {
    let most = (u128::from(k.get()) * high as u128) << DIGITS;
    let least = low as u128 * u128::from(rows.max(1));
    most.div_ceil(least).min(u128::from(u64::MAX)) as u64
}
