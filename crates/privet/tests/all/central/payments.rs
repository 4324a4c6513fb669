//! What is charged is what was drawn; what cannot be done is refused before anything is.

use crate::central::curator::Central;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use privet::Error;
use privet::data::schema::{Domain, category, label, number, ordinal};
use privet::data::{Intake, Keep, Schema, Table};
use privet::learner::SILENT;
use privet::privacy::account::Price;
use privet::privacy::{AddRemove, Epsilon, Neighbours, Replace};
use privet::setting::central::{Algorithm, Brc, Budget, HistogramBayes, Planes, Select, Trees};

use crate::central::tables::{
    CORNERS, Open, algorithms, built, epsilon, others, paid_public, read, rows, start,
};
use crate::central::window::{Script, ledger, run};
use crate::home::{self, schema};

fn billionths(prices: impl IntoIterator<Item = Price>) -> u64 {
    let each = prices.into_iter().map(|price| match price {
        Price::Pure(epsilon) => epsilon.billionths(),
        other => panic!("{other:?} is not pure"),
    });
    each.sum()
}

/// What was paid is ε but for what does not divide, and covers every draw.
fn balances<N: Neighbours>(central: &Central, open: Open, relation: &N, script: &Script) {
    let lines = [others(), CORNERS.to_vec()].concat();
    let (_, seen, certificate) = run(central, (open, &lines), relation, (None, script)).expect("a run");
    let drawn = billionths(seen.prices.iter().copied());
    let paid = billionths(certificate.payments.iter().map(|payment| payment.price));
    let draws: u64 = certificate.payments.iter().map(|payment| payment.draws).sum();
    let whole = central.epsilon().billionths();
    let name = central.name();
    assert!(
        drawn <= paid && paid <= whole,
        "{name}: {drawn} of {paid} of {whole}"
    );
    assert!(
        whole - drawn < draws,
        "{name}: {drawn} of {whole} in {draws} draws"
    );
    assert_eq!(
        draws,
        seen.prices.len() as u64,
        "{name}: draws that nobody asked for"
    );
    let schema = open.schema();
    let price = central.price(&schema, &relation.relation()).expect("a price");
    assert_eq!(price, Price::Pure(central.epsilon()), "{name}");
}

#[test]
fn what_is_charged_is_what_was_drawn() {
    for price in ["0.000010001", "0.1", "1", "2.718281829", "10"] {
        // So many that even the least of these budgets is not refused.
        for central in algorithms(price, 10_000_000) {
            for script in [Script::Drawn, Script::Says(vec![-5000, 5000])] {
                balances(&central, Open::Nothing, &AddRemove::row(), &script);
                balances(&central, Open::Nothing, &Replace::unit(rows(3)), &script);
                balances(&central, Open::Feature, &Open::Feature.relation(2), &script);
                balances(
                    &central,
                    Open::LabelAndFeature,
                    &Open::LabelAndFeature.relation(1),
                    &script,
                );
            }
        }
    }
}

#[test]
fn paid_public_classifiers_are_paid_for() {
    for central in paid_public("1", 10_000_000) {
        for open in [Open::Feature, Open::Features] {
            balances(&central, open, &open.relation(2), &Script::Drawn);
        }
    }
}

#[test]
fn public_columns_alone_cost_nothing() {
    let open = Open::LabelAndFeature;
    let central = built(start("public", "1", 50));
    let (_, seen, certificate) = run(
        &central,
        (open, &others()),
        &open.relation(1),
        (None, &Script::Drawn),
    )
    .expect("a run");
    // Nothing is drawn. It is written down all the same, for totals that public columns are not free under.
    assert!(seen.prices.is_empty());
    let paid: Vec<Price> = certificate.payments.iter().map(|payment| payment.price).collect();
    assert_eq!(paid, [Price::Pure(Epsilon::ZERO)]);
    // Not even a budget is needed, and none is promised.
    let mut empty = ledger(open.relation(1), Epsilon::ZERO);
    central
        .train(read(open, &others()), &mut empty, SILENT)
        .expect("it is free");
    let relation = open.relation(1).relation();
    assert_eq!(
        central.price(&open.schema(), &relation).expect("a price"),
        Price::Pure(Epsilon::ZERO)
    );
}

/// Refused with nothing paid; why.
fn refused<N: Neighbours>(central: &Central, schema: Schema, relation: N) -> Error {
    let mut paid = ledger(relation, epsilon("100"));
    let lines: [[&str; 5]; 2] = [["1", "1", "red", "low", "a"], ["0", "0", "blue", "high", "b"]];
    let table = home::table(schema, Keep::Values, &lines);
    let error = central.train(table, &mut paid, SILENT).expect_err("refused");
    assert_eq!(paid.close().payments, [], "{error} came after a payment");
    error
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    fn wrong<T: std::fmt::Debug>(key: &str, made: Result<T, Error>) {
        match made {
            Err(Error::Parameter(e)) => assert_eq!(e.key(), Some(key), "{e}"),
            other => panic!("{key}: {other:?}"),
        }
    }
    let brc = Brc::builder;
    wrong("epsilon", Budget::pure(Epsilon::ZERO, 9));
    wrong("rows_about", Budget::pure(epsilon("1"), 0));
    let large = "0.2".parse().expect("a delta");
    wrong("delta", Budget::with_delta(epsilon("1"), large, 9));
    wrong("lower", brc().lower(0.9).build());
    wrong("upper", brc().upper(0.99).build());
    wrong("upper", brc().upper(f64::NAN).build());
    wrong("upper", brc().upper(f64::INFINITY).build());
    wrong("rounds", brc().rounds(0).build());
    wrong("candidates", Select::builder().candidates(0).build());
    wrong("bins", HistogramBayes::builder().bins(0).build());
    wrong("trees", Trees::builder().trees(0).build());
    wrong("gradient_clip", Trees::builder().gradient_clip(1.5).build());
    // More rounds than ε has billionths.
    let (schema, relation) = (Open::Nothing.schema(), Replace::row().relation());
    let least = Budget::pure(epsilon("0.000000002"), 1 << 40).expect("a budget");
    let three = brc().rounds(3).build().expect("parameters");
    wrong("epsilon", three.plan(&schema, &relation, least));
    let delta = "1e-6".parse().expect("a delta");
    let gaussian = Budget::with_delta(epsilon("1"), delta, 1000).expect("a budget");
    wrong("delta", three.plan(&schema, &relation, gaussian));
}

#[test]
fn what_does_not_fit_the_schema_is_refused_before_it_is_paid_for() {
    let with = |of: Domain, private: bool| {
        let columns = [
            number("p", -1.0..=1.0),
            number("x", -1.0..=1.0),
            category("colour", ["red", "green", "blue"]),
            ordinal("slope", ["low", "middle", "high"]),
            label("y", of),
        ];
        schema(columns.map(|column| column.private(private)))
    };
    let parameter = |error: Error| assert!(matches!(error, Error::Parameter(_)), "{error}");
    let misuse = |error: Error| assert!(matches!(error, Error::Misuse(_)), "{error}");
    for central in algorithms("1", 50) {
        // Three classes, and a number.
        if !["trees", "auto", "forest"].contains(&central.name()) {
            parameter(refused(
                &central,
                with(["a", "b", "c"].into(), true),
                Replace::row(),
            ));
        }
        if !["trees", "auto"].contains(&central.name()) {
            let height = Domain::from(0.0..=1.0);
            parameter(refused(&central, with(height, true), Replace::row()));
        }
        // Nothing is private.
        let nothing = privet::privacy::ReplacePrivate::unit(rows(1), ["elsewhere"]);
        parameter(refused(&central, with(["a", "b"].into(), false), nothing));
        // A ledger that protects some columns, others, or smaller units.
        misuse(refused(&central, Open::Nothing.schema(), Open::Label.relation(1)));
        misuse(refused(
            &central,
            Open::Label.schema(),
            Open::LabelAndFeature.relation(1),
        ));
        misuse(refused(
            &central,
            Open::LabelAndFeature.schema(),
            Open::Features.relation(1),
        ));
        misuse(refused(
            &central,
            Open::Nothing.schema(),
            Replace::row().of("who"),
        ));
    }
    // Labels that balancing would look at.
    for name in ["brc", "histogram-bayes"] {
        let balanced = built(start(name, "1", 50).balance(true));
        parameter(refused(&balanced, Open::Nothing.schema(), Replace::row()));
        parameter(refused(&balanced, Open::Nothing.schema(), AddRemove::row()));
        parameter(refused(&balanced, Open::LabelAndFeature.schema(), Replace::row()));
        parameter(refused(
            &balanced,
            Open::Feature.schema(),
            Open::Feature.relation(1),
        ));
        let all = Open::Nothing.relation(1);
        parameter(refused(&balanced, Open::LabelAndFeature.schema(), all));
    }
    // A classifier of public columns is free, or there is none.
    let paid = built(start("brc", "1", 50).planes(Planes::PaidPublic));
    for open in [Open::Nothing, Open::Label, Open::LabelAndFeature] {
        parameter(refused(&paid, open.schema(), open.relation(1)));
    }
    parameter(refused(&paid, Open::Feature.schema(), Replace::row()));
    let public = built(start("public", "1", 50));
    parameter(refused(
        &public,
        Open::Feature.schema(),
        Open::Feature.relation(1),
    ));
    parameter(refused(&public, Open::Label.schema(), Open::Label.relation(1)));
    parameter(refused(&public, Open::LabelAndFeature.schema(), Replace::row()));
}

/// A budget that does not reach is refused at once, not half-way.
#[test]
fn a_budget_that_does_not_reach_is_left_as_it_was() {
    for central in algorithms("1", 50) {
        let mut poor = ledger(Replace::row(), epsilon("0.999999999"));
        let over = central.train(read(Open::Nothing, &others()), &mut poor, SILENT);
        assert!(matches!(over, Err(Error::Budget(_))), "{over:?}");
        assert_eq!(poor.close().payments, []);
    }
}

/// A plan is for one schema and one relation; what it was not made for is refused before anything is paid.
#[test]
fn a_plan_trains_under_its_own_schema_and_relation_only() {
    let open = Open::Nothing;
    for central in algorithms("1", 50) {
        let plan = central.plan(&open.schema(), &Replace::row().relation());
        let plan = plan.expect("a plan");
        let mut foreign = ledger(AddRemove::row(), epsilon("100"));
        let error = plan.train(read(open, &others()), &mut foreign, SILENT);
        assert!(matches!(error, Err(Error::Misuse(_))), "{central:?}: {error:?}");
        let mut own = ledger(Replace::row(), epsilon("100"));
        let error = plan.train(read(Open::Label, &others()), &mut own, SILENT);
        assert!(matches!(error, Err(Error::Misuse(_))), "{central:?}: {error:?}");
        for ledger in [own, foreign] {
            assert_eq!(ledger.close().payments, []);
        }
    }
}

/// A table that was read without the column that tells people apart would keep more rows of a person than is paid for; one that was
/// read by another intake may have other bins.
#[test]
fn a_table_that_was_not_read_whole_is_refused_before_it_is_paid_for() {
    let open = Open::Nothing;
    for central in algorithms("1", 50) {
        let plan = central.plan(&open.schema(), &Replace::row().relation());
        let plan = plan.expect("a plan");
        let part = Intake::features_only(Arc::clone(plan.schema()), plan.keep());
        let nobody = |intake: &Intake| vec![intake.piece(intake.columns()).expect("a piece")];
        let whole = plan.reads();
        for table in [
            Table::new(&part, nobody(&part)),
            Table::new(&whole, nobody(&part)),
        ] {
            let mut own = ledger(Replace::row(), epsilon("100"));
            let error = plan.train(table, &mut own, SILENT);
            assert!(matches!(error, Err(Error::Misuse(_))), "{central:?}: {error:?}");
            assert_eq!(own.close().payments, []);
        }
        assert!(whole.piece(part.columns()).is_err(), "columns of another intake");
    }
}

/// Whoever watches can stop a run. What was reserved by then stays spent.
#[test]
fn a_run_can_be_stopped_and_stays_paid() {
    for central in algorithms("1", 50) {
        for steps in 0..3 {
            let mut paid = ledger(Replace::row(), epsilon("100"));
            let calls = AtomicU64::new(0);
            let ended = central.train(read(Open::Nothing, &others()), &mut paid, &|_, _| match calls
                .fetch_add(1, Ordering::Relaxed)
                < steps
            {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            });
            let calls = calls.into_inner();
            match ended {
                Err(Error::Stopped) => assert_eq!(calls, steps + 1, "{central:?} went on"),
                Ok(_) => assert!(0 < calls && calls <= steps, "{central:?} was not stopped"),
                Err(other) => panic!("{central:?}: {other}"),
            }
            let whole = central.epsilon().billionths();
            let spent = billionths(paid.close().payments.iter().map(|payment| payment.price));
            if ["brc", "people", "trees"].contains(&central.name()) {
                // All rounds are reserved at once, before the first is announced.
                assert!(whole - spent < 100, "{central:?}: {spent} after {calls}");
            }
            assert!(spent <= whole, "{central:?}");
        }
    }
}
