//! The law that OpenDP draws from, too. A right sampler is refused with probability at most 1e-6 in each comparison; the
//! randomness is fresh, so no seed hides a wrong one. `PRIVET_FULL=1` draws ten times as many.

use privet::privacy::Ratio;
use privet::privacy::sampler::{DiscreteLaplace, Noise, Randomness};
use privet_oracle::laplace;
use privet_testkit::chi_square::agree;
use privet_testkit::skipped::full;

const FALSE_ALARM: f64 = 1e-6;

fn draws(law: &dyn Noise, n: usize) -> Vec<i64> {
    let mut values = vec![0; n];
    law.add_to(&mut values, &mut Randomness::from_os().expect("randomness"));
    values
}

#[test]
fn opendp_draws_from_the_same_laws() {
    let n = if full() { 400_000 } else { 40_000 };
    for scale in [1u64, 10, 300] {
        let ours = |numerator, denominator| {
            let exact = Ratio::new(numerator, denominator).expect("positive");
            draws(&DiscreteLaplace::new(exact).expect("a law"), 10 * n)
        };
        let theirs: Vec<i64> = (0..n).map(|_| laplace(scale)).collect();
        agree(theirs.iter().copied(), ours(scale, 1), FALSE_ALARM).expect_fit();
        // A quarter too wide.
        agree(theirs, ours(5 * scale, 4), FALSE_ALARM).expect_refusal();
    }
}
