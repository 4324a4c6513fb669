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
    assert!(matches!(other, Err(Error::Budget(text)) if text.contains("privet ledger limit other")));
    assert!(matches!(
        Ledger::open("toy", Replace::row(), journal, random()),
        Err(Error::Budget(_))
    ));
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
