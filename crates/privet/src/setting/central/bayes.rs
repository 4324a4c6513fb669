//! Naive Bayes from noisy histograms, on top of the public classifier's log-odds.
//!
//! Not in the paper: measured to beat it wherever features are categories or bins (`docs/papers.md`). Every private feature is
//! counted by class, once; all counts are one release. Where there are rows enough, their log-odds are recalibrated by a second.

use super::rows::{CuratorRows, Matrix};
use super::select::Base;
use super::{Algorithm, Balance, Facts, Resolved, Run, TrainOnRows, noise, recalibration};
use crate::Error;
use crate::boost::{CountedTerm, Ensemble, Link};
use crate::learner::{Linear, Shape, Term};
use crate::parameters::parameters;
use crate::privacy::mechanism::{Laplace, Mechanism};
use crate::privacy::{Anchor, Epsilon, Norm, Query, Sensitivity};

/// With so many rows times ε and more, a tenth of ε buys a recalibration that is worth it.
const ENOUGH: f64 = 4000.0;
/// What is kept of a part that noise alone would explain.
const LEAST_KEPT: f64 = 0.2;
/// What is believed of scores that noise alone would explain: their order.
const LEAST_BELIEVED: f64 = 0.02;

parameters! {
    /// Parameters of naive Bayes from histograms.
    pub struct HistogramBayes("histogram-bayes") {
        /// Bins of a number that are counted, at most: neighbouring bins of the schema are counted together.
        bins: u32 = 10, in 1..=1000;
        /// Whether log-odds are recalibrated, for a tenth of ε; they are if not given, where there are rows enough and classes are not balanced.
        calibrate: Option<bool> = None;
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

/// The cells of one feature's histogram.
pub(super) struct Histogram {
    pub(super) feature: usize,
    /// The cell of each slot.
    pub(super) cells: Vec<usize>,
    pub(super) count: usize,
    /// How many cells come first and have an order.
    ordered: usize,
}

impl Algorithm for HistogramBayes {
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        // Nobody knows how private numbers are spread. Beside public labels the usual bins were measured.
        let spread = !facts.has_public_label();
        let shapes = match spread {
            true => Shape::of(&facts.schema.spread()),
            false => Shape::of(&facts.schema),
        };
        let cells: Vec<usize> = facts
            .private_features()
            .map(|(place, _)| self.cells(&shapes[place]))
            .collect();
        let (counts, calibration) = self.prices(facts)?;
        let law = Laplace::calibrated(counts, facts.relation.steps() * cells.len() as u64)?;
        let off = law.variance().sqrt();
        // Of a cell of average size, smoothed as the model does it, and its twin of the other class.
        let smooth = law.scale().to_f64() + 5.0;
        let terms = cells.iter().map(|&cells| {
            let rows = facts.budget.rows as f64 / 2.0 / cells as f64 + smooth;
            2.0 * law.variance() / rows / rows
        });
        let mut noise = vec![
            format!(
                "{} columns are counted by class; noise adds an error of {} rows to each count (one standard error). What fewer rows have in common is lost.",
                cells.len(),
                noise::whole(off)
            ),
            format!(
                "Noise adds an error of about {:.2} to a row's log-odds, if its values are neither rare nor frequent.",
                terms.sum::<f64>().sqrt()
            ),
        ];
        if let Some(price) = calibration {
            noise.push(format!(
                "ε = {price} of it counts rows by score and class then, so that probabilities are right on average (calibrate = false turns this off)."
            ));
        }
        let filled = Self {
            calibrate: self.calibrate.or(calibration.map(|_| true)),
            ..self.clone()
        };
        Ok(Resolved {
            spread,
            ..Resolved::new(&filled, facts, noise, filled.clone())
        })
    }
}

impl TrainOnRows for HistogramBayes {
    /// # Privacy
    /// Pure ε, in one release of all counts; `docs/proofs/central.md#histograms`.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error> {
        run.at(0, 1)?;
        let base = Base::new(rows);
        let histograms: Vec<Histogram> = rows
            .coordinates
            .iter()
            .map(|coordinate| self.histogram(coordinate.feature, &coordinate.shape))
            .collect();
        let dimension: usize = histograms.iter().map(|histogram| 2 * histogram.count).sum();
        let relation = run.ledger.relation().clone();
        let l1 = relation.steps() * histograms.len() as u64;
        let claim =
            Sensitivity::claim(&relation, Norm::L1(l1), Anchor::new("central#histograms"))?.also_added();
        let query = Query::new(dimension, claim, || {
            rows.matrix.as_ref().map(|matrix| count(matrix, &histograms))
        });
        let (counted, calibrated) = self.prices(run.facts)?;
        let mechanism = Laplace::calibrated(counted, l1)?;
        let what = format!("counts of {} columns by class", histograms.len());
        let counts = run.ledger.release(&what, &mechanism, query)?.into_inner();
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
        // A value that hardly any row has says nothing: its odds are drawn towards those of all rows. Beside public labels even odds were measured.
        let usual = if rows.public.is_some() { 0.0 } else { prior };
        let mut rest = counts.as_slice();
        let parts = histograms.iter().map(|histogram| {
            let (own, others) = rest.split_at(2 * histogram.count);
            rest = others;
            Odds::new(own, (scale, mechanism.variance()), usual).parts(histogram.ordered)
        });
        let parts: Vec<Parts> = parts.collect();
        // Rows by score would say how far scores are believed. Where they are too few to be counted, it is what noise leaves of all columns together.
        let believed = match calibrated.is_none() && rows.public.is_none() {
            true => believed(&parts),
            false => 1.0,
        };
        let mut of_features = vec![None; linear.terms.len()];
        for (histogram, parts) in histograms.iter().zip(&parts) {
            of_features[histogram.feature] = Some(parts.counted());
            let terms = parts.shrunk();
            let slots = histogram
                .cells
                .iter()
                .map(|&cell| believed * terms[cell])
                .collect();
            linear.terms[histogram.feature] = Term::Slots(slots);
        }
        let calibration = match calibrated {
            Some(epsilon) => Some(recalibration::of(
                &linear,
                rows,
                (run.ledger, epsilon),
                linear.intercept,
            )?),
            None => None,
        };
        Ok(Ensemble {
            calibration,
            counted: of_features,
            ..Ensemble::of_sum(Link::Logistic, linear)
        })
    }
}

impl HistogramBayes {
    /// So many bins of a number are counted, at most.
    pub(super) const fn of(bins: u32) -> Self {
        Self {
            bins,
            calibrate: Some(false),
            balance: Balance(false),
        }
    }

    /// What the counts of all columns cost, and what a recalibration does if there is one: nine tenths and one.
    fn prices(&self, facts: &Facts) -> Result<(Epsilon, Option<Epsilon>), Error> {
        let all = facts.budget.epsilon;
        let enough = 2.0 * all.to_f64() * facts.budget.rows as f64 / facts.relation.steps() as f64 >= ENOUGH;
        if !self.calibrate.unwrap_or(enough && !facts.balanced) {
            return Ok((all, None));
        }
        let tenth = facts.budget.share(10)?;
        let rest = Epsilon::from_billionths(all.billionths() - tenth.billionths());
        Ok((rest, Some(tenth)))
    }

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
                ordered: shape.ordered,
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
            ordered: most,
        }
    }
}

/// The log-odds of one column's cells, as noisy counts tell them.
struct Odds {
    values: Vec<f64>,
    /// The variance of each that noise and chance make up.
    variances: Vec<f64>,
    /// About how many rows each cell has.
    sizes: Vec<f64>,
}

impl Odds {
    /// From the cells of the first class, then of the second. Counts are smoothed by as much as their noise, so that cells of
    /// noise alone have the usual log-odds.
    fn new(counts: &[i64], (scale, variance): (f64, f64), usual: f64) -> Self {
        let (negative, positive) = counts.split_at(counts.len() / 2);
        let share = 1.0 / (1.0 + (-usual).exp());
        let smooth = |count: i64, share: f64| count.max(0) as f64 + 2.0 * share * (scale + 5.0);
        let pairs = || {
            let each = negative.iter().zip(positive);
            each.map(|(&n, &p)| (smooth(n, 1.0 - share), smooth(p, share)))
        };
        Self {
            values: pairs().map(|(n, p)| (p / n).ln()).collect(),
            variances: pairs()
                .map(|(n, p)| variance / (n * n) + variance / (p * p) + 1.0 / n + 1.0 / p)
                .collect(),
            sizes: pairs()
                .map(|(n, p)| (n + p - 2.0 * (scale + 5.0)).max(1.0))
                .collect(),
        }
    }

    /// The values as a level, a slope over the cells that have an order, and the remainder.
    fn parts(&self, ordered: usize) -> Parts {
        let total: f64 = self.sizes.iter().sum();
        let shares: Vec<f64> = self.sizes.iter().map(|size| size / total).collect();
        let cells = 0..self.values.len();
        let mean = |of: &dyn Fn(usize) -> f64| cells.clone().map(|cell| shares[cell] * of(cell)).sum::<f64>();
        let variance = |of: &dyn Fn(usize) -> f64| {
            let each = cells.clone().map(|cell| of(cell).powi(2) * self.variances[cell]);
            each.sum::<f64>()
        };
        // Cells without an order lie in the middle of it.
        let place = |cell: usize| match ordered {
            2.. if cell < ordered => 2.0 * cell as f64 / (ordered - 1) as f64 - 1.0,
            _ => 0.0,
        };
        let level = mean(&|cell| self.values[cell]);
        let middle = mean(&place);
        let spread = mean(&|cell| (place(cell) - middle).powi(2));
        let slope = match spread > 0.0 {
            true => mean(&|cell| (place(cell) - middle) * (self.values[cell] - level)) / spread,
            false => 0.0,
        };
        let line: Vec<f64> = cells.clone().map(|cell| slope * (place(cell) - middle)).collect();
        let rest: Vec<f64> = cells
            .clone()
            .map(|cell| self.values[cell] - level - line[cell])
            .collect();
        let slope_noise = match spread > 0.0 {
            true => spread * variance(&|cell| shares[cell] * (place(cell) - middle) / spread),
            false => 0.0,
        };
        let level_noise = variance(&|cell| shares[cell]);
        let all_noise = mean(&|cell| self.variances[cell]);
        Parts {
            squares: [spread * slope * slope, mean(&|cell| rest[cell].powi(2))],
            noise: [slope_noise, (all_noise - slope_noise - level_noise).max(0.0)],
            // Of squares of independent errors; that their mean is taken off is a little less.
            spread: mean(&|cell| 2.0 * shares[cell] * self.variances[cell].powi(2)),
            line,
            rest,
        }
    }
}

/// A column's log-odds in parts that noise explains to different degrees.
struct Parts {
    line: Vec<f64>,
    rest: Vec<f64>,
    /// The mean square of the line and of the rest over the rows.
    squares: [f64; 2],
    /// As much of them as noise and chance make up.
    noise: [f64; 2],
    /// The variance of that over both.
    spread: f64,
}

impl Parts {
    /// How far the column stands out from noise and chance.
    fn counted(&self) -> CountedTerm {
        CountedTerm {
            variance: self.squares.iter().sum(),
            by_noise: self.noise.iter().sum(),
            spread: self.spread,
        }
    }

    /// The column's terms: of line and rest, as much is kept as noise does not explain, and never less than a little: a weak
    /// column is still worth more than none. (James and Stein 1961 with a known variance; it follows from what was
    /// released.) The level is omitted: a column as a whole says nothing about the class, and its level is noise that
    /// every row would share.
    fn shrunk(&self) -> Vec<f64> {
        let [line, rest] = self.kept();
        let each = self.line.iter().zip(&self.rest);
        each.map(|(on, off)| line * on + rest * off).collect()
    }

    /// How much is kept of the line, and of the rest.
    fn kept(&self) -> [f64; 2] {
        [0, 1].map(|which| match self.squares[which] {
            square if square > 0.0 => (1.0 - self.noise[which] / square).max(LEAST_KEPT),
            _ => 0.0,
        })
    }
}

/// Which part of the mean square of all columns' terms noise does not explain. The little that is kept of every weak column orders rows better than nothing; but
/// many of them together make scores that are large, and say nothing. What noise adds beyond its mean in one column, it lacks in another.
fn believed(columns: &[Parts]) -> f64 {
    let (mut all, mut by_noise) = (0.0, 0.0);
    for parts in columns {
        for ((kept, square), noise) in parts.kept().iter().zip(parts.squares).zip(parts.noise) {
            all += kept * kept * square;
            by_noise += kept * kept * noise;
        }
    }
    match all > 0.0 {
        true => (1.0 - by_noise / all).max(LEAST_BELIEVED),
        false => 1.0,
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
/// deviations of their noise, since it is taken off every feature's term. Each column counts all rows; those with few cells do so with the least noise.
fn prior(counts: &[i64], histograms: &[Histogram], variance: f64) -> f64 {
    let mut rest = counts;
    let (mut sums, mut weights) = ([0.0; 2], 0.0);
    for histogram in histograms {
        let (own, others) = rest.split_at(2 * histogram.count);
        rest = others;
        let weight = 1.0 / histogram.count as f64;
        weights += weight;
        for (sum, cells) in sums.iter_mut().zip(own.chunks_exact(histogram.count)) {
            *sum += weight * cells.iter().map(|&count| count as f64).sum::<f64>();
        }
    }
    // Of the sum of either class; their difference has twice that variance.
    let noise = (weights * variance).sqrt();
    if (sums[1] - sums[0]).abs() < 3.0 * std::f64::consts::SQRT_2 * noise {
        return 0.0;
    }
    let least = noise.max(f64::MIN_POSITIVE);
    (sums[1].max(least) / sums[0].max(least)).ln()
}
