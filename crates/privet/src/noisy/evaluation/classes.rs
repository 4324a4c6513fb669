//! Counts of classes and scores, and the figures that follow from them.

use super::bins::{Edges, Typical};
use super::macro_f1::MacroF1;
use super::slopes::Noisy;
use crate::model::metrics::{Estimate, Figure, Metric, entropy, interval, most_probable};

/// Two classes: counts of (class, bin of the second class's probability), the first class's bins first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Binary {
    scores: Edges,
    /// The first bin that is called positive.
    cut: usize,
}

impl Binary {
    pub(super) fn new() -> Self {
        let scores = Edges::of_scores();
        let cut = scores.bin(0.5) + 1;
        Self { scores, cut }
    }

    pub(super) fn dimension(&self) -> usize {
        2 * self.scores.bins()
    }

    pub(super) fn cell(&self, label: u16, probabilities: &[f32]) -> usize {
        // What is not a number is never called positive.
        let score = Some(probabilities[1]).filter(|p| !p.is_nan()).unwrap_or(0.0);
        usize::from(label.min(1)) * self.scores.bins() + self.scores.bin(score.into())
    }

    pub(super) fn rows(&self, noisy: &Noisy) -> Estimate {
        noisy.rows()
    }

    fn is_positive(&self, cell: usize) -> bool {
        cell >= self.scores.bins()
    }

    fn is_called_positive(&self, cell: usize) -> bool {
        cell % self.scores.bins() >= self.cut
    }

    pub(super) fn figures(&self, noisy: &Noisy) -> Vec<Figure> {
        let rows = noisy.significant(|_| 1.0);
        let positives: f64 = noisy.counts[self.scores.bins()..].iter().sum();
        let share = rows.map(|rows| (positives / rows).clamp(0.0, 1.0));
        let right = |cell| self.is_positive(cell) == self.is_called_positive(cell);
        let auc = self.auc(noisy);
        vec![
            Figure::new(
                Metric::Accuracy,
                rows.and_then(|rows| accuracy(noisy, rows, right)),
                share.map(|share| share.max(1.0 - share)),
            ),
            Figure::new(Metric::Auc, auc, auc.map(|_| 0.5)),
            Figure::new(
                Metric::LogLoss,
                rows.and_then(|rows| log_loss(noisy, rows, &self.losses())),
                share.map(|share| entropy(&[share, 1.0 - share])),
            ),
            Figure::new(
                Metric::F1,
                self.f1(noisy),
                share.map(|share| 2.0 * share / (1.0 + share)),
            ),
        ]
    }

    /// The loss in each cell.
    fn losses(&self) -> Vec<Typical> {
        let first = self.scores.bounds().map(|(from, to)| (1.0 - to, 1.0 - from));
        first.chain(self.scores.bounds()).map(Typical::log_loss).collect()
    }

    /// Pairs in the same bin count half, whatever their true order: the bins can change the area by half their share.
    fn auc(&self, noisy: &Noisy) -> Option<Estimate> {
        let bins = self.scores.bins();
        let [first, second] = [noisy.part(0, bins), noisy.part(bins, 2 * bins)];
        let (negatives, positives) = (first.significant(|_| 1.0)?, second.significant(|_| 1.0)?);
        let pairs = negatives * positives;
        // For each bin, rows of the other class that a row of it beats, or is beaten by.
        let beats = below(first.counts.iter().copied());
        let mut beaten = below(second.counts.iter().rev().copied());
        beaten.reverse();
        let won = beats
            .iter()
            .zip(&second.counts)
            .map(|(beats, count)| beats * count);
        let area = won.sum::<f64>() / pairs;
        let tied = first.counts.iter().zip(&second.counts);
        let tied: f64 = tied.map(|(a, b)| a.max(0.0) * b.max(0.0)).sum();
        noisy.estimate(Metric::Auc, area, tied / pairs / 2.0, |cell| {
            if cell < bins {
                (beaten[cell] - area * positives) / pairs
            } else {
                (beats[cell - bins] - area * negatives) / pairs
            }
        })
    }

    fn f1(&self, noisy: &Noisy) -> Option<Estimate> {
        let hit = |cell| self.is_positive(cell) && self.is_called_positive(cell);
        let either = |cell| self.is_positive(cell) || self.is_called_positive(cell);
        let union = noisy.significant(|cell| f64::from(u8::from(either(cell))))?;
        let counts = noisy.counts.iter().enumerate();
        let hits: f64 = counts
            .filter(|(cell, _)| hit(*cell))
            .map(|(_, count)| count)
            .sum();
        let share = (hits / union).clamp(0.0, 1.0);
        let noise = noisy.noise(|cell| match (hit(cell), either(cell)) {
            (true, _) => (1.0 - share) / union,
            (false, true) => share / union,
            (false, false) => 0.0,
        });
        interval::f1(share, union, noise)
    }
}

/// For each count, the sum of those before it and half of itself.
fn below(counts: impl Iterator<Item = f64>) -> Vec<f64> {
    counts
        .scan(0.0, |before, count| {
            let here = *before + count / 2.0;
            *before += count;
            Some(here)
        })
        .collect()
}

fn accuracy(noisy: &Noisy, rows: f64, right: impl Fn(usize) -> bool) -> Option<Estimate> {
    let counts = noisy.counts.iter().enumerate();
    let hits: f64 = counts
        .filter(|(cell, _)| right(*cell))
        .map(|(_, count)| count)
        .sum();
    let share = (hits / rows).clamp(0.0, 1.0);
    let noise = noisy.noise(|cell| (f64::from(u8::from(right(cell))) - share) / rows);
    Estimate::within(Metric::Accuracy, share, interval::wilson(share, rows, noise))
}

fn log_loss(noisy: &Noisy, rows: f64, losses: &[Typical]) -> Option<Estimate> {
    let (value, off) = noisy.mean(rows, losses);
    noisy.estimate(Metric::LogLoss, value, off, |cell| {
        (losses[cell].value - value) / rows
    })
}

/// K classes: counts of (class, predicted class), then of the bins of the right class's probability.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Several {
    classes: usize,
    scores: Edges,
}

impl Several {
    pub(super) fn new(classes: usize) -> Self {
        Self {
            classes,
            scores: Edges::of_scores(),
        }
    }

    fn pairs(&self) -> usize {
        self.classes * self.classes
    }

    pub(super) fn dimension(&self) -> usize {
        self.pairs() + self.scores.bins()
    }

    pub(super) fn cells(&self, label: u16, probabilities: &[f32]) -> [usize; 2] {
        let label = usize::from(label).min(self.classes - 1);
        let score = Some(probabilities[label]).filter(|p| !p.is_nan()).unwrap_or(0.0);
        [
            label * self.classes + most_probable(probabilities),
            self.pairs() + self.scores.bin(score.into()),
        ]
    }

    /// The two blocks: pairs of classes, and scores.
    fn blocks(&self, noisy: &Noisy) -> [Noisy; 2] {
        [
            noisy.part(0, self.pairs()),
            noisy.part(self.pairs(), self.dimension()),
        ]
    }

    /// From the block with less noise.
    pub(super) fn rows(&self, noisy: &Noisy) -> Estimate {
        let [pairs, scores] = self.blocks(noisy);
        if self.pairs() < self.scores.bins() {
            pairs.rows()
        } else {
            scores.rows()
        }
    }

    pub(super) fn figures(&self, noisy: &Noisy) -> Vec<Figure> {
        let [pairs, scores] = self.blocks(noisy);
        let rows = pairs.significant(|_| 1.0);
        let labels = pairs
            .counts
            .chunks(self.classes)
            .map(|row| row.iter().sum::<f64>());
        let labels: Vec<f64> = labels.map(|count| count.max(0.0)).collect();
        let all: f64 = labels.iter().sum();
        let shares: Vec<f64> = labels.iter().map(|count| count / all).collect();
        let best = rows.map(|_| shares.iter().copied().fold(0.0, f64::max));
        let losses: Vec<Typical> = self.scores.bounds().map(Typical::log_loss).collect();
        let right = |cell| cell / self.classes == cell % self.classes;
        vec![
            Figure::new(
                Metric::Accuracy,
                rows.and_then(|rows| accuracy(&pairs, rows, right)),
                best,
            ),
            Figure::new(
                Metric::LogLoss,
                scores
                    .significant(|_| 1.0)
                    .and_then(|rows| log_loss(&scores, rows, &losses)),
                rows.map(|_| entropy(&shares)),
            ),
            MacroF1::of(&pairs, self.classes).figure(best),
        ]
    }

    /// What else a reader should know of these counts.
    pub(super) fn note(&self, noisy: &Noisy) -> Option<String> {
        MacroF1::of(&self.blocks(noisy)[0], self.classes).note()
    }
}
