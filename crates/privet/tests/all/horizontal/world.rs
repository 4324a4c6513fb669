//! A miner and a few owners with made-up rows.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use privet::data::schema::{category, label, number};
use privet::data::{Intake, Keep, Schema, Table};
use privet::parameters::Builder;
use privet::party::{Agreement, Simulation};
use privet::privacy::account::{Caps, Price};
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
    /// What each owner has drawn without noise.
    pub(crate) drawn: Vec<Drawn>,
}

/// The portions, prices and exact answers of all draws of an owner, each once.
pub(crate) type Drawn = Arc<Mutex<BTreeSet<(Option<u32>, u128, Vec<i64>)>>>;

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
            drawn: rows.iter().map(|_| Drawn::default()).collect(),
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
            Noise::Exact => {
                let exact = Exact {
                    journal: self.journals[place].clone(),
                    drawn: Drawn::clone(&self.drawn[place]),
                    portion: None,
                    parts: None,
                };
                ledger.audited(Box::new(exact)).unwrap()
            }
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

/// Answers every question exactly, and compares what is drawn with what the ledger says was paid.
///
/// A draw that a crash forgot is made again: without noise it is the same, and counts once. Draws of one question that differ count twice.
struct Exact {
    journal: Faulty,
    drawn: Drawn,
    portion: Option<u32>,
    parts: Option<Parts>,
}

/// What is drawn about parts of a table.
#[derive(Default)]
struct Parts {
    price: u128,
    steps: u64,
    answers: Vec<i64>,
}

pub(crate) fn units(price: Price) -> u128 {
    match price {
        Price::Gaussian(mu_squared) => mu_squared.units(),
        other => panic!("{other} is not what these runs pay with"),
    }
}

/// What a journal says was paid.
pub(crate) fn paid(journal: &Faulty) -> u128 {
    let entries = journal.entries();
    let prices = entries.iter().map(|entry| match entry.event() {
        Event::Spend { price, .. } => units(*price),
        _ => 0,
    });
    prices.sum()
}

impl Exact {
    /// Portions share no unit: what was drawn about the one with the most counts.
    fn draws(&self, price: u128, answer: Vec<i64>) {
        let mut drawn = self.drawn.lock().unwrap();
        drawn.insert((self.portion, price, answer));
        let of = |portion: Option<u32>| -> u128 {
            let own = drawn.iter().filter(|draw| draw.0 == portion);
            own.map(|(_, units, _)| units).sum()
        };
        let portions: BTreeSet<u32> = drawn.iter().filter_map(|draw| draw.0).collect();
        let most = portions.into_iter().map(|portion| of(Some(portion))).max();
        let (all, paid) = (of(None) + most.unwrap_or(0), paid(&self.journal));
        assert!(all <= paid, "{all} was drawn, and the ledger says {paid}");
    }
}

impl Auditor for Exact {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        match &mut self.parts {
            Some(parts) => {
                parts.price = parts.price.max(units(query.price));
                parts.answers.extend(&query.answer);
            }
            None => self.draws(units(query.price), query.answer.clone()),
        }
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

    fn portion(&mut self, portion: Option<u32>) {
        self.portion = portion;
    }

    fn parts_begin(&mut self, _: usize, steps: u64) {
        self.parts = Some(Parts {
            steps,
            ..Parts::default()
        });
    }

    fn part_ends(&mut self) {}

    /// Parts share no row, so one price pays for all, as often as one change touches a part.
    fn parts_end(&mut self) {
        let parts = self.parts.take().expect("parts");
        self.draws(parts.price * u128::from(parts.steps), parts.answers);
    }
}

/// Whoever draws before it pays, or twice for one payment, is noticed.
#[test]
#[should_panic(expected = "was drawn, and the ledger says")]
fn what_is_drawn_and_not_paid_for_is_noticed() {
    let mut exact = Exact {
        journal: Faulty::default(),
        drawn: Drawn::default(),
        portion: None,
        parts: None,
    };
    exact.query(Observed {
        mechanism: "noise".into(),
        answer: vec![1],
        norm: Norm::L2Squared(1),
        price: Price::Gaussian("0.1".parse().unwrap()),
    });
}
