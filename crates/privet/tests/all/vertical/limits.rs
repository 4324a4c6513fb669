//! How many people a peer can ask about, and how much room its messages take.

use privet::Error;
use privet::data::Schema;
use privet::party::{Item, MemoryRecord, PartyId, Seat, SeatState};
use privet::privacy::journal::Event;
use privet::privacy::mechanism::ordered::{Distance, Loss};
use privet::privacy::{Certificate, Guarantee};
use privet::setting::vertical::{
    Alignment, LabelHolder, Meeting, Message, Party, Protocol, Vertical, Wanted,
};
use privet::wire::{Body, Frame, Header, PART, Wire, Writer};

use privet_testkit::parties::framed;

use crate::allocations::{peak, unwiped};
use crate::vertical::faults::journal;
use crate::vertical::people::{
    BANK, SHOP, bank, builder, feature_holder, label_holder, leave, rehearse, shop, table,
};
use crate::vertical::seats::{
    agreement, at_the_bank, at_the_shop, deliver, frame, given, hello, message_of, opened, released, said,
    take, volatile,
};

fn agreed(most: u64) -> Vertical {
    builder("1").most_ids(most).build().unwrap()
}

/// A greeting that says what the other side wants to hear.
fn saying(settings: &Vertical, hello: &Body) -> Message {
    let Body::Part { bytes, .. } = hello else {
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
    let sent = deliver(&mut seat, 0, &frame(0, 0, &hello)).unwrap();
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
    let answer = deliver(&mut shop, 0, &frame(0, 0, &hello)).unwrap();
    deliver(&mut seat, 1, &answer[0].bytes).unwrap();
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
        take(1, record(), |run| {
            let rows = table(SHOP, &shop(0..26), Some("client"));
            feature_holder(&vertical, rows, opened(&journal), &run)
        })
        .err(),
        take(0, record(), |_| {
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
    assert_eq!(at_the_bank(&vertical, 25).0.waits_for(), [PartyId(1)]);
}

/// Both sides agree on it, and it is not forgotten.
#[test]
fn both_jobs_say_how_many_ids_there_may_be() {
    let (_, offers) = at_the_bank(&agreed(100), 20);
    let mut seat = at_the_shop(&agreed(25), &journal("shop"), &MemoryRecord::default(), 20);
    deliver(&mut seat, 0, &offers[0].bytes).unwrap();
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

/// The key of a meeting stands in the record, and nowhere else once it was used.
#[test]
fn keys_do_not_stay_in_memory() {
    // A checkpoint drops the key.
    let (vertical, journal, record) = (agreed(100), journal("shop"), MemoryRecord::without_checkpoints());
    let (_, offers) = at_the_bank(&vertical, 30);
    let mut seat = at_the_shop(&vertical, &journal, &record, 20);
    let said = deliver(&mut seat, 0, &offers[0].bytes).unwrap();
    let key = record.items().into_iter().find_map(|item| match item {
        Item::Once { what, value } if what == "the key of the meeting" => Some(value),
        _ => None,
    });
    let key: [u8; 32] = key.unwrap().as_slice().try_into().unwrap();
    let taken_up = || {
        let make = |run| {
            let table = table(SHOP, &shop(0..20), Some("client"));
            feature_holder(&vertical, table, opened(&journal), &run)
        };
        take(1, Box::new(record.clone()), make).unwrap()
    };
    let (again, copies) = unwiped(key, || taken_up().1);
    assert_eq!(again, said);
    assert_eq!(copies, 0, "copies of the key in freed memory");
}

fn to(write: impl FnOnce(&mut Writer)) -> Vec<u8> {
    let mut writer = Writer::default();
    write(&mut writer);
    writer.into_bytes()
}

/// Whatever a message says, decoding it takes no more than a few times its bytes.
#[test]
fn a_message_takes_no_more_room_than_its_bytes() {
    const MIB: u64 = 1 << 20;
    let release = released(&given(), 20);
    let told = release.to_bytes();
    let schema = "dataset = \"d\"\nmissing = [\"\"]\n\n[file]\nheader = true\ndelimiter = \",\"\nquote = \"\\\"\"\n\n[columns]\n\
                  vip = { type = \"flag\", values = [\"0\", \"1\"], private = true }\n";
    let schema = Schema::from_toml("schema", schema).unwrap().to_toml();
    let flags = |to: &mut Writer| {
        to.byte(4);
        to.long(MIB * 8);
        to.list::<u8>(&[], |_, _| {});
        to.text(&schema);
        to.list(&[()], |(), to| {
            [0, 2, 1].into_iter().for_each(|word| to.word(word));
            to.bytes(&vec![0x5a; MIB as usize]);
        });
        to.text(release.certificate().to_json().as_str());
    };
    // So many empty lists, each with its length alone.
    let lists = |kind: u8| {
        to(|to| {
            to.byte(kind);
            to.list(&vec![0; MIB as usize / 8], |_, to| to.long(0));
        })
    };
    let settings = to(|to| {
        to.byte(1);
        to.list(&vec![0; MIB as usize / 16], |_, to| to.fixed(&[0; 16]));
    });
    let questions = to(|to| {
        to.byte(1);
        to.settings(&[]);
        to.byte(3);
        to.list(&vec![0; MIB as usize / 48], |_, to| to.fixed(&[0; 48]));
    });
    let columns = to(|to| {
        to.byte(4);
        to.fixed(&told[..told.len() - release.certificate().to_json().len() - 8]);
        to.fixed(&[0; MIB as usize]);
    });
    let branches = to(|to| {
        to.byte(8);
        to.long(8);
        to.list(&vec![0; MIB as usize / 8], |_, to| to.long(0));
        to.text("");
    });
    let ranks = to(|to| {
        to.byte(5);
        to.fixed(&released(&given(), 0).to_bytes());
        to.list(&vec![0; MIB as usize / 8], |_, to| to.long(0));
    });
    let all = [
        ("flags", to(flags)),
        ("splits", lists(6)),
        ("thresholds", lists(7)),
        ("settings", settings),
        ("questions", questions),
        ("columns", columns),
        ("branches", branches),
        ("ranks", ranks),
    ];
    for (name, bytes) in all {
        let (read, most) = peak(|| Message::from_bytes(&bytes).map(drop));
        println!("{name}: {} bytes take {most}, {read:?}", bytes.len());
        assert!(
            most <= 4 * bytes.len(),
            "{name}: {} bytes take {most}",
            bytes.len()
        );
        assert_eq!(
            read.is_ok(),
            ["flags", "splits", "thresholds", "branches"].contains(&name),
            "{name}: {read:?}"
        );
    }
}

/// A text of a few kilobytes that declares bins by the million.
#[test]
fn a_schema_of_a_peer_takes_a_few_megabytes() {
    let mut text = String::from("dataset = \"d\"\n[columns]\n");
    for place in 0..250 {
        text += &format!("c{place} = {{ type = \"number\", min = 0, max = 1, bins = 65000 }}\n");
    }
    let bytes = to(|to| {
        to.byte(4);
        to.long(20);
        to.settings(&[]);
        to.text(&text);
    });
    let (read, most) = peak(|| Message::from_bytes(&bytes).map(drop));
    assert!(read.unwrap_err().to_string().contains("bins and values"));
    assert!(most < 24 << 20, "{} bytes take {most}", bytes.len());
}

/// Each split is asked for once, so that an answer is no longer than the columns.
#[test]
fn a_split_is_asked_for_once() {
    let vertical = builder("1")
        .alignment(Alignment::Given)
        .protocol(Protocol::AsPublished)
        .build()
        .unwrap();
    let schema = SHOP.replace(
        "type = \"category\", values = [\"a\", \"b\", \"c\"]",
        "type = \"ordinal\", values = [\"a\", \"b\", \"c\"]",
    );
    let taken = || {
        let make = |run| feature_holder(&vertical, table(&schema, &shop(0..200), None), volatile(), &run);
        let (mut seat, _) = take(1, Box::new(MemoryRecord::default()), make).unwrap();
        let hello = hello(&vertical, Wanted::Ordinals, Meeting::Given { rows: 200 });
        deliver(&mut seat, 0, &frame(0, 0, &hello)).unwrap();
        seat
    };
    for (splits, ends) in [
        (vec![vec![0, 1], vec![0]], SeatState::Finished),
        (vec![vec![0; 1000], vec![]], SeatState::Failed),
        (vec![vec![1, 0], vec![]], SeatState::Failed),
    ] {
        let mut seat = taken();
        deliver(&mut seat, 0, &frame(0, 1, &Message::Splits(splits))).unwrap();
        assert_eq!(seat.state(), ends);
    }
}

/// What all jobs must say alike is in the digest of the agreement, and so in every frame.
#[test]
fn jobs_that_differ_make_other_agreements() {
    let of = |vertical: &Vertical| {
        let names = ["bank", "shop"].map(String::from).into();
        vertical.agreement(privet::wire::RunId([1; 16]), names).unwrap()
    };
    let one = of(&agreed(25));
    assert_eq!(one.terms().limits.most_ids, Some(25));
    assert_eq!(of(&given()).terms().limits.most_ids, None);
    assert_eq!(one.digest(), of(&agreed(25)).digest());
    assert_ne!(one.digest(), of(&agreed(26)).digest());
    let dearer = builder("2").most_ids(25).build().unwrap();
    assert_ne!(one.terms().job, of(&dearer).terms().job);
}

/// Each rank takes a cut of a tree: there are no more of them than values that can occur, or rows.
#[test]
fn a_rank_is_one_of_the_values_that_occur() {
    let published = builder("2")
        .alignment(Alignment::Given)
        .protocol(Protocol::AsPublished)
        .build()
        .unwrap();
    let schema = SHOP.replace("category", "ordinal");
    for (rows, most) in [(200, 3), (2, 2)] {
        let make = |run| feature_holder(&published, table(&schema, &shop(0..rows), None), volatile(), &run);
        let (mut seat, _) = take(1, Box::new(MemoryRecord::default()), make).unwrap();
        let hello = hello(&published, Wanted::Ordinals, Meeting::Given { rows });
        let sent = deliver(&mut seat, 0, &frame(0, 0, &hello)).unwrap();
        let Body::Part { bytes, .. } = Frame::from_bytes(sent[0].bytes.clone()).unwrap().body else {
            panic!("ranks are a message");
        };
        assert!(matches!(Message::from_bytes(&bytes), Ok(Message::Ordinals(_))));
        // The rank of the last row's town.
        let (rest, _) = bytes.split_last_chunk::<4>().unwrap();
        let with = |rank: u32| Message::from_bytes(&[rest, &rank.to_le_bytes()].concat());
        assert!(with(most - 1).is_ok());
        for rank in [most, 65_534, u32::MAX] {
            assert!(with(rank).is_err(), "{rank} of {rows} rows");
        }
    }
}

/// What a peer claims to lose follows from what was agreed on: nobody has to believe it.
#[test]
fn a_claimed_loss_is_computed_again() {
    let vertical = given();
    let release = released(&vertical, 20);
    let told = release.certificate().to_json();
    let bytes = Message::Columns(Box::new(release)).to_bytes();
    let with = |certificate: &str| {
        let mut bytes = bytes.clone();
        bytes.truncate(bytes.len() - told.len() - 8);
        bytes.extend((certificate.len() as u64).to_le_bytes());
        bytes.extend(certificate.as_bytes());
        let (mut seat, _) = at_the_bank(&vertical, 20);
        let frame = framed(&agreement(), 1, 0, 0, bytes);
        deliver(&mut seat, 1, &frame).unwrap();
        seat
    };
    assert_eq!(with(&told).state(), SeatState::Working);
    let claims = |change: &dyn Fn(&mut Vec<Distance>)| {
        let mut certificate = Certificate::from_json(&told).unwrap();
        for claim in &mut certificate.claims {
            if let Guarantee::Distance {
                columns,
                record,
                unit,
            } = &mut claim.guarantee
            {
                change(columns);
                *record = Distance::record(columns);
                *unit = *record;
            }
        }
        why(with(&certificate.to_json()))
    };
    let less = Loss::Bounded("0.1".parse().unwrap());
    // ε = 1 over two columns of ten bins and three values: half for each bin.
    let cases = [
        (
            claims(&|c| c[0].whole = less),
            "another loss for the column 'spent'",
        ),
        (
            claims(&|c| c[1].within = less),
            "another loss for the column 'town'",
        ),
        (
            claims(&|c| c[1].mechanism += " and more"),
            "another loss for the column 'town'",
        ),
        (claims(&|c| drop(c.pop())), "nothing of the column 'town'"),
        (
            claims(&|c| {
                c.push(Distance {
                    column: "more".into(),
                    ..c[0].clone()
                })
            }),
            "the column 'more', which did not",
        ),
    ];
    for (said, expected) in cases {
        assert!(said.contains(expected), "{said}");
    }
}

/// The header of a message says how long it is: it is compared with what was asked before the message is read.
#[test]
fn what_a_feature_holder_sends_is_bounded_by_what_was_asked() {
    const TEXTS: u64 = 1 << 24;
    let announced = |seat: &mut Seat<Party>, total: u64| {
        let part = Body::Part {
            total,
            at: 0,
            bytes: vec![0; PART],
        };
        let frame = Frame {
            agreement: agreement().digest(),
            from: 1,
            to: 0,
            number: 0,
            acknowledged: 0,
            body: part,
        };
        let bytes = frame.to_bytes();
        seat.admits(PartyId(1), &Header::read(bytes.first_chunk().unwrap()).unwrap())
    };
    let bounded = |mut seat: Seat<Party>, most: u64| {
        assert_eq!(announced(&mut seat, most).ok(), Some(true), "{most}");
        for more in [most + 1, 1 << 31, u64::MAX] {
            assert!(
                matches!(announced(&mut seat, more), Err(Error::Peer(_))),
                "{more} bytes where {most} are the most"
            );
        }
    };
    let vertical = given();
    bounded(at_the_bank(&vertical, 20).0, TEXTS + (1 << 20) * (2 * 20 + 16));
    let own = table(BANK, &bank(0..200), None);
    let model = rehearse(&vertical, own, vec![table(SHOP, &shop(0..200), None)]);
    let new = table(BANK, &bank(0..20), None);
    let (seat, hello) = take(0, Box::new(MemoryRecord::default()), |_| {
        let plan = vertical.label_holder(new.schema())?;
        LabelHolder::predicting(plan, new, model, true, leave())
    })
    .unwrap();
    let Message::Hello {
        wanted: Wanted::Branches(asked),
        ..
    } = said(&hello[0])
    else {
        panic!("questions")
    };
    assert!(!asked.is_empty());
    bounded(seat, TEXTS + asked.len() as u64 * (8 + 3));
}
