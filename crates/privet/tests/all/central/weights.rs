//! Rows with weights: claims are those of rows without, rows without weight say nothing, and other algorithms refuse them.

use privet::Error;
use privet::data::schema::{Domain, category, label, number, weight};
use privet::data::{Frame, Intake, Keep, Schema, Table};
use privet::learner::SILENT;
use privet::model::Model;
use privet::noisy::evaluation::Evaluation;
use privet::privacy::{AddRemove, Neighbours, Replace, ReplacePrivate, Unprotected};
use privet::setting::{plain, secure, vertical};

use crate::central::curator::Central;
use crate::central::reach::{Case, Change, Reach, reach};
use crate::central::tables::{Lines, Open, Row, built, rows, start};
use crate::central::trees::{both, delta};
use crate::central::window::Script;
use crate::central::worst::{TREES, Task, ends};
use crate::home::schema;

/// The columns of the other tests, with weights from 0 to 2 in the place of the slope.
fn weighted(open: Open, of: Domain) -> Schema {
    let columns = [
        number("p", -1.0..=1.0),
        number("x", -1.0..=1.0),
        category("colour", ["red", "green", "blue"]),
        weight("slope", 2.0),
        label("y", of),
    ];
    schema(columns.map(|column| {
        let private = open.private().contains(&column.name());
        column.private(private)
    }))
}

const WEIGHTS: [&str; 5] = ["2", "1e300", "0.7", "0.0004", ""];

fn with_weights(lines: &[Row], weights: &[&'static str]) -> Lines {
    let each = |&[p, x, colour, _, y]: &Row| {
        let rows = weights.iter().map(move |weight| [p, x, colour, *weight, y]);
        rows.collect::<Lines>()
    };
    lines.iter().flat_map(each).collect()
}

fn moved(
    central: &Central,
    task: Task,
    (change, open): (Change, Open),
    (k, coins, script): (u32, u8, &Script),
) -> Vec<Reach> {
    let units = with_weights(&task.rows(&ends(open)), &WEIGHTS);
    let rest = with_weights(&task.rows(&ends(open))[..2], &["0.3"]);
    let case = Case {
        schema: &weighted(open, task.label()),
        open,
        change,
        units: &units.iter().map(|row| vec![*row; k as usize]).collect::<Vec<_>>(),
        rest: &rest,
    };
    match change {
        Change::Comes => reach(central, &AddRemove::unit(rows(k)), &case, coins, script),
        Change::Replaced => reach(central, &Replace::unit(rows(k)), &case, coins, script),
        Change::Columns => reach(central, &open.relation(k), &case, coins, script),
    }
}

/// Whatever weights rows have, sums move no further than is claimed of rows without weights; with the largest weights, as far.
#[test]
fn weighted_rows_move_sums_by_the_claim_of_rows_without_weights() {
    let changes = [
        (Change::Comes, Open::Nothing),
        (Change::Replaced, Open::Nothing),
        (Change::Columns, Open::Feature),
        (Change::Columns, Open::Features),
        (Change::Columns, Open::Label),
    ];
    for task in Task::ALL {
        for central in task.trees() {
            for (change, open) in changes {
                let mut most: f64 = 0.0;
                'search: for coins in 0..8 {
                    for script in task.records() {
                        let found = moved(&central, task, (change, open), (1, coins, &script));
                        let own = &found[found.len() - TREES..];
                        most = own.iter().map(|reach| reach.part).fold(most, f64::max);
                        if most > 0.999 {
                            break 'search;
                        }
                    }
                }
                // Where a number's range is not counted apart, a row is counted in its leaf, whichever trees there are.
                assert!(most > 0.99, "{task:?} {change:?} {open:?} {central:?}: {most}");
            }
        }
    }
}

/// The first question, about rows by class, and the last, about rows by score and class, of three classes.
#[test]
fn weighted_rows_move_counts_of_three_classes_by_their_claim() {
    for central in both(&|| start("trees", "1", 50).trees(2).leaves(3).calibrate(true)) {
        for (change, open) in [(Change::Comes, Open::Nothing), (Change::Replaced, Open::Nothing)] {
            for k in [1, 2] {
                let script = Script::Each(vec![vec![500, 900, 100], vec![0]]);
                let found = moved(&central, Task::ThreeClasses, (change, open), (k, 3, &script));
                for own in [found.first(), found.last()] {
                    let own = own.expect("questions");
                    assert!(own.part >= 1.0, "{central:?} {change:?}: {found:?}");
                }
            }
        }
    }
}

/// The last question, about rows by score and class.
#[test]
fn weighted_rows_move_counts_by_score_by_their_claim() {
    for central in both(&|| start("trees", "1", 50).trees(2).leaves(3).calibrate(true)) {
        for (change, open) in [(Change::Comes, Open::Nothing), (Change::Replaced, Open::Nothing)] {
            for k in [1, 2] {
                let found = [vec![0], vec![9_000_000, -9_000_000, 0]].map(|says| {
                    let script = Script::Says(says);
                    let found = moved(&central, Task::TwoClasses, (change, open), (k, 3, &script));
                    found.last().expect("questions").part
                });
                assert!(
                    found.iter().any(|part| *part >= 1.0),
                    "{central:?} {change:?}: {found:?}"
                );
            }
        }
    }
}

/// Two groups that say the opposite; the weight decides which of them is heard.
fn opposite(of: usize, weights: [&'static str; 2]) -> Lines {
    let rows = (0..of).flat_map(|number| {
        let [x, other] = if number % 2 == 0 {
            ["0.9", "-0.9"]
        } else {
            ["-0.9", "0.9"]
        };
        let y = if x == "0.9" { "b" } else { "a" };
        let [heard, unheard] = weights;
        [["1", x, "red", heard, y], ["1", other, "red", unheard, y]]
    });
    rows.collect()
}

/// The share of rows that a model classifies rightly.
fn right(model: &Model, schema: &Schema, lines: &[Row]) -> f64 {
    let permission = Unprotected::unrecorded("weights", &schema.relation(), "a test");
    let test = crate::home::table(schema.clone(), Keep::Values, lines);
    let evaluation = Evaluation::of(schema).expect("a label");
    let cells = test.cells().as_ref();
    let cells = cells.map(|cells| cells.in_bins(schema, model.schema()).expect("the same columns"));
    let judged = cells.map(|cells| evaluation.judge(model, &cells));
    let named = evaluation.open(judged, &permission).named();
    let found = named.iter().find(|(name, _)| *name == "accuracy");
    found.expect("an accuracy").1
}

/// A group whose weight is a twentieth is outvoted, privately and in the clear; so is one that has no weight.
#[test]
fn the_heavier_group_is_heard() {
    let schema = weighted(Open::Nothing, Domain::from(["a", "b"]));
    let permission = Unprotected::unrecorded("weights", &schema.relation(), "a test");
    let test: Lines = opposite(100, ["2", "2"]).into_iter().step_by(2).collect();
    let algorithms: [&dyn plain::Algorithm; 3] = [
        &plain::Trees::default(),
        &plain::Logistic::default(),
        &plain::Stumps::default(),
    ];
    for (weights, is_heard) in [(["2", "0.1"], true), (["0.1", "2"], false), (["", "1"], false)] {
        let lines = opposite(2000, weights);
        let check = |model: &Model, what: &dyn std::fmt::Debug| {
            let right = right(model, &schema, &test);
            assert!(
                if is_heard { right > 0.95 } else { right < 0.05 },
                "{what:?} {weights:?} {right}"
            );
        };
        for algorithm in algorithms {
            let plan = algorithm.plan(&schema).expect("a plan");
            let rows = privet_testkit::rows::table(&plan.reads(), &lines);
            check(&plan.fit(rows, &permission, SILENT).expect("a model"), &algorithm);
        }
        let trees = || start("trees", "2", 4000);
        for central in [trees(), trees().delta(delta()), start("auto", "2", 4000)].map(built) {
            let plan = central
                .plan(&schema, &AddRemove::row().relation())
                .expect("a plan");
            let rows = privet_testkit::rows::table(&plan.reads(), &lines);
            check(&plan.rehearse(rows).expect("a model"), &central);
        }
    }
}

/// Rows that all have no weight are nobody's: every algorithm predicts what it predicts from a table without rows.
#[test]
fn rows_without_any_weight_are_nobody() {
    for (of, cell) in [
        (Domain::from(["a", "b"]), ["a", "b"]),
        (Domain::from(0.0..=10.0), ["1", "9"]),
    ] {
        let schema = weighted(Open::Nothing, of);
        let lines: Lines = (0..20)
            .map(|row| ["1", "0.5", "red", "0", cell[row % 2]])
            .collect();
        let permission = Unprotected::unrecorded("weights", &schema.relation(), "a test");
        let algorithms: [&dyn plain::Algorithm; 4] = [
            &plain::Trees::default(),
            &plain::Logistic::default(),
            &plain::Stumps::default(),
            &plain::Constant::default(),
        ];
        for algorithm in algorithms {
            let plan = algorithm.plan(&schema).expect("a plan");
            let fitted = |learnt: &[Row]| {
                let rows = privet_testkit::rows::table(&plan.reads(), learnt);
                let model = plan.fit(rows, &permission, SILENT).expect("a model");
                let asked = privet_testkit::rows::table(&plan.reads(), &lines);
                let cells = permission.reveal(asked.into_cells());
                model.ensemble().scores(model.schema(), &cells).expect("scores")
            };
            assert_eq!(fitted(&lines), fitted(&[]), "{algorithm:?}");
        }
    }
}

/// What does not weigh rows says so, with the column's name.
#[test]
fn what_counts_rows_alike_refuses_weights() {
    let schema = weighted(Open::Nothing, Domain::from(["a", "b"]));
    let said = |refused: Option<Error>| {
        let why = refused.expect("it is refused").to_string();
        assert!(why.contains("'slope'") && why.contains("trees"), "{why}");
    };
    for name in [
        "select",
        "histogram-bayes",
        "moment-select",
        "forest",
        "objective",
        "people",
        "brc",
    ] {
        let central = built(start(name, "1", 100));
        said(central.plan(&schema, &AddRemove::row().relation()).err());
    }
    let secure = secure::Secure::builder().build().expect("parameters");
    said(secure.plan(&schema).err());
    let columns = vertical::Desensitisation::builder()
        .epsilon("1".parse().expect("an epsilon"))
        .build()
        .expect("parameters");
    said(columns.plan(&schema).err());
}

/// A plan says what rows are when it speaks of rows; figures of a model need no weights.
#[test]
fn a_plan_counts_in_rows_of_the_largest_weight() {
    let schema = weighted(Open::Nothing, Domain::from(["a", "b"]));
    let relation = AddRemove::row().relation();
    let plan = built(start("trees", "1", 1000))
        .plan(&schema, &relation)
        .expect("a plan");
    let lines = plan.noise().join(" ");
    assert!(lines.contains("shares of the largest weight, 2:"), "{lines}");
    let without = Open::Nothing.schema();
    let plan = built(start("trees", "1", 1000))
        .plan(&without, &relation)
        .expect("a plan");
    assert!(!plan.noise().join(" ").contains("largest weight"));
    let columns = || {
        Frame::new()
            .column("p", [0.5, 1.0])
            .column("x", [0.5, 1.0])
            .column("colour", ["red", "blue"])
            .column("y", ["a", "b"])
    };
    let everything = || Intake::everything(schema.clone().into(), Keep::Values);
    let missing = Table::read(&everything(), &columns())
        .map(|_| ())
        .expect_err("no weights");
    assert!(missing.to_string().contains("'slope'"), "{missing}");
    let table = Table::read(&everything().without_weights(), &columns()).expect("a table");
    let cells = Unprotected::unrecorded("weights", &schema.relation(), "a test").reveal(table.into_cells());
    assert!(cells.weights().is_none() && cells.rows() == 2);
}

/// Only the weight is private: nothing else can be protected, and the error does not say that nothing is private.
#[test]
fn a_private_weight_alone_is_refused_by_its_name() {
    let columns = [
        number("x", -1.0..=1.0).private(false),
        weight("w", 2.0),
        label("y", ["a", "b"]).private(false),
    ];
    let relation = ReplacePrivate::unit(rows(1), ["w"]).relation();
    let refused = built(start("trees", "1", 1000)).plan(&schema(columns), &relation);
    let refused = refused.map(|_| ()).map_err(|e| e.to_string());
    assert!(refused.is_err_and(|why| why.contains("only the weight 'w' is private")));
}
