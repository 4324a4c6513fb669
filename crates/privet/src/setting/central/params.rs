//! Parameters, parsed once.

mod builder;
mod fits;
mod ranges;

pub use builder::Builder;

use super::{Brc, Budget, Encoding, HistogramBayes, MomentSelect, People, Perturbation, Select, Trees};
use crate::Error;
use crate::data::Keep;
use crate::data::schema::{Column, Schema};
use crate::privacy::account::Price;
use crate::privacy::mechanism::ROUNDING_TELLS;
use crate::privacy::{Delta, Epsilon, Relation};

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
    /// Boosted trees, each released with noise.
    Trees(Trees),
    /// Public columns alone.
    Public,
    /// Whichever of these is best by a public rule.
    Auto,
}

impl Algorithm {
    /// The names that a job can say.
    pub const NAMES: [&str; 10] = [
        "auto",
        "trees",
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
            Self::Trees(_) => "trees",
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

    /// With what probability the promise may fail; zero if ε is pure.
    pub fn delta(&self) -> Delta {
        self.budget.delta
    }

    /// Why its models protect nobody, if they do not.
    pub fn void(&self) -> Option<&'static str> {
        match self.algorithm {
            Algorithm::DpLogistic => Some(ROUNDING_TELLS),
            _ => None,
        }
    }

    /// What will be charged: nothing if no private column is looked at.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn price(&self, schema: &Schema, relation: &Relation) -> Result<Price, Error> {
        match self.resolve(schema, relation)?.algorithm {
            Algorithm::Public => Ok(Price::Pure(Epsilon::ZERO)),
            _ => Ok(self.budget.price),
        }
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
        match self.algorithm {
            Algorithm::Trees(_) => Keep::Bins,
            _ => Keep::Values,
        }
    }

    /// The schema that tables are read with: trees cut numbers between bins, and take bins for numbers of which nobody knows how
    /// they are spread where a schema says nothing about bins.
    pub fn reads(&self, schema: &Schema) -> Schema {
        match self.algorithm {
            Algorithm::Trees(_) => schema.spread(),
            _ => schema.clone(),
        }
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
            Algorithm::Trees(trees) => all.extend(trees.settings()),
            Algorithm::DpLogistic | Algorithm::Public | Algorithm::Auto => {}
        }
        if let Some(because) = &self.because {
            all.push(("chosen".into(), because.clone()));
        }
        if self.balanced {
            all.push(("balance".into(), "true".into()));
        }
        all.push(("epsilon".into(), self.budget.epsilon.to_string()));
        if self.budget.delta != Delta::ZERO {
            all.push(("delta".into(), self.budget.delta.to_string()));
        }
        all.push(("rows_about".into(), self.budget.rows.to_string()));
        all
    }
}

/// The name of an option in a job.
pub(crate) fn name_of<T: PartialEq>(names: &[(&'static str, T)], option: &T) -> String {
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
pub(crate) fn is_public(column: &Column, relation: &Relation) -> bool {
    match relation {
        Relation::ReplacePrivate { columns, .. } => !column.private && !columns.contains(&column.name),
        Relation::AddRemove { .. } | Relation::Replace { .. } => false,
    }
}
