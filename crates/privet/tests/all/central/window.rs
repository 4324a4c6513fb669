//! Runs that somebody looks at: their questions without noise, their prices, and answers of our choice.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use crate::central::curator::Central;
use privet::Error;
use privet::boost::Ensemble;
use privet::data::Table;
use privet::privacy::account::{Caps, Price};
use privet::privacy::audit::{Auditor, Minimised, Minimum, Observed};
use privet::privacy::{Certificate, Delta, Epsilon, Ledger, Neighbours, Norm, Randomness};

use crate::central::tables::{Open, Row, read};

/// What is released in place of noisy answers.
#[derive(Debug, Clone)]
pub(crate) enum Script {
    /// What the mechanisms draw.
    Drawn,
    /// One number for each question, over and over: each noisy number is it, each choice is it modulo the candidates.
    Says(Vec<i64>),
    /// Several numbers for each question, over and over: noisy numbers take them in turn, so that leaves differ; a choice takes the first.
    Each(Vec<Vec<i64>>),
}

/// What a run showed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) asked: Vec<Observed>,
    pub(crate) numbers: Vec<Vec<i64>>,
    /// The price of every draw.
    pub(crate) prices: Vec<Price>,
}

#[derive(Clone)]
struct Window {
    seen: Arc<Mutex<Seen>>,
    script: Script,
    seed: Option<u8>,
}

impl Window {
    /// What is said at this turn.
    fn line(&self, turn: usize) -> Option<Vec<i64>> {
        match &self.script {
            Script::Drawn => None,
            Script::Says(lines) => Some(vec![lines[turn % lines.len()]]),
            Script::Each(lines) => Some(lines[turn % lines.len()].clone()),
        }
    }

    fn with<T>(&self, then: impl FnOnce(&mut Seen) -> T) -> T {
        then(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Auditor for Window {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        let line = self.line(self.with(|seen| seen.prices.len()));
        let (norm, length) = (query.norm, query.answer.len());
        self.with(|seen| {
            seen.prices.push(query.price);
            seen.asked.push(query);
        });
        let line = line?;
        Some(match norm {
            Norm::Width(_) => Box::new(line[0].unsigned_abs() as usize % length),
            _ => Box::new(line.into_iter().cycle().take(length).collect::<Vec<i64>>()),
        })
    }

    fn minimum(&mut self, minimum: Minimum, _loss: &dyn Minimised) -> Option<Vec<f64>> {
        let line = self.line(self.with(|seen| seen.prices.len()));
        self.with(|seen| seen.prices.push(minimum.price));
        line.map(|line| {
            (0..minimum.dimension)
                .map(|i| line[0] as f64 / (1 + i) as f64)
                .collect()
        })
    }

    fn released(&mut self, output: Box<dyn Any + Send>) {
        if let Ok(numbers) = output.downcast::<Vec<i64>>() {
            self.with(|seen| seen.numbers.push(*numbers));
        }
    }

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        self.seed.map_or(seed, |seed| [seed; 32])
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

pub(crate) fn ledger<N: Neighbours>(relation: N, caps: Epsilon) -> Ledger {
    let random = Randomness::from_os().expect("randomness");
    Ledger::volatile(
        relation.relation(),
        Caps::from(Price::Pure(caps)),
        Delta::ZERO,
        random,
    )
    .expect("opens")
}

/// Trains on a table with these public coins and these answers.
pub(crate) fn run<N: Neighbours>(
    central: &Central,
    (open, lines): (Open, &[Row]),
    relation: &N,
    coins_and_script: (Option<u8>, &Script),
) -> Result<(Ensemble, Seen, Certificate), Error> {
    watch(central, read(open, lines), relation, coins_and_script)
}

/// The same on a table of another schema.
pub(crate) fn watch<N: Neighbours>(
    central: &Central,
    table: Table,
    relation: &N,
    (seed, script): (Option<u8>, &Script),
) -> Result<(Ensemble, Seen, Certificate), Error> {
    let plain = match central.delta() {
        Delta::ZERO => ledger(relation.clone(), Epsilon::new(1000.0)?),
        delta => {
            let price = central.price(table.schema(), &relation.relation())?;
            Ledger::volatile(
                relation.relation(),
                Caps::from(price),
                delta,
                Randomness::from_os()?,
            )?
        }
    };
    look(plain, (seed, script), |ledger| {
        central.train(table, ledger, privet::learner::SILENT)
    })
}

/// The same of whatever trains with a ledger.
pub(crate) fn look(
    ledger: Ledger,
    (seed, script): (Option<u8>, &Script),
    train: impl FnOnce(&mut Ledger) -> Result<Ensemble, Error>,
) -> Result<(Ensemble, Seen, Certificate), Error> {
    let window = Window {
        seen: Arc::default(),
        script: script.clone(),
        seed,
    };
    let mut ledger = ledger.audited(Box::new(window.clone()))?;
    let ensemble = train(&mut ledger)?;
    Ok((ensemble, window.with(|seen| seen.clone()), ledger.close()))
}
