//! Parameters, parsed once.

use super::trees::{Flavour, Trees, name};
use crate::Error;
use crate::boost::Thresholds;
use crate::boost::gradient::Sums;
use crate::data::schema::Label;
use crate::data::{Keep, Schema};
use crate::error::Subject;

/// The names of the places where `stumps` may cut numbers that a job can say.
pub const THRESHOLDS: [(&str, Thresholds); 2] = [("bins", Thresholds::Bins), ("exact", Thresholds::Exact)];

/// What is fitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Algorithm {
    /// Logistic regression; least squares where the label is a number.
    Logistic {
        /// The ridge.
        l2: f64,
        /// Steps of the solver at most.
        iterations: u32,
    },
    /// The nearest centroid, for classes.
    Centroid,
    /// Boosted stumps: AdaBoost for two classes, SAMME for more, least squares for a number.
    Stumps {
        /// Rounds at most.
        rounds: u32,
        /// Where numbers are cut.
        thresholds: Thresholds,
        /// Whether stumps may abstain; for two classes.
        abstain: bool,
    },
    /// Gradient-boosted trees.
    Trees(Trees),
    /// The commonest class, or the mean: what anything else must beat.
    Constant,
}

impl Algorithm {
    /// The names that a job can say.
    pub const NAMES: [&str; 5] = ["logistic", "centroid", "stumps", "trees", "constant"];

    /// Its name in a job.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Logistic { .. } => "logistic",
            Self::Centroid => "centroid",
            Self::Stumps { .. } => "stumps",
            Self::Trees(_) => "trees",
            Self::Constant => "constant",
        }
    }
}

/// Training without protection: parameters that make sense.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain {
    algorithm: Algorithm,
}

impl Plain {
    /// Nothing is chosen yet.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// What is fitted.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// What must be kept of a table's numbers.
    pub fn keep(&self) -> Keep {
        match &self.algorithm {
            Algorithm::Logistic { .. }
            | Algorithm::Centroid
            | Algorithm::Stumps {
                thresholds: Thresholds::Exact,
                ..
            } => Keep::Values,
            Algorithm::Stumps { .. } | Algorithm::Trees(_) | Algorithm::Constant => Keep::Bins,
        }
    }

    /// That the parameters fit a schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not; the message begins with the parameter's name.
    pub fn check(&self, schema: &Schema) -> Result<(), Error> {
        if self.algorithm != Algorithm::Constant {
            schema.has_features()?;
        }
        if let Some((_, label)) = schema.label() {
            self.check_size(schema, label)?;
        }
        let classes = match schema.label() {
            Some((_, Label::Classes(declared))) => Some(declared.values().len()),
            Some((_, Label::Number { .. })) => Some(0),
            None => None,
        };
        let bad = |why: &str| Err(Error::parameter(Subject::Algorithm, why));
        match &self.algorithm {
            Algorithm::Trees(trees) => trees.check_schema(schema),
            Algorithm::Centroid if classes == Some(0) => bad(
                "\"centroid\" needs a label with classes, and the schema's is a number: choose another algorithm",
            ),
            Algorithm::Stumps { abstain: true, .. } if classes.is_some_and(|count| count != 2) => {
                bad("abstain = true needs a label of two classes: leave it out")
            }
            _ => Ok(()),
        }
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut all = vec![
            ("setting".to_owned(), "plain".to_owned()),
            ("algorithm".to_owned(), self.algorithm.name().to_owned()),
        ];
        match &self.algorithm {
            Algorithm::Logistic { l2, iterations } => {
                all.push(("l2".to_owned(), l2.to_string()));
                all.push(("iterations".to_owned(), iterations.to_string()));
            }
            Algorithm::Stumps {
                rounds,
                thresholds,
                abstain,
            } => {
                all.push(("rounds".to_owned(), rounds.to_string()));
                all.push(("thresholds".to_owned(), name(THRESHOLDS, thresholds)));
                all.push(("abstain".to_owned(), abstain.to_string()));
            }
            Algorithm::Trees(trees) => all.extend(trees.settings()),
            Algorithm::Centroid | Algorithm::Constant => {}
        }
        all
    }
}

/// Collects parameters. The algorithm must be named; everything else has a default.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    algorithm: Option<String>,
    l2: Option<f64>,
    iterations: Option<u32>,
    rounds: Option<u32>,
    thresholds: Thresholds,
    abstain: bool,
    trees: Trees,
    /// The parameters that were given, of all algorithms.
    given: Vec<&'static str>,
}

impl Builder {
    /// What is fitted: one of [`Algorithm::NAMES`].
    #[must_use]
    pub fn algorithm(mut self, name: impl Into<String>) -> Self {
        self.algorithm = Some(name.into());
        self
    }

    /// The ridge of `logistic`, above zero, or of the leaves of `trees`; 1 if not given.
    #[must_use]
    pub fn l2(mut self, l2: f64) -> Self {
        self.l2 = Some(l2);
        self.trees.l2 = l2;
        self.with("l2")
    }

    /// The solver's steps of `logistic` at most; 100 if not given.
    #[must_use]
    pub fn iterations(mut self, iterations: u32) -> Self {
        self.iterations = Some(iterations);
        self.with("iterations")
    }

    /// The rounds of `stumps` at most, or of `trees`; 100 if not given.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = Some(rounds);
        self.trees.rounds = rounds;
        self.with("rounds")
    }

    /// Where `stumps` cut numbers; at the schema's bins if not given.
    #[must_use]
    pub fn thresholds(mut self, thresholds: Thresholds) -> Self {
        self.thresholds = thresholds;
        self.with("thresholds")
    }

    /// Whether `stumps` may abstain on a side; not if not given. For two classes.
    #[must_use]
    pub fn abstain(mut self, abstain: bool) -> Self {
        self.abstain = abstain;
        self.with("abstain")
    }

    /// All parameters of `trees` at once.
    #[must_use]
    pub fn trees(mut self, trees: Trees) -> Self {
        self.trees = trees;
        self
    }

    /// What leaf values of `trees` are multiplied by; 0.1 if not given.
    #[must_use]
    pub fn learning_rate(mut self, learning_rate: f64) -> Self {
        self.trees.learning_rate = learning_rate;
        self.with("learning_rate")
    }

    /// How deep `trees` grow at most: 6 levels if not given, and no bound if leaves are given.
    #[must_use]
    pub fn depth(mut self, depth: u32) -> Self {
        self.trees.depth = Some(depth);
        self.with("depth")
    }

    /// How many leaves `trees` have at most. If given, the leaf whose split is worth most is split first.
    #[must_use]
    pub fn leaves(mut self, leaves: u32) -> Self {
        self.trees.leaves = Some(leaves);
        self.with("leaves")
    }

    /// What a split of `trees` must be worth; 0 if not given.
    #[must_use]
    pub fn gamma(mut self, gamma: f64) -> Self {
        self.trees.gamma = gamma;
        self.with("gamma")
    }

    /// What the second derivatives (second order) or rows (first order) of a child must come to in `trees`; 1 if not given.
    #[must_use]
    pub fn min_child_weight(mut self, min_child_weight: f64) -> Self {
        self.trees.min_child_weight = min_child_weight;
        self.with("min_child_weight")
    }

    /// The share of rows that a round of `trees` looks at; 1 if not given.
    #[must_use]
    pub fn row_share(mut self, row_share: f64) -> Self {
        self.trees.row_share = row_share;
        self.with("row_share")
    }

    /// The share of features that one of `trees` may ask about; 1 if not given.
    #[must_use]
    pub fn column_share(mut self, column_share: f64) -> Self {
        self.trees.column_share = column_share;
        self.with("column_share")
    }

    /// Decides which rows and features `trees` look at; 0 if not given.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.trees.seed = seed;
        self.with("seed")
    }

    /// Which derivatives decide about the splits of `trees`; the second if not given.
    #[must_use]
    pub fn flavour(mut self, flavour: Flavour) -> Self {
        self.trees.flavour = flavour;
        self.with("flavour")
    }

    /// How `trees` sum gradients; as integers if not given.
    #[must_use]
    pub fn sums(mut self, sums: Sums) -> Self {
        self.trees.sums = sums;
        self.with("sums")
    }

    /// Columns with which the scores of `trees` never fall; none if not given.
    #[must_use]
    pub fn rises(mut self, rises: Vec<String>) -> Self {
        self.trees.rises = rises;
        self.with("rises")
    }

    /// Columns with which the scores of `trees` never rise; none if not given.
    #[must_use]
    pub fn falls(mut self, falls: Vec<String>) -> Self {
        self.trees.falls = falls;
        self.with("falls")
    }

    fn with(mut self, parameter: &'static str) -> Self {
        self.given.push(parameter);
        self
    }

    /// Checks that everything fits together.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not.
    pub fn build(self) -> Result<Plain, Error> {
        let bad = |why: String| Err(Error::parameter(Subject::Algorithm, why));
        let known = || Algorithm::NAMES.map(|name| format!("\"{name}\"")).join(", ");
        let Some(name) = self.algorithm else {
            return bad(format!("no algorithm is named: choose one of {}", known()));
        };
        let algorithm = match name.as_str() {
            "logistic" => Algorithm::Logistic {
                l2: self.l2.unwrap_or(1.0),
                iterations: self.iterations.unwrap_or(100),
            },
            "centroid" => Algorithm::Centroid,
            "stumps" => Algorithm::Stumps {
                rounds: self.rounds.unwrap_or(100),
                thresholds: self.thresholds,
                abstain: self.abstain,
            },
            "trees" => Algorithm::Trees(self.trees),
            "constant" => Algorithm::Constant,
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
                return bad(format!(
                    "{parameter} belongs to the algorithm {}, not to \"{name}\": leave it out",
                    owners
                        .iter()
                        .map(|name| format!("\"{name}\""))
                        .collect::<Vec<_>>()
                        .join(" or ")
                ));
            }
        }
        match &algorithm {
            Algorithm::Trees(trees) => {
                trees.check()?;
                Ok(Plain { algorithm })
            }
            Algorithm::Logistic { l2, .. } if !(1e-9..=1e9).contains(l2) => bad(format!(
                "l2 = {l2}: it must lie between 0.000000001 and 1000000000"
            )),
            Algorithm::Logistic {
                iterations: count, ..
            } if !(1..=100_000).contains(count) => {
                bad(format!("iterations = {count}: it must lie between 1 and 100000"))
            }
            Algorithm::Stumps { rounds, .. } if !(1..=100_000).contains(rounds) => {
                bad(format!("rounds = {rounds}: it must lie between 1 and 100000"))
            }
            _ => Ok(Plain { algorithm }),
        }
    }
}

/// The algorithms that have a parameter.
fn owners(parameter: &str) -> &'static [&'static str] {
    match parameter {
        "l2" => &["logistic", "trees"],
        "iterations" => &["logistic"],
        "rounds" => &["stumps", "trees"],
        "thresholds" | "abstain" => &["stumps"],
        _ => &["trees"],
    }
}
