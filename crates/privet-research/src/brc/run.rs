//! One method on one preparation, run by run.

use std::sync::Arc;

use privet::Error;
use privet::data::{Document, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::privacy::Epsilon;
use privet::setting::central::{self, Algorithm, Budget};
use privet::setting::plain::{self, Algorithm as _};

pub(super) use super::super::public;
use super::super::records::{ColumnCoding, PrivateColumns, Records, RowChoice};
use super::super::{NamedFigures, figure, judged};

/// How rows are chosen and coded.
#[derive(Clone, Copy)]
pub(super) struct Preparation<'a> {
    pub(super) records: &'a Records,
    pub(super) coding: ColumnCoding,
    pub(super) secret: PrivateColumns,
    pub(super) pick: RowChoice,
}

/// What is trained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum BrcMethod {
    /// Without privacy.
    Plain(&'static str),
    /// The paper's algorithm 2 or 3, with its own normaliser and 25 rounds.
    Paper,
    /// Boosting with public classifiers that are paid for.
    PaidPublic,
    /// An algorithm of the central setting, with its defaults.
    Central(&'static str),
}

impl BrcMethod {
    pub(super) fn name(self, coding: ColumnCoding) -> &'static str {
        match (self, coding) {
            (Self::Plain("logistic"), _) => "non-private",
            (Self::Paper, _) => "brc as printed",
            (Self::PaidPublic, _) => "brc, paid public",
            (Self::Central("brc"), ColumnCoding::Declared) => "brc, declared",
            (Self::Central("select"), ColumnCoding::Declared) => "select, declared",
            (Self::Central("moment-select"), ColumnCoding::Declared) => "moment-select, declared",
            (Self::Plain(name) | Self::Central(name), _) => name,
        }
    }

    /// As a job would name it.
    fn central(self) -> Result<Box<dyn Algorithm>, Error> {
        let job = match self {
            Self::Paper => "name = \"brc\"\nrounds = 25\nnormaliser = \"weights\"".into(),
            Self::PaidPublic => "name = \"brc\"\nplanes = \"paid-public\"".into(),
            Self::Plain(name) | Self::Central(name) => format!("name = \"{name}\""),
        };
        let document = Document::parse("the method", &job)?;
        let algorithm = central::read(&document.root());
        document.finish()?;
        algorithm.ok_or_else(|| Error::internal("every method has a name that jobs know"))
    }
}

/// The figures of one run.
pub(super) fn run(
    preparation: &Preparation<'_>,
    method: BrcMethod,
    epsilon: Option<f64>,
    run: u32,
) -> Result<NamedFigures, Error> {
    let schema = preparation
        .records
        .schema(preparation.coding, preparation.secret)?;
    let schema = Arc::new(match method {
        BrcMethod::Central("trees") => schema.spread(),
        _ => schema,
    });
    let (train, test) = preparation.records.split(preparation.pick, run.into());
    let rows = train.len();
    let train = preparation.records.table(&schema, &train)?;
    let model = match (method, epsilon) {
        (BrcMethod::Plain(name), _) => {
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
    judged(&model, &preparation.records.table(&schema, &test)?)
}

/// Whole people are replaced, as in the paper; where some columns are public, the others are.
pub(super) fn private(algorithm: &dyn Algorithm, budget: Budget, train: Table) -> Result<Model, Error> {
    let relation = train.schema().replaced();
    algorithm.plan(train.schema(), &relation, budget)?.rehearse(train)
}

pub(super) fn accuracy(model: &Model, test: &Table) -> Result<f64, Error> {
    Ok(figure(&judged(model, test)?, "accuracy"))
}
