//! What parties learn about each other's ledgers, which is nothing, and what their ledgers say was shown.

use privet::Error;
use privet::party::{MemoryRecord, Sent};
use privet::privacy::joint::Leak;
use privet::privacy::journal::{Event, Head, Journal};
use privet::privacy::{Anchor, Certificate, Guarantee, Neighbours, Private, Replace, Unprotected};
use privet::setting::vertical::{
    Alignment, FeatureHolder, LabelHolder, Meeting, Message, Outcome, Protocol, Vertical, Wanted,
};
use privet_testkit::faults::Faulty;

use crate::vertical::faults::journal;
use crate::vertical::people::{BANK, SHOP, bank, builder, rehearse, shop, table};
use crate::vertical::seats::{at_the_bank, at_the_shop, deliver, frame, given, hello, opened, said, take};

/// The certificate that comes with columns, and the one that its owner keeps.
fn sent(journal: &Faulty) -> (Certificate, Certificate) {
    let vertical = given();
    let mut seat = at_the_shop(&vertical, journal, &MemoryRecord::default(), 20);
    let hello = hello(&vertical, Wanted::Columns, Meeting::Given { rows: 20 });
    let sent = deliver(&mut seat, 0, &frame(0, 0, &hello)).unwrap();
    let Message::Columns(release) = said(&sent[0]) else {
        panic!("columns")
    };
    let Outcome::Contributed(own) = seat.finish().unwrap() else {
        panic!("a certificate")
    };
    (release.certificate().clone(), *own)
}

/// Many runs with other parties on the same data set.
fn busy() -> Faulty {
    let journal = journal("shop");
    meet_others(&journal);
    journal
}

fn meet_others(journal: &Faulty) {
    for _ in 0..5 {
        let leak = Leak::new(
            "something",
            "somebody else",
            Anchor::new("alignment#intersection"),
        );
        let mut ledger = opened(journal);
        ledger.disclose(&leak, Private::new(()), 1000).unwrap();
    }
}

#[test]
fn a_partner_cannot_tell_what_else_a_ledger_holds() {
    let shown = |journal: &Faulty| {
        let (mut told, own) = sent(journal);
        assert_eq!((&told.ledger, &told.total), (&Head::empty(), &None));
        assert!(own.total.is_some(), "its owner knows");
        assert!(!told.to_json().contains(&own.ledger.hash));
        // Both are random.
        told.commitment.take().unwrap();
        assert_eq!(std::mem::take(&mut told.runs).len(), 1);
        told
    };
    assert_eq!(shown(&journal("shop")), shown(&busy()));
    // Nor what was written between two runs that use the same columns.
    let journal = journal("shop");
    let (first, _) = sent(&journal);
    meet_others(&journal);
    assert_eq!(sent(&journal).0, first);
}

/// Whoever has the ledger and its key finds where it ended.
#[test]
fn a_commitment_is_to_one_place_and_one_run() {
    let journal = busy();
    let (told, own) = sent(&journal);
    let (again, _) = {
        let other = busy();
        sent(&other)
    };
    let commitment = told.commitment.unwrap();
    let runs = &told.runs;
    let is_to = |head: &Head, dataset, runs: &[String]| commitment.is_to(head, dataset, runs, Faulty::keyed);
    for entry in journal.entries() {
        let head = entry.head();
        assert_eq!(is_to(&head, "shop", runs), head == own.ledger);
    }
    assert!(!is_to(&own.ledger, "ship", runs));
    assert!(!is_to(&own.ledger, "shop", &again.runs));
    assert!(!is_to(&own.ledger, "shop", &[&runs[..], &again.runs].concat()));
    let other_key = |bytes: &[u8]| Faulty::keyed(&[bytes, b"!"].concat());
    assert!(!commitment.is_to(&own.ledger, "shop", runs, other_key));
    assert_ne!(Some(commitment), again.commitment);
}

/// Columns that were released in a run with one label holder come to another one without what the first was shown.
#[test]
fn what_an_earlier_partner_was_shown_is_not_told() {
    let (vertical, journal, record) = (
        builder("1").build().unwrap(),
        journal("shop"),
        MemoryRecord::default(),
    );
    let (mut bank, offers) = at_the_bank(&vertical, 30);
    let mut shop_seat = at_the_shop(&vertical, &journal, &record, 20);
    let answer = deliver(&mut shop_seat, 0, &offers[0].bytes).unwrap();
    let common = deliver(&mut bank, 1, &answer[0].bytes).unwrap();
    let columns_of = |sent: &Sent| {
        let Message::Columns(told) = said(sent) else {
            panic!("columns")
        };
        told
    };
    let first = deliver(&mut shop_seat, 0, &common[0].bytes).unwrap();
    let leaks = |certificate: &Certificate| {
        let shown = |claim: &&privet::privacy::Claim| matches!(claim.guarantee, Guarantee::Simulated { .. });
        certificate.claims.iter().filter(shown).count()
    };
    assert_eq!(leaks(columns_of(&first[0]).certificate()), 1, "of the first run");
    let given = given();
    let (mut seat, _) = take(1, Box::new(MemoryRecord::default()), |run| {
        let rows = table(SHOP, &shop(0..20), None);
        let plan = given.feature_holder(rows.schema())?;
        FeatureHolder::party(plan, rows, opened(&journal), &run)
    })
    .unwrap();
    let hello = hello(&given, Wanted::Columns, Meeting::Given { rows: 20 });
    let sent = deliver(&mut seat, 0, &frame(0, 0, &hello)).unwrap();
    let told = columns_of(&sent[0]);
    assert_eq!(leaks(told.certificate()), 0, "{}", told.certificate());
}

fn permitted(journal: &mut Faulty) -> Unprotected {
    Unprotected::recorded(
        "bank",
        &Replace::row().relation(),
        "a model for its owner",
        journal,
    )
    .unwrap()
}

fn taken(vertical: &Vertical, permission: Unprotected) -> Result<(), Error> {
    let own = table(BANK, &bank(0..30), Some("who"));
    let make = |_| LabelHolder::party(vertical.label_holder(own.schema())?, own, permission);
    take(0, Box::new(MemoryRecord::default()), make).map(drop)
}

/// A label holder whose rows are used as they are shows which of its people the others have, too: its ledger says so before it does.
#[test]
fn a_label_holders_ids_are_not_shown_without_an_entry() {
    let mut books = journal("bank");
    let vertical = builder("1").build().unwrap();
    let schema = table(BANK, &[], None).schema().clone();
    let refused = taken(&vertical, permitted(&mut books));
    assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
    let leaks = vertical.label_holder(&schema).unwrap().leaks();
    let permission = permitted(&mut books).showing(&leaks, &mut books).unwrap();
    let entries = books.read(0).unwrap();
    let shown = entries.iter().filter(|e| matches!(e.event(), Event::Leak { .. }));
    assert_eq!(shown.count(), 2, "how many rows, and which people");
    let certificate = permission.certificate();
    assert!(
        certificate.is_void() && certificate.runs.len() == 2,
        "{certificate}"
    );
    assert!(
        certificate
            .to_string()
            .contains("which of its people all parties have rows of"),
        "{certificate}"
    );
    taken(&vertical, permission).unwrap();
    // Rows in the same order show nothing, and need no entry.
    let given = given();
    assert!(given.label_holder(&schema).unwrap().leaks().is_empty());
    taken(&given, permitted(&mut books)).unwrap();
    let asking = builder("1")
        .alignment(Alignment::Given)
        .protocol(Protocol::AsPublished);
    let asking = asking.build().unwrap().label_holder(&schema).unwrap().leaks();
    assert_eq!(asking.len(), 1, "what the model asks follows from labels");
}

/// Where there is no ledger, the certificate alone says it.
#[test]
fn a_label_holder_without_a_ledger_declares_what_it_shows() {
    let vertical = builder("1").build().unwrap();
    let own = table(BANK, &bank(0..60), Some("who"));
    let model = rehearse(&vertical, own, vec![table(SHOP, &shop(10..70), Some("client"))]);
    let said = model.certificate();
    let claimed = said.claims.iter().any(|claim| match &claim.guarantee {
        Guarantee::Simulated { leakage } => leakage.len() == 2,
        _ => false,
    });
    assert!(claimed && said.is_void(), "{said}");
}
