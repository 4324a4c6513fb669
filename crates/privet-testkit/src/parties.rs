//! Parties fed with foreign bytes, which may only make them give up.

use std::collections::BTreeMap;
use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};
use privet::party::{Agreement, Item, MemoryRecord, PartyId, Role, Seat, SeatState, Sent};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::{Delta, Ledger, Neighbours, Randomness, Relation, Replace, Unprotected, ledger};
use privet::setting::plain::Trees;
use privet::setting::vertical::{
    Alignment, Desensitisation, FeatureHolder, LabelHolder, Message, Party, Protocol, Vertical,
};
use privet::wire::{Body, Frame, RunId, Wire};

use crate::faults::Faulty;

/// All frames that a seat has to send now.
pub fn sent<R: Role>(seat: &mut Seat<R>) -> Vec<Sent> {
    std::iter::from_fn(|| seat.next_frame()).collect()
}

/// A message in a frame.
pub fn framed(agreement: &Agreement, from: u16, to: u16, number: u64, message: Vec<u8>) -> Vec<u8> {
    let frame = Frame {
        agreement: agreement.digest(),
        from,
        to,
        number,
        acknowledged: 0,
        body: Body::message(message),
    };
    frame.to_bytes()
}

/// What a frame to be sent carries.
pub fn body(sent: &Sent) -> Body {
    Frame::from_bytes(sent.bytes.clone()).expect("a frame").body
}

/// A frame: what is read is written again to the byte.
pub fn frame(bytes: &[u8]) {
    if let Ok(frame) = Frame::from_bytes(bytes.to_vec()) {
        assert_eq!(frame.to_bytes(), bytes);
    }
}

/// An item of a record.
pub fn record(bytes: &[u8]) {
    if let Ok(item) = Item::from_bytes(bytes) {
        assert_eq!(item.to_bytes(), bytes);
    }
}

/// A message of the vertical setting.
pub fn message(bytes: &[u8]) {
    if let Ok(message) = Message::from_bytes(bytes) {
        assert_eq!(message.to_bytes(), bytes);
    }
}

/// Messages, each after its length in two bytes, to a party whose kind the first byte says; the last lengths stand for other frames
/// and events. The party ends well or gives up, and then says no more than that. Killed and built again it says the same again.
pub fn seat(bytes: &[u8]) {
    let Some((kind, mut rest)) = bytes.split_first() else {
        return;
    };
    let (record, journal) = (MemoryRecord::default(), journal());
    let Ok((agreement, mut seat)) = party(*kind, &record, &journal) else {
        return;
    };
    let me = PartyId(u16::from(kind % 2));
    let peer = PartyId(1 - me.0);
    let quiet = &|_: &str, _: u64, _: u64| {};
    let (mut number, mut waits) = (0, true);
    let mut said_before = BTreeMap::new();
    let other = |body, number, acknowledged| Frame {
        agreement: agreement.digest(),
        from: peer.0,
        to: me.0,
        number,
        acknowledged,
        body,
    };
    while let Some(length) = taken::<2>(&mut rest).map(u16::from_le_bytes) {
        let mut count = || taken::<1>(&mut rest).map_or(0, |[count]| u64::from(count));
        let frame = match length {
            0xffff => other(Body::Greeting, count(), count()).to_bytes(),
            0xfffe => other(Body::Acknowledged, 0, count()).to_bytes(),
            0xfffc => {
                seat.gone(peer, quiet);
                continue;
            }
            0xfffb => other(Body::Aborted, number, 0).to_bytes(),
            0xfffa => {
                // Killed, and built again.
                let Ok((_, again)) = party(*kind, &record, &journal) else {
                    return;
                };
                seat = again;
                number = seat.received(peer);
                other(Body::Greeting, 0, 0).to_bytes()
            }
            0xfff9 => {
                // A part of a long message, as it follows or not.
                let (total, at, part) = (count() << 18, count() << 20, count() == 0);
                number += u64::from(part);
                let bytes = vec![7; total.saturating_sub(at).min(1 << 20) as usize];
                other(Body::Part { total, at, bytes }, number - u64::from(part), 0).to_bytes()
            }
            0xfff8 => {
                // From now on it does one piece of its work at a time.
                waits = false;
                seat.work(quiet);
                continue;
            }
            0xfffd => {
                let length = taken::<2>(&mut rest).map_or(0, u16::from_le_bytes);
                cut(&mut rest, length).to_vec()
            }
            length => {
                number += 1;
                let message = cut(&mut rest, length).to_vec();
                framed(&agreement, peer.0, me.0, number - 1, message)
            }
        };
        match seat.deliver(peer, frame, quiet) {
            Err(Error::Misuse(_)) if !waits && seat.state() == SeatState::Working => continue,
            Err(_) => break,
            Ok(()) => {}
        }
        let said = sent(&mut seat);
        for said in &said {
            let frame = Frame::from_bytes(said.bytes.clone()).expect("a frame");
            if let Body::Part { .. } = frame.body {
                let before = said_before
                    .entry(frame.number)
                    .or_insert_with(|| frame.body.clone());
                assert_eq!(*before, frame.body, "it says something else");
            }
        }
        if seat.state() == SeatState::Failed
            && let Some(last) = said.last()
        {
            assert_eq!(body(last), Body::Aborted);
        }
        while waits && seat.state() == SeatState::Working {
            seat.work(quiet);
        }
    }
    if seat.state() == SeatState::Working {
        return;
    }
    if let Err(error) = seat.finish() {
        let fine = matches!(
            error,
            Error::Peer(_) | Error::Parameter(_) | Error::Data(_) | Error::Budget(_)
        );
        assert!(fine, "{error:?}");
    }
}

fn taken<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, more) = rest.split_first_chunk()?;
    *rest = more;
    Some(*first)
}

fn cut<'a>(rest: &mut &'a [u8], length: u16) -> &'a [u8] {
    let (first, more) = rest.split_at(usize::from(length).min(rest.len()));
    *rest = more;
    first
}

const RUN: RunId = RunId([9; 16]);

/// How the kinds of parties that [`seat`] knows work: by number modulo two a label holder or a feature holder.
pub fn vertical(kind: u8) -> Vertical {
    let changes = Desensitisation::builder().epsilon("1".parse().expect("an ε"));
    let trees = Trees::builder().rounds(2).depth(2);
    let builder = Vertical::builder()
        .desensitisation(changes.build().expect("parameters"))
        .trees(trees.build().expect("parameters"));
    let builder = match kind / 2 % 3 {
        0 => builder.alignment(Alignment::Given),
        1 => builder.alignment(Alignment::Private).most_ids(100),
        _ => builder
            .alignment(Alignment::Given)
            .protocol(Protocol::AsPublished),
    };
    builder.build().expect("parameters")
}

/// A journal with room for the columns of a feature holder.
pub fn journal() -> Faulty {
    let mut journal = Faulty::default();
    let limit = Event::Limit {
        dataset: "d".into(),
        relation: Replace::row().relation(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    ledger::begin(&mut journal).expect("a new journal");
    ledger::append(&mut journal, limit).expect("a new limit");
    journal
}

/// A party of a kind with a record and a ledger, and its agreement.
pub fn party(kind: u8, record: &MemoryRecord, journal: &Faulty) -> Result<(Agreement, Seat<Party>), Error> {
    let agreement = Agreement::new(RUN, vec!["bank".into(), "shop".into()])?;
    let vertical = vertical(kind);
    let record = Box::new(record.clone());
    let me = PartyId(u16::from(kind % 2));
    let seat = Seat::take(agreement.clone(), me, record, &|_, _, _| {}, |run| {
        if me == PartyId(0) {
            let relation = Relation::Replace {
                rows: std::num::NonZeroU32::MIN,
                unit: None,
            };
            let leave = Unprotected::unrecorded("bank", &relation, "made-up people");
            let own = table(
                "y = { type = \"label\", values = [\"a\", \"b\"] }",
                &["1,a", "2,b", "3,a", "4,b", "5,b"],
            );
            return LabelHolder::party(vertical.label_holder(own.schema())?, own, leave);
        }
        let ledger = Ledger::open("d", Replace::row(), journal.clone(), Randomness::from_os()?)?;
        let other = table(
            "x = { type = \"integer\", min = 0, max = 9 }",
            &["1,3", "2,4", "3,5", "4,6", "5,7"],
        );
        FeatureHolder::party(vertical.feature_holder(other.schema())?, other, ledger, &run)
    })?;
    Ok((agreement, seat))
}

fn table(column: &str, rows: &[&str]) -> Table {
    let text = format!("dataset = \"d\"\n[columns]\nid = {{ type = \"id\" }}\n{column}\n");
    let schema = Arc::new(Schema::from_toml("schema", &text).expect("a schema"));
    let intake = Intake::everything(schema, Keep::Bins)
        .aligned_by("id")
        .expect("a column of ids");
    let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.split(',').collect()).collect();
    crate::rows::table(&intake, &rows)
}
