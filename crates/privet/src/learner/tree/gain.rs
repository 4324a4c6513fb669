//! The gain of a split.

/// Which derivatives decide about splits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Gradients only: the split that explains most of their variance (Friedman's gradient boosting).
    First,
    /// Gradients and hessians: the split that lowers the loss most, to second order (XGBoost).
    #[default]
    Second,
}

/// The gain from sums of gradients and hessians (or of weights, to first order), and the limits on a child.
#[derive(Debug, Clone, Copy)]
pub(super) struct Worth {
    /// Added to a child's hessians, in their units.
    pub(super) lambda: f64,
    /// What a child's hessians must come to, in their units.
    pub(super) least: f64,
    /// Bounds of values, if they matter, in those units.
    pub(super) bounds: Option<[f64; 2]>,
    /// Whether the left value must be at most the right one (1), at least (-1), or neither (0).
    pub(super) direction: i8,
}

impl Worth {
    /// The worth of a node as one leaf.
    pub(super) fn whole(&self, [g, h]: [f64; 2]) -> f64 {
        let h = h + self.lambda;
        match self.bounds {
            None if h > 0.0 => g * g / h,
            None => 0.0,
            Some(bounds) => bounded(g, h, value(g, h, bounds)),
        }
    }

    /// The worth of two leaves; nothing if one of them is too light, or against the direction.
    #[inline]
    pub(super) fn halves(&self, left: [f64; 2], right: [f64; 2]) -> f64 {
        if !(left[1] >= self.least && right[1] >= self.least) {
            return f64::NEG_INFINITY;
        }
        let (l, r) = (left[1] + self.lambda, right[1] + self.lambda);
        let Some(bounds) = self.bounds else {
            // One division instead of two.
            let worth = (left[0] * left[0] * r + right[0] * right[0] * l) / (l * r);
            return if l > 0.0 && r > 0.0 {
                worth
            } else {
                f64::NEG_INFINITY
            };
        };
        if !(l > 0.0 && r > 0.0) {
            return f64::NEG_INFINITY;
        }
        let (vl, vr) = (value(left[0], l, bounds), value(right[0], r, bounds));
        let against = match self.direction {
            1 => vl > vr,
            -1 => vl < vr,
            _ => false,
        };
        if against {
            f64::NEG_INFINITY
        } else {
            bounded(left[0], l, vl) + bounded(right[0], r, vr)
        }
    }
}

fn value(g: f64, h: f64, [low, high]: [f64; 2]) -> f64 {
    if h > 0.0 {
        (-g / h).max(low).min(high)
    } else {
        0.0f64.max(low).min(high)
    }
}

/// Twice the loss that a leaf of this value saves.
fn bounded(g: f64, h: f64, value: f64) -> f64 {
    -(2.0 * g * value + h * value * value)
}
