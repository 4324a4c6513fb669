//! Training without protection: parameters, refusals, and a model whatever the rows say.
#![allow(clippy::unwrap_used, reason = "a test")]

mod home;

use home::{Kinds, column, number, schema, table};
use privet::data::schema::{Declared, Kind, Label};
use privet::data::{Cells, Table};
use privet::model::Model;
use privet::privacy::{AddRemove, Neighbours, Unprotected};
use privet::setting::plain::Plain;

fn leave() -> Unprotected {
    Unprotected::unrecorded("test", &AddRemove::row().relation(), "a test")
}

fn cells(table: Table) -> Cells {
    leave().reveal(table.into_cells())
}

/// What rows say never decides whether there is a model.
#[test]
fn every_table_gives_a_model() {
    for kind in [Kinds::Classes(2), Kinds::Classes(3), Kinds::Number] {
        for algorithm in ["logistic", "stumps", "constant"] {
            let plain = Plain::builder().algorithm(algorithm).build().unwrap();
            let label = if kind == Kinds::Number { "3" } else { "b" };
            let odd: [Vec<Vec<&str>>; 5] = [
                vec![],
                vec![vec!["1", "red", "low", label]],
                vec![vec!["1", "red", "low", label]; 50],
                vec![vec!["", "", "", ""]; 50],
                vec![vec!["inf", "octarine", "steep", "NaN"]; 5],
            ];
            let mut tables: Vec<Table> = odd
                .iter()
                .map(|lines| table(home::mixed(kind), plain.keep(), lines))
                .collect();
            tables.push(home::unread(home::mixed(kind), plain.keep()));
            for (at, table) in tables.into_iter().enumerate() {
                let model = plain.fit(table.clone(), &leave(), &|_, _| {}).unwrap();
                let model = Model::from_bytes(&model.to_bytes()).unwrap();
                let predictions = model.predict(&cells(table)).unwrap();
                assert!(
                    predictions.scores().iter().all(|score| score.is_finite()),
                    "{kind:?} {algorithm} {at}"
                );
                assert!(model.certificate().is_void());
            }
        }
    }
}

#[test]
fn learning_beats_the_constant() {
    for kind in [Kinds::Classes(2), Kinds::Classes(3), Kinds::Number] {
        let loss = |algorithm: &str| {
            let plain = Plain::builder().algorithm(algorithm).build().unwrap();
            let table = home::random(kind, plain.keep(), 5000);
            let model = plain.fit(table.clone(), &leave(), &|_, _| {}).unwrap();
            let cells = cells(table);
            let predictions = model.predict(&cells).unwrap();
            match cells.target().unwrap() {
                privet::data::Target::Classes(classes) => {
                    let called = predictions.classes().unwrap();
                    let likely = predictions.probabilities().unwrap();
                    let count = predictions.class_count().unwrap();
                    for (row, &class) in called.iter().enumerate() {
                        let line = &likely[row * count..][..count];
                        assert!((line.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                        assert!(line.iter().all(|&p| p <= line[usize::from(class)]));
                    }
                    called.iter().zip(classes).filter(|(a, b)| a != b).count() as f64 / called.len() as f64
                }
                privet::data::Target::Numbers(numbers) => {
                    let values = predictions.values().unwrap();
                    let squares = values
                        .iter()
                        .zip(numbers)
                        .map(|(a, b)| (a - f64::from(*b)).powi(2));
                    squares.sum::<f64>() / values.len() as f64
                }
            }
        };
        let constant = loss("constant");
        for algorithm in ["logistic", "stumps"] {
            assert!(
                loss(algorithm) < 0.7 * constant,
                "{kind:?} {algorithm}: {} for {constant}",
                loss(algorithm)
            );
        }
    }
}

#[test]
fn parameters_are_checked_once() {
    let refused = |builder: privet::setting::plain::Builder| builder.build().unwrap_err().to_string();
    let start = Plain::builder;
    assert_eq!(
        refused(start()),
        "no algorithm is named: choose one of \"logistic\", \"stumps\", \"constant\""
    );
    assert_eq!(
        refused(start().algorithm("forest")),
        "there is no algorithm \"forest\": choose one of \"logistic\", \"stumps\", \"constant\""
    );
    assert_eq!(
        refused(start().algorithm("stumps").l2(1.0)),
        "l2 belongs to the algorithm \"logistic\", not to \"stumps\": leave it out"
    );
    assert_eq!(
        refused(start().algorithm("logistic").l2(0.0)),
        "l2 = 0: it must lie between 0.000000001 and 1000000000"
    );
    assert_eq!(
        refused(start().algorithm("stumps").rounds(0)),
        "rounds = 0: it must lie between 1 and 100000"
    );
    let unlabelled = schema([column("x", number(0.0, 1.0))]);
    let plain = start().algorithm("constant").build().unwrap();
    let error = plain.fit(table(unlabelled, plain.keep(), &[["1"]]), &leave(), &|_, _| {});
    assert_eq!(
        error.unwrap_err(),
        privet::Error::Parameter(
            "the schema has no label, so there is nothing to predict: add a line such as outcome = { type = \"label\", values = [\"no\", \"yes\"] } \
             to its [columns]"
                .into()
        )
    );
}

#[test]
fn a_schema_too_large_to_learn_from_is_refused() {
    let many = |n: usize| Declared::new((0..n).map(|i| i.to_string()).collect(), None).unwrap();
    let large = schema([
        column("x", Kind::Category(many(2100))),
        column("label", Kind::Label(Label::Classes(many(2000)))),
    ]);
    let plain = Plain::builder().algorithm("stumps").build().unwrap();
    let error = plain.fit(table(large, plain.keep(), &[["1", "1"]]), &leave(), &|_, _| {});
    assert_eq!(
        error.unwrap_err(),
        privet::Error::Parameter(
            "the schema's 2102 bins and values times 2000 classes are too many to learn from: at most 4194304 are \
             possible; declare fewer"
                .into()
        )
    );
}
