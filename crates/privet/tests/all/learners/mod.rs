//! Learners and their ensembles: against scikit-learn's numbers (`vectors/linear/make.py`), by hand, and the same to the
//! last bit whatever the number of threads.

mod centroid;
mod exact;

use crate::home::{self, Kinds, Plain, schema, table};
use privet::boost::{Learner, Link};
use privet::data::schema::{category, flag, label, number};
use privet::data::{Cells, Keep, Table};
use privet::learner::{
    Call, Classes, Linear, Logistic, SILENT, Sample, Shape, Sorted, Stump, StumpRule, Term,
};
use privet::model::Model;
use privet::privacy::{AddRemove, Neighbours, Unprotected};
use privet_testkit::skipped::full;
use serde::Deserialize;

fn leave() -> Unprotected {
    Unprotected::unrecorded("test", &AddRemove::row().relation(), "a test")
}

fn cells(table: Table) -> Cells {
    leave().reveal(table.into_cells())
}

#[derive(Deserialize)]
struct Case {
    kind: String,
    classes: usize,
    l2: f64,
    x: Vec<Option<f64>>,
    y: Vec<f64>,
    colour: Vec<usize>,
    weights: Vec<f64>,
    labels: Vec<f64>,
    scores: Vec<Vec<f64>>,
}

fn score(linear: &Linear, cells: &Cells, row: usize) -> f64 {
    Learner::Linear(linear.clone()).vote(&[], cells.features(), row)
}

#[test]
fn linear_learners_agree_with_another_implementation() {
    #[derive(Deserialize)]
    struct File {
        rows: Vec<Case>,
    }
    let file: File = serde_json::from_str(include_str!("../../../../../vectors/linear/scores.json")).unwrap();
    assert_eq!(file.rows.len(), 6);
    for (at, case) in file.rows.iter().enumerate() {
        let schema = schema([
            number("x", -1.0..=1.0),
            number("y", -1.0..=1.0),
            category("colour", ["red", "green", "blue"]),
        ]);
        let colours = ["red", "green", "blue", "violet", ""];
        let lines: Vec<Vec<String>> = (0..case.y.len())
            .map(|row| {
                let x = case.x[row].map_or(String::new(), |x| x.to_string());
                vec![x, case.y[row].to_string(), colours[case.colour[row]].into()]
            })
            .collect();
        let shapes = Shape::of(&schema);
        let cells = cells(table(schema, Keep::Values, &lines));
        let sample = Sample::new(&shapes, &cells, &case.weights).unwrap();
        let learner = Logistic {
            l2: case.l2,
            iterations: 1000,
        };
        let fitted = if case.kind == "number" {
            let numbers: Vec<f32> = case.labels.iter().map(|&y| y as f32).collect();
            vec![learner.numbers(&sample, &numbers, SILENT)]
        } else {
            let of: Vec<u16> = case.labels.iter().map(|&y| y as u16).collect();
            let classes = Classes {
                of: &of,
                count: case.classes,
            };
            learner.classes(&sample, classes, SILENT)
        };
        for (row, expected) in case.scores.iter().enumerate() {
            let mut scores: Vec<f64> = fitted.iter().map(|linear| score(linear, &cells, row)).collect();
            assert_eq!(scores.len(), expected.len());
            if scores.len() > 1 {
                let mean = scores.iter().sum::<f64>() / scores.len() as f64;
                scores.iter_mut().for_each(|score| *score -= mean);
            }
            for (score, expected) in scores.iter().zip(expected) {
                assert!(
                    (score - expected).abs() < 1e-7,
                    "case {at}, row {row}: {score} for {expected}"
                );
            }
        }
    }
}

/// Ages 1 to 6 with one missing, and two classes: by hand, `age <= 3` errs on one row of weight 1, anything else on more.
#[test]
fn a_stump_by_hand() {
    let schema = schema([
        flag("constant"),
        number("age", 1..=6),
        category("town", ["a", "b", "c"]),
    ]);
    let lines = [
        ["false", "1", "a"],
        ["false", "2", "b"],
        ["false", "3", "c"],
        ["false", "4", "a"],
        ["false", "5", "b"],
        ["false", "", "c"],
    ];
    let of = [0, 0, 0, 1, 0, 1];
    let classes = Classes { of: &of, count: 2 };
    let shapes = Shape::of(&schema);
    let cells = cells(table(schema, Keep::Bins, &lines));

    // Alike weights: after `age <= 3`, and missing to the right, row 5 alone is wrong. One row in six.
    let sample = Sample::new(&shapes, &cells, &[1.0; 6]).unwrap();
    let bins = Sorted::default();
    let call = Call::fit(&sample, &bins, classes);
    let rule = |slot, besides: &[u16]| StumpRule::AtMost {
        slot,
        besides: besides.to_vec(),
    };
    assert_eq!(
        (call.feature, &call.rule, call.left, call.right),
        (1, &rule(2, &[]), 0, 1)
    );

    // With row 4 almost without weight it is best to tell the missing apart alone: slots 0 to 5 left.
    let weights = [1.0, 1.0, 1.0, 0.125, 1.0, 1.0];
    let call = Call::fit(&sample.reweighted(&weights), &bins, classes);
    assert_eq!(
        (call.feature, &call.rule, call.left, call.right),
        (1, &rule(4, &[]), 0, 1)
    );

    // One class: no question is better than none.
    let call = Call::fit(
        &sample,
        &bins,
        Classes {
            of: &[1; 6],
            count: 2,
        },
    );
    assert_eq!((call.feature, &call.rule, call.left), (0, &StumpRule::All, 1));

    // Numbers: means 2 and 8 by town, c against the others.
    let stump = Stump::numbers(&sample, &bins, &[1.0, 3.0, 8.0, 3.0, 1.0, 8.0]);
    assert_eq!(
        stump,
        Stump {
            feature: 2,
            rule: StumpRule::OneOf(vec![2]),
            left: 8.0,
            right: 2.0
        }
    );

    // Three classes: one town against the rest.
    let call = Call::fit(
        &sample,
        &bins,
        Classes {
            of: &[2, 1, 0, 2, 1, 0],
            count: 3,
        },
    );
    assert_eq!(
        (call.feature, &call.rule, call.left, call.right),
        (2, &StumpRule::OneOf(vec![0]), 2, 0)
    );
}

/// Freund and Schapire's arithmetic on four rows, two rounds, by hand.
#[test]
fn two_rounds_of_adaboost_by_hand() {
    let schema = schema([flag("first"), flag("second"), label("label", ["no", "yes"])]);
    // `first` errs on the last row alone; then `second` errs on the third alone, or is tied.
    let lines = [
        ["true", "true", "yes"],
        ["false", "false", "no"],
        ["true", "false", "yes"],
        ["false", "true", "yes"],
    ];
    let plain = Plain::named("stumps", "rounds = 2");
    let model = plain.fit(table(schema, plain.keep(), &lines), &leave()).unwrap();
    let members = &model.ensemble().members;
    assert_eq!((members.len(), model.ensemble().link), (2, Link::Vote));
    // First round: e = 1/4 (the constant "yes" is as good and comes first), alpha = ln(3) / 2.
    assert!((members[0].weight - 3f64.ln() / 2.0).abs() < 1e-12);
    assert!(
        matches!(&members[0].learner, Learner::Stump(stump) if stump.rule == StumpRule::All && stump.left == 1.0)
    );
    // Its one error, row 2, now weighs 1/2 and the others 1/6 each: `first` errs on row 4 alone, e = 1/6.
    assert!((members[1].weight - 5f64.ln() / 2.0).abs() < 1e-12, "{members:?}");
    assert!(matches!(&members[1].learner, Learner::Stump(stump) if stump.feature == 0));
}

#[test]
fn a_model_is_the_same_whatever_the_number_of_threads() {
    let kinds = [
        (Kinds::Classes(2), "logistic"),
        (Kinds::Classes(3), "logistic"),
        (Kinds::Number, "logistic"),
        (Kinds::Classes(2), "centroid"),
        (Kinds::Classes(3), "centroid"),
        (Kinds::Classes(2), "stumps"),
        (Kinds::Classes(3), "stumps"),
        (Kinds::Number, "stumps"),
        (Kinds::Classes(2), "trees"),
        (Kinds::Classes(3), "trees"),
        (Kinds::Number, "trees"),
    ];
    let exact = |kind| {
        let lines = "rounds = 20\nthresholds = \"exact\"";
        (kind, "exact stumps", Plain::named("stumps", lines))
    };
    let lines = "rounds = 20\nthresholds = \"exact\"\nabstain = true";
    let abstaining = Plain::named("stumps", lines);
    let others = [
        exact(Kinds::Classes(2)),
        exact(Kinds::Classes(3)),
        exact(Kinds::Number),
        (Kinds::Classes(2), "abstaining stumps", abstaining),
    ];
    let named = |(kind, name)| (kind, name, Plain::named(name, ""));
    // One of each algorithm, unless everything is tried.
    let each = if full() { 1 } else { 3 };
    for (kind, algorithm, plain) in kinds.map(named).into_iter().chain(others).step_by(each) {
        let table = home::random(kind, plain.keep(), 20_000);
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| {
                let model = plain.fit(table.clone(), &leave()).unwrap();
                let predictions = model.predict_cells(&cells(table.clone())).unwrap();
                (model.to_bytes(), predictions)
            })
        };
        let (bytes, predictions) = fit(1);
        assert!(!Model::from_bytes(&bytes).unwrap().ensemble().members.is_empty());
        for threads in [4, 2].into_iter().take(if full() { 2 } else { 1 }) {
            let (others, other) = fit(threads);
            assert!(bytes == others, "{kind:?} {algorithm} with {threads} threads");
            assert_eq!(predictions, other);
        }
    }
}

/// The same scores by tables and vote by vote.
#[test]
fn tables_and_votes_agree() {
    for (kind, algorithm) in [
        (Kinds::Classes(3), "logistic"),
        (Kinds::Classes(3), "stumps"),
        (Kinds::Classes(2), "exact stumps"),
        (Kinds::Classes(3), "exact stumps"),
        (Kinds::Number, "logistic"),
        (Kinds::Classes(2), "trees"),
        (Kinds::Classes(3), "trees"),
    ] {
        // Trees add up in single precision.
        let near = if algorithm == "trees" { 1e-5 } else { 1e-9 };
        let plain = match algorithm {
            "exact stumps" => Plain::named("stumps", "thresholds = \"exact\""),
            name => Plain::named(name, ""),
        };
        let table = home::random(kind, plain.keep(), 3000);
        let model = plain.fit(table.clone(), &leave()).unwrap();
        let cells = cells(table);
        let shapes = Shape::of(model.schema());
        let scores = model.ensemble().scores(model.schema(), &cells).unwrap();
        for row in 0..cells.rows() {
            let mut slow = model.ensemble().base.clone();
            for member in &model.ensemble().members {
                slow[member.output] += member.weight * member.learner.vote(&shapes, cells.features(), row);
            }
            for (slow, fast) in slow.iter().zip(&scores[row * slow.len()..]) {
                assert!(
                    (slow - fast).abs() <= near * slow.abs().max(1.0),
                    "row {row}: {slow} {fast}"
                );
            }
        }
    }
}

#[test]
fn terms_follow_the_schema() {
    let plain = Plain::named("logistic", "");
    let table = home::random(Kinds::Classes(2), plain.keep(), 100);
    let model = plain.fit(table, &leave()).unwrap();
    let Learner::Linear(linear) = &model.ensemble().members[0].learner else {
        panic!("a sum");
    };
    assert!(matches!(linear.terms[0], Term::Number { missing: 128, .. }));
    assert!(matches!(&linear.terms[1], Term::Slots(weights) if weights.len() == 5));
}
