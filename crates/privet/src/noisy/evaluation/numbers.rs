//! Counts of labels and errors, and the figures that follow from them.

use super::bins::{Edges, Typical};
use super::slopes::{Noisy, SIGNIFICANT};
use crate::model::metrics::{Estimate, Figure, Metric, interval};

/// A number: counts of the label's bins, then of the absolute error's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    min: f64,
    max: f64,
    labels: Edges,
    errors: Edges,
}

/// A mean over the errors' block.
struct Mean<'a> {
    value: f64,
    /// How far the bins can put it off.
    off: f64,
    /// How much higher it can be for large errors that the noise hides.
    hidden: f64,
    rows: f64,
    typical: &'a [Typical],
    /// The counts of the bins below the quiet ones.
    head: &'a Noisy,
}

impl<'a> Mean<'a> {
    fn of(typical: &'a [Typical], head: &'a Noisy, tail: &Noisy) -> Option<Self> {
        let rows = head.significant(|_| 1.0)?;
        let (typical, beyond) = typical.split_at(head.counts.len());
        let (value, off) = head.mean(rows, typical);
        let most = |cell: usize| beyond[cell].value + beyond[cell].off;
        let counts = tail.counts.iter().enumerate();
        let tailed: f64 = counts.map(|(cell, count)| count * most(cell)).sum();
        let hidden = (tailed + interval::Z * tail.noise(most).sqrt()).max(0.0) / rows;
        Some(Self {
            value,
            off,
            hidden,
            rows,
            typical,
            head,
        })
    }

    fn slope(&self, cell: usize) -> f64 {
        (self.typical[cell].value - self.value) / self.rows
    }

    /// How far sampling and noise reach to either side.
    fn reach(&self) -> f64 {
        let slope = |cell| self.slope(cell);
        interval::Z * (self.head.noise(slope) + self.head.sampling(slope)).sqrt()
    }

    /// The ends of the interval, not below zero.
    fn ends(&self) -> (f64, f64) {
        let low = self.value - self.reach() - self.off;
        let high = self.value + self.reach() + self.off + self.hidden;
        (low.max(0.0), high.max(0.0))
    }

    fn absolute(&self) -> Option<Estimate> {
        Estimate::within(Metric::Mae, self.value, self.ends())
    }

    fn root(&self) -> Option<Estimate> {
        let (low, high) = self.ends();
        Estimate::within(Metric::Rmse, self.value.sqrt(), (low.sqrt(), high.sqrt()))
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
        let quiet = errors.quiet_from();
        let [head, tail] = [errors.part(0, quiet), errors.part(quiet, self.errors.bins())];
        let absolute: Vec<Typical> = self.errors.bounds().map(Typical::number).collect();
        let squares: Vec<Typical> = self.errors.bounds().map(Typical::square).collect();
        // A mean that the noise makes negative says nothing.
        let mean = |typical| Mean::of(typical, &head, &tail).filter(|mean| mean.value >= 0.0);
        let (absolute, square) = (mean(&absolute), mean(&squares));
        let spread = self.spread(&labels);
        let explained = square
            .as_ref()
            .zip(spread.as_ref())
            .and_then(|(square, spread)| self.explained(&labels, square, spread));
        let positive = |x: f64| x.max(0.0);
        vec![
            Figure::new(
                Metric::Mae,
                absolute.as_ref().and_then(Mean::absolute),
                self.median_error(&labels).map(positive),
            ),
            Figure::new(
                Metric::Rmse,
                square.as_ref().and_then(Mean::root),
                spread.map(|spread| positive(spread.variance).sqrt()),
            ),
            Figure::new(Metric::R2, explained, explained.map(|_| 0.0)),
        ]
    }

    fn middles(&self) -> Vec<f64> {
        self.labels.bounds().map(|(from, to)| (from + to) / 2.0).collect()
    }

    /// The mean absolute error of the best middle of a bin.
    fn median_error(&self, labels: &Noisy) -> Option<f64> {
        let rows = labels.significant(|_| 1.0)?;
        let middles = self.middles();
        let error = |constant: &f64| {
            let all = middles.iter().zip(&labels.counts);
            all.map(|(middle, count)| count * (middle - constant).abs())
                .sum::<f64>()
                / rows
        };
        middles.iter().map(error).min_by(f64::total_cmp)
    }

    fn spread(&self, labels: &Noisy) -> Option<Spread> {
        let rows = labels.significant(|_| 1.0)?;
        let middles = self.middles();
        let mean_of = |f: &dyn Fn(f64) -> f64| {
            let all = middles.iter().zip(&labels.counts);
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
    fn explained(&self, labels: &Noisy, square: &Mean<'_>, spread: &Spread) -> Option<Estimate> {
        let half = (self.max - self.min) / 64.0 / 2.0;
        let middles = self.middles();
        let of_labels = |cell: usize| ((middles[cell] - spread.mean).powi(2) - spread.variance) / spread.rows;
        let deviation = spread.variance.max(0.0).sqrt();
        // A variance that the noise or the bins hide divides nothing.
        if deviation <= 2.0 * half || spread.variance <= SIGNIFICANT * labels.noise(of_labels).sqrt() {
            return None;
        }
        let ratio = square.value / spread.variance;
        let by_errors = |cell| -square.slope(cell) / spread.variance;
        let by_labels = |cell| ratio * of_labels(cell) / spread.variance;
        let noise = square.head.noise(by_errors) + labels.noise(by_labels);
        // Which error goes with which label is not known: the two standard errors add up at the worst.
        let sampling = square.head.sampling(by_errors).sqrt() + labels.sampling(by_labels).sqrt();
        let reach = interval::Z * noise.sqrt().hypot(sampling);
        let worst = (square.value + square.off + square.hidden) / (deviation - half).powi(2);
        let best = (square.value - square.off).max(0.0) / (deviation + half).powi(2);
        Estimate::within(Metric::R2, 1.0 - ratio, (1.0 - worst - reach, 1.0 - best + reach))
    }
}
