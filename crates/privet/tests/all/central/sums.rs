//! How far the sums, counts and gains of trees move between neighbours: as far as they are claimed to, and no further.

use privet::privacy::{AddRemove, Delta, Replace};
use privet::setting::central::{Central, Places, Splits};

use crate::central::reach::{Case, Change, Reach, farthest, reach};
use crate::central::tables::{Lines, Open, Row, corners, others, rows, start};
use crate::central::trees::both;
use crate::central::window::Script;
use crate::central::worst::{TREES, Task, ends, undecided};

const CHANGES: [(Change, Open); 6] = [
    (Change::Comes, Open::Nothing),
    (Change::Replaced, Open::Nothing),
    (Change::Columns, Open::Feature),
    (Change::Columns, Open::Features),
    (Change::Columns, Open::Label),
    (Change::Columns, Open::LabelAndFeature),
];

/// Units of one to k equal rows: what moves furthest moves all rows of a unit the same way.
fn alike(of: &[Row], k: usize) -> Vec<Lines> {
    (1..=k)
        .flat_map(|size| of.iter().map(move |row| vec![*row; size]))
        .collect()
}

/// The reach on all neighbours that these units make.
fn moved(
    central: &Central,
    task: Task,
    (change, open): (Change, Open),
    (k, of): (u32, &[Row]),
    rest: &[Row],
    (coins, script): (u8, &Script),
) -> Vec<Reach> {
    let case = Case {
        schema: &open.schema_of(task.label()),
        open,
        change,
        units: &alike(&task.rows(of), k as usize),
        rest: &task.rows(rest),
    };
    match change {
        Change::Comes => reach(central, &AddRemove::unit(rows(k)), &case, coins, script),
        Change::Replaced => reach(central, &Replace::unit(rows(k)), &case, coins, script),
        Change::Columns => reach(central, &open.relation(k), &case, coins, script),
    }
}

/// The largest part of their claim that sums moved by, of all records and cuts; the search ends where the claim is reached.
fn sums(central: &Central, task: Task, change: (Change, Open), k: u32) -> f64 {
    let rest = match change.1 {
        Open::LabelAndFeature if task == Task::TwoClasses => undecided(k),
        _ => vec![],
    };
    let mut most: f64 = 0.0;
    for coins in 0..8 {
        for script in task.records() {
            let found = moved(
                central,
                task,
                change,
                (k, &ends(change.1)),
                &rest,
                (coins, &script),
            );
            let own = &found[found.len() - TREES..];
            most = own.iter().map(|reach| reach.part).fold(most, f64::max);
            if most > 0.999 {
                return most;
            }
        }
    }
    most
}

/// No sum moves further than its claim, and under every relation some pair of tables reaches it.
#[test]
fn sums_move_by_their_claim_and_no_more() {
    let mut short = Vec::new();
    for task in Task::ALL {
        for central in task.trees() {
            for change in CHANGES {
                for k in [1, 2] {
                    let part = sums(&central, task, change, k);
                    if part <= 0.99 {
                        short.push(format!("{part:.3} {task:?} {change:?} {k} {central:?}"));
                    }
                }
            }
        }
    }
    assert!(
        short.is_empty(),
        "claims that nothing reaches:\n{}",
        short.join("\n")
    );
}

/// The same on rows that are missing, undeclared or beyond their bounds, which reach nothing more.
#[test]
fn odd_rows_move_sums_no_further() {
    for task in Task::ALL {
        for central in task.trees() {
            for change in CHANGES {
                for (coins, script) in task.records().iter().take(3).enumerate() {
                    let (of, coins) = (corners(change.1), coins as u8);
                    moved(&central, task, change, (1, &of), &others(), (coins, script));
                }
            }
        }
    }
}

/// Rows by slots, and rows by labels that are numbers: whoever may have another label, or other columns, moves both.
#[test]
fn counts_move_by_their_claim_and_no_more() {
    let counted = |central: &Central, task: Task, change: (Change, Open)| {
        let found = (0..2).flat_map(|coins| {
            [vec![], others()].map(|rest: Lines| {
                let zero = (coins, &Script::Says(vec![0]));
                moved(central, task, change, (1, &ends(change.1)), &rest, zero)
            })
        });
        farthest(found)[0].part
    };
    for change in CHANGES {
        for central in both(&|| start("trees", "1", 50).trees(1).places(Places::PrivateQuantiles)) {
            if change.1 != Open::Features {
                let part = counted(&central, Task::TwoClasses, change);
                assert!(part > 0.99, "{central:?} {change:?}: {part}");
            }
        }
        for central in both(&|| start("trees", "1", 50).trees(1)) {
            if !matches!(change.1, Open::Label | Open::LabelAndFeature) {
                let part = counted(&central, Task::Number, change);
                assert!(part > 0.99, "{central:?} {change:?}: {part}");
            }
        }
    }
}

/// Rows that agree, and one that does not: the width is all but reached, and never exceeded.
#[test]
fn gains_move_by_their_width_and_no_more() {
    let greedy = || {
        start("trees", "1", 50)
            .trees(1)
            .splits(Splits::NoisyGreedy)
            .depth(1)
    };
    let change = (Change::Comes, Open::Nothing);
    for central in both(&|| greedy().gradient_clip(0.5)) {
        let mut most: f64 = 0.0;
        for others in [0, 1, 7, 400] {
            let rest: Vec<Row> = vec![["1", "1", "red", "high", "a"]; others];
            let zero = (3, &Script::Says(vec![0]));
            let found = moved(
                &central,
                Task::TwoClasses,
                change,
                (1, &corners(change.1)),
                &rest,
                zero,
            );
            most = most.max(found[0].part);
        }
        assert!(most > 0.99, "{} {most}", central.delta() == Delta::ZERO);
    }
}
