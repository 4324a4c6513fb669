//! Algorithms by the names and keys that a job has for them, with what they may spend.

use std::fmt::Display;
use std::sync::Arc;

use privet::Error;
use privet::boost::Ensemble;
use privet::data::{Document, Schema, Table};
use privet::learner::Progress;
use privet::model::Model;
use privet::privacy::account::Price;
use privet::privacy::{Delta, Epsilon, Ledger, Neighbours, Relation};
use privet::setting::central::{
    self, Algorithm, Budget, Clip, Coefficient, Encoding, Normaliser, Places, Plan, Planes, Splits, Trees,
};

/// The names of all algorithms.
pub(crate) const NAMES: [&str; 11] = [
    "auto",
    "trees",
    "brc",
    "select",
    "histogram-bayes",
    "moment-select",
    "objective",
    "dp-logistic",
    "people",
    "forest",
    "public",
];

/// Lines of a job's `[algorithm]`, and its budget.
#[derive(Debug, Clone, Default)]
pub(crate) struct Builder {
    lines: Vec<(&'static str, String)>,
    epsilon: Epsilon,
    delta: Delta,
    rows: u64,
}

macro_rules! numbers {
    ($($key:ident: $type:ty),*) => {
        $(pub(crate) fn $key(self, value: $type) -> Self {
            self.with(stringify!($key), value)
        })*
    };
}

macro_rules! names {
    ($($method:ident, $key:literal: $type:ty),*) => {
        $(pub(crate) fn $method(self, value: $type) -> Self {
            let name = <$type>::NAMES.iter().find(|(_, other)| *other == value);
            self.with($key, format!("{:?}", name.expect("a name").0))
        })*
    };
}

impl Builder {
    pub(crate) fn algorithm(self, name: &str) -> Self {
        self.with("name", format!("{name:?}"))
    }

    pub(crate) fn epsilon(self, epsilon: Epsilon) -> Self {
        Self { epsilon, ..self }
    }

    pub(crate) fn delta(self, delta: Delta) -> Self {
        Self { delta, ..self }
    }

    pub(crate) fn rows_about(self, rows: u64) -> Self {
        Self { rows, ..self }
    }

    numbers!(
        rounds: u32, candidates: u32, bins: u32, trees: u32, leaves: u32, depth: u32, lower: f64, upper: f64,
        learning_rate: f64, gradient_clip: f64, ridge: f64, shrinkage: f64, calibrate: bool, balance: bool
    );

    names!(
        planes, "planes": Planes, clip, "clip": Clip, normaliser, "normaliser": Normaliser,
        coefficient, "coefficient": Coefficient, encoding, "encoding": Encoding, splits, "splits": Splits,
        places, "bins": Places
    );

    /// A key that is said twice counts as it was said last.
    fn with(mut self, key: &'static str, value: impl Display) -> Self {
        self.lines.retain(|(other, _)| *other != key);
        self.lines.push((key, value.to_string()));
        self
    }

    pub(crate) fn build(self) -> Result<Central, Error> {
        let lines = self.lines.iter().map(|(key, value)| format!("{key} = {value}\n"));
        let text = format!("[algorithm]\n{}", lines.collect::<String>());
        let document = Document::parse("job", &text)?;
        let section = document.root().section("algorithm").expect("a section");
        let algorithm = central::read(&section);
        document.finish()?;
        Ok(Central {
            algorithm: algorithm.expect("nothing was found to be wrong").into(),
            budget: Budget::with_delta(self.epsilon, self.delta, self.rows)?,
            lines: self.lines,
        })
    }
}

/// An algorithm with what it may spend.
#[derive(Debug, Clone)]
pub(crate) struct Central {
    algorithm: Arc<dyn Algorithm>,
    budget: Budget,
    lines: Vec<(&'static str, String)>,
}

impl Central {
    pub(crate) fn builder() -> Builder {
        Builder::default()
    }

    pub(crate) fn of(trees: Trees, price: Epsilon, about: u64) -> Self {
        Self {
            algorithm: Arc::new(trees),
            budget: Budget::pure(price, about).expect("a budget"),
            lines: Vec::new(),
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        self.algorithm.name()
    }

    /// Whether a parameter was given.
    pub(crate) fn says(&self, key: &str) -> bool {
        self.lines.iter().any(|(other, _)| *other == key)
    }

    pub(crate) fn plan(&self, schema: &Schema, relation: &Relation) -> Result<Plan, Error> {
        self.algorithm.plan(schema, relation, self.budget)
    }

    pub(crate) fn epsilon(&self) -> Epsilon {
        self.budget.epsilon()
    }

    pub(crate) fn delta(&self) -> Delta {
        self.budget.delta()
    }

    pub(crate) fn price(&self, schema: &Schema, relation: &Relation) -> Result<Price, Error> {
        Ok(self.plan(schema, relation)?.price())
    }

    pub(crate) fn train(
        &self,
        table: Table,
        ledger: &mut Ledger,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        self.plan(table.schema(), ledger.relation())?
            .train(table, ledger, progress)
    }

    pub(crate) fn fit<N: Neighbours>(
        &self,
        table: Table,
        ledger: Ledger<N>,
        progress: Progress<'_>,
    ) -> Result<Model, Error> {
        self.plan(table.schema(), &ledger.relation().relation())?
            .fit(table, ledger, progress)
    }
}
