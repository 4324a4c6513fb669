//! Which columns stand out from the noise of a model: generated tables on which a few of many columns matter.
//!
//! Tables and noise come from seeds, so these tests say the same in every run. With other seeds, a column of nothing but noise would be
//! said to stand out in about one model of twenty.

use crate::central::curator::{Builder, Central};
use privet::data::Keep;
use privet::data::schema::{Domain, category, label, number};
use privet::data::{Schema, Table};
use privet::learner::Learner;
use privet::model::Model;
use privet::privacy::account::Caps;
use privet::privacy::{AddRemove, Coins, Delta, Ledger, Neighbours, Randomness};
use privet::setting::central::Splits;

use crate::central::tables::{Lines, Open, built, epsilon, start};
use crate::central::window::{Script, watch};
use crate::home;

/// A law: its columns, how many of them matter (the first ones), and what the label is by their values and an even number.
struct Law {
    rows: usize,
    columns: usize,
    matter: usize,
    /// Categories of eight values instead of numbers from 0 to 1.
    categories: bool,
    label: Domain,
    draw: fn(&[f64], &mut Coins) -> String,
}

fn schema(law: &Law) -> Schema {
    let column = |i| match law.categories {
        true => category(format!("c{i}"), ["0", "1", "2", "3", "4", "5", "6", "7"]),
        false => number(format!("c{i}"), 0.0..=1.0),
    };
    home::schema(
        (0..law.columns)
            .map(column)
            .chain([label("label", law.label.clone())]),
    )
}

fn lines(law: &Law, seed: u8) -> Vec<Vec<String>> {
    let mut coins = Coins::from_seed([seed; 32]);
    let line = |coins: &mut Coins| {
        let mut cells: Vec<String> = Vec::with_capacity(law.columns + 1);
        let mut mattering = Vec::with_capacity(law.matter);
        for place in 0..law.columns {
            let (text, value) = match law.categories {
                true => {
                    let value = coins.below(8);
                    (value.to_string(), value as f64)
                }
                false => {
                    let value = coins.below(1000) as f64 / 1000.0;
                    (value.to_string(), value)
                }
            };
            cells.push(text);
            if place < law.matter {
                mattering.push(value);
            }
        }
        cells.push((law.draw)(&mattering, coins));
        cells
    };
    (0..law.rows).map(|_| line(&mut coins)).collect()
}

fn table(law: &Law, seed: u8) -> Table {
    home::table(schema(law), Keep::Bins, &lines(law, seed))
}

fn model(law: &Law, builder: Builder, seed: u8) -> Model {
    let delta: Delta = "1e-6".parse().expect("a delta");
    let builder = builder
        .algorithm("trees")
        .delta(delta)
        .rows_about(law.rows as u64);
    let central = builder.build().expect("parameters");
    let (table, relation) = (table(law, seed), AddRemove::row());
    let price = central
        .price(table.schema(), &relation.relation())
        .expect("a price");
    let random = Randomness::seeded(u64::from(seed));
    let ledger = Ledger::volatile(relation, Caps::from(price), delta, random).expect("opens");
    central
        .fit(table, ledger, privet::learner::SILENT)
        .expect("a model")
}

/// Columns in falling order.
fn order(of: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..of.len()).collect();
    order.sort_by(|&a, &b| of[b].total_cmp(&of[a]));
    order
}

/// That the columns that matter come first and stand out, and that no other does.
fn found(name: &str, law: &Law, model: &Model) {
    let signals = model.signals();
    let deviations: Vec<f64> = signals
        .iter()
        .map(|signal| signal.map_or(f64::MIN, |s| s.deviations))
        .collect();
    let order = order(&deviations);
    let first: Vec<usize> = order.iter().copied().take(law.matter).collect();
    assert!(
        first.iter().all(|&column| column < law.matter),
        "{name}: {first:?} {:?}",
        &deviations[..law.matter]
    );
    let standing = signals
        .iter()
        .flatten()
        .filter(|signal| signal.stands_out(law.columns));
    assert_eq!(
        standing.count(),
        law.matter,
        "{name}: {:?}",
        order.iter().take(9).map(|&i| deviations[i]).collect::<Vec<_>>()
    );
    // About 0 ± 1 for all others, or less where later trees take back the noise of earlier ones.
    let rest: Vec<f64> = deviations[law.matter..].to_vec();
    let mean = rest.iter().sum::<f64>() / rest.len() as f64;
    let spread = (rest.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / rest.len() as f64).sqrt();
    assert!(
        (-1.2..0.7).contains(&mean) && (0.5..1.5).contains(&spread),
        "{name}: {mean} ± {spread}"
    );
}

/// Leaves of nothing but noise, divided by the deviations that they are said to have: their mean square is 1. Of 4000 it is further off than 0.12
/// less than once in a million runs (five standard errors, and rounding), and a deviation that is wrong by a tenth puts it 0.17 off or more.
#[test]
fn leaves_are_as_noisy_as_they_say() {
    let nobody: Lines = Vec::new();
    let table = home::table(Open::Nothing.schema(), Keep::Bins, &nobody);
    let mean_square = |builder: Builder| {
        let central = built(builder.trees(1).leaves(8).ridge(10.0).shrinkage(0.0));
        let mut squares = Vec::new();
        while squares.len() < 4000 {
            let run = watch(&central, table.clone(), &AddRemove::row(), (None, &Script::Drawn));
            for member in run.expect("a run").0.members {
                let Learner::Tree(tree) = member.learner else {
                    panic!("a tree");
                };
                let each = tree.leaves.iter().enumerate();
                squares.extend(each.map(|(leaf, value)| {
                    let noise = tree.deviation(leaf).expect("noise");
                    f64::from(value / noise).powi(2)
                }));
            }
        }
        squares.iter().sum::<f64>() / squares.len() as f64
    };
    let gaussian = mean_square(start("trees", "1", 50).delta("1e-6".parse().expect("a delta")));
    assert!((gaussian - 1.0).abs() < 0.12, "{gaussian}");
}

fn even(coins: &mut Coins) -> f64 {
    coins.below(1 << 20) as f64 / f64::from(1 << 20)
}

/// Five columns have a linear part in the log-odds of two classes.
#[test]
fn five_of_two_hundred_columns_are_found() {
    let law = Law {
        rows: 10_000,
        columns: 200,
        matter: 5,
        categories: false,
        label: Domain::from(["a", "b"]),
        draw: |x, coins| {
            let odds: f64 = x
                .iter()
                .zip([3.0, -3.0, 2.5, -2.5, 2.7])
                .map(|(x, by)| by * (x - 0.5))
                .sum();
            let likely = 1.0 / (1.0 + (-(odds - 1.0)).exp());
            if even(coins) < likely { "b" } else { "a" }.into()
        },
    };
    let model = model(&law, Central::builder().epsilon(epsilon("1")), 5);
    found("two classes", &law, &model);
    // How far a column can move the result says nothing of the kind: noise moves it too.
    let reach = order(&model.ensemble().reach(law.columns));
    let ranks = (0..law.matter).map(|column| reach.iter().position(|&own| own == column));
    assert!(ranks.flatten().max() > Some(law.matter));
}

/// A number that falls to both sides of the middle of one column, jumps along another, and is far off once in fifty rows.
#[test]
fn columns_that_move_a_number_are_found() {
    let law = Law {
        rows: 6000,
        columns: 60,
        matter: 3,
        categories: false,
        label: Domain::from(-50.0..=50.0),
        draw: |x, coins| {
            let bend = 6.0 * (x[0] - 0.5).abs();
            let jump = if x[1] > 0.3 { 1.0 } else { -1.0 };
            let noise = (0..4).map(|_| even(coins) - 0.5).sum::<f64>();
            let far = if coins.below(50) == 0 {
                80.0 * (even(coins) - 0.5)
            } else {
                0.0
            };
            (bend + jump + 2.0 * x[2] + noise + far).to_string()
        },
    };
    found(
        "a number",
        &law,
        &model(&law, Central::builder().epsilon(epsilon("1")), 6),
    );
}

/// Three classes by categories, with trees that ask about several columns.
#[test]
fn columns_that_tell_three_classes_apart_are_found() {
    let law = Law {
        rows: 8000,
        columns: 30,
        matter: 2,
        categories: true,
        label: Domain::from(["a", "b", "c"]),
        draw: |x, coins| {
            let score = |own: f64| ((x[0] % 3.0 == own) as u8 + (x[1] % 4.0 == own) as u8) as f64;
            let weights = [0.0, 1.0, 2.0].map(|own| (1.2 * score(own)).exp());
            let at = even(coins) * weights.iter().sum::<f64>();
            if at < weights[0] {
                "a"
            } else if at < weights[0] + weights[1] {
                "b"
            } else {
                "c"
            }
            .into()
        },
    };
    for splits in [Splits::OneFeature, Splits::Random] {
        let builder = Central::builder().epsilon(epsilon("4")).splits(splits);
        found("three classes", &law, &model(&law, builder, 7));
    }
}

/// Categories that are counted by class: two tell something of a label, or none does. Without noise known, all of them looked learnt.
#[test]
fn counted_columns_stand_out_if_they_tell_something() {
    for (matter, seed) in [(2, 9), (0, 10), (0, 11)] {
        let law = Law {
            rows: 5000,
            columns: 20,
            matter,
            categories: true,
            label: Domain::from(["a", "b"]),
            draw: |x, coins| {
                let odds: f64 = x.iter().map(|x| 0.4 * (x - 3.5)).sum();
                let likely = 1.0 / (1.0 + (-odds).exp());
                if even(coins) < likely { "b" } else { "a" }.into()
            },
        };
        let central = Central::builder()
            .epsilon(epsilon("1"))
            .algorithm("histogram-bayes");
        let central = central.rows_about(law.rows as u64).build().expect("parameters");
        let relation = AddRemove::row();
        let plan = central.plan(&schema(&law), &relation.relation()).expect("a plan");
        let table = privet_testkit::rows::table(&plan.reads(), &lines(&law, seed));
        let random = Randomness::seeded(seed.into());
        let ledger = Ledger::volatile(relation, Caps::from(plan.price()), Delta::ZERO, random);
        let fitted = plan.fit(table, ledger.expect("opens"), privet::learner::SILENT);
        let model = fitted.expect("a model");
        let again = Model::from_bytes(&model.to_bytes()).expect("what was written is read");
        assert_eq!(again.signals(), model.signals());
        let signals: Vec<_> = model
            .signals()
            .into_iter()
            .map(|own| own.expect("it was counted"))
            .collect();
        let standing: Vec<bool> = signals.iter().map(|own| own.stands_out(law.columns)).collect();
        let expected: Vec<bool> = (0..law.columns).map(|column| column < matter).collect();
        let deviations: Vec<f64> = signals.iter().map(|own| own.deviations).collect();
        assert_eq!(standing, expected, "{deviations:?}");
        let rest = &deviations[matter..];
        let mean = rest.iter().sum::<f64>() / rest.len() as f64;
        assert!((-1.5..0.7).contains(&mean), "{deviations:?}");
    }
}

/// With next to no budget, shrinkage takes all of many trees, and of some columns it leaves nothing: these are noisy columns all the same,
/// and none stands out.
#[test]
fn columns_of_which_nothing_is_kept_are_noise() {
    let law = Law {
        rows: 200,
        columns: 20,
        matter: 1,
        categories: false,
        label: Domain::from(["a", "b"]),
        draw: |_, coins| if coins.below(2) == 0 { "a" } else { "b" }.into(),
    };
    let builder = Central::builder().epsilon(epsilon("0.01")).trees(20).leaves(4);
    let model = model(&law, builder.splits(Splits::OneFeature), 8);
    let (signals, reach) = (model.signals(), model.ensemble().reach(law.columns));
    let kept = reach.iter().filter(|reach| **reach > 0.0).count();
    assert!((1..law.columns).contains(&kept), "{reach:?}");
    for (signal, reach) in signals.iter().zip(reach) {
        let signal = signal.expect("every column is asked about by a noisy tree");
        assert!(!signal.stands_out(law.columns), "{signal:?}");
        assert_eq!(signal.deviations == f64::NEG_INFINITY, reach == 0.0, "{signal:?}");
    }
}

/// A plan draws the conclusion from rows, ε and columns, for a number and for classes; where there is enough of each, it says nothing of the kind.
#[test]
fn plans_say_where_a_model_will_hardly_be_better_than_a_constant() {
    let said = |label: Domain, rows: u64, delta: Option<Delta>| {
        let law = Law {
            rows: 0,
            columns: 20,
            matter: 0,
            categories: false,
            label,
            draw: |_, _| String::new(),
        };
        let mut central = Central::builder().epsilon(epsilon("0.5")).algorithm("trees");
        if let Some(delta) = delta {
            central = central.delta(delta);
        }
        let central = central.rows_about(rows).build().expect("parameters");
        let relation = AddRemove::row().relation();
        central
            .plan(&schema(&law), &relation)
            .expect("a plan")
            .to_string()
    };
    let weak = "hardly be better than a constant";
    for label in [
        Domain::from(0.0..=9.0),
        Domain::from(["a", "b"]),
        Domain::from(["a", "b", "c"]),
    ] {
        for delta in [None, Some("1e-6".parse().expect("a delta"))] {
            let plan = said(label.clone(), 70, delta);
            assert!(plan.contains(weak), "{plan}");
            assert_eq!(plan.contains("; a delta"), delta.is_none(), "{plan}");
            let plan = said(label.clone(), 30_000, delta);
            assert!(!plan.contains(weak), "{plan}");
        }
    }
}
