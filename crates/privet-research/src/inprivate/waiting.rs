//! Who waits how long in the paper's chain, and what is sent: Figure 4, and equations 18 and 19.
//!
//! In the baseline an owner sends all trees so far to the next one, which then brings its residuals up to date, tree by tree, and grows its
//! own. In the paper's speed-up an owner sends its tree to all who still wait, and they bring their residuals up to date meanwhile. The
//! paper says that this costs more communication. It costs more messages; of trees, exactly as many are sent.

use std::time::Instant;

use privet::Error;

use super::owners::{Deal, Owned};
use super::printed::InPrivate;
use super::{Data, Measured, Progress, ROWS, coins, schema};

/// How trees go round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sending {
    /// All trees to the next owner.
    Next,
    /// Each tree to all who wait.
    Broadcast,
}

/// What an owner takes, in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pace {
    /// To bring residuals up to date with one tree, c₁.
    update: f64,
    /// To grow a tree, c₂.
    grow: f64,
}

/// How a chain goes.
#[derive(Debug, Clone, PartialEq)]
struct Schedule {
    /// When the last owner but one has grown its tree: so long the last one waits.
    wait: f64,
    /// When all trees are there.
    end: f64,
    messages: usize,
    trees: usize,
}

/// Event by event: an owner brings its residuals up to date with a tree when it has the tree and is done with the one before.
fn schedule(paces: &[Pace], sending: Sending) -> Schedule {
    let mut found = Schedule {
        wait: 0.0,
        end: 0.0,
        messages: 0,
        trees: 0,
    };
    // When the tree of each owner so far was ready.
    let mut ready: Vec<f64> = Vec::new();
    for (place, pace) in paces.iter().enumerate() {
        found.wait = found.end;
        let arrives = |tree: usize| match sending {
            Sending::Next => ready[place - 1],
            Sending::Broadcast => ready[tree],
        };
        let free = (0..place).fold(0.0, |free: f64, tree| free.max(arrives(tree)) + pace.update);
        found.end = free + pace.grow;
        ready.push(found.end);
        let waiting = paces.len() - place - 1;
        let (messages, trees) = match sending {
            Sending::Next => (waiting.min(1), waiting.min(1) * (place + 1)),
            Sending::Broadcast => (waiting, waiting),
        };
        found.messages += messages;
        found.trees += trees;
    }
    found
}

const OWNERS: [(usize, [&str; 2]); 4] = [
    (5, ["baseline, 5 owners", "broadcast, 5 owners"]),
    (10, ["baseline, 10 owners", "broadcast, 10 owners"]),
    (20, ["baseline, 20 owners", "broadcast, 20 owners"]),
    (100, ["baseline, 100 owners", "broadcast, 100 owners"]),
];

/// With the times that trees as printed take here.
pub(super) fn measure(data: &Data, runs: u32, _: &Progress) -> Result<Vec<Measured>, Error> {
    let records = data.records("adult")?;
    let schema = schema(&records)?;
    let owned = Owned {
        owners: 1,
        rows: ROWS,
        rounds: None,
    };
    let paces = (0..runs).map(|run| {
        let [own, test] = Deal::new(&records, &schema, owned, run).first()?;
        let begin = Instant::now();
        let tree = InPrivate::default().fit(vec![own], &mut coins(run.into()))?;
        let grow = begin.elapsed().as_secs_f64();
        let begin = Instant::now();
        let rows = tree.off(&test).len();
        let update = begin.elapsed().as_secs_f64() * ROWS as f64 / rows as f64;
        Ok(Pace { update, grow })
    });
    let paces: Vec<Pace> = paces.collect::<Result<_, Error>>()?;
    let mut found = vec![
        Measured::new(
            "one tree",
            None,
            "seconds to grow, c₂",
            paces.iter().map(|p| p.grow),
        ),
        Measured::new(
            "one tree",
            None,
            "seconds to apply, c₁",
            paces.iter().map(|p| p.update),
        ),
    ];
    for (owners, names) in OWNERS {
        for (sending, name) in [Sending::Next, Sending::Broadcast].into_iter().zip(names) {
            let run = |pace: &Pace| schedule(&vec![*pace; owners], sending);
            let all: Vec<Schedule> = paces.iter().map(run).collect();
            for (metric, value) in [
                (
                    "seconds that the last waits",
                    (|s| s.wait) as fn(&Schedule) -> f64,
                ),
                ("messages", |s| s.messages as f64),
                ("trees sent", |s| s.trees as f64),
            ] {
                found.push(Measured::new(name, None, metric, all.iter().map(value)));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_owners_take_what_equations_18_and_19_say() {
        let pace = Pace {
            update: 0.25,
            grow: 3.0,
        };
        for n in 1..40_usize {
            let [next, broadcast] =
                [Sending::Next, Sending::Broadcast].map(|sending| schedule(&vec![pace; n], sending));
            let pairs = (n * (n - 1) / 2) as f64;
            let near = |found: f64, said: f64| (found - said).abs() < 1e-9;
            assert!(near(next.end, pairs * 0.25 + n as f64 * 3.0), "{n}");
            assert!(near(broadcast.end, (n - 1) as f64 * 0.25 + n as f64 * 3.0), "{n}");
            assert_eq!((next.messages, broadcast.messages), (n - 1, n * (n - 1) / 2));
            assert_eq!(next.trees, broadcast.trees, "{n}");
        }
    }

    /// Equation 19 takes it that nobody is busy with an earlier tree when the next one comes.
    #[test]
    fn an_owner_slower_to_apply_a_tree_than_others_are_to_grow_one_waits_for_itself() {
        let pace = Pace {
            update: 5.0,
            grow: 1.0,
        };
        let three = schedule(&[pace; 3], Sending::Broadcast);
        let said = 2.0 * pace.update + 3.0 * pace.grow;
        assert!(three.end >= said);
        let slow = Pace {
            update: 50.0,
            grow: 1.0,
        };
        let late = schedule(&[pace, pace, slow], Sending::Broadcast);
        assert!((late.end - (1.0 + 50.0 + 50.0 + 1.0)).abs() < 1e-9, "{late:?}");
    }
}
