//! What was paid for, drawn, shown and promised, whatever a peer, a crash or a second process does.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use privet::Error;
use privet::error::JournalFault;
use privet::party::{Item, MemoryRecord, Record, SeatState};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::{AddRemove, Delta, Ledger, Neighbours, Randomness, Replace};
use privet::setting::vertical::{FeatureHolder, LabelHolder, Meeting, Message, Outcome, Wanted};
use privet::wire::Body;
use privet_testkit::faults::Faulty;

use crate::vertical::faults::journal;
use crate::vertical::people::{
    BANK, SHOP, bank, builder, feature_holder, keep, label_holder, rehearse, shop, table,
};
use crate::vertical::seats::{
    at_the_bank, at_the_shop, deliver, frame, given, hello, message_of, opened, released, said, take,
    volatile,
};

/// A budget for single rows says nothing about people who have several.
#[test]
fn a_budget_that_covers_less_than_the_schema_is_refused() {
    let schema = SHOP.replace(
        "dataset = \"shop\"",
        "dataset = \"shop\"\nunit = \"client\"\nrows_per_unit = 5",
    );
    let vertical = given();
    let record = || Box::new(MemoryRecord::default());
    let rows = [shop(0..5), shop(0..5)].concat();
    let shop = || table(&schema, &rows, None);
    let kept = keep(&vertical, &shop(), volatile(), record());
    assert!(
        matches!(kept, Err(Error::Misuse(_))),
        "{}",
        kept.unwrap().certificate()
    );
    let seat = take(1, record(), |run| {
        feature_holder(&vertical, shop(), volatile(), &run)
    });
    assert!(matches!(seat.err(), Some(Error::Misuse(_))));
}

/// Keeps nothing but what was received.
struct Forgetful(MemoryRecord);

impl Record for Forgetful {
    fn read(&mut self, place: u64) -> Result<Option<Item>, Error> {
        self.0.read(place)
    }

    fn append(&mut self, items: Vec<Item>) -> Result<(), Error> {
        match &items[..] {
            [.., Item::Once { .. }] => Err(Error::journal(JournalFault::Full, "the disk is full")),
            _ => self.0.append(items),
        }
    }

    fn replace(&mut self, checkpoint: Item) -> Result<(), Error> {
        self.0.replace(checkpoint)
    }
}

/// Columns that were paid for when rows are replaced are taken up under a budget for rows that come and go.
#[test]
fn a_second_draw_is_under_the_relation_of_the_first() {
    let mut journal = journal("shop");
    let limit = Event::Limit {
        dataset: "shop".into(),
        relation: AddRemove::row().relation(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    privet::privacy::ledger::append(&mut journal, limit).unwrap();
    let (vertical, record) = (given(), MemoryRecord::default());
    let table = table(SHOP, &shop(0..9), None);
    let lost = keep(
        &vertical,
        &table,
        opened(&journal),
        Box::new(Forgetful(record.clone())),
    );
    assert!(matches!(lost, Err(Error::Journal(_))));
    let hiding = Ledger::open("shop", AddRemove::row(), journal, Randomness::from_os().unwrap()).unwrap();
    let again = keep(&vertical, &table, hiding, Box::new(record));
    assert!(
        matches!(again, Err(Error::Budget(_))),
        "{}",
        again.unwrap().certificate()
    );
}

/// A record during whose writing something else happens.
struct Meanwhile<F>(MemoryRecord, F);

impl<F: FnMut() + Send> Record for Meanwhile<F> {
    fn read(&mut self, place: u64) -> Result<Option<Item>, Error> {
        self.0.read(place)
    }

    fn append(&mut self, items: Vec<Item>) -> Result<(), Error> {
        if matches!(items[..], [.., Item::Once { .. }]) {
            (self.1)();
        }
        self.0.append(items)
    }

    fn replace(&mut self, checkpoint: Item) -> Result<(), Error> {
        self.0.replace(checkpoint)
    }
}

/// A journal that one at a time can have, as a file with a lock.
#[derive(Clone)]
struct Locked(Faulty, Arc<AtomicU32>);

struct Holding(Locked);

impl Locked {
    fn open(&self) -> Option<Holding> {
        let free = self.1.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
        free.ok().map(|_| Holding(self.clone()))
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        self.0.1.store(0, Ordering::SeqCst);
    }
}

impl privet::privacy::journal::Journal for Holding {
    fn read(&mut self) -> Result<Vec<privet::privacy::journal::Entry>, Error> {
        self.0.0.read()
    }

    fn append(&mut self, entry: &privet::privacy::journal::Entry) -> Result<(), Error> {
        self.0.0.append(entry)
    }

    fn is_durable(&self) -> bool {
        true
    }
}

/// Two processes with one record and one ledger, which only one of them can have at a time: the second comes after the first has
/// drawn and before it has written that down.
#[test]
fn two_processes_do_not_draw_one_column_each() {
    let journal = Locked(journal("shop"), Arc::default());
    let record = MemoryRecord::default();
    let released = move |journal: Holding, record: Box<dyn Record>| {
        let ledger = Ledger::open("shop", Replace::row(), journal, Randomness::from_os().unwrap()).unwrap();
        let table = table(SHOP, &shop(0..200), None);
        keep(&given(), &table, ledger, record)
    };
    let other = Arc::new(std::sync::Mutex::new(None));
    let (shared, kept, locked) = (Arc::clone(&other), record.clone(), journal.clone());
    let meanwhile = Meanwhile(record, move || {
        if let Some(held) = locked.open() {
            *shared.lock().unwrap() = released(held, Box::new(kept.clone())).ok();
        }
    });
    let first = released(journal.open().unwrap(), Box::new(meanwhile)).ok();
    let second = other.lock().unwrap().take();
    if let (Some(first), Some(second)) = (first, second) {
        assert!(first == second, "one payment, two draws, and both can be sent");
    }
}

/// Ids are shown for columns that can leave, and not for nothing.
#[test]
fn nobody_meets_for_columns_that_have_left() {
    let (vertical, journal) = (builder("1").build().unwrap(), journal("shop"));
    let table = table(SHOP, &shop(0..20), None);
    keep(
        &vertical,
        &table,
        opened(&journal),
        Box::new(MemoryRecord::default()),
    )
    .unwrap();
    let mut seat = at_the_shop(&vertical, &journal, &MemoryRecord::default(), 20);
    let (_, offers) = at_the_bank(&vertical, 30);
    let sent = deliver(&mut seat, 0, &offers[0].bytes).unwrap();
    assert_eq!(message_of(&sent[0]), Body::Aborted);
    assert!(
        !journal
            .entries()
            .iter()
            .any(|e| matches!(e.event(), Event::Leak { .. }))
    );
    assert!(matches!(seat.finish(), Err(Error::Budget(_))));
}

/// A label holder that finds nobody, or says so, does not make columns leave that nobody gets.
#[test]
fn columns_do_not_leave_for_nobody() {
    let (vertical, journal) = (builder("1").build().unwrap(), journal("shop"));
    let mut seat = at_the_shop(&vertical, &journal, &MemoryRecord::default(), 20);
    // The meeting as the label holder would have it, with nobody the shop knows.
    let (_, offers) = {
        let own = table(BANK, &bank(500..510), Some("who"));
        take(0, Box::new(MemoryRecord::default()), |_| {
            label_holder(&vertical, own)
        })
        .unwrap()
    };
    let answer = deliver(&mut seat, 0, &offers[0].bytes).unwrap();
    let Message::Answer(answer) = said(&answer[0]) else {
        panic!()
    };
    // No place at all, under the seal of this exchange.
    let (head, seal) = (&answer[..41], &answer[answer.len() - 32..]);
    let mut common = head.to_vec();
    common[8] = 3;
    common.extend(0_u32.to_le_bytes());
    let sealed = <sha2::Sha256 as sha2::Digest>::digest([seal, &common].concat());
    common.extend(sealed);
    let sent = deliver(&mut seat, 0, &frame(0, 1, &Message::Common(common))).unwrap();
    assert_eq!(message_of(&sent[0]), Body::Aborted);
    let left = |e: &privet::privacy::journal::Entry| matches!(e.event(), Event::Desensitise { .. });
    assert!(!journal.entries().iter().any(left));
}

/// Columns that were kept under a ledger which nobody keeps are not recorded, whatever ledger a later run has.
#[test]
fn what_was_never_recorded_is_not_called_recorded() {
    let vertical = given();
    let rows = shop(0..20);
    let shop = || table(SHOP, &rows, None);
    let release = released(&vertical, 20);
    assert!(!release.certificate().recorded);
    let journal = journal("shop");
    let (mut seat, _) = take(1, Box::new(MemoryRecord::default()), |run| {
        FeatureHolder::kept(
            vertical.feature_holder(shop().schema())?,
            release,
            shop(),
            opened(&journal),
            &run,
        )
    })
    .unwrap();
    let hello = hello(&vertical, Wanted::Columns, Meeting::Given { rows: 20 });
    deliver(&mut seat, 0, &frame(0, 0, &hello)).unwrap();
    let Outcome::Contributed(certificate) = seat.finish().unwrap() else {
        panic!()
    };
    assert!(!certificate.recorded, "{certificate}");
}

/// A run that is taken up again with other people would show them, and nobody would have written that down.
#[test]
fn a_run_is_not_taken_up_with_another_table() {
    let (vertical, journal, record) = (
        builder("1").build().unwrap(),
        journal("shop"),
        MemoryRecord::default(),
    );
    let (_, offers) = at_the_bank(&vertical, 30);
    let mut seat = at_the_shop(&vertical, &journal, &record, 20);
    let first = deliver(&mut seat, 0, &offers[0].bytes).unwrap();
    let taken = |rows: u64| {
        let make = |run| {
            let table = table(SHOP, &shop(0..rows), Some("client"));
            feature_holder(&vertical, table, opened(&journal), &run)
        };
        take(1, Box::new(record.clone()), make).unwrap().1
    };
    assert_eq!(taken(20), first);
    let other = taken(25);
    assert_eq!(other[0], first[0], "what was said before the restart");
    assert_eq!(other.len(), 2, "five people more are shown");
    assert_eq!(message_of(&other[1]), Body::Aborted);
}

/// With labels that change and no other columns, a table that has grown does not make the label holder panic.
#[test]
fn a_table_that_has_grown_is_no_panic() {
    let schema = BANK.replace(
        "age = { type = \"integer\", min = 18, max = 90 }",
        "age = { type = \"skip\" }",
    );
    let vertical = builder("1")
        .label_epsilon(crate::vertical::people::epsilon("1"))
        .build()
        .unwrap();
    let (books, record) = (journal("bank"), MemoryRecord::default());
    let taken = |rows: u64| {
        let make = |run| {
            let ledger = Ledger::open("bank", Replace::row(), books.clone(), Randomness::from_os()?)?;
            let own = table(&schema, &bank(0..rows), Some("who"));
            let plan = vertical.label_holder(own.schema())?;
            LabelHolder::with_noisy_labels(plan, own, ledger, &run)
        };
        take(0, Box::new(record.clone()), make).unwrap()
    };
    taken(20);
    let (mut bank, offers) = taken(30);
    if bank.state() == SeatState::Failed {
        return;
    }
    let mut shop = at_the_shop(&vertical, &journal("shop"), &MemoryRecord::default(), 40);
    let answer = deliver(&mut shop, 0, &offers[0].bytes).unwrap();
    deliver(&mut bank, 1, &answer[0].bytes).unwrap();
    assert_eq!(bank.state(), SeatState::Failed);
}

/// The club is told which of its people the shop has, too: the shop's ledger and certificate say so.
#[test]
fn what_other_feature_holders_learn_is_written_down() {
    let vertical = builder("1").build().unwrap();
    let own = table(BANK, &bank(0..60), Some("who"));
    let others = vec![
        table(SHOP, &shop(10..70), Some("client")),
        table(
            crate::vertical::people::CLUB,
            &crate::vertical::people::club(20..80),
            Some("member"),
        ),
    ];
    let model = rehearse(&vertical, own, others);
    let said = model.certificate().parties[0].certificate.to_string();
    assert!(said.contains("feature holder"), "{said}");
}
