//! Logistic regression with a perturbed loss, on top of the public classifier's log-odds.
//!
//! Not in the paper: measured to beat it from moderate ε on (`docs/papers.md`). One release of all coefficients. It is the K-norm
//! objective perturbation of Awan and Slavković (2021): noise is drawn in the ball of the norm that bounds one row's slope.
//!
//! Noise, loss and the proof that a minimum was found are in whole numbers (`docs/proofs/objective.md`).

use super::bayes::{Histogram, HistogramBayes};
use super::plan::private_features;
use super::regression::{Design, Regression};
use super::rows::{CuratorRows, Matrix};
use super::select::Base;
use super::{Algorithm, Balance, Facts, Resolved, Run, TrainOnRows, noise};
use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::data::Schema;
use crate::learner::{Linear, Shape, Term};
use crate::parameters::{named_values, parameters};
use crate::privacy::mechanism::{self, Ball, RowLoss};
use crate::privacy::{Anchor, Relation};

/// Cells of a number, where it is written as indicators.
const BINS: u32 = 10;
/// Coefficients at most, so that the matrix of second derivatives can be written out for each block of rows.
pub(super) const LARGEST: usize = 1024;

parameters! {
    /// Parameters of logistic regression with a perturbed loss.
    pub struct Objective("objective") {
        /// How a row's columns become numbers.
        encoding: Encoding = Encoding::Codes;
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

named_values! {
    /// How a row's columns become numbers.
    #[derive(Default)]
    pub enum Encoding {
        /// One number from -1 to 1 for each column; noise in a cube.
        #[default]
        Codes = "codes",
        /// A zero or one for each value or bin; noise by coordinate. Better where ε is large and columns are not straight lines.
        Indicators = "indicators",
    }
}

impl Algorithm for Objective {
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        let loss = self.loss(&facts.schema, &facts.relation)?;
        let off = loss.deviation(facts.budget.epsilon, &facts.relation)?;
        let noise = vec![noise::coefficients(loss.dimension, off)];
        Ok(Resolved::new(self, facts, noise, self.clone()))
    }
}

impl Objective {
    /// What a row of this schema adds.
    ///
    /// # Errors
    /// As [`codes_loss`].
    pub(super) fn loss(&self, schema: &Schema, relation: &Relation) -> Result<RowLoss, Error> {
        let shapes = Shape::of(schema);
        let cells: Vec<usize> = private_features(schema, relation)
            .map(|(place, _)| CELLS.cells(&shapes[place]))
            .collect();
        match self.encoding {
            Encoding::Codes => codes_loss(cells.len()),
            Encoding::Indicators => indicators_loss(cells.into_iter()),
        }
    }
}

impl TrainOnRows for Objective {
    /// # Privacy
    /// Pure ε in one release; `docs/proofs/objective.md#logistic-losses`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema declares too many values to write a matrix of their products.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        run.at(0, 1)?;
        let base = Base::new(rows);
        let linear = match self.encoding {
            Encoding::Codes => codes(rows, &base, run)?,
            Encoding::Indicators => indicators(rows, &base, run)?,
        };
        let linear = match &base.linear {
            Some(public) => rows.plus(public, &linear),
            None => linear,
        };
        Ok(Ensemble::of_sum(Link::Logistic, linear))
    }
}

/// What a row adds where each column is one number: its slope is (σ − y)·(1, x), no longer than 1 in the cube.
///
/// # Errors
/// [`Error::Parameter`] if a matrix of so many products cannot be written.
pub(super) fn codes_loss(columns: usize) -> Result<RowLoss, Error> {
    let dimension = columns + 1;
    if dimension > LARGEST {
        let why = format!(
            "name: {dimension} coefficients are too many, at most {LARGEST} can be fitted; declare fewer columns"
        );
        return Err(Error::parameter("name", why));
    }
    Ok(RowLoss {
        ball: Ball::Cube,
        dimension,
        slope: 1.0,
        curvature: dimension as f64 / 4.0,
        anchor: Anchor::new("objective#logistic-losses"),
    })
}

/// What a row adds where each column is a one among so many cells: F + 1 ones, so a slope is no longer than F + 1 in L1.
///
/// # Errors
/// As [`codes_loss`].
pub(super) fn indicators_loss(cells: impl ExactSizeIterator<Item = usize>) -> Result<RowLoss, Error> {
    let ones = (cells.len() + 1) as f64;
    let dimension = 1 + cells.sum::<usize>();
    if dimension > LARGEST {
        let why = format!(
            "encoding = \"indicators\" makes {dimension} coefficients, at most {LARGEST} can be fitted; declare fewer values, or use \
             encoding = \"codes\""
        );
        return Err(Error::parameter("encoding", why));
    }
    Ok(RowLoss {
        ball: Ball::Cross,
        dimension,
        slope: ones,
        curvature: ones / 4.0,
        anchor: Anchor::new("objective#logistic-losses"),
    })
}

/// The cells of a column where it is written as indicators.
pub(super) const CELLS: HistogramBayes = HistogramBayes::of(BINS);

/// One number for each column.
fn codes(rows: &CuratorRows, base: &Base, run: Run<'_>) -> Result<Linear, Error> {
    let loss = codes_loss(rows.coordinates.len())?;
    let objective = mechanism::Objective::calibrated(run.facts.budget.epsilon, run.ledger.relation(), loss)?;
    let what = format!("coefficients of {} columns", rows.coordinates.len());
    let found = run.ledger.minimise(&what, &objective, || {
        rows.matrix.as_ref().map(|matrix| Regression {
            design: Design::Numbers(&matrix.columns),
            labels: &matrix.labels,
            offsets: &base.scores,
            weights: None,
        })
    })?;
    let found = found.into_inner();
    Ok(rows.linear(&found[1..], found[0]))
}

/// A one for each column, in the place of its value or bin.
fn indicators(rows: &CuratorRows, base: &Base, run: Run<'_>) -> Result<Linear, Error> {
    let histograms: Vec<Histogram> = rows
        .coordinates
        .iter()
        .map(|coordinate| CELLS.histogram(coordinate.feature, &coordinate.shape))
        .collect();
    let loss = indicators_loss(histograms.iter().map(|histogram| histogram.count))?;
    let dimension = loss.dimension;
    let objective = mechanism::Objective::calibrated(run.facts.budget.epsilon, run.ledger.relation(), loss)?;
    let what = format!(
        "coefficients of {} values and bins of {} columns",
        dimension - 1,
        histograms.len()
    );
    let found = run.ledger.minimise(&what, &objective, || {
        rows.matrix.as_ref().map(|matrix| Regression {
            design: Design::Indicators {
                places: places(matrix, &histograms),
                width: dimension,
            },
            labels: &matrix.labels,
            offsets: &base.scores,
            weights: None,
        })
    })?;
    let found = found.into_inner();
    let mut linear = Linear {
        intercept: found[0],
        terms: rows.shapes.iter().map(Shape::nothing).collect(),
    };
    let mut rest = &found[1..];
    for histogram in &histograms {
        let (own, others) = rest.split_at(histogram.count);
        rest = others;
        let slots = histogram.cells.iter().map(|&cell| own[cell]).collect();
        linear.terms[histogram.feature] = Term::Slots(slots);
    }
    Ok(linear)
}

/// For each histogram and row, where its one stands.
fn places(matrix: &Matrix, histograms: &[Histogram]) -> Vec<Vec<u32>> {
    let mut first = 1;
    let mut all = Vec::with_capacity(histograms.len());
    for histogram in histograms {
        let slots: Vec<u32> = histogram
            .cells
            .iter()
            .map(|&cell| (first + cell) as u32)
            .collect();
        let of = |row: usize| {
            let feature = matrix.cells.features().get(histogram.feature);
            slots[feature.map_or(0, |feature| usize::from(feature.bins.get(row)))]
        };
        all.push((0..matrix.rows()).map(of).collect());
        first += histogram.count;
    }
    all
}
