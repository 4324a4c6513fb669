//! Parties that are killed, and messages that are lost, repeated, reordered, cut, foreign or too early.

use std::sync::Arc;

use privet::data::{Intake, Keep, Schema};
use privet::model::Model;
use privet::parameters::Builder;
use privet::party::{MemoryRecord, PartyId, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::journal::{Entry, Event};
use privet::privacy::{Delta, Ledger, Neighbours, Randomness, Replace};
use privet::setting::vertical::{Alignment, Budget, LabelHolder, Outcome, Party, Protocol, Vertical};
use privet_testkit::enumerate::{self, Expectations, Expected, Records};
use privet_testkit::faults::{AppendFault, Faulty};
use privet_testkit::skipped::full;

use crate::vertical::models::trained;
use crate::vertical::people::{
    BANK, CLUB, SHOP, bank, builder, changes, club, epsilon, feature_holder, joint, label_holder, leave,
    read, rehearse, shop, table, with,
};
use crate::vertical::seats::{deliver, take};

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

/// What the label holder does.
#[derive(Clone)]
enum Goal {
    Train,
    TrainOnNoisyLabels,
    Predict { model: Box<Model>, branches: bool },
}

/// What the parties have, as long as they are not killed for good. Their draws are seeded, so that results can be compared between runs.
struct World {
    vertical: Vertical,
    goal: Goal,
    journals: Vec<Faulty>,
    with_ids: bool,
}

impl World {
    fn new(vertical: Vertical, goal: Goal) -> Self {
        Self {
            with_ids: *vertical.alignment() == Alignment::Private,
            vertical,
            goal,
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
        // Branches are asked of one feature holder only.
        let two = matches!(&self.goal, Goal::Predict { branches: true, .. });
        let names = PARTIES[..if two { 2 } else { 3 }].iter().map(ToString::to_string);
        let names = names.collect();
        let people = |start: u64| if self.with_ids { start..start + 25 } else { 0..25 };
        Simulation::new(names, move |party, run| {
            let ledger = |place: usize| {
                let random = Randomness::seeded(place as u64);
                Ledger::open(
                    PARTIES[place],
                    Replace::row(),
                    self.journals[place].clone(),
                    random,
                )
            };
            let vertical = self.vertical.clone();
            match party.0 {
                0 => {
                    let own = table(BANK, &bank(people(0)), id("who"));
                    match &self.goal {
                        Goal::Train => label_holder(&vertical, own),
                        Goal::TrainOnNoisyLabels => {
                            let own = table(&without_age(), &bank(people(0)), id("who"));
                            let plan = vertical.label_holder(own.schema())?;
                            LabelHolder::with_noisy_labels(plan, own, ledger(0)?, &run)
                        }
                        Goal::Predict { model, branches } => {
                            let schema = Arc::new(Schema::from_toml("bank", BANK)?);
                            let plan = vertical.label_holder(&schema)?;
                            let intake = Intake::features_only(schema, Keep::Bins);
                            let own = read(intake, &bank(people(0)), id("who"));
                            LabelHolder::predicting(plan, own, (**model).clone(), *branches, leave())
                        }
                    }
                }
                1 => {
                    let table = table(&schema(SHOP), &shop(people(5)), id("client"));
                    feature_holder(&vertical, table, ledger(1)?, &run)
                }
                _ => {
                    let table = table(CLUB, &club(people(10)), id("member"));
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
        // A seed voids every run, which is written whenever a ledger is opened.
        let counts = |entry: &&Entry| !matches!(entry.event(), Event::Void { .. });
        let all = |journal: &Faulty| journal.entries().iter().filter(counts).map(shown).collect();
        self.journals.iter().map(all).collect()
    }
}

/// Without the label holder's own column, which stays where the label is.
fn without_age() -> String {
    BANK.replace(
        "age = { type = \"integer\", min = 18, max = 90 }",
        "age = { type = \"skip\" }",
    )
}

/// Every way of this setting: how rows meet, what is released, what the label holder does.
fn ways() -> Vec<(Vertical, Goal)> {
    let small = |vertical: Vertical| {
        let trees = Builder::of(vertical.trees().clone());
        let trees = trees.rounds(3).depth(2).build().unwrap();
        Builder::of(vertical).trees(trees).build().unwrap()
    };
    let private = small(builder("2").alignment(Alignment::Private).build().unwrap());
    let sampled = || with(changes("2").budget(Budget::Sample(1)));
    let published = builder("2")
        .alignment(Alignment::Given)
        .protocol(Protocol::AsPublished);
    let noisy = builder("2").label_epsilon(epsilon("2"));
    let train = World::new(private.clone(), Goal::Train);
    let of_three = trained(train.simulation().run().unwrap());
    let own = table(BANK, &bank(0..50), Some("who"));
    let of_two = rehearse(&private, own, vec![table(SHOP, &shop(0..50), Some("client"))]);
    let predict = |model, branches| Goal::Predict { model, branches };
    vec![
        (private.clone(), Goal::Train),
        (small(sampled().build().unwrap()), Goal::Train),
        (
            small(sampled().alignment(Alignment::Given).build().unwrap()),
            Goal::Train,
        ),
        (small(published.build().unwrap()), Goal::Train),
        (small(noisy.build().unwrap()), Goal::TrainOnNoisyLabels),
        (private.clone(), predict(of_three, false)),
        (private, predict(Box::new(of_two), true)),
    ]
}

impl enumerate::World for World {
    type Role = Party;

    fn again(&self) -> Self {
        Self::new(self.vertical.clone(), self.goal.clone())
    }

    fn simulation(&self) -> Simulation<'_, Party> {
        World::simulation(self)
    }

    fn shown(&self, output: &Outcome) -> Vec<u8> {
        match output {
            Outcome::Trained { model, rows } => [model.to_bytes(), rows.to_le_bytes().into()].concat(),
            Outcome::Predicted { rows, predictions } => format!("{rows:?} {:?}", predictions.scores()).into(),
            Outcome::Contributed(certificate) => certificate.to_json().into_bytes(),
        }
    }

    /// Without what is drawn anew in every run: the order of rows, names of runs and heads of ledgers.
    fn compared(&self, output: &Outcome) -> Vec<u8> {
        let score = |score: &f64| format!("{score:.6}");
        let text = match output {
            Outcome::Trained { model, rows } => {
                let schema = model.schema();
                let people: Vec<String> = joint(0..100, schema);
                let intake = Intake::features_only(Arc::new(schema.clone()), Keep::Bins);
                let cells = read(intake, &people, None);
                let scores = cells
                    .cells()
                    .as_ref()
                    .map(|cells| model.predict_cells(cells).unwrap());
                let scores = leave().reveal(scores);
                let scores: Vec<String> = scores.scores().iter().map(score).collect();
                format!("{rows} {scores:?}")
            }
            Outcome::Predicted { rows, predictions } => {
                let scores = predictions.scores().iter().map(score);
                let mut all: Vec<(usize, String)> = rows.iter().copied().zip(scores).collect();
                all.sort();
                format!("{all:?}")
            }
            Outcome::Contributed(certificate) => format!("{:?}", certificate.claims),
        };
        text.into_bytes()
    }

    fn expects(&self) -> Expectations {
        Expectations {
            drop: Expected::Ended,
            repeat: Expected::Ended,
            truncate: Expected::Ended,
            flip: Expected::Ended,
            foreign: Expected::Ended,
            future: Expected::Ended,
            forge: Expected::Ended,
            // A party waits for an answer before it says more, and nobody has a deadline.
            delay: Expected::Nothing,
            hurry: Expected::Nothing,
            // Between two parties nothing can overtake anything else.
            postpone: match self.simulation().records().len() {
                2 => Expected::Nothing,
                _ => Expected::Same,
            },
            disconnect: Expected::Same,
            restart: Expected::Same,
            crash: Expected::Same,
            stall: Expected::Same,
            // A party that is no longer needed may go.
            leave: Expected::Named,
            come_back: Expected::Named,
        }
    }

    fn check(&self, all_ended: bool) {
        let parties = self.simulation().records().len();
        for (place, events) in self.events().iter().enumerate().take(parties).skip(1) {
            let count = |what: &str| events.iter().filter(|e| e.starts_with(what)).count();
            let (charges, leaks) = (count("desensitise"), count("leak"));
            assert!(charges <= 1, "{}: {events:?}", PARTIES[place]);
            if all_ended {
                assert_eq!(charges, 1, "{}", PARTIES[place]);
                assert_eq!(leaks, if self.with_ids { parties } else { 0 });
            }
        }
    }

    fn ledgers(&self) -> Vec<String> {
        self.events().concat()
    }
}

/// A transport drives each party on a thread of its own.
#[test]
fn seats_can_be_moved_to_other_threads() {
    fn send<T: Send>() {}
    send::<privet::party::Seat<Party>>();
}

/// Every fault at every step of every party. A party that is killed, at whatever moment, and made again from its table and its
/// record, says the same to the byte (the simulation compares), and nothing is paid or drawn twice.
#[test]
fn every_fault_at_every_step_ends_well_or_names_a_party() {
    // The first way has the most messages; the long tests go through all, and through whole records, too.
    let (most, kinds, each) = if full() { (usize::MAX, 2, 1) } else { (1, 1, 1) };
    for (vertical, goal) in ways().into_iter().take(most) {
        for records in [Records::Checkpoints, Records::Whole].into_iter().take(kinds) {
            let runs = enumerate::enumerate(&World::new(vertical.clone(), goal.clone()), records, each);
            assert!(runs > 100, "{runs}");
        }
    }
}

/// Whatever ends the process between the payment and the value: nobody has seen it, so it is drawn again, as often as that happens.
/// Once it is kept it never changes.
#[test]
fn a_crash_before_the_value_was_kept_draws_again_and_a_kept_value_stays() {
    use privet::party::SeatState;
    let vertical = builder("2").alignment(Alignment::Given).build().unwrap();
    let shop_journal = journal("shop");
    let own = table(BANK, &bank(0..30), None);
    let (_, hello) = take(0, Box::new(MemoryRecord::default()), |_| {
        label_holder(&vertical, own)
    })
    .unwrap();
    let attempt = |record: MemoryRecord| {
        let (mut seat, mut sent) = take(1, Box::new(record), |run| {
            let random = Randomness::from_os()?;
            let ledger = Ledger::open("shop", Replace::row(), shop_journal.clone(), random)?;
            let table = table(SHOP, &shop(0..30), None);
            feature_holder(&vertical, table, ledger, &run)
        })
        .unwrap();
        if seat.received(PartyId(0)) == 0 {
            sent.extend(deliver(&mut seat, 0, &hello[0].bytes).unwrap());
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
