//! Parties of a secure run, fed with foreign bytes, which may only make them give up.

use std::sync::OnceLock;

use privet::Error;
use privet::data::Schema;
use privet::error::JournalFault;
use privet::parameters::Builder;
use privet::party::{Agreement, Fault, MemoryRecord, PartyId, RunName, Seat, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::signature::SigningKey;
use privet::privacy::{AddRemove, Delta, Ledger, Randomness, ledger};
use privet::setting::secure::{
    AttributeChoice, Classifier, CoefficientRule, CutPlaces, INITIATOR, Initiator, Message, Party, Plan,
    Responder, Secure,
};
use privet::wire::{RunId, Wire};

use crate::faults::Faulty;
use crate::owners::faults;

/// How many kinds of runs there are.
const KINDS: usize = 6;
const NAMES: [&str; 3] = ["ann", "bob", "cem"];

/// The first byte says what the others are: a message, or a run with faults, as in [`horizontal`](crate::owners::horizontal); from 128 on, of three classes.
///
/// A message that is read is written again to the byte. Parties that meet faults end well or say who is at fault, and nothing is written down twice.
pub fn secure(bytes: &[u8]) {
    let Some((kind, rest)) = bytes.split_first() else {
        return;
    };
    let classes = if *kind < 128 { 2 } else { 3 };
    match usize::from(*kind % 128) % (KINDS + 1) {
        0 => {
            if let Ok(message) = Message::from_bytes(rest) {
                assert_eq!(message.to_bytes(), rest);
            }
        }
        kind => run(plan(kind - 1, classes), rest),
    }
}

/// The role of a party; each has a row less than the one before.
fn role(plan: &Plan, party: PartyId, journal: &Faulty, run: &RunName) -> Result<Party, Error> {
    let place = usize::from(party.0);
    let third = if plan.outputs() > 1 { "c" } else { "a" };
    let rows = [
        ["1", "true", "a"],
        ["3", "false", "b"],
        ["5", "true", third],
        ["8", "true", "b"],
    ];
    let table = crate::rows::table(&plan.reads(), &rows[..4 - place]);
    let random = Randomness::seeded(place as u64);
    let ledger = Ledger::open("d", AddRemove::row(), journal.clone(), random)?;
    let identity = Some(identity(place));
    match party == INITIATOR {
        true => Initiator::party(plan.clone(), table, ledger, run, identity),
        false => Responder::party(plan.clone(), table, ledger, run, identity),
    }
}

fn identity(place: usize) -> SigningKey {
    SigningKey::from_bytes(&[place as u8 + 1; 32])
}

/// The agreement of all parties of a plan.
fn agreement(plan: &Plan) -> Agreement {
    let names = &NAMES[..usize::from(plan.parties())];
    let identities: Vec<_> = (0..names.len())
        .map(|place| Some(identity(place).public()))
        .collect();
    plan.agreement(RunId([7; 16]), names, &identities)
        .expect("an agreement")
}

/// A party of a run of a kind, in its seat, and the agreement: kind 1 has three parties, the others two.
pub fn party(kind: usize, me: PartyId) -> (Agreement, Seat<Party>) {
    let plan = plan(kind % KINDS, 2);
    let agreement = agreement(plan);
    let (record, journal) = (Box::new(MemoryRecord::default()), journal(plan));
    let seat = Seat::take(agreement.clone(), me, record, &|_, _, _| {}, |run| {
        role(plan, me, &journal, &run)
    });
    (agreement, seat.expect("a seat"))
}

fn run(plan: &Plan, bytes: &[u8]) {
    let parties = plan.parties();
    let agreement = agreement(plan);
    let journals: Vec<Faulty> = (0..parties).map(|_| journal(plan)).collect();
    let simulation = Simulation::of(agreement, |party, run| {
        role(plan, party, &journals[usize::from(party.0)], &run)
    });
    let all = faults(bytes, parties);
    let simulation = all.iter().fold(simulation, |simulation, (at, fault)| {
        simulation.fault(*at, fault.clone())
    });
    let ended = simulation
        .run()
        .expect("parties that were built again say the same");
    let killed = all.iter().any(|(_, fault)| matches!(fault, Fault::Crash(_)));
    for error in ended.outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let fine = match error {
            // The second: a party was made to say that schemas differ.
            Error::Peer(_) | Error::Data(_) => true,
            Error::Journal(e) => killed && e.fault() == JournalFault::Storage,
            _ => false,
        };
        assert!(fine, "{error:?}");
    }
    for journal in &journals {
        let entries = journal.entries();
        let leaks = entries
            .iter()
            .filter(|entry| matches!(entry.event(), Event::Leak { .. }));
        assert!(
            leaks.count() <= plan.items().len(),
            "an item is written down twice"
        );
    }
}

/// One plan for each kind, of two classes or of three.
fn plan(kind: usize, classes: usize) -> &'static Plan {
    static PLANS: [OnceLock<Plan>; 2 * KINDS] = [const { OnceLock::new() }; 2 * KINDS];
    PLANS[kind + KINDS * (classes - 2)].get_or_init(|| {
        let values = if classes == 2 { "\"a\", \"b\"" } else { "\"a\", \"b\", \"c\"" };
        let text = format!(
            "dataset = \"d\"\n[columns]\nx = {{ type = \"number\", min = 0, max = 9, bins = 8 }}\nz = {{ type = \"flag\" }}\n\
             y = {{ type = \"label\", values = [{values}] }}\n"
        );
        let schema = Schema::from_toml("schema", &text).expect("a schema");
        let builder: Builder<Secure> = Secure::builder().rounds(2).bins(4);
        let (parties, builder) = match kind {
            0 => (2, builder),
            1 => (3, builder),
            2 => (2, builder.depth(2).attribute(AttributeChoice::All)),
            3 => (
                2,
                builder
                    .attribute(AttributeChoice::Rendezvous)
                    .coefficient(CoefficientRule::Rounded)
                    .stop_at(0.1),
            ),
            4 => (
                2,
                builder
                    .attribute(AttributeChoice::RendezvousByHalves)
                    .thresholds(CutPlaces::Data)
                    .retry(true),
            ),
            _ => (2, builder.classifier(Classifier::Joint).attribute(AttributeChoice::All)),
        };
        let secure = builder.build().expect("parameters");
        secure.plan_for(parties, &schema).expect("a plan")
    })
}

fn journal(plan: &Plan) -> Faulty {
    let mut journal = Faulty::default();
    let limit = Event::Limit {
        dataset: "d".into(),
        relation: plan.relation().clone(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    ledger::begin(&mut journal).expect("a new journal");
    ledger::append(&mut journal, limit).expect("a new limit");
    journal
}
