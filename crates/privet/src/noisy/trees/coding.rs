//! What a row adds to its leaf: gradients and hessians as integers, and how far one row can move them.
//!
//! Gradients are quantised first; hessians are computed from what was quantised and rounded down. So the norms below are
//! statements about finitely many integers, and each is the exact maximum over them: `docs/proofs/trees.md#sums`.

use std::sync::Arc;

use crate::data::Schema;
use crate::data::schema::Column;
use crate::privacy::Relation;

/// One, as a gradient.
pub(super) const ONE: i64 = 1 << 12;
/// Steps of a margin to one unit of it.
const STEPS: f32 = 256.0;
/// Margins beyond this count as this: their gradients differ by less than a step of the grid.
const FAR: i32 = 10 * 256;

/// The weight of a row on the grid: what it counts, as a share of the largest weight, rounded down.
pub(super) fn share(weight: f32, largest: f64) -> u16 {
    // What is not a number becomes zero.
    // As the cells hold it, so that a row of the largest weight counts one.
    let largest = f64::from(largest as f32);
    ((f64::from(weight) / largest * ONE as f64) as i64).clamp(0, ONE) as u16
}

/// What a row adds, if it counts so much on the grid. Sizes are rounded down: none grows, and none changes its sign.
#[inline]
pub(super) fn weighed(x: i64, share: u16) -> i64 {
    x * i64::from(share) / ONE
}

/// The noise that sums will get: it decides what a hessian may weigh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Noise {
    /// By the sum of the changes.
    Laplace,
    /// By the square root of the sum of their squares.
    Gaussian,
}

/// Which part of a replaced row is the same in both neighbours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unchanged {
    /// No part is known to be.
    Nothing,
    /// The label.
    Label,
    /// Everything but the label: the row stays in its leaf, and keeps its scores.
    Features,
}

impl Unchanged {
    /// The part of a row that a relation keeps when it replaces the row.
    pub(crate) fn under(schema: &Schema, relation: &Relation) -> Self {
        let columns_only = matches!(relation, Relation::ReplacePrivate { .. });
        let label = schema.label().map(|(label, _)| label.is_public(relation));
        let weight = schema.weight().map(|(column, _)| column);
        let is_public = |column: &Column| column.is_public(relation);
        match label {
            Some(true) => Self::Label,
            _ if columns_only && schema.features().all(is_public) && weight.is_none_or(is_public) => {
                Self::Features
            }
            _ => Self::Nothing,
        }
    }
}

/// How far one row can move the sums of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Norms {
    /// Of a row that comes or goes: the sum of the changes, in size.
    pub(super) l1: u64,
    /// The sum of their squares.
    pub(super) l2_squared: u64,
    /// The largest sum of squared gradients.
    gradient_squared: u64,
    /// The largest sum of squared hessians.
    hessian_squared: u64,
    /// Whether gradients of rows with the same label can have opposite signs.
    turns: bool,
    /// Of a row that keeps everything but its label.
    relabelled: Relabelled,
}

/// How far a row that keeps everything but its label can move sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Relabelled {
    l1: u64,
    l2_squared: u64,
}

impl Norms {
    /// The L1 norm for one change under a relation.
    ///
    /// # Privacy
    /// `docs/proofs/trees.md#sums`.
    pub(super) fn l1_under(&self, relation: &Relation, unchanged: Unchanged) -> u64 {
        match (relation, unchanged) {
            (Relation::ReplacePrivate { rows, .. }, Unchanged::Features) => {
                u64::from(rows.get()) * self.relabelled.l1
            }
            _ => relation.steps() * self.l1,
        }
    }

    /// The squared L2 norm for one change under a relation.
    ///
    /// # Privacy
    /// `docs/proofs/trees.md#sums`.
    pub(super) fn l2_squared_under(&self, relation: &Relation, unchanged: Unchanged) -> u128 {
        let one = u128::from(self.l2_squared);
        // In the same leaf gradients may be opposite, but hessians are never below zero.
        let opposite = 4 * u128::from(self.gradient_squared) + u128::from(self.hessian_squared);
        let changed = match (relation, unchanged) {
            (Relation::AddRemove { .. }, _) => one,
            (_, Unchanged::Features) => u128::from(self.relabelled.l2_squared),
            (_, Unchanged::Label) if !self.turns => 2 * one,
            _ => (2 * one).max((4 * one).min(opposite)),
        };
        // Every row of a unit may change, all in the same direction.
        u128::from(relation.rows().get()).pow(2) * changed
    }
}

/// How a row's score and label become integers.
#[derive(Debug, Clone)]
pub(super) enum Coding {
    /// Two classes, one score.
    Odds(Odds),
    /// A score for each of three classes or more.
    Classes(Classes),
    /// A number.
    Residual(Residual),
}

impl Coding {
    pub(super) fn norms(&self) -> Norms {
        match self {
            Self::Odds(odds) => odds.norms(),
            Self::Classes(classes) => classes.norms(),
            Self::Residual(residual) => residual.norms(),
        }
    }

    /// How many scores a row has.
    pub(super) fn outputs(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.count,
            Self::Odds(_) | Self::Residual(_) => 1,
        }
    }

    /// No gradient is larger.
    pub(super) fn bound(&self) -> i64 {
        match self {
            Self::Odds(odds) => odds.clip,
            Self::Classes(_) | Self::Residual(_) => ONE,
        }
    }

    /// What rows of the first and of the second of two classes count.
    pub(super) fn class_weights(&self) -> [f64; 2] {
        match self {
            Self::Odds(odds) => odds.class_weights(),
            Self::Classes(_) | Self::Residual(_) => [1.0; 2],
        }
    }

    /// What an integer hessian of one means.
    pub(super) fn hessian_unit(&self) -> f64 {
        match self {
            Self::Odds(odds) => odds.weight.unit(),
            Self::Classes(classes) => classes.weight.unit(),
            // Where rows are counted apart, noise is measured in gradients.
            Self::Residual(Residual { count: 0, .. }) => 1.0 / ONE as f64,
            Self::Residual(residual) => 1.0 / residual.count as f64,
        }
    }
}

/// What a hessian is multiplied by, as a fraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Weight(i64, i64);

impl Weight {
    /// Of a gradient's size, from 0 to [`ONE`]; rounded down.
    fn hessian(self, size: i64) -> i64 {
        self.0 * size * (ONE - size) / (self.1 * ONE)
    }

    fn unit(self) -> f64 {
        self.1 as f64 / (self.0 * ONE) as f64
    }
}

/// The nearest whole number up to a million in size, halves away from zero: what `x.round() as i32` gives, without the call that this is where a
/// processor cannot be counted on to round. What is not a number becomes zero.
#[inline]
fn nearest(x: f32) -> i32 {
    let x = x.clamp(-1e6, 1e6);
    let whole = x as i32;
    // Exact: both have the same sign and the difference is less than one.
    let rest = x - whole as f32;
    whole + i32::from(rest >= 0.5) - i32::from(rest <= -0.5)
}

/// Two classes.
#[derive(Debug, Clone)]
pub(super) struct Odds {
    clip: i64,
    weight: Weight,
    /// What rows of either class count, in steps of the grid: the more frequent ones one at most.
    classes: [i64; 2],
    /// By class, then by the steps of a margin: the size of the clipped gradient, and the hessian. One table for both classes if they count
    /// the same, and for all owners of a process: every row looks something up here.
    tables: [Arc<[[i16; 2]]>; 2],
}

impl Odds {
    /// Gradients no larger than `clip`, in steps of the grid. Without clipping a hessian may weigh 3.33 for free under Gaussian
    /// noise (the supremum is φ^(5/2) = 3.33019…); with it, 1 is what was measured to be best.
    pub(super) fn new(clip: i64, noise: Noise) -> Self {
        let clip = clip.clamp(1, ONE);
        let weight = match noise {
            Noise::Gaussian if clip == ONE => Weight(3330, 1000),
            _ => Weight(1, 1),
        };
        let odds = Self {
            clip,
            weight,
            classes: [ONE; 2],
            tables: [Arc::default(), Arc::default()],
        };
        odds.weighing(1.0)
    }

    /// The same where a row of the second class counts `positive` times as much as one of the first. The heavier ones count one.
    pub(super) fn weighing(self, positive: f64) -> Self {
        let share = |weight: f64| ((weight * ONE as f64).round() as i64).clamp(1, ONE);
        let classes = [share(1.0 / positive), share(positive)];
        let odds = Self { classes, ..self };
        let table =
            |class: i64| -> Arc<[[i16; 2]]> { (-FAR..=FAR).map(|step| odds.entry(step, class)).collect() };
        let first = table(classes[0]);
        let second = match classes[0] == classes[1] {
            true => Arc::clone(&first),
            false => table(classes[1]),
        };
        let tables = [first, second];
        Self { tables, ..odds }
    }

    /// What a row at a step of its margin adds, if rows of its class count so much.
    fn entry(&self, step: i32, class: i64) -> [i16; 2] {
        let margin = f64::from(step) / f64::from(STEPS);
        let wrong = 1.0 / (1.0 + margin.exp());
        let size = ((wrong * ONE as f64).round() as i64).clamp(0, ONE);
        let (gradient, hessian) = self.added(size, class);
        // Exact: no gradient and no hessian is larger than one.
        [gradient as i16, hessian as i16]
    }

    /// The sizes of what a row adds, by that of its gradient before it is clipped and weighed; rounded down.
    fn added(&self, size: i64, class: i64) -> (i64, i64) {
        let weighed = |x: i64| x * class / ONE;
        (weighed(size.min(self.clip)), weighed(self.weight.hessian(size)))
    }

    /// What a row of either class counts, as a share of the heavier ones.
    pub(super) fn class_weights(&self) -> [f64; 2] {
        self.classes.map(|class| class as f64 / ONE as f64)
    }

    /// The gradient and the hessian of a row.
    #[inline]
    pub(super) fn at(&self, score: f32, positive: bool) -> (i32, i32) {
        let margin = if positive { score } else { -score };
        let step = nearest(margin * STEPS);
        let [size, hessian] = self.tables[usize::from(positive)][(step.clamp(-FAR, FAR) + FAR) as usize];
        let size = i32::from(size);
        (if positive { -size } else { size }, hessian.into())
    }

    fn norms(&self) -> Norms {
        let classes = match self.classes {
            [one, other] if one == other => &self.classes[..1],
            _ => &self.classes,
        };
        let each = (0..=ONE).flat_map(|size| classes.iter().map(move |&class| self.added(size, class)));
        let [mut l1, mut l2_squared, mut hessian] = [0; 3];
        for (g, h) in each.map(|(g, h)| (g as u64, h as u64)) {
            l1 = l1.max(g + h);
            l2_squared = l2_squared.max(g * g + h * h);
            hessian = hessian.max(h);
        }
        Norms {
            l1,
            l2_squared,
            gradient_squared: (self.clip * self.clip) as u64,
            hessian_squared: hessian * hessian,
            turns: false,
            relabelled: self.relabelled(),
        }
    }

    /// Of every margin against its opposite: the row of the other label has that.
    fn relabelled(&self) -> Relabelled {
        let moved = || {
            let pairs = self.tables[1].iter().zip(self.tables[0].iter().rev());
            pairs.map(|(one, other)| {
                let turned = i64::from(one[0]) + i64::from(other[0]);
                (turned.unsigned_abs(), u64::from(one[1].abs_diff(other[1])))
            })
        };
        Relabelled {
            l1: moved().map(|(g, h)| g + h).max().unwrap_or(0),
            l2_squared: moved().map(|(g, h)| g * g + h * h).max().unwrap_or(0),
        }
    }
}

/// Three classes or more: the trees of a round are one release.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    count: usize,
    weight: Weight,
}

impl Classes {
    /// A hessian may weigh 2 for free under Gaussian noise, and never for free under Laplace noise.
    pub(super) fn new(count: usize, noise: Noise) -> Self {
        let weight = match noise {
            Noise::Gaussian => Weight(2, 1),
            Noise::Laplace => Weight(1, 1),
        };
        Self { count, weight }
    }

    /// The gradients and hessians of a row, by class. Sizes are rounded toward zero, follow from the scores alone and sum to one at most; the
    /// label's own gradient is the sum of the others': the proof counts on all of it.
    #[inline]
    pub(super) fn at(&self, scores: &[f32], label: usize, gradients: &mut [i64], hessians: &mut [i64]) {
        let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers = || scores.iter().map(|&score| f64::from(score - top).exp());
        let total: f64 = powers().sum();
        let (mut remaining, mut others) = (ONE, 0);
        for (class, power) in powers().enumerate() {
            let share = power / total * ONE as f64;
            let size = (share as i64).clamp(0, remaining);
            remaining -= size;
            others += if class == label { 0 } else { size };
            gradients[class] = size;
            hessians[class] = self.weight.hessian(size);
        }
        if let (Some(own), Some(hessian)) = (gradients.get_mut(label), hessians.get_mut(label)) {
            *own = -others;
            *hessian = self.weight.hessian(others);
        }
    }

    fn norms(&self) -> Norms {
        let one = ONE as u64;
        let others = self.count as u64 - 1;
        Norms {
            // 2 + (K-2)/(K-1), rounded up.
            l1: 2 * one + (one * (others - 1)).div_ceil(others),
            l2_squared: 2 * one * one,
            gradient_squared: 2 * one * one,
            hessian_squared: 2 * one * one,
            turns: false,
            relabelled: Relabelled {
                l1: 2 * one,
                l2_squared: 2 * one * one,
            },
        }
    }
}

/// A number. Residuals are measured in units of the clip, which follow from what was released about labels.
#[derive(Debug, Clone)]
pub(super) struct Residual {
    /// What a row adds to its leaf's count; nothing if counts are known otherwise.
    count: i64,
}

impl Residual {
    pub(super) fn new(count: i64) -> Self {
        Self {
            count: count.clamp(0, ONE),
        }
    }

    /// The clipped residual, and the count.
    #[inline]
    pub(super) fn at(&self, score: f32, label: f32) -> (i32, i32) {
        let residual = i64::from(nearest((score - label) * ONE as f32));
        (residual.clamp(-ONE, ONE) as i32, self.count as i32)
    }

    fn norms(&self) -> Norms {
        let (one, count) = (ONE as u64, self.count as u64);
        Norms {
            l1: one + count,
            l2_squared: one * one + count * count,
            gradient_squared: one * one,
            // A replaced row that stays in its leaf still counts once; if its weight is another, its gradient moves by less than counts do.
            hessian_squared: 0,
            turns: true,
            relabelled: Relabelled {
                l1: 2 * one,
                l2_squared: 4 * one * one,
            },
        }
    }
}

#[cfg(test)]
mod tests;
