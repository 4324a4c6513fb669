//! Figures of predicted classes.

use super::auc::Area;
use super::interval::{self, mean, wilson};
use super::{Estimate, Figure, Figures, Metric, Report, most_probable};

/// Probabilities are clipped here, so that one certain and wrong prediction does not make everything infinite.
const CLIP: f64 = 1e-15;

/// One row: its class and the probabilities.
fn pairs<'a>(labels: &'a [u16], probabilities: &'a [f32], classes: usize) -> Vec<(usize, &'a [f32])> {
    let last = classes.max(1) - 1;
    let labels = labels.iter().map(|label| usize::from(*label).min(last));
    labels.zip(probabilities.chunks_exact(classes.max(1))).collect()
}

fn loss(probability: f32) -> f64 {
    let probability = Some(f64::from(probability))
        .filter(|p| !p.is_nan())
        .unwrap_or(0.0);
    -probability.clamp(CLIP, 1.0 - CLIP).ln()
}

fn log_loss(rows: &[(usize, &[f32])], shares: &[f64]) -> Figure {
    let losses = rows
        .iter()
        .map(|(label, probabilities)| loss(probabilities[*label]));
    let estimate = mean(losses).and_then(|(value, error)| Estimate::normal(Metric::LogLoss, value, error));
    let constant = (!rows.is_empty()).then(|| entropy(shares));
    Figure::new(Metric::LogLoss, estimate, constant)
}

/// The log loss of the classes' shares, taken as probabilities.
pub(crate) fn entropy(shares: &[f64]) -> f64 {
    let present = shares.iter().filter(|share| **share > 0.0);
    present.map(|share| -share * share.ln()).sum::<f64>().max(0.0)
}

/// How many rows of each class there are, how many were called so, and how many rightly.
struct Counted {
    labels: Vec<f64>,
    called: Vec<f64>,
    right: Vec<f64>,
}

impl Counted {
    fn of(rows: &[(usize, &[f32])], classes: usize) -> Self {
        let none = || vec![0.0; classes.max(1)];
        let (mut labels, mut called, mut right) = (none(), none(), none());
        for (label, probabilities) in rows {
            let guess = most_probable(probabilities);
            labels[*label] += 1.0;
            called[guess] += 1.0;
            if guess == *label {
                right[guess] += 1.0;
            }
        }
        Self {
            labels,
            called,
            right,
        }
    }

    fn accuracy(&self) -> Figure {
        let rows: f64 = self.labels.iter().sum();
        let share = self.right.iter().sum::<f64>() / rows;
        let estimate = || Estimate::within(Metric::Accuracy, share, wilson(share, rows, 0.0));
        Figure::new(
            Metric::Accuracy,
            (rows > 0.0).then(estimate).flatten(),
            (rows > 0.0).then(|| self.labels.iter().copied().fold(0.0, f64::max) / rows),
        )
    }

    fn shares(&self) -> Vec<f64> {
        let rows: f64 = self.labels.iter().sum();
        self.labels.iter().map(|count| count / rows).collect()
    }

    /// The rows of the smallest class that has any.
    fn fewest(&self) -> f64 {
        let present = self.labels.iter().copied().filter(|count| *count > 0.0);
        present.fold(f64::INFINITY, f64::min)
    }

    fn f1(&self, class: usize) -> f64 {
        2.0 * self.right[class] / (self.labels[class] + self.called[class])
    }
}

/// Two classes, the second being the positive one.
pub(super) fn binary(labels: &[u16], probabilities: &[f32]) -> Report {
    let rows = pairs(labels, probabilities, 2);
    let counted = Counted::of(&rows, 2);
    let scores: Vec<f32> = rows.iter().map(|(_, probabilities)| probabilities[1]).collect();
    let area = Area::of(&scores, rows.iter().map(|(label, _)| *label == 1).collect());
    // Rows that are or are called positive.
    let union = counted.labels[1] + counted.called[1] - counted.right[1];
    let positives = counted.shares()[1];
    let figures = vec![
        counted.accuracy(),
        Figure::new(
            Metric::Auc,
            area.as_ref().and_then(Area::estimate),
            area.as_ref().map(|_| 0.5),
        ),
        log_loss(&rows, &counted.shares()),
        Figure {
            metric: Metric::F1,
            estimate: (union > 0.0)
                .then(|| interval::f1(counted.right[1] / union, union, 0.0))
                .flatten(),
            constant: (counted.labels[1] > 0.0).then_some(2.0 * positives / (1.0 + positives)),
        },
    ];
    Report {
        rows: rows.len(),
        figures: Figures::new(figures),
    }
}

/// Any number of classes.
pub(super) fn several(labels: &[u16], probabilities: &[f32], classes: usize) -> Report {
    let rows = pairs(labels, probabilities, classes);
    let counted = Counted::of(&rows, classes);
    let figures = vec![
        counted.accuracy(),
        one_against_the_rest(&rows, &counted),
        log_loss(&rows, &counted.shares()),
        macro_f1(&rows, &counted),
    ];
    Report {
        rows: rows.len(),
        figures: Figures::new(figures),
    }
}

/// The mean area over classes that have a row.
fn one_against_the_rest(rows: &[(usize, &[f32])], counted: &Counted) -> Figure {
    let present = (0..counted.labels.len()).filter(|class| counted.labels[*class] > 0.0);
    let (mut influences, mut sum, mut areas) = (vec![0.0; rows.len()], 0.0, 0.0);
    for class in present {
        let scores: Vec<f32> = rows
            .iter()
            .map(|(_, probabilities)| probabilities[class])
            .collect();
        let positive = rows.iter().map(|(label, _)| *label == class).collect();
        if let Some(area) = Area::of(&scores, positive) {
            sum += area.value;
            areas += 1.0;
            influences
                .iter_mut()
                .zip(area.influences())
                .for_each(|(all, one)| *all += one);
        }
    }
    let error = influences.iter().map(|pull| pull * pull).sum::<f64>().sqrt() / areas;
    let estimate = || match sum / areas {
        // All in order: no variance is seen. The smallest class says how much that can mean.
        1.0 => Estimate::within(Metric::Auc, 1.0, wilson(1.0, counted.fewest(), 0.0)),
        area => Estimate::normal(Metric::Auc, area, error),
    };
    let estimate = (areas > 0.0).then(estimate).flatten();
    Figure::new(Metric::Auc, estimate, (areas > 0.0).then_some(0.5))
}

fn macro_f1(rows: &[(usize, &[f32])], counted: &Counted) -> Figure {
    let classes = 0..counted.labels.len();
    let occurring: Vec<usize> = classes
        .filter(|class| counted.labels[*class] + counted.called[*class] > 0.0)
        .collect();
    if occurring.is_empty() {
        return Figure::new(Metric::MacroF1, None, None);
    }
    let number = occurring.len() as f64;
    let value = occurring.iter().map(|class| counted.f1(*class)).sum::<f64>() / number;
    // How much a row pulls at its class's F1 and at that of the class it was called.
    let pull = |class: usize, right: f64| {
        (2.0 * right - counted.f1(class) * (1.0 + right)) / (counted.labels[class] + counted.called[class])
    };
    let variance: f64 = rows
        .iter()
        .map(|(label, probabilities)| {
            let guess = most_probable(probabilities);
            let pull = if guess == *label {
                pull(guess, 1.0)
            } else {
                pull(guess, 0.0) + pull(*label, 0.0)
            };
            (pull / number).powi(2)
        })
        .sum();
    let estimate = if value == 1.0 {
        interval::f1(1.0, counted.fewest(), 0.0)
    } else {
        Estimate::normal(Metric::MacroF1, value, variance.sqrt())
    };
    let present = counted.labels.iter().filter(|count| **count > 0.0);
    let best = counted.shares().iter().copied().fold(0.0, f64::max);
    let constant = 2.0 * best / (1.0 + best) / present.count() as f64;
    Figure::new(Metric::MacroF1, estimate, Some(constant))
}
