//! What the miner and colluding owners see, whatever survivor sets the miner shows.
//!
//! In small fields all randomness is tried, and the counts of all views are compared. In larger ones the view is an affine function of
//! uniform randomness, so that it tells of the numbers exactly those combinations in which the randomness cancels.

mod holders;

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use super::super::field::{Mersenne61, Prime, Toy, add, invert_all, mul, sub};
use super::super::scheme::Scheme;
use super::super::shape::Shape;

/// For each owner the survivor set that it answers for, as bits; none if it does not answer, holds no shares or colludes.
type Shown = Vec<Option<u32>>;

fn shares_of<F: Prime>(scheme: &Scheme<F>, numbers: &[u64], random: &[u64]) -> Vec<u64> {
    let shape = scheme.shape();
    let mut shares = vec![0; shape.holders * shape.pieces];
    let mut random = random.iter().copied();
    let fill = |values: &mut [u64]| values.fill_with(|| random.next().unwrap());
    scheme.share(numbers, fill, &mut vec![0; shape.required()], &mut shares);
    shares
}

/// What the colluders are given of every honest owner's shares, and what honest owners answer. Colluders' own numbers are theirs to choose,
/// and their polynomials known to them: zero here.
fn view<F: Prime>(shape: &Shape, colluders: u32, shown: &Shown, shares: &[&Vec<u64>]) -> Vec<u64> {
    let pieces = shape.pieces;
    let bit = |set: u32, owner: usize| set >> owner & 1 == 1;
    let honest = |owner: &usize| !bit(colluders, *owner);
    let mut view = Vec::new();
    for owner in (0..shape.owners).filter(honest) {
        for other in (0..shape.holders).filter(|other| !honest(other)) {
            view.extend_from_slice(&shares[owner][other * pieces..][..pieces]);
        }
    }
    for (me, set) in shown.iter().enumerate() {
        for piece in 0..if set.is_some() { pieces } else { 0 } {
            let of = (0..shape.owners).filter(|owner| honest(owner) && bit(set.unwrap_or(0), *owner));
            view.push(of.fold(0, |sum, owner| add::<F>(sum, shares[owner][me * pieces + piece])));
        }
    }
    view
}

/// Everything that the miner can show to honest owners that follow the protocol: to each a set that it is in, without at most `absent`
/// honest owners, or nothing.
fn strategies(shape: &Shape, colluders: u32) -> Vec<Shown> {
    let all = (1_u32 << shape.owners) - 1;
    let sets: Vec<u32> = (0..=all)
        .filter(|set| (all & !set).count_ones() as usize <= shape.absent)
        .collect();
    let mut strategies: Vec<Shown> = vec![vec![]];
    for owner in 0..shape.owners {
        let mut choices = vec![None];
        if colluders >> owner & 1 == 0 && owner < shape.holders {
            // Sets with the same honest members show the same.
            let with_me = sets
                .iter()
                .filter(|set| *set >> owner & 1 == 1 && *set & colluders == colluders);
            choices.extend(with_me.map(|set| Some(*set)));
        }
        let longer = strategies
            .iter()
            .flat_map(|shown| choices.iter().map(|choice| [&shown[..], &[*choice]].concat()));
        strategies = longer.collect();
    }
    strategies
}

/// The honest members of the sets that more honest owners answer for than random values hide: at most one, says the proof.
fn opened(shape: &Shape, colluders: u32, shown: &Shown) -> Vec<u32> {
    let mut counts = BTreeMap::new();
    for set in shown.iter().flatten() {
        *counts.entry(set & !colluders).or_insert(0) += 1;
    }
    // Colluders know as many points of every polynomial as there are holders among them.
    let known = (colluders & ((1 << shape.holders) - 1)).count_ones() as usize;
    let large = counts
        .into_iter()
        .filter(|(_, count)| known + count > shape.random);
    large.map(|(set, _)| set).collect()
}

fn digits<F: Prime>(mut number: u64, count: usize) -> Vec<u64> {
    let mut digits = vec![0; count];
    for digit in &mut digits {
        *digit = number % F::MODULUS;
        number /= F::MODULUS;
    }
    digits
}

/// How often each view occurs, over all randomness of the honest owners.
fn counts<F: Prime>(scheme: &Scheme<F>, colluders: u32, shown: &Shown, numbers: &[Vec<u64>]) -> Vec<u32> {
    let shape = scheme.shape();
    let random = shape.random * shape.pieces;
    let zeros = vec![0; shape.holders * shape.pieces];
    let honest = (0..shape.owners).filter(|owner| colluders >> owner & 1 == 0);
    // A view is a sum of what it is for one owner: for each owner, of all its randomness.
    let parts: Vec<Vec<Vec<u64>>> = honest
        .map(|owner| {
            let all = (0..F::MODULUS.pow(random as u32)).map(|number| digits::<F>(number, random));
            all.map(|random| {
                let shares = shares_of(scheme, &numbers[owner], &random);
                let mut of = vec![&zeros; shape.owners];
                of[owner] = &shares;
                view::<F>(shape, colluders, shown, &of)
            })
            .collect()
        })
        .collect();
    let length = parts[0][0].len();
    let mut counts = vec![0; F::MODULUS.pow(length as u32) as usize];
    count::<F>(&parts, [0; 8], length, &mut counts);
    counts
}

fn count<F: Prime>(parts: &[Vec<Vec<u64>>], view: [u64; 8], length: usize, counts: &mut [u32]) {
    let Some((first, rest)) = parts.split_first() else {
        let place = view[..length].iter().fold(0, |place, x| place * F::MODULUS + x);
        counts[place as usize] += 1;
        return;
    };
    for part in first {
        let mut view = view;
        for (sum, x) in view.iter_mut().zip(part) {
            *sum = add::<F>(*sum, *x);
        }
        count::<F>(rest, view, length, counts);
    }
}

/// Whether, with some sets that a miner can show, views tell more than the sum of the one set that is opened.
fn tells_more<F: Prime>(shape: Shape, colluders: u32, inputs: &[Vec<Vec<u64>>]) -> bool {
    let scheme = Scheme::<F>::new(shape);
    let mut compared = 0;
    for shown in strategies(&shape, colluders) {
        let mut seen: BTreeMap<Option<Vec<u64>>, Vec<u32>> = BTreeMap::new();
        let sets = opened(&shape, colluders, &shown);
        if sets.len() > 1 {
            return true;
        }
        for numbers in inputs {
            let sum = sets.first().map(|set| {
                let of = (0..shape.owners).filter(|owner| set >> owner & 1 == 1);
                of.fold(vec![0; shape.length], |sum, owner| {
                    let pairs = sum.iter().zip(&numbers[owner]);
                    pairs.map(|(a, b)| add::<F>(*a, *b)).collect()
                })
            });
            let counts = counts(&scheme, colluders, &shown, numbers);
            if let Some(before) = seen.get(&sum) {
                compared += 1;
                if *before != counts {
                    return true;
                }
            }
            seen.insert(sum, counts);
        }
    }
    assert!(compared > 0);
    false
}

/// Vectors of all owners, from those of the honest ones.
fn with_colluders(shape: &Shape, colluders: u32, honest: &[u64]) -> Vec<Vec<u64>> {
    let mut honest = honest.chunks(shape.length);
    let of = |owner| match colluders >> owner & 1 {
        1 => vec![0; shape.length],
        _ => honest.next().unwrap().to_vec(),
    };
    (0..shape.owners).map(of).collect()
}

/// Whether views tell more, of all vectors of the honest owners and whoever colludes.
fn ever_tells_more<F: Prime>(shape: Shape) -> bool {
    let free = (shape.owners - shape.colluding) * shape.length;
    let sets = (0..1_u32 << shape.owners).filter(|set| set.count_ones() as usize == shape.colluding);
    let mut told = sets.map(|colluders| {
        let all = (0..F::MODULUS.pow(free as u32)).map(|number| digits::<F>(number, free));
        let inputs: Vec<_> = all.map(|x| with_colluders(&shape, colluders, &x)).collect();
        tells_more::<F>(shape, colluders, &inputs)
    });
    told.any(|told| told)
}

/// Some vectors of three honest owners, with equal sums of all or of two.
fn tells_more_of_few(shape: Shape, colluders: u32) -> bool {
    let few = [[0, 0, 0], [1, 6, 0], [3, 2, 2], [0, 1, 6], [2, 5, 4]];
    let inputs = few.map(|numbers| with_colluders(&shape, colluders, &numbers));
    tells_more::<Toy<7>>(shape, colluders, &inputs)
}

#[test]
fn all_views_of_all_randomness_depend_on_one_sum_only() {
    let three = Shape::with(3, 0, 1, 1, 3).unwrap();
    assert!(!ever_tells_more::<Toy<7>>(three));
    assert!(!ever_tells_more::<Toy<11>>(three));
    assert!(!ever_tells_more::<Toy<13>>(Shape::new(3, 0, 2, 1).unwrap()));
    // Two numbers in one polynomial.
    let packed = Shape::with(3, 0, 1, 2, 3).unwrap();
    assert_eq!((packed.packed, packed.pieces), (2, 1));
    assert!(!ever_tells_more::<Toy<7>>(packed));
    // One owner may be absent, and the miner may show each owner another set.
    let absent = Shape::new(4, 1, 1, 1).unwrap();
    assert!(!tells_more_of_few(absent, 0b0001));
    assert!(!tells_more_of_few(absent, 0b1000));
}

/// As many random values as colluders: then few honest answers open a set, and a miner can show two.
#[test]
fn a_polynomial_of_lower_degree_shows_two_sums() {
    let shape = Shape::new(4, 1, 1, 1).unwrap();
    let random = shape.colluding;
    assert!(tells_more_of_few(Shape { random, ..shape }, 0b1000));
    let three = Shape::with(3, 0, 1, 1, 3).unwrap();
    assert!(ever_tells_more::<Toy<7>>(Shape { random: 0, ..three }));
}

/// Two rounds with the same sums: with fresh randomness all views are equally likely; with the same, they are not.
#[test]
fn randomness_that_serves_twice_is_caught() {
    let scheme = Scheme::<Toy<7>>::new(Shape::with(3, 0, 1, 1, 3).unwrap());
    // The share of the last owner is not itself a random value.
    let shown: Shown = vec![Some(0b111), Some(0b111), None];
    let views = |first: [u64; 2], second: [u64; 2], reused: bool| {
        let mut counts: BTreeMap<Vec<u64>, u32> = BTreeMap::new();
        for number in 0..7_u64.pow(4) {
            let random = digits::<Toy<7>>(number, 4);
            let again = if reused { &random[..2] } else { &random[2..] };
            let round = |numbers: [u64; 2], random: &[u64]| {
                let of = |at: usize| shares_of(&scheme, &[numbers[at]], &random[at..at + 1]);
                let (one, two) = (of(0), of(1));
                view::<Toy<7>>(scheme.shape(), 0b100, &shown, &[&one, &two, &vec![0; 3]])
            };
            let view = [round(first, &random[..2]), round(second, again)].concat();
            *counts.entry(view).or_default() += 1;
        }
        counts
    };
    let caught = |reused| {
        let one = views([1, 2], [3, 4], reused);
        let other = views([0, 3], [5, 2], reused);
        one != other
    };
    assert!(!caught(false));
    assert!(caught(true));
}

/// The combinations of answers and colluders' shares in which all randomness cancels: rows of factors.
fn cancelling<F: Prime>(rows: &[Vec<u64>]) -> Vec<Vec<u64>> {
    let count = rows.len();
    let mut left: Vec<(Vec<u64>, Vec<u64>)> = rows
        .iter()
        .enumerate()
        .map(|(at, row)| {
            (
                row.clone(),
                (0..count).map(|other| u64::from(at == other)).collect(),
            )
        })
        .collect();
    for column in 0..rows.first().map_or(0, Vec::len) {
        let Some(pivot) = left.iter().position(|(row, _)| row[column] != 0) else {
            continue;
        };
        let (row, factors) = left.swap_remove(pivot);
        let mut inverse = [row[column]];
        invert_all::<F>(&mut inverse);
        for (other, other_factors) in &mut left {
            let times = mul::<F>(other[column], inverse[0]);
            let minus = |to: &mut Vec<u64>, from: &[u64]| {
                for (to, from) in to.iter_mut().zip(from) {
                    *to = sub::<F>(*to, mul::<F>(times, *from));
                }
            };
            minus(other, &row);
            minus(other_factors, &factors);
        }
    }
    left.into_iter().map(|(_, factors)| factors).collect()
}

/// Whether everything that the view tells is a function of one sum; for one piece.
fn tells_one_sum<F: Prime>(scheme: &Scheme<F>, colluders: u32, shown: &Shown) -> bool {
    let shape = scheme.shape();
    let (owners, packed) = (shape.owners, shape.packed);
    let zeros = vec![0; shape.holders];
    // How the view follows from the number or random value of one owner at one place.
    let column = |owner: usize, shares: &Vec<u64>| {
        let mut all = vec![&zeros; owners];
        all[owner] = shares;
        view::<F>(shape, colluders, shown, &all)
    };
    let unit = |at: usize, of: usize| (0..of).map(|place| u64::from(place == at)).collect::<Vec<u64>>();
    let honest: Vec<usize> = (0..owners).filter(|owner| colluders >> owner & 1 == 0).collect();
    let numbers: Vec<Vec<u64>> = (0..packed)
        .map(|at| shares_of(scheme, &unit(at, packed), &vec![0; shape.random]))
        .collect();
    let random: Vec<Vec<u64>> = (0..shape.random)
        .map(|at| shares_of(scheme, &vec![0; packed], &unit(at, shape.random)))
        .collect();
    let columns: Vec<Vec<u64>> = honest
        .iter()
        .flat_map(|owner| random.iter().map(|shares| column(*owner, shares)))
        .collect();
    let length = columns[0].len();
    let rows: Vec<Vec<u64>> = (0..length)
        .map(|row| columns.iter().map(|column| column[row]).collect())
        .collect();
    let sets = opened(shape, colluders, shown);
    if sets.len() > 1 {
        return false;
    }
    let set = sets.first().copied().unwrap_or(0);
    cancelling::<F>(&rows).iter().all(|factors| {
        // What is left of each owner's numbers must be the same for all members of the set, and nothing for others.
        let told = |owner: usize| -> Vec<u64> {
            let of = numbers.iter().map(|shares| column(owner, shares));
            of.map(|column| {
                let pairs = factors.iter().zip(&column);
                pairs.fold(0, |sum, (a, b)| add::<F>(sum, mul::<F>(*a, *b)))
            })
            .collect()
        };
        let members = honest.iter().filter(|owner| set >> **owner & 1 == 1);
        let expected = members
            .map(|owner| told(*owner))
            .next()
            .unwrap_or(vec![0; packed]);
        honest.iter().all(|owner| match set >> owner & 1 {
            1 => told(*owner) == expected,
            _ => told(*owner).iter().all(|x| *x == 0),
        })
    })
}

/// Sets that a miner could try: everybody the same; two sets; a few random ones; a set for each owner.
fn some_sets(random: &mut ChaCha8Rng, shape: &Shape, colluders: u32) -> Shown {
    let all = (1_u32 << shape.owners) - 1;
    let mut set = || {
        let mut set = all;
        for _ in 0..random.next_u64() % (shape.absent as u64 + 1) {
            set &= !(1 << (random.next_u64() % shape.owners as u64));
        }
        set
    };
    let sets: Vec<u32> = (0..shape.owners).map(|_| set()).collect();
    let kinds = 1 + random.next_u64() as usize % shape.owners;
    let choice = |owner: usize, set: u32| {
        let answers = owner < shape.holders && colluders >> owner & 1 == 0 && set >> owner & 1 == 1;
        answers.then_some(set)
    };
    let pick = |owner| choice(owner, sets[random.next_u64() as usize % kinds]);
    (0..shape.owners).map(pick).collect()
}

#[test]
fn whatever_sets_a_miner_shows_it_learns_one_sum() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    let mut fewer = 0;
    for (owners, absent, colluding, length) in [
        (4, 1, 1, 1),
        (5, 1, 1, 1),
        (6, 1, 1, 2),
        (8, 2, 1, 1),
        (9, 2, 1, 2),
        (11, 2, 2, 2),
        (12, 3, 2, 1),
        (14, 2, 3, 4),
        (9, 0, 3, 6),
        (12, 2, 1, 2),
        (13, 3, 1, 1),
        (15, 2, 4, 1),
        (16, 1, 2, 3),
    ] {
        let with = |holders| Shape::with(owners, absent, colluding, length, holders);
        let shapes: Vec<Shape> = (0..=owners).filter_map(with).collect();
        for shape in shapes.into_iter().filter(|shape| shape.pieces == 1) {
            fewer += usize::from(shape.holders < owners);
            one_sum_whatever_is_shown(&mut random, &shape);
        }
    }
    assert!(fewer > 10);
}

fn one_sum_whatever_is_shown(random: &mut ChaCha8Rng, shape: &Shape) {
    let Shape {
        owners,
        absent,
        colluding,
        holders,
        ..
    } = *shape;
    let (scheme, toy) = (Scheme::<Mersenne61>::new(*shape), Scheme::<Toy<23>>::new(*shape));
    let everybody = (1 << colluding) - 1;
    for trial in 0..60 {
        // Any owners, holders or not; fewer colluders than agreed on see less.
        let mut colluders = 0;
        for _ in 0..colluding - usize::from(trial % 3 == 0) {
            colluders |= 1 << (random.next_u64() % owners as u64);
        }
        if trial % 2 == 0 {
            colluders = everybody >> (trial % 4 / 2);
        }
        let shown = some_sets(random, shape, colluders);
        assert!(tells_one_sum(&scheme, colluders, &shown), "{shape:?} {shown:?}");
        assert!(tells_one_sum(&toy, colluders, &shown), "{shape:?} {shown:?}");
    }
    for left_out in [colluding, owners - 1] {
        let shown = two_halves(shape, left_out);
        assert!(tells_one_sum(&scheme, everybody, &shown), "{shape:?}");
        // With one random value fewer the halves tell two sums (or, if nobody may be absent, the colluders know single numbers), unless
        // it is the number of absent owners that asks for so many.
        let (answering, random) = (holders - colluding, shape.random - 1);
        let less = Scheme::<Mersenne61>::new(Shape { random, ..*shape });
        let caught = absent == 0 || shape.random - colluding == answering / 2;
        assert_eq!(tells_one_sum(&less, everybody, &shown), !caught, "{shape:?}");
    }
}

/// Everybody is shown to one half of the honest holders, and all but one honest owner to the other, where one may be absent.
fn two_halves(shape: &Shape, left_out: usize) -> Shown {
    let all = (1_u32 << shape.owners) - 1;
    let half = (shape.holders - shape.colluding).div_ceil(2);
    // The one that is left out answers with those who are shown everybody.
    let answering = (0..shape.owners).filter(|owner| (shape.colluding..shape.holders).contains(owner));
    let (first, last): (Vec<usize>, Vec<usize>) = answering.partition(|owner| *owner == left_out);
    let order: Vec<usize> = [first, last].concat();
    let set = |owner| match order.iter().position(|other| *other == owner)? {
        place if place < half || shape.absent == 0 => Some(all),
        _ => Some(all & !(1 << left_out)),
    };
    (0..shape.owners).map(set).collect()
}
