//! Round after round.

use std::ops::ControlFlow;

use privet::boost::gradient::{Boosted, Builder, Gradient, LabelledRows, Loss, RoundEnd, Sums, Training};
use privet::data::{Cells, Schema, Target};
use privet::learner::tree::{Growth, Order};
use privet::privacy::Coins;

use crate::engine::table::{Labels, MIXED, Of, cells, random, schema};

pub(crate) fn training<'a>(schema: &'a Schema, cells: &'a Cells) -> Training<'a> {
    Training {
        schema,
        rows: LabelledRows { cells, weights: None },
        validation: None,
        start: None,
    }
}

pub(crate) fn fit(builder: &Builder, training: &Training<'_>) -> Boosted {
    let gradient = builder.clone().build().unwrap();
    gradient
        .fit(training, &mut |_| ControlFlow::Continue(()))
        .unwrap()
}

fn accuracy(model: &Boosted, schema: &Schema, cells: &Cells) -> f64 {
    let outputs = model.loss.outputs();
    let scores = model.scores(schema, cells).unwrap();
    let Some(Target::Classes(classes)) = cells.target() else {
        panic!("classes")
    };
    let right = scores.chunks(outputs).zip(classes).filter(|(scores, class)| {
        let guess = match scores {
            [score] => u16::from(*score > 0.0),
            _ => (0..outputs)
                .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
                .unwrap() as u16,
        };
        guess == **class
    });
    right.count() as f64 / classes.len() as f64
}

#[test]
fn one_round_of_logistic_loss_is_as_computed_by_hand() {
    // Two of four are of the second class: the base is 0, all p = 1/2, g = ±1/2, h = 1/4.
    let schema = schema(&[Of::Number(2)], Labels::Classes(2));
    let rows: Vec<Vec<String>> = [["0", "0"], ["0", "0"], ["1", "1"], ["1", "1"]]
        .map(|row| row.map(String::from).to_vec())
        .to_vec();
    let cells = cells(&schema, &rows);
    for sums in [Sums::Integers, Sums::Floats] {
        let settings = Gradient::builder()
            .rounds(1)
            .rate(0.5)
            .lambda(0.5)
            .min_child_weight(0.0)
            .sums(sums);
        let model = fit(&settings, &training(&schema, &cells));
        assert_eq!((model.loss, &model.base[..]), (Loss::Logistic, &[0.0f32][..]));
        // A leaf is 0.5 · 1 / (0.5 + 0.5), to within a step of the grid.
        let [left, right] = model.trees[0].leaves[..] else {
            panic!("{model:?}")
        };
        assert!(
            (left + 0.5).abs() < 1e-4 && (right - 0.5).abs() < 1e-4,
            "{left} {right}"
        );
    }
}

#[test]
fn every_flavour_learns() {
    for (labels, least) in [(Labels::Classes(2), 0.72), (Labels::Classes(4), 0.55)] {
        let (schema, train) = random(&MIXED, labels, 6000, 1);
        let (_, test) = random(&MIXED, labels, 4000, 2);
        let usual = Gradient::builder().rounds(40);
        let best_first = Growth::Best {
            leaves: 20,
            depth: 10,
        };
        let flavours = [
            usual.clone(),
            usual.clone().sums(Sums::Floats),
            usual.clone().order(Order::First).min_child_weight(5.0),
            usual
                .clone()
                .order(Order::First)
                .growth(best_first)
                .sums(Sums::Floats),
            usual.clone().rows(0.5).columns(0.7),
            usual.growth(best_first).rows(0.8),
        ];
        for flavour in flavours {
            let model = fit(&flavour, &training(&schema, &train));
            let right = accuracy(&model, &schema, &test);
            assert!(right > least, "{right} with {flavour:?}");
        }
    }
}

#[test]
fn squared_loss_explains_most_of_what_can_be() {
    let (schema, train) = random(&MIXED, Labels::Number, 8000, 3);
    let (_, test) = random(&MIXED, Labels::Number, 4000, 4);
    let Some(Target::Numbers(numbers)) = test.target() else {
        panic!("numbers")
    };
    let mean = numbers.iter().sum::<f32>() / numbers.len() as f32;
    for sums in [Sums::Integers, Sums::Floats] {
        let model = fit(&Gradient::builder().sums(sums), &training(&schema, &train));
        let scores = model.scores(&schema, &test).unwrap();
        let off: f32 = scores.iter().zip(numbers).map(|(s, y)| (s - y).powi(2)).sum();
        let all: f32 = numbers.iter().map(|y| (mean - y).powi(2)).sum();
        assert!(off / all < 0.25, "{}", off / all);
    }
}

#[test]
fn any_number_of_threads_makes_the_same_bytes() {
    // More rows than a chunk takes, so that threads share nodes.
    let columns = [Of::Number(100), Of::Category(5), Of::Number(300), Of::Number(7)];
    let (schema, cells) = random(&columns, Labels::Classes(3), 80_000, 5);
    for sums in [Sums::Integers, Sums::Floats] {
        for (order, growth) in [
            (Order::Second, Growth::Levels(6)),
            (Order::First, Growth::Best { leaves: 20, depth: 9 }),
        ] {
            let settings = Gradient::builder()
                .rounds(3)
                .order(order)
                .growth(growth)
                .sums(sums)
                .rows(0.9);
            let bytes = [1, 2, 4].map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                pool.install(|| serde_json::to_string(&fit(&settings, &training(&schema, &cells))).unwrap())
            });
            assert!(bytes[0].len() > 1000);
            assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2], "{settings:?}");
        }
    }
}

#[test]
fn half_of_the_rounds_continued_by_the_other_half_is_the_whole() {
    for labels in [Labels::Classes(2), Labels::Classes(3), Labels::Number] {
        let (schema, cells) = random(&MIXED, labels, 3000, 6);
        let half = Gradient::builder()
            .rounds(50)
            .rows(0.8)
            .columns(0.8)
            .growth(Growth::Levels(4));
        let whole = fit(&half.clone().rounds(100), &training(&schema, &cells));
        let first = fit(&half, &training(&schema, &cells));
        let both = fit(
            &half,
            &Training {
                start: Some(&first),
                ..training(&schema, &cells)
            },
        );
        assert_eq!(both.rounds(), 100);
        assert!(both == whole, "with {labels:?}");
    }
}

#[test]
fn it_stops_when_the_validation_rows_have_had_enough() {
    let (schema, train) = random(&MIXED, Labels::Classes(2), 500, 7);
    let (_, validation) = random(&MIXED, Labels::Classes(2), 2000, 8);
    let validation = Some(LabelledRows {
        cells: &validation,
        weights: None,
    });
    let settings = Gradient::builder().rounds(400).rate(0.3).patience(10);
    let mut losses = Vec::new();
    let mut note = |progress: RoundEnd| {
        losses.push(progress.validation.unwrap());
        ControlFlow::Continue(())
    };
    let model = settings
        .build()
        .unwrap()
        .fit(
            &Training {
                validation,
                ..training(&schema, &train)
            },
            &mut note,
        )
        .unwrap();
    let best = (0..losses.len())
        .min_by(|&a, &b| losses[a].total_cmp(&losses[b]))
        .unwrap();
    assert!(losses.len() < 400);
    assert_eq!(model.rounds(), best + 1);
    assert_eq!(losses.len(), best + 1 + 10);
}

#[test]
fn progress_can_end_it() {
    let (schema, cells) = random(&MIXED, Labels::Classes(2), 200, 9);
    let mut end = |progress: RoundEnd| {
        if progress.done == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let model = Gradient::builder()
        .build()
        .unwrap()
        .fit(&training(&schema, &cells), &mut end)
        .unwrap();
    assert_eq!(model.rounds(), 3);
}

#[test]
fn a_row_that_counts_twice_is_two_rows() {
    let columns = [Of::Number(20), Of::Category(5)];
    let schema = schema(&columns, Labels::Classes(2));
    let mut coins = Coins::from_seed([11; 32]);
    let mut row = || [20, 5, 2].map(|count| coins.below(count).to_string()).to_vec();
    let once: Vec<Vec<String>> = (0..2000).map(|_| row()).collect();
    let twice: Vec<Vec<String>> = (0..2000).flat_map(|i| vec![once[i].clone(); 1 + i % 2]).collect();
    let weights: Vec<f32> = (0..2000).map(|i| (1 + i % 2) as f32).collect();
    let (once, twice) = (cells(&schema, &once), cells(&schema, &twice));
    let settings = Gradient::builder()
        .rounds(3)
        .growth(Growth::Levels(3))
        .sums(Sums::Floats);
    for order in [Order::Second, Order::First] {
        let settings = settings.clone().order(order);
        let rows = LabelledRows {
            cells: &once,
            weights: Some(&weights),
        };
        let weighted = fit(
            &settings,
            &Training {
                rows,
                ..training(&schema, &once)
            },
        );
        let repeated = fit(&settings, &training(&schema, &twice));
        for (a, b) in weighted.trees.iter().zip(&repeated.trees) {
            assert_eq!(a.nodes, b.nodes);
            assert!(a.leaves.iter().zip(&b.leaves).all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }
}
