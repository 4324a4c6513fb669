//! Stumps that may abstain: each side votes for one of two classes, or not at all.
//!
//! With weights that sum to one, of which a share ε₊ is called rightly, ε₋ wrongly and ε₀ not at all, a round of
//! boosting multiplies the bound on the training error by Z = ε₀ + 2√(ε₊ε₋). The question and the votes with the
//! least Z are searched. It is for two classes; who boosts these stumps is `boost`.
//!
//! Beginnings of the order by class shares are enough for categories here as well: on a side that votes alone Z is the
//! total less (√p − √n)², and that is convex in the weights p and n of the two classes, so that no other subset has less.
//!
//! # Paper
//! MABoost, section 3; Schapire and Singer 1999, section 3.3.

use super::split::{self, Criterion};
use super::stump::Errors;
use super::{Classes, Sample, Sorted, Stump};

impl Stump {
    /// The question and the votes, -1 and 1 for the first and the second of two classes and 0 for none, with the least Z.
    /// Of equals it votes on both sides, or else on the left.
    pub fn abstaining(sample: &Sample<'_>, sorted: &Sorted, classes: Classes<'_>) -> Self {
        let bound = Bound(Errors {
            classes: Classes { count: 2, ..classes },
            weights: sample.weights,
        });
        let best = split::best(sample, sorted, &bound);
        let [left, right] = votes(&best.left, &best.right).1;
        let (feature, rule, left, right) = best.answered(left, right);
        Self {
            feature,
            rule,
            left,
            right,
        }
    }
}

/// The weights of two classes, judged by Z.
struct Bound<'a>(Errors<'a>);

impl Criterion for Bound<'_> {
    fn width(&self) -> usize {
        self.0.width()
    }

    fn add(&self, slots: impl Iterator<Item = usize>, sums: &mut [f64]) {
        self.0.add(slots, sums);
    }

    fn weight(&self, sums: &[f64]) -> f64 {
        self.0.weight(sums)
    }

    fn gain(&self, sums: &[f64]) -> f64 {
        -normaliser(right_and_wrong(sums), 0.0)
    }

    fn worth(&self, left: &[f64], right: &[f64]) -> f64 {
        -votes(left, right).0
    }

    fn place(&self, sums: &[f64]) -> Option<f64> {
        self.0.place(sums)
    }
}

/// Z, and the votes that make it least. A side that votes calls its heavier class: any other vote only adds errors.
fn votes(left: &[f64], right: &[f64]) -> (f64, [f64; 2]) {
    let (on_left, on_right) = (right_and_wrong(left), right_and_wrong(right));
    let both = [on_left[0] + on_right[0], on_left[1] + on_right[1]];
    let weight = |side: [f64; 2]| side[0] + side[1];
    let mut best = (normaliser(both, 0.0), [vote(left), vote(right)]);
    for one in [
        (normaliser(on_left, weight(on_right)), [vote(left), 0.0]),
        (normaliser(on_right, weight(on_left)), [0.0, vote(right)]),
    ] {
        if one.0 < best.0 {
            best = one;
        }
    }
    best
}

fn normaliser([right, wrong]: [f64; 2], silent: f64) -> f64 {
    silent + 2.0 * (right * wrong).sqrt()
}

/// The weights of the heavier class and of the other.
fn right_and_wrong(sums: &[f64]) -> [f64; 2] {
    match sums {
        [first, second] => [first.max(*second), first.min(*second)],
        _ => [0.0; 2],
    }
}

/// The heavier class, of equals the first.
fn vote(sums: &[f64]) -> f64 {
    match sums {
        [first, second] if second > first => 1.0,
        _ => -1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nine rows, one class to nothing on the left and two to six on the right: both sides give 2√(7·2) = 7.48, the left
    /// alone 8 + 0, the right alone 1 + 2√(6·2) = 7.93.
    #[test]
    fn both_sides_vote_where_that_is_best() {
        let (z, found) = votes(&[1.0, 0.0], &[2.0, 6.0]);
        assert!((z - 2.0 * 14f64.sqrt()).abs() < 1e-12);
        assert_eq!(found, [-1.0, 1.0]);
    }

    /// Four to nothing on the left, three to three on the right: both give 2√(7·3) = 9.17, the left alone 6.
    #[test]
    fn a_side_that_knows_nothing_keeps_silent() {
        assert_eq!(votes(&[4.0, 0.0], &[3.0, 3.0]), (6.0, [-1.0, 0.0]));
        assert_eq!(votes(&[3.0, 3.0], &[0.0, 4.0]), (6.0, [0.0, 1.0]));
    }

    /// A stump with no rows on the right is a constant.
    #[test]
    fn a_constant_always_votes() {
        assert_eq!(votes(&[1.0, 4.0], &[0.0, 0.0]), (4.0, [1.0, -1.0]));
        assert_eq!(votes(&[2.0, 2.0], &[0.0, 0.0]), (4.0, [-1.0, -1.0]));
    }
}
