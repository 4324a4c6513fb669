//! ε from outputs alone, on neighbours where it is reached: below the claim, and above it at half the noise.

use std::fmt::Debug;

use crate::central::curator::Builder;
use privet::boost::Ensemble;
use privet::data::schema::{category, label};
use privet::data::{Keep, Table};
use privet::privacy::Replace;
use privet::setting::central::Planes;
use privet_testkit::epsilon::{lower_bound, ordered};
use privet_testkit::skipped::full;

use crate::central::tables::{CORNERS, Open, Row, built, read, start};
use crate::central::window::{Script, Seen, watch};
use crate::home::{schema, table};

/// How often a bound may lie above the truth: the suite is to cry wolf once in a million times.
const MISS: f64 = 1e-6;

/// Two neighbours and a way to train on them.
struct Pair<'a> {
    with: &'a dyn Fn(&str) -> Builder,
    tables: [Table; 2],
    /// Runs on each table.
    runs: usize,
}

impl Pair<'_> {
    /// What is seen of many runs on each table, with the same public coins.
    fn samples<K>(&self, price: &str, key: &dyn Fn(&Ensemble, &Seen) -> K) -> [Vec<K>; 2] {
        let central = built((self.with)(price));
        self.tables.each_ref().map(|table| {
            let once = |_| {
                let drawn = (Some(1), &Script::Drawn);
                let found = watch(&central, table.clone(), &Replace::row(), drawn);
                let (ensemble, seen, _) = found.expect("a run");
                key(&ensemble, &seen)
            };
            (0..self.runs).map(once).collect()
        })
    }

    /// The claim is 1. The same run at 2 has half the noise: that is the mutant.
    fn judge<K: Ord + Clone + Debug>(&self, key: impl Fn(&Ensemble, &Seen) -> K) {
        let [one, other] = self.samples("1", &key);
        let bound = lower_bound(&one, &other, MISS);
        assert!(bound.bound <= 1.0, "at its own noise: {bound:?}");
        // The pair tells: at 95 % confidence most of the claim is seen. (It fails by chance less than once in 10⁴ times.)
        let likely = lower_bound(&one, &other, 0.05);
        assert!(likely.bound > 0.5, "a pair that shows too little: {likely:?}");
        let [one, other] = self.samples("2", &key);
        let bound = lower_bound(&one, &other, MISS);
        assert!(bound.bound > 1.0, "half the noise went through: {bound:?}");
    }
}

/// A row, and the same with the other label.
const FLIPPED: [Row; 2] = [CORNERS[0], CORNERS[1]];

#[test]
fn boosting_keeps_its_epsilon_and_half_its_noise_does_not() {
    let pair = Pair {
        with: &|price| start("brc", price, 10).rounds(1).planes(Planes::Random),
        tables: FLIPPED.map(|row| read(Open::Nothing, &[row])),
        runs: 3000,
    };
    pair.judge(|ensemble, _| ordered(ensemble.members[0].weight));
}

#[test]
fn a_choice_keeps_its_epsilon_and_half_its_noise_does_not() {
    if !full() {
        return;
    }
    // A plane and its other side: three rows on one side, against two and one.
    let [row, other] = FLIPPED;
    let pair = Pair {
        with: &|price| start("select", price, 10).candidates(1),
        tables: [[row; 3], [row, row, other]].map(|rows| read(Open::Nothing, &rows)),
        runs: 6000,
    };
    pair.judge(|ensemble, _| serde_json::to_string(ensemble).expect("JSON"));
}

#[test]
fn counts_keep_their_epsilon_and_half_their_noise_does_not() {
    // One column only: of many cells that move, all must be seen at once.
    let schema = schema([category("colour", ["red", "blue"]), label("y", ["a", "b"])]);
    let tables = [["red", "a"], ["blue", "b"]].map(|row| table(schema.clone(), Keep::Values, &[row]));
    let pair = Pair {
        with: &|price| start("histogram-bayes", price, 10),
        tables,
        runs: 6000,
    };
    // Where the row stands in the one table and in the other: seen without noise, so that the event is fixed beforehand.
    let truth = pair.tables.each_ref().map(|table| {
        let nothing = Script::Says(vec![0]);
        let central = built((pair.with)("1"));
        let found = watch(&central, table.clone(), &Replace::row(), (Some(1), &nothing));
        found.expect("a run").1.asked[0].answer.clone()
    });
    pair.judge(|_, seen| -> i64 {
        let cells = truth[0].iter().zip(&truth[1]).zip(&seen.numbers[0]);
        // How much more likely the one table makes each cell, in units of ε over the claim.
        let each = cells.map(|((a, b), noisy)| (noisy - b).abs() - (noisy - a).abs());
        each.sum()
    });
}
