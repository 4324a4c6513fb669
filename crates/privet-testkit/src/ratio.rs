//! How large is ε exactly, when the whole table of output probabilities is known?
//!
//! For a mechanism with finitely many outputs the guarantee is arithmetic: no sampling, no confidence level. Position `i`
//! of both tables is the same output, on the two neighbours.

use dashu_int::UBig;
use dashu_ratio::RBig;

/// The pure ε of one pair of neighbours: the largest |ln(pᵢ/qᵢ)|, infinite if one output is possible on one side only.
///
/// Exact up to the rounding of `ln`; compare with a margin of 1e-12, or use [`max_ratio_of_weights`].
///
/// # Panics
/// If the tables differ in length or one is not a probability table.
#[track_caller]
pub fn max_log_ratio(p: &[f64], q: &[f64]) -> f64 {
    check(p, q);
    let outputs = p.iter().zip(q).filter(|(p, q)| **p > 0.0 || **q > 0.0);
    // Logarithms first: the quotient of a subnormal and a large probability could overflow.
    outputs.map(|(p, q)| (p.ln() - q.ln()).abs()).fold(0.0, f64::max)
}

/// The smallest δ for which one pair of neighbours is (ε, δ)-indistinguishable: Σ max(0, pᵢ - e^ε qᵢ), the worse of both
/// directions.
///
/// # Panics
/// If the tables differ in length, one is not a probability table, or ε is negative or not a number.
#[track_caller]
pub fn approximate_delta(p: &[f64], q: &[f64], epsilon: f64) -> f64 {
    check(p, q);
    assert!(epsilon >= 0.0, "ε is {epsilon}");
    let one_way = |p: &[f64], q: &[f64]| -> f64 {
        // An impossible output stays impossible when ε is infinite: 0 · ∞ must not become NaN.
        let allowed = |q: f64| if q > 0.0 { epsilon.exp() * q } else { 0.0 };
        p.iter().zip(q).map(|(p, q)| (p - allowed(*q)).max(0.0)).sum()
    };
    one_way(p, q).max(one_way(q, p))
}

/// The largest quotient of probabilities, e^ε, of two tables of exact integer weights; `None` if one output is possible on
/// one side only.
///
/// Each table is normalised by its own total. Compare the answer with an exact rational bound.
///
/// # Panics
/// If the tables differ in length or one has no weight at all.
#[track_caller]
pub fn max_ratio_of_weights(p: &[u128], q: &[u128]) -> Option<RBig> {
    assert_eq!(p.len(), q.len(), "tables of different outputs");
    let total = |weights: &[u128]| weights.iter().map(|w| UBig::from(*w)).sum::<UBig>();
    let (all_p, all_q) = (total(p), total(q));
    assert!(all_p > UBig::ZERO && all_q > UBig::ZERO, "a table without weight");
    let mut worst = RBig::ONE;
    for (p, q) in p.iter().zip(q) {
        match (*p, *q) {
            (0, 0) => {}
            (0, _) | (_, 0) => return None,
            (p, q) => {
                let (p, q) = (UBig::from(p) * &all_q, UBig::from(q) * &all_p);
                let (large, small) = if p > q { (p, q) } else { (q, p) };
                worst = worst.max(RBig::from_parts(large.into(), small));
            }
        }
    }
    Some(worst)
}

#[track_caller]
fn check(p: &[f64], q: &[f64]) {
    assert_eq!(p.len(), q.len(), "tables of different outputs");
    for table in [p, q] {
        assert!(
            table.iter().all(|x| *x >= 0.0),
            "a negative probability, or none: {table:?}"
        );
        let total: f64 = table.iter().sum();
        assert!((total - 1.0).abs() < 1e-9, "probabilities sum to {total}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Randomised response with k answers: the true one with weight 3, each other with weight 1.
    fn response(truth: usize, k: usize) -> Vec<u128> {
        (0..k).map(|answer| if answer == truth { 3 } else { 1 }).collect()
    }

    fn normalised(weights: &[u128]) -> Vec<f64> {
        let total: u128 = weights.iter().sum();
        weights.iter().map(|w| *w as f64 / total as f64).collect()
    }

    #[test]
    fn randomised_response_has_the_ratio_of_its_weights() {
        let (a, b) = (response(0, 5), response(1, 5));
        assert_eq!(max_ratio_of_weights(&a, &b), Some(RBig::from(3)));
        let (p, q) = (normalised(&a), normalised(&b));
        assert!((max_log_ratio(&p, &q) - 3f64.ln()).abs() < 1e-12);
        // By hand, at ε = ln 2: 3/7 - 2/7 remains on the true answer alone.
        assert!((approximate_delta(&p, &q, 2f64.ln()) - 1.0 / 7.0).abs() < 1e-12);
        assert!(approximate_delta(&p, &q, 3f64.ln()) < 1e-12);
        // At ε = 0 δ is the total variation distance.
        assert!((approximate_delta(&p, &q, 0.0) - 2.0 / 7.0).abs() < 1e-12);
    }

    #[test]
    fn both_directions_count() {
        let (p, q) = ([0.5, 0.5], [0.9, 0.1]);
        assert_eq!(max_log_ratio(&p, &q), max_log_ratio(&q, &p));
        assert!((max_log_ratio(&p, &q) - 5f64.ln()).abs() < 1e-12);
        assert_eq!(approximate_delta(&p, &q, 1.0), approximate_delta(&q, &p, 1.0));
    }

    #[test]
    fn an_output_possible_on_one_side_alone_is_infinite() {
        assert_eq!(max_log_ratio(&[1.0, 0.0], &[1.0 - 1e-12, 1e-12]), f64::INFINITY);
        assert_eq!(max_ratio_of_weights(&[7, 0], &[6, 1]), None);
        assert!((approximate_delta(&[0.75, 0.25], &[1.0, 0.0], f64::INFINITY) - 0.25).abs() < 1e-15);
        // Impossible on both sides says nothing.
        assert_eq!(max_log_ratio(&[1.0, 0.0], &[1.0, 0.0]), 0.0);
        assert_eq!(max_ratio_of_weights(&[7, 0], &[7, 0]), Some(RBig::ONE));
    }

    #[test]
    fn weights_are_exact_where_floats_are_not() {
        // One unit among 2^127 decides, after totals are normalised, and no product overflows.
        let one = 1u128 << 127;
        let worst = max_ratio_of_weights(&[one + 1, one - 1], &[one, one]).expect("same support");
        assert!(worst > RBig::ONE);
        let (p, q) = (
            normalised(&[(1 << 60) + 1, (1 << 60) - 1]),
            normalised(&[1 << 60, 1 << 60]),
        );
        assert_eq!(max_log_ratio(&p, &q), 0.0, "floats cannot see it");
    }

    #[test]
    #[should_panic(expected = "sum to")]
    fn weights_given_as_probabilities_are_noticed() {
        max_log_ratio(&[3.0, 1.0], &[1.0, 3.0]);
    }
}
