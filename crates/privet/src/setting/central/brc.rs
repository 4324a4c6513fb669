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

mod asking;
mod drawn;
mod weights;

use std::f64::consts::SQRT_2;

use super::rows::{Candidate, CuratorRows};
use super::{Algorithm, Balance, Budget, Facts, Progress, Resolved, Run, TrainOnRows, at, noise};
use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::learner::{Learner, Linear, Plane};
use crate::parameters::{named_values, parameters};
use crate::privacy::Relation;
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Laplace, Mechanism};
pub(super) use asking::Asking;
use asking::quotient_bound;
use drawn::Drawn;
use weights::Branch;
pub(super) use weights::Weights;

/// The weight of a row at the start: weights are whole multiples of its 4096th part.
pub(super) const ONE: i64 = 1 << 12;
/// Binary digits of a released error, where the sum of weights is the normaliser.
const DIGITS: u32 = 36;
/// Intercepts on the public grid that one may be chosen from, and each from behind.
const INTERCEPTS: usize = 65;
/// Planes over public columns that one may be chosen from, and each from behind.
const PUBLIC: usize = 64;

parameters! {
    /// Parameters of boosting with random classifiers.
    pub struct Brc("brc") {
        /// Rounds; if not given, what ε and the number of rows allow, at most 25.
        rounds: Option<u32> = None, in 1..=10_000;
        /// A weight is never below one over this (the paper's c₁).
        lower: f64 = SQRT_2, in 1.0..=100.0;
        /// A weight is never above this (the paper's c₂).
        upper: f64 = SQRT_2, in 1.0..=100.0;
        /// How planes are drawn.
        planes: Planes = Planes::Random;
        /// How a weight outside the clips is brought back.
        clip: Clip = Clip::Freeze;
        /// What the error is measured against.
        normaliser: Normaliser = Normaliser::Rows;
        /// How an error becomes a coefficient.
        coefficient: Coefficient = Coefficient::Linear;
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

named_values! {
    /// How planes are drawn.
    pub enum Planes {
        /// Coefficients and intercept uniform in [-1, 1].
        Random = "random",
        /// Coefficients uniform in [-1, 1], through the middle.
        ZeroIntercept = "zero-intercept",
        /// Coefficients uniform in [-1, 1]; the intercept chosen from a public grid by weighted accuracy, for half of the round's ε.
        ChosenIntercept = "chosen-intercept",
        /// One feature at random, its threshold uniform in [-1, 1].
        Thresholds = "thresholds",
        /// One of many over public columns, or one over private columns, chosen by weighted accuracy for half of the round's ε: where
        /// the label is private, so that a classifier of public columns must be paid for (the paper's section 8).
        PaidPublic = "paid-public",
    }

    /// What becomes of a weight that would leave the clips.
    pub enum Clip {
        /// It stays as it was (as printed).
        Freeze = "freeze",
        /// It goes to the clip.
        Project = "project",
    }

    /// What the error is measured against.
    pub enum Normaliser {
        /// The public number of rows: the signed edge is released.
        Rows = "rows",
        /// The sum of the weights (as printed): their quotient is released.
        Weights = "weights",
    }

    /// How an error becomes a coefficient.
    pub enum Coefficient {
        /// ½ − error (as printed).
        Linear = "linear",
        /// Half the log-odds of the error, which is first brought into [0.1, 0.9]: AdaBoost's own.
        Logarithm = "log",
    }
}

impl Algorithm for Brc {
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        self.check_planes(facts)?;
        let rounds = self.rounds(&facts.budget);
        let own = Self {
            rounds: Some(rounds),
            ..self.clone()
        };
        let off = own.deviation(&facts.budget, &facts.relation)?;
        let noise = vec![
            format!(
                "{rounds} random planes are judged. How often each is wrong is released with an error of {} from noise (one standard error).",
                noise::points(off)
            ),
            format!(
                "A score is the sum of {rounds} such votes: noise adds an error of {:.3} to it; the vote of a plane that is right on 60 of 100 rows counts 0.1.",
                off * f64::from(rounds).sqrt()
            ),
        ];
        Ok(Resolved::new(&own, facts, noise, own.clone()))
    }
}

impl TrainOnRows for Brc {
    /// # Paper
    /// Algorithm 2, and algorithm 3 where nothing is public.
    ///
    /// # Privacy
    /// Pure ε in T (or 2T) equal shares; `docs/proofs/central.md#edges`, `#quotients`, `#intercepts`,
    /// `#paid-public-classifiers`.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        let mut drawn = Drawn {
            planes: self.planes,
            coins: run.ledger.coins()?,
        };
        let relation = run.ledger.relation().clone();
        let (rounds, draws) = (self.rounds(&run.facts.budget), self.draws(&run.facts.budget));
        let share = run.facts.budget.share(draws)?;
        let what = format!("errors of {rounds} random planes");
        let paid = run
            .ledger
            .reserve_also_added(&what, Price::Pure(run.facts.budget.epsilon), draws)?;
        let asking = Asking::new(relation, paid, (share, run.facts.budget.rows));
        self.boost(rows, (rounds, asking), &mut drawn, run.progress)
    }
}

impl Coefficient {
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
    fn check_planes(&self, facts: &Facts) -> Result<(), Error> {
        let why = match (facts.has_public_label(), facts.public_features()) {
            _ if self.planes != Planes::PaidPublic => return Ok(()),
            (true, _) => "here the label is public too, and they are learnt from without charge",
            (false, 0) => "here no column is public",
            (false, _) => return Ok(()),
        };
        Err(Error::parameter(
            "planes",
            format!(
                "planes = \"paid-public\" is for public columns beside a private label: {why}. Remove it"
            ),
        ))
    }

    /// Rounds by the paper's rule of thumb (section 4): so many that the noise c₁c₂T/(εn) is at most a half; 25 are enough. A choice
    /// among m public classifiers has half of ε, and noise of ln m.
    pub(super) fn rounds(&self, budget: &Budget) -> u32 {
        self.rounds.unwrap_or_else(|| {
            let noise = match self.planes {
                Planes::PaidPublic => 2.0 * (2.0 * PUBLIC as f64).ln(),
                _ => 1.0,
            };
            let most = budget.epsilon.to_f64() * budget.rows as f64 / (2.0 * self.lower * self.upper * noise);
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

    /// The standard error that noise adds to a released edge in the last round, as a share of all rows.
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
        let each = match self.planes {
            Planes::ChosenIntercept | Planes::PaidPublic => 2,
            Planes::Random | Planes::ZeroIntercept | Planes::Thresholds => 1,
        };
        u64::from(self.rounds(budget)) * each
    }

    /// The rounds, whichever way their private classifiers come about.
    ///
    /// # Paper
    /// Section 1.2: any classifier that is differentially private will do as the private base learner.
    pub(super) fn boost(
        &self,
        rows: &CuratorRows,
        (rounds, mut asking): (u32, Asking<'_>),
        classifiers: &mut impl Classifiers,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        // line 2: every weight is one
        let mut weights = Weights::new(self, rows);
        let mut public = Branch::new(rows);
        let mut members = Vec::new();
        for round in 0..rounds {
            at(progress, u64::from(round), u64::from(rounds))?;
            // line 5: a plane that looks at no row, or what else comes in its place
            let plane = classifiers.next(&mut asking, &weights, rows)?;
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
        Ok(Ensemble::new(Link::Vote, vec![0.0], members))
    }
}

/// Where the private classifiers of the rounds come from.
pub(super) trait Classifiers {
    /// The classifier of the next round. Whatever it says about private rows was paid for from `asking`.
    fn next(
        &mut self,
        asking: &mut Asking<'_>,
        weights: &Weights,
        rows: &CuratorRows,
    ) -> Result<Candidate, Error>;
}

/// A plane with its coefficient.
pub(super) fn member(coefficient: f64, linear: Linear) -> Member {
    Member::new(coefficient, 0, Learner::Plane(Plane { linear }))
}
