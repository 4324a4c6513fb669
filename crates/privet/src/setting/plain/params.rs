//! Parameters, parsed once.

use crate::Error;
use crate::data::Keep;

/// What is fitted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Algorithm {
    /// Logistic regression; least squares where the label is a number.
    Logistic {
        /// The ridge.
        l2: f64,
        /// Steps of the solver at most.
        iterations: u32,
    },
    /// Boosted stumps: AdaBoost for two classes, SAMME for more, least squares for a number.
    Stumps {
        /// Rounds at most.
        rounds: u32,
    },
    /// The commonest class, or the mean: what anything else must beat.
    Constant,
}

impl Algorithm {
    /// The names that a job can say.
    pub const NAMES: [&str; 3] = ["logistic", "stumps", "constant"];

    /// Its name in a job.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Logistic { .. } => "logistic",
            Self::Stumps { .. } => "stumps",
            Self::Constant => "constant",
        }
    }
}

/// Training without protection: parameters that make sense.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plain {
    algorithm: Algorithm,
}

impl Plain {
    /// Nothing is chosen yet.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// What is fitted.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// What must be kept of a table's numbers.
    pub fn keep(&self) -> Keep {
        match self.algorithm {
            Algorithm::Logistic { .. } => Keep::Values,
            Algorithm::Stumps { .. } | Algorithm::Constant => Keep::Bins,
        }
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut all = vec![
            ("setting".to_owned(), "plain".to_owned()),
            ("algorithm".to_owned(), self.algorithm.name().to_owned()),
        ];
        match self.algorithm {
            Algorithm::Logistic { l2, iterations } => {
                all.push(("l2".to_owned(), l2.to_string()));
                all.push(("iterations".to_owned(), iterations.to_string()));
            }
            Algorithm::Stumps { rounds } => all.push(("rounds".to_owned(), rounds.to_string())),
            Algorithm::Constant => {}
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
}

impl Builder {
    /// What is fitted: one of [`Algorithm::NAMES`].
    #[must_use]
    pub fn algorithm(mut self, name: impl Into<String>) -> Self {
        self.algorithm = Some(name.into());
        self
    }

    /// The ridge of `logistic`: above zero; 1 if not given.
    #[must_use]
    pub fn l2(mut self, l2: f64) -> Self {
        self.l2 = Some(l2);
        self
    }

    /// The solver's steps of `logistic` at most; 100 if not given.
    #[must_use]
    pub fn iterations(mut self, iterations: u32) -> Self {
        self.iterations = Some(iterations);
        self
    }

    /// The rounds of `stumps` at most; 100 if not given.
    #[must_use]
    pub fn rounds(mut self, rounds: u32) -> Self {
        self.rounds = Some(rounds);
        self
    }

    /// Checks that everything fits together.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not.
    pub fn build(self) -> Result<Plain, Error> {
        let bad = |why: String| Err(Error::Parameter(why));
        let known = || Algorithm::NAMES.map(|name| format!("\"{name}\"")).join(", ");
        let Some(name) = self.algorithm else {
            return bad(format!("no algorithm is named: choose one of {}", known()));
        };
        let algorithm = match name.as_str() {
            "logistic" => Algorithm::Logistic {
                l2: self.l2.unwrap_or(1.0),
                iterations: self.iterations.unwrap_or(100),
            },
            "stumps" => Algorithm::Stumps {
                rounds: self.rounds.unwrap_or(100),
            },
            "constant" => Algorithm::Constant,
            other => {
                return bad(format!(
                    "there is no algorithm \"{other}\": choose one of {}",
                    known()
                ));
            }
        };
        let given = [
            ("l2", self.l2.is_some(), "logistic"),
            ("iterations", self.iterations.is_some(), "logistic"),
            ("rounds", self.rounds.is_some(), "stumps"),
        ];
        for (parameter, given, owner) in given {
            if given && owner != name {
                return bad(format!(
                    "{parameter} belongs to the algorithm \"{owner}\", not to \"{name}\": leave it out"
                ));
            }
        }
        match algorithm {
            Algorithm::Logistic { l2, .. } if !(1e-9..=1e9).contains(&l2) => bad(format!(
                "l2 = {l2}: it must lie between 0.000000001 and 1000000000"
            )),
            Algorithm::Logistic {
                iterations: count, ..
            } if !(1..=100_000).contains(&count) => {
                bad(format!("iterations = {count}: it must lie between 1 and 100000"))
            }
            Algorithm::Stumps { rounds } if !(1..=100_000).contains(&rounds) => {
                bad(format!("rounds = {rounds}: it must lie between 1 and 100000"))
            }
            _ => Ok(Plain { algorithm }),
        }
    }
}
