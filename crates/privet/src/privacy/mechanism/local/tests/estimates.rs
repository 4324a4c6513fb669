//! Means and variances by enumeration, and the constants and codewords they are made of.

use super::super::codebook::Codebook;
use super::super::frequency::{is_plus, row};
use super::super::top_sum::Angles;
use super::*;

/// The mean and the mean square of each estimate, over all bodies with their probabilities.
fn moments<M: LocalMechanism>(
    mechanism: &M,
    token: &Token,
    bodies: impl IntoIterator<Item = (Vec<u8>, f64)>,
) -> [Vec<f64>; 2] {
    let mut moments: [Vec<f64>; 2] = Default::default();
    for (body, probability) in bodies {
        let mut sums = vec![0; mechanism.sums()];
        assert!(mechanism.add(token, &body, &mut sums), "{body:?}");
        let estimate = mechanism.means(&sums, 1);
        for (power, moment) in moments.iter_mut().enumerate() {
            moment.resize(estimate.len(), 0.0);
            let terms = estimate.iter().map(|x| probability * x.powi(power as i32 + 1));
            moment.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
        }
    }
    moments
}

#[track_caller]
fn near(ours: f64, theirs: f64, error: f64) {
    assert!(
        (ours - theirs).abs() <= error * theirs.abs().max(1.0),
        "{ours} and {theirs}"
    );
}

fn unit(x: i32) -> f64 {
    f64::from(x) / f64::from(UNIT)
}

#[test]
fn piecewise_estimates_are_unbiased_and_vary_as_stated() {
    for epsilon in EPSILONS {
        let one = SampledPiecewise::new(eps(epsilon), 1).expect("a mechanism");
        for x in [-UNIT, -3, 0, 17, 5000, UNIT] {
            let shares = shares(&big(&one.law(x)));
            let body = |y: usize| [0u16.to_le_bytes(), (y as u16).to_le_bytes()].concat();
            let bodies = shares.iter().enumerate().map(|(y, share)| (body(y), *share));
            let [mean, square] = moments(&one, &token(1), bodies);
            near(mean[0], unit(x), 1e-10);
            near(square[0] - mean[0].powi(2), one.variance(x), 1e-9);
            // The paper's variance, up to the grid.
            let half = (epsilon / 2.0).exp();
            let paper = unit(x).powi(2) / (half - 1.0) + (half + 3.0) / (3.0 * (half - 1.0).powi(2));
            near(one.variance(x), paper, 3e-3);
        }
    }
    // Which coordinates are sampled adds to the variance of each; two of three, over all sets and outputs of one coordinate.
    let two = SampledPiecewise::sampling(eps(5.0), 3, 2).expect("a mechanism");
    let x = 5000;
    let middle = (two.law(0).len() / 2) as u16;
    let (mut mean, mut square) = (0.0, 0.0);
    for (first, second) in [(0u16, 1u16), (0, 2), (1, 2)] {
        for (y, share) in shares(&big(&two.law(x))).into_iter().enumerate() {
            let output = |place: u16| if place == 0 { y as u16 } else { middle };
            let body = [first, output(first), second, output(second)]
                .map(u16::to_le_bytes)
                .concat();
            let [one, squared] = moments(&two, &token(1), [(body, share / 3.0)]);
            mean += one[0];
            square += squared[0];
        }
    }
    near(mean, unit(x), 1e-10);
    near(square - mean * mean, two.variance(x), 1e-9);
}

#[test]
fn signs_are_unbiased_and_vary_as_stated() {
    for epsilon in EPSILONS.map(eps) {
        for dimension in [1, 2, 3, 6] {
            let signs = Signs::new(epsilon, dimension).expect("a mechanism");
            let x: Vec<i32> = [77, -UNIT, UNIT, -4000, 0, 8000][..dimension].to_vec();
            let law = law_of_coordinates(&signs, &x, |rounded| big(&signs.law_of_signs(rounded)));
            let bodies = shares(&law)
                .into_iter()
                .enumerate()
                .map(|(y, share)| (vec![y as u8], share));
            let [mean, square] = moments(&signs, &token(1), bodies);
            for (place, x) in x.iter().enumerate() {
                near(mean[place], unit(*x), 1e-10);
                near(square[place] - mean[place].powi(2), signs.variance(*x), 1e-9);
            }
        }
        // In one dimension B = (e^ε + 1)/(e^ε − 1).
        let growth = epsilon.to_f64().exp();
        let one = Signs::new(epsilon, 1).expect("a mechanism");
        near(one.variance(0), ((growth + 1.0) / (growth - 1.0)).powi(2), 1e-7);
    }
}

#[test]
fn frequencies_are_unbiased_and_vary_as_stated() {
    for epsilon in EPSILONS.map(eps) {
        for code in codes() {
            for categories in [2, 3, 5, 8] {
                let oracle = FrequencyOracle::new(epsilon, categories, code).expect("an oracle");
                for category in 0..categories {
                    let law = shares(&oracle.law(category));
                    let body = |y: usize| (y as u16).to_le_bytes()[..oracle.body_bytes()].to_vec();
                    let bodies = law.iter().enumerate().map(|(y, share)| (body(y), *share));
                    let [mean, square] = moments(&oracle, &token(1), bodies);
                    for (c, mean) in mean.iter().enumerate() {
                        near(*mean, f64::from(u8::from(c == category)), 1e-9);
                    }
                    let variance: f64 = mean.iter().zip(&square).map(|(m, s)| s - m * m).sum();
                    near(variance, oracle.variance(), 1e-9);
                }
            }
        }
    }
}

/// Each column's frequencies follow from its own messages; and the drawn category is that of the token's column.
#[test]
fn cells_are_estimated_within_their_columns() {
    let cells = SampledCells::new(eps(16.0), 5, 3).expect("a mechanism");
    let mut random = Randomness::seeded(5);
    let mut sums = vec![0; cells.sums()];
    let truth = vec![0, 1, 2, 1, 0];
    let mut counts = [0; 5];
    for seed in 0..400 {
        let token = token(seed);
        let body = cells.draw(&token, Private::new(truth.clone()), Paid::receipt(), &mut random);
        counts[cells.column(&token)] += 1;
        assert!(cells.add(&token, &body, &mut sums));
    }
    assert_eq!(cells.messages(&sums), counts);
    // At ε = 16 another category is drawn about twice in 10⁷ messages; columns are equally likely: 80 ± 8 each, six standard errors.
    assert!(
        counts.iter().all(|count| (32..=128).contains(count)),
        "{counts:?}"
    );
    for (column, means) in cells.means(&sums, 400).chunks(3).enumerate() {
        for (category, mean) in means.iter().enumerate() {
            near(*mean, f64::from(u8::from(category == truth[column])), 0.05);
        }
    }
    assert!(!cells.add(&token(1), &[7, 0], &mut sums));
    assert_eq!(cells.messages(&sums), counts);
}

/// Of as many messages as there are columns, one about each: a mean is estimated from one of them, so it moves by more than the influence over the
/// number of all messages.
#[test]
fn a_message_about_a_column_counts_among_those_about_it() {
    let cells = SampledCells::new(eps(1.0), 5, 3).expect("a mechanism");
    let mut random = Randomness::seeded(6);
    let mut sums = vec![0; cells.sums()];
    for seed in 0..400 {
        let token = token(seed);
        if cells.messages(&sums)[cells.column(&token)] == 0 {
            let body = cells.draw(&token, Private::new(vec![0; 5]), Paid::receipt(), &mut random);
            assert!(cells.add(&token, &body, &mut sums));
        }
    }
    assert_eq!((cells.messages(&sums), cells.fewest(&sums, 5)), (vec![1; 5], 1));
    let means = cells.means(&sums, 5);
    let largest = means.iter().fold(0.0, |most: f64, mean| most.max(mean.abs()));
    assert!(largest <= cells.influence() * (1.0 + 1e-9), "{largest}");
    assert!(largest > cells.influence() / 5.0, "{largest}");
}

/// The fast transform gives each row's sum of signed columns.
#[test]
fn hadamard_sums_are_those_of_the_matrix() {
    for categories in [2, 3, 4, 7, 8, 31, 100] {
        let oracle = FrequencyOracle::new(eps(1.0), categories, FrequencyCode::Hadamard).expect("an oracle");
        let sums: Vec<i64> = (0..oracle.sums() as i64).map(|j| j * j * 7919 % 1009).collect();
        let signed = oracle.signed_sums(&sums);
        for category in 0..categories {
            let signs = (0..).map(|column| if is_plus(category, column) { 1 } else { -1 });
            let direct: i64 = sums
                .iter()
                .zip(signs)
                .map(|(sum, sign): (_, i64)| sum * sign)
                .sum();
            assert_eq!(signed[row(category) as usize], direct, "{categories}, {category}");
        }
    }
}

/// Exact over draws, an average over 2,000 codebooks: five standard errors, a false-alarm rate below 10⁻⁶ for each of the numbers, besides a
/// bias of the codewords below 10⁻³.
#[test]
fn k_closest_is_unbiased_and_varies_as_stated() {
    for (epsilon, x) in [
        (1.0, [UNIT, 0, 0, 0, 0]),
        (5.0, [6554, 3277, 0, 0, 0]),
        (3.0, [2000, -1000, 3000, 10, 400]),
        (3.0, [0; 5]),
    ] {
        let closest = KClosest::new(eps(epsilon), 5, 64).expect("a mechanism");
        let square: f64 = x.iter().map(|x| unit(*x).powi(2)).sum();
        let length = square.sqrt().min(1.0);
        let codebooks = 2000;
        let mut seen: Vec<[f64; 6]> = Vec::new();
        for seed in 0..codebooks {
            let token = token(seed);
            let mut direction = x.to_vec();
            direction[0] += i32::from(square == 0.0);
            let law = mixture(&closest, &token, &direction, (length * 2f64.powi(31)) as u64);
            let bodies = shares(&law)
                .into_iter()
                .enumerate()
                .map(|(y, share)| (vec![y as u8], share));
            let [mean, squares] = moments(&closest, &token, bodies);
            let mut row = [0.0; 6];
            row[..5].copy_from_slice(&mean);
            row[5] = squares.iter().sum::<f64>() - square;
            seen.push(row);
        }
        for place in 0..6 {
            let column: Vec<f64> = seen.iter().map(|row| row[place]).collect();
            let mean = column.iter().sum::<f64>() / codebooks as f64;
            let variance = column.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / codebooks as f64;
            let error = 5.0 * (variance / codebooks as f64).sqrt();
            let (expected, bias) = match x.get(place) {
                Some(x) => (unit(*x), 1e-3),
                None => (closest.variance(length), closest.variance(length) * 1e-3),
            };
            assert!(
                (mean - expected).abs() <= error + bias,
                "{epsilon}, {x:?}, {place}: {mean}, not {expected}"
            );
        }
    }
}

/// What an independent implementation computes in 20 digits, and the variance of the best mechanism on the sphere (PrivUnit).
#[test]
fn k_closest_has_the_published_constants() {
    for (epsilon, nearest, along, sphere) in [
        (0.5, 108, 0.0282298626, 1245.97),
        (1.0, 89, 0.0562619019, 312.86),
        (3.0, 32, 0.1629996601, 36.26),
        (5.0, 9, 0.2557388993, 13.96),
    ] {
        let closest = KClosest::new(eps(epsilon), 50, 256).expect("a mechanism");
        assert_eq!(closest.nearest(), nearest, "{epsilon}");
        near((closest.variance(0.0)).powf(-0.5), along, 2e-10);
        let more = closest.variance(1.0) / sphere;
        assert!((1.0..1.025).contains(&more), "{epsilon}: {more}");
    }
}

/// A sum of cosines is at most their number. In three dimensions cosines are uniform, and in two the larger of two has the mean 4/π².
#[test]
fn sums_of_the_largest_cosines_are_exact() {
    for codewords in [2, 3, 64, 256, 1024] {
        for nearest in [1, 2, 3, 10, 100, 500].into_iter().filter(|k| *k < codewords) {
            for dimension in [2, 3, 4, 50, 1024] {
                let sum = Angles::new(dimension).top_sum(codewords, nearest);
                assert!(
                    sum > 0.0 && sum <= nearest as f64,
                    "{dimension}, {codewords}, {nearest}: {sum}"
                );
            }
            let (m, k) = (codewords as f64, nearest as f64);
            let sum = Angles::new(3).top_sum(codewords, nearest);
            near(sum, k - k * (k + 1.0) / (m + 1.0), 1e-6);
        }
    }
    near(
        Angles::new(2).top_sum(2, 1),
        4.0 / std::f64::consts::PI.powi(2),
        1e-9,
    );
}

/// The number of nearest codewords is found by a search; trying all of them finds the same.
#[test]
fn the_best_number_of_codewords_is_found() {
    for epsilon in EPSILONS.map(eps) {
        for codewords in [2, 3, 7, 64] {
            let closest = KClosest::new(epsilon, 10, codewords).expect("a mechanism");
            let best = (1..codewords)
                .map(|nearest| closest.with_nearest(nearest).variance(0.0))
                .fold(f64::INFINITY, f64::min);
            near(closest.variance(0.0), best, 1e-12);
        }
    }
}

#[test]
fn codewords_are_found_alone_and_are_equally_long() {
    for dimension in [2, 31, 32, 33, 50, 300, 1024] {
        let token = token(9);
        let mut all = Codebook::new(&token, dimension);
        let (mut one, mut other) = (vec![0; dimension], vec![0; dimension]);
        for number in 0..20 {
            let scale = all.next(&mut one);
            let mut alone = Codebook::new(&token, dimension);
            alone.seek(number);
            assert_eq!((alone.next(&mut other), &other), (scale, &one));
            let square: i64 = one.iter().map(|c| i64::from(*c).pow(2)).sum();
            let length = (square as f64).sqrt() * scale as f64 / 2f64.powi(23);
            assert!(
                length <= 1.0 && 1.0 - length < 1.0 / scale as f64,
                "{dimension}: {length}"
            );
            assert!(one.iter().all(|c| *c != 0));
        }
    }
    // The variance of coordinates is that of the table: 30², and a little for what was zero.
    let mut codebook = Codebook::new(&token(3), 1000);
    let mut codeword = vec![0; 1000];
    let mut square = 0.0;
    for _ in 0..200 {
        codebook.next(&mut codeword);
        square += codeword.iter().map(|c| f64::from(*c).powi(2)).sum::<f64>();
    }
    // Five standard errors of a sum of 200,000 squares.
    assert!((square / 200_000.0 / 900.0 - 1.0).abs() < 5.0 * (2.0f64 / 200_000.0).sqrt());
}
