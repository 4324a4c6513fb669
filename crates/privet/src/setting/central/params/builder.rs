//! Parameters as they are given, until they are checked.

use super::super::{
    Brc, Budget, Clip, Coefficient, Encoding, HistogramBayes, MomentSelect, Normaliser, People, Perturbation,
    Places, Planes, Select, Splits, Trees,
};
use super::ranges::owners;
use super::{Algorithm, Central};
use crate::Error;
use crate::error::Subject;
use crate::privacy::{Delta, Epsilon};

/// Collects parameters. Algorithm, ε and the number of rows must be given; everything else has a default.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    algorithm: Option<String>,
    epsilon: Option<Epsilon>,
    delta: Delta,
    rows: Option<u64>,
    balanced: bool,
    brc: Brc,
    trees: Trees,
    candidates: Option<u32>,
    bins: Option<u32>,
    encoding: Encoding,
    /// The parameters that were given, of all algorithms.
    given: Vec<&'static str>,
}

impl Builder {
    /// How the model is made: one of [`Algorithm::NAMES`].
    #[must_use]
    pub fn algorithm(mut self, name: impl Into<String>) -> Self {
        self.algorithm = Some(name.into());
        self
    }

    /// What may be spent.
    #[must_use]
    pub fn epsilon(mut self, epsilon: Epsilon) -> Self {
        self.epsilon = Some(epsilon);
        self
    }

    /// With what probability the promise may fail; ε is pure if it is not given. Only `trees` make use of it.
    #[must_use]
    pub fn delta(mut self, delta: Delta) -> Self {
        self.delta = delta;
        self.with("delta")
    }

    /// About how many rows there are, by public knowledge: never counted. Rounds, coefficients and the rule of
    /// `auto` follow from it; a wrong one costs accuracy, never privacy.
    #[must_use]
    pub fn rows_about(mut self, rows: u64) -> Self {
        self.rows = Some(rows);
        self
    }

    /// Whether as many rows of one class are learnt from as of the other; only where labels are public. No if not given.
    #[must_use]
    pub fn balance(mut self, balance: bool) -> Self {
        self.balanced = balance;
        self
    }

    /// The rounds of `brc`; if not given, what ε and the number of rows allow, at most 25.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.brc.rounds = Some(rounds);
        self.with("rounds")
    }

    /// Weights of `brc` are never below one over this; √2 if not given.
    #[must_use]
    pub fn lower(mut self, lower: f64) -> Self {
        self.brc.lower = lower;
        self.with("lower")
    }

    /// Weights of `brc` are never above this; √2 if not given.
    #[must_use]
    pub fn upper(mut self, upper: f64) -> Self {
        self.brc.upper = upper;
        self.with("upper")
    }

    /// How planes of `brc` are drawn; at random if not given.
    #[must_use]
    pub fn planes(mut self, planes: Planes) -> Self {
        self.brc.planes = planes;
        self.with("planes")
    }

    /// What becomes of weights of `brc` that would leave the clips; they freeze if not given.
    #[must_use]
    pub fn clip(mut self, clip: Clip) -> Self {
        self.brc.clip = clip;
        self.with("clip")
    }

    /// What errors of `brc` are measured against; the number of rows if not given.
    #[must_use]
    pub fn normaliser(mut self, normaliser: Normaliser) -> Self {
        self.brc.normaliser = normaliser;
        self.with("normaliser")
    }

    /// How an error of `brc` becomes a coefficient; linearly if not given.
    #[must_use]
    pub fn coefficient(mut self, coefficient: Coefficient) -> Self {
        self.brc.coefficient = coefficient;
        self.with("coefficient")
    }

    /// How many planes `select` and `moment-select` choose among; 500 if not given.
    #[must_use]
    pub fn candidates(mut self, candidates: u32) -> Self {
        self.candidates = Some(candidates);
        self.with("candidates")
    }

    /// The bins of a number that `histogram-bayes` counts, at most; 10 if not given.
    #[must_use]
    pub fn bins(mut self, bins: u32) -> Self {
        self.bins = Some(bins);
        self.with("bins")
    }

    /// How `objective` writes a row's columns as numbers; as codes if not given.
    #[must_use]
    pub fn encoding(mut self, encoding: Encoding) -> Self {
        self.encoding = encoding;
        self.with("encoding")
    }

    /// How `trees` ask about features; one at a time if not given, and two where there is little noise.
    #[must_use]
    pub fn splits(mut self, splits: Splits) -> Self {
        self.trees.splits = Some(splits);
        self.with("splits")
    }

    /// Where `trees` cut numbers; between the schema's bins if not given.
    #[must_use]
    pub fn places(mut self, places: Places) -> Self {
        self.trees.places = places;
        self.with("bins")
    }

    /// How many `trees`; by a public rule if not given.
    #[must_use]
    pub fn trees(mut self, trees: u32) -> Self {
        self.trees.trees = Some(trees);
        self.with("trees")
    }

    /// How many leaves each of `trees` has, at most; by a public rule if not given.
    #[must_use]
    pub fn leaves(mut self, leaves: u32) -> Self {
        self.trees.leaves = Some(leaves);
        self.with("leaves")
    }

    /// How many questions lead to a leaf of `trees`, if they are random or noisy-greedy; 4 if not given.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> Self {
        self.trees.depth = Some(depth);
        self.with("depth")
    }

    /// What values of `trees` are multiplied by; by a public rule if not given.
    #[must_use]
    pub fn learning_rate(mut self, rate: f64) -> Self {
        self.trees.learning_rate = Some(rate);
        self.with("learning_rate")
    }

    /// The size that gradients of `trees` are clipped to, where a probability or half a label's range is one; ½ of a probability and
    /// a tenth of half a range if not given.
    #[must_use]
    pub fn gradient_clip(mut self, clip: f64) -> Self {
        self.trees.clip = Some(clip);
        self.with("gradient_clip")
    }

    /// What hessians of `trees` are raised by, in standard deviations of their noise; one if not given.
    #[must_use]
    pub fn ridge(mut self, ridge: f64) -> Self {
        self.trees.ridge = Some(ridge);
        self.with("ridge")
    }

    /// How much of what noise explains is taken off each of `trees`; half if not given.
    #[must_use]
    pub fn shrinkage(mut self, shrinkage: f64) -> Self {
        self.trees.shrinkage = Some(shrinkage);
        self.with("shrinkage")
    }

    /// Whether the probabilities that `trees` give two classes are recalibrated, for a twentieth of the budget; they are if not given.
    #[must_use]
    pub fn calibrate(mut self, calibrate: bool) -> Self {
        self.trees.calibrate = Some(calibrate);
        self.with("calibrate")
    }

    fn with(mut self, parameter: &'static str) -> Self {
        self.given.push(parameter);
        self
    }

    /// Checks that everything fits together.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not; the message begins with the parameter's name.
    pub fn build(self) -> Result<Central, Error> {
        let bad = |why: String| Err(Error::parameter(Subject::Algorithm, why));
        let known = || Algorithm::NAMES.map(|name| format!("\"{name}\"")).join(", ");
        let Some(name) = self.algorithm else {
            return bad(format!("no algorithm is named: choose one of {}", known()));
        };
        let Some(epsilon) = self.epsilon.filter(|epsilon| *epsilon > Epsilon::ZERO) else {
            return bad("epsilon must be above zero: it is what may be spent".into());
        };
        let Some(rows) = self.rows.filter(|rows| (1..=1 << 40).contains(rows)) else {
            return bad(
                "rows_about must be a number of rows above zero: about how many the table has, by public knowledge".into(),
            );
        };
        if name == "trees" && self.bins.is_some() {
            return bad("bins of \"trees\" are \"public\" or \"private-quantiles\", not a number".into());
        }
        let candidates = self.candidates.unwrap_or(500);
        let algorithm = match name.as_str() {
            "brc" => Algorithm::Brc(self.brc),
            "select" => Algorithm::Select(Select { candidates }),
            "histogram-bayes" => Algorithm::HistogramBayes(HistogramBayes {
                bins: self.bins.unwrap_or(10),
            }),
            "moment-select" => Algorithm::MomentSelect(MomentSelect { candidates }),
            "objective" => Algorithm::Objective(Perturbation {
                encoding: self.encoding,
            }),
            "dp-logistic" => Algorithm::DpLogistic,
            "people" => Algorithm::People(People { boosting: self.brc }),
            "trees" => Algorithm::Trees(self.trees),
            "public" => Algorithm::Public,
            "auto" => Algorithm::Auto,
            other => {
                return bad(format!(
                    "there is no algorithm \"{other}\": choose one of {}",
                    known()
                ));
            }
        };
        for parameter in self.given {
            let owners = owners(parameter);
            if !owners.contains(&name.as_str()) {
                let owners: Vec<String> = owners.iter().map(|name| format!("\"{name}\"")).collect();
                return bad(format!(
                    "{parameter} belongs to the algorithm {}, not to \"{name}\": leave it out",
                    owners.join(" or ")
                ));
            }
        }
        let central = Central {
            algorithm,
            budget: Budget::new(epsilon, self.delta, rows)?,
            balanced: self.balanced,
            because: None,
        };
        central.ranges()?;
        Ok(central)
    }
}
