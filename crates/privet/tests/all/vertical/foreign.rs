//! What comes from a peer that nobody should take, or that would take too much.

use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};
use privet::party::{MemoryRecord, SeatState};
use privet::privacy::mechanism::ordered::Distance;
use privet::privacy::{Certificate, Guarantee};
use privet::setting::vertical::{
    Alignment, Categories, LabelHolder, Mechanism, Meeting, Message, Outcome, Question, Wanted,
};
use privet::wire::{Body, Wire};
use privet_testkit::parties::{framed, sent};

use crate::vertical::faults::journal;
use crate::vertical::people::{
    BANK, SHOP, bank, builder, changes, feature_holder, keep, leave, read, rehearse, rehearsed, shop, table,
    with,
};
use crate::vertical::seats::{
    agreement, at_the_bank, at_the_shop, deliver, frame, given, hello, message_of, quiet, released, said,
    take, volatile,
};

/// Any number can stand in a frame.
#[test]
fn the_last_number_of_all_is_no_panic() {
    let vertical = given();
    let mut seat = at_the_shop(&vertical, &journal("shop"), &MemoryRecord::default(), 20);
    let hello = hello(&vertical, Wanted::Columns, Meeting::Given { rows: 20 });
    let sent = deliver(&mut seat, 0, &frame(0, u64::MAX, &hello)).unwrap();
    assert_eq!(message_of(&sent[0]), Body::Aborted);
    assert!(matches!(seat.finish(), Err(Error::Peer(_))));
}

/// What was agreed on is what comes.
#[test]
fn columns_that_were_changed_otherwise_are_not_taken() {
    let vertical = given();
    let louder = builder("7").alignment(Alignment::Given).build().unwrap();
    let (mut seat, _) = at_the_bank(&vertical, 20);
    let columns = Message::Columns(Box::new(released(&louder, 20)));
    deliver(&mut seat, 1, &frame(1, 0, &columns)).unwrap();
    assert_eq!(seat.state(), SeatState::Failed, "ε = 7 where 1 was agreed on");
}

/// While a party works, nobody fills its memory.
#[test]
fn what_comes_while_a_party_works_is_bounded() {
    let vertical = given();
    let (mut seat, _) = at_the_bank(&vertical, 20);
    let columns = Message::Columns(Box::new(released(&vertical, 20)));
    deliver(&mut seat, 1, &frame(1, 0, &columns)).unwrap();
    assert_eq!(seat.state(), SeatState::Working);
    for number in 1..=100 {
        let sent = deliver(&mut seat, 1, &frame(1, number, &columns));
        if sent.is_err() || seat.state() == SeatState::Failed {
            return;
        }
    }
    panic!("a hundred messages that nobody waits for are kept");
}

/// A few bytes of questions are not an answer of gigabytes.
#[test]
fn a_question_is_asked_once() {
    let vertical = given();
    let mut seat = at_the_shop(&vertical, &journal("shop"), &MemoryRecord::default(), 2000);
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
    let sent = deliver(&mut seat, 0, &bytes).unwrap();
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
    let vertical = with(changes("1").categories(Categories::SymmetricUnary))
        .alignment(Alignment::Given)
        .trees(
            privet::setting::plain::Trees::builder()
                .rounds(1)
                .depth(1)
                .build()
                .unwrap(),
        )
        .build()
        .unwrap();
    let rows = ["a,1", "b,2", "c,3"].map(String::from);
    let other = table(&schema, &rows, None);
    let release = keep(&vertical, &other, volatile()).unwrap();
    let (mut seat, _) = at_the_bank(&vertical, 3);
    let bytes = frame(1, 0, &Message::Columns(Box::new(release)));
    deliver(&mut seat, 1, &bytes).unwrap();
    assert_eq!(seat.state(), SeatState::Working);
}

/// The model's columns are those of the table it is asked about, also where the others only answer its questions.
#[test]
fn own_columns_are_the_models_when_branches_are_asked() {
    let vertical = given();
    let own = table(BANK, &bank(0..200), None);
    let other = table(SHOP, &shop(0..200), None);
    let model = rehearse(&vertical, own, vec![other]);
    let other = BANK.replace("min = 18, max = 90", "min = 0, max = 3000");
    let schema = Arc::new(Schema::from_toml("bank", &other).unwrap());
    let new: Table = read(Intake::features_only(schema, Keep::Bins), &bank(0..20), None);
    let mut ended = Vec::new();
    for branches in [false, true] {
        let (mut bank, hello) = take(0, Box::new(MemoryRecord::default()), |_| {
            LabelHolder::predicting(
                vertical.label_holder(new.schema())?,
                new.clone(),
                model.clone(),
                branches,
                leave(),
            )
        })
        .unwrap();
        if bank.state() == SeatState::Failed {
            ended.push(bank.finish().is_ok());
            continue;
        }
        let mut shop = at_the_shop(&vertical, &journal("shop"), &MemoryRecord::default(), 20);
        let sent = deliver(&mut shop, 0, &hello[0].bytes).unwrap();
        deliver(&mut bank, 1, &sent[0].bytes).unwrap();
        ended.push(bank.finish().is_ok());
    }
    assert_eq!(ended, [false, false], "ages in other bins than the model's");
}

/// Answers come with a certificate whose losses follow from what was agreed on, whichever way numbers are changed.
#[test]
fn a_smaller_loss_is_not_believed_where_branches_are_asked() {
    let blocks = Default::default;
    let ways = [
        Mechanism::ClampedGeometric,
        Mechanism::GlobalMap(Default::default()),
        Mechanism::PathGeometric {
            width: 4,
            across: None,
        },
        Mechanism::AdjustedMap {
            width: 3,
            alpha_thousandths: 500,
            blocks: blocks(),
        },
        Mechanism::LocalMap {
            width: 4,
            blocks: blocks(),
        },
        Mechanism::Piecewise { clipped: false },
        Mechanism::Piecewise { clipped: true },
    ];
    let schema = Arc::new(Schema::from_toml("bank", BANK).unwrap());
    let new: Table = read(Intake::features_only(schema, Keep::Bins), &bank(0..20), None);
    for way in ways {
        let vertical = with(changes("20").mechanism(way.clone()))
            .alignment(Alignment::Given)
            .build()
            .unwrap();
        let own = table(BANK, &bank(0..200), None);
        let other = table(SHOP, &shop(0..200), None);
        let model = rehearse(&vertical, own, vec![other]);
        let claim_less = |certificate: &mut Certificate, and_add_up: bool| {
            for claim in &mut certificate.claims {
                let Guarantee::Distance {
                    columns,
                    record,
                    unit,
                } = &mut claim.guarantee
                else {
                    continue;
                };
                let less = columns
                    .iter_mut()
                    .find(|column| column.column == "spent")
                    .unwrap();
                let none = privet::privacy::mechanism::ordered::Loss::NONE;
                (less.within, less.across, less.whole) = (none, less.across.map(|_| none), none);
                if and_add_up {
                    (*record, *unit) = (Distance::record(columns), Distance::record(columns));
                }
            }
        };
        for lies in [None, Some(false), Some(true)] {
            let (mut bank, hello) = take(0, Box::new(MemoryRecord::default()), |_| {
                let plan = vertical.label_holder(new.schema())?;
                LabelHolder::predicting(plan, new.clone(), model.clone(), true, leave())
            })
            .unwrap();
            let mut shop = at_the_shop(&vertical, &journal("shop"), &MemoryRecord::default(), 20);
            let sent = deliver(&mut shop, 0, &hello[0].bytes).unwrap();
            let Message::Branches {
                rows,
                answers,
                certificate,
            } = said(&sent[0])
            else {
                panic!("answers")
            };
            let mut certificate = Certificate::from_json(&certificate).unwrap();
            if let Some(and_add_up) = lies {
                claim_less(&mut certificate, and_add_up);
            }
            let certificate = certificate.to_json();
            let message = Message::Branches {
                rows,
                answers,
                certificate,
            };
            deliver(&mut bank, 1, &frame(1, 0, &message)).unwrap();
            let ended = bank.finish().map(drop);
            assert_eq!(ended.is_ok(), lies.is_none(), "{way:?}, {lies:?}: {ended:?}");
        }
    }
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
    deliver(&mut seat, 1, &framed(&agreement(), 1, 0, 0, bytes)).unwrap();
    assert_eq!(
        seat.state(),
        SeatState::Failed,
        "the model would say: nothing was released"
    );
}

/// Ranks of what has no order: the model's columns would not be those that it was trained on.
#[test]
fn ranks_of_flags_are_not_taken() {
    let vertical = with(changes("1").categories(Categories::SymmetricUnary))
        .alignment(Alignment::Given)
        .protocol(privet::setting::vertical::Protocol::AsPublished)
        .build()
        .unwrap();
    let schema = "dataset = \"shop\"\n[columns]\nclient = { type = \"id\" }\ntown = { type = \"category\", values = [\"a\", \"b\", \"c\"] }\n\
         spent = { type = \"number\", min = 0, max = 100 }\n";
    let nobody = table(schema, &[], None);
    let release = keep(&vertical, &nobody, volatile()).unwrap();
    let mut writer = privet::wire::Writer::default();
    writer.byte(5);
    release.write(&mut writer);
    // The town as noise, what is spent as it tells about loans: a slot is a rank.
    let loans: Vec<u32> = bank(0..200)
        .iter()
        .map(|row| u32::from(row.ends_with("yes")))
        .collect();
    let ranks = [[0, 1].repeat(100), loans];
    writer.list(&ranks, |column, to| to.list(column, |rank, to| to.word(*rank)));
    let (mut seat, _) = at_the_bank(&vertical, 200);
    let frame_of = |number, bytes| framed(&agreement(), 1, 0, number, bytes);
    deliver(&mut seat, 1, &frame_of(0, writer.into_bytes())).unwrap();
    while seat.state() == SeatState::Working {
        seat.work(&quiet);
    }
    let sent = sent(&mut seat);
    if seat.state() != SeatState::Failed {
        let Message::Splits(splits) = said(&sent[0]) else {
            panic!()
        };
        let told = splits.iter().map(|ranks| vec![[0, 1]; ranks.len()]).collect();
        deliver(&mut seat, 1, &frame(1, 1, &Message::Thresholds(told))).unwrap();
    }
    match seat.finish() {
        Err(Error::Peer(_)) => {}
        Err(other) => panic!("nobody is named: {other}"),
        Ok(Outcome::Trained { model, .. }) => {
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
    let model = rehearse(&vertical, own, vec![other]);
    let schema = Arc::new(Schema::from_toml("bank", BANK).unwrap());
    let new: Table = read(Intake::features_only(schema, Keep::Bins), &bank(0..20), None);
    let (mut bank, hello) = take(0, Box::new(MemoryRecord::default()), |_| {
        LabelHolder::predicting(
            vertical.label_holder(new.schema())?,
            new.clone(),
            model.clone(),
            true,
            leave(),
        )
    })
    .unwrap();
    // The shop now counts in cents.
    let cents = table(&SHOP.replace("max = 100", "max = 10000"), &shop(0..20), None);
    let (mut shop, _) = take(1, Box::new(MemoryRecord::default()), |run| {
        feature_holder(&vertical, cents, volatile(), &run)
    })
    .unwrap();
    let sent = deliver(&mut shop, 0, &hello[0].bytes).unwrap();
    deliver(&mut bank, 1, &sent[0].bytes).unwrap();
    assert_eq!(
        bank.state(),
        SeatState::Failed,
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
        let ended = rehearsed(&vertical, own, vec![other]).map(|done| done.all().map(drop));
        println!("{rows} {ended:?}");
    }
}
