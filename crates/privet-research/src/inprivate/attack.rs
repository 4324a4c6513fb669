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
use privet::model::Model;

use super::super::each_run;
use super::printed::InPrivate;
use super::{
    DEPTH, Data, LevelPrice, Measured, Progress, ROWS, coins, owners, paid, published, rows, schema,
};
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
            Ok(questions(&model))
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

/// How many owners a chain has that is attacked: the second of them has the row, or has not.
const CHAIN: usize = 3;

/// The same on chains of owners: the paper's, and the library's, whose cuts follow from public coins.
pub(super) fn chain(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let records = data.records("kc-house")?.only(&[COLUMN])?;
    let schema = schema(&records)?;
    let low = records
        .smallest(COLUMN)
        .ok_or_else(|| Error::data("there are no rows"))?;
    let (mut rows, _) = records.deal(0, 0);
    rows.retain(|row| *row != low);
    let tables = rows
        .chunks(ROWS)
        .take(CHAIN)
        .map(|own| records.table(&schema, own))
        .collect::<Result<Vec<Table>, Error>>()?;
    let with = [&rows[ROWS..2 * ROWS], &[low]].concat();
    let sides = [records.table(&schema, &with)?, tables[1].clone()];
    let mut found = Vec::new();
    for (done, epsilon) in EPSILONS.into_iter().enumerate() {
        bar.at(done as u64, EPSILONS.len() as u64);
        let chain = |second: &Table| {
            let mut all = tables.clone();
            all[1] = second.clone();
            all
        };
        let as_published = |table: &Table, run: u32| printed_chain(chain(table), epsilon, run);
        let ours = |table: &Table, run: u32| library_chain(chain(table), epsilon, run / 2);
        for (method, values) in [
            ("as published (void)", advantages(&sides, runs, as_published)?),
            ("chain", advantages(&sides, runs, ours)?),
        ] {
            found.push(Measured::new(method, Some(epsilon), "advantage", values));
        }
    }
    Ok(found)
}

/// What the paper's chain asks.
fn printed_chain(tables: Vec<Table>, epsilon: f64, run: u32) -> Result<Questions, Error> {
    let trees = InPrivate {
        epsilon: Some(epsilon),
        ..InPrivate::default()
    };
    let published = trees.fit(tables, &mut coins(run.into()))?;
    let nodes = published.questions().into_iter().enumerate();
    Ok(nodes
        .map(|(node, (column, below))| format!("{node}: {column} < {below}"))
        .collect())
}

/// What the library's chain asks.
fn library_chain(tables: Vec<Table>, epsilon: f64, run: u32) -> Result<Questions, Error> {
    Ok(questions(&owners::chain(tables, epsilon, run)?))
}

fn questions(model: &Model) -> Questions {
    let trees = model.ensemble().members.iter();
    let nodes = trees.filter_map(|member| match &member.learner {
        Learner::Tree(tree) => Some(&tree.nodes),
        _ => None,
    });
    nodes
        .flatten()
        .enumerate()
        .map(|(place, node)| format!("{place}: {} {:?}", node.feature, node.rule))
        .collect()
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use privet::data::schema::{label, number};
    use privet::data::{Frame, Intake, Keep, Schema};

    use super::*;

    fn table(schema: &Arc<Schema>, numbers: impl Iterator<Item = u32>) -> Table {
        let rows: Vec<[String; 2]> = numbers
            .map(|x| [x.to_string(), ["no", "yes"][usize::from(x % 7 > 2)].to_owned()])
            .collect();
        let intake = Intake::everything(Arc::clone(schema), Keep::Values);
        let frame = Frame::records(["x", "y"].map(str::to_owned).to_vec(), &rows).expect("a frame");
        Table::read(&intake, &frame).expect("a table")
    }

    /// The second owner's lowest row changes all candidates of its tree; the library's cuts are the same with it and without it.
    #[test]
    fn a_chain_of_data_dependent_thresholds_tells_who_was_there_and_ours_does_not() {
        let columns = [number("x", 0.0..=1000.0).into(), label("y", ["no", "yes"]).into()];
        let columns: [privet::data::schema::AnyColumn; 2] = columns;
        let schema = Schema::builder("test")
            .columns(columns)
            .build()
            .expect("a schema");
        let schema = Arc::new(schema.spread());
        let own = |owner: u32| table(&schema, (0..60).map(|i| 30 + 13 * i + owner));
        let chain = |second: &Table| vec![own(0), second.clone(), own(2)];
        let with = table(&schema, [3].into_iter().chain((0..60).map(|i| 31 + 13 * i)));
        let sides = [with, own(1)];
        let told = |grow: &(dyn Fn(&Table, u32) -> Result<Questions, Error> + Sync)| {
            let values = advantages(&sides, 10, grow).expect("models");
            values.iter().sum::<f64>() / values.len() as f64
        };
        let printed = |table: &Table, run: u32| printed_chain(chain(table), 0.1, run);
        assert!(told(&printed) > 0.9, "{}", told(&printed));
        // The same run with either table asks the same, so that nothing is left to tell them apart by.
        let [one, other] = sides
            .each_ref()
            .map(|second| library_chain(chain(second), 0.5, 1).expect("a model"));
        assert!(one.len() > 20);
        assert_eq!(one, other);
    }
}
