//! The laws of selections by score, in floats.

/// The law of the exponential mechanism, to the accuracy of `f64`.
pub fn probabilities_exponential(scores: &[i64], rate: f64) -> Vec<f64> {
    let weights = chances(scores, rate);
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}

/// The law of permute-and-flip, to the accuracy of `f64`.
///
/// A candidate is chosen if its coin shows heads, and then against each number of other heads with one chance in that
/// number plus one. The time grows with the third power of the number of candidates.
pub fn probabilities_permute_and_flip(scores: &[i64], rate: f64) -> Vec<f64> {
    let chances = chances(scores, rate);
    let law = |i: usize| {
        // others[m]: the probability that m of the other coins show heads.
        let mut others = vec![1.0];
        for (_, chance) in chances.iter().enumerate().filter(|(j, _)| *j != i) {
            others.push(0.0);
            for m in (0..others.len()).rev() {
                let fewer = if m > 0 { others[m - 1] } else { 0.0 };
                others[m] = others[m] * (1.0 - chance) + fewer * chance;
            }
        }
        let shares = others.iter().enumerate().map(|(m, p)| p / (m + 1) as f64);
        chances[i] * shares.sum::<f64>()
    };
    (0..chances.len()).map(law).collect()
}

fn chances(scores: &[i64], rate: f64) -> Vec<f64> {
    let best = scores.iter().max().copied().unwrap_or_default();
    // A rate too large for f64 is infinite there, and must not meet a gap of zero.
    let rate = rate.min(f64::MAX);
    let chance = |score: &i64| (-rate * best.abs_diff(*score) as f64).exp();
    scores.iter().map(chance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The published loop, one order after another: what the coins and the uniform choice must amount to.
    fn as_published(scores: &[i64], rate: f64) -> Vec<f64> {
        fn visit(left: &[usize], reached: f64, chances: &[f64], law: &mut [f64]) {
            for (at, &i) in left.iter().enumerate() {
                let here = reached / left.len() as f64;
                law[i] += here * chances[i];
                let rest = [&left[..at], &left[at + 1..]].concat();
                visit(&rest, here * (1.0 - chances[i]), chances, law);
            }
        }
        let mut law = vec![0.0; scores.len()];
        let all: Vec<usize> = (0..scores.len()).collect();
        visit(&all, 1.0, &chances(scores, rate), &mut law);
        law
    }

    #[test]
    fn all_coins_and_a_uniform_head_are_the_published_loop() {
        for scores in [&[3][..], &[0, 0], &[0, 1, 2], &[5, 2, 2, 0, 4, 4, 1]] {
            let law = probabilities_permute_and_flip(scores, 1.0 / 3.0);
            let published = as_published(scores, 1.0 / 3.0);
            assert!(
                law.iter().zip(&published).all(|(a, b)| (a - b).abs() < 1e-14),
                "{law:?} {published:?}"
            );
            assert!((law.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
    }

    /// The largest log ratio of permute-and-flip over all utilities 0 to 5, each moved by at most one.
    fn loss(n: u32, rate: f64) -> f64 {
        let digits = |code: usize, base: i64, from: i64| -> Vec<i64> {
            (0..n).map(|j| code as i64 / base.pow(j) % base + from).collect()
        };
        let log = |scores: &[i64]| -> Vec<f64> {
            probabilities_permute_and_flip(scores, rate)
                .into_iter()
                .map(f64::ln)
                .collect()
        };
        let laws: Vec<Vec<f64>> = (0..8usize.pow(n)).map(|code| log(&digits(code, 8, -1))).collect();
        let at = |scores: &[i64]| scores.iter().rev().fold(0, |code, s| code * 8 + (s + 1) as usize);
        let mut largest = 0f64;
        for code in 0..6usize.pow(n) {
            let scores = digits(code, 6, 0);
            for moved in 0..3usize.pow(n) {
                let moved: Vec<i64> = scores
                    .iter()
                    .zip(digits(moved, 3, -1))
                    .map(|(s, m)| s + m)
                    .collect();
                let both = laws[at(&scores)].iter().zip(&laws[at(&moved)]);
                largest = both.fold(largest, |largest, (a, b)| largest.max((a - b).abs()));
            }
        }
        largest
    }

    #[test]
    fn permute_and_flip_loses_epsilon_at_half_the_rate_and_more_at_the_full() {
        for n in 2..=4 {
            for epsilon in [0.5, 1.0, 2.0] {
                let half = loss(n, epsilon / 2.0) / epsilon;
                assert!((0.9..1.0 + 1e-12).contains(&half), "{n} {epsilon}: {half} ε");
                assert!(loss(n, epsilon) > 1.5 * epsilon);
            }
        }
    }
}
