//! What is paid, refused and drawn, on a whole table and on its parts.

use super::*;

#[test]
fn shares_are_spent_to_the_last_billionth_and_no_further() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut ledger = ledger(&journal);
    for share in epsilon("1").shares(7.try_into().expect("seven")) {
        let mechanism = Laplace::calibrated(share, 1).expect("a mechanism");
        ledger
            .release("a share", &mechanism, count(&AddRemove::row()))
            .expect("fits");
    }
    assert_eq!(ledger.remaining(), Caps::ZERO);
    assert!(matches!(spend(&mut ledger, "0.000000001"), Err(Error::Budget(_))));
    let certificate = ledger.close();
    assert_eq!(
        certificate.claims[0].guarantee,
        Guarantee::Pure {
            epsilon: epsilon("1")
        }
    );
    assert!(certificate.recorded && !certificate.is_void());
    assert_eq!(certificate.payments.len(), 7);
}

#[test]
fn refusal_comes_before_the_data_is_touched() {
    let journal = journal(&AddRemove::row(), pure("0.5"), "0");
    let mut ledger = ledger(&journal);
    let before = journal.entries().len();
    let touched = Cell::new(false);
    let sensitivity = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), LAPLACE).expect("a claim");
    let query = Query::new(1, sensitivity, || {
        touched.set(true);
        Private::new(vec![41])
    });
    let refused = ledger.release(
        "too much",
        &Laplace::calibrated(epsilon("0.6"), 1).expect("a mechanism"),
        query,
    );
    let Err(Error::Budget(text)) = refused else {
        panic!("not refused")
    };
    let text = text.to_string();
    assert!(text.contains("0.6") && text.contains("0.5"), "{text}");
    assert!(
        !touched.get(),
        "the answer was computed although nothing was paid"
    );
    assert_eq!(journal.entries().len(), before, "a refusal is no payment");
}

#[test]
fn a_reservation_is_spent_when_it_is_made_and_never_exceeded() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut ledger = ledger(&journal);
    let mechanism = Laplace::calibrated(epsilon("0.3"), 1).expect("a mechanism");
    {
        let mut reserved = ledger
            .reserve("a run", Price::Pure(epsilon("0.7")), 3)
            .expect("fits");
        for _ in 0..2 {
            reserved
                .release(&mechanism, count(&AddRemove::row()))
                .expect("paid for");
        }
        // A third draw is left, but 0.3 is more than the 0.1 that is.
        assert!(matches!(
            reserved.release(&mechanism, count(&AddRemove::row())),
            Err(Error::Budget(_))
        ));
        let cheap = Laplace::calibrated(epsilon("0.01"), 1).expect("a mechanism");
        reserved
            .release(&cheap, count(&AddRemove::row()))
            .expect("paid for");
        assert!(
            matches!(
                reserved.release(&cheap, count(&AddRemove::row())),
                Err(Error::Budget(_))
            ),
            "no fourth draw"
        );
    }
    assert_eq!(ledger.remaining(), pure("0.3"));
    // A crash here loses nothing: what is reserved is spent.
    drop(ledger);
    let book = Book::of(&journal.entries()).expect("verifies");
    let line = &book.account("toy").expect("known").lines()[&AddRemove::row().relation()];
    assert_eq!(line.spent, pure("0.7"));
}

#[test]
fn a_reservation_refuses_before_the_data_is_touched() {
    let mut open = ledger(&journal(&AddRemove::row(), pure("1"), "0"));
    let mut reserved = open
        .reserve("a run", Price::Pure(epsilon("0.1")), 5)
        .expect("fits");
    let touched = Cell::new(false);
    let sensitivity = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), LAPLACE).expect("a claim");
    let query = Query::new(1, sensitivity, || {
        touched.set(true);
        Private::new(vec![41])
    });
    let dear = Laplace::calibrated(epsilon("0.2"), 1).expect("a mechanism");
    assert!(matches!(reserved.release(&dear, query), Err(Error::Budget(_))));
    assert!(!touched.get());
}

#[test]
fn a_query_that_cannot_be_asked_costs_nothing() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut open = ledger(&journal);
    let mechanism = Laplace::calibrated(epsilon("0.1"), 1).expect("a mechanism");
    let nothing = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), LAPLACE).expect("a claim");
    let nothing = Query::new(0, nothing, || Private::new(Vec::new()));
    assert!(matches!(
        open.release("nothing", &mechanism, nothing),
        Err(Error::Parameter(_))
    ));
    let forged = open.release(
        "a count\nguarantee  none needed",
        &mechanism,
        count(&AddRemove::row()),
    );
    assert!(
        matches!(forged, Err(Error::Parameter(_))),
        "one line, or a certificate could be forged with it"
    );
    assert_eq!(open.remaining(), pure("1"));
    spend(&mut open, "0.1").expect("the ledger goes on");
}

#[test]
fn a_claim_for_one_row_does_not_pay_for_a_unit_of_four() {
    let four = AddRemove::unit(4.try_into().expect("four"));
    let journal = journal(&four, pure("1"), "0");
    let mut ledger = Ledger::open("toy", four, journal, random()).expect("opens");
    let mechanism = Laplace::calibrated(epsilon("0.1"), 1).expect("a mechanism");
    let wrong = ledger.release("a count", &mechanism, count(&AddRemove::row()));
    assert!(matches!(wrong, Err(Error::Misuse(_))));
}

#[test]
fn a_selection_is_paid_like_everything_else() {
    let journal = journal(&AddRemove::row(), pure("0.4"), "0");
    let mut open = ledger(&journal);
    let query = || {
        let anchor = Anchor::new("selection#permute-and-flip");
        let sensitivity = Sensitivity::claim(&AddRemove::row(), Norm::Width(1), anchor).expect("a claim");
        Query::new(3, sensitivity, || Private::new(vec![5, 9, 7]))
    };
    let mechanism = PermuteAndFlip::calibrated(epsilon("0.3"), 1).expect("a mechanism");
    let chosen = open.release("the best", &mechanism, query()).expect("fits");
    assert!(*chosen.value() < 3);
    assert_eq!(open.remaining(), pure("0.1"));
    assert!(matches!(
        open.release("again", &mechanism, query()),
        Err(Error::Budget(_))
    ));
    let laplace = Laplace::calibrated(epsilon("0.1"), 1).expect("a mechanism");
    assert!(matches!(
        open.release("wrong norm", &laplace, query()),
        Err(Error::Misuse(_))
    ));
}

#[test]
fn two_runs_never_share_a_stream() {
    let journal = journal(&AddRemove::row(), pure("1000"), "0");
    let draw = |ledger: &mut Ledger<AddRemove>| {
        let sensitivity = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), LAPLACE).expect("a claim");
        let query = Query::new(64, sensitivity, || Private::new(vec![0; 64]));
        let mechanism = Laplace::calibrated(epsilon("0.001"), 1).expect("a mechanism");
        ledger
            .release("noise", &mechanism, query)
            .expect("fits")
            .into_inner()
    };
    let mut first = ledger(&journal);
    let a = [draw(&mut first), draw(&mut first)];
    drop(first);
    let b = draw(&mut ledger(&journal));
    // 64 draws at scale 1000 agree by chance with probability below 2^-600.
    assert!(a[0] != a[1] && a[0] != b && a[1] != b);
}

#[test]
fn parts_cost_what_one_change_can_touch() {
    let table = || Private::rows((0..30i64).collect());
    let thirds = || Partition::by(table(), 3, |row| (*row % 3) as usize);
    let price = Price::Pure(epsilon("0.1"));
    let mechanism = Laplace::calibrated(epsilon("0.1"), 1).expect("a mechanism");
    let claim = || Sensitivity::claim(&AddRemove::row(), Norm::L1(1), LAPLACE).expect("a claim");
    let size = |rows: &PerRow<i64>| vec![rows.as_slice().len() as i64];

    let mut add = ledger(&journal(&AddRemove::row(), pure("1"), "0"));
    let counts = add.parallel("counts", price, 1, thirds(), |part| {
        part.release(&mechanism, 1, claim(), size)
    });
    assert_eq!(counts.expect("fits").len(), 3);
    assert_eq!(add.remaining(), pure("0.9"), "a row is in one part");
    assert_eq!(add.close().payments[0].draws, 3, "one draw for each part");

    let replace = journal(&Replace::row(), pure("1"), "0");
    let mut replace = Ledger::open("toy", Replace::row(), replace, random()).expect("opens");
    replace
        .parallel("counts", price, 1, thirds(), |_| Ok(()))
        .expect("fits");
    assert_eq!(
        replace.remaining(),
        pure("0.8"),
        "a replaced row leaves one part and enters another"
    );

    let four = AddRemove::unit(4.try_into().expect("four"));
    let mut unit =
        Ledger::open("toy", four.clone(), journal(&four, pure("1"), "0"), random()).expect("opens");
    unit.parallel("counts", price, 1, thirds(), |_| Ok(()))
        .expect("fits");
    assert_eq!(
        unit.remaining(),
        pure("0.6"),
        "four rows may lie in three parts or in one"
    );
    // A part cannot spend more than its own price, nor draw more often than was paid for.
    let greedy = Laplace::calibrated(epsilon("0.2"), 1).expect("a mechanism");
    let over = unit.parallel("counts", price, 1, thirds(), |part| {
        part.release(&greedy, 1, claim(), size)
    });
    assert!(matches!(over, Err(Error::Budget(_))));
}

#[test]
fn parts_inside_a_reservation_are_taken_from_it() {
    let thirds = || Partition::by(Private::rows(vec![1i64, 2, 3]), 3, |row| (*row % 3) as usize);
    let replace = journal(&Replace::row(), pure("1"), "0");
    let mut open = Ledger::open("toy", Replace::row(), replace, random()).expect("opens");
    let mut reserved = open
        .reserve("a run", Price::Pure(epsilon("0.5")), 9)
        .expect("fits");
    let price = Price::Pure(epsilon("0.1"));
    reserved.parallel(price, 1, thirds(), |_| Ok(())).expect("fits");
    assert_eq!(reserved.remaining(), pure("0.3"), "twice the price of a part");
    reserved.parallel(price, 1, thirds(), |_| Ok(())).expect("fits");
    let over = reserved.parallel(price, 1, thirds(), |_| Ok(()));
    assert!(
        matches!(over, Err(Error::Budget(_))),
        "0.1 is left, and parts of 0.1 cost 0.2"
    );
    assert_eq!(reserved.draws_remaining(), 3, "three parts each time");
}
