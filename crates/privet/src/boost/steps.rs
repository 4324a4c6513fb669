//! Stumps on the values of one number, summed to a function that changes at their places.
//!
//! However many stumps there are, a row looks up between which two places its number lies.

use crate::learner::{Stump, StumpRule};

/// What stumps with exact thresholds on one feature add to the scores of rows where it is not missing.
#[derive(Debug, Clone)]
pub(super) struct Steps {
    outputs: usize,
    missing: u16,
    /// Each stump's place, output, and votes on the left and on the right.
    stumps: Vec<(f64, usize, [f64; 2])>,
    /// The places, rising, and what is added before, between and behind them, output by output.
    places: Vec<f64>,
    sums: Vec<f64>,
}

impl Steps {
    pub(super) fn new(outputs: usize) -> Self {
        Self {
            outputs,
            missing: 0,
            stumps: Vec::new(),
            places: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Takes a stump whose votes are multiplied by a weight; one that asks about slots is none.
    pub(super) fn push(&mut self, stump: &Stump, weight: f64, output: usize) {
        if let StumpRule::UpTo { place, missing, .. } = stump.rule {
            self.missing = missing;
            let votes = [weight * stump.left, weight * stump.right];
            self.stumps.push((place, output, votes));
        }
    }

    /// Adds up what was taken. Of equal places the first taken comes first.
    pub(super) fn finish(&mut self) {
        self.stumps.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.places = self.stumps.iter().map(|stump| stump.0).collect();
        let (stumps, outputs) = (&self.stumps, self.outputs);
        let mut sums = vec![0.0; (stumps.len() + 1) * outputs];
        // On the right of a place its stump votes right, on the left of it left.
        let mut so_far = vec![0.0; outputs];
        for (line, (_, output, [_, right])) in sums.chunks_mut(outputs).skip(1).zip(stumps) {
            so_far[*output] += right;
            line.copy_from_slice(&so_far);
        }
        so_far.fill(0.0);
        for (line, (_, output, [left, _])) in sums.chunks_mut(outputs).zip(stumps).rev() {
            so_far[*output] += left;
            line.iter_mut().zip(&so_far).for_each(|(sum, x)| *sum += x);
        }
        self.sums = sums;
    }

    /// What is added for a number, output by output; nothing if it is missing.
    #[inline]
    pub(super) fn at(&self, slot: u16, x: f32) -> Option<&[f64]> {
        if slot == self.missing {
            return None;
        }
        let x = f64::from(x);
        let step = self.places.partition_point(|&place| place < x);
        Some(&self.sums[step * self.outputs..][..self.outputs])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_the_sum_of_their_stumps() {
        let stump = |place, left, right| Stump {
            feature: 0,
            rule: StumpRule::UpTo {
                place,
                missing: 4,
                with_missing: true,
            },
            left,
            right,
        };
        let all = [
            (stump(0.5, 1.0, -1.0), 2.0, 0),
            (stump(-0.25, 3.0, 0.0), 1.0, 1),
            (stump(0.5, 0.0, 4.0), -1.0, 1),
        ];
        let mut steps = Steps::new(2);
        for (stump, weight, output) in &all {
            steps.push(stump, *weight, *output);
        }
        steps.finish();
        for x in [-1.0_f32, -0.25, 0.0, 0.5, 0.75, 1.0] {
            let mut slow = [0.0; 2];
            for (stump, weight, output) in &all {
                let StumpRule::UpTo { place, .. } = stump.rule else {
                    continue;
                };
                let vote = if f64::from(x) <= place {
                    stump.left
                } else {
                    stump.right
                };
                slow[*output] += weight * vote;
            }
            assert_eq!(steps.at(0, x), Some(&slow[..]), "{x}");
        }
        assert_eq!(steps.at(4, 0.0), None);
    }
}
