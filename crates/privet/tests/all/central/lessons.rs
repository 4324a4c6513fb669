//! Failures of other systems, tried on the curator's algorithms (`docs/lessons.md`).

use crate::central::curator::Central;
use privet::boost::Ensemble;
use privet::data::schema::{Domain, label, number};
use privet::data::{Keep, Schema};
use privet::learner::Learner;
use privet::privacy::account::Price;
use privet::privacy::{AddRemove, Replace};
use privet::setting::central::{Places, Splits};

use crate::central::reach::{Case, Change, farthest, reach, units};
use crate::central::tables::{CORNERS, Open, Row, algorithms, built, others, start};
use crate::central::trees::{both, delta};
use crate::central::window::{Script, run, watch};
use crate::central::worst::Task;
use crate::home::{self, schema};

/// Sums of floating-point numbers depend on the order of rows, and so does what one row adds to them. Ours do not.
#[test]
fn the_order_of_rows_changes_no_answer() {
    let lines = [others(), CORNERS.to_vec(), others()].concat();
    let backwards: Vec<Row> = lines.iter().rev().copied().collect();
    let mixed: Vec<Row> = (0..lines.len()).map(|i| lines[7 * i % lines.len()]).collect();
    let gaussian = built(start("trees", "1", 50).trees(3).delta(delta()));
    for central in algorithms("1", 50).into_iter().chain([gaussian]) {
        let answers = |lines: &[Row]| {
            let said = (Some(3), &Script::Says(vec![900, -40]));
            let found = run(&central, (Open::Nothing, lines), &AddRemove::row(), said);
            found.expect("a run").1.asked
        };
        let first = answers(&lines);
        assert_eq!(first, answers(&backwards), "{central:?}");
        assert_eq!(first, answers(&mixed), "{central:?}");
    }
}

/// Numbers that begin at zero, lie below it, and lie far from it; a label far from zero.
fn distant(of: Domain) -> Schema {
    schema([
        number("p", 0.0..=4.0),
        number("x", 100_000.0..=100_100.0),
        number("colour", -3.0..=-2.0),
        number("slope", -0.001..=1000.0),
        label("y", of),
    ])
}

/// A bound that is used twice makes a sensitivity of nothing out of [0, u]; the width of a range is not its largest value.
#[test]
fn one_sided_and_distant_bounds_keep_their_claim() {
    let rows = |[low, high]: [&'static str; 2]| -> Vec<Row> {
        vec![
            ["0", "100000", "-3", "-0.001", low],
            ["4", "100100", "-2", "1000", high],
            ["4", "100100", "-2", "1000", low],
            ["0", "100000", "-3", "-0.001", high],
            ["-50", "0", "0", "1e9", high],
        ]
    };
    let classes = || Domain::from(["a", "b"]);
    let number = || Domain::from(1000.0..=1010.0);
    let trees = || start("trees", "1", 100).trees(2);
    let cases = [
        (start("brc", "1", 100).rounds(2), classes(), ["a", "b"]),
        (start("select", "1", 100).candidates(25), classes(), ["a", "b"]),
        (start("histogram-bayes", "1", 100), classes(), ["a", "b"]),
        (
            start("moment-select", "1", 100).candidates(25),
            classes(),
            ["a", "b"],
        ),
        (trees(), number(), ["1000", "1010"]),
        (trees().delta(delta()), number(), ["1000", "1010"]),
    ];
    for (builder, label, labels) in cases {
        let central = built(builder);
        let schema = distant(label);
        let found = (0..6).map(|coins| {
            let case = Case {
                schema: &schema,
                open: Open::Nothing,
                change: Change::Replaced,
                units: &units(&rows(labels), 1),
                rest: &[],
            };
            // `reach` refuses an answer that moves further than its claim.
            reach(&central, &Replace::row(), &case, coins, &Script::Says(vec![0]))
        });
        let most = farthest(found).iter().map(|reach| reach.part).fold(0.0, f64::max);
        assert!(most > 0.99, "{central:?}: {most}");
    }
}

/// What was split off for each release and what each release drew are the same sum, in μ² as in ε.
#[test]
fn what_gaussian_trees_are_charged_is_what_they_drew() {
    let trees = || start("trees", "1", 50).trees(7).delta(delta());
    let all = [
        trees(),
        trees().splits(Splits::Mixed),
        trees().splits(Splits::Random).depth(2),
        trees().places(Places::PrivateQuantiles),
    ];
    let units = |price: Price| match price {
        Price::Gaussian(mu_squared) => mu_squared.units(),
        other => panic!("{other:?} is not Gaussian"),
    };
    for task in Task::ALL {
        for builder in &all {
            let central = built(builder.clone());
            let schema = Open::Nothing.schema_of(task.label());
            let table = home::table(schema.clone(), Keep::Values, &task.rows(&others()));
            let (_, seen, certificate) =
                watch(&central, table, &Replace::row(), (None, &Script::Drawn)).expect("a run");
            let drawn: u128 = seen.prices.iter().map(|price| units(*price)).sum();
            let paid: u128 = certificate
                .payments
                .iter()
                .map(|payment| units(payment.price))
                .sum();
            let draws: u64 = certificate.payments.iter().map(|payment| payment.draws).sum();
            assert_eq!(draws, seen.prices.len() as u64, "{central:?}");
            let lost = paid
                .checked_sub(drawn)
                .expect("no more was drawn than was paid for");
            assert!(lost < paid / 1_000_000, "{central:?} {task:?}: {drawn} of {paid}");
        }
    }
}

fn leaves(ensemble: &Ensemble) -> impl Iterator<Item = f64> {
    ensemble.members.iter().flat_map(|member| match &member.learner {
        Learner::Tree(tree) => tree
            .leaves
            .iter()
            .map(|value| f64::from(*value))
            .collect::<Vec<f64>>(),
        other => panic!("{other:?} is no tree"),
    })
}

/// Noisy counts and hessians below zero, and sums at the ends of all integers, are no huge values of leaves.
#[test]
fn noisy_sums_below_zero_make_no_huge_leaves() {
    for task in Task::ALL {
        let all = [Splits::OneFeature, Splits::Mixed, Splits::Random]
            .into_iter()
            .flat_map(|splits| both(&|| start("trees", "1", 50).trees(4).splits(splits).depth(2)));
        for central in all.collect::<Vec<Central>>() {
            for said in [-1, -5000, i64::MIN, i64::MAX] {
                for script in [vec![vec![said]], vec![vec![said, -1], vec![-3, said]]] {
                    let schema = Open::Nothing.schema_of(task.label());
                    let table = home::table(schema, Keep::Values, &task.rows(&others()));
                    let found = watch(
                        &central,
                        table,
                        &AddRemove::row(),
                        (Some(2), &Script::Each(script)),
                    );
                    let (ensemble, ..) = found.expect("a run");
                    // A value is at most 2 times the learning rate, twice that for pairs of columns; numbers are in units of at most 4.5.
                    for leaf in leaves(&ensemble) {
                        assert!(leaf.abs() <= 20.0, "{central:?} {task:?} {said}: {leaf}");
                    }
                }
            }
        }
    }
}
