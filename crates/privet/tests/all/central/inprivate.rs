//! InPrivate's tree, corrected: its questions tell no more than ε allows.

use std::collections::{BTreeSet, HashMap};

use privet::data::schema::{flag, label, number};
use privet::data::{Keep, Table};
use privet::learner::Learner;
use privet::privacy::AddRemove;
use privet::privacy::account::Price;
use privet::setting::central::{Splits, inprivate};
use privet_testkit::epsilon::KnownEvent;

use crate::central::curator::Central;
use crate::central::tables::{built, start};
use crate::central::window::{Script, watch};
use crate::home::{schema, table};

/// How much better than a guess somebody tells two tables apart who reads what trees ask: half of the trees teach, the other half is
/// told apart.
fn advantage(trees: u32, questions: impl Fn(usize, u32) -> BTreeSet<String>) -> f64 {
    let grown = [0, 1].map(|side| (0..2 * trees).map(|run| questions(side, run)).collect::<Vec<_>>());
    let half = trees as usize;
    let mut counts: HashMap<&str, [f64; 2]> = HashMap::new();
    for (side, trees) in grown.iter().enumerate() {
        for question in trees[..half].iter().flatten() {
            counts.entry(question).or_insert([1.0; 2])[side] += 1.0;
        }
    }
    let [with, without] = grown.each_ref().map(|trees| {
        let guess = |tree: &&BTreeSet<String>| {
            let known = tree.iter().filter_map(|question| counts.get(question.as_str()));
            known.map(|[with, without]| (with / without).ln()).sum::<f64>() > 0.0
        };
        trees[half..].iter().filter(guess).count() as f64 / half as f64
    });
    with - without
}

/// What the corrected tree of these levels asks.
fn asked(depth: u32, price: &str, table: &Table) -> BTreeSet<String> {
    let trees = inprivate(depth).build().expect("parameters");
    let central = Central::of(trees, price.parse().expect("a price"), 300);
    let (ensemble, _, _) =
        watch(&central, table.clone(), &AddRemove::row(), (None, &Script::Drawn)).expect("a run");
    let trees = ensemble
        .members
        .iter()
        .filter_map(|member| match &member.learner {
            Learner::Tree(tree) => Some(&tree.nodes),
            _ => None,
        });
    let nodes = trees.flatten().enumerate();
    nodes
        .map(|(place, node)| format!("{place}: {} {:?}", node.feature, node.rule))
        .collect()
}

/// What ε allows, with three standard errors of two shares.
fn allowed(epsilon: f64, trees: u32) -> f64 {
    (epsilon / 2.0).tanh() + 3.0 * (0.5 / f64::from(trees)).sqrt()
}

/// Two tables that differ in one row below all others, which the paper's candidates give away, are told apart no better than ε allows.
#[test]
fn thresholds_of_the_schema_tell_no_more_than_epsilon_allows() {
    let tables = [true, false].map(|there| {
        let all = (0..301).map(|i| [format!("{}", i * i), if i % 3 == 0 { "a" } else { "b" }.into()]);
        let rows: Vec<[String; 2]> = all.skip(usize::from(!there)).collect();
        let columns = [number("x", 0.0..=90_000.0), label("y", ["a", "b"])];
        table(schema(columns), Keep::Values, &rows)
    });
    for (price, epsilon) in [("0.01", 0.01), ("0.1", 0.1), ("1", 1.0)] {
        let corrected = advantage(200, |side, _| asked(4, price, &tables[side]));
        assert!(corrected <= allowed(epsilon, 200), "ε = {epsilon}: {corrected}");
    }
}

/// A choice between two questions, on which one row has most influence: it is as good as alone on its side of the one column, and against everybody on
/// its side of the other. Gains move by 252 of the 256 that are claimed, from 124 below to 128 above each other.
///
/// One run chooses for a hundred trees, whose learning rate is next to nothing: that many independent choices. With 25 000 choices on each table the bound
/// on the range of the loss is off by 0.75 % (one standard error) and loses 5 %: nine tenths of the claim and the claim at the mutant's noise are
/// four and five standard errors away.
#[test]
fn the_choice_of_a_question_keeps_its_epsilon() {
    const TREES: u32 = 100;
    let tables = [true, false].map(|there| {
        let mut rows = vec![["f", "f", "a"]; 60];
        rows.extend([["f", "m", "a"], ["f", "m", "b"]]);
        rows.extend(there.then_some(["m", "f", "b"]));
        let flag = |name| flag(name).values(["f", "m"]);
        let label = label("y", ["a", "b"]);
        table(schema([flag("one"), flag("other"), label]), Keep::Bins, &rows)
    });
    // What is shown of the range, and what each choice is charged.
    let shown = |price: &str| {
        let trees = start("trees", price, 300).splits(Splits::NoisyGreedy).depth(1);
        let central = built(trees.trees(TREES).gradient_clip(0.5).learning_rate(1e-6));
        let mut charged = 0.0;
        let chosen = tables.each_ref().map(|table| {
            let mut chosen: Vec<bool> = Vec::new();
            while chosen.len() < 25_000 {
                let drawn = (None, &Script::Drawn);
                let (ensemble, seen, _) =
                    watch(&central, table.clone(), &AddRemove::row(), drawn).expect("a run");
                charged = match seen.prices[0] {
                    Price::Pure(epsilon) => epsilon.to_f64(),
                    other => panic!("{other:?} is not pure"),
                };
                chosen.extend(ensemble.members.iter().map(|member| match &member.learner {
                    Learner::Tree(tree) => tree.nodes[0].feature == 0,
                    other => panic!("{other:?} is no tree"),
                }));
            }
            chosen
        });
        (
            KnownEvent::count(&chosen[0], &chosen[1], |one| *one).range(1e-6),
            charged,
        )
    };
    let (honest, claim) = shown("800");
    assert!((claim - 4.0).abs() < 1e-6, "each choice is charged {claim}");
    assert!((0.9..=1.0).contains(&(honest / claim)), "{honest} of {claim}");
    // Nine tenths of the noise, by the same claim.
    let (mutant, _) = shown("888.888888889");
    assert!(mutant > claim, "{mutant} of {claim}");
}
