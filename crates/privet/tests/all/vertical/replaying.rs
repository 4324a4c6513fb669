//! A feature holder's message on neighbouring tables: the same queries, and with the same draws the same bytes.

use privet::Error;
use privet::data::Table;
use privet::party::{Agreement, Item, MemoryRecord, PartyId, Seat};
use privet::privacy::account::Caps;
use privet::privacy::{Delta, Ledger, Randomness, Replace};
use privet::setting::vertical::{
    Alignment, Budget, Categories, Mechanism, Meeting, Message, Vertical, Wanted,
};
use privet::wire::{Body, RunId, Wire};
use privet_testkit::parties::{body, framed, sent};
use privet_testkit::replay::{Transcript, replay};

use crate::vertical::people::{SHOP, changes, feature_holder, table, with};

/// What the label holder sees of a table, but for the certificate, whose ledger is another in every run.
fn seen(vertical: &Vertical, table: &Table, ledger: &mut Ledger<Replace>) -> Result<Vec<u8>, Error> {
    let spare = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, Randomness::from_os()?)?;
    let ledger = std::mem::replace(ledger, spare);
    let agreement = Agreement::new(RunId([1; 16]), vec!["bank".into(), "shop".into()])?;
    let quiet = &|_: &str, _: u64, _: u64| {};
    // A name that is the same in both runs, so that the journals are.
    let began = [&[4][..], &[7; 16], &agreement.digest(), &1_u32.to_le_bytes()].concat();
    let record = Box::new(MemoryRecord::of(vec![Item::from_bytes(&began).unwrap()]));
    let mut seat = Seat::take(agreement.clone(), PartyId(1), record, quiet, |run| {
        feature_holder(vertical, table.clone(), ledger, &run)
    })?;
    let hello = Message::Hello {
        settings: vertical.shared(),
        wanted: Wanted::Columns,
        meeting: Meeting::Given { rows: 6 },
    };
    seat.deliver(PartyId(0), framed(&agreement, 0, 1, 0, hello.to_bytes()), quiet)?;
    let sent = sent(&mut seat);
    seat.finish()?;
    let Body::Part { bytes: message, .. } = body(&sent[0]) else {
        panic!("it gave up")
    };
    let Message::Columns(release) = Message::from_bytes(&message).unwrap() else {
        panic!("no columns")
    };
    let texts = release.texts()?;
    let mut bytes = release.schema().to_toml().into_bytes();
    for row in 0..release.rows() {
        texts
            .row(row)
            .for_each(|cell| bytes.extend_from_slice(cell.as_bytes()));
    }
    Ok(bytes)
}

fn rows(last: &str) -> Table {
    let rows = ["p1,5,a", "p2,95,b", "p3,50,c", "p4,,", "p5,33,b", last];
    table(SHOP, &rows.map(String::from), None)
}

#[test]
fn whatever_a_row_says_only_its_draws_show() {
    let wide = |width| Mechanism::LocalMap {
        width,
        blocks: Default::default(),
    };
    let ways = [
        with(changes("0.3")),
        with(changes("0.3").budget(Budget::Sample(1))),
        with(changes("0.3").categories(Categories::OptimisedUnary)),
        with(changes("0.3").mechanism(wide(4))),
        with(changes("0.3").mechanism(wide(10))),
        with(changes("0.3").mechanism(Mechanism::GlobalMap(Default::default()))),
        with(changes("0.3").mechanism(Mechanism::Piecewise { clipped: false })),
    ];
    for way in ways {
        let vertical = way.alignment(Alignment::Given).build().unwrap();
        // A corner, the middle, what is missing, what is undeclared, and what is not a number.
        for other in ["p6,0,a", "p6,100,c", "p6,,", "p6,50,nowhere", "p6,much,?"] {
            for transcript in [Transcript::Drawn, Transcript::Drawn] {
                let pair = [&rows("p6,77,b"), &rows(other)];
                let found = replay(&Replace::row(), pair, transcript, |table, ledger| {
                    seen(&vertical, table, ledger)
                });
                let report = found.unwrap_or_else(|why| panic!("{other}: {why:?}"));
                assert!(report.queries >= 1, "{report:?}");
            }
        }
    }
}
