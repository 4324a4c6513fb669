//! Outputs that one table can give and its neighbour cannot: the textbook sampler has them, whole numbers do not.

use privet::privacy::{Coins, Replace};
use privet::setting::central::Planes;
use privet_testkit::epsilon::supports_agree;

use crate::central::tables::{CORNERS, Open, Row, built, start};
use crate::central::window::{Script, run};

/// Laplace noise as textbooks have it: a sign, and the logarithm of the k-th of 2⁵³ doubles.
fn textbook(sign: f64, k: i64, scale: f64) -> f64 {
    -sign * scale * (k as f64 / f64::from(53).exp2()).ln()
}

/// The share of outputs on the one table that none of 801 neighbouring doubles gives on the other.
fn impossible(epsilon: f64, [one, other]: [f64; 2], coins: &mut Coins) -> f64 {
    let scale = 50.0 / (epsilon * 21037.0);
    let draws = 2000;
    let mut lost = 0;
    for _ in 0..draws {
        let sign = if coins.below(2) == 0 { 1.0 } else { -1.0 };
        let noisy = one + textbook(sign, 1 + coins.below((1 << 53) - 1) as i64, scale);
        let needed = noisy - other;
        let near = ((-needed.abs() / scale).exp() * f64::from(53).exp2()).round() as i64;
        let found = (near - 400..=near + 400).any(|k| other + textbook(needed.signum(), k, scale) == noisy);
        lost += u32::from(!found);
    }
    f64::from(lost) / f64::from(draws)
}

/// BRC's error of one plane in doubles: 8703 wrong rows of 21037 against 8704, 25 rounds, clips of √2.
#[test]
fn the_textbook_sampler_tells_neighbours_apart() {
    let mut coins = Coins::from_seed([9; 32]);
    let [one, other] = [8703.0, 8704.0].map(|wrong| wrong / 21037.0);
    let lost = impossible(0.01, [one, other], &mut coins);
    assert!((0.12..0.28).contains(&lost), "about a fifth was measured: {lost}");
    // The attack finds what is there: on the table itself nothing is impossible.
    assert_eq!(impossible(0.01, [one, one], &mut coins), 0.0);
}

/// The released number of each run.
fn released(lines: &[Row], runs: usize) -> Vec<i64> {
    let brc = start("brc", "1", 7).rounds(1).planes(Planes::Random);
    let central = built(brc);
    let once = |_| {
        let found = run(
            &central,
            (Open::Nothing, lines),
            &Replace::row(),
            (Some(3), &Script::Drawn),
        );
        let (ensemble, seen, _) = found.expect("a run");
        // The model has this number and nothing finer: it is a whole one on a public grid.
        let number = seen.numbers[0][0];
        assert_eq!(ensemble.members[0].weight, number as f64 / 8192.0 / 7.0);
        number
    };
    (0..runs).map(once).collect()
}

#[test]
fn no_release_is_impossible_under_a_neighbour() {
    let tables = [[CORNERS[0]; 3], [CORNERS[0], CORNERS[0], CORNERS[3]]];
    let [one, other] = tables.each_ref().map(|table| released(table, 1500));
    // Noise that leads to the same number exists for either table, since every whole number is noise: no residue is missing.
    for digits in [1, 2, 5] {
        let of = |numbers: &[i64]| -> Vec<i64> { numbers.iter().map(|n| n & ((1 << digits) - 1)).collect() };
        supports_agree(&of(&one), &of(&other), 1.0, 1e-9).expect_fit();
        assert_eq!(
            of(&one).iter().collect::<std::collections::BTreeSet<_>>().len(),
            1 << digits
        );
    }
    // Noise on a coarser grid than the answers is found: even noise on an even and an odd number.
    let coarse = |truth: i64| -> Vec<i64> { one.iter().map(|n| (truth + 2 * n) & 31).collect() };
    supports_agree(&coarse(0), &coarse(1), 1.0, 1e-9).expect_refusal();
}
