//! A seat at the bank, a seat at the shop, and what is said to them.

use privet::party::{Agreement, MemoryRecord, PartyId, Seat, Sent};
use privet::privacy::account::Caps;
use privet::privacy::{Delta, Ledger, Randomness, Replace};
use privet::setting::vertical::{Alignment, Meeting, Message, Party, Release, Vertical, Wanted};
use privet::wire::{Body, Frame, RunId, Wire};
use privet_testkit::faults::Faulty;

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
    Seat::take(agreement(), PartyId(1), Box::new(record.clone()), &quiet, make)
        .unwrap()
        .0
}

pub(crate) fn at_the_bank(vertical: &Vertical, rows: u64) -> (Seat<Party>, Vec<Sent>) {
    let ids = (*vertical.alignment() == Alignment::Private).then_some("who");
    let own = table(BANK, &bank(0..rows), ids);
    Seat::take(
        agreement(),
        PartyId(0),
        Box::new(MemoryRecord::default()),
        &quiet,
        |_| label_holder(vertical, own),
    )
    .unwrap()
}

pub(crate) fn frame(from: u16, number: u64, message: &Message) -> Vec<u8> {
    let frame = Frame {
        run: RUN,
        from,
        to: 1 - from,
        number,
        body: Body::Message(message.to_bytes()),
    };
    frame.to_bytes()
}

pub(crate) fn hello(vertical: &Vertical, wanted: Wanted, meeting: Meeting) -> Message {
    Message::Hello {
        settings: vertical.shared(),
        wanted,
        meeting,
    }
}

pub(crate) fn message_of(sent: &Sent) -> Body {
    Frame::from_bytes(&sent.bytes).unwrap().body
}

pub(crate) fn released(vertical: &Vertical, rows: u64) -> Release {
    let table = table(SHOP, &shop(0..rows), None);
    keep(vertical, &table, volatile()).unwrap()
}

pub(crate) fn given() -> Vertical {
    builder("1").alignment(Alignment::Given).build().unwrap()
}
