//! One method on one preparation, run by run.

use std::sync::Arc;

use privet::Error;
use privet::data::{Schema, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::noisy::evaluation::Evaluation;
use privet::privacy::{Epsilon, Relation, Unprotected};
use privet::setting::central::{
    Algorithm, Auto, Brc, Budget, DpLogistic, HistogramBayes, MomentSelect, Normaliser, Objective, People,
    Planes, Public, Select, Trees,
};
use privet::setting::plain::{self, Algorithm as _};
use rayon::prelude::*;

use super::super::Measured;
use super::super::records::{Coding, Pick, Records, Secret};

/// How rows are chosen and coded.
#[derive(Clone, Copy)]
pub(super) struct Preparation<'a> {
    pub(super) records: &'a Records,
    pub(super) coding: Coding,
    pub(super) secret: Secret,
    pub(super) pick: Pick,
}

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Method {
    /// Without privacy.
    Plain(&'static str),
    /// The paper's algorithm 2 or 3, with its own normaliser and 25 rounds.
    Paper,
    /// Boosting with public classifiers that are paid for.
    PaidPublic,
    /// An algorithm of the central setting, with its defaults.
    Central(&'static str),
}

impl Method {
    fn name(self, coding: Coding) -> &'static str {
        match (self, coding) {
            (Self::Plain("logistic"), _) => "non-private",
            (Self::Paper, _) => "brc as printed",
            (Self::PaidPublic, _) => "brc, paid public",
            (Self::Central("brc"), Coding::Declared) => "brc, declared",
            (Self::Central("select"), Coding::Declared) => "select, declared",
            (Self::Central("moment-select"), Coding::Declared) => "moment-select, declared",
            (Self::Plain(name) | Self::Central(name), _) => name,
        }
    }

    fn central(self) -> Result<Box<dyn Algorithm>, Error> {
        let name = match self {
            Self::Paper => {
                let paper = Brc::builder().rounds(25).normaliser(Normaliser::Weights);
                return Ok(Box::new(paper.build()?));
            }
            Self::PaidPublic => {
                return Ok(Box::new(Brc::builder().planes(Planes::PaidPublic).build()?));
            }
            Self::Plain(name) | Self::Central(name) => name,
        };
        Ok(match name {
            "trees" => Box::new(Trees::default()),
            "brc" => Box::new(Brc::default()),
            "select" => Box::new(Select::default()),
            "histogram-bayes" => Box::new(HistogramBayes::default()),
            "moment-select" => Box::new(MomentSelect::default()),
            "objective" => Box::new(Objective::default()),
            "dp-logistic" => Box::new(DpLogistic::default()),
            "people" => Box::new(People::default()),
            "public" => Box::new(Public::default()),
            _ => Box::new(Auto::default()),
        })
    }
}

pub(super) fn run(
    preparation: &Preparation<'_>,
    method: Method,
    epsilon: Option<f64>,
    runs: u32,
) -> Result<Measured, Error> {
    let schema = preparation
        .records
        .schema(preparation.coding, preparation.secret)?;
    let schema = Arc::new(match method {
        Method::Central("trees") => schema.spread(),
        _ => schema,
    });
    let values = (0..runs).into_par_iter().map(|run| {
        let (train, test) = preparation.records.split(preparation.pick, run.into());
        let rows = train.len();
        let train = preparation.records.table(&schema, &train)?;
        let test = preparation.records.table(&schema, &test)?;
        let model = match (method, epsilon) {
            (Method::Plain(name), _) => {
                let plan = match name {
                    "logistic" => plain::Logistic::default().plan(&schema)?,
                    _ => plain::Constant::default().plan(&schema)?,
                };
                plan.fit(train, &public(&schema), SILENT)?
            }
            (method, epsilon) => {
                let budget = Budget::pure(Epsilon::new(epsilon.unwrap_or(1.0))?, rows as u64)?;
                private(method.central()?.as_ref(), budget, train)?
            }
        };
        accuracy(&model, &test)
    });
    Ok(Measured {
        method: method.name(preparation.coding),
        epsilon,
        metric: "accuracy",
        values: values.collect::<Result<Vec<f64>, Error>>()?,
    })
}

/// The data sets are public; their columns only stand for private ones.
pub(super) fn public(schema: &Schema) -> Unprotected {
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), "a public data set")
}

/// Whole people are replaced, as in the paper; where some columns are public, the others are.
pub(super) fn private(algorithm: &dyn Algorithm, budget: Budget, train: Table) -> Result<Model, Error> {
    let relation = match train.schema().relation() {
        Relation::AddRemove { rows, unit } => Relation::Replace { rows, unit },
        other => other,
    };
    algorithm.plan(train.schema(), &relation, budget)?.rehearse(train)
}

pub(super) fn accuracy(model: &Model, test: &Table) -> Result<f64, Error> {
    let evaluation = Evaluation::of(test.schema())?;
    let judged = test.cells().as_ref().map(|cells| evaluation.judge(model, cells));
    let report = evaluation.open(judged, &public(test.schema()));
    let found = report.named().into_iter().find(|(name, _)| *name == "accuracy");
    Ok(found.map_or(f64::NAN, |(_, value)| value))
}
