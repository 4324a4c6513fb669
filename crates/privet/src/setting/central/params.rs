//! Parameters, parsed once.

mod fits;
mod ranges;

use super::{
    Brc, Budget, Clip, Coefficient, Encoding, HistogramBayes, MomentSelect, Normaliser, People, Perturbation,
    Planes, Select,
};
use crate::Error;
use crate::data::Keep;
use crate::data::schema::{Column, Schema};
use crate::privacy::{Epsilon, Relation};
use ranges::owners;

/// How a model is made.
#[derive(Debug, Clone, PartialEq)]
pub enum Algorithm {
    /// Boosting with random classifiers.
    Brc(Brc),
    /// One choice among random planes.
    Select(Select),
    /// Naive Bayes from noisy counts.
    HistogramBayes(HistogramBayes),
    /// A noisy direction, and a choice around it.
    MomentSelect(MomentSelect),
    /// Logistic regression with a perturbed loss.
    Objective(Perturbation),
    /// The same as its authors have it: every column private, noise in a sphere.
    DpLogistic,
    /// Boosting of classifiers that are private themselves.
    People(People),
    /// Public columns alone.
    Public,
    /// Whichever of these is best by a public rule.
    Auto,
}

impl Algorithm {
    /// The names that a job can say.
    pub const NAMES: [&str; 9] = [
        "auto",
        "brc",
        "select",
        "histogram-bayes",
        "moment-select",
        "objective",
        "dp-logistic",
        "people",
        "public",
    ];

    /// Its name in a job.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Brc(_) => "brc",
            Self::Select(_) => "select",
            Self::HistogramBayes(_) => "histogram-bayes",
            Self::MomentSelect(_) => "moment-select",
            Self::Objective(_) => "objective",
            Self::DpLogistic => "dp-logistic",
            Self::People(_) => "people",
            Self::Public => "public",
            Self::Auto => "auto",
        }
    }
}

/// Training by a curator: parameters that make sense.
#[derive(Debug, Clone, PartialEq)]
pub struct Central {
    pub(super) algorithm: Algorithm,
    pub(super) budget: Budget,
    pub(super) balanced: bool,
    /// Why the algorithm was chosen, if a rule chose it.
    pub(super) because: Option<String>,
}

impl Central {
    /// Nothing is chosen yet.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// How the model is made.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// What may be spent.
    pub fn epsilon(&self) -> Epsilon {
        self.budget.epsilon
    }

    /// What will be charged: nothing if no private column is looked at.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn charge(&self, schema: &Schema, relation: &Relation) -> Result<Epsilon, Error> {
        Ok(match self.resolve(schema, relation)?.algorithm {
            Algorithm::Public => Epsilon::ZERO,
            _ => self.budget.epsilon,
        })
    }

    pub(super) fn budget(&self) -> Budget {
        self.budget
    }

    /// Whether as many rows of one class are learnt from as of the other.
    pub(super) fn is_balanced(&self) -> bool {
        self.balanced
    }

    /// What must be kept of a table's numbers.
    pub fn keep(&self) -> Keep {
        Keep::Values
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let mut all: Vec<(String, String)> = vec![
            ("setting".into(), "central".into()),
            ("algorithm".into(), self.algorithm.name().into()),
        ];
        match &self.algorithm {
            Algorithm::Brc(brc) => all.extend(brc.settings(&self.budget)),
            Algorithm::Select(Select { candidates })
            | Algorithm::MomentSelect(MomentSelect { candidates }) => {
                all.push(("candidates".into(), candidates.to_string()));
            }
            Algorithm::HistogramBayes(HistogramBayes { bins }) => all.push(("bins".into(), bins.to_string())),
            Algorithm::Objective(Perturbation { encoding }) => {
                all.push(("encoding".into(), name_of(&Encoding::NAMES, encoding)));
            }
            Algorithm::People(people) => all.extend(people.settings(&self.budget)),
            Algorithm::DpLogistic | Algorithm::Public | Algorithm::Auto => {}
        }
        if let Some(because) = &self.because {
            all.push(("chosen".into(), because.clone()));
        }
        if self.balanced {
            all.push(("balance".into(), "true".into()));
        }
        all.push(("epsilon".into(), self.budget.epsilon.to_string()));
        all.push(("rows_about".into(), self.budget.rows.to_string()));
        all
    }
}

/// The name of an option in a job.
pub(super) fn name_of<T: PartialEq>(names: &[(&'static str, T)], option: &T) -> String {
    let found = names.iter().find(|(_, other)| other == option);
    found.map_or(String::new(), |(name, _)| (*name).to_owned())
}

/// The features that are paid for: all, or those that are not public where the label is.
pub(super) fn private_features<'s>(
    schema: &'s Schema,
    relation: &Relation,
) -> impl Iterator<Item = (usize, &'s Column)> {
    let learns_freely = schema
        .label()
        .is_some_and(|(label, _)| is_public(label, relation));
    let relation = relation.clone();
    schema
        .features()
        .enumerate()
        .filter(move |(_, column)| !(learns_freely && is_public(column, &relation)))
}

/// Whether a budget leaves a column public.
pub(super) fn is_public(column: &Column, relation: &Relation) -> bool {
    match relation {
        Relation::ReplacePrivate { columns, .. } => !column.private && !columns.contains(&column.name),
        Relation::AddRemove { .. } | Relation::Replace { .. } => false,
    }
}

/// Collects parameters. Algorithm, ε and the number of rows must be given; everything else has a default.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    algorithm: Option<String>,
    epsilon: Option<Epsilon>,
    rows: Option<u64>,
    balanced: bool,
    brc: Brc,
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

    fn with(mut self, parameter: &'static str) -> Self {
        self.given.push(parameter);
        self
    }

    /// Checks that everything fits together.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not; the message begins with the parameter's name.
    pub fn build(self) -> Result<Central, Error> {
        let bad = |why: String| Err(Error::Parameter(why));
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
            budget: Budget { epsilon, rows },
            balanced: self.balanced,
            because: None,
        };
        central.ranges()?;
        Ok(central)
    }
}
