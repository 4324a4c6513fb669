//! Macro F1 from noisy counts. Classes whose size the noise hides are not left out: the interval holds what they can add.

use super::slopes::Noisy;
use crate::model::metrics::{Estimate, Figure, Metric, interval};

/// What counts of (class, predicted class) tell of each class's F1.
pub(super) struct MacroF1<'a> {
    pairs: &'a Noisy,
    classes: usize,
    /// How often each class occurs, as label and as prediction together; nothing if the noise hides it.
    sizes: Vec<Option<f64>>,
}

impl<'a> MacroF1<'a> {
    pub(super) fn of(pairs: &'a Noisy, classes: usize) -> Self {
        let size = |class| pairs.significant(|cell| share_of(&[class], cell, classes));
        let sizes = (0..classes).map(size).collect();
        Self {
            pairs,
            classes,
            sizes,
        }
    }

    fn known(&self) -> usize {
        self.sizes.iter().flatten().count()
    }

    fn hidden(&self) -> Vec<usize> {
        (0..self.classes)
            .filter(|class| self.sizes[*class].is_none())
            .collect()
    }

    fn diagonal(&self, class: usize) -> usize {
        class * self.classes + class
    }

    /// `best` is the share of the most frequent class.
    pub(super) fn figure(&self, best: Option<f64>) -> Figure {
        let best = best.filter(|_| self.known() > 0);
        let constant = best.map(|best| 2.0 * best / (1.0 + best) / self.classes as f64);
        Figure::new(Metric::MacroF1, self.estimate(), constant)
    }

    /// That not all classes are known.
    pub(super) fn note(&self) -> Option<String> {
        let (known, all) = (self.known(), self.classes);
        (0 < known && known < all).then(|| {
            format!(
                "Macro F1 is known for {known} of {all} classes. The rest are too few rows for this ε: its interval \
                 allows what their counts do not rule out."
            )
        })
    }

    fn estimate(&self) -> Option<Estimate> {
        let known = self.known() as f64;
        if known == 0.0 {
            return None;
        }
        let f1 = |class: usize| {
            let right = self.pairs.counts[self.diagonal(class)];
            self.sizes[class].map_or(0.0, |size| (2.0 * right / size).clamp(0.0, 1.0))
        };
        let each: Vec<f64> = (0..self.classes).map(f1).collect();
        let sum: f64 = each.iter().sum();
        let pull = |class: usize, right: f64| {
            self.sizes[class].map_or(0.0, |size| (2.0 * right - each[class] * (1.0 + right)) / size)
        };
        let slope = |cell: usize| {
            let (label, called) = (cell / self.classes, cell % self.classes);
            if label == called {
                pull(label, 1.0)
            } else {
                pull(label, 0.0) + pull(called, 0.0)
            }
        };
        let reach = interval::Z * (self.pairs.noise(slope) + self.pairs.sampling(slope)).sqrt();
        let hidden = self.hidden();
        // A class that never occurs counts nowhere, so any of the hidden ones may be left out.
        let ends: (Vec<f64>, Vec<f64>) = hidden.iter().map(|class| self.ends(*class)).unzip();
        let low = lowest_mean(sum - reach, known, ends.0);
        let mirrored = ends.1.iter().map(|high| -high).collect();
        let high = -lowest_mean(-(sum + reach), known, mirrored);
        let rest = hidden.len() as f64 * self.pooled(&hidden);
        let value = (sum + rest) / self.classes as f64;
        Estimate::within(Metric::MacroF1, value.clamp(low, high), (low, high))
    }

    /// The F1 of several classes' rows together; zero if the noise hides these too.
    fn pooled(&self, classes: &[usize]) -> f64 {
        let size = self
            .pairs
            .significant(|cell| share_of(classes, cell, self.classes));
        let right = classes
            .iter()
            .map(|class| self.pairs.counts[self.diagonal(*class)]);
        let right: f64 = right.sum();
        size.map_or(0.0, |size| (2.0 * right / size).clamp(0.0, 1.0))
    }

    /// Between what the F1 of a class must lie, so that its right ones and its size are within their errors.
    fn ends(&self, class: usize) -> (f64, f64) {
        let diagonal = self.diagonal(class);
        let (right_low, right_high) = self.pairs.between(|cell| f64::from(u8::from(cell == diagonal)));
        let (size_low, size_high) = self.pairs.between(|cell| share_of(&[class], cell, self.classes));
        let ratio = |right: f64, size: f64| {
            if size > 0.0 {
                (2.0 * right / size).min(1.0)
            } else {
                1.0
            }
        };
        let low = if right_low > 0.0 {
            ratio(right_low, size_high)
        } else {
            0.0
        };
        (low, ratio(right_high, size_low))
    }
}

/// How often a row of this cell counts in the sizes of some classes: once for its label, once for its prediction.
fn share_of(classes: &[usize], cell: usize, all: usize) -> f64 {
    let within = |class: usize| f64::from(u8::from(classes.contains(&class)));
    within(cell / all) + within(cell % all)
}

/// The lowest mean of numbers with this sum and any of the others.
fn lowest_mean(mut sum: f64, mut number: f64, mut others: Vec<f64>) -> f64 {
    others.sort_by(f64::total_cmp);
    for other in others {
        if other * number >= sum {
            break;
        }
        sum += other;
        number += 1.0;
    }
    sum / number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_mean_takes_what_lowers_it() {
        assert_eq!(lowest_mean(1.0, 2.0, vec![0.9, 0.0, 0.4]), 1.0 / 3.0);
        assert_eq!(lowest_mean(-1.0, 2.0, vec![-1.0, 0.0]), -2.0 / 3.0);
        assert_eq!(lowest_mean(1.0, 1.0, vec![]), 1.0);
    }

    #[test]
    fn a_hidden_class_adds_anything_between_nothing_and_its_share() {
        // Two classes known without error, at 0.8 and 0.6; a third that nobody saw.
        let counts = [800_000, 200_000, 0, 200_000, 300_000, 0, 0, 0, 0];
        let pairs = Noisy::new(&counts, 1.0);
        let judged = MacroF1::of(&pairs, 3);
        let found = judged.estimate().expect("two classes are known");
        assert!((found.low - 1.4 / 3.0).abs() < 0.01, "{found:?}");
        assert!((found.high - 2.4 / 3.0).abs() < 0.01, "{found:?}");
        assert!(
            judged
                .note()
                .expect("one class is hidden")
                .contains("2 of 3 classes")
        );
        // Seen often and never called rightly: nothing is left open.
        let counts = [800_000, 200_000, 0, 200_000, 300_000, 0, 20_000, 20_000, 0];
        let pairs = Noisy::new(&counts, 1.0);
        let judged = MacroF1::of(&pairs, 3);
        assert!(judged.note().is_none());
        assert!(judged.estimate().expect("all are known").high < 0.48);
    }
}
