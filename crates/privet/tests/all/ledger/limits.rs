//! Limits, relations and names.

use super::*;

#[test]
fn nothing_lowers_what_has_been_spent() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    spend(&mut ledger(&journal), "0.6").expect("fits");
    let limit = |caps, relation| Event::Limit {
        dataset: "toy".into(),
        relation,
        caps,
        delta: Delta::ZERO,
    };
    let add_remove = AddRemove::row().relation();
    assert!(
        append(&mut journal, limit(pure("0.5"), add_remove.clone())).is_err(),
        "below what is spent"
    );
    append(&mut journal, limit(pure("2"), add_remove.clone())).expect("a higher limit");
    let open = ledger(&journal);
    assert_eq!(open.remaining(), pure("1.4"));
    let book = Book::of(&journal.entries()).expect("verifies");
    assert_eq!(
        book.account("toy").expect("known").lines()[&add_remove].changed,
        1
    );
    // A limit that is first set after spending was not fixed before the outputs either.
    // Under replacement the same payments count twice.
    let replace = Replace::row().relation();
    assert!(append(&mut journal, limit(pure("1.1"), replace.clone())).is_err());
    append(&mut journal, limit(pure("1.2"), replace.clone())).expect("exactly what is spent");
    let book = Book::of(&journal.entries()).expect("verifies");
    assert_eq!(book.account("toy").expect("known").lines()[&replace].changed, 1);
    // And now that limit is full too, although the other has room.
    assert!(matches!(
        spend(&mut ledger(&journal), "0.1"),
        Err(Error::Budget(_))
    ));
}

#[test]
fn a_payment_under_replacement_is_no_claim_under_addition() {
    let mut journal = journal(&Replace::row(), pure("1"), "0");
    let limit = Event::Limit {
        dataset: "toy".into(),
        relation: AddRemove::row().relation(),
        caps: pure("1"),
        delta: Delta::ZERO,
    };
    append(&mut journal, limit).expect("a second limit");
    let mut open = Ledger::open("toy", Replace::row(), journal.clone(), random()).expect("opens");
    let mechanism = Laplace::calibrated(epsilon("0.5"), 1).expect("a mechanism");
    open.release("a count", &mechanism, count(&Replace::row()))
        .expect("fits");
    let book = Book::of(&journal.entries()).expect("verifies");
    let lines = book.account("toy").expect("known").lines();
    assert_eq!(lines[&Replace::row().relation()].spent, pure("0.5"));
    let add = &lines[&AddRemove::row().relation()];
    assert_eq!((add.spent, add.uncovered), (Caps::ZERO, 1));
}

#[test]
fn no_budget_means_no_run() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let other = Ledger::open("other", AddRemove::row(), journal.clone(), random());
    assert!(
        matches!(other, Err(Error::Budget(text)) if text.to_string().contains("`privet ledger limit other --epsilon E`"))
    );
    let person = AddRemove::unit(2.try_into().expect("two")).of("who");
    let other = Ledger::open("other", person, journal.clone(), random());
    assert!(
        matches!(other, Err(Error::Budget(text)) if text.to_string().contains("--epsilon E --unit who --rows-per-unit 2`"))
    );
    assert!(matches!(
        Ledger::open("toy", Replace::row(), journal, random()),
        Err(Error::Budget(_))
    ));
}

#[test]
fn people_and_rows_are_not_kept_in_one_account() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    let two = 2.try_into().expect("two");
    let limit = |dataset: &str, relation| Event::Limit {
        dataset: dataset.into(),
        relation,
        caps: pure("1"),
        delta: Delta::ZERO,
    };
    let spend = |dataset: &str, relation| Event::Spend {
        dataset: dataset.into(),
        relation,
        what: "a count".into(),
        price: Price::Pure(epsilon("0.01")),
        draws: 1,
        assuming: Vec::new(),
        run: None,
        promise: None,
        added: false,
        stored: false,
        sharing: None,
        portions: None,
    };
    let person = AddRemove::row().of("who");
    append(&mut journal, limit("toy", AddRemove::unit(two).relation())).expect("rows, two at a time");
    let opened = Ledger::open("toy", person.clone(), journal.clone(), random()).map(drop);
    assert!(
        matches!(&opened, Err(Error::Budget(text)) if text.to_string().contains("`privet ledger limit toy --epsilon E --unit who`")),
        "{opened:?}"
    );
    append(&mut journal, spend("toy", AddRemove::row().relation())).expect("paid per row");
    let refused = append(&mut journal, limit("toy", person.relation())).map_err(|e| e.to_string());
    let text = refused.expect_err("one row is not one person");
    assert!(
        text.contains("'toy' is budgeted per row; this is about people, by the column 'who'"),
        "{text}"
    );
    let opened = Ledger::open("toy", person.clone(), journal.clone(), random()).map(drop);
    assert!(
        matches!(&opened, Err(Error::Budget(text)) if text.to_string().contains("cannot be changed")),
        "{opened:?}"
    );

    // The other way round, under a second name as well.
    append(&mut journal, limit("people", AddRemove::row().relation())).expect("a data set of its own");
    append(&mut journal, limit("people", person.relation())).expect("nothing was paid by row");
    assert!(append(&mut journal, spend("people", AddRemove::row().relation())).is_err());
    append(&mut journal, spend("people", person.relation())).expect("paid per person");
    append(
        &mut journal,
        limit("people", Replace::unit(two).of("who").relation()),
    )
    .expect("the same people");
    let event = Event::Adopt {
        dataset: "folk".into(),
        of: "people".into(),
    };
    append(&mut journal, event).expect("adopted");
    for name in ["people", "folk"] {
        for relation in [AddRemove::row(), AddRemove::row().of("household")] {
            assert!(append(&mut journal, limit(name, relation.relation())).is_err());
            let opened = Ledger::open(name, relation, journal.clone(), random());
            assert!(matches!(opened, Err(Error::Budget(_))));
        }
    }
    let mut open = Ledger::open("folk", person.clone(), journal.clone(), random()).expect("opens");
    let mechanism = Laplace::calibrated(epsilon("0.2"), 1).expect("a mechanism");
    assert!(
        open.release("a count", &mechanism, count(&AddRemove::row()))
            .is_err(),
        "proved for rows"
    );
    open.release("a count", &mechanism, count(&person)).expect("fits");
    // What says nothing about units goes on as before.
    open.void("a test").expect("recorded");
    let book = Book::of(&journal.entries()).expect("verifies");
    let spent: Vec<Caps> = book
        .account("people")
        .expect("known")
        .lines()
        .values()
        .map(|l| l.spent)
        .collect();
    assert_eq!(spent, [pure("0.21"), pure("0.84")]);
}

#[test]
fn an_adopted_name_shares_the_budget() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    spend(&mut ledger(&journal), "0.6").expect("fits");
    append(
        &mut journal,
        Event::Adopt {
            dataset: "copy".into(),
            of: "toy".into(),
        },
    )
    .expect("adopted");
    let mut copy = Ledger::open("copy", AddRemove::row(), journal.clone(), random()).expect("opens");
    assert_eq!(copy.remaining(), pure("0.4"));
    spend(&mut copy, "0.3").expect("fits");
    assert_eq!(ledger(&journal).remaining(), pure("0.1"));
    let again = append(
        &mut journal,
        Event::Adopt {
            dataset: "toy".into(),
            of: "copy".into(),
        },
    );
    assert!(
        again.is_err(),
        "a name with a budget of its own cannot slip under another"
    );
    assert!(
        append(
            &mut journal,
            Event::Adopt {
                dataset: "x".into(),
                of: "nobody".into()
            }
        )
        .is_err()
    );
}

/// A budget that is used up cannot be side-stepped by asking for a weaker protection: what also holds for the stronger one is
/// charged to both.
#[test]
fn a_payment_that_holds_for_added_units_is_charged_for_them_too() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    let second = Event::Limit {
        dataset: "toy".into(),
        relation: Replace::row().relation(),
        caps: pure("9"),
        delta: Delta::ZERO,
    };
    append(&mut journal, second).expect("a second limit");
    let open = || Ledger::open("toy", Replace::row(), journal.clone(), random()).expect("opens");
    let both = || {
        let claim = Sensitivity::claim(&Replace::row(), Norm::L1(2), LAPLACE).expect("a claim");
        Query::new(1, claim.also_added(), || Private::new(vec![41]))
    };
    let mechanism = Laplace::calibrated(epsilon("0.6"), 2).expect("a mechanism");
    open().release("a count", &mechanism, both()).expect("fits both");
    let spent = || {
        let book = Book::of(&journal.entries()).expect("verifies");
        let account = book.account("toy").expect("known");
        let lines = account.lines();
        let [added, replaced] = [AddRemove::row().relation(), Replace::row().relation()];
        assert_eq!(lines[&added].uncovered, 0);
        assert!(account.counts_everything(&added));
        [lines[&added].spent, lines[&replaced].spent]
    };
    assert_eq!(spent(), [pure("0.6"), pure("0.6")]);

    // The stronger budget has no room for another: refused, although the weaker one has, and also as a promise.
    let refused = open().release("a count", &mechanism, both()).map(drop);
    assert!(
        matches!(&refused, Err(Error::Budget(text)) if text.to_string().contains("when one row is added or removed there remains pure ε of 0.4")),
        "{refused:?}"
    );
    assert!(matches!(
        open().promise(Price::Pure(epsilon("0.6")), Delta::ZERO),
        Err(Error::Budget(_))
    ));
    assert_eq!(spent(), [pure("0.6"), pure("0.6")]);

    // A question that was not claimed for added units cannot be put to an allowance that was charged for them.
    let mut run = open();
    let mut paid = run
        .reserve_also_added("two counts", Price::Pure(epsilon("0.4")), 2)
        .expect("fits");
    let weaker = Laplace::calibrated(epsilon("0.1"), 1).expect("a mechanism");
    let misused = paid.release(&weaker, count(&Replace::row())).map(drop);
    assert!(matches!(misused, Err(Error::Misuse(_))), "{misused:?}");
    let half = Laplace::calibrated(epsilon("0.2"), 2).expect("a mechanism");
    paid.release(&half, both()).expect("claimed for both");
}

#[test]
fn a_second_budget_is_known_for_what_it_is() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    let account = |journal: &Faulty| {
        let book = Book::of(&journal.entries()).expect("verifies");
        book.account("toy").expect("known").clone()
    };
    let [added, replaced] = [AddRemove::row().relation(), Replace::row().relation()];
    let two = AddRemove::unit(2.try_into().expect("two")).relation();
    let before = account(&journal);
    assert_eq!(before.second_to(&added), None, "the same one");
    assert_eq!(
        before.second_to(&two),
        None,
        "each counts what is paid from the other"
    );
    assert_eq!(before.second_to(&replaced), Some(&added));
    let text = Ledger::open("toy", Replace::row(), journal.clone(), random())
        .map(drop)
        .expect_err("no such budget")
        .to_string();
    assert!(
        text.contains("It has one for: one row is added or removed"),
        "{text}"
    );
    assert!(text.contains("--change replace --second-budget`"), "{text}");

    // Columns that leave changed cost no ε: a line of nothing is no second budget.
    let zero = Event::Limit {
        dataset: "toy".into(),
        relation: replaced.clone(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    append(&mut journal, zero).expect("nothing to spend");
    assert_eq!(account(&journal).second_to(&added), None);
}
