//! The chain of entries: failed writes, edits, rollbacks, and strict reading.

use super::*;

#[test]
fn a_write_that_fails_draws_nothing_and_stops_the_ledger() {
    for fault in [AppendFault::Refused, AppendFault::Unacknowledged] {
        let journal = journal(&AddRemove::row(), pure("1"), "0");
        let mut open = ledger(&journal);
        spend(&mut open, "0.1").expect("fits");
        journal.fail_at(1, fault);
        assert!(matches!(spend(&mut open, "0.1"), Err(Error::Journal(_))));
        assert!(
            matches!(spend(&mut open, "0.1"), Err(Error::Journal(_))),
            "nothing more until it is opened again"
        );
        let reopened = ledger(&journal);
        let left = if fault == AppendFault::Refused {
            "0.9"
        } else {
            "0.8"
        };
        assert_eq!(
            reopened.remaining(),
            pure(left),
            "what may be on disk counts as spent"
        );
    }
}

#[test]
fn every_edit_cut_or_swap_of_the_chain_is_found() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut open = ledger(&journal);
    for _ in 0..3 {
        spend(&mut open, "0.1").expect("fits");
    }
    let head = open.close().ledger;
    let entries = journal.read(0).expect("reads");
    assert!(Book::of(&entries).expect("verifies").contains(&head));

    let edit = |n: usize, from: &str, to: &str| {
        let mut edited = entries.clone();
        let text = entries[n].text().replace(from, to);
        assert_ne!(text, entries[n].text());
        edited[n] = Entry::parse(text, entries[n].hash().into()).expect("parses");
        edited
    };
    for edited in [
        edit(3, "0.1", "0.01"),
        edit(1, "\"pure\":\"1\"", "\"pure\":\"9\""),
        edit(4, "a count", "a sum"),
    ] {
        assert!(matches!(Book::of(&edited), Err(Error::Journal(_))));
    }
    let mut swapped = entries.clone();
    swapped.swap(2, 3);
    assert!(Book::of(&swapped).is_err());
    let without_middle: Vec<Entry> = [&entries[..2], &entries[3..]].concat();
    assert!(Book::of(&without_middle).is_err());
    let cut = Book::of(&entries[..4]).expect("a shorter chain verifies by itself");
    assert!(!cut.contains(&head), "but the certificate's head is not in it");
}

#[test]
fn two_ledgers_on_one_journal_cannot_both_spend_it() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let [mut one, mut other] = [ledger(&journal), ledger(&journal)];
    spend(&mut one, "0.8").expect("fits");
    assert!(
        matches!(spend(&mut other, "0.8"), Err(Error::Budget(_))),
        "what the other has paid is counted first"
    );
    spend(&mut other, "0.1").expect("both may pay what remains");
    spend(&mut one, "0.1").expect("in turn");
    assert_eq!(ledger(&journal).remaining(), pure("0"), "and the chain is whole");
}

/// A journal that is put back to an older copy while a ledger is open is not written to.
#[test]
fn a_journal_that_was_put_back_is_not_written_to() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut older = Faulty::default();
    for entry in journal.entries() {
        older.append(&entry).expect("follows");
    }
    spend(&mut ledger(&journal), "0.5").expect("fits");
    let mut open = ledger(&journal);
    journal.put_back(&older);
    let refused = spend(&mut open, "0.1");
    let fault = match refused {
        Err(Error::Journal(e)) => Some(e.fault()),
        _ => None,
    };
    assert_eq!(fault, Some(privet::error::JournalFault::MovedOn));
    assert_eq!(journal.entries().len(), 2);
}

#[test]
fn the_same_run_twice_does_not_end_in_the_same_head() {
    // Roll back and repeat: without a nonce, both certificates would be found in one chain.
    let original = journal(&AddRemove::row(), pure("1"), "0");
    let snapshot = original.entries();
    let mut open = ledger(&original);
    spend(&mut open, "1").expect("fits");
    let lost = open.close().ledger;
    let mut restored = Faulty::default();
    snapshot
        .iter()
        .for_each(|entry| restored.append(entry).expect("follows"));
    let mut open = ledger(&restored);
    spend(&mut open, "1").expect("fits");
    let kept = open.close().ledger;
    let book = Book::of(&restored.entries()).expect("verifies");
    assert!(book.contains(&kept) && !book.contains(&lost));
}

#[test]
fn entries_are_read_strictly() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let entry = &journal.entries()[1];
    let parse = |text: String| Entry::parse(text, entry.hash().into());
    assert!(parse(entry.text().into()).is_ok());
    for (from, to) in [
        ("\"rows\":1", "\"rows\":0"),
        ("\"rows\":1", "\"rows\":1,\"unit\":null"),
        ("\"rows\":1", "\"rows\":1,\"household\":\"who\""),
        ("\"rows\":1", "\"rows\": 1"),
        ("\"pure\":\"1\"", "\"pure\":\"1.0\""),
        ("\"pure\":\"1\"", "\"pure\":\"-1\""),
        ("\"pure\":\"1\"", "\"pure\":1"),
        ("limit", "lift"),
    ] {
        let text = entry.text().replacen(from, to, 1);
        assert_ne!(text, entry.text(), "{from}");
        assert!(matches!(parse(text), Err(Error::Journal(_))), "{from} as {to}");
    }
    let bare = Relation::ReplacePrivate {
        rows: 1.try_into().expect("one"),
        unit: None,
        columns: Default::default(),
    };
    let mut open = journal;
    let limit = Event::Limit {
        dataset: "toy".into(),
        relation: bare,
        caps: pure("1"),
        delta: Delta::ZERO,
    };
    assert!(append(&mut open, limit).is_err(), "no column, no protection");
    let gaussian = Caps {
        mu_squared: MuSquared::from_units(1),
        ..Caps::ZERO
    };
    let relation = AddRemove::row().relation();
    let limit = Event::Limit {
        dataset: "toy".into(),
        relation,
        caps: gaussian,
        delta: Delta::ZERO,
    };
    assert!(append(&mut open, limit).is_err(), "μ² means nothing at δ = 0");
    // A refused event leaves nothing behind: its name can still be adopted.
    let relation = AddRemove::row().relation();
    let limit = Event::Limit {
        dataset: "new".into(),
        relation,
        caps: gaussian,
        delta: Delta::ZERO,
    };
    assert!(append(&mut open, limit).is_err());
    append(
        &mut open,
        Event::Adopt {
            dataset: "new".into(),
            of: "toy".into(),
        },
    )
    .expect("a free name");
}

#[test]
fn names_that_look_alike_are_refused() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    let relation = AddRemove::row().relation();
    for name in [
        "",
        " ",
        "toy ",
        "toy\u{200b}",
        "a\u{2028}b",
        "\u{202e}yot",
        "\u{feff}toy",
        "a\nb",
    ] {
        let limit = Event::Limit {
            dataset: name.into(),
            relation: relation.clone(),
            caps: pure("1"),
            delta: Delta::ZERO,
        };
        assert!(append(&mut journal, limit).is_err(), "{name:?}");
    }
    let columns = ["a\nb".to_owned()].into();
    let odd = Relation::ReplacePrivate {
        rows: 1.try_into().expect("one"),
        unit: None,
        columns,
    };
    let limit = Event::Limit {
        dataset: "people".into(),
        relation: AddRemove::row().of("who\u{200b}").relation(),
        caps: pure("1"),
        delta: Delta::ZERO,
    };
    assert!(
        append(&mut journal, limit).is_err(),
        "a unit that looks like another"
    );
    for relation in [odd, Replace::row().relation()] {
        let price = Price::Pure(epsilon("0.1"));
        let spend = Event::Spend {
            dataset: "toy".into(),
            relation,
            what: "w".into(),
            price,
            draws: 1,
            assuming: Vec::new(),
            run: None,
            promise: None,
            added: false,
            stored: false,
            sharing: None,
            portions: None,
        };
        assert!(
            append(&mut journal, spend).is_err(),
            "no such column, no limit for that relation"
        );
    }
}

#[test]
fn a_chain_that_mixes_units_is_refused() {
    let journal = journal(&AddRemove::row().of("who"), pure("1"), "0");
    let spend = |relation: &AddRemove| Event::Spend {
        dataset: "toy".into(),
        relation: relation.relation(),
        what: "a count".into(),
        price: Price::Pure(epsilon("0.1")),
        draws: 1,
        assuming: Vec::new(),
        run: None,
        promise: None,
        added: false,
        stored: false,
        sharing: None,
        portions: None,
    };
    let mut entries = journal.entries();
    let paid = Entry::after(&entries[1].head(), None, spend(&AddRemove::row().of("who")));
    entries.push(paid.expect("an entry"));
    let head = entries[2].head();
    for relation in [AddRemove::row(), AddRemove::row().of("household")] {
        let events = [
            Event::Limit {
                dataset: "toy".into(),
                relation: relation.relation(),
                caps: pure("1"),
                delta: Delta::ZERO,
            },
            spend(&relation),
        ];
        for event in events {
            // Hashed as it should be: only its sense is wrong.
            let entry = Entry::after(&head, None, event).expect("an entry");
            let found = Book::of(&[entries.clone(), vec![entry]].concat());
            assert!(
                matches!(&found, Err(Error::Journal(text)) if text.to_string().contains("budgeted per person, by the column 'who'")),
                "{found:?}"
            );
        }
    }
}
