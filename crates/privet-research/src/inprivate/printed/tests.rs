//! What the printed algorithm gives away, and that it learns something.

use std::sync::Arc;

use privet::Error;
use privet::data::schema::{AnyColumn, category, label, number};
use privet::data::{Frame, Intake, Keep, Schema, Table};
use privet::privacy::Coins;

use super::super::attack::advantages;
use super::super::sensitivities::leaf_shown;
use super::{Correction, InPrivate, LevelPrice, PrintedLoss, Published, gain};

fn table<C: Into<AnyColumn>, const N: usize>(
    columns: impl IntoIterator<Item = C>,
    rows: &[[String; N]],
) -> Table {
    let schema = Schema::builder("test")
        .columns(columns)
        .build()
        .expect("a schema");
    let names: Vec<String> = schema
        .columns()
        .iter()
        .map(|column| column.name.clone())
        .collect();
    let intake = Intake::everything(Arc::new(schema), Keep::Values);
    let frame = Frame::records(names, rows).expect("a frame");
    Table::read(&intake, &frame).expect("a table")
}

fn printed(depth: u32, epsilon: Option<f64>) -> InPrivate {
    InPrivate {
        depth,
        epsilon,
        ..InPrivate::default()
    }
}

fn fit(params: InPrivate, tables: Vec<Table>, seed: u8) -> Result<Published, Error> {
    params.fit(tables, &mut Coins::from_seed([seed; 32]))
}

#[test]
fn parameters_out_of_range_are_refused() {
    for wrong in [
        printed(0, None),
        printed(65, None),
        printed(3, Some(0.0)),
        printed(3, Some(f64::NAN)),
    ] {
        assert!(
            matches!(fit(wrong, Vec::new(), 1), Err(Error::Parameter(_))),
            "{wrong:?}"
        );
    }
    assert!(matches!(
        fit(printed(1, Some(1.0)), Vec::new(), 1),
        Err(Error::Misuse(_))
    ));
}

/// The paper says 1 of all three.
#[test]
fn residuals_exceed_what_the_paper_says() {
    let sizes = || (-8000..=8000).map(|step| PrintedLoss::Classes.residual(1.0, f64::from(step) / 1000.0));
    assert!(sizes().all(|r| r < 2.0) && sizes().any(|r| r > 1.999));
    let both = sizes()
        .map(|r| r + PrintedLoss::Classes.weight(r))
        .fold(0.0, f64::max);
    assert!((both - 2.25).abs() < 1e-6, "{both}");
    let rows: Vec<[String; 2]> = (0..60)
        .map(|i| [format!("{}", i as f64 / 60.0), format!("{}", i % 2)])
        .collect();
    let numbers = [number("x", 0.0..=1.0), label("y", 0.0..=1.0)];
    let rows = table(numbers, &rows);
    let largest = (0..20).flat_map(|seed| {
        let trees = fit(printed(10, Some(1.0)), vec![rows.clone()], seed).expect("trees");
        trees.off(&rows)
    });
    assert!(largest.fold(0.0, f64::max) > 5.0);
}

/// Both sums at least as large as what the row adds: 1.125 where 1 is claimed, and 1 where both are scaled to a joint norm.
#[test]
fn the_leaf_costs_more_than_it_says() {
    for (r, cost) in [(1.0, 1.0), (1.5, 1.125)] {
        let shown = leaf_shown(r, 1_000_000);
        // Three standard errors are 0.012.
        assert!((shown - cost).abs() < 0.012, "{shown}");
    }
}

/// One row below all others: every average of three changes, so any threshold tells.
#[test]
fn thresholds_of_the_data_tell_who_was_there() {
    let tables = [true, false].map(|there| {
        let all = (0..301).map(|i| [format!("{}", i * i), if i % 3 == 0 { "a" } else { "b" }.into()]);
        let rows: Vec<[String; 2]> = all.skip(usize::from(!there)).collect();
        table([number("x", 0.0..=90_000.0), label("y", ["a", "b"])], &rows)
    });
    for epsilon in [0.01, 0.1, 1.0] {
        let told = advantages(&tables, 50, |table, run| {
            let trees = fit(printed(10, Some(epsilon)), vec![table.clone()], run as u8)?;
            let asked = trees.questions().into_iter().enumerate();
            Ok(asked
                .map(|(node, (column, below))| format!("{node}: {column} {below}"))
                .collect())
        });
        let told = told.expect("trees");
        let advantage = told.iter().sum::<f64>() / told.len() as f64;
        assert!(advantage >= 0.99, "ε = {epsilon}: {advantage}");
    }
}

/// Corrected, cuts lie where the schema has them and say nothing of the rows; values of leaves have a bound, which printed ones have not;
/// and rows it is trained on are predicted better than by chance.
#[test]
fn corrected_trees_ask_what_the_schema_says_and_their_leaves_are_bounded() {
    let columns = || [number("x", 0.0..=100.0), label("y", 0.0..=1.0)];
    let rows: Vec<[String; 2]> = (0..400)
        .map(|i| {
            [
                format!("{}.3", i % 97),
                f64::from(u8::from(i % 97 > 40)).to_string(),
            ]
        })
        .collect();
    let trees = |corrected, epsilon| {
        let params = InPrivate {
            corrected,
            ..printed(5, Some(epsilon))
        };
        let tables = (0..4).map(|_| table(columns(), &rows)).collect();
        fit(params, tables, 9).expect("trees")
    };
    let ours = trees(Some(Correction { ridge: 1.0 }), 0.05);
    let is_declared = |below: f32| ((below + 1.0) * 16.0).fract() == 0.0;
    assert!(ours.questions().iter().all(|(_, below)| is_declared(*below)));
    assert!(
        trees(None, 0.05)
            .questions()
            .iter()
            .any(|(_, below)| !is_declared(*below))
    );
    // Four trees of at most 1 each, and a label of at most 1.
    let largest = |trees: &Published| {
        let off = trees.off(&table(columns(), &rows));
        off.into_iter().fold(0.0, f64::max)
    };
    assert!(largest(&ours) <= 5.0, "{}", largest(&ours));
    assert!(
        largest(&trees(None, 0.05)) > 5.0,
        "{}",
        largest(&trees(None, 0.05))
    );
    let good = trees(Some(Correction { ridge: 1.0 }), 20.0).off(&table(columns(), &rows));
    assert!(good.iter().sum::<f64>() / 400.0 < 0.3);
}

#[test]
fn trees_in_a_row_learn_from_what_is_left_over() {
    let rows = |from: usize| {
        let lines: Vec<[String; 3]> = (from..from + 200)
            .map(|i| {
                let (x, colour) = (i * 37 % 100, i % 3);
                let is_b = (x < 50) == (colour == 1);
                let colour = ["red", "green", "blue"][colour].to_owned();
                [x.to_string(), colour, if is_b { "b" } else { "a" }.into()]
            })
            .collect();
        let columns = [
            number("x", 0.0..=100.0),
            category("colour", ["red", "green", "blue"]),
            label("y", ["a", "b"]),
        ];
        table(columns, &lines)
    };
    let wrong = |depth, tables: usize| {
        let trees = (0..tables).map(|i| rows(200 * i)).collect();
        let trees = fit(printed(depth, None), trees, 0).expect("trees");
        trees.off(&rows(1000)).iter().sum::<f64>() / 200.0
    };
    assert!(wrong(4, 1) < 0.1, "{}", wrong(4, 1));
    assert!(wrong(3, 4) < wrong(3, 1), "{} {}", wrong(3, 4), wrong(3, 1));
    // The same coins, the same trees; all of ε₁ at every level is another law.
    let [one, again] =
        [5, 5].map(|seed| fit(printed(6, Some(1.0)), vec![rows(0), rows(200)], seed).expect("trees"));
    assert_eq!(one.questions(), again.questions());
    assert_eq!(one.questions().len(), 2 * 31);
    let whole = InPrivate {
        levels: LevelPrice::Whole,
        ..printed(6, Some(100.0))
    };
    let other = fit(whole, vec![rows(0)], 5).expect("trees").questions();
    assert_ne!(
        fit(printed(6, Some(100.0)), vec![rows(0)], 5)
            .expect("trees")
            .questions(),
        other
    );
}

/// Sums and counts of the two sides by which one candidate puts rows.
fn sides(rows: &[(f64, bool)]) -> [(f64, f64); 2] {
    [true, false].map(|side| {
        let own = rows.iter().filter(|row| row.1 == side);
        own.fold((0.0, 0.0), |sum, row| (sum.0 + row.0, sum.1 + 1.0))
    })
}

/// How far apart two candidates' gains move, of all candidates there can be: every way to put rows on two sides. `rest` are sizes of residuals
/// of which each stands for so many rows; they stay, the row `from` goes and `to` comes.
fn range(rest: &[(f64, usize)], [from, to]: [Option<f64>; 2]) -> f64 {
    let table = |mask: usize, row: Option<f64>, side: usize| {
        let others = rest
            .iter()
            .enumerate()
            .flat_map(|(i, (residual, count))| std::iter::repeat_n((*residual, mask >> i & 1 == 1), *count));
        let rows: Vec<(f64, bool)> = others.chain(row.map(|row| (row, side == 1))).collect();
        let [left, right] = sides(&rows);
        gain(left, right)
    };
    let moved = (0..1 << rest.len()).flat_map(|mask| {
        [[0, 0], [0, 1], [1, 0], [1, 1]].map(|[a, b]| table(mask, to, b) - table(mask, from, a))
    });
    let moved: Vec<f64> = moved.collect();
    let most = moved.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most - moved.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn gains_range_over_four_and_eight_and_no_more() {
    let sizes = [-1.0, -0.4, 0.5, 1.0];
    let mut tables: Vec<Vec<(f64, usize)>> = vec![vec![]];
    for _ in 0..3 {
        let longer = tables.iter().flat_map(|rest| {
            let count = if rest.is_empty() { 400 } else { 1 };
            sizes.map(|size| [&rest[..], &[(size, count)]].concat())
        });
        tables = longer.chain([vec![]]).collect();
    }
    let [mut comes, mut replaced] = [0.0_f64; 2];
    for rest in &tables {
        for x in sizes {
            comes = comes.max(range(rest, [None, Some(x)]));
            for other in sizes {
                replaced = replaced.max(range(rest, [Some(x), Some(other)]));
            }
        }
    }
    assert!((3.99..=4.0 + 1e-9).contains(&comes), "{comes}");
    assert!((7.9..=8.0 + 1e-9).contains(&replaced), "{replaced}");
}
