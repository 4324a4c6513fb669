//! Arithmetic, the shapes of sums, and which answers do not fit. What colluders see: `collusion`.
#![allow(clippy::unwrap_used, reason = "tests")]

mod collusion;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::field::{self, Mersenne61, Prime, Toy, add, dot, mul, sub};
use super::misfits::misfits;
use super::scheme::{Interpolated, Scheme};
use super::seed::Seed;
use super::shape::Shape;
use super::{MODULUS, SumFault};
use crate::Error;

const P: u128 = MODULUS as u128;

/// Numbers at the borders, and random ones.
fn samples() -> Vec<u64> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut samples = vec![0, 1, 2, MODULUS - 1, MODULUS - 2, MODULUS / 2, MODULUS / 2 + 1];
    samples.extend((0..60).map(|_| random.next_u64() % MODULUS));
    samples
}

#[test]
fn elements_are_added_and_multiplied_as_big_numbers_are() {
    for a in samples() {
        for b in samples() {
            let (x, y) = (u128::from(a), u128::from(b));
            assert_eq!(u128::from(add::<Mersenne61>(a, b)), (x + y) % P);
            assert_eq!(u128::from(sub::<Mersenne61>(a, b)), (x + P - y) % P);
            assert_eq!(u128::from(mul::<Mersenne61>(a, b)), x * y % P);
        }
    }
    for number in [0, P - 1, P, P + 1, 2 * P, P * P, (1 << 122) - 1, (1 << 127) - 1] {
        assert_eq!(u128::from(Mersenne61::reduce(number)), number % P, "{number}");
    }
    let (a, b) = (vec![MODULUS - 1; 100], vec![MODULUS - 1; 100]);
    assert_eq!(dot::<Mersenne61>(&a, &b), 100);
    assert_eq!(dot::<Mersenne61>(&a, &samples()[..7]), {
        let sum: u128 = samples()[..7].iter().map(|x| u128::from(*x)).sum();
        ((P - sum % P) % P) as u64
    });
}

#[test]
fn signed_numbers_come_back_modulo_the_prime() {
    let half = (MODULUS / 2) as i64;
    for number in [0, 1, -1, half, -half, 12_345, -12_345] {
        assert_eq!(
            field::centred::<Mersenne61>(field::from_signed::<Mersenne61>(number)),
            number
        );
    }
    for number in [i64::MIN, i64::MAX, half + 1, -half - 1] {
        let element = field::from_signed::<Mersenne61>(number);
        assert_eq!(
            i128::from(element),
            i128::from(number).rem_euclid(i128::from(MODULUS))
        );
    }
}

#[test]
fn only_numbers_below_the_prime_are_elements() {
    for (number, element) in [
        (0, true),
        (MODULUS - 1, true),
        (MODULUS, false),
        (u64::MAX, false),
    ] {
        assert_eq!(
            field::from_bytes::<Mersenne61>(number.to_le_bytes()).is_some(),
            element
        );
    }
}

#[test]
fn a_stream_is_uniform_and_of_one_owner_round_and_vector() {
    let words = |seed: u8, owner, round, numbers: &[u64]| {
        let mut words = [0; 200];
        let mut stream = Seed::new([seed; 32]).stream(owner, round, numbers);
        stream.fill::<Mersenne61>(&mut words);
        words
    };
    let one = words(1, 2, 3, &[4, 5]);
    assert_eq!(one, words(1, 2, 3, &[4, 5]));
    for other in [
        words(2, 2, 3, &[4, 5]),
        words(1, 1, 3, &[4, 5]),
        words(1, 2, 4, &[4, 5]),
        words(1, 2, 3, &[4, 6]),
    ] {
        assert!(one.iter().all(|word| !other.contains(word)));
    }
    // 11 of 16 values of four bits are taken. Chi-square with 10 degrees of freedom is above 60 with probability 4e-9.
    let mut drawn = vec![0; 110_000];
    Seed::new([1; 32]).stream(0, 0, &[]).fill::<Toy<11>>(&mut drawn);
    let counts: Vec<f64> = (0..11)
        .map(|x| drawn.iter().filter(|y| **y == x).count() as f64)
        .collect();
    let chi_square: f64 = counts.iter().map(|count| (count - 1e4).powi(2) / 1e4).sum();
    assert!(chi_square < 60.0, "{counts:?}");
}

#[test]
fn shapes_are_those_of_the_proof() {
    let shape = |owners, absent, colluding, length| Shape::new(owners, absent, colluding, length).unwrap();
    let told = |shape: Shape| (shape.holders, shape.pieces, shape.packed, shape.required());
    assert_eq!(told(shape(100, 10, 10, 24)), (53, 2, 12, 43));
    assert_eq!(told(shape(20, 2, 2, 24)), (17, 4, 6, 15));
    assert_eq!(told(shape(1000, 50, 50, 24)), (197, 1, 24, 147));
    assert_eq!(told(shape(3, 0, 1, 24)), (3, 12, 2, 3));
    assert_eq!(told(shape(4, 1, 1, 2)), (4, 2, 1, 3));
    assert_eq!(told(shape(3, 0, 1, 3)), (2, 3, 1, 2));
    let mut possible = 0;
    for owners in 0..40 {
        for absent in 0..14 {
            for colluding in 0..42 {
                let honest = owners - colluding.min(owners);
                let allowed = owners >= 3
                    && colluding >= 1
                    && honest >= 1
                    && (absent == 0 || honest > 3 * absent || (honest, absent) == (3, 1));
                let shape = Shape::new(owners as usize, absent as usize, colluding as usize, 24);
                assert_eq!(shape.is_ok(), allowed, "{owners} {absent} {colluding}");
                let Ok(shape) = shape else { continue };
                possible += 1;
                let size = |shape: Shape| shape.holders * shape.envelope_bytes();
                for holders in 0..=owners as usize {
                    let Some(other) =
                        Shape::with(owners as usize, absent as usize, colluding as usize, 24, holders)
                    else {
                        continue;
                    };
                    is_proved(&other);
                    assert!(size(shape) <= size(other));
                }
                is_proved(&shape);
                // All owners may hold shares whenever some may.
                assert!(
                    Shape::with(
                        owners as usize,
                        absent as usize,
                        colluding as usize,
                        24,
                        owners as usize
                    )
                    .is_some()
                );
            }
        }
    }
    assert!(possible > 1000);
}

/// What the proof asks of numbers, also where fewer owners collude than agreed on, or fewer of them hold shares.
fn is_proved(shape: &Shape) {
    let Shape {
        owners,
        absent,
        colluding,
        holders,
        pieces,
        packed,
        ..
    } = *shape;
    assert!(holders <= owners && shape.required() + absent <= holders);
    assert!(pieces * packed >= shape.length && (pieces - 1) * packed < shape.length);
    if absent == 0 {
        return;
    }
    for really in 0..=colluding {
        for among in 0..=really {
            let (honest, answering) = (owners - really, holders - among);
            let hidden = shape.random - among;
            // No two sets of honest holders that answer for different survivor sets can both be large enough.
            assert!(2 * (hidden + 1) > answering, "{shape:?}");
            // Nor do so few tell apart owners in classes of at most `absent`; three owners of which one is absent are proved apart.
            let three = (absent, answering, honest) == (1, 3, 3);
            assert!(2 * absent <= honest);
            assert!(
                three || (hidden + 1) * honest > 2 * absent * answering,
                "{shape:?} {really} {among}"
            );
        }
    }
}

#[test]
fn terms_that_cannot_be_kept_are_refused_with_data() {
    let fault = |owners, absent, colluding, length| match Shape::new(owners, absent, colluding, length) {
        Err(Error::Sum(fault)) => fault,
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(2, 0, 1, 1), SumFault::FewOwners { owners: 2 });
    assert_eq!(fault(10_001, 0, 1, 1), SumFault::ManyOwners { most: 10_000 });
    assert_eq!(fault(3, 0, 0, 1), SumFault::NobodyColludes);
    for length in [0, 4_097] {
        assert_eq!(fault(3, 0, 1, length), SumFault::Length { length, most: 4_096 });
    }
    for (owners, absent, colluding) in [
        (3, 1, 1),
        (7, 2, 1),
        (3, 0, 3),
        (9, usize::MAX, 1),
        (9, 1, usize::MAX),
    ] {
        let expected = SumFault::ManyAbsent {
            owners,
            absent,
            colluding,
        };
        assert_eq!(fault(owners, absent, colluding, 1), expected);
    }
}

/// A polynomial with random values, at the points 1, 2, ….
fn values(random: &mut ChaCha8Rng, coefficients: usize, count: usize) -> (Vec<u64>, Vec<u64>) {
    let polynomial: Vec<u64> = (0..coefficients).map(|_| random.next_u64() % MODULUS).collect();
    let points: Vec<u64> = (1..=count as u64).collect();
    let value = |point: &u64| {
        let high_first = polynomial.iter().rev();
        high_first.fold(0, |value, c| {
            add::<Mersenne61>(mul::<Mersenne61>(value, *point), *c)
        })
    };
    let values = points.iter().map(value).collect();
    (points, values)
}

#[test]
fn wrong_values_are_found_as_far_as_they_are_determined() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for (coefficients, count) in [(1, 3), (3, 5), (5, 9), (8, 20), (1, 2), (7, 8)] {
        for wrong in 0..=(count - coefficients) {
            let (points, mut given) = values(&mut random, coefficients, count);
            let places: Vec<usize> = (0..wrong).map(|at| at * count / wrong).collect();
            for place in &places {
                given[*place] = add::<Mersenne61>(given[*place], 1 + random.next_u64() % 1000);
            }
            let found = misfits::<Mersenne61>(&points, &given, coefficients);
            match 2 * wrong <= count - coefficients {
                true => assert_eq!(found, Some(places), "{coefficients} {count} {wrong}"),
                // Other values than these differ from all polynomials in more places, but with probability about 2^-61.
                false => assert_eq!(found, None, "{coefficients} {count} {wrong}"),
            }
        }
    }
    let zeros = vec![0; 6];
    assert_eq!(
        misfits::<Mersenne61>(&[1, 2, 3, 4, 5, 6], &zeros, 3),
        Some(vec![])
    );
}

/// Any answers of the required number open to the same, and one fewer leaves every number possible.
#[test]
fn exactly_the_required_answers_open() {
    let shape = Shape::with(7, 1, 2, 3, 7).unwrap();
    let scheme = Scheme::<Toy<13>>::new(shape);
    let (required, pieces) = (shape.required(), shape.pieces);
    assert_eq!((required, shape.packed, pieces), (6, 2, 2));
    let mut nodes = vec![0; required];
    let mut shares = vec![0; 7 * pieces];
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let fill = |values: &mut [u64]| values.iter_mut().for_each(|x| *x = random.next_u64() % 13);
    scheme.share(&[5, 12, 7], fill, &mut nodes, &mut shares);
    for left_out in 0..7 {
        let owners: Vec<u16> = (0..7).filter(|owner| *owner != left_out).collect();
        let answers: Vec<u64> = owners
            .iter()
            .flat_map(|owner| shares[usize::from(*owner) * pieces..][..pieces].to_vec())
            .collect();
        assert_eq!(
            scheme.interpolate(&owners, &answers),
            Interpolated::Whole(vec![5, 12, 7])
        );
    }
    // A seventh answer that is wrong is noticed, and whose it is cannot be said.
    shares[3] = (shares[3] + 1) % 13;
    let all: Vec<u16> = (0..7).collect();
    assert_eq!(
        scheme.interpolate(&all, &shares),
        Interpolated::Inconsistent(vec![])
    );
}
