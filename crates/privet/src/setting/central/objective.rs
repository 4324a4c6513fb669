//! Logistic regression with a perturbed loss, on top of the public classifier's log-odds.
//!
//! Not in the paper: measured to beat it from moderate ε on (`docs/papers.md`). One release of all coefficients. It is the K-norm
//! objective perturbation of Awan and Slavković (2021): noise is drawn in the ball of the norm that bounds one row's slope.
//!
//! It does not add exact noise: its ε is that of real numbers and of the exact minimum, and its certificate says so.

use super::bayes::{Histogram, HistogramBayes};
use super::regression::{Design, Regression};
use super::rows::{Matrix, Rows};
use super::select::Base;
use super::{Budget, Progress};
use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::learner::{Learner, Linear, Shape, Term};
use crate::privacy::mechanism::{Ball, Objective, RowLoss};
use crate::privacy::{Anchor, Ledger, Neighbours};

/// Cells of a number, where it is written as indicators.
const BINS: u32 = 10;
/// Coefficients at most, so that the matrix of second derivatives can be written out for each block of rows.
const LARGEST: usize = 1024;

/// How a row's columns become numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Encoding {
    /// One number from -1 to 1 for each column; noise in a cube.
    #[default]
    Codes,
    /// A zero or one for each value or bin; noise by coordinate. Better where ε is large and columns are not straight lines.
    Indicators,
}

impl Encoding {
    /// Their names in a job.
    pub const NAMES: [(&str, Self); 2] = [("codes", Self::Codes), ("indicators", Self::Indicators)];

    pub(super) fn name(self) -> &'static str {
        let [(codes, _), (indicators, _)] = Self::NAMES;
        match self {
            Self::Codes => codes,
            Self::Indicators => indicators,
        }
    }
}

/// Parameters of logistic regression with a perturbed loss.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Perturbation {
    /// How a row's columns become numbers.
    pub encoding: Encoding,
}

impl Perturbation {
    /// # Privacy
    /// Pure ε in one release, provided that its assumption holds; `docs/proofs/objective.md#logistic-losses`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema declares too many values to write a matrix of their products.
    pub(super) fn train<N: Neighbours>(
        &self,
        rows: &Rows,
        ledger: &mut Ledger<N>,
        budget: &Budget,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        progress(0, 1);
        let base = Base::new(rows);
        let linear = match self.encoding {
            Encoding::Codes => codes(rows, &base, ledger, budget)?,
            Encoding::Indicators => indicators(rows, &base, ledger, budget)?,
        };
        let linear = match &base.linear {
            Some(public) => rows.plus(public, &linear),
            None => linear,
        };
        progress(1, 1);
        Ok(logistic(linear))
    }
}

/// A model of one sum.
pub(super) fn logistic(linear: Linear) -> Ensemble {
    Ensemble {
        link: Link::Logistic,
        base: vec![0.0],
        members: vec![Member {
            weight: 1.0,
            output: 0,
            learner: Learner::Linear(linear),
        }],
    }
}

/// That so many coefficients can be fitted: known from the schema alone.
pub(super) fn check_size(dimension: usize) -> Result<(), Error> {
    if dimension <= LARGEST {
        return Ok(());
    }
    Err(Error::Parameter(format!(
        "name: {dimension} coefficients are too many, at most {LARGEST} can be fitted; declare fewer columns or values, or use \
         encoding = \"codes\""
    )))
}

/// One number for each column: a row's slope is (σ − y)·(1, x), no longer than 1 in the cube.
fn codes<N: Neighbours>(
    rows: &Rows,
    base: &Base,
    ledger: &mut Ledger<N>,
    budget: &Budget,
) -> Result<Linear, Error> {
    let dimension = rows.coordinates.len() + 1;
    check_size(dimension)?;
    let loss = RowLoss {
        ball: Ball::Cube,
        dimension,
        slope: 1.0,
        curvature: dimension as f64 / 4.0,
        anchor: Anchor::new("objective#logistic-losses"),
    };
    let objective = Objective::calibrated(budget.epsilon, ledger.relation(), loss)?;
    let ridge = objective.ridge();
    let what = format!("coefficients of {} columns", rows.coordinates.len());
    let found = ledger.minimise(&what, &objective, |noise| {
        rows.matrix.as_ref().zip(noise, |matrix, noise| {
            let regression = Regression {
                design: Design::Numbers {
                    columns: &matrix.columns,
                    scale: 1.0,
                },
                labels: &matrix.labels,
                offsets: &base.scores,
                weights: None,
                ridge,
                noise: &noise,
            };
            regression.minimum()
        })
    })?;
    let found = found.into_inner();
    Ok(rows.linear(&found[1..], found[0]))
}

/// A one for each column, in the place of its value or bin: F + 1 ones in a row, so a slope is no longer than F + 1 in L1.
fn indicators<N: Neighbours>(
    rows: &Rows,
    base: &Base,
    ledger: &mut Ledger<N>,
    budget: &Budget,
) -> Result<Linear, Error> {
    let bayes = HistogramBayes { bins: BINS };
    let histograms: Vec<Histogram> = rows
        .coordinates
        .iter()
        .map(|coordinate| bayes.histogram(coordinate.feature, &coordinate.shape))
        .collect();
    let dimension = 1 + histograms.iter().map(|histogram| histogram.count).sum::<usize>();
    check_size(dimension)?;
    let ones = (histograms.len() + 1) as f64;
    let loss = RowLoss {
        ball: Ball::Cross,
        dimension,
        slope: ones,
        curvature: ones / 4.0,
        anchor: Anchor::new("objective#logistic-losses"),
    };
    let objective = Objective::calibrated(budget.epsilon, ledger.relation(), loss)?;
    let ridge = objective.ridge();
    let what = format!(
        "coefficients of {} values and bins of {} columns",
        dimension - 1,
        histograms.len()
    );
    let found = ledger.minimise(&what, &objective, |noise| {
        rows.matrix.as_ref().zip(noise, |matrix, noise| {
            let regression = Regression {
                design: Design::Indicators {
                    places: &places(matrix, &histograms),
                    width: dimension,
                },
                labels: &matrix.labels,
                offsets: &base.scores,
                weights: None,
                ridge,
                noise: &noise,
            };
            regression.minimum()
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
