//! InPrivate: how far the sums and gains of its regression tree really move, what its thresholds give away, and what one tree and many
//! owners reach.
//!
//! `inprivate-tree`:
//!
//! | item | what |
//! | --- | --- |
//! | table 1 | sensitivities by search, and the leaf's ε by simulation |
//! | table 2 | who reads thresholds tells two neighbours apart, or does not |
//! | table 3 | one tree of depth 10 on 1,000 rows: as published (void), corrected, without noise; beside a constant and our own trees |
//!
//! `inprivate`:
//!
//! | item | what |
//! | --- | --- |
//! | table 1 | 20 owners of 1,000 rows, ε = 1: the library's protocols beside the paper's chain, one owner alone, and all rows in one place |
//! | table 2 | who reads a chain's thresholds tells whether one row was there, or does not |
//! | figure 4 | how long the last owner waits, messages and trees sent: by equations 18 and 19, and by a schedule of measured times |
//! | figures 5 to 8 | owners, rows of each, rounds and ε are varied |

mod attack;
mod figures;
mod owners;
mod printed;
mod sensitivities;
mod tree;
mod waiting;

use std::sync::Arc;

use privet::Error;
use privet::data::{Schema, Table};
use privet::model::Model;
use privet::privacy::{AddRemove, Coins, Epsilon, Neighbours};
use privet::setting::central::{Algorithm, Budget, Builder, Trees};

use super::records::{ClassBalance, ColumnCoding, PrivateColumns, Records, RowChoice};
use super::{Data, Experiment, Measure, Measured, coins};
use printed::{InPrivate, LevelPrice, Published};
use privet_node::progress::Progress;

/// The paper's depth.
const DEPTH: u32 = 10;
/// The rows of one owner.
const ROWS: usize = 1000;
/// The rows that trees are judged by.
const TEST: usize = 4000;

pub(super) fn experiments() -> Vec<Experiment> {
    let experiment = |item, dataset, runs, measure: Measure| {
        Experiment::new(("inprivate-tree", item, dataset), runs, measure)
    };
    vec![
        experiment("table 1", "neighbours", 1, Box::new(sensitivities::measure)),
        experiment("table 2", "kc-house", 400, Box::new(attack::measure)),
        experiment("table 3", "adult", 20, tree::on("adult")),
        experiment("table 3", "kc-house", 20, tree::on("kc-house")),
    ]
    .into_iter()
    .chain(figures::experiments())
    .collect()
}

/// Rows to train on and rows to test on, at random.
fn rows(records: &Records, run: u32) -> (Vec<usize>, Vec<usize>) {
    let pick = RowChoice {
        balance: ClassBalance::None,
        first: None,
        most: Some(ROWS + TEST),
    };
    let (mut train, test) = records.split(pick, run.into());
    let rest = train.split_off(ROWS);
    (train, [rest, test].concat())
}

/// One tree as it is printed. Void: no ledger is asked.
fn published(
    table: Table,
    (epsilon, levels): (Option<f64>, LevelPrice),
    coins: &mut Coins,
) -> Result<Published, Error> {
    let printed = InPrivate {
        epsilon,
        levels,
        ..InPrivate::default()
    };
    printed.fit(vec![table], coins)
}

/// Trees that are paid for, for one row that comes or goes.
fn paid(trees: Builder<Trees>, table: Table, epsilon: f64) -> Result<Model, Error> {
    let budget = Budget::pure(Epsilon::new(epsilon)?, ROWS as u64)?;
    let relation = AddRemove::row().relation();
    trees
        .build()?
        .plan(table.schema(), &relation, budget)?
        .rehearse(table)
}

/// The schema of records that are private in every column.
fn schema(records: &Records) -> Result<Arc<Schema>, Error> {
    Ok(Arc::new(
        records
            .schema(ColumnCoding::Declared, PrivateColumns::Everything)?
            .spread(),
    ))
}
