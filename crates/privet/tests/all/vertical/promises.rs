//! What was paid for, drawn, shown and promised, whatever a peer, a crash or a second process does.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use privet::Error;
use privet::error::JournalFault;
use privet::party::{MemoryRecord, SeatState};
use privet::privacy::account::Caps;
use privet::privacy::journal::{Event, KeptValue};
use privet::privacy::ledger::append;
use privet::privacy::mechanism::ordered::{ClampedGeometric, Column};
use privet::privacy::{AddRemove, Delta, Guarantee, Ledger, Neighbours, Private, Randomness, Replace};
use privet::setting::vertical::{Budget, Earlier, LabelHolder, Message, Release};
use privet::wire::{Body, Wire};
use privet_testkit::faults::{AppendFault, Faulty};

use crate::vertical::faults::journal;
use crate::vertical::people::{
    BANK, SHOP, bank, builder, changes, feature_holder, keep, label_holder, rehearse, shop, table, with,
};
use crate::vertical::seats::{
    at_the_bank, at_the_shop, deliver, frame, given, message_of, opened, released, said, take, volatile,
};

/// A budget for single rows says nothing about people who have several.
#[test]
fn a_budget_that_covers_less_than_the_schema_is_refused() {
    let schema = SHOP.replace(
        "dataset = \"shop\"",
        "dataset = \"shop\"\nunit = \"client\"\nrows_per_unit = 5",
    );
    let vertical = given();
    let record = || Box::new(MemoryRecord::default());
    let rows = [shop(0..5), shop(0..5)].concat();
    let shop = || table(&schema, &rows, None);
    let kept = keep(&vertical, &shop(), volatile());
    assert!(
        matches!(kept, Err(Error::Misuse(_))),
        "{}",
        kept.unwrap().certificate()
    );
    let seat = take(1, record(), |run| {
        feature_holder(&vertical, shop(), volatile(), &run)
    });
    assert!(matches!(seat.err(), Some(Error::Misuse(_))));
}

/// Columns that were paid for when rows are replaced are not drawn under a budget for rows that come and go.
#[test]
fn a_second_draw_is_under_the_relation_of_the_first() {
    let mut journal = journal("shop");
    let limit = Event::Limit {
        dataset: "shop".into(),
        relation: AddRemove::row().relation(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    append(&mut journal, limit).unwrap();
    let vertical = given();
    let table = table(SHOP, &shop(0..9), None);
    journal.fail_at(2, AppendFault::Refused);
    let lost = keep(&vertical, &table, opened(&journal));
    assert!(matches!(lost, Err(Error::Journal(_))));
    let hiding = Ledger::open(
        "shop",
        AddRemove::row(),
        journal.clone(),
        Randomness::from_os().unwrap(),
    );
    let again = keep(&vertical, &table, hiding.unwrap());
    assert!(
        matches!(again, Err(Error::Budget(_))),
        "{}",
        again.unwrap().certificate()
    );
    assert!(keep(&vertical, &table, opened(&journal)).is_ok());
}

/// How often columns were paid for, drawn once more, and kept.
fn counts(journal: &Faulty) -> [usize; 3] {
    let entries = journal.entries();
    let count = |wanted: fn(&Event) -> bool| entries.iter().filter(|e| wanted(e.event())).count();
    [
        count(|e| matches!(e, Event::Desensitise { .. })),
        count(|e| matches!(e, Event::Redraw { .. })),
        count(|e| matches!(e, Event::Kept { .. })),
    ]
}

/// Two processes on one ledger: the second one comes after the first has drawn and before it has kept, or before it has paid. Both
/// give the value that was kept first.
#[test]
fn two_processes_keep_and_show_one_draw() {
    for (moment, expected) in [(1, [1, 0, 1]), (2, [1, 1, 1])] {
        let journal = journal("shop");
        let released = |journal: &Faulty| {
            let table = table(SHOP, &shop(0..200), None);
            keep(&given(), &table, opened(journal)).unwrap()
        };
        let other = Arc::new(Mutex::new(None));
        let (theirs, shared) = (Arc::clone(&other), journal.clone());
        journal.meanwhile(moment, move || {
            let table = table(SHOP, &shop(0..200), None);
            *theirs.lock().unwrap() = keep(&given(), &table, opened(&shared)).ok();
        });
        let first = released(&journal);
        let second = other.lock().unwrap().take().unwrap();
        assert!(first == second, "one payment, and two values are shown");
        assert_eq!(counts(&journal), expected);
        assert!(released(&journal) == first);
    }
}

/// Columns that are sampled by chance: a process that chose others takes those that were paid for.
#[test]
fn two_processes_sample_the_same_columns() {
    let vertical = || with(changes("2").budget(Budget::Sample(1))).build().unwrap();
    for _ in 0..20 {
        let journal = journal("shop");
        let other = Arc::new(Mutex::new(None));
        let (theirs, shared) = (Arc::clone(&other), journal.clone());
        journal.meanwhile(1, move || {
            let table = table(SHOP, &shop(0..9), None);
            *theirs.lock().unwrap() = keep(&vertical(), &table, opened(&shared)).ok();
        });
        let table = table(SHOP, &shop(0..9), None);
        let first = keep(&vertical(), &table, opened(&journal)).unwrap();
        assert!(other.lock().unwrap().take().unwrap() == first);
        assert_eq!(counts(&journal), [1, 0, 1]);
    }
}

/// What was kept and is missing or damaged is an error for ever, and never a second draw.
#[test]
fn a_kept_value_that_is_damaged_is_not_drawn_again() {
    let table = table(SHOP, &shop(0..50), None);
    let damages: [fn(&mut BTreeMap<u64, KeptValue>); 4] = [
        BTreeMap::clear,
        |all| all.values_mut().for_each(|kept| kept.value[40] ^= 1),
        |all| {
            all.values_mut()
                .for_each(|kept| kept.value.truncate(kept.value.len() - 1))
        },
        |all| {
            all.values_mut()
                .for_each(|kept| kept.about = kept.about.replace("table", "tables"))
        },
    ];
    for damage in damages {
        let journal = journal("shop");
        keep(&given(), &table, opened(&journal)).unwrap();
        journal.change_kept(damage);
        for _ in 0..2 {
            let again = keep(&given(), &table, opened(&journal));
            assert!(
                matches!(&again, Err(Error::Journal(e)) if e.fault() == JournalFault::Damaged),
                "{again:?}"
            );
        }
        assert_eq!(counts(&journal), [1, 0, 1]);
    }
}

/// A schema so long that what is kept could not be read again is refused before anything is paid.
#[test]
fn columns_that_could_not_be_read_again_are_not_paid_for() {
    let value = |n: usize| format!("\"{n}{}\"", "x".repeat(900));
    let values: Vec<String> = (0..5000).map(value).collect();
    let schema = SHOP.replace(r#"["a", "b", "c"]"#, &format!("[{}]", values.join(", ")));
    let (journal, table) = (journal("shop"), table(&schema, &shop(0..3), None));
    let refused = keep(&given(), &table, opened(&journal));
    assert!(matches!(refused, Err(Error::Parameter(_))));
    assert_eq!(counts(&journal), [0, 0, 0]);
}

/// Entries that say something was kept which was not, or twice, are in no chain.
#[test]
fn a_chain_keeps_what_was_paid_for_once() {
    let mut journal = journal("shop");
    let table = table(SHOP, &shop(0..9), None);
    keep(&given(), &table, opened(&journal)).unwrap();
    let kept = journal.entries().last().unwrap().event().clone();
    let Event::Kept {
        dataset, run, what, ..
    } = kept.clone()
    else {
        panic!("{kept:?}")
    };
    assert!(append(&mut journal, kept.clone()).is_err(), "kept twice");
    let redraw = Event::Redraw { dataset, run, what };
    assert!(append(&mut journal, redraw).is_err(), "drawn after it was kept");
    let change = |change: fn(&mut Event)| {
        let mut event = kept.clone();
        change(&mut event);
        event
    };
    for event in [
        change(|e| {
            if let Event::Kept { run, .. } = e {
                *run = "another".into();
            }
        }),
        change(|e| {
            if let Event::Kept { dataset, .. } = e {
                *dataset = "nowhere".into();
            }
        }),
        change(|e| {
            if let Event::Kept { digest, .. } = e {
                digest.pop();
            }
        }),
    ] {
        assert!(append(&mut journal, event).is_err());
    }
}

/// Ids are shown for columns that can leave, and not for nothing.
#[test]
fn nobody_meets_for_columns_that_have_left() {
    let (vertical, journal) = (builder("1").build().unwrap(), journal("shop"));
    let mechanism = ClampedGeometric::new("1".parse().unwrap(), 10).unwrap();
    opened(&journal)
        .desensitise(
            "somebody else",
            vec![Column::slots("spent", &mechanism, Private::new(vec![1]))],
        )
        .unwrap();
    let mut seat = at_the_shop(&vertical, &journal, &MemoryRecord::default(), 20);
    let (_, offers) = at_the_bank(&vertical, 30);
    let sent = deliver(&mut seat, 0, &offers[0].bytes).unwrap();
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
    let (vertical, journal) = (builder("1").build().unwrap(), journal("shop"));
    let mut seat = at_the_shop(&vertical, &journal, &MemoryRecord::default(), 20);
    // The meeting as the label holder would have it, with nobody the shop knows.
    let (_, offers) = {
        let own = table(BANK, &bank(500..510), Some("who"));
        take(0, Box::new(MemoryRecord::default()), |_| {
            label_holder(&vertical, own)
        })
        .unwrap()
    };
    let answer = deliver(&mut seat, 0, &offers[0].bytes).unwrap();
    let Message::Answer(answer) = said(&answer[0]) else {
        panic!()
    };
    // No place at all, under the seal of this exchange.
    let (head, seal) = (&answer[..41], &answer[answer.len() - 32..]);
    let mut common = head.to_vec();
    common[8] = 3;
    common.extend(0_u32.to_le_bytes());
    let sealed = <sha2::Sha256 as sha2::Digest>::digest([seal, &common].concat());
    common.extend(sealed);
    let sent = deliver(&mut seat, 0, &frame(0, 1, &Message::Common(common))).unwrap();
    assert_eq!(message_of(&sent[0]), Body::Aborted);
    let left = |e: &privet::privacy::journal::Entry| matches!(e.event(), Event::Desensitise { .. });
    assert!(!journal.entries().iter().any(left));
}

/// A run that is taken up again with other people would show them, and nobody would have written that down.
#[test]
fn a_run_is_not_taken_up_with_another_table() {
    let (vertical, journal, record) = (
        builder("1").build().unwrap(),
        journal("shop"),
        MemoryRecord::default(),
    );
    let (_, offers) = at_the_bank(&vertical, 30);
    let mut seat = at_the_shop(&vertical, &journal, &record, 20);
    let first = deliver(&mut seat, 0, &offers[0].bytes).unwrap();
    let taken = |rows: u64| {
        let make = |run| {
            let table = table(SHOP, &shop(0..rows), Some("client"));
            feature_holder(&vertical, table, opened(&journal), &run)
        };
        take(1, Box::new(record.clone()), make).unwrap().1
    };
    assert_eq!(taken(20), first);
    let other = taken(25);
    assert_eq!(other[0], first[0], "what was said before the restart");
    assert_eq!(other.len(), 2, "five people more are shown");
    assert_eq!(message_of(&other[1]), Body::Aborted);
}

/// With labels that change and no other columns, a table that has grown does not make the label holder panic.
#[test]
fn a_table_that_has_grown_is_no_panic() {
    let schema = BANK.replace(
        "age = { type = \"integer\", min = 18, max = 90 }",
        "age = { type = \"skip\" }",
    );
    let vertical = builder("1")
        .label_epsilon(crate::vertical::people::epsilon("1"))
        .build()
        .unwrap();
    let (books, record) = (journal("bank"), MemoryRecord::default());
    let taken = |rows: u64| {
        let make = |run| {
            let ledger = Ledger::open("bank", Replace::row(), books.clone(), Randomness::from_os()?)?;
            let own = table(&schema, &bank(0..rows), Some("who"));
            let plan = vertical.label_holder(own.schema())?;
            LabelHolder::with_noisy_labels(plan, own, ledger, &run)
        };
        take(0, Box::new(record.clone()), make).unwrap()
    };
    taken(20);
    let (mut bank, offers) = taken(30);
    if bank.state() == SeatState::Failed {
        return;
    }
    let mut shop = at_the_shop(&vertical, &journal("shop"), &MemoryRecord::default(), 40);
    let answer = deliver(&mut shop, 0, &offers[0].bytes).unwrap();
    deliver(&mut bank, 1, &answer[0].bytes).unwrap();
    assert_eq!(bank.state(), SeatState::Failed);
}

/// The club is told which of its people the shop has, too: the shop's ledger and certificate say so.
#[test]
fn what_other_feature_holders_learn_is_written_down() {
    let vertical = builder("1").build().unwrap();
    let own = table(BANK, &bank(0..60), Some("who"));
    let others = vec![
        table(SHOP, &shop(10..70), Some("client")),
        table(
            crate::vertical::people::CLUB,
            &crate::vertical::people::club(20..80),
            Some("member"),
        ),
    ];
    let model = rehearse(&vertical, own, others);
    let said = model.certificate().parties[0].certificate.to_string();
    assert!(said.contains("feature holder"), "{said}");
}

/// A version before wrote the run's name into a file before it paid: a crash between them leaves a file without a value, of a run that the ledger
/// does not know. There is nothing to compare, before columns are released and afterwards.
#[test]
fn a_file_of_a_run_that_never_paid_is_ignored() {
    let (journal, vertical) = (journal("shop"), given());
    let table = table(SHOP, &shop(0..9), None);
    let plan = vertical.desensitisation().plan(table.schema()).unwrap();
    let import = |run, value, write| {
        let earlier = Earlier::new(run, value, "shop.csv.columns");
        Release::import(&plan, &table, opened(&journal), &earlier, write)
    };
    import([7; 16], None, true).unwrap();
    Release::keep(&plan, &table, opened(&journal)).unwrap();
    for write in [false, true] {
        import([7; 16], None, write).unwrap();
        // One that holds something else is not.
        assert!(import([7; 16], Some(vec![1, 2, 3]), write).is_err());
    }
    // Nor one of a run that the ledger knows, whose value is gone.
    let named = journal.entries().iter().find_map(|entry| match entry.event() {
        Event::Desensitise { run, .. } => run.clone(),
        _ => None,
    });
    let named = named.unwrap();
    let bytes = (0..16).map(|at| u8::from_str_radix(&named[2 * at..2 * at + 2], 16).unwrap());
    let run: Vec<u8> = bytes.collect();
    assert!(import(run.try_into().unwrap(), None, true).is_err());
}

/// A ledger of a version before, which could not know whether columns had been seen, and admitted one more draw: it opens, and no further draw
/// is made.
#[test]
fn a_redraw_of_an_earlier_version_stays_and_is_the_last() {
    let mut journal = journal("shop");
    let vertical = given();
    let released = released(&vertical, 20);
    let paid = released
        .certificate()
        .claims
        .iter()
        .find_map(|claim| match &claim.guarantee {
            Guarantee::Distance { columns, record, .. } => Some((columns.clone(), *record)),
            _ => None,
        });
    let (columns, record) = paid.unwrap();
    let (run, what) = ("00ff".repeat(8), "the label holder".to_owned());
    let entry = Event::Desensitise {
        dataset: "shop".into(),
        relation: Replace::row().relation(),
        what: what.clone(),
        columns,
        record,
        run: Some(run.clone()),
        stored: false,
    };
    append(&mut journal, entry).unwrap();
    let redraw = || Event::Redraw {
        dataset: "shop".into(),
        run: run.clone(),
        what: what.clone(),
    };
    append(&mut journal, redraw()).unwrap();
    assert!(append(&mut journal, redraw()).is_err(), "a third draw");
    let rows = table(SHOP, &shop(0..20), None);
    let refused = keep(&vertical, &rows, opened(&journal));
    assert!(matches!(refused, Err(Error::Budget(_))), "{refused:?}");
    // What the file of that version has kept is taken over, and then nothing is drawn again.
    let name = [0, 255].repeat(8).try_into().unwrap();
    let earlier = Earlier::new(name, Some(released.to_bytes()), "shop.columns");
    let plan = vertical.feature_holder(rows.schema()).unwrap();
    Release::import(plan.columns(), &rows, opened(&journal), &earlier, true).unwrap();
    assert!(append(&mut journal, redraw()).is_err());
    assert_eq!(counts(&journal), [1, 1, 1]);
    assert_eq!(keep(&vertical, &rows, opened(&journal)).unwrap().rows(), 20);
}
