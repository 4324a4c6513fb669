//! The laws of selections, by chi-square, by enumeration and with wrong ones that must be rejected.

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::*;
use privet_testkit::selection::{probabilities_exponential, probabilities_permute_and_flip};

type Law = fn(&[i64], f64) -> Vec<f64>;
type Draw = fn(&Selection, &[i64], &mut Randomness) -> Result<usize, Error>;
const BOTH: [(Draw, Law); 2] = [
    (Selection::permute_and_flip, probabilities_permute_and_flip),
    (Selection::exponential, probabilities_exponential),
];

fn ratio(numerator: u64, denominator: u64) -> Ratio {
    Ratio::new(numerator, denominator).expect("positive")
}

fn selection(rate: &Ratio) -> Selection {
    Selection::new(rate.clone()).expect("a rate")
}

/// Whether counts agree with a law, with a false alarm in about 1e-6 of all runs: Pearson's test at half of that, and
/// Chernoff's bound on all rare cells together at the other half.
///
/// Every cell counts, also an empty one. For an even number of degrees of freedom the tail of chi-square is a
/// Poisson sum; an odd one is raised by one, which only lowers the false alarms.
fn agrees(counts: &[u64], law: &[f64]) -> bool {
    assert_eq!(counts.len(), law.len());
    let n = counts.iter().sum::<u64>() as f64;
    let (mut statistic, mut cells, mut rare, mut rare_expected) = (0.0, 0u32, 0.0, 0.0);
    for (count, p) in counts.iter().zip(law) {
        let (count, expected) = (*count as f64, p * n);
        if expected < 20.0 {
            rare += count;
            rare_expected += expected;
        } else {
            statistic += (count - expected).powi(2) / expected;
            cells += 1;
        }
    }
    if rare_expected >= 20.0 {
        statistic += f64::powi(rare - rare_expected, 2) / rare_expected;
        cells += 1;
    } else if rare > rare_expected {
        let log_tail = rare - rare_expected + rare * (rare_expected / rare).ln();
        if log_tail < f64::ln(5e-7) {
            return false;
        }
    }
    let (mut tail, mut term) = (0.0, (-statistic / 2.0).exp());
    for j in 1..=cells / 2 {
        tail += term;
        term *= statistic / 2.0 / f64::from(j);
    }
    cells < 2 || tail > 5e-7
}

fn counts(n: u64, k: usize, mut draw: impl FnMut() -> usize) -> Vec<u64> {
    let mut counts = vec![0; k];
    (0..n).for_each(|_| counts[draw()] += 1);
    counts
}

#[test]
fn draws_follow_their_law() {
    let mut random = Randomness::seeded(21);
    let spread: Vec<i64> = (0..34).map(|i| i * 7919 % 100).collect();
    let many: Vec<i64> = (0..150).map(|i| i * 7919 % 100).collect();
    let big = UBig::ONE << 200;
    let fine = RBig::from_parts((&big + 12345u32).into(), &big * 7u32 + 1u32);
    let cases: [(&[i64], Ratio); 9] = [
        (&[0, 1, 2, 3], ratio(1, 2)),
        (&[5, 5, 5], ratio(3, 1)),
        (&[-3, 0, 0, -1, -40], ratio(1, 7)),
        (&[i64::MIN, i64::MAX, 0, i64::MAX - 1], ratio(1, 3)),
        (&[i64::MIN, i64::MAX, 0], ratio(1, 1 << 63)),
        (
            &[0, -1_000_000_000, -3_000_000_000, i64::MIN],
            ratio(1, 1_000_000_000),
        ),
        (&[10, 7, 0], Ratio::from_big(fine).expect("positive")),
        (&spread, ratio(1, 20)),
        (&many, ratio(1, 20)),
    ];
    for (scores, rate) in &cases {
        for (which, (draw, law)) in BOTH.iter().enumerate() {
            let selection = selection(rate);
            let mut draw = || draw(&selection, scores, &mut random).expect("candidates");
            let counts = counts(60_000, scores.len(), &mut draw);
            assert!(
                agrees(&counts, &law(scores, rate.to_f64())),
                "{which} {scores:?} {rate}: {counts:?}"
            );
        }
    }
}

/// With first digits and tables this short enclosures decide one coin in fifty or more, and the law is the same.
#[test]
fn the_rigorous_path_follows_the_same_law() {
    let mut random = Randomness::seeded(22);
    for (scores, rate) in [
        (&[0i64, 1, 2, 3, 9][..], ratio(1, 2)),
        (&[4, 4, 0], ratio(1, 5)),
        (&[0, -1_000_000_000, -2_000_000_001], ratio(1, 1_000_000_000)),
        (&[i64::MAX, i64::MIN], ratio(1, 1 << 63)),
    ] {
        let best = best(scores).expect("candidates");
        let coarse = Selection {
            decay: Decay::with_digits(rate.big().clone(), 7),
        };
        let law = probabilities_permute_and_flip(scores, rate.to_f64());
        let flips = counts(20_000, scores.len(), || {
            uniform_bit(&coarse.flip::<3>(best, scores, &mut random), &mut random)
        });
        assert!(agrees(&flips, &law), "{scores:?} {rate}: {flips:?}");
        let fine = selection(&rate);
        let flips = counts(40_000, scores.len(), || {
            uniform_bit(&fine.flip::<4>(best, scores, &mut random), &mut random)
        });
        assert!(agrees(&flips, &law), "{scores:?} {rate}: {flips:?}");

        let law = probabilities_exponential(scores, rate.to_f64());
        let mut draw = || coarse.exponential(scores, &mut random).expect("candidates");
        assert!(
            agrees(&counts(6000, scores.len(), &mut draw), &law),
            "{scores:?} {rate}"
        );
        let inverted = counts(3000, scores.len(), || {
            let uniform = random.word();
            coarse.invert(best, scores, uniform, &mut random)
        });
        assert!(agrees(&inverted, &law), "{scores:?} {rate}: {inverted:?}");
    }
}

/// A probability of 0.507 whose value from short tables is below one half: its first digits are those after the value's.
#[test]
fn values_on_the_other_side_of_a_digit_are_left_open() {
    let mut random = Randomness::seeded(26);
    let rate = ratio(679, 1000);
    let coarse = Selection {
        decay: Decay::with_digits(rate.big().clone(), 7),
    };
    assert_eq!(coarse.decay.value(1) >> 60, 3);
    let mut scores = [0; BLOCK];
    scores[0] = 1;
    let flips = (0..10_000).map(|_| coarse.flip::<3>(1, &scores, &mut random)[0]);
    let heads: u64 = flips.map(|word| u64::from((word >> 1).count_ones())).sum();
    let p = (-0.679f64).exp();
    assert!(agrees(&[heads, 630_000 - heads], &[p, 1.0 - p]), "{heads}");
}

#[test]
fn wrong_laws_are_rejected() {
    let mut random = Randomness::seeded(23);
    let scores = [0i64, 3, 5, 9, 10];
    let rate = ratio(1, 4);
    for (i, (draw, law)) in BOTH.iter().enumerate() {
        let selection = selection(&rate);
        let mut draw = || draw(&selection, &scores, &mut random).expect("candidates");
        let counts = counts(60_000, 5, &mut draw);
        assert!(agrees(&counts, &law(&scores, rate.to_f64())));
        assert!(
            !agrees(&counts, &law(&scores, 11.0 / 40.0)),
            "a rate off by a tenth"
        );
        assert!(
            !agrees(&counts, &law(&scores, 9.0 / 40.0)),
            "a rate off by a tenth"
        );
        assert!(
            !agrees(&counts, &law(&[0, 3, 6, 9, 10], rate.to_f64())),
            "a score off by one"
        );
        assert!(
            !agrees(&counts, &BOTH[1 - i].1(&scores, rate.to_f64())),
            "the other mechanism"
        );
        assert!(
            !agrees(&[1000, 0, 0, 0, 10], &law(&[0, 0, 0, 0, 0], rate.to_f64())),
            "cells left out"
        );
        assert!(
            !agrees(&[4, 1000, 0, 0, 0], &law(&[0, 9000, 0, 0, 0], rate.to_f64())),
            "impossible draws"
        );
    }
}

#[test]
fn ends() {
    let mut random = Randomness::seeded(24);
    let (tiny, huge) = (UBig::ONE << 300, RBig::from(UBig::ONE << 300));
    let tiny = RBig::from_parts(1.into(), tiny);
    for (draw, law) in BOTH {
        assert!(matches!(
            draw(&selection(&ratio(1, 1)), &[], &mut random),
            Err(Error::Parameter(_))
        ));
        assert!(law(&[], 1.0 / 1.0).is_empty());
        assert_eq!(draw(&selection(&ratio(1, 1)), &[i64::MIN], &mut random), Ok(0));
        // A gap of one is beyond everything at this rate …
        let steep = selection(&Ratio::from_big(huge.clone()).expect("positive"));
        assert_eq!(
            law(&[0, 1, -1], huge.clone().pow(4).to_f64().value()),
            [0.0, 1.0, 0.0]
        );
        assert!((0..5000).all(|_| draw(&steep, &[0, 1, -1], &mut random) == Ok(1)));
        // … and the largest gap is nothing at this one.
        let flat = selection(&Ratio::from_big(tiny.clone()).expect("positive"));
        let scores = [i64::MIN, i64::MAX, 0];
        let mut draw = || draw(&flat, &scores, &mut random).expect("candidates");
        assert!(agrees(&counts(20_000, 3, &mut draw), &[1.0 / 3.0; 3]));
    }
}

#[test]
fn each_set_bit_is_found_equally_often() {
    let mut random = Randomness::seeded(25);
    let words = [0, 1 << 63 | 1, 0, 0b1011_0000, u64::MAX];
    let set = |i: usize| words[i / 64] >> (i % 64) & 1;
    let counts = counts(200_000, 320, || uniform_bit(&words, &mut random));
    assert!((0..320).all(|i| set(i) == 1 || counts[i] == 0));
    let counts: Vec<u64> = (0..320).filter(|i| set(*i) == 1).map(|i| counts[i]).collect();
    assert!(agrees(&counts, &[1.0 / 69.0; 69]));
}

/// What is settled follows from the number of candidates alone: two draws on the same stream leave it at the same place, whatever
/// the scores are and whichever coins are open. (They part with probability 2^-48 a pool.)
#[test]
fn the_same_randomness_is_used_for_all_scores() {
    let selection = Selection::new(ratio(1, 7)).expect("a rate");
    for candidates in [1, 2, 34, 64, 65, 300, 1024, 1500] {
        let after = |step: i64, seed: u64| {
            let scores: Vec<i64> = (0..candidates).map(|i| -(i * step % 60)).collect();
            let mut random = Randomness::seeded(seed);
            selection.flip::<PREFIX>(0, &scores, &mut random);
            random.word()
        };
        for seed in 0..50 {
            let expected = after(0, seed);
            for step in [1, 7, 13, 1_000_003] {
                assert_eq!(
                    after(step, seed),
                    expected,
                    "{candidates} candidates, seed {seed}"
                );
            }
        }
    }
}

/// Binomial tails, summed exactly: more coins than this are open with probability below 2^-48.
#[test]
fn enough_coins_are_settled() {
    use dashu_int::UBig;
    for bits in 0..=10 {
        let (n, most) = (1usize << bits, settled(1 << bits));
        // C(n, j)·127^(n−j), in units of 128^-n.
        let mut term = UBig::from(127u8).pow(n);
        let mut tail = UBig::ZERO;
        for j in 0..=n {
            if j > most {
                tail += &term;
            }
            term = term * UBig::from(n - j) / UBig::from(127u8) / UBig::from(j + 1);
        }
        assert!(tail << 48usize < UBig::from(128u8).pow(n), "{n} coins");
    }
}
