//! Tables against their thresholds, by enumeration and by law.

use super::*;
use dashu_ratio::RBig;

/// P(X ≤ k) = 1 − q^(k+1) with q = e^-rate; finite if `values` is given.
struct Steps {
    rate: RBig,
    values: usize,
}

impl Cumulative for Steps {
    fn thresholds(&self, bits: usize) -> Box<dyn Iterator<Item = Enclosure> + '_> {
        let q = Enclosure::ratio(&-self.rate.clone(), bits).exp();
        let mut power = Enclosure::integer(1, bits);
        let terms = std::iter::repeat_with(move || {
            power = power.mul(&q);
            Enclosure::integer(1, bits).sub(&power)
        });
        Box::new(terms.take(self.values - 1))
    }
}

fn laws() -> [Steps; 5] {
    [
        (1, 3, usize::MAX),
        (1, 20, usize::MAX),
        (50, 1, usize::MAX),
        (1, 5, 7),
        (1, 2, 1),
    ]
    .map(|(n, d, values)| Steps {
        rate: RBig::from_parts(n.into(), u64::into(d)),
        values,
    })
}

/// Thresholds cut to `digits`, from much longer ones.
fn cut(law: &Steps, digits: usize) -> Vec<u64> {
    law.thresholds(300)
        .take(2000)
        .map(|t| {
            let x = (t.low() >> (300 - digits)).min((IBig::ONE << digits) - 1);
            u64::try_from(&x).expect("small")
        })
        .collect()
}

#[test]
fn key_is_monotone_without_gaps() {
    for mantissa in 1..8 {
        for v in 0..5000u64 {
            let (here, next) = (key(v, mantissa), key(v + 1, mantissa));
            assert!(next == here || next == here + 1);
        }
    }
}

#[test]
fn every_prefix_is_decided_or_resolved() {
    fn check<const WIDTH: u32>(law: Steps) {
        let cuts = cut(&law, WIDTH as usize);
        let table = Thresholds::<Steps, WIDTH>::new(law, 1 << 20).expect("a small table");
        let mut random = Randomness::seeded(3);
        for u in 0..1u64 << WIDTH {
            let v = (1 << WIDTH) - 1 - u;
            let sure = cuts.iter().filter(|t| **t < u).count() as u64;
            let unsure = cuts.iter().filter(|t| **t <= u).count() as u64;
            for _ in 0..4 {
                let x = table.find(v << (64 - WIDTH), table.steps, &mut random);
                if u == (1 << WIDTH) - 1 && table.law.values == usize::MAX {
                    assert!(x >= sure, "the tail goes on beyond the table");
                } else {
                    assert!(
                        (sure..=unsure).contains(&x),
                        "{u} gave {x}, not {sure}..={unsure}"
                    );
                }
            }
        }
    }
    for law in laws() {
        check::<4>(law);
    }
    for law in laws() {
        check::<8>(law);
    }
    for law in laws() {
        check::<13>(law);
    }
}

#[test]
fn slow_path_is_exact_digit_by_digit() {
    for law in laws() {
        for known in [4, 8, 12] {
            let cuts = cut(&law, known);
            for u in 0..1u64 << known {
                let below = cuts.iter().filter(|t| **t < u).count() as u64;
                let expected = (!cuts.contains(&u)).then_some(below);
                assert_eq!(place(&law, &u.into(), known), expected, "{u} of {known} digits");
            }
        }
    }
}

/// With two digits in the table nearly every draw is resolved. False alarm below 2e-7: 300 Bernstein bounds at 6e-10.
#[test]
fn narrow_tables_keep_the_law() {
    for law in laws() {
        let t: Vec<f64> = law.thresholds(100).take(60).map(|t| t.to_f64()).collect();
        let table = Thresholds::<Steps, 2>::new(law, 1 << 20).expect("a small table");
        let mut random = Randomness::seeded(4);
        let n = 20_000;
        let draws: Vec<u64> = (0..n).map(|_| table.draw(&mut random).0).collect();
        for (k, t) in t.iter().enumerate() {
            let share = draws.iter().filter(|x| **x <= k as u64).count() as f64 / f64::from(n);
            let bound = (2.0 * t * (1.0 - t) * 22.0 / f64::from(n)).sqrt() + 22.0 / f64::from(n);
            assert!((share - t).abs() <= bound, "P(X ≤ {k}) = {t}, drew {share}");
        }
    }
}

#[test]
fn bulk_equals_single_draws_and_saturates() {
    let law = || Steps {
        rate: RBig::from_parts(1.into(), 9u8.into()),
        values: usize::MAX,
    };
    let table = Thresholds::<Steps>::new(law(), 1 << 12).expect("a small table");
    let mut bulk = vec![0i64; 3 * BLOCK + 5];
    table.add_signed(&mut bulk, &mut Randomness::seeded(5));
    let mut random = Randomness::seeded(5);
    for value in bulk {
        let (x, negative) = table.draw(&mut random);
        assert_eq!(value, if negative { -(x as i64) } else { x as i64 });
    }
    let mut ends = vec![i64::MAX; 100];
    ends.extend([i64::MIN; 100]);
    table.add_signed(&mut ends, &mut random);
    assert!(ends[..100].iter().all(|x| *x > i64::MAX - 500) && ends.contains(&i64::MAX));
    assert!(ends[100..].iter().all(|x| *x < i64::MIN + 500) && ends.contains(&i64::MIN));
}

#[test]
fn the_sign_is_the_one_digit_that_the_value_does_not_use() {
    let [_, law, ..] = laws();
    let table = Thresholds::<Steps>::new(law, 1 << 12).expect("a small table");
    let mut random = Randomness::seeded(6);
    let words: Vec<u64> = (0..2000).map(|_| random.word()).collect();
    let mut read = |word| table.read(word, table.steps, &mut random);
    for word in &words {
        let (x, coin) = read(*word);
        assert_eq!(coin, word & 1 == 1);
        assert_eq!(
            read(word ^ 1),
            (x, !coin),
            "the last digit turns the sign and nothing else"
        );
        for digit in 1..64 {
            assert_eq!(
                read(word ^ (1 << digit)).1,
                coin,
                "digit {digit} does not turn the sign"
            );
        }
    }
    // And draws read just the stream's words.
    let [mut stream, mut same] = [7, 7].map(Randomness::seeded);
    for _ in 0..100 {
        assert_eq!(table.draw(&mut stream), read(same.word()));
    }
}

#[test]
fn too_many_entries_are_refused() {
    let [_, wide, ..] = laws();
    assert!(Thresholds::<Steps>::new(wide, 100).is_none());
}
