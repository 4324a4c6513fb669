//! Runs whose evaluation on held-out rows is looked at.

use std::any::Any;
use std::sync::{Arc, Mutex};

use privet::party::Simulation;
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::{AddRemove, Ledger, Randomness};
use privet::setting::horizontal::{HeldOut, Horizontal, MINER, Miner, Owner, Party, Protocol};

use super::world::{Labels, Line, Noise, World, identity, spending, table, trees};

pub(super) const PROTOCOLS: [Protocol; 3] = [Protocol::Aggregated, Protocol::Averaged, Protocol::Chain];

pub(super) fn held_out(epsilon: &str, percent: u32) -> HeldOut {
    let builder = HeldOut::builder().epsilon(epsilon.parse().unwrap());
    builder.held_out(percent).build().unwrap()
}

fn horizontal(protocol: Protocol, count: u32) -> Horizontal {
    let trees = trees(count).calibrate(false).build().unwrap();
    let builder = Horizontal::builder().protocol(protocol).absent(1).trees(trees);
    let builder = builder.evaluation(held_out("1", 40));
    let builder = match protocol {
        Protocol::Aggregated => builder.colluding(1),
        Protocol::Averaged | Protocol::Chain => builder,
    };
    builder.build().unwrap()
}

pub(super) fn world(
    protocol: Protocol,
    labels: Labels,
    delta: &str,
    rows: Vec<Vec<Line>>,
    noise: Noise,
) -> World {
    World::new(
        &horizontal(protocol, 2),
        labels,
        spending("4", delta),
        rows,
        noise,
    )
}

/// Answers questions of another length than the evaluation's with zeros, so that every run has the same model; writes down the others.
pub(super) struct Judges {
    pub(super) dimension: usize,
    pub(super) seen: Arc<Mutex<Vec<Observed>>>,
    /// Whether the evaluation is answered exactly.
    pub(super) exact: bool,
}

impl Auditor for Judges {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        if query.answer.len() != self.dimension {
            return Some(Box::new(vec![0_i64; query.answer.len()]));
        }
        self.seen.lock().unwrap().push(query.clone());
        self.exact.then(|| Box::new(query.answer) as Box<dyn Any + Send>)
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

pub(super) type Seen = Vec<Arc<Mutex<Vec<Observed>>>>;

/// How many counts two classes, three classes and numbers have.
pub(super) fn dimension(labels: Labels) -> usize {
    match labels {
        Labels::Two => 2 * 42,
        Labels::Three => 9 + 42,
        Labels::Number => 64 + 41,
    }
}

/// A run with other draws for each `seed`, whose evaluation is written down.
pub(super) fn judged<'a>(
    world: &'a World,
    seen: &'a Seen,
    dimension: usize,
    exact: bool,
    seed: u64,
) -> Simulation<'a, Party> {
    let judges = move |place: usize| -> Box<dyn Auditor> {
        Box::new(Judges {
            dimension,
            seen: Arc::clone(&seen[place]),
            exact,
        })
    };
    judged_by(world, judges, seed)
}

/// The same with any auditors.
pub(super) fn judged_by<'a>(
    world: &'a World,
    auditor: impl Fn(usize) -> Box<dyn Auditor> + 'a,
    seed: u64,
) -> Simulation<'a, Party> {
    Simulation::of(world.agreement.clone(), move |party, run| {
        if party == MINER {
            return Ok(Miner::party(&world.plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let random = Randomness::seeded(100 * seed + place as u64);
        let ledger = Ledger::open("rows", AddRemove::row(), world.journals[place].clone(), random)?;
        let rows = table(world.plan.schema(), &world.rows[place]);
        let ledger = ledger.audited(auditor(place))?;
        Owner::party(
            world.plan.owner(place)?,
            rows,
            ledger,
            &run,
            Some(identity(place)),
        )
    })
}

pub(super) fn seen(owners: usize) -> Seen {
    (0..owners).map(|_| Arc::default()).collect()
}
