//! Naive Bayes from noisy histograms, on top of the public classifier's log-odds.
//!
//! Not in the paper: measured to beat it wherever features are categories or bins (`docs/papers.md`). Every private feature is
//! counted by class, once; all counts are one release.

use super::rows::{Matrix, Rows};
use super::select::Base;
use super::{Budget, Progress};
use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::learner::{Learner, Linear, Shape, Term};
use crate::privacy::mechanism::{Laplace, Mechanism};
use crate::privacy::{Anchor, Ledger, Neighbours, Norm, Query, Sensitivity};

/// Parameters of naive Bayes from histograms.
#[derive(Debug, Clone, PartialEq)]
pub struct HistogramBayes {
    /// Bins of a number that are counted, at most: neighbouring bins of the schema are counted together.
    pub bins: u32,
}

impl Default for HistogramBayes {
    fn default() -> Self {
        Self { bins: 10 }
    }
}

/// The cells of one feature's histogram.
pub(super) struct Histogram {
    pub(super) feature: usize,
    /// The cell of each slot.
    pub(super) cells: Vec<usize>,
    pub(super) count: usize,
}

impl HistogramBayes {
    /// How many cells a column is counted in, of each class.
    pub(super) fn cells(&self, shape: &Shape) -> usize {
        self.histogram(0, shape).count
    }

    pub(super) fn histogram(&self, feature: usize, shape: &Shape) -> Histogram {
        let most = (self.bins as usize).max(1);
        if !shape.number || shape.ordered <= most {
            return Histogram {
                feature,
                cells: (0..shape.slots).collect(),
                count: shape.slots,
            };
        }
        let slot = |slot: usize| {
            if slot < shape.ordered {
                slot * most / shape.ordered
            } else {
                most + slot - shape.ordered
            }
        };
        Histogram {
            feature,
            cells: (0..shape.slots).map(slot).collect(),
            count: most + shape.slots - shape.ordered,
        }
    }

    /// # Privacy
    /// Pure ε, in one release of all counts; `docs/proofs/central.md#histograms`.
    pub(super) fn train<N: Neighbours>(
        &self,
        rows: &Rows,
        ledger: &mut Ledger<N>,
        budget: &Budget,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        progress(0, 1);
        let base = Base::new(rows);
        let histograms: Vec<Histogram> = rows
            .coordinates
            .iter()
            .map(|coordinate| self.histogram(coordinate.feature, &coordinate.shape))
            .collect();
        let dimension: usize = histograms.iter().map(|histogram| 2 * histogram.count).sum();
        let relation = ledger.relation().clone();
        let l1 = relation.steps() * histograms.len() as u64;
        let claim = Sensitivity::claim(&relation, Norm::L1(l1), Anchor::new("central#histograms"))?;
        let query = Query::new(dimension, claim, || {
            rows.matrix.as_ref().map(|matrix| count(matrix, &histograms))
        });
        let mechanism = Laplace::calibrated(budget.epsilon, l1)?;
        let what = format!("counts of {} columns by class", histograms.len());
        let counts = ledger.release(&what, &mechanism, query)?.into_inner();
        let scale = mechanism.scale().to_f64();
        let prior = match &rows.public {
            Some(known) => {
                let positives = known.labels.iter().filter(|&&label| label > 0).count() as f64;
                ((positives + 1.0) / (known.rows() as f64 - positives + 1.0)).ln()
            }
            None => prior(&counts, &histograms, mechanism.variance()),
        };
        let mut linear = base.linear.clone().unwrap_or_else(|| Linear {
            intercept: prior,
            terms: rows.shapes.iter().map(Shape::nothing).collect(),
        });
        let mut rest = counts.as_slice();
        for histogram in &histograms {
            let (own, others) = rest.split_at(2 * histogram.count);
            rest = others;
            let (negative, positive) = own.split_at(histogram.count);
            // Smoothing by as much as the noise, so that cells of noise alone say little.
            let smooth = |count: i64| (count.max(0)) as f64 + scale + 5.0;
            let odds = |cell: &usize| (smooth(positive[*cell]) / smooth(negative[*cell])).ln() - prior;
            linear.terms[histogram.feature] = Term::Slots(histogram.cells.iter().map(odds).collect());
        }
        progress(1, 1);
        Ok(Ensemble {
            link: Link::Logistic,
            base: vec![0.0],
            members: vec![Member {
                weight: 1.0,
                output: 0,
                learner: Learner::Linear(linear),
            }],
        })
    }
}

/// For each histogram its cells of the first class, then of the second.
fn count(matrix: &Matrix, histograms: &[Histogram]) -> Vec<i64> {
    let mut counts = Vec::new();
    for histogram in histograms {
        let mut own = vec![0; 2 * histogram.count];
        if let Some(feature) = matrix.cells.features().get(histogram.feature) {
            for (row, &label) in matrix.labels.iter().enumerate() {
                let slot = usize::from(feature.bins.get(row));
                own[usize::from(label) * histogram.count + histogram.cells[slot]] += 1;
            }
        }
        counts.extend(own);
    }
    counts
}

/// The log-odds of the classes by all histograms together; even odds unless the counts differ by more than three standard
/// deviations of their noise, since it is taken off every feature's term.
fn prior(counts: &[i64], histograms: &[Histogram], variance: f64) -> f64 {
    let mut rest = counts;
    let mut sums = [0.0; 2];
    for histogram in histograms {
        let (own, others) = rest.split_at(2 * histogram.count);
        rest = others;
        let (negative, positive) = own.split_at(histogram.count);
        sums[0] += negative.iter().map(|&count| count as f64).sum::<f64>();
        sums[1] += positive.iter().map(|&count| count as f64).sum::<f64>();
    }
    let noise = (counts.len() as f64 * variance).sqrt();
    if (sums[1] - sums[0]).abs() < 3.0 * noise {
        return 0.0;
    }
    let least = noise.max(1.0);
    (sums[1].max(least) / sums[0].max(least)).ln()
}
