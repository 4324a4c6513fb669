//! A miner and a few owners with made-up rows.

use std::any::Any;
use std::sync::Arc;

use privet::data::schema::{category, label, number};
use privet::data::{Intake, Keep, Schema, Table};
use privet::parameters::Builder;
use privet::party::{Agreement, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::journal::Event;
use privet::privacy::signature::{PublicKey, SigningKey};
use privet::privacy::{AddRemove, Coins, Ledger, Neighbours, Norm, Randomness};
use privet::setting::horizontal::{
    Horizontal, MINER, Miner, Owner, OwnerFacts, Party, Plan, Spending, Trees,
};
use privet::wire::RunId;
use privet_testkit::faults::Faulty;

use super::drops::{Added, Witness};

pub(crate) type Line = [String; 4];

/// What is to be predicted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Labels {
    Two,
    Three,
    Number,
}

pub(crate) fn schema(labels: Labels) -> Schema {
    let of = match labels {
        Labels::Two => label("y", ["a", "b"]),
        Labels::Three => label("y", ["a", "b", "c"]),
        Labels::Number => label("y", -4.0..=4.0),
    };
    let columns = [
        number("x", -2.0..=2.0).into(),
        number("z", -2.0..=2.0).into(),
        category("colour", ["red", "green", "blue"]).into(),
        of.into(),
    ];
    let columns: [privet::data::schema::AnyColumn; 4] = columns;
    Schema::builder("rows").columns(columns).build().unwrap()
}

/// Rows whose label follows from two features, with some chance.
pub(crate) fn lines(labels: Labels, rows: usize, seed: u8) -> Vec<Line> {
    let mut coins = Coins::from_seed([seed; 32]);
    let line = |_| {
        let mut number = |scale: f64| (coins.unit() * 2.0 - 1.0) * scale;
        let (x, z, chance) = (number(2.0), number(2.0), number(0.8));
        let colour = coins.below(3) as usize;
        let signal = x + [0.8, 0.0, -0.8][colour] + chance;
        let y = match labels {
            Labels::Two => ["a", "b"][usize::from(signal > 0.0)].to_owned(),
            Labels::Three => {
                ["a", "b", "c"][usize::from(signal > -0.7) + usize::from(signal > 0.7)].to_owned()
            }
            Labels::Number => signal.to_string(),
        };
        [
            x.to_string(),
            z.to_string(),
            ["red", "green", "blue"][colour].into(),
            y,
        ]
    };
    (0..rows).map(line).collect()
}

pub(crate) fn table(schema: &Arc<Schema>, lines: &[Line]) -> Table {
    privet_testkit::rows::table(&Intake::everything(Arc::clone(schema), Keep::Bins), lines)
}

pub(crate) fn spending(epsilon: &str, delta: &str) -> Spending {
    Spending {
        epsilon: epsilon.parse().unwrap(),
        delta: delta.parse().unwrap(),
    }
}

/// Trees of a few leaves.
pub(crate) fn trees(count: u32) -> Builder<Trees> {
    Trees::builder().trees(count).leaves(4)
}

/// How numbers get their noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noise {
    /// As it is.
    Drawn,
    /// None: the answers themselves, so that results can be compared to the last bit.
    Exact,
}

/// A miner and owners, with their ledgers.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) agreement: Agreement,
    pub(crate) rows: Vec<Vec<Line>>,
    pub(crate) noise: Noise,
    pub(crate) journals: Vec<Faulty>,
}

pub(crate) fn identity(place: usize) -> SigningKey {
    SigningKey::from_bytes(&[place as u8 + 1; 32])
}

impl World {
    pub(crate) fn new(
        horizontal: &Horizontal,
        labels: Labels,
        spending: Spending,
        rows: Vec<Vec<Line>>,
        noise: Noise,
    ) -> Self {
        let facts = |(place, lines): (usize, &Vec<Line>)| OwnerFacts {
            name: format!("owner {}", place + 1),
            rows_about: lines.len() as u64,
        };
        let owners: Vec<OwnerFacts> = rows.iter().enumerate().map(facts).collect();
        let relation = AddRemove::row().relation();
        let plan = horizontal
            .plan(&schema(labels), &relation, spending, &owners)
            .unwrap();
        let identities: Vec<Option<PublicKey>> = (0..owners.len())
            .map(|place| Some(identity(place).public()))
            .collect();
        let agreement = plan.agreement(RunId([3; 16]), "miner", &identities).unwrap();
        let journals = owners.iter().map(|_| journal(&plan)).collect();
        Self {
            plan,
            agreement,
            rows,
            noise,
            journals,
        }
    }

    pub(crate) fn ledger(&self, place: usize) -> Ledger<AddRemove> {
        let random = Randomness::seeded(place as u64);
        let journal = self.journals[place].clone();
        let ledger = Ledger::open("rows", AddRemove::row(), journal, random).unwrap();
        match self.noise {
            Noise::Drawn => ledger,
            Noise::Exact => ledger.audited(Box::new(Blind)).unwrap(),
        }
    }

    pub(crate) fn simulation(&self) -> Simulation<'_, Party> {
        Simulation::of(self.agreement.clone(), move |party, run| {
            if party == MINER {
                return Ok(Miner::party(&self.plan.miner()));
            }
            let place = usize::from(party.0) - 1;
            let plan = self.plan.owner(place)?;
            let table = table(self.plan.schema(), &self.rows[place]);
            Owner::party(plan, table, self.ledger(place), &run, Some(identity(place)))
        })
    }
}

impl World {
    /// The same, with witnesses of what owners add to joint sums.
    pub(crate) fn witnessed<'a>(&'a self, added: &'a [Added]) -> Simulation<'a, Party> {
        Simulation::of(self.agreement.clone(), move |party, run| {
            if party == MINER {
                return Ok(Miner::party(&self.plan.miner()));
            }
            let place = usize::from(party.0) - 1;
            let plan = self.plan.owner(place)?;
            let table = table(self.plan.schema(), &self.rows[place]);
            let witness = Witness(Added::clone(&added[place]));
            let ledger = self.ledger(place).audited(Box::new(witness))?;
            Owner::party(plan, table, ledger, &run, Some(identity(place)))
        })
    }
}

/// A journal with room for one run of a plan.
pub(crate) fn journal(plan: &Plan) -> Faulty {
    let mut journal = Faulty::default();
    privet::privacy::ledger::begin(&mut journal).unwrap();
    let limit = Event::Limit {
        dataset: "rows".into(),
        relation: plan.relation().clone(),
        caps: Caps::from(plan.price()),
        delta: plan.delta(),
    };
    privet::privacy::ledger::append(&mut journal, limit).unwrap();
    journal
}

/// Answers every question exactly.
pub(crate) struct Blind;

impl Auditor for Blind {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        match query.norm {
            // The candidate with the highest score, the first of them.
            Norm::Width(_) => {
                let best = query.answer.iter().max()?;
                let place = query.answer.iter().position(|score| score == best)?;
                Some(Box::new(place))
            }
            _ => Some(Box::new(query.answer)),
        }
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}
