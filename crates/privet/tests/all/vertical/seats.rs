//! A seat at the bank, a seat at the shop, and what is said to them.

use privet::Error;
use privet::party::{Agreement, MemoryRecord, PartyId, Record, RunName, Seat, Sent};
use privet::privacy::account::Caps;
use privet::privacy::{Delta, Ledger, Randomness, Replace};
use privet::setting::vertical::{Alignment, Meeting, Message, Party, Release, Vertical, Wanted};
use privet::wire::{Body, Frame, RunId, Wire};
use privet_testkit::faults::Faulty;
pub(crate) use privet_testkit::parties::body as message_of;
use privet_testkit::parties::{framed, sent};

use crate::vertical::people::{BANK, SHOP, bank, builder, feature_holder, keep, label_holder, shop, table};

pub(crate) const RUN: RunId = RunId([9; 16]);

pub(crate) fn quiet(_: &str, _: u64, _: u64) {}

pub(crate) fn agreement() -> Agreement {
    Agreement::new(RUN, vec!["bank".into(), "shop".into()]).unwrap()
}

pub(crate) fn opened(journal: &Faulty) -> Ledger<Replace> {
    Ledger::open(
        "shop",
        Replace::row(),
        journal.clone(),
        Randomness::from_os().unwrap(),
    )
    .unwrap()
}

pub(crate) fn volatile() -> Ledger<Replace> {
    Ledger::volatile(
        Replace::row(),
        Caps::ZERO,
        Delta::ZERO,
        Randomness::from_os().unwrap(),
    )
    .unwrap()
}

/// A seat at the shop, whose ledger is kept.
pub(crate) fn at_the_shop(
    vertical: &Vertical,
    journal: &Faulty,
    record: &MemoryRecord,
    rows: u64,
) -> Seat<Party> {
    let ids = (*vertical.alignment() == Alignment::Private).then_some("client");
    let make = |run| {
        let table = table(SHOP, &shop(0..rows), ids);
        feature_holder(vertical, table, opened(journal), &run)
    };
    take(1, Box::new(record.clone()), make).unwrap().0
}

/// A seat, and all that it has said, as to a peer that has heard nothing yet.
pub(crate) fn take(
    me: u16,
    record: Box<dyn Record>,
    make: impl FnOnce(RunName) -> Result<Party, Error>,
) -> Result<(Seat<Party>, Vec<Sent>), Error> {
    let mut seat = Seat::take(agreement(), PartyId(me), record, &quiet, make)?;
    let greeting = Frame {
        agreement: agreement().digest(),
        from: 1 - me,
        to: me,
        number: 0,
        acknowledged: 0,
        body: Body::Greeting,
    };
    seat.deliver(PartyId(1 - me), greeting.to_bytes(), &quiet)?;
    let said = sent(&mut seat);
    Ok((seat, said))
}

/// What a seat says to a frame.
pub(crate) fn deliver(seat: &mut Seat<Party>, from: u16, bytes: &[u8]) -> Result<Vec<Sent>, Error> {
    seat.deliver(PartyId(from), bytes.to_vec(), &quiet)?;
    Ok(sent(seat))
}

/// The message of a frame.
pub(crate) fn said(sent: &Sent) -> Message {
    let Body::Part { bytes, .. } = message_of(sent) else {
        panic!("it gave up")
    };
    Message::from_bytes(&bytes).unwrap()
}

pub(crate) fn at_the_bank(vertical: &Vertical, rows: u64) -> (Seat<Party>, Vec<Sent>) {
    let ids = (*vertical.alignment() == Alignment::Private).then_some("who");
    let own = table(BANK, &bank(0..rows), ids);
    take(0, Box::new(MemoryRecord::default()), |_| {
        label_holder(vertical, own)
    })
    .unwrap()
}

pub(crate) fn frame(from: u16, number: u64, message: &Message) -> Vec<u8> {
    framed(&agreement(), from, 1 - from, number, message.to_bytes())
}

pub(crate) fn hello(vertical: &Vertical, wanted: Wanted, meeting: Meeting) -> Message {
    Message::Hello {
        settings: vertical.shared(),
        wanted,
        meeting,
    }
}

pub(crate) fn released(vertical: &Vertical, rows: u64) -> Release {
    let table = table(SHOP, &shop(0..rows), None);
    keep(vertical, &table, volatile()).unwrap()
}

pub(crate) fn given() -> Vertical {
    builder("1").alignment(Alignment::Given).build().unwrap()
}
