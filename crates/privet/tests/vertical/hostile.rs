//! What a reviewer tried who means no good.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};
use privet::party::{Agreement, Item, PartyId, Record, Seat, Sent, State, Volatile};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::{AddRemove, Certificate, Delta, Ledger, Neighbours, Randomness, Replace};
use privet::setting::vertical::{
    Alignment, FeatureHolder, LabelHolder, Meeting, Message, Outcome, Party, Question, Release, Vertical,
    Wanted,
};
use privet::wire::{Body, Frame, RunId, Wire};
use privet_testkit::faults::Faulty;

use crate::faults::journal;
use crate::people::{BANK, SHOP, bank, builder, leave, read, shop, table};

const RUN: RunId = RunId([9; 16]);

fn quiet(_: &str, _: u64, _: u64) {}

fn agreement() -> Agreement {
    Agreement::new(RUN, vec!["bank".into(), "shop".into()]).unwrap()
}

fn opened(journal: &Faulty) -> Ledger<Replace> {
    Ledger::open(
        "shop",
        Replace::row(),
        journal.clone(),
        Randomness::from_os().unwrap(),
    )
    .unwrap()
}

fn volatile() -> Ledger<Replace> {
    Ledger::volatile(
        Replace::row(),
        Caps::ZERO,
        Delta::ZERO,
        Randomness::from_os().unwrap(),
    )
    .unwrap()
}

/// A seat at the shop, whose ledger is kept.
fn at_the_shop(vertical: &Vertical, journal: &Faulty, record: &Volatile, rows: u64) -> Seat<Party> {
    let ids = (vertical.alignment() == Alignment::Private).then_some("client");
    let make = |run| {
        let table = table(SHOP, &shop(0..rows), ids);
        FeatureHolder::party(vertical.clone(), table, opened(journal), &run)
    };
    Seat::take(agreement(), PartyId(1), Box::new(record.clone()), &quiet, make)
        .unwrap()
        .0
}

fn at_the_bank(vertical: &Vertical, rows: u64) -> (Seat<Party>, Vec<Sent>) {
    let ids = (vertical.alignment() == Alignment::Private).then_some("who");
    let own = table(BANK, &bank(0..rows), ids);
    Seat::take(
        agreement(),
        PartyId(0),
        Box::new(Volatile::default()),
        &quiet,
        |_| LabelHolder::party(vertical.clone(), own, leave()),
    )
    .unwrap()
}

fn frame(from: u16, number: u64, message: &Message) -> Vec<u8> {
    let frame = Frame {
        run: RUN,
        from,
        to: 1 - from,
        number,
        body: Body::Message(message.to_bytes()),
    };
    frame.to_bytes()
}

fn hello(vertical: &Vertical, wanted: Wanted, meeting: Meeting) -> Message {
    Message::Hello {
        settings: vertical.shared(),
        wanted,
        meeting,
    }
}

fn message_of(sent: &Sent) -> Body {
    Frame::from_bytes(&sent.bytes).unwrap().body
}

fn released(vertical: &Vertical, rows: u64) -> Release {
    let table = table(SHOP, &shop(0..rows), None);
    Release::keep(
        vertical.desensitisation(),
        &table,
        volatile(),
        Box::new(Volatile::default()),
    )
    .unwrap()
}

fn given() -> Vertical {
    builder("1").alignment(Alignment::Given).build().unwrap()
}

/// Any number can stand in a frame.
#[test]
fn the_last_number_of_all_is_no_panic() {
    let vertical = given();
    let mut seat = at_the_shop(&vertical, &journal("shop"), &Volatile::default(), 20);
    let hello = hello(&vertical, Wanted::Columns, Meeting::Given { rows: 20 });
    let sent = seat
        .deliver(PartyId(0), &frame(0, u64::MAX, &hello), &quiet)
        .unwrap();
    assert_eq!(message_of(&sent[0]), Body::Aborted);
    assert!(matches!(seat.finish(), Err(Error::Peer(_))));
}

/// A budget for single rows says nothing about people who have several.
#[test]
fn a_budget_that_covers_less_than_the_schema_is_refused() {
    let schema = SHOP.replace(
        "dataset = \"shop\"",
        "dataset = \"shop\"\nunit = \"client\"\nrows_per_unit = 5",
    );
    let vertical = given();
    let record = || Box::new(Volatile::default());
    let rows = [shop(0..5), shop(0..5)].concat();
    let shop = || table(&schema, &rows, None);
    let kept = Release::keep(vertical.desensitisation(), &shop(), volatile(), record());
    assert!(
        matches!(kept, Err(Error::Misuse(_))),
        "{}",
        kept.unwrap().certificate()
    );
    let seat = Seat::take(agreement(), PartyId(1), record(), &quiet, |run| {
        FeatureHolder::party(vertical.clone(), shop(), volatile(), &run)
    });
    assert!(matches!(seat.err(), Some(Error::Misuse(_))));
}

/// Keeps nothing but what was received.
struct Forgetful(Volatile);

impl Record for Forgetful {
    fn read(&mut self) -> Result<Vec<Item>, Error> {
        self.0.read()
    }

    fn append(&mut self, item: &Item) -> Result<(), Error> {
        match item {
            Item::Released { .. } => Err(Error::Journal("the disk is full".into())),
            _ => self.0.append(item),
        }
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
    let (vertical, record) = (given(), Volatile::default());
    let table = table(SHOP, &shop(0..9), None);
    let lost = Release::keep(
        vertical.desensitisation(),
        &table,
        opened(&journal),
        Box::new(Forgetful(record.clone())),
    );
    assert!(matches!(lost, Err(Error::Journal(_))));
    let hiding = Ledger::open("shop", AddRemove::row(), journal, Randomness::from_os().unwrap()).unwrap();
    let again = Release::keep(vertical.desensitisation(), &table, hiding, Box::new(record));
    assert!(
        matches!(again, Err(Error::Budget(_))),
        "{}",
        again.unwrap().certificate()
    );
}

/// A record during whose writing something else happens.
struct Meanwhile<F>(Volatile, F);

impl<F: FnMut() + Send> Record for Meanwhile<F> {
    fn read(&mut self) -> Result<Vec<Item>, Error> {
        self.0.read()
    }

    fn append(&mut self, item: &Item) -> Result<(), Error> {
        if matches!(item, Item::Released { .. }) {
            (self.1)();
        }
        self.0.append(item)
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
    let (vertical, record) = (given(), Volatile::default());
    let keep = move |journal: Holding, record: Box<dyn Record>| {
        let ledger = Ledger::open("shop", Replace::row(), journal, Randomness::from_os().unwrap()).unwrap();
        let table = table(SHOP, &shop(0..200), None);
        Release::keep(given().desensitisation(), &table, ledger, record)
    };
    let other = Arc::new(std::sync::Mutex::new(None));
    let (shared, kept, locked) = (Arc::clone(&other), record.clone(), journal.clone());
    let meanwhile = Meanwhile(record, move || {
        if let Some(held) = locked.open() {
            *shared.lock().unwrap() = keep(held, Box::new(kept.clone())).ok();
        }
    });
    let first = keep(journal.open().unwrap(), Box::new(meanwhile)).ok();
    let second = other.lock().unwrap().take();
    let _ = vertical;
    if let (Some(first), Some(second)) = (first, second) {
        assert!(first == second, "one payment, two draws, and both can be sent");
    }
}

/// Ids are shown for columns that can leave, and not for nothing.
#[test]
fn nobody_meets_for_columns_that_have_left() {
    let (vertical, journal) = (builder("1").build().unwrap(), journal("shop"));
    let table = table(SHOP, &shop(0..20), None);
    Release::keep(
        vertical.desensitisation(),
        &table,
        opened(&journal),
        Box::new(Volatile::default()),
    )
    .unwrap();
    let mut seat = at_the_shop(&vertical, &journal, &Volatile::default(), 20);
    let (_, offers) = at_the_bank(&vertical, 30);
    let sent = seat.deliver(PartyId(0), &offers[0].bytes, &quiet).unwrap();
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
    use privet_mpc::psi;
    let (vertical, journal) = (builder("1").build().unwrap(), journal("shop"));
    let mut seat = at_the_shop(&vertical, &journal, &Volatile::default(), 20);
    // The meeting as the label holder would have it, with nobody the shop knows.
    let (mut bank, offers) = {
        let own = table(BANK, &bank(500..510), Some("who"));
        Seat::take(
            agreement(),
            PartyId(0),
            Box::new(Volatile::default()),
            &quiet,
            |_| LabelHolder::party(vertical.clone(), own, leave()),
        )
        .unwrap()
    };
    let answer = seat.deliver(PartyId(0), &offers[0].bytes, &quiet).unwrap();
    let Body::Message(answer) = message_of(&answer[0]) else {
        panic!()
    };
    let Message::Answer(answer) = Message::from_bytes(&answer).unwrap() else {
        panic!()
    };
    // No place at all, under the seal of this exchange.
    let (head, seal) = (&answer[..41], &answer[answer.len() - 32..]);
    let mut common = head.to_vec();
    common[8] = 3;
    common.extend(0_u32.to_le_bytes());
    let sealed = <sha2::Sha256 as sha2::Digest>::digest([seal, &common].concat());
    common.extend(sealed);
    let sent = seat
        .deliver(PartyId(0), &frame(0, 1, &Message::Common(common)), &quiet)
        .unwrap();
    assert_eq!(message_of(&sent[0]), Body::Aborted);
    let left = |e: &privet::privacy::journal::Entry| matches!(e.event(), Event::Desensitise { .. });
    assert!(!journal.entries().iter().any(left));
    let _ = (psi::MOST_IDS, bank.work(&quiet));
}

/// What was agreed on is what comes.
#[test]
fn columns_that_were_changed_otherwise_are_not_taken() {
    let vertical = given();
    let louder = builder("7").alignment(Alignment::Given).build().unwrap();
    let (mut seat, _) = at_the_bank(&vertical, 20);
    let columns = Message::Columns(Box::new(released(&louder, 20)));
    seat.deliver(PartyId(1), &frame(1, 0, &columns), &quiet).unwrap();
    assert_eq!(seat.state(), State::Failed, "ε = 7 where 1 was agreed on");
}

/// While a party works, nobody fills its memory.
#[test]
fn what_comes_while_a_party_works_is_bounded() {
    let vertical = given();
    let (mut seat, _) = at_the_bank(&vertical, 20);
    let columns = Message::Columns(Box::new(released(&vertical, 20)));
    seat.deliver(PartyId(1), &frame(1, 0, &columns), &quiet).unwrap();
    assert_eq!(seat.state(), State::Working);
    for number in 1..=100 {
        let sent = seat.deliver(PartyId(1), &frame(1, number, &columns), &quiet);
        if sent.is_err() || seat.state() == State::Failed {
            return;
        }
    }
    panic!("a hundred messages that nobody waits for are kept");
}

/// A few bytes of questions are not an answer of gigabytes.
#[test]
fn a_question_is_asked_once() {
    let vertical = given();
    let mut seat = at_the_shop(&vertical, &journal("shop"), &Volatile::default(), 2000);
    let question = Question {
        column: "spent".into(),
        declared: [0; 32],
        left: vec![],
    };
    let asked = hello(
        &vertical,
        Wanted::Branches(vec![question; 10_000]),
        Meeting::Given { rows: 2000 },
    );
    let bytes = frame(0, 0, &asked);
    let sent = seat.deliver(PartyId(0), &bytes, &quiet).unwrap();
    assert!(
        sent[0].bytes.len() < bytes.len(),
        "{} bytes make {}",
        bytes.len(),
        sent[0].bytes.len()
    );
}

/// A schema of a few kilobytes does not take gigabytes.
#[test]
fn a_schema_takes_no_more_room_than_its_columns() {
    let mut text = String::from(
        "dataset = \"d\"\nmissing = [\"\"]\n\n[file]\nheader = true\ndelimiter = \",\"\nquote = \"\\\"\"\n\n[columns]\n",
    );
    for place in 0..2000 {
        text += &format!("c{place} = {{ type = \"number\", min = 0, max = 1, bins = 65000 }}\n");
    }
    let mut writer = privet::wire::Writer::default();
    writer.byte(4);
    writer.long(20);
    writer.list::<u8>(&[], |_, _| {});
    writer.text(&text);
    let bytes = writer.into_bytes();
    let why = Message::from_bytes(&bytes).unwrap_err().to_string();
    assert!(why.contains("bins and values"), "{why}");
}

/// A category of many values that leaves as flags: work by the number of values, not by its square.
#[test]
fn many_flags_do_not_take_for_ever() {
    let values: Vec<String> = (0..20_000).map(|value| format!("\"{value}\"")).collect();
    let schema = format!(
        "dataset = \"shop\"\n[columns]\nclient = {{ type = \"id\" }}\ntown = {{ type = \"category\", values = [{}] }}\n",
        values.join(", ")
    );
    let vertical = builder("1")
        .alignment(Alignment::Given)
        .categories(privet::setting::vertical::Categories::SymmetricUnary)
        .trees(privet::setting::plain::Trees {
            rounds: 1,
            depth: Some(1),
            ..privet::setting::plain::Trees::default()
        })
        .build()
        .unwrap();
    let rows = ["a,1", "b,2", "c,3"].map(String::from);
    let other = table(&schema, &rows, None);
    let release = Release::keep(
        vertical.desensitisation(),
        &other,
        volatile(),
        Box::new(Volatile::default()),
    )
    .unwrap();
    let (mut seat, _) = at_the_bank(&vertical, 3);
    let bytes = frame(1, 0, &Message::Columns(Box::new(release)));
    seat.deliver(PartyId(1), &bytes, &quiet).unwrap();
    assert_eq!(seat.state(), State::Working);
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
    let (mut seat, _) = Seat::take(
        agreement(),
        PartyId(1),
        Box::new(Volatile::default()),
        &quiet,
        |run| FeatureHolder::kept(vertical.clone(), release, shop(), opened(&journal), &run),
    )
    .unwrap();
    let hello = hello(&vertical, Wanted::Columns, Meeting::Given { rows: 20 });
    seat.deliver(PartyId(0), &frame(0, 0, &hello), &quiet).unwrap();
    let Outcome::Contributed(certificate) = seat.finish().unwrap() else {
        panic!()
    };
    assert!(!certificate.recorded, "{certificate}");
}

/// The model's columns are those of the table it is asked about, also where the others only answer its questions.
#[test]
fn own_columns_are_the_models_when_branches_are_asked() {
    let vertical = given();
    let own = table(BANK, &bank(0..200), None);
    let other = table(SHOP, &shop(0..200), None);
    let model = vertical.rehearse(own, vec![other], &leave()).unwrap();
    let other = BANK.replace("min = 18, max = 90", "min = 0, max = 3000");
    let schema = Arc::new(Schema::from_toml("bank", &other).unwrap());
    let new: Table = read(Intake::features_only(schema, Keep::Bins), &bank(0..20), None);
    let mut ended = Vec::new();
    for branches in [false, true] {
        let (mut bank, hello) = Seat::take(
            agreement(),
            PartyId(0),
            Box::new(Volatile::default()),
            &quiet,
            |_| {
                Ok(LabelHolder::predicting(
                    vertical.clone(),
                    new.clone(),
                    model.clone(),
                    branches,
                    leave(),
                ))
            },
        )
        .unwrap();
        if bank.state() == State::Failed {
            ended.push(bank.finish().is_ok());
            continue;
        }
        let mut shop = at_the_shop(&vertical, &journal("shop"), &Volatile::default(), 20);
        let sent = shop.deliver(PartyId(0), &hello[0].bytes, &quiet).unwrap();
        bank.deliver(PartyId(1), &sent[0].bytes, &quiet).unwrap();
        ended.push(bank.finish().is_ok());
    }
    assert_eq!(ended, [false, false], "ages in other bins than the model's");
}

/// A certificate speaks of the columns that came with it.
#[test]
fn a_certificate_of_other_columns_is_not_taken() {
    let vertical = given();
    let release = released(&vertical, 20);
    let told = release.certificate().to_json();
    let mut bytes = Message::Columns(Box::new(release)).to_bytes();
    assert!(bytes.ends_with(told.as_bytes()));
    let nothing = Certificate {
        claims: vec![],
        ..Certificate::from_json(&told).unwrap()
    }
    .to_json();
    bytes.truncate(bytes.len() - told.len() - 8);
    bytes.extend((nothing.len() as u64).to_le_bytes());
    bytes.extend(nothing.as_bytes());
    let (mut seat, _) = at_the_bank(&vertical, 20);
    let frame = Frame {
        run: RUN,
        from: 1,
        to: 0,
        number: 0,
        body: Body::Message(bytes),
    };
    seat.deliver(PartyId(1), &frame.to_bytes(), &quiet).unwrap();
    assert_eq!(
        seat.state(),
        State::Failed,
        "the model would say: nothing was released"
    );
    let _ = NonZeroU32::MIN;
}

/// A run that is taken up again with other people would show them, and nobody would have written that down.
#[test]
fn a_run_is_not_taken_up_with_another_table() {
    let (vertical, journal, record) = (
        builder("1").build().unwrap(),
        journal("shop"),
        Volatile::default(),
    );
    let (_, offers) = at_the_bank(&vertical, 30);
    let mut seat = at_the_shop(&vertical, &journal, &record, 20);
    let first = seat.deliver(PartyId(0), &offers[0].bytes, &quiet).unwrap();
    let taken = |rows: u64| {
        let make = |run| {
            let table = table(SHOP, &shop(0..rows), Some("client"));
            FeatureHolder::party(vertical.clone(), table, opened(&journal), &run)
        };
        Seat::take(agreement(), PartyId(1), Box::new(record.clone()), &quiet, make)
            .unwrap()
            .1
    };
    assert_eq!(taken(20), first);
    assert_eq!(
        message_of(&taken(25)[0]),
        Body::Aborted,
        "five people more are shown"
    );
}

/// With labels that change and no other columns, a table that has grown does not make the label holder panic.
#[test]
fn a_table_that_has_grown_is_no_panic() {
    let schema = BANK.replace(
        "age = { type = \"integer\", min = 18, max = 90 }",
        "age = { type = \"skip\" }",
    );
    let vertical = builder("1")
        .label_epsilon(crate::people::epsilon("1"))
        .build()
        .unwrap();
    let (books, record) = (journal("bank"), Volatile::default());
    let taken = |rows: u64| {
        let make = |run| {
            let ledger = Ledger::open("bank", Replace::row(), books.clone(), Randomness::from_os()?)?;
            let own = table(&schema, &bank(0..rows), Some("who"));
            LabelHolder::with_noisy_labels(vertical.clone(), own, ledger, &run)
        };
        Seat::take(agreement(), PartyId(0), Box::new(record.clone()), &quiet, make).unwrap()
    };
    taken(20);
    let (mut bank, offers) = taken(30);
    if bank.state() == State::Failed {
        return;
    }
    let mut shop = at_the_shop(&vertical, &journal("shop"), &Volatile::default(), 40);
    let answer = shop.deliver(PartyId(0), &offers[0].bytes, &quiet).unwrap();
    bank.deliver(PartyId(1), &answer[0].bytes, &quiet).unwrap();
    assert_eq!(bank.state(), State::Failed);
}

/// The club is told which of its people the shop has, too: the shop's ledger and certificate say so.
#[test]
fn what_other_feature_holders_learn_is_written_down() {
    let vertical = builder("1").build().unwrap();
    let own = table(BANK, &bank(0..60), Some("who"));
    let others = vec![
        table(SHOP, &shop(10..70), Some("client")),
        table(crate::people::CLUB, &crate::people::club(20..80), Some("member")),
    ];
    let model = vertical.rehearse(own, others, &leave()).unwrap();
    let said = model.certificate().parties[0].certificate.to_string();
    assert!(said.contains("feature holder"), "{said}");
}

/// Ranks of what has no order: the model's columns would not be those that it was trained on.
#[test]
fn ranks_of_flags_are_not_taken() {
    let vertical = builder("1")
        .alignment(Alignment::Given)
        .protocol(privet::setting::vertical::Protocol::AsPublished)
        .categories(privet::setting::vertical::Categories::SymmetricUnary)
        .build()
        .unwrap();
    let schema = "dataset = \"shop\"\n[columns]\nclient = { type = \"id\" }\ntown = { type = \"category\", values = [\"a\", \"b\", \"c\"] }\n\
         spent = { type = \"number\", min = 0, max = 100 }\n";
    let nobody = table(schema, &[], None);
    let release = Release::keep(
        vertical.desensitisation(),
        &nobody,
        volatile(),
        Box::new(Volatile::default()),
    )
    .unwrap();
    let mut writer = privet::wire::Writer::default();
    writer.byte(5);
    release.write(&mut writer);
    // The town as noise, what is spent as it tells about loans: a slot is a rank.
    let loans: Vec<u32> = bank(0..200)
        .iter()
        .map(|row| u32::from(row.ends_with("yes")))
        .collect();
    let ranks = [vec![0, 1].repeat(100), loans];
    writer.list(&ranks, |column, to| to.list(column, |rank, to| to.word(*rank)));
    let (mut seat, _) = at_the_bank(&vertical, 200);
    let frame_of = |number, bytes| {
        let frame = Frame {
            run: RUN,
            from: 1,
            to: 0,
            number,
            body: Body::Message(bytes),
        };
        frame.to_bytes()
    };
    seat.deliver(PartyId(1), &frame_of(0, writer.into_bytes()), &quiet)
        .unwrap();
    let mut sent = Vec::new();
    while seat.state() == State::Working {
        sent.extend(seat.work(&quiet));
    }
    if seat.state() != State::Failed {
        let Body::Message(asked) = message_of(&sent[0]) else {
            panic!()
        };
        let Message::Splits(splits) = Message::from_bytes(&asked).unwrap() else {
            panic!()
        };
        let told = splits.iter().map(|ranks| vec![[0, 1]; ranks.len()]).collect();
        seat.deliver(PartyId(1), &frame(1, 1, &Message::Thresholds(told)), &quiet)
            .unwrap();
    }
    match seat.finish() {
        Err(Error::Peer(_)) => {}
        Err(other) => panic!("nobody is named: {other}"),
        Ok(Outcome::Trained(model)) => {
            let names: Vec<&str> = model.schema().features().map(|c| c.name.as_str()).collect();
            panic!("trained on town and spent, and asks about {names:?}")
        }
        Ok(_) => panic!("no model"),
    }
}

/// What a model asks about slots of ten bins is not answered about other bins.
#[test]
fn a_question_is_about_the_column_that_the_model_knows() {
    let vertical = given();
    let own = table(BANK, &bank(0..200), None);
    let other = table(SHOP, &shop(0..200), None);
    let model = vertical.rehearse(own, vec![other], &leave()).unwrap();
    let schema = Arc::new(Schema::from_toml("bank", BANK).unwrap());
    let new: Table = read(Intake::features_only(schema, Keep::Bins), &bank(0..20), None);
    let (mut bank, hello) = Seat::take(
        agreement(),
        PartyId(0),
        Box::new(Volatile::default()),
        &quiet,
        |_| {
            Ok(LabelHolder::predicting(
                vertical.clone(),
                new.clone(),
                model.clone(),
                true,
                leave(),
            ))
        },
    )
    .unwrap();
    // The shop now counts in cents.
    let cents = table(&SHOP.replace("max = 100", "max = 10000"), &shop(0..20), None);
    let (mut shop, _) = Seat::take(
        agreement(),
        PartyId(1),
        Box::new(Volatile::default()),
        &quiet,
        |run| FeatureHolder::party(vertical.clone(), cents, volatile(), &run),
    )
    .unwrap();
    let sent = shop.deliver(PartyId(0), &hello[0].bytes, &quiet).unwrap();
    bank.deliver(PartyId(1), &sent[0].bytes, &quiet).unwrap();
    assert_eq!(
        bank.state(),
        State::Failed,
        "predictions about euros from answers about cents"
    );
}

/// Tables without rows, and label holders without columns.
#[test]
fn nothing_to_learn_from_is_no_panic() {
    let vertical = given();
    let bare = BANK.replace(
        "age = { type = \"integer\", min = 18, max = 90 }",
        "age = { type = \"skip\" }",
    );
    for (schema, rows) in [(BANK, 0), (&bare, 0), (&bare, 1), (&bare, 2)] {
        let own = table(schema, &bank(0..rows), None);
        let other = table(SHOP, &shop(0..rows), None);
        let ended = vertical
            .rehearsed(own, vec![other], &leave())
            .map(|done| done.all().map(drop));
        println!("{rows} {ended:?}");
    }
}
