//! How many people a peer can ask about.

use privet::Error;
use privet::party::{MemoryRecord, PartyId, Seat, SeatState};
use privet::privacy::journal::Event;
use privet::setting::vertical::{Alignment, Message, Party, Vertical};
use privet::wire::{Body, Wire};

use crate::vertical::faults::journal;
use crate::vertical::people::{BANK, SHOP, bank, builder, feature_holder, label_holder, shop, table};
use crate::vertical::seats::{agreement, at_the_bank, at_the_shop, frame, message_of, opened, quiet};

fn agreed(most: u64) -> Vertical {
    builder("1").most_ids(most).build().unwrap()
}

/// A greeting that says what the other side wants to hear.
fn saying(settings: &Vertical, hello: &Body) -> Message {
    let Body::Message(bytes) = hello else {
        panic!("a message")
    };
    let Message::Hello { wanted, meeting, .. } = Message::from_bytes(bytes).unwrap() else {
        panic!("a greeting")
    };
    Message::Hello {
        settings: settings.shared(),
        wanted,
        meeting,
    }
}

fn why(seat: Seat<Party>) -> String {
    seat.finish().map(|_| ()).unwrap_err().to_string()
}

/// One offer asks about as many people as it has points, whatever was agreed on.
#[test]
fn an_offer_of_more_ids_than_agreed_is_refused_before_anything_is_written() {
    let (ours, journal) = (agreed(25), journal("shop"));
    let (_, offers) = at_the_bank(&agreed(100), 30);
    let mut seat = at_the_shop(&ours, &journal, &MemoryRecord::default(), 20);
    let hello = saying(&ours, &message_of(&offers[0]));
    let sent = seat.deliver(PartyId(0), &frame(0, 0, &hello), &quiet).unwrap();
    assert_eq!(message_of(&sent[0]), Body::Aborted);
    let leaks = |e: &privet::privacy::journal::Entry| matches!(e.event(), Event::Leak { .. });
    assert!(!journal.entries().iter().any(leaks), "nothing is shown to it");
    let why = why(seat);
    assert!(why.contains("30 items where at most 25"), "{why}");
}

#[test]
fn an_answer_of_more_ids_than_agreed_is_refused() {
    let (ours, theirs) = (agreed(35), agreed(100));
    let (mut seat, offers) = at_the_bank(&ours, 30);
    let mut shop = at_the_shop(&theirs, &journal("shop"), &MemoryRecord::default(), 40);
    let hello = saying(&theirs, &message_of(&offers[0]));
    let answer = shop.deliver(PartyId(0), &frame(0, 0, &hello), &quiet).unwrap();
    seat.deliver(PartyId(1), &answer[0].bytes, &quiet).unwrap();
    assert_eq!(seat.state(), SeatState::Failed);
    let why = why(seat);
    assert!(why.contains("40 items where at most 35"), "{why}");
}

/// Own rows are counted before anything is disclosed or sent.
#[test]
fn a_table_with_more_rows_than_agreed_takes_no_seat() {
    let (vertical, journal) = (agreed(25), journal("shop"));
    let before = journal.entries().len();
    let record = || Box::new(MemoryRecord::default());
    let refused = [
        Seat::take(agreement(), PartyId(1), record(), &quiet, |run| {
            let rows = table(SHOP, &shop(0..26), Some("client"));
            feature_holder(&vertical, rows, opened(&journal), &run)
        })
        .err(),
        Seat::take(agreement(), PartyId(0), record(), &quiet, |_| {
            label_holder(&vertical, table(BANK, &bank(0..26), Some("who")))
        })
        .err(),
    ];
    for refused in refused {
        assert!(
            matches!(&refused, Some(Error::Data(why)) if why.to_string().contains("most_ids = 25") && why.to_string().contains("has 26")),
            "{refused:?}"
        );
    }
    assert_eq!(journal.entries().len(), before);
    assert_eq!(
        at_the_bank(&vertical, 25).0.state(),
        SeatState::Waiting(vec![PartyId(1)])
    );
}

/// Both sides agree on it, and it is not forgotten.
#[test]
fn both_jobs_say_how_many_ids_there_may_be() {
    let (_, offers) = at_the_bank(&agreed(100), 20);
    let mut seat = at_the_shop(&agreed(25), &journal("shop"), &MemoryRecord::default(), 20);
    seat.deliver(PartyId(0), &offers[0].bytes, &quiet).unwrap();
    let why = why(seat);
    assert!(
        why.contains("most_ids = 25 here, and the label holder's job says 100"),
        "{why}"
    );
    let changes = || crate::vertical::people::changes("1").build().unwrap();
    let forgotten = Vertical::builder().desensitisation(changes()).build();
    assert!(
        matches!(&forgotten, Err(Error::Parameter(why)) if why.key() == Some("most_ids") && why.to_string().contains("most_ids = 100000")),
        "{forgotten:?}"
    );
    let given = Vertical::builder()
        .desensitisation(changes())
        .alignment(Alignment::Given);
    assert!(given.build().is_ok(), "rows in order need none");
}
