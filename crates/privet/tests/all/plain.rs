//! Training without protection: parameters, refusals, and a model whatever the rows say.

use std::ops::ControlFlow;

use crate::home::{self, Kinds, Plain, schema, table};
use privet::data::schema::{category, label, number};
use privet::data::{Cells, Document, Keep, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::privacy::{AddRemove, Neighbours, Unprotected};
use privet::setting::plain::{
    self, Algorithm, Builder, Centroid, Constant, Flavour, Logistic, Parameters, Stumps, Trees,
};

fn leave() -> Unprotected {
    Unprotected::unrecorded("test", &AddRemove::row().relation(), "a test")
}

fn cells(table: Table) -> Cells {
    leave().reveal(table.into_cells())
}

/// Every algorithm that fits a kind of label, by a name.
fn every(kind: Kinds) -> Vec<(&'static str, Plain)> {
    let named = |name: &'static str| (name, Plain::named(name, ""));
    let mut all: Vec<(&str, Plain)> = ["logistic", "stumps", "trees", "constant"].map(named).into();
    all.push(("exact stumps", Plain::named("stumps", "thresholds = \"exact\"")));
    if kind != Kinds::Number {
        all.push(named("centroid"));
    }
    if kind == Kinds::Classes(2) {
        let exact = "abstain = true\nthresholds = \"exact\"";
        all.push(("abstaining stumps", Plain::named("stumps", "abstain = true")));
        all.push(("exact abstaining stumps", Plain::named("stumps", exact)));
    }
    all
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
                let model = plain.fit(table.clone(), &leave()).unwrap();
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
            let model = plain.fit(table.clone(), &leave()).unwrap();
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
        let constant = loss(&Plain::named("constant", ""));
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
    let start = || Trees::builder().rounds(5);
    let fit = |builder: Builder<Trees>| {
        let table = home::random(Kinds::Classes(2), Keep::Bins, 2000);
        let plan = builder.build().unwrap().plan(table.schema()).unwrap();
        let model = plan.fit(table, &leave(), SILENT).unwrap();
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
    fn refused<P: Parameters + std::fmt::Debug>(builder: Builder<P>) -> String {
        builder.build().unwrap_err().to_string()
    }
    let trees = Trees::builder;
    assert_eq!(
        refused(Logistic::builder().l2(0.0)),
        "l2 = 0: it must lie between 0.000000001 and 1000000000"
    );
    assert_eq!(
        refused(Stumps::builder().rounds(0)),
        "rounds = 0: it must lie between 1 and 100000"
    );
    assert_eq!(
        refused(trees().depth(17)),
        "depth = 17: it must lie between 1 and 16"
    );
    assert_eq!(
        refused(trees().row_share(0.0)),
        "row_share = 0: it must lie between 0.000000001 and 1"
    );
    assert_eq!(
        refused(trees().gamma(f64::NAN)),
        "gamma = NaN: it must lie between 0 and 1000000000"
    );
    let named = |name: &str| vec![name.to_owned()];
    assert_eq!(
        refused(trees().rises(named("x")).falls(named("x"))),
        "falls names 'x', and so does rises: remove it from one"
    );
    assert_eq!(
        refused(trees().falls(named("x")).flavour(Flavour::FirstOrder)),
        "falls needs flavour = \"second-order\": remove it"
    );
}

#[test]
fn parameters_are_checked_against_the_schema() {
    let refused = |algorithm: &dyn Algorithm, schema| algorithm.plan(&schema).unwrap_err().to_string();
    let trees = Trees::builder().rises(vec!["colour".into()]).build().unwrap();
    assert_eq!(
        refused(&trees, home::mixed(Kinds::Number)),
        "rises names 'colour', which is no feature of the schema with an order: name a number, an ordinal or a flag"
    );
    let abstaining = Stumps::builder().abstain(true).build().unwrap();
    for kind in [Kinds::Classes(3), Kinds::Number] {
        assert_eq!(
            refused(&abstaining, home::mixed(kind)),
            "abstain = true needs a label of two classes: remove it"
        );
    }
    assert!(abstaining.plan(&home::mixed(Kinds::Classes(2))).is_ok());
    let against = Stumps::builder().one_versus_all(true).build().unwrap();
    for kind in [Kinds::Classes(2), Kinds::Number] {
        assert_eq!(
            refused(&against, home::mixed(kind)),
            "one_versus_all = true needs a label of more than two classes: remove it"
        );
    }
    assert_eq!(
        refused(&Centroid::default(), home::mixed(Kinds::Number)),
        "\"centroid\" needs a label with classes, and the schema's is a number: choose another algorithm"
    );
    assert_eq!(
        refused(&Constant::default(), schema([number("x", 0.0..=1.0)])),
        "the schema has no label, so there is nothing to predict: add a line such as outcome = { type = \"label\", values = [\"no\", \"yes\"] } \
         to its [columns]"
    );
}

/// The stumps of a class are those that tell it from all others where all others are one class.
#[test]
fn one_versus_all_has_the_stumps_of_each_class() {
    let lines: Vec<[String; 4]> = (0..80u32)
        .map(|row| {
            let size = f64::from(row * 37 % 80) / 20.0 - 2.0;
            let (colour, slope) = (row * 5 % 3, row * 11 % 7 % 3);
            let class = (size + f64::from(colour) + f64::from(row % 4) * 0.3 + 1.0) as usize;
            [
                size.to_string(),
                ["red", "green", "blue"][colour as usize].into(),
                ["low", "middle", "high"][slope as usize].into(),
                ["a", "b", "c"][class.min(2)].into(),
            ]
        })
        .collect();
    let stumps = |of: bool| Stumps::builder().rounds(9).one_versus_all(of).build().unwrap();
    let fit = |stumps: Stumps, kind, lines: &[[String; 4]]| {
        let plan = stumps.plan(&home::mixed(kind)).unwrap();
        let table = table(home::mixed(kind), plan.keep(), lines);
        plan.fit(table, &leave(), SILENT).unwrap()
    };
    let model = fit(stumps(true), Kinds::Classes(3), &lines);
    let mut together = Vec::new();
    for (output, class) in ["a", "b", "c"].into_iter().enumerate() {
        let told: Vec<[String; 4]> = lines
            .iter()
            .cloned()
            .map(|mut line| {
                line[3] = if line[3] == class { "b" } else { "a" }.into();
                line
            })
            .collect();
        let members = fit(stumps(false), Kinds::Classes(2), &told)
            .ensemble()
            .members
            .clone();
        together.extend(
            members
                .into_iter()
                .map(|member| privet::boost::Member { output, ..member }),
        );
    }
    assert!(together.len() > 9, "{}", together.len());
    assert_eq!(model.ensemble().members, together);
    assert_eq!(model.ensemble().base.len(), 3);
    // Nobody's rows give a model, too.
    fit(stumps(true), Kinds::Classes(3), &[]);
}

/// What a job says of `[algorithm]`, and everything that is wrong with it.
#[test]
fn every_parameter_that_is_wrong_is_found() {
    let read = |lines: &str| {
        let text = format!("[algorithm]\n{lines}\n");
        let document = Document::parse("job", &text).unwrap();
        let algorithm = plain::read(&document.root().section("algorithm").unwrap());
        (algorithm.is_some(), document.finish().map_err(|e| e.to_string()))
    };
    let (_, found) = read("name = \"trees\"\nrounds = 0\nabstain = true\nl2 = \"x\"\nshare = 1\ndepth = 17");
    let found = found.unwrap_err();
    for line in [
        "line 3: rounds = 0: it must lie between 1 and 100000",
        "line 4: abstain belongs to the algorithm \"stumps\", not to \"trees\": remove it",
        "line 5: l2 ",
        "line 6: share is not known here",
        "line 7: depth = 17: it must lie between 1 and 16",
    ] {
        assert!(found.contains(line), "{line} in {found}");
    }
    let (_, found) = read("name = \"forest\"");
    assert!(
        found
            .unwrap_err()
            .contains("it can be \"logistic\", \"centroid\"")
    );
    assert_eq!(read("name = \"trees\"\nleaves = 8\ndepth = 17"), (true, Ok(())));
}

/// A table that was read with other bins is refused, and nothing of it is looked at.
#[test]
fn a_plan_learns_from_tables_of_its_schema_only() {
    let plan = Trees::default().plan(&home::mixed(Kinds::Classes(2))).unwrap();
    let other = home::random(Kinds::Classes(3), Keep::Bins, 5);
    let refused = plan.fit(other, &leave(), SILENT).unwrap_err();
    assert!(matches!(refused, privet::Error::Misuse(_)), "{refused}");
}

/// Whoever watches can stop a run; no model comes of it.
#[test]
fn a_run_can_be_stopped() {
    for kind in [Kinds::Classes(2), Kinds::Classes(3), Kinds::Number] {
        for (name, algorithm) in every(kind) {
            if ["constant", "centroid"].contains(&name) {
                // Done in one step.
                continue;
            }
            let table = home::random(kind, algorithm.keep(), 500);
            let plan = algorithm.plan(table.schema()).unwrap();
            let steps = std::sync::atomic::AtomicU64::new(0);
            let stopped = plan.fit(table, &leave(), &|_, _| match steps
                .fetch_add(1, std::sync::atomic::Ordering::Relaxed)
            {
                0 => ControlFlow::Continue(()),
                _ => ControlFlow::Break(()),
            });
            assert_eq!(stopped.unwrap_err(), privet::Error::Stopped, "{kind:?} {name}");
            assert!(steps.into_inner() <= 3, "{kind:?} {name}");
        }
    }
}

#[test]
fn a_schema_too_large_to_learn_from_is_refused() {
    let many = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
    let large = schema([category("x", many(2100)), label("label", many(2000))]);
    assert_eq!(
        Stumps::default().plan(&large).unwrap_err().to_string(),
        "the schema's 2102 bins and values times 2000 classes are too many to learn from: at most 4194304 are possible; declare fewer"
    );
}
