//! Stumps with exact thresholds, and such that abstain, against every question there is.

use privet::boost::{Abstaining, AdaBoost, Ensemble, Rates, Thresholds};
use privet::data::schema::{category, number, ordinal};
use privet::data::{Cells, Feature, Keep};
use privet::learner::{Call, Classes, Learner, Sample, Shape, Sorted, Stump, StumpRule};
use privet::privacy::Coins;

use super::cells;
use crate::home::{schema, table};

/// Small tables with ties, missing numbers and weights of zero. Numbers are so near to each other that bins do not tell
/// them apart, and weights are sums of powers of two: the same in any order of adding.
struct Small {
    shapes: Vec<Shape>,
    cells: Cells,
    weights: Vec<f64>,
    of: Vec<u16>,
}

impl Small {
    fn new(coins: &mut Coins, classes: u64, with_colour: bool) -> Self {
        let rows = 1 + coins.below(12) as usize;
        let missing = coins.below(3);
        let lines: Vec<[String; 4]> = (0..rows)
            .map(|_| {
                let mut number = |step: f64| match coins.below(5) {
                    0 if missing > 0 => String::new(),
                    _ => (coins.below(6) as f64 * step).to_string(),
                };
                let numbers = [number(1.0 / 1024.0), number(1.0 / 4096.0)];
                let [first, second] = numbers;
                let colour = ["red", "green", "blue", "octarine", ""][coins.below(5) as usize];
                [
                    first,
                    second,
                    colour.into(),
                    ["low", "high", "?"][coins.below(3) as usize].into(),
                ]
            })
            .collect();
        let weights = (0..rows).map(|_| coins.below(5) as f64 / 8.0).collect();
        let of = (0..rows).map(|_| coins.below(classes) as u16).collect();
        let (x, y) = (number("x", -1.0..=1.0), number("y", -1.0..=1.0));
        let schema = if with_colour {
            schema([
                x,
                y,
                category("colour", ["red", "green", "blue"]),
                ordinal("slope", ["low", "high"]),
            ])
        } else {
            schema([x, y])
        };
        let columns = schema.columns().len();
        let lines: Vec<&[String]> = lines.iter().map(|line| &line[..columns]).collect();
        Self {
            shapes: Shape::of(&schema),
            cells: cells(table(schema, Keep::Values, &lines)),
            weights,
            of,
        }
    }

    fn sample(&self) -> Sample<'_> {
        Sample::new(&self.shapes, &self.cells, &self.weights).unwrap()
    }

    fn total(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// The weight of each class where a rule is true, and where it is not.
    fn sides(&self, feature: usize, rule: &StumpRule) -> [[f64; 3]; 2] {
        let mut sides = [[0.0; 3]; 2];
        for (row, &weight) in self.weights.iter().enumerate() {
            let side = usize::from(!takes(rule, &self.cells.features()[feature], row));
            sides[side][usize::from(self.of[row])] += weight;
        }
        sides
    }

    /// Every question: no question first, then by feature, by threshold, and with missing cells on the right first.
    fn questions(&self) -> Vec<(usize, StumpRule)> {
        let mut all = vec![(0, StumpRule::All)];
        for (feature, (column, shape)) in self.cells.features().iter().zip(&self.shapes).enumerate() {
            if let Some(scaled) = &column.scaled {
                let mut known: Vec<f32> = (0..scaled.len())
                    .filter(|&row| column.bins.get(row) != shape.missing)
                    .map(|row| scaled[row])
                    .collect();
                known.sort_by(f32::total_cmp);
                known.dedup();
                for (at, &value) in known.iter().enumerate() {
                    let next = known.get(at + 1);
                    let place = next.map_or(1.0, |&next| (f64::from(value) + f64::from(next)) / 2.0);
                    all.extend([false, true].map(|with_missing| {
                        let missing = shape.missing;
                        (
                            feature,
                            StumpRule::UpTo {
                                place,
                                missing,
                                with_missing,
                            },
                        )
                    }));
                }
            } else {
                // Every subset of the slots, of which cuts of an order are some.
                let subset = |bits: u32| (0..shape.slots as u16).filter(move |slot| bits >> slot & 1 == 1);
                let subsets = (1..1_u32 << shape.slots).map(|bits| subset(bits).collect::<Vec<u16>>());
                let ordered = shape.ordered as u16;
                let possible = |slots: &Vec<u16>| {
                    let cut = slots.iter().filter(|&&slot| slot < ordered).count() as u16;
                    ordered == 0 || (0..cut).all(|slot| slots.contains(&slot)) && cut > 0
                };
                all.extend(
                    subsets
                        .filter(possible)
                        .map(|slots| (feature, StumpRule::OneOf(slots))),
                );
            }
        }
        all
    }
}

fn takes(rule: &StumpRule, feature: &Feature, row: usize) -> bool {
    match (rule, &feature.scaled) {
        (StumpRule::All, _) => true,
        (
            StumpRule::UpTo {
                place,
                missing,
                with_missing,
            },
            Some(scaled),
        ) => match feature.bins.get(row) == *missing {
            true => *with_missing,
            false => f64::from(scaled[row]) <= *place,
        },
        (rule, _) => rule.is_left(feature.bins.get(row)),
    }
}

/// The weight that calling the heaviest class on each side errs on.
fn errors(sides: [[f64; 3]; 2]) -> f64 {
    let of = |side: [f64; 3]| side.iter().sum::<f64>() - side.iter().fold(0.0, |a: f64, &b| a.max(b));
    of(sides[0]) + of(sides[1])
}

fn heaviest(side: [f64; 3]) -> u16 {
    let most = side.iter().fold(0.0, |a: f64, &b| a.max(b));
    side.iter().position(|&x| x == most).unwrap() as u16
}

#[test]
fn exact_stumps_are_the_best_of_all() {
    let mut coins = Coins::from_seed([3; 32]);
    for case in 0..3000 {
        let count = 2 + case % 2;
        let small = Small::new(&mut coins, count as u64, false);
        let sample = small.sample();
        let call = Call::fit(&sample, &Sorted::new(&sample), Classes { of: &small.of, count });
        // The first of the best, but a question with one answer is none.
        let (mut best, mut least) = ((0, StumpRule::All), f64::MAX);
        for (feature, rule) in small.questions() {
            let found = errors(small.sides(feature, &rule));
            if found < least {
                (best, least) = ((feature, rule), found);
            }
        }
        let sides = small.sides(best.0, &best.1);
        assert_eq!(
            (call.feature, call.left),
            (best.0, heaviest(sides[0])),
            "case {case}"
        );
        match (&call.rule, &best.1) {
            (StumpRule::UpTo { place: ours, .. }, StumpRule::UpTo { place, .. }) => {
                assert_eq!((ours, call.right), (place, heaviest(sides[1])), "case {case}");
            }
            (ours, best) => assert_eq!(ours, best, "case {case}"),
        }
        assert_eq!(
            errors(small.sides(call.feature, &call.rule)),
            least,
            "case {case}"
        );
    }
}

#[test]
fn categories_keep_their_slots() {
    let mut coins = Coins::from_seed([4; 32]);
    for case in 0..1500 {
        let small = Small::new(&mut coins, 2, true);
        let sample = small.sample();
        let classes = Classes {
            of: &small.of,
            count: 2,
        };
        let call = Call::fit(&sample, &Sorted::new(&sample), classes);
        let all = small.questions();
        let least = all
            .iter()
            .map(|(feature, rule)| errors(small.sides(*feature, rule)));
        let ours = errors(small.sides(call.feature, &call.rule));
        assert_eq!(ours, least.fold(f64::MAX, f64::min), "case {case}");
    }
}

/// Z of every question with every pair of votes.
#[test]
fn abstaining_stumps_are_the_best_of_all() {
    let mut coins = Coins::from_seed([5; 32]);
    let mut silent = 0;
    for case in 0..1500 {
        let small = Small::new(&mut coins, 2, true);
        let sample = small.sample();
        let classes = Classes {
            of: &small.of,
            count: 2,
        };
        let z = |feature: usize, rule: &StumpRule, votes: [f64; 2]| {
            let sides = small.sides(feature, rule);
            let (mut right, mut wrong, mut silent) = (0.0, 0.0, 0.0);
            for (side, vote) in sides.iter().zip(votes) {
                for (class, weight) in [-1.0, 1.0].into_iter().zip(side) {
                    match vote * class {
                        0.0 => silent += weight,
                        1.0 => right += weight,
                        _ => wrong += weight,
                    }
                }
            }
            silent + 2.0 * f64::sqrt(right * wrong)
        };
        let mut least = small.total();
        for (feature, rule) in small.questions() {
            for left in [-1.0, 0.0, 1.0] {
                for right in [-1.0, 0.0, 1.0] {
                    least = least.min(z(feature, &rule, [left, right]));
                }
            }
        }
        let found = Stump::abstaining(&sample, &Sorted::new(&sample), classes);
        silent += usize::from(found.left == 0.0 || found.right == 0.0);
        let ours = z(found.feature, &found.rule, [found.left, found.right]);
        assert!((ours - least).abs() < 1e-12, "case {case}: {ours} for {least}");
    }
    assert!(silent > 100, "{silent}");
}

/// The share of rows that a sum of votes is not right about is at most the product of all Z.
#[test]
fn the_product_of_normalisers_bounds_the_training_error() {
    let mut coins = Coins::from_seed([6; 32]);
    for case in 0..300 {
        let small = Small::new(&mut coins, 2, true);
        if small.total() == 0.0 {
            continue;
        }
        let sample = small.sample();
        let classes = Classes {
            of: &small.of,
            count: 2,
        };
        let booster = Abstaining {
            rounds: 10,
            thresholds: Thresholds::Exact,
        };
        let ensemble = booster.classes(&sample, classes, privet::learner::SILENT);
        let first: Vec<f64> = small
            .weights
            .iter()
            .map(|weight| weight / small.total())
            .collect();
        let (mut weights, mut product) = (first.clone(), 1.0);
        let mut margins = vec![0.0; weights.len()];
        for member in &ensemble.members {
            let vote = |row: usize| {
                let vote = member.learner.vote(&small.shapes, small.cells.features(), row);
                if small.of[row] == 0 { -vote } else { vote }
            };
            let rates = Rates::of(&weights, vote);
            assert!(rates.right > rates.wrong && member.weight > 0.0, "case {case}");
            product *= rates.normaliser(member.weight);
            let factors = rates.factors(member.weight);
            for (row, weight) in weights.iter_mut().enumerate() {
                *weight *= factors.at(vote(row));
                margins[row] += member.weight * vote(row);
            }
            let sum: f64 = weights.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "case {case}: {sum}");
            let error: f64 = (0..weights.len())
                .filter(|&row| margins[row] <= 0.0)
                .map(|row| first[row])
                .sum();
            assert!(error <= product + 1e-9, "case {case}: {error} above {product}");
        }
    }
}

/// Where features say nothing the heavier class is called, whoever asks.
#[test]
fn a_constant_is_found_where_it_is_best() {
    let schema = schema([number("x", -1.0..=1.0)]);
    let shapes = Shape::of(&schema);
    let cells = cells(table(schema, Keep::Values, &[["0.5"], ["0.5"], ["0.5"]]));
    let sample = Sample::new(&shapes, &cells, &[1.0; 3]).unwrap();
    let classes = Classes {
        of: &[1, 0, 1],
        count: 2,
    };
    let sorted = Sorted::new(&sample);
    let call = Call::fit(&sample, &sorted, classes);
    assert_eq!((call.rule, call.left, call.right), (StumpRule::All, 1, 1));
    let stump = Stump::abstaining(&sample, &sorted, classes);
    assert_eq!((stump.rule, stump.left, stump.right), (StumpRule::All, 1.0, 1.0));
}

/// Rounds of boosting that must tell two numbers of one bin apart.
#[test]
fn exact_thresholds_see_within_a_bin() {
    let schema = schema([number("x", -1.0..=1.0)]);
    let shapes = Shape::of(&schema);
    let lines = [["0.0001"], ["0.0002"], ["0.0003"], [""]];
    let cells = cells(table(schema, Keep::Values, &lines));
    let sample = Sample::new(&shapes, &cells, &[1.0; 4]).unwrap();
    let of = [0, 0, 1, 1];
    let fit = |thresholds| -> Ensemble {
        let booster = AdaBoost {
            rounds: 5,
            thresholds,
        };
        booster.classes(&sample, Classes { of: &of, count: 2 }, privet::learner::SILENT)
    };
    let exact = fit(Thresholds::Exact);
    let [member] = &exact.members[..] else {
        panic!("one stump without errors: {exact:?}");
    };
    let Learner::Stump(stump) = &member.learner else {
        panic!("a stump");
    };
    let StumpRule::UpTo {
        place, with_missing, ..
    } = stump.rule
    else {
        panic!("{stump:?}");
    };
    assert!((place - 0.00025).abs() < 1e-7 && !with_missing);
    assert!(fit(Thresholds::Bins).members.len() > 1);
}
