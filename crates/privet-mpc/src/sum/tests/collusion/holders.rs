//! The same where some owners deal shares and hold none.

use std::collections::BTreeMap;

use super::super::super::field::{Prime, Toy, add};
use super::super::super::scheme::Scheme;
use super::super::super::shape::Shape;
use super::{Shown, digits, ever_tells_more, opened, shares_of, strategies};

/// Owners that only deal: whoever colludes, of those who hold shares and of those who do not.
#[test]
fn all_views_of_fewer_holders_depend_on_one_sum_only() {
    for shape in [
        Shape::new(3, 0, 1, 1).unwrap(),
        Shape::new(4, 0, 1, 1).unwrap(),
        Shape::with(4, 0, 2, 1, 3).unwrap(),
    ] {
        assert!(shape.holders < shape.owners);
        assert!(!ever_tells_more::<Toy<7>>(shape), "{shape:?}");
        let random = shape.random - 1;
        assert!(ever_tells_more::<Toy<7>>(Shape { random, ..shape }), "{shape:?}");
    }
    // One of five may be absent, and the miner may show each of four holders another set.
    let shape = Shape::new(5, 1, 1, 1).unwrap();
    assert_eq!((shape.holders, shape.random), (4, 2));
    for colluder in [0, 3] {
        assert!(!tells_more_given_shares(shape, colluder));
        // One random value fewer, so that two of three honest holders open a set.
        assert!(tells_more_given_shares(Shape { random: 1, ..shape }, colluder));
    }
}

/// Whether answers tell more than one sum, given what one colluding holder was dealt: with one of five owners absent, for all sets that a miner can
/// show and some vectors. What other shares of the colluder add to an answer it knows.
fn tells_more_given_shares(shape: Shape, colluder: usize) -> bool {
    type F = Toy<7>;
    let scheme = Scheme::<F>::new(shape);
    let honest: Vec<usize> = (0..shape.owners).filter(|owner| *owner != colluder).collect();
    let inputs = [
        [0, 0, 0, 0],
        [1, 6, 0, 0],
        [3, 2, 2, 0],
        [0, 1, 6, 3],
        [2, 5, 4, 6],
    ];
    let mut compared = 0;
    for shown in strategies(&shape, 1 << colluder) {
        let sets = opened(&shape, 1 << colluder, &shown);
        for dealt in [[0, 0, 0, 0], [1, 2, 3, 4], [6, 0, 6, 5]] {
            let mut seen: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            for numbers in inputs {
                let members = (honest.iter().zip(numbers))
                    .filter(|(owner, _)| sets.first().is_some_and(|set| set >> **owner & 1 == 1));
                let sum = members.fold(0, |sum, (_, number)| add::<F>(sum, number));
                let counts = answers_given(&scheme, &shown, &honest, numbers, (colluder, dealt));
                if let Some(before) = seen.get(&sum) {
                    compared += 1;
                    if *before != counts {
                        return true;
                    }
                }
                seen.insert(sum, counts);
            }
        }
    }
    assert!(compared > 1_000);
    false
}

/// How often answers occur, over all randomness with which each honest owner deals the colluder what it was dealt.
fn answers_given<F: Prime>(
    scheme: &Scheme<F>,
    shown: &Shown,
    honest: &[usize],
    numbers: [u64; 4],
    (colluder, dealt): (usize, [u64; 4]),
) -> Vec<u32> {
    let random = scheme.shape().random;
    let answering = (0..).zip(shown).filter_map(|(me, set)| Some((me, (*set)?)));
    let answering: Vec<(usize, u32)> = answering.collect();
    let place = |answers: &[u64]| answers.iter().fold(0, |place, x| place * F::MODULUS + x) as usize;
    let mut counts = vec![0; F::MODULUS.pow(answering.len() as u32) as usize];
    counts[0] = 1;
    for ((owner, number), dealt) in honest.iter().zip(numbers).zip(dealt) {
        let all = (0..F::MODULUS.pow(random as u32)).map(|number| digits::<F>(number, random));
        let shares = all.map(|random| shares_of(scheme, &[number], &random));
        let parts: Vec<Vec<u64>> = shares
            .filter(|shares| shares[colluder] == dealt)
            .map(|shares| {
                let part = |(me, set): &(usize, u32)| if set >> owner & 1 == 1 { shares[*me] } else { 0 };
                answering.iter().map(part).collect()
            })
            .collect();
        let mut more = vec![0; counts.len()];
        for (before, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let mut before = digits::<F>(before as u64, answering.len());
            before.reverse();
            for part in &parts {
                let sums: Vec<u64> = before.iter().zip(part).map(|(a, b)| add::<F>(*a, *b)).collect();
                more[place(&sums)] += count;
            }
        }
        counts = more;
    }
    counts
}
