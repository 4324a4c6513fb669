//! Parties that are killed, and messages that are lost, repeated, reordered, cut, foreign or too early.

use privet::Error;
use privet::model::Model;
use privet::parameters::Builder;
use privet::party::{FrameFault, MemoryRecord, PartyId, Record, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::journal::{Entry, Event};
use privet::privacy::{Delta, Ledger, Neighbours, Randomness, Replace};
use privet::setting::vertical::{Alignment, Budget, Party, Protocol, Vertical};
use privet_testkit::faults::{AppendFault, Faulty};

use crate::vertical::models::trained;
use crate::vertical::people::{
    BANK, CLUB, SHOP, bank, builder, changes, club, feature_holder, label_holder, shop, table, with,
};

const PARTIES: [&str; 3] = ["bank", "shop", "club"];

/// A journal with room for columns of one data set.
pub(crate) fn journal(dataset: &str) -> Faulty {
    let mut journal = Faulty::default();
    privet::privacy::ledger::begin(&mut journal).unwrap();
    let limit = Event::Limit {
        dataset: dataset.into(),
        relation: Replace::row().relation(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    privet::privacy::ledger::append(&mut journal, limit).unwrap();
    journal
}

/// What the parties have, as long as they are not killed for good.
struct World {
    vertical: Vertical,
    journals: Vec<Faulty>,
    with_ids: bool,
}

impl World {
    fn new(vertical: Vertical) -> Self {
        Self {
            with_ids: *vertical.alignment() == Alignment::Private,
            vertical,
            journals: PARTIES.map(journal).into(),
        }
    }

    fn simulation(&self) -> Simulation<'_, Party> {
        let id = |column: &'static str| self.with_ids.then_some(column);
        let numbers = *self.vertical.protocol() == Protocol::AsPublished;
        let schema = move |text: &str| {
            if numbers {
                text.replace("category", "ordinal")
            } else {
                text.into()
            }
        };
        let names = PARTIES.map(String::from).to_vec();
        let people = |start: u64| if self.with_ids { start..start + 80 } else { 0..80 };
        Simulation::new(names, move |party, run| {
            let ledger = |place: usize| {
                let random = Randomness::from_os()?;
                Ledger::open(
                    PARTIES[place],
                    Replace::row(),
                    self.journals[place].clone(),
                    random,
                )
            };
            let vertical = self.vertical.clone();
            match party.0 {
                0 => label_holder(&vertical, table(BANK, &bank(people(0)), id("who"))),
                1 => {
                    let table = table(&schema(SHOP), &shop(people(10)), id("client"));
                    feature_holder(&vertical, table, ledger(1)?, &run)
                }
                _ => {
                    let table = table(CLUB, &club(people(20)), id("member"));
                    feature_holder(&vertical, table, ledger(2)?, &run)
                }
            }
        })
        .unwrap()
    }

    /// What the ledgers say, without what is random in them.
    fn events(&self) -> Vec<Vec<String>> {
        let shown = |entry: &Entry| match entry.event() {
            Event::Begin { .. } => "begin".to_owned(),
            Event::Desensitise { columns, record, .. } => format!("desensitise {columns:?} {record}"),
            Event::Leak { what, to, .. } => format!("leak {what} {to}"),
            other => format!("{other:?}"),
        };
        let all = |journal: &Faulty| journal.entries().iter().map(shown).collect();
        self.journals.iter().map(all).collect()
    }
}

fn ways() -> Vec<Vertical> {
    let small = |vertical: Vertical| {
        let trees = Builder::of(vertical.trees().clone());
        let trees = trees.rounds(3).depth(2).build().unwrap();
        Builder::of(vertical).trees(trees).build().unwrap()
    };
    vec![
        small(builder("2").alignment(Alignment::Private).build().unwrap()),
        small(with(changes("2").budget(Budget::Sample(1))).build().unwrap()),
        small(
            with(changes("2").budget(Budget::Sample(1)))
                .alignment(Alignment::Given)
                .build()
                .unwrap(),
        ),
        small(
            builder("2")
                .alignment(Alignment::Given)
                .protocol(Protocol::AsPublished)
                .build()
                .unwrap(),
        ),
    ]
}

fn frames(vertical: &Vertical) -> u64 {
    let done = World::new(vertical.clone()).simulation().run().unwrap();
    let count = done.traffic.values().map(|edge| edge.frames).sum();
    trained(done);
    count
}

/// A party that is killed before any message, and made again from its table and its record, says the same to the byte (the
/// simulation compares), and nothing is paid or drawn twice.
#[test]
fn restarting_at_every_message_gives_the_same_model_and_the_same_ledger() {
    for vertical in ways() {
        let frames = frames(&vertical);
        assert!(frames >= 4, "{frames}");
        for at in 0..frames {
            for party in [0, 1, 2].map(PartyId) {
                let world = World::new(vertical.clone());
                let simulation = world.simulation().fault(at, FrameFault::Restart(party));
                let records = simulation.records();
                let restarted = trained(simulation.run().unwrap());
                // Without interruption on the same record: the same model, byte for byte.
                let again = World {
                    journals: world.journals.clone(),
                    vertical: vertical.clone(),
                    with_ids: world.with_ids,
                };
                let before = again.events();
                assert_eq!(replayed(&again, &records).to_bytes(), restarted.to_bytes());
                assert_eq!(again.events(), before, "a replay pays nothing");
                for (place, events) in before.iter().enumerate().skip(1) {
                    let charges = events.iter().filter(|e| e.starts_with("desensitise")).count();
                    assert_eq!(charges, 1, "{}", PARTIES[place]);
                    let leaks = events.iter().filter(|e| e.starts_with("leak")).count();
                    assert_eq!(leaks, if world.with_ids { 3 } else { 0 });
                    assert!(!events.iter().any(|e| e.contains("Redraw")));
                }
            }
        }
    }
}

/// All parties go through their whole records again.
fn replayed(world: &World, records: &[MemoryRecord]) -> Box<Model> {
    let mut simulation = world.simulation();
    for (fresh, old) in simulation.records().iter_mut().zip(records) {
        for item in old.items() {
            fresh.append(&item).unwrap();
        }
    }
    simulation = simulation.schedule([1; 32]);
    trained(simulation.run().unwrap())
}

#[test]
fn whatever_happens_to_a_message_is_an_error_that_names_the_party() {
    for vertical in ways() {
        let frames = frames(&vertical);
        for at in 0..frames {
            let faults = [
                FrameFault::Drop,
                FrameFault::Repeat,
                FrameFault::Delay,
                FrameFault::Truncate(0),
                FrameFault::Truncate(30),
                FrameFault::Truncate(59),
                FrameFault::Flip(50),
                FrameFault::Flip(0),
                FrameFault::Foreign,
                FrameFault::Future,
                FrameFault::Forge(vec![]),
                FrameFault::Forge(vec![9, 9, 9]),
                FrameFault::Forge(vec![2, 0, 0, 0, 0, 0, 0, 0, 0]),
            ];
            for fault in faults {
                let world = World::new(vertical.clone());
                let done = world.simulation().fault(at, fault.clone()).run().unwrap();
                let failed: Vec<&Error> = done.outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
                let all: Vec<String> = failed
                    .iter()
                    .chain(&done.late.iter().collect::<Vec<_>>())
                    .map(ToString::to_string)
                    .collect();
                // Where nothing else was on its way, a frame is not overtaken.
                if fault != FrameFault::Delay {
                    assert!(!all.is_empty(), "{fault:?} at {at}");
                }
                for error in failed.iter().copied().chain(&done.late) {
                    let Error::Peer(text) = error else {
                        panic!("{fault:?} at {at}: {error:?}");
                    };
                    assert!(
                        PARTIES.iter().any(|name| text.parties.contains(&(*name).into())),
                        "{text}"
                    );
                }
                for events in world.events().iter().skip(1) {
                    let charges = events.iter().filter(|e| e.starts_with("desensitise")).count();
                    assert!(charges <= 1, "{fault:?} at {at}");
                }
            }
        }
    }
}

/// Whatever ends the process between the payment and the value: nobody has seen it, so it is drawn again, as often as that happens.
/// Once it is kept it never changes.
#[test]
fn a_crash_before_the_value_was_kept_draws_again_and_a_kept_value_stays() {
    use privet::party::{Agreement, Seat, SeatState};
    use privet::wire::RunId;
    let vertical = builder("2").alignment(Alignment::Given).build().unwrap();
    let shop_journal = journal("shop");
    let agreement = Agreement::new(RunId([3; 16]), vec!["bank".into(), "shop".into()]).unwrap();
    let quiet = &|_: &str, _: u64, _: u64| {};
    let own = table(BANK, &bank(0..30), None);
    let (_, hello) = Seat::take(
        agreement.clone(),
        PartyId(0),
        Box::new(MemoryRecord::default()),
        quiet,
        |_| label_holder(&vertical, own),
    )
    .unwrap();
    let attempt = |record: MemoryRecord| {
        let (mut seat, mut sent) =
            Seat::take(agreement.clone(), PartyId(1), Box::new(record), quiet, |run| {
                let random = Randomness::from_os()?;
                let ledger = Ledger::open("shop", Replace::row(), shop_journal.clone(), random)?;
                let table = table(SHOP, &shop(0..30), None);
                feature_holder(&vertical, table, ledger, &run)
            })
            .unwrap();
        if seat.received(PartyId(0)) == 0 {
            sent.extend(seat.deliver(PartyId(0), &hello[0].bytes, quiet).unwrap());
        }
        (seat.state(), sent)
    };
    let kinds = || {
        let entries = shop_journal.entries();
        let count = |wanted: fn(&Event) -> bool| entries.iter().filter(|e| wanted(e.event())).count();
        [
            count(|e| matches!(e, Event::Desensitise { .. })),
            count(|e| matches!(e, Event::Redraw { .. })),
            count(|e| matches!(e, Event::Kept { .. })),
        ]
    };
    // Paid, drawn, not kept: the peer sees one fixed frame, however often.
    let record = MemoryRecord::default();
    shop_journal.fail_at(2, AppendFault::Refused);
    let (state, sent) = attempt(record.clone());
    assert_eq!((state, kinds()), (SeatState::Failed, [1, 0, 0]));
    let aborted = sent[0].bytes.clone();
    assert!(sent.len() == 1 && aborted.len() < 100);
    for again in 1..4 {
        shop_journal.fail_at(2, AppendFault::Refused);
        let (state, sent) = attempt(record.clone());
        assert_eq!((state, kinds()), (SeatState::Failed, [1, again, 0]));
        assert_eq!(sent[0].bytes, aborted);
    }
    // Stored, and nobody was told so: that value is the one.
    shop_journal.fail_at(2, AppendFault::Unacknowledged);
    let (state, _) = attempt(record.clone());
    assert_eq!((state, kinds()), (SeatState::Failed, [1, 4, 1]));
    let (state, sent) = attempt(record.clone());
    assert_eq!((state, kinds()), (SeatState::Finished, [1, 4, 1]));
    // Another run with another record shows the same columns.
    let (state, other) = attempt(MemoryRecord::default());
    assert_eq!((state, kinds()), (SeatState::Finished, [1, 4, 1]));
    assert_eq!(sent, other, "kept, and said again");
}
