//! Record and replay: is a run private on this pair of tables?
//!
//! Run on a table and record every released value; run on a neighbour with each release and all public randomness answered
//! from that record. What adaptive composition needs must then hold to the letter: the same queries in the same order,
//! of the same shapes, mechanisms and prices; each answer without noise within its claimed distance; and every byte of the
//! output, the journal and the certificate equal, since whatever differs was not released by a mechanism.
//!
//! One pair shows nothing about others, and random pairs miss most bugs: search corner values and largest weights, feed
//! extreme records (any value a mechanism can give is legal), and assert that the worst pair *attains* the claim.

mod minima;
mod tape;

use std::sync::{Arc, Mutex};

use privet::Error;
use privet::privacy::account::{Caps, MuSquared, Rho};
use privet::privacy::{Delta, Epsilon, Ledger, Neighbours, Payment, Randomness, journal, ledger};

use crate::faults::Faulty;
use tape::{Shared, Tape, lock};

/// The record that the second run is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transcript {
    /// What the mechanisms drew.
    #[default]
    Drawn,
    /// Legal but unlikely: every noisy number this much above the truth, every choice the last candidate.
    Above(i64),
    /// Every noisy number this much below the truth, every choice the first candidate.
    Below(i64),
    /// Above and below in turn.
    Alternating(i64),
}

/// The transcripts worth trying with a noise of about `scale`.
pub fn transcripts(scale: i64) -> [Transcript; 6] {
    [
        Transcript::Drawn,
        Transcript::Drawn,
        Transcript::Above(40 * scale),
        Transcript::Below(40 * scale),
        Transcript::Alternating(40 * scale),
        Transcript::Alternating(2 * scale),
    ]
}

/// What two runs showed.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// How many queries were compared.
    pub queries: usize,
    /// The largest part of a claimed sensitivity that the pair used.
    pub attained: f64,
    /// The same for minima alone: of how far slopes may lie apart, and of how far determinants may. Both are zero where there were none.
    pub minima: [f64; 2],
}

/// Why a run is not private on this pair.
#[derive(Debug, Clone, PartialEq)]
pub enum Finding {
    /// The two runs asked different questions: a branch, a shape or a price depends on the data.
    Branch(String),
    /// An answer moved further than it was claimed to.
    Distance(String),
    /// The output, the journal or the certificate differs although every release was the same.
    Output,
    /// The run itself failed.
    Failed(Error),
}

impl From<Error> for Finding {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs `train` on both tables of a pair of neighbours, the second fed from the record of the first.
///
/// # Errors
/// The first [`Finding`].
pub fn replay<N: Neighbours, D>(
    relation: &N,
    [table, neighbour]: [&D; 2],
    transcript: Transcript,
    train: impl Fn(&D, &mut Ledger<N>) -> Result<Vec<u8>, Error>,
) -> Result<Report, Finding> {
    let tape = Arc::new(Mutex::new(Tape::new(transcript)));
    let run = |table: &D| -> Result<RunTrace, Error> {
        let journal = rich_journal(relation)?;
        let ledger = Ledger::open(DATASET, relation.clone(), journal.clone(), Randomness::from_os()?)?;
        let mut ledger = ledger.audited(Box::new(Shared::new(&tape)))?;
        let output = train(table, &mut ledger)?;
        let remaining = ledger.remaining();
        let payments = ledger.close().payments;
        let mut names = Vec::new();
        let events = journal
            .entries()
            .iter()
            .skip(1)
            .map(|entry| numbered(entry.event(), &mut names))
            .collect();
        Ok(RunTrace {
            output,
            events,
            payments,
            remaining,
        })
    };
    let first = run(table)?;
    lock(&tape).rewind();
    let second = run(neighbour);
    let mut tape = lock(&tape);
    if let Some(finding) = tape.finding.take() {
        return Err(finding);
    }
    let second = second?;
    let steps = tape.events.len();
    if tape.at < steps {
        return Err(Finding::Branch(format!(
            "the second run stopped after {} of {steps} steps",
            tape.at
        )));
    }
    if first != second {
        return Err(Finding::Output);
    }
    assert!(tape.parts.is_empty(), "a run inside parts that never ended");
    Ok(Report {
        queries: tape.queries,
        attained: tape.attained,
        minima: tape.minima,
    })
}

/// Everything that a run outputs or records.
#[derive(PartialEq)]
struct RunTrace {
    output: Vec<u8>,
    events: Vec<journal::Event>,
    payments: Vec<Payment>,
    /// What the run could still spend: a promise shows here.
    remaining: Caps,
}

const DATASET: &str = "replayed";

/// The event with its run's number in place of its name: names are random, and say nothing.
fn numbered(event: &journal::Event, names: &mut Vec<String>) -> journal::Event {
    use journal::Event;
    let mut event = event.clone();
    let run = match &mut event {
        Event::Spend { run, .. }
        | Event::Desensitise { run, .. }
        | Event::Leak { run, .. }
        | Event::Void { run, .. } => run.as_mut(),
        Event::Redraw { run, .. } | Event::Contribute { run, .. } => Some(run),
        // Its key stays with the ledger's owner: whoever sees the chain cannot tell a digest from a random number.
        Event::Kept { run, digest, .. } => {
            digest.clear();
            Some(run)
        }
        Event::Begin { .. } | Event::Limit { .. } | Event::Adopt { .. } => None,
    };
    if let Some(run) = run {
        let known = names.iter().position(|name| name == run);
        let number = known.unwrap_or(names.len());
        if known.is_none() {
            names.push(run.clone());
        }
        *run = number.to_string();
    }
    event
}

/// A journal whose limits no run reaches.
fn rich_journal(relation: &impl Neighbours) -> Result<Faulty, Error> {
    let caps = Caps {
        pure: Epsilon::from_billionths(u64::MAX / 4),
        rho: Rho::from_units(u128::MAX / 4),
        mu_squared: MuSquared::from_units(u128::MAX / 4),
    };
    let mut journal = Faulty::default();
    ledger::begin(&mut journal)?;
    let delta = "1e-6".parse::<Delta>()?;
    let limit = journal::Event::Limit {
        dataset: DATASET.into(),
        relation: relation.relation(),
        caps,
        delta,
    };
    ledger::append(&mut journal, limit)?;
    Ok(journal)
}

/// Replays every pair under every transcript; the worst attainment, or the first finding with the pair's number.
///
/// # Errors
/// The first [`Finding`] with the number of its pair.
pub fn search<N: Neighbours, D>(
    relation: &N,
    pairs: &[[D; 2]],
    transcripts: &[Transcript],
    train: impl Fn(&D, &mut Ledger<N>) -> Result<Vec<u8>, Error>,
) -> Result<Report, (usize, Finding)> {
    let mut worst = Report {
        queries: 0,
        attained: 0.0,
        minima: [0.0; 2],
    };
    for (number, [a, b]) in pairs.iter().enumerate() {
        for transcript in transcripts {
            for pair in [[a, b], [b, a]] {
                let report =
                    replay(relation, pair, *transcript, &train).map_err(|finding| (number, finding))?;
                worst.queries += report.queries;
                worst.attained = worst.attained.max(report.attained);
                worst.minima = [0, 1].map(|i| worst.minima[i].max(report.minima[i]));
            }
        }
    }
    Ok(worst)
}
