//! Owners of a horizontal run and their miner, fed with foreign bytes, which may only make them give up.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use privet::Error;
use privet::data::{Intake, Keep, Schema};
use privet::error::JournalFault;
use privet::party::{Agreement, Fault, MemoryRecord, PartyId, RunName, Seat, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::signature::SigningKey;
use privet::privacy::{AddRemove, Ledger, Neighbours, Randomness, ledger};
use privet::setting::horizontal::{
    Horizontal, MINER, Message, Miner, Owner, OwnerFacts, Party, Plan, Protocol, Spending, Trees,
};
use privet::wire::{RunId, Wire};

use crate::faults::Faulty;

const OWNERS: usize = 4;
/// Seconds that the miner waits for an owner. The simulator has a clock of its own.
const PATIENCE: u32 = 2;
/// The most faults of one run.
const MOST_FAULTS: usize = 8;

/// The first byte says what the others are: a message, or a run of a protocol with faults. Each fault begins with how many steps after the one
/// before it comes, and with its kind; a forged message follows after its length in two bytes, a party or a place in one.
///
/// A message that is read is written again to the byte. Parties that meet faults end well or say who is at fault, and nothing is paid twice.
pub fn horizontal(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    let protocol = match kind % 4 {
        1 => Protocol::Aggregated,
        2 => Protocol::Averaged,
        3 => Protocol::Chain,
        _ => {
            if let Ok(message) = Message::from_bytes(rest) {
                assert_eq!(message.to_bytes(), rest);
            }
            return;
        }
    };
    run(protocol, &faults(rest, OWNERS as u16 + 1));
}

/// The faults that bytes stand for, to so many parties.
pub(crate) fn faults(mut rest: &[u8], parties: u16) -> Vec<(u64, Fault)> {
    let mut all = Vec::new();
    let mut step = 0;
    while let [after, kind, more @ ..] = rest
        && all.len() < MOST_FAULTS
    {
        step += u64::from(*after);
        let (argument, after_it) = more.split_first().map_or((0, more), |(one, rest)| (*one, rest));
        let party = PartyId(u16::from(argument) % parties);
        let (fault, more) = match kind % 13 {
            0 => (Fault::Drop, more),
            1 => (Fault::Repeat, more),
            2 => (Fault::Truncate(argument.into()), after_it),
            3 => (Fault::Flip(argument.into()), after_it),
            4 => (Fault::Future, more),
            5 => (Fault::Postpone, more),
            6 => (Fault::Disconnect(party), after_it),
            7 => (Fault::Restart(party), after_it),
            8 => (Fault::Crash(party), after_it),
            9 => (Fault::Leave(party), after_it),
            10 => (Fault::Stall(party), after_it),
            11 => (Fault::Hurry(party), after_it),
            _ => {
                let (length, more) = more.split_first_chunk().unwrap_or((&[0, 0], &[]));
                let length = usize::from(u16::from_le_bytes(*length)).min(more.len());
                let (message, more) = more.split_at(length);
                (Fault::Forge(message.to_vec()), more)
            }
        };
        all.push((step, fault));
        rest = more;
    }
    all
}

/// The key of an owner, by its place.
fn identity(place: usize) -> SigningKey {
    SigningKey::from_bytes(&[place as u8 + 1; 32])
}

/// What the miner and all owners of a run of a protocol agree on.
fn agreement(protocol: Protocol) -> Agreement {
    let identities: Vec<_> = (0..OWNERS).map(|place| Some(identity(place).public())).collect();
    let agreement = plan(protocol).agreement(RunId([7; 16]), "miner", &identities);
    agreement.expect("an agreement")
}

/// The role of a party; an owner has four rows.
fn role(plan: &Plan, party: PartyId, journal: Option<&Faulty>, run: &RunName) -> Result<Party, Error> {
    let (Some(place), Some(journal)) = (usize::from(party.0).checked_sub(1), journal) else {
        return Ok(Miner::party(&plan.miner()));
    };
    let intake = Intake::everything(Arc::clone(plan.schema()), Keep::Bins);
    let rows = [["1", "a"], ["3", "b"], ["5", "a"], ["8", "b"]];
    let table = crate::rows::table(&intake, &rows);
    let random = Randomness::seeded(place as u64);
    let ledger = Ledger::open("d", AddRemove::row(), journal.clone(), random)?;
    Owner::party(plan.owner(place)?, table, ledger, run, Some(identity(place)))
}

/// The miner, party 0, or one of the four owners of a run, in its seat, and their agreement.
pub fn owner(protocol: Protocol, me: PartyId) -> (Agreement, Seat<Party>) {
    let (plan, agreement) = (plan(protocol), agreement(protocol));
    let (record, journal) = (Box::new(MemoryRecord::default()), journal(plan));
    let seat = Seat::take(agreement.clone(), me, record, &|_, _, _| {}, |run| {
        role(plan, me, (me != MINER).then_some(&journal), &run)
    });
    (agreement, seat.expect("a seat"))
}

fn run(protocol: Protocol, faults: &[(u64, Fault)]) {
    let plan = plan(protocol);
    let journals: Vec<Faulty> = (0..OWNERS).map(|_| journal(plan)).collect();
    let simulation = Simulation::of(agreement(protocol), |party, run| {
        let place = usize::from(party.0).checked_sub(1);
        role(plan, party, place.map(|place| &journals[place]), &run)
    });
    let simulation = faults.iter().fold(simulation, |simulation, (at, fault)| {
        simulation.fault(*at, fault.clone())
    });
    let ended = simulation
        .run()
        .expect("parties that were built again say the same");
    // A party that is killed while it handles a deadline, or hears that another is gone, is not built again by the simulation.
    let killed = faults.iter().any(|(_, fault)| matches!(fault, Fault::Crash(_)));
    for error in ended.outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let fine = match error {
            // The second: the miner was made to say that schemas differ.
            Error::Peer(_) | Error::Data(_) => true,
            Error::Journal(e) => killed && e.fault() == JournalFault::Storage,
            _ => false,
        };
        assert!(fine, "{error:?}");
    }
    for journal in &journals {
        let mut paid = BTreeSet::new();
        for entry in journal.entries() {
            if let Event::Spend { what, .. } = entry.event() {
                assert!(paid.insert(what.clone()), "{what} is paid for twice");
            }
        }
    }
}

/// One plan for each protocol.
fn plan(protocol: Protocol) -> &'static Plan {
    static PLANS: [OnceLock<Plan>; 3] = [const { OnceLock::new() }; 3];
    let place = match protocol {
        Protocol::Aggregated => 0,
        Protocol::Averaged => 1,
        Protocol::Chain => 2,
    };
    PLANS[place].get_or_init(|| {
        let trees = Trees::builder().trees(2).leaves(2).calibrate(false);
        let builder = Horizontal::builder()
            .protocol(protocol)
            .absent(1)
            .patience(PATIENCE);
        let builder = match protocol {
            Protocol::Aggregated => builder.colluding(1),
            Protocol::Averaged | Protocol::Chain => builder,
        };
        let builder = builder.trees(trees.build().expect("parameters"));
        let owner = |place| OwnerFacts {
            name: format!("owner {place}"),
            rows_about: 4,
        };
        let spending = Spending {
            epsilon: "4".parse().expect("an ε"),
            delta: "1e-6".parse().expect("a δ"),
        };
        let text = "dataset = \"d\"\n[columns]\nx = { type = \"integer\", min = 0, max = 9 }\n\
                    y = { type = \"label\", values = [\"a\", \"b\"] }\n";
        let schema = Schema::from_toml("schema", text).expect("a schema");
        let owners: Vec<OwnerFacts> = (0..OWNERS).map(owner).collect();
        let horizontal = builder.build().expect("parameters");
        let relation = AddRemove::row().relation();
        let plan = horizontal.plan(&schema, &relation, spending, &owners);
        plan.expect("a plan")
    })
}

/// A journal with room for one run.
fn journal(plan: &Plan) -> Faulty {
    let mut journal = Faulty::default();
    let limit = Event::Limit {
        dataset: "d".into(),
        relation: plan.relation().clone(),
        caps: Caps::from(plan.price()),
        delta: plan.delta(),
    };
    ledger::begin(&mut journal).expect("a new journal");
    ledger::append(&mut journal, limit).expect("a new limit");
    journal
}
