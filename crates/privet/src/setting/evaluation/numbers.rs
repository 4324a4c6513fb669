//! Counts of labels and errors, and the figures that follow from them.

use super::bins::{Edges, Typical};
use super::slopes::Noisy;
use crate::model::metrics::{Estimate, Figure, Metric, interval};

/// A number: counts of the label's bins, then of the absolute error's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    min: f64,
    max: f64,
    labels: Edges,
    errors: Edges,
}

/// A mean of the errors' block: its value, how far the bins can put it off, and its slopes times the number of rows.
struct Mean<'a> {
    value: f64,
    off: f64,
    rows: f64,
    typical: &'a [Typical],
}

impl Mean<'_> {
    fn slope(&self, cell: usize) -> f64 {
        (self.typical[cell].value - self.value) / self.rows
    }
}

/// The labels' variance, by the middles of their bins.
struct Spread {
    mean: f64,
    variance: f64,
    rows: f64,
}

impl Numbers {
    pub(super) fn new(min: f64, max: f64) -> Self {
        Self {
            min,
            max,
            labels: Edges::of_labels(min, max),
            errors: Edges::of_errors(max - min),
        }
    }

    pub(super) fn dimension(&self) -> usize {
        self.labels.bins() + self.errors.bins()
    }

    pub(super) fn cells(&self, label: f32, value: f32) -> [usize; 2] {
        let [label, value] = [label, value].map(|x| f64::from(x).clamp(self.min, self.max));
        [
            self.labels.bin(label),
            self.labels.bins() + self.errors.bin((label - value).abs()),
        ]
    }

    /// The two blocks: labels and errors.
    fn blocks(&self, noisy: &Noisy) -> [Noisy; 2] {
        let labels = self.labels.bins();
        [noisy.part(0, labels), noisy.part(labels, self.dimension())]
    }

    pub(super) fn rows(&self, noisy: &Noisy) -> Estimate {
        self.blocks(noisy)[1].rows()
    }

    pub(super) fn figures(&self, noisy: &Noisy) -> Vec<Figure> {
        let [labels, errors] = self.blocks(noisy);
        let absolute: Vec<Typical> = self.errors.bounds().map(Typical::number).collect();
        let squares: Vec<Typical> = self.errors.bounds().map(Typical::square).collect();
        let rows = errors.audible(|_| 1.0);
        let mean = |typical| {
            rows.map(|rows| {
                let (value, off) = errors.mean(rows, typical);
                Mean {
                    value,
                    off,
                    rows,
                    typical,
                }
            })
        };
        let (absolute, square) = (mean(&absolute), mean(&squares));
        let spread = self.spread(&labels);
        let square = square.filter(|square| square.value > 0.0);
        let explained = square
            .as_ref()
            .zip(spread.as_ref())
            .and_then(|(square, spread)| self.explained([&labels, &errors], square, spread));
        let positive = |x: f64| x.max(0.0);
        vec![
            Figure {
                metric: Metric::Mae,
                estimate: absolute.and_then(|mean| {
                    errors.estimate(Metric::Mae, mean.value, mean.off, |cell| mean.slope(cell))
                }),
                constant: self.median_error(&labels).map(positive),
            },
            Figure {
                metric: Metric::Rmse,
                estimate: square.as_ref().and_then(|square| root(&errors, square)),
                constant: spread.map(|spread| positive(spread.variance).sqrt()),
            },
            Figure {
                metric: Metric::R2,
                estimate: explained,
                constant: explained.map(|_| 0.0),
            },
        ]
    }

    fn middles(&self) -> Vec<f64> {
        self.labels.bounds().map(|(from, to)| (from + to) / 2.0).collect()
    }

    /// The mean absolute error of the best middle of a bin.
    fn median_error(&self, labels: &Noisy) -> Option<f64> {
        let rows = labels.audible(|_| 1.0)?;
        let middles = self.middles();
        let error = |constant: &f64| {
            let all = middles.iter().zip(labels.counts());
            all.map(|(middle, count)| count * (middle - constant).abs())
                .sum::<f64>()
                / rows
        };
        middles.iter().map(error).min_by(f64::total_cmp)
    }

    fn spread(&self, labels: &Noisy) -> Option<Spread> {
        let rows = labels.audible(|_| 1.0)?;
        let middles = self.middles();
        let mean_of = |f: &dyn Fn(f64) -> f64| {
            let all = middles.iter().zip(labels.counts());
            all.map(|(middle, count)| count * f(*middle)).sum::<f64>() / rows
        };
        let mean = mean_of(&|x| x);
        Some(Spread {
            mean,
            variance: mean_of(&|x| (x - mean).powi(2)),
            rows,
        })
    }

    /// R². The bins can put a label off by half a bin, and so the labels' standard deviation.
    fn explained(
        &self,
        [labels, errors]: [&Noisy; 2],
        square: &Mean<'_>,
        spread: &Spread,
    ) -> Option<Estimate> {
        let half = (self.max - self.min) / 64.0 / 2.0;
        let middles = self.middles();
        let of_labels = |cell: usize| ((middles[cell] - spread.mean).powi(2) - spread.variance) / spread.rows;
        let deviation = spread.variance.max(0.0).sqrt();
        // A variance that the noise or the bins hide divides nothing.
        if deviation <= 2.0 * half || spread.variance <= 5.0 * labels.noise(of_labels).sqrt() {
            return None;
        }
        let ratio = square.value / spread.variance;
        let by_errors = |cell| -square.slope(cell) / spread.variance;
        let by_labels = |cell| ratio * of_labels(cell) / spread.variance;
        let noise = errors.noise(by_errors) + labels.noise(by_labels);
        // Which error goes with which label is not known: the two standard errors add up at the worst.
        let sampling = errors.sampling(by_errors).sqrt() + labels.sampling(by_labels).sqrt();
        let reach = interval::Z * noise.sqrt().hypot(sampling);
        let worst = (square.value + square.off) / (deviation - half).powi(2);
        let best = (square.value - square.off).max(0.0) / (deviation + half).powi(2);
        Estimate::within(Metric::R2, 1.0 - ratio, (1.0 - worst - reach, 1.0 - best + reach))
    }
}

fn root(errors: &Noisy, square: &Mean<'_>) -> Option<Estimate> {
    let value = square.value.sqrt();
    let slope = |cell| square.slope(cell) / (2.0 * value);
    let reach = interval::Z * (errors.noise(slope) + errors.sampling(slope)).sqrt();
    let least = (square.value - square.off).max(0.0).sqrt();
    let most = (square.value + square.off).sqrt();
    Estimate::within(Metric::Rmse, value, (least - reach, most + reach))
}
