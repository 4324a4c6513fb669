//! Training without protection: parameters, refusals, and a model whatever the rows say.

use crate::home::{self, Kinds, schema, table};
use privet::boost::Thresholds;
use privet::data::schema::{category, label, number};
use privet::data::{Cells, Table};
use privet::error::Subject;
use privet::model::Model;
use privet::privacy::{AddRemove, Neighbours, Unprotected};
use privet::setting::plain::{Builder, Flavour, Plain};

fn leave() -> Unprotected {
    Unprotected::unrecorded("test", &AddRemove::row().relation(), "a test")
}

fn cells(table: Table) -> Cells {
    leave().reveal(table.into_cells())
}

/// Every algorithm that fits a kind of label, by a name.
fn every(kind: Kinds) -> Vec<(&'static str, Plain)> {
    let named = |name: &'static str| (name, Plain::builder().algorithm(name));
    let exact = || Plain::builder().algorithm("stumps").thresholds(Thresholds::Exact);
    let mut all: Vec<(&str, Builder)> = ["logistic", "stumps", "trees", "constant"].map(named).to_vec();
    all.push(("exact stumps", exact()));
    if kind != Kinds::Number {
        all.push(named("centroid"));
    }
    if kind == Kinds::Classes(2) {
        all.push(("abstaining stumps", named("stumps").1.abstain(true)));
        all.push(("exact abstaining stumps", exact().abstain(true)));
    }
    all.into_iter()
        .map(|(name, builder)| (name, builder.build().unwrap()))
        .collect()
}

/// What rows say never decides whether there is a model.
#[test]
fn every_table_gives_a_model() {
    for kind in [Kinds::Classes(2), Kinds::Classes(3), Kinds::Number] {
        for (algorithm, plain) in every(kind) {
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
                let predictions = model.predict_cells(&cells(table)).unwrap();
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
        let loss = |plain: &Plain| {
            let table = home::random(kind, plain.keep(), 5000);
            let model = plain.fit(table.clone(), &leave(), &|_, _| {}).unwrap();
            let cells = cells(table);
            let predictions = model.predict_cells(&cells).unwrap();
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
        let constant = loss(&Plain::builder().algorithm("constant").build().unwrap());
        for (algorithm, plain) in every(kind) {
            let loss = loss(&plain);
            assert!(
                loss < 0.7 * constant || algorithm == "constant",
                "{kind:?} {algorithm}: {loss} for {constant}"
            );
        }
    }
}

/// Every parameter reaches the trees.
#[test]
fn trees_do_as_they_are_told() {
    let start = || Plain::builder().algorithm("trees").rounds(5);
    let fit = |builder: Builder| {
        let plain = builder.build().unwrap();
        let table = home::random(Kinds::Classes(2), plain.keep(), 2000);
        let model = plain.fit(table, &leave(), &|_, _| {}).unwrap();
        model.ensemble().clone()
    };
    let usual = fit(start());
    assert_eq!(usual.members.len(), 5);
    assert_eq!(usual, fit(start().depth(6).learning_rate(0.1).l2(1.0)));
    let others = [
        start().learning_rate(0.3),
        start().depth(3),
        start().leaves(8),
        start().l2(10.0),
        start().gamma(5.0),
        start().min_child_weight(50.0),
        start().row_share(0.5),
        start().column_share(0.5),
        start().flavour(Flavour::FirstOrder),
        start().sums(privet::boost::gradient::Sums::Floats),
        start().falls(vec!["size".into()]),
    ];
    for builder in others {
        let says = format!("{builder:?}");
        assert_ne!(usual, fit(builder), "{says}");
    }
    assert_ne!(fit(start().row_share(0.5)), fit(start().row_share(0.5).seed(1)));
    let leaves = fit(start().leaves(8));
    assert!(leaves.members.iter().all(|member| matches!(
        &member.learner,
        privet::learner::Learner::Tree(tree) if tree.leaves.len() <= 8
    )));
}

#[test]
fn parameters_are_checked_once() {
    let refused = |builder: Builder| builder.build().unwrap_err().to_string();
    let start = Plain::builder;
    assert_eq!(
        refused(start()),
        "no algorithm is named: choose one of \"logistic\", \"centroid\", \"stumps\", \"trees\", \"constant\""
    );
    assert_eq!(
        refused(start().algorithm("forest")),
        "there is no algorithm \"forest\": choose one of \"logistic\", \"centroid\", \"stumps\", \"trees\", \"constant\""
    );
    assert_eq!(
        refused(start().algorithm("stumps").l2(1.0)),
        "l2 belongs to the algorithm \"logistic\" or \"trees\", not to \"stumps\": leave it out"
    );
    assert_eq!(
        refused(start().algorithm("logistic").l2(0.0)),
        "l2 = 0: it must lie between 0.000000001 and 1000000000"
    );
    assert_eq!(
        refused(start().algorithm("stumps").rounds(0)),
        "rounds = 0: it must lie between 1 and 100000"
    );
    assert_eq!(
        refused(start().algorithm("stumps").learning_rate(0.1)),
        "learning_rate belongs to the algorithm \"trees\", not to \"stumps\": leave it out"
    );
    assert_eq!(
        refused(start().algorithm("trees").depth(17)),
        "depth = 17: it must lie between 1 and 16"
    );
    assert_eq!(
        refused(start().algorithm("trees").row_share(0.0)),
        "row_share = 0: it must lie between 0.000000001 and 1"
    );
    assert_eq!(
        refused(start().algorithm("trees").gamma(f64::NAN)),
        "gamma = NaN: it must lie between 0 and 1000000000"
    );
    let named = |name: &str| vec![name.to_owned()];
    assert_eq!(
        refused(start().algorithm("trees").rises(named("x")).falls(named("x"))),
        "falls names 'x', and so does rises: leave it out of one"
    );
    assert_eq!(
        refused(
            start()
                .algorithm("trees")
                .falls(named("x"))
                .flavour(Flavour::FirstOrder)
        ),
        "falls needs flavour = \"second-order\": leave it out"
    );
    let trees = start().algorithm("trees").rises(named("colour")).build().unwrap();
    assert_eq!(
        trees.check(&home::mixed(Kinds::Number)).unwrap_err(),
        privet::Error::parameter(
            "rises",
            "rises names 'colour', which is no feature of the schema with an order: name a number, an ordinal or a flag"
        )
    );
    assert_eq!(
        refused(start().algorithm("trees").thresholds(Thresholds::Exact)),
        "thresholds belongs to the algorithm \"stumps\", not to \"trees\": leave it out"
    );
    assert_eq!(
        refused(start().algorithm("centroid").abstain(true)),
        "abstain belongs to the algorithm \"stumps\", not to \"centroid\": leave it out"
    );
    let abstaining = start().algorithm("stumps").abstain(true).build().unwrap();
    let two = privet::Error::parameter(
        Subject::Algorithm,
        "abstain = true needs a label of two classes: leave it out",
    );
    for kind in [Kinds::Classes(3), Kinds::Number] {
        assert_eq!(abstaining.check(&home::mixed(kind)).unwrap_err(), two);
    }
    assert!(abstaining.check(&home::mixed(Kinds::Classes(2))).is_ok());
    let centroid = start().algorithm("centroid").build().unwrap();
    assert_eq!(
        centroid.check(&home::mixed(Kinds::Number)).unwrap_err(),
        privet::Error::parameter(
            Subject::Algorithm,
            "\"centroid\" needs a label with classes, and the schema's is a number: choose another algorithm"
        )
    );
    let unlabelled = schema([number("x", 0.0..=1.0)]);
    let plain = start().algorithm("constant").build().unwrap();
    let error = plain.fit(table(unlabelled, plain.keep(), &[["1"]]), &leave(), &|_, _| {});
    assert_eq!(
        error.unwrap_err(),
        privet::Error::parameter(
            Subject::Schema,
            "the schema has no label, so there is nothing to predict: add a line such as outcome = { type = \"label\", values = [\"no\", \"yes\"] } \
             to its [columns]"
        )
    );
}

#[test]
fn a_schema_too_large_to_learn_from_is_refused() {
    let many = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    let large = schema([category("x", many(2100)), label("label", many(2000))]);
    let plain = Plain::builder().algorithm("stumps").build().unwrap();
    let error = plain.fit(table(large, plain.keep(), &[["1", "1"]]), &leave(), &|_, _| {});
    assert_eq!(
        error.unwrap_err(),
        privet::Error::parameter(
            Subject::Schema,
            "the schema's 2102 bins and values times 2000 classes are too many to learn from: at most 4194304 are \
             possible; declare fewer"
        )
    );
}
