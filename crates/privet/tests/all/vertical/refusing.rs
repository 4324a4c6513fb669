//! Jobs, tables and peers that do not go together.

use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema};
use privet::error::Refusal;
use privet::party::{Agreement, MemoryRecord, PartyId, Seat, SeatState};
use privet::privacy::account::Caps;
use privet::privacy::{AddRemove, Delta, Ledger, Randomness, Replace};
use privet::setting::vertical::{
    Alignment, Mechanism, Meeting, Message, NoisyLabels, Outcome, Party, Protocol, Release, Vertical, Wanted,
};
use privet::wire::{Body, RunId, Wire};
use privet_testkit::parties::{body, framed, sent};

use crate::vertical::people::{
    BANK, CLUB, SHOP, bank, builder, changes, club, feature_holder, keep, label_holder, leave, read,
    rehearsed, shop, table,
};

fn rehearse(own: &[String], other: &[String], alignment: Alignment) -> Result<Vec<Outcome>, Error> {
    let vertical = builder("1").alignment(alignment).build().unwrap();
    let ids = |column| (alignment == Alignment::Private).then_some(column);
    let own = table(BANK, own, ids("who"));
    let other = table(SHOP, other, ids("client"));
    rehearsed(&vertical, own, vec![other]).unwrap().all()
}

#[test]
fn rows_that_cannot_meet_say_why_to_their_owner() {
    let bank_rows = bank(0..20);
    let disjoint = rehearse(&bank_rows, &shop(100..120), Alignment::Private);
    assert!(
        matches!(&disjoint, Err(Error::Data(why)) if why.to_string().contains("no id in common")),
        "{disjoint:?}"
    );
    let counts = rehearse(&bank_rows, &shop(0..19), Alignment::Given);
    assert!(
        matches!(&counts, Err(Error::Data(why)) if why.to_string().contains("20 rows") && why.to_string().contains("has 19")),
        "{counts:?}"
    );
    let twice = [shop(0..5), shop(3..4)].concat();
    let repeated = rehearse(&bank_rows, &twice, Alignment::Private);
    assert!(
        matches!(&repeated, Err(Error::Data(why)) if why.to_string().contains("row 5 that of row 3")),
        "{repeated:?}"
    );
    let empty = [shop(0..5), vec![",3,a".to_owned()]].concat();
    let empty = rehearse(&bank_rows, &empty, Alignment::Private);
    assert!(
        matches!(&empty, Err(Error::Data(why)) if why.to_string().contains("row 5")),
        "{empty:?}"
    );
    let nobody = rehearse(&bank_rows, &[], Alignment::Private);
    assert!(matches!(&nobody, Err(Error::Data(_))), "{nobody:?}");
}

#[test]
fn schemas_that_do_not_go_together_are_refused() {
    let vertical = builder("1").alignment(Alignment::Given).build().unwrap();
    let without = table(CLUB, &club(0..5), None);
    let refused = label_holder(&vertical, without).err();
    assert!(
        matches!(&refused, Some(Error::Parameter(why)) if why.to_string().contains("has no label")),
        "{refused:?}"
    );
    let run = |vertical: &Vertical, other: &str, rows: &[String]| {
        let own = table(BANK, &bank(0..5), None);
        let other = table(other, rows, None);
        rehearsed(vertical, own, vec![other]).map(|done| done.all())
    };
    let labelled = run(&vertical, BANK, &bank(0..5)).err();
    assert!(
        matches!(&labelled, Some(Error::Parameter(why)) if why.to_string().contains("declares the label 'loan'")),
        "{labelled:?}"
    );
    let same = SHOP.replace("spent", "age");
    let same = run(&vertical, &same, &shop(0..5)).unwrap().err();
    assert!(
        matches!(&same, Some(Error::Data(why)) if why.to_string().contains("'age'") && why.to_string().contains("twice")),
        "{same:?}"
    );
    let ranked = builder("1")
        .alignment(Alignment::Given)
        .protocol(Protocol::AsPublished)
        .build()
        .unwrap();
    let unordered = run(&ranked, SHOP, &shop(0..5)).unwrap().err();
    assert!(
        matches!(&unordered, Some(Error::Parameter(why)) if why.to_string().contains("'town' has no order")),
        "{unordered:?}"
    );
    // The number of rows shows, so a budget that hides it cannot pay.
    let random = Randomness::from_os().unwrap();
    let hiding = Ledger::volatile(AddRemove::row(), Caps::ZERO, Delta::ZERO, random).unwrap();
    let names = vec!["bank".to_owned(), "shop".to_owned()];
    let mut hiding = Some(hiding);
    let simulation = privet::party::Simulation::new(names, |party, run| -> Result<Party, Error> {
        let vertical = vertical.clone();
        if party == PartyId(0) {
            return label_holder(&vertical, table(BANK, &bank(0..5), None));
        }
        let other = table(SHOP, &shop(0..5), None);
        feature_holder(&vertical, other, hiding.take().unwrap(), &run)
    });
    let refused = simulation.unwrap().run().unwrap().all().err();
    assert!(
        matches!(&refused, Some(Error::Budget(why)) if matches!(**why, Refusal::RowsArePrivate { .. })),
        "{refused:?}"
    );
}

/// A table that was read with other bins, or another party's, is not the plan's.
#[test]
fn a_plan_refuses_a_table_that_was_read_with_another_schema() {
    let vertical = builder("1").alignment(Alignment::Given).build().unwrap();
    let schema = Schema::from_toml("shop", SHOP).unwrap();
    let plan = vertical.plan(&Schema::from_toml("bank", BANK).unwrap(), [&schema]);
    let plan = plan.unwrap();
    let own = || table(BANK, &bank(0..5), None);
    let others = |intake| vec![read(intake, &shop(0..5), None)];
    let as_declared = || Intake::everything(Arc::new(schema.clone()), Keep::Bins);
    let columns = plan.feature_holders[0].columns();
    assert!(plan.rehearse(own(), others(columns.reads()), &leave()).is_ok());
    let refused = plan.rehearse(own(), others(as_declared()), &leave());
    assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
    let wide = table(&BANK.replace("max = 90", "max = 99"), &bank(0..5), None);
    let refused = plan.rehearse(wide, others(columns.reads()), &leave());
    assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
    // Nor are its columns released.
    let random = Randomness::from_os().unwrap();
    let ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, random).unwrap();
    let other = &others(as_declared())[0];
    let refused = Release::keep(columns, other, ledger);
    assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
    let ledger = || {
        let random = Randomness::from_os().unwrap();
        Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, random).unwrap()
    };
    // Labels of a table that was read without them are not drawn.
    let changed = builder("1").label_epsilon("1".parse().unwrap()).build().unwrap();
    let public = BANK.replace("max = 90", "max = 90, private = false");
    let public = Arc::new(Schema::from_toml("bank", &public).unwrap());
    let plan = changed.label_holder(&public).unwrap();
    let unlabelled = read(Intake::features_only(public, Keep::Bins), &bank(0..5), None);
    let refused = NoisyLabels::keep(&plan, &unlabelled, ledger());
    assert!(matches!(refused, Err(Error::Misuse(_))), "{refused:?}");
}

#[test]
fn parameters_that_cannot_be_are_named() {
    let refused = |built: Option<Error>, key: &str| {
        let Some(Error::Parameter(why)) = built else {
            panic!("{key}: {built:?}")
        };
        assert_eq!(why.key(), Some(key), "{why}");
    };
    refused(Vertical::builder().build().err(), "epsilon");
    refused(changes("0").build().err(), "epsilon");
    refused(changes("1").bins(1).build().err(), "bins");
    refused(
        builder("1")
            .label_epsilon(crate::vertical::people::epsilon("0"))
            .build()
            .err(),
        "label_epsilon",
    );
    let flat = Mechanism::PathGeometric {
        width: 0,
        across: None,
    };
    refused(changes("1").mechanism(flat).build().err(), "width");
    let numbers = BANK.replace("values = [\"no\", \"yes\"]", "min = 0, max = 1");
    let noisy = builder("1")
        .label_epsilon(crate::vertical::people::epsilon("1"))
        .build()
        .unwrap();
    for schema in [numbers.as_str(), BANK] {
        let schema = Schema::from_toml("bank", schema).unwrap();
        assert!(matches!(noisy.label_holder(&schema), Err(Error::Parameter(_))));
    }
}

/// A seat at the shop, with one that speaks for the bank.
struct Table {
    agreement: Agreement,
    seat: Seat<Party>,
    said: u64,
}

impl Table {
    fn shop(vertical: &Vertical) -> Self {
        let agreement = Agreement::new(RunId([9; 16]), vec!["bank".into(), "shop".into()]).unwrap();
        let mut seat = Seat::take(
            agreement.clone(),
            PartyId(1),
            Box::new(MemoryRecord::default()),
            &|_, _, _| {},
            |run| {
                let random = Randomness::from_os()?;
                let ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, random)?;
                let table = table(SHOP, &shop(0..20), Some("client"));
                feature_holder(vertical, table, ledger, &run)
            },
        )
        .unwrap();
        assert!(sent(&mut seat).is_empty(), "it speaks when it is spoken to");
        Self {
            agreement,
            seat,
            said: 0,
        }
    }

    /// Says something to the shop; the bodies that it answers with.
    fn say(&mut self, message: &Message) -> Vec<Body> {
        let frame = framed(&self.agreement, 0, 1, self.said, message.to_bytes());
        self.said += 1;
        self.seat.deliver(PartyId(0), frame, &|_, _, _| {}).unwrap();
        sent(&mut self.seat).iter().map(body).collect()
    }

    fn why(self) -> String {
        self.seat.finish().map(|_| ()).unwrap_err().to_string()
    }
}

fn hello(vertical: &Vertical, wanted: Wanted, meeting: Meeting) -> Message {
    Message::Hello {
        settings: vertical.shared(),
        wanted,
        meeting,
    }
}

#[test]
fn a_label_holder_cannot_get_more_than_was_agreed_on() {
    let ours = builder("1").build().unwrap();
    let given = Meeting::Given { rows: 20 };
    let cases = [
        // Other noise.
        (
            hello(&builder("2").build().unwrap(), Wanted::Columns, given.clone()),
            "epsilon = 1 here",
        ),
        // Rows in file order, where they were to meet by ids.
        (
            hello(&ours, Wanted::Columns, given.clone()),
            "rows are not matched as was agreed on",
        ),
        (
            hello(&ours, Wanted::Ordinals, given.clone()),
            "what was not agreed on",
        ),
        (
            hello(&ours, Wanted::Columns, Meeting::Offer(vec![1; 80])),
            "no message of this protocol",
        ),
        (Message::Common(vec![]), "a list of common rows out of turn"),
        (Message::Splits(vec![]), "splits out of turn"),
        (
            Message::Hello {
                settings: vec![],
                wanted: Wanted::Columns,
                meeting: given,
            },
            "says nothing about it",
        ),
    ];
    for (message, why) in cases {
        let mut table = Table::shop(&ours);
        // Whatever the reason, the peer sees the same.
        assert_eq!(table.say(&message), [Body::Aborted]);
        assert_eq!(table.seat.state(), SeatState::Failed);
        let said = table.why();
        assert!(said.contains(why), "{said}");
    }
}

#[test]
fn a_party_that_has_finished_says_nothing_more() {
    let vertical = builder("1").alignment(Alignment::Given).build().unwrap();
    let mut table = Table::shop(&vertical);
    let message = hello(&vertical, Wanted::Columns, Meeting::Given { rows: 20 });
    assert!(matches!(table.say(&message)[..], [Body::Part { .. }]));
    assert_eq!(table.seat.state(), SeatState::Finished);
    let again = framed(&table.agreement, 0, 1, 1, message.to_bytes());
    let late = table.seat.deliver(PartyId(0), again, &|_, _, _| {});
    assert!(
        matches!(&late, Err(Error::Peer(why)) if why.parties == ["bank"]),
        "{late:?}"
    );
    assert_eq!(table.seat.state(), SeatState::Finished);
}

#[test]
fn a_feature_holder_cannot_send_what_was_not_asked_for() {
    let vertical = builder("1").alignment(Alignment::Given).build().unwrap();
    let own = || table(BANK, &bank(0..20), None);
    let columns = |rows: u64| {
        let vertical = vertical.clone();
        let other = table(SHOP, &shop(0..rows), None);
        let random = Randomness::from_os().unwrap();
        let ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, random).unwrap();
        let release = keep(&vertical, &other, ledger).unwrap();
        Message::Columns(Box::new(release))
    };
    let branches = Message::Branches {
        rows: 20,
        answers: vec![],
        certificate: String::new(),
    };
    let cases = [
        (columns(19), "not as many rows"),
        (branches, "branches out of turn"),
        (Message::Answer(vec![]), "an answer about ids out of turn"),
        (Message::Thresholds(vec![]), "thresholds out of turn"),
    ];
    for (message, why) in cases {
        let agreement = Agreement::new(RunId([9; 16]), vec!["bank".into(), "shop".into()]).unwrap();
        let quiet = &|_: &str, _: u64, _: u64| {};
        let mut seat = Seat::take(
            agreement.clone(),
            PartyId(0),
            Box::new(MemoryRecord::default()),
            quiet,
            |_| label_holder(&vertical, own()),
        )
        .unwrap();
        let frame = framed(&agreement, 1, 0, 0, message.to_bytes());
        seat.deliver(PartyId(1), frame, quiet).unwrap();
        let said = seat.finish().map(|_| ()).unwrap_err();
        assert!(
            matches!(&said, Error::Peer(text) if text.parties == ["shop"] && text.what.contains(why)),
            "{said:?}"
        );
    }
}
