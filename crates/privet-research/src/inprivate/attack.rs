//! Who reads a tree's thresholds tells whether one row was there: surely where candidates come from the rows, and no better than ε
//! allows where they come from the schema.
//!
//! The row has a number below all others, which shifts every triple of the paper's averages. The reader grows trees of both tables,
//! counts in how many of each a node asks a question, and then tells new trees apart by these counts: a value of 1 is right about a tree
//! with the row and one without it, 0 is a guess. Their mean is the advantage, of which ε allows (e^ε - 1)/(e^ε + 1).

use std::collections::{BTreeSet, HashMap};

use privet::Error;
use privet::data::Table;
use privet::learner::Learner;

use super::super::each_run;
use super::{DEPTH, Data, LevelPrice, Measured, Progress, coins, paid, published, rows, schema};
use privet::setting::central::inprivate;

const COLUMN: &str = "sqft_lot";
const EPSILONS: [f64; 3] = [0.01, 0.1, 1.0];

/// What a tree asks, and where.
pub(super) type Questions = BTreeSet<String>;

pub(super) fn measure(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let records = data.records("kc-house")?.only(&[COLUMN])?;
    let schema = schema(&records)?;
    let low = records
        .smallest(COLUMN)
        .ok_or_else(|| Error::data("there are no rows"))?;
    let (mut without, _) = rows(&records, 0);
    without.retain(|row| *row != low);
    let with = [&without[..], &[low]].concat();
    let tables = [records.table(&schema, &with)?, records.table(&schema, &without)?];
    let mut found = Vec::new();
    for (done, epsilon) in EPSILONS.into_iter().enumerate() {
        bar.at(done as u64, EPSILONS.len() as u64);
        let as_published = |table: &Table, run: u32| {
            let how = (Some(epsilon), LevelPrice::Split);
            let tree = published(table.clone(), how, &mut coins(run.into()))?;
            let nodes = tree.questions().into_iter().enumerate();
            Ok(nodes
                .map(|(node, (column, below))| format!("{node}: {column} < {below}"))
                .collect())
        };
        let ours = |table: &Table, _| {
            let model = paid(inprivate(DEPTH), table.clone(), epsilon)?;
            let trees = model.ensemble().members.iter();
            let nodes = trees.filter_map(|member| match &member.learner {
                Learner::Tree(tree) => Some(&tree.nodes),
                _ => None,
            });
            Ok(nodes
                .flatten()
                .enumerate()
                .map(|(place, node)| format!("{place}: {} {:?}", node.feature, node.rule))
                .collect())
        };
        for (method, values) in [
            ("as published (void)", advantages(&tables, runs, as_published)?),
            ("corrected", advantages(&tables, runs, ours)?),
        ] {
            found.push(Measured::new(method, Some(epsilon), "advantage", values));
        }
    }
    Ok(found)
}

/// As many trees to learn from as to tell apart.
pub(super) fn advantages(
    tables: &[Table; 2],
    runs: u32,
    grow: impl Fn(&Table, u32) -> Result<Questions, Error> + Sync,
) -> Result<Vec<f64>, Error> {
    let grown = |side: u32| each_run(2 * runs, |run| grow(&tables[side as usize], 2 * run + side));
    let [with, without] = [grown(0)?, grown(1)?];
    let half = runs as usize;
    let mut counts: HashMap<&str, [f64; 2]> = HashMap::new();
    for (side, trees) in [&with, &without].into_iter().enumerate() {
        for question in trees[..half].iter().flatten() {
            counts.entry(question).or_insert([1.0; 2])[side] += 1.0;
        }
    }
    let guess = |tree: &Questions| {
        let known = tree.iter().filter_map(|question| counts.get(question.as_str()));
        let weight: f64 = known.map(|[with, without]| (with / without).ln()).sum();
        f64::from(u8::from(weight > 0.0))
    };
    let pairs = with[half..].iter().zip(&without[half..]);
    Ok(pairs
        .map(|(with, without)| guess(with) - guess(without))
        .collect())
}
