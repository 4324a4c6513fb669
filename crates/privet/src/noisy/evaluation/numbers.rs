//! Counts of labels and errors, and the figures that follow from them.

use super::bins::{Edges, Typical};
use super::slopes::{Noisy, SIGNIFICANT};
use crate::model::metrics::{Estimate, Figure, Metric, interval, shown};

/// A number: counts of the label's bins, then of the absolute error's.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    min: f64,
    max: f64,
    labels: Edges,
    errors: Edges,
}

/// A mean over counts of distances, the near ones first.
struct Mean {
    /// What is likeliest: the quiet bins count as far as they have rows.
    value: f64,
    /// Over the other bins.
    base: f64,
    /// How far the bins can put it off.
    off: f64,
    /// How much higher than `base` it can be for large distances that the noise hides.
    hidden: f64,
    /// How far noise puts off a mean over all bins, in one standard error.
    noise: f64,
    rows: f64,
    typical: Vec<Typical>,
    /// The counts of the bins below the quiet ones.
    head: Noisy,
}

impl Mean {
    fn of(mut typical: Vec<Typical>, counts: &Noisy) -> Option<Self> {
        let quiet = counts.quiet_from();
        let [head, tail] = [counts.part(0, quiet), counts.part(quiet, typical.len())];
        let rows = head.significant(|_| 1.0)?;
        let beyond = typical.split_off(quiet);
        let (base, off) = head.mean(rows, &typical);
        let most = |cell: usize| beyond[cell].value + beyond[cell].off;
        let tailed: f64 = (0..beyond.len()).map(|cell| tail.counts[cell] * most(cell)).sum();
        let hidden = (tailed + interval::Z * tail.noise(most).sqrt()).max(0.0) / rows;
        let noise = head.noise(|cell| typical[cell].value) + tail.noise(|cell| beyond[cell].value);
        // Dropping the tail would make every model and every constant look better than it is.
        let tailed = tail.mean(rows, &beyond).0.clamp(0.0, hidden);
        // A mean that the noise makes negative says nothing.
        (base >= 0.0).then_some(Self {
            value: base + tailed,
            base,
            off,
            hidden,
            noise: noise.sqrt() / rows,
            rows,
            typical,
            head,
        })
    }

    /// Whether the rows in bins that are not quiet add more than the noise of all bins does.
    fn is_seen(&self) -> bool {
        self.base > self.noise
    }

    fn slope(&self, cell: usize) -> f64 {
        (self.typical[cell].value - self.base) / self.rows
    }

    /// How far sampling and noise reach to either side.
    fn reach(&self) -> f64 {
        let slope = |cell| self.slope(cell);
        interval::Z * (self.head.noise(slope) + self.head.sampling(slope)).sqrt()
    }

    /// The value and the ends of its interval, none below zero or beyond what is possible.
    fn within(&self, most: f64) -> [f64; 3] {
        let low = self.base - self.reach() - self.off;
        let high = self.base + self.reach() + self.off + self.hidden;
        [self.value, low, high].map(|x| x.clamp(0.0, most))
    }

    /// Of distances of `most` at the most.
    fn absolute(&self, most: f64) -> Option<Estimate> {
        let [value, low, high] = self.within(most);
        Estimate::within(Metric::Mae, value, (low, high))
    }

    /// Of the squares of such distances.
    fn root(&self, most: f64) -> Option<Estimate> {
        let [value, low, high] = self.within(most * most).map(f64::sqrt);
        Estimate::within(Metric::Rmse, value, (low, high))
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
        let range = self.max - self.min;
        let mean =
            |loss: fn((f64, f64)) -> Typical| Mean::of(self.errors.bounds().map(loss).collect(), &errors);
        let square = mean(Typical::square);
        let spread = self.spread(&labels);
        let explained = square
            .as_ref()
            .zip(spread.as_ref())
            .and_then(|(square, spread)| self.explained(&labels, square, spread));
        let [absolute_constant, square_constant] = self.constants(&labels).map(|constant| {
            let seen = constant.filter(|(_, is_seen)| *is_seen);
            seen.map(|(estimate, _)| estimate.value)
        });
        vec![
            Figure::new(
                Metric::Mae,
                mean(Typical::number).and_then(|mean| mean.absolute(range)),
                absolute_constant,
            ),
            Figure::new(
                Metric::Rmse,
                square.as_ref().and_then(|mean| mean.root(range)),
                square_constant,
            ),
            Figure::new(Metric::R2, explained, explained.map(|_| 0.0)),
        ]
    }

    /// MAE of the median and RMSE of the mean, judged as the model is: with intervals, and with their tails; and whether there is more to be
    /// seen than noise.
    fn constants(&self, labels: &Noisy) -> [Option<(Estimate, bool)>; 2] {
        // No spread is larger than that of two ends with half of the rows each.
        let most = (self.max - self.min) / 2.0;
        let Some((median, mean)) = self.centres(labels) else {
            return [None, None];
        };
        let absolute = self.of_constant(labels, median, Typical::number);
        let square = self.of_constant(labels, mean, Typical::square);
        [
            absolute.and_then(|mean| Some((mean.absolute(most)?, mean.is_seen()))),
            square.and_then(|mean| Some((mean.root(most)?, mean.is_seen()))),
        ]
    }

    /// The errors of one answer for all rows: the labels' distances from it.
    fn of_constant(&self, labels: &Noisy, answer: f64, loss: fn((f64, f64)) -> Typical) -> Option<Mean> {
        let distances = self.labels.bounds().map(|(from, to)| {
            let [near, far] = [from, to].map(|end| (end - answer).abs());
            let inside = (from..=to).contains(&answer);
            (if inside { 0.0 } else { near.min(far) }, near.max(far))
        });
        let mut bins: Vec<((f64, f64), f64)> = distances.zip(labels.counts.iter().copied()).collect();
        bins.sort_by(|a, b| a.0.1.total_cmp(&b.0.1));
        let (distances, counts): (Vec<_>, Vec<_>) = bins.into_iter().unzip();
        Mean::of(distances.into_iter().map(loss).collect(), &labels.with(counts))
    }

    /// The median and the mean, over the bins between the quiet ones at both ends.
    fn centres(&self, labels: &Noisy) -> Option<(f64, f64)> {
        let last = labels.quiet_from();
        let reversed = labels.with(labels.counts.iter().rev().copied().collect());
        let first = labels.counts.len() - reversed.quiet_from();
        if first >= last {
            return None;
        }
        let rows = labels.part(first, last).significant(|_| 1.0)?;
        let middles = self.middles();
        let bins = || middles[first..last].iter().zip(&labels.counts[first..last]);
        let mean = bins().map(|(middle, count)| middle * count).sum::<f64>() / rows;
        let below = bins().scan(0.0, |below, (middle, count)| {
            *below += count;
            Some((*below, *middle))
        });
        let median = { below }.find(|(below, _)| *below >= rows / 2.0)?.1;
        // Noise may put the mean outside of all bins.
        Some((median, mean.clamp(self.min, self.max)))
    }

    /// What else a reader should know of these counts.
    pub(super) fn note(&self, noisy: &Noisy) -> Option<String> {
        let [Some(absolute), Some(square)] = self.constants(&self.blocks(noisy)[0]) else {
            return None;
        };
        let between =
            |(estimate, _): (Estimate, bool)| format!("{} to {}", shown(estimate.low), shown(estimate.high));
        Some(format!(
            "The constant has such intervals too: MAE {}, RMSE {}.",
            between(absolute),
            between(square)
        ))
    }

    fn middles(&self) -> Vec<f64> {
        self.labels.bounds().map(|(from, to)| (from + to) / 2.0).collect()
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
    fn explained(&self, labels: &Noisy, square: &Mean, spread: &Spread) -> Option<Estimate> {
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
        let worst = (square.base + square.off + square.hidden) / (deviation - half).powi(2);
        let best = (square.base - square.off).max(0.0) / (deviation + half).powi(2);
        Estimate::within(Metric::R2, 1.0 - ratio, (1.0 - worst - reach, 1.0 - best + reach))
    }
}
