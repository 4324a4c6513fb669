//! Every mechanism by enumeration: its largest quotient of probabilities, its means and its variances; its sampler against its law; and
//! wrong ones, which these tests must refuse.

mod estimates;
mod samplers;

use std::collections::BTreeSet;

use dashu_int::UBig;
use dashu_ratio::RBig;

use super::weights::Weights;
use super::*;
use crate::privacy::enclosure::Enclosure;

const EPSILONS: [f64; 6] = [0.1, 0.5, 1.0, 3.0, 5.0, 9.0];

fn eps(value: f64) -> Epsilon {
    Epsilon::new(value).expect("an ε")
}

fn token(seed: u64) -> Token {
    Token::draw(&mut Randomness::seeded(seed))
}

fn big(law: &[u64]) -> Vec<UBig> {
    law.iter().map(|weight| UBig::from(*weight)).collect()
}

/// The largest quotient of probabilities over all outputs and all pairs of inputs. All laws must have the same total.
fn largest_quotient(laws: &[Vec<UBig>]) -> RBig {
    let total: UBig = laws[0].iter().sum();
    assert!(laws.iter().all(|law| law.iter().sum::<UBig>() == total));
    let extremes = (0..laws[0].len()).map(|output| {
        let weights = || laws.iter().map(|law| &law[output]);
        (weights().max(), weights().min())
    });
    let different: BTreeSet<_> = extremes.collect();
    let quotient = |(most, least): (Option<&UBig>, Option<&UBig>)| {
        let [most, least] = [most, least].map(|weight| weight.expect("an input").clone());
        RBig::from_parts(most.into(), least)
    };
    different.into_iter().map(quotient).max().expect("an output")
}

/// Whether a quotient is at most e^ε, by enclosures.
fn holds(quotient: &RBig, epsilon: Epsilon) -> bool {
    let bits = 256;
    let most = Enclosure::ratio(&epsilon.to_ratio(), bits).exp();
    Enclosure::ratio(quotient, bits).high() <= most.low()
}

/// At most e^ε, exactly, and less than 10⁻⁸ of ε is left unused.
#[track_caller]
fn holds_and_is_attained(quotient: &RBig, epsilon: Epsilon, what: &str) {
    assert!(
        holds(quotient, epsilon),
        "{what}: {}",
        quotient.to_f64().value().ln()
    );
    let unused = epsilon.to_f64() - Enclosure::ratio(quotient, 256).ln().to_f64();
    assert!((0.0..1e-8).contains(&unused), "{what}: {unused} of ε is unused");
}

/// The law of a vector of this length, as a mixture of those of its direction and of the opposite one.
fn mixture(closest: &KClosest, token: &Token, direction: &[i32], length: u64) -> Vec<UBig> {
    let opposite: Vec<i32> = direction.iter().map(|x| -x).collect();
    let [plus, minus] = [closest.law(token, direction), closest.law(token, &opposite)];
    let weigh = |(p, m): (&u64, &u64)| {
        UBig::from(*p) * ((1u64 << 31) + length) + UBig::from(*m) * ((1u64 << 31) - length)
    };
    plus.iter().zip(&minus).map(weigh).collect()
}

fn shares(law: &[UBig]) -> Vec<f64> {
    let float = |weight: &UBig| weight.to_f64().value();
    let total = float(&law.iter().sum());
    law.iter().map(|weight| float(weight) / total).collect()
}

fn directions() -> Vec<Vec<i32>> {
    let mut random = Randomness::seeded(5);
    let mut all = vec![
        vec![UNIT, 0, 0, 0],
        vec![-UNIT, 0, 0, 0],
        vec![1, 0, 0, 0],
        vec![0; 4],
    ];
    all.extend((0..12).map(|_| {
        let mut coordinate = || (random.word() % 8193) as i32 - UNIT / 2;
        (0..4).map(|_| coordinate()).collect()
    }));
    all
}

#[test]
fn k_closest_is_within_epsilon_for_every_codebook() {
    for epsilon in EPSILONS.map(eps) {
        for codewords in [2, 5, 16, 40] {
            let closest = KClosest::new(epsilon, 4, codewords).expect("a mechanism");
            for seed in 0..3 {
                let token = token(seed);
                let laws: Vec<Vec<UBig>> = directions()
                    .iter()
                    .map(|x| big(&closest.law(&token, x)))
                    .collect();
                for law in &laws {
                    let likely = law.iter().filter(|weight| **weight > UBig::ONE << 32).count();
                    assert_eq!(likely as u64, closest.nearest(), "{}", closest.describe());
                }
                holds_and_is_attained(&largest_quotient(&laws), epsilon, &closest.describe());
            }
        }
    }
}

#[test]
fn short_vectors_are_mixtures_within_epsilon() {
    let closest = KClosest::new(eps(1.0), 4, 16).expect("a mechanism");
    for seed in 0..3 {
        let token = token(seed);
        let of = |length: u64| {
            directions()
                .iter()
                .filter(|x| **x != [0; 4])
                .map(|x| mixture(&closest, &token, x, length))
                .collect::<Vec<_>>()
        };
        let laws = [of(0), of(1 << 30), of(1 << 31)].concat();
        holds_and_is_attained(&largest_quotient(&laws), eps(1.0), "mixtures");
        // Without the vectors of length one nothing attains it.
        assert!(largest_quotient(&of(1 << 30)) < largest_quotient(&laws));
    }
}

#[test]
fn sampled_coordinates_are_within_epsilon_together() {
    for epsilon in EPSILONS.map(eps) {
        for sampled in [1, 2, 3] {
            let piecewise = SampledPiecewise::sampling(epsilon, 3, sampled).expect("a mechanism");
            let inputs = [-UNIT, -UNIT + 1, -7, 0, 1, 4000, UNIT];
            let laws: Vec<Vec<UBig>> = inputs.iter().map(|x| big(&piecewise.law(*x))).collect();
            let one = largest_quotient(&laws);
            // Coordinates are drawn independently, and which ones does not depend on them.
            let all = (0..sampled).fold(RBig::ONE, |product, _| product * &one);
            holds_and_is_attained(&all, epsilon, &piecewise.describe());
        }
    }
    let sampled = |epsilon, dimension| {
        SampledPiecewise::new(eps(epsilon), dimension)
            .expect("a mechanism")
            .sampled()
    };
    assert_eq!([0.5, 2.4, 2.5, 7.4, 7.5].map(|e| sampled(e, 50)), [1, 1, 1, 2, 3]);
    assert_eq!(sampled(9.0, 2), 2);
}

/// The law of real coordinates, over all ways in which they can be rounded to signs.
fn law_of_coordinates(signs: &Signs, x: &[i32], law: impl Fn(u64) -> Vec<UBig>) -> Vec<UBig> {
    let mut sum = vec![UBig::ZERO; 1 << signs.dimension()];
    for rounded in 0..1u64 << x.len() {
        let share = x.iter().enumerate().map(|(place, x)| {
            let towards = if rounded >> place & 1 == 1 {
                UNIT + x
            } else {
                UNIT - x
            };
            UBig::from(towards.unsigned_abs())
        });
        let share: UBig = share.product();
        let weighted = law(rounded).into_iter().map(|weight| weight * &share);
        sum.iter_mut()
            .zip(weighted)
            .for_each(|(sum, weight)| *sum += weight);
    }
    sum
}

fn corners(dimension: usize) -> Vec<Vec<i32>> {
    let values = [-UNIT, 5, UNIT];
    let all = 3usize.pow(dimension as u32);
    (0..all)
        .map(|n| {
            (0..dimension)
                .map(|place| values[n / 3usize.pow(place as u32) % 3])
                .collect()
        })
        .collect()
}

#[test]
fn signs_are_within_epsilon() {
    for epsilon in EPSILONS.map(eps) {
        for dimension in 1..=4 {
            let signs = Signs::new(epsilon, dimension).expect("a mechanism");
            let of =
                |x: &Vec<i32>| law_of_coordinates(&signs, x, |rounded| big(&signs.law_of_signs(rounded)));
            let laws: Vec<Vec<UBig>> = corners(dimension).iter().map(of).collect();
            holds_and_is_attained(&largest_quotient(&laws), epsilon, &signs.describe());
        }
    }
}

/// As published: vectors that agree in exactly half of the coordinates are drawn from both sides.
#[test]
fn ties_on_both_sides_exceed_the_published_epsilon() {
    for epsilon in EPSILONS.map(eps) {
        for dimension in [2, 4] {
            let weights = Weights::new(epsilon).expect("weights");
            let as_published = |rounded: u64| -> Vec<UBig> {
                let weight = |drawn: u64| match (2 * (drawn ^ rounded).count_ones()).cmp(&dimension) {
                    std::cmp::Ordering::Less => UBig::from(weights.likely),
                    std::cmp::Ordering::Equal => UBig::from(weights.likely + weights.other),
                    std::cmp::Ordering::Greater => UBig::from(weights.other),
                };
                (0..1 << dimension).map(weight).collect()
            };
            let laws: Vec<Vec<UBig>> = (0..1 << dimension).map(as_published).collect();
            let quotient = largest_quotient(&laws);
            assert!(!holds(&quotient, epsilon));
            let shown = quotient.to_f64().value().ln();
            assert!(
                (shown - (1.0 + epsilon.to_f64().exp()).ln()).abs() < 1e-8,
                "{shown}"
            );
        }
    }
}

fn codes() -> [FrequencyCode; 3] {
    [
        FrequencyCode::Response,
        FrequencyCode::Unary,
        FrequencyCode::Hadamard,
    ]
}

#[test]
fn frequency_oracles_are_within_epsilon() {
    for epsilon in EPSILONS.map(eps) {
        for code in codes() {
            for categories in [2, 3, 4, 7, 8] {
                let oracle = FrequencyOracle::new(epsilon, categories, code).expect("an oracle");
                let laws: Vec<Vec<UBig>> = (0..categories).map(|c| oracle.law(c)).collect();
                holds_and_is_attained(&largest_quotient(&laws), epsilon, &oracle.describe());
            }
        }
    }
}

/// Given the token, the law is that of one column's category; a column that followed from the categories would be caught.
#[test]
fn sampled_cells_are_within_epsilon() {
    for epsilon in EPSILONS.map(eps) {
        let cells = SampledCells::new(epsilon, 3, 4).expect("a mechanism");
        let inputs = || (0..64usize).map(|i| vec![i % 4, i / 4 % 4, i / 16]);
        let mut columns = BTreeSet::new();
        for seed in 0..20 {
            let column = cells.column(&token(seed));
            columns.insert(column);
            let laws: Vec<Vec<UBig>> = inputs().map(|input| cells.oracle().law(input[column])).collect();
            holds_and_is_attained(&largest_quotient(&laws), epsilon, &cells.describe());
        }
        assert_eq!(columns.len(), 3, "each column is chosen by some token");
    }
}

/// A weight that is one too large, and an ε that is a tenth too large, are seen by the same enumeration.
#[test]
fn wrong_weights_exceed_epsilon() {
    for epsilon in EPSILONS.map(eps) {
        let right = Weights::new(epsilon).expect("weights");
        let quotient = |weights: Weights| RBig::from_parts(weights.likely.into(), weights.other.into());
        assert!(holds(&quotient(right), epsilon));
        let one_more = Weights {
            likely: right.likely + 1,
            ..right
        };
        assert!(!holds(&quotient(one_more), epsilon), "{epsilon}");
        let tenth_more =
            Weights::new(Epsilon::from_billionths(epsilon.billionths() / 10 * 11)).expect("weights");
        assert!(!holds(&quotient(tenth_more), epsilon), "{epsilon}");
    }
}
