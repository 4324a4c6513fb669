//! Whole runs: what they spend, what they may not look at, and that they learn something.

use crate::central::curator::Central;
use privet::Error;
use privet::data::schema::{category, label, number, ordinal};
use privet::data::{Keep, Schema, Table};
use privet::privacy::account::{Caps, Price};
use privet::privacy::mechanism::{
    Ball, ENTRY_DIGITS, LogisticRow, LogisticRows, Objective, RowLoss, WEIGHT_DIGITS,
};
use privet::privacy::{
    AddRemove, Anchor, Delta, Epsilon, Ledger, Neighbours, Private, Randomness, Replace, ReplacePrivate,
    Unprotected,
};
use privet::setting::central::Encoding;
use privet_testkit::replay::{Finding, Transcript, replay, search, transcripts};
use privet_testkit::skipped::full;

use crate::home::{Kinds, mixed, random, schema, table};

type Lines = Vec<[&'static str; 4]>;

fn algorithms(epsilon: f64) -> Vec<Central> {
    let start = || {
        let epsilon = Epsilon::new(epsilon).expect("an epsilon");
        Central::builder().epsilon(epsilon).rows_about(1000)
    };
    let all = [
        start().algorithm("objective"),
        start().algorithm("objective").encoding(Encoding::Indicators),
        start().algorithm("people").rounds(4),
    ];
    all.map(|builder| builder.build().expect("parameters")).to_vec()
}

/// In floating point.
fn void(epsilon: f64) -> Central {
    let epsilon = Epsilon::new(epsilon).expect("an epsilon");
    let start = Central::builder().epsilon(epsilon).rows_about(1000);
    start.algorithm("dp-logistic").build().expect("parameters")
}

/// A public number and label, a private category and ordinal.
fn partly() -> Schema {
    schema([
        number("size", -2.0..=2.0).private(false),
        category("colour", ["red", "green", "blue"]),
        ordinal("slope", ["low", "middle", "high"]),
        label("label", ["a", "b"]).private(false),
    ])
}

fn rest() -> Lines {
    vec![
        ["1.5", "red", "low", "b"],
        ["-1", "blue", "high", "a"],
        ["", "green", "?", "b"],
        ["0.2", "octarine", "middle", "a"],
    ]
}

fn with(row: [&'static str; 4]) -> Lines {
    [vec![row], rest()].concat()
}

fn trained(central: &Central, schema: &Schema, lines: &Lines, ledger: &mut Ledger) -> Result<Vec<u8>, Error> {
    let table = table(schema.clone(), Keep::Values, lines);
    let ensemble = central.train(table, ledger, privet::learner::SILENT)?;
    Ok(serde_json::to_vec(&ensemble).expect("JSON"))
}

#[test]
fn runs_with_perturbed_losses_replay() {
    // Two rows of indicators have the intercept in common, so replaced ones do not reach the slope's bound on these points.
    let all = algorithms(1.0).into_iter().zip([0.9, 0.7, 0.9]);
    for (central, slope) in all.take(if full() { 3 } else { 1 }) {
        let rows = [
            ["2", "red", "high", "a"],
            ["-2", "blue", "low", "b"],
            ["", "", "?", "b"],
        ];
        let mut pairs = Vec::new();
        for a in rows {
            for b in rows {
                pairs.push([with(a), with(b)]);
            }
        }
        let schema = mixed(Kinds::Classes(2));
        let report = search(
            &Replace::row().relation(),
            &pairs,
            &transcripts(50),
            |lines, ledger| trained(&central, &schema, lines, ledger),
        );
        let report = report.unwrap_or_else(|found| panic!("{central:?}: {found:?}"));
        assert!(report.queries >= pairs.len());
        // Errors of boosting are claimed for the largest weight, which rows reach in the last round at the earliest.
        assert!(report.attained > 0.9, "{central:?}: {report:?}");
        assert!(
            report.minima[0] > slope && report.minima[1] > 0.9,
            "{central:?}: {report:?}"
        );

        // Rows that come or go, one or two of a unit.
        let two = std::num::NonZeroU32::new(2).expect("two");
        let pairs = [vec![rows[0]], vec![rows[1], rows[0]], vec![rows[0], rows[0]]]
            .map(|own| [[own, rest()].concat(), rest()]);
        for (relation, pairs) in [
            (AddRemove::row(), &pairs[..1]),
            (AddRemove::unit(two), &pairs[..]),
        ] {
            let report = search(&relation.relation(), pairs, &transcripts(50), |lines, ledger| {
                trained(&central, &schema, lines, ledger)
            });
            let report = report.unwrap_or_else(|found| panic!("{central:?}: {found:?}"));
            assert!(
                report.minima.iter().all(|part| *part > 0.9),
                "{central:?}: {report:?}"
            );
        }

        // Only private columns change.
        let pairs = [
            [["1", "red", "low", "b"], ["1", "blue", "high", "b"]],
            [["-1", "", "?", "a"], ["-1", "green", "middle", "a"]],
        ];
        let pairs = pairs.map(|pair| pair.map(with));
        let relation = ReplacePrivate::unit(std::num::NonZeroU32::MIN, ["colour", "slope"]);
        let schema = partly();
        let report = search(&relation.relation(), &pairs, &transcripts(50), |lines, ledger| {
            trained(&central, &schema, lines, ledger)
        });
        report.unwrap_or_else(|found| panic!("{central:?}: {found:?}"));
    }
}

/// A number and a label that follows its sign.
struct Signs(Vec<f64>);

impl LogisticRows for Signs {
    fn rows(&self) -> usize {
        self.0.len()
    }

    fn row(&self, row: usize, entries: &mut Vec<(usize, i32)>) -> LogisticRow {
        let x = self.0[row];
        entries.extend([
            (0, 1 << ENTRY_DIGITS),
            (1, (x * f64::from(1 << ENTRY_DIGITS)) as i32),
        ]);
        LogisticRow {
            label: x > 0.0,
            offset: 0,
            weight: 1 << WEIGHT_DIGITS,
        }
    }
}

/// Bounds, shapes and prices that follow the rows are found, and so are claims that are too small, by the losses themselves.
#[test]
fn a_loss_that_follows_the_rows_is_caught() {
    let run = |what: u8| {
        let pair = [vec![1.0, 0.5], vec![-1.0, 0.5]];
        let runs = [Transcript::Drawn, Transcript::Alternating(50)].map(|transcript| {
            replay(
                &Replace::row(),
                [&pair[0], &pair[1]],
                transcript,
                |rows, ledger| {
                    let positive = rows.iter().filter(|x: &&f64| **x > 0.0).count();
                    let loss = RowLoss {
                        ball: Ball::Cube,
                        dimension: if what == 1 { positive } else { 2 },
                        slope: match what {
                            2 => positive as f64,
                            5 => 0.9,
                            _ => 1.0,
                        },
                        curvature: if what == 6 { 0.45 } else { 0.5 },
                        anchor: Anchor::new("objective#logistic-losses"),
                    };
                    let price = if what == 3 { positive as f64 } else { 1.0 };
                    let objective = Objective::calibrated(Epsilon::new(price)?, &Replace::row(), loss)?;
                    let found =
                        ledger.minimise("a test", &objective, || Private::new(Signs(rows.clone())))?;
                    let mut output: Vec<u8> = found.value().iter().flat_map(|x| x.to_le_bytes()).collect();
                    if what == 4 {
                        output.push(positive as u8);
                    }
                    Ok(output)
                },
            )
        });
        let mut worst = 0f64;
        for run in runs {
            worst = worst.max(run?.attained);
        }
        Ok(worst)
    };
    let attained = run(0).expect("honest");
    assert!(attained > 0.95, "{attained}");
    for what in 1..=3 {
        assert!(matches!(run(what), Err(Finding::Branch(_))), "{what}");
    }
    assert_eq!(run(4), Err(Finding::Output));
    assert!(
        matches!(run(5), Err(Finding::Distance(_))),
        "nine tenths of the slope"
    );
    assert!(
        matches!(run(6), Err(Finding::Distance(_))),
        "nine tenths of the curvature"
    );
}

fn ledger<N: Neighbours>(relation: N, epsilon: f64) -> Ledger {
    let caps = Caps::from(Price::Pure(Epsilon::new(epsilon).expect("an epsilon")));
    let random = Randomness::from_os().expect("randomness");
    Ledger::volatile(relation.relation(), caps, Delta::ZERO, random).expect("opens")
}

/// The share of rows that a model puts right, on the rows themselves: they are made up.
fn accuracy(central: &Central, epsilon: f64, rows: usize) -> f64 {
    let train = random(Kinds::Classes(2), Keep::Values, rows);
    let test: Table = train.clone();
    let leave = Unprotected::unrecorded("test", &train.schema().relation(), "rows at random");
    let model = central
        .fit(train, ledger(Replace::row(), epsilon), privet::learner::SILENT)
        .expect("a model");
    let certificate = model.certificate();
    assert_eq!(
        certificate.pure_sum(),
        Some(central.epsilon()),
        "all of it, and no more"
    );
    assert_eq!(certificate.is_void(), central.name() == "dp-logistic");
    let cells = leave.reveal(test.cells().clone());
    let scores = model.ensemble().scores(test.schema(), &cells).expect("scores");
    let Some(privet::data::Target::Classes(labels)) = cells.target() else {
        panic!("classes");
    };
    let right = scores
        .iter()
        .zip(labels)
        .filter(|(s, l)| (**s >= 0.0) == (**l > 0));
    right.count() as f64 / rows as f64
}

#[test]
fn perturbed_losses_learn_what_there_is() {
    for central in [algorithms(8.0), vec![void(8.0)]].concat() {
        // Chance is a half; plain logistic regression on these columns reaches 0.8 to 0.87. At this ε and so many rows noise is
        // far below that.
        let found = accuracy(&central, 8.0, 4000);
        assert!(found > 0.72, "{central:?}: {found}");
    }
}

/// The last digits of floating-point minima tell whether somebody was there: such models promise nothing, and say so before.
#[test]
fn floating_point_minima_are_void() {
    let fit = |central: &Central| {
        let train = random(Kinds::Classes(2), Keep::Values, 50);
        let model = central.fit(train, ledger(Replace::row(), 8.0), privet::learner::SILENT);
        model.expect("a model").certificate().is_void()
    };
    let floating = void(8.0);
    assert!(fit(&floating) && floating.name() == "dp-logistic");
    for central in algorithms(8.0) {
        assert!(!fit(&central) && central.name() != "dp-logistic", "{central:?}");
    }
}

#[test]
fn what_does_not_belong_is_refused() {
    let start = || {
        Central::builder()
            .epsilon(Epsilon::new(1.0).expect("an epsilon"))
            .rows_about(100)
    };
    for builder in [
        start().algorithm("dp-logistic").encoding(Encoding::Codes),
        start()
            .algorithm("people")
            .planes(privet::setting::central::Planes::Random),
        start().algorithm("objective").rounds(3),
    ] {
        let found = builder.build().expect_err("refused").to_string();
        assert!(found.contains("belongs to"), "{found}");
    }
    // Values of a list that no matrix of products holds.
    let many = (0..2000).map(|i| format!("v{i}"));
    let wide = schema([category("which", many), label("label", ["a", "b"])]);
    let central = start().algorithm("objective").encoding(Encoding::Indicators);
    let central = central.build().expect("parameters");
    let mut paid = ledger(Replace::row(), 1.0);
    let refused = central.train(
        table(wide, Keep::Values, &[["v1", "a"]]),
        &mut paid,
        privet::learner::SILENT,
    );
    assert!(matches!(refused, Err(Error::Parameter(why)) if why.key() == Some("encoding")));
    assert_eq!(paid.close().payments, [], "nothing was spent");
}
