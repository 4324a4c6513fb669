//! What a run is certified to guarantee, and when it is void.

use super::*;

#[test]
fn a_seed_voids_the_run_and_the_total_for_ever() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut seeded =
        Ledger::open("toy", AddRemove::row(), journal.clone(), Randomness::seeded(7)).expect("opens");
    spend(&mut seeded, "0.1").expect("fits");
    assert!(seeded.close().is_void());
    let mut honest = ledger(&journal);
    spend(&mut honest, "0.1").expect("fits");
    assert!(
        !honest.close().is_void(),
        "a later model keeps its own certificate"
    );
    let book = Book::of(&journal.entries()).expect("verifies");
    assert!(
        book.account("toy").expect("known").void().is_some(),
        "the data set's total does not"
    );
}

#[test]
fn a_certificate_speaks_for_earlier_runs_too() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut first = ledger(&journal);
    spend(&mut first, "0.8").expect("fits");
    drop(first); // crashed, its outputs known
    let mut second = ledger(&journal);
    spend(&mut second, "0.1").expect("fits");
    let certificate = second.close();
    assert_eq!(
        certificate.claims[0].guarantee,
        Guarantee::Pure {
            epsilon: epsilon("0.1")
        }
    );
    let total = certificate.total.expect("a total");
    assert_eq!(
        total.guarantee,
        Guarantee::Pure {
            epsilon: epsilon("0.9")
        }
    );
}

#[test]
fn who_looks_voids_the_run() {
    use privet::privacy::audit::{Auditor, Observed};
    struct Blind;
    impl Auditor for Blind {
        fn query(&mut self, _: Observed) -> Option<Box<dyn std::any::Any + Send>> {
            None
        }
        fn released(&mut self, _: Box<dyn std::any::Any + Send>) {}
        fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
            seed
        }
        fn parts_begin(&mut self, _: usize, _: u64) {}
        fn part_ends(&mut self) {}
        fn parts_end(&mut self) {}
    }
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut open = ledger(&journal).audited(Box::new(Blind)).expect("written");
    spend(&mut open, "0.1").expect("fits");
    assert!(open.close().is_void());
    let book = Book::of(&journal.entries()).expect("verifies");
    assert!(book.account("toy").expect("known").void().is_some());
}

#[test]
fn a_certificate_states_the_promise_or_the_limit() {
    let mu_squared = MuSquared::for_budget(epsilon("1"), "1e-6".parse().expect("a delta")).expect("a budget");
    let caps = Caps {
        mu_squared,
        ..Caps::ZERO
    };
    let journal = journal(&AddRemove::row(), caps, "1e-6");
    let gaussian = |share: MuSquared| Gaussian::calibrated(share, 1).expect("a mechanism");
    let query = || {
        let anchor = Anchor::new("gaussian#rounded-gaussian");
        let sensitivity = Sensitivity::claim(&AddRemove::row(), Norm::L2Squared(1), anchor).expect("a claim");
        Query::new(1, sensitivity, || Private::new(vec![41]))
    };
    let tenth = MuSquared::from_units(mu_squared.units() / 10);
    let bound = |ledger: Ledger<AddRemove>| match &ledger.close().claims[0].guarantee {
        Guarantee::Approximate { caps, .. } => *caps,
        other => panic!("{other}"),
    };
    let mut kept = ledger(&journal);
    kept.promise(Price::Gaussian(tenth)).expect("fits");
    kept.reserve("a run", Price::Gaussian(tenth), 5).expect("fits");
    assert!(
        matches!(
            kept.reserve("more", Price::Gaussian(tenth), 5),
            Err(Error::Budget(_))
        ),
        "a promise is kept"
    );
    assert!(
        matches!(kept.promise(Price::Gaussian(tenth)), Err(Error::Misuse(_))),
        "and comes first"
    );
    assert_eq!(
        bound(kept),
        Caps {
            mu_squared: tenth,
            ..Caps::ZERO
        },
        "promised, though nothing was drawn"
    );

    // Without a promise, whether there was a second payment may have followed from the first output.
    for payments in [1, 2] {
        let mut free = ledger(&journal);
        let left = free.remaining();
        for _ in 0..payments {
            free.release("a count", &gaussian(tenth), query()).expect("fits");
        }
        assert_eq!(bound(free), left, "what was left when the run opened holds");
    }
    let total = ledger(&journal).close().total.expect("a total").guarantee;
    assert!(
        matches!(total, Guarantee::Approximate { caps: stated, .. } if stated == caps),
        "{total}"
    );
}

#[test]
fn leaks_are_entries_and_never_epsilon() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let mut open = ledger(&journal);
    let leak = privet::privacy::joint::Leak::new(
        "the size of the intersection",
        "the other bank",
        Anchor::new("relations#disclosure"),
    );
    let disclosed = open
        .disclose(&leak, Private::new(vec![1, 2, 3]), 1)
        .expect("written");
    assert_eq!(disclosed.into_inner(), [1, 2, 3]);
    assert_eq!(open.remaining(), pure("1"));
    let certificate = open.close();
    assert!(
        matches!(&certificate.claims[0].guarantee, Guarantee::Simulated { leakage } if leakage[0].count == 1)
    );
    let book = Book::of(&journal.entries()).expect("verifies");
    assert_eq!(book.account("toy").expect("known").leaks(), 1);

    journal.fail_at(1, Fault::Refused);
    let mut open = ledger(&journal);
    assert!(
        open.disclose(&leak, Private::new(()), 1).is_err(),
        "no entry, no disclosure"
    );
}

#[test]
fn a_run_that_says_it_is_void_is_void_whatever_becomes_of_the_entry() {
    for (because, fault) in [
        ("two\nlines", None),
        ("", None),
        ("a reason", Some(Fault::Refused)),
    ] {
        let journal = journal(&AddRemove::row(), pure("1"), "0");
        let mut open = ledger(&journal);
        spend(&mut open, "0.1").expect("fits");
        if let Some(fault) = fault {
            journal.fail_at(1, fault);
        }
        assert_eq!(open.void(because).is_err(), fault.is_some());
        let certificate = open.close();
        assert!(certificate.is_void(), "{because:?}");
        assert!(
            certificate
                .total
                .is_none_or(|total| matches!(total.guarantee, Guarantee::Void { .. }))
        );
    }
}

#[test]
fn a_total_speaks_of_leaks_and_needs_a_record() {
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    let leak = privet::privacy::joint::Leak::new("rows", "them", Anchor::new("relations#disclosure"));
    let mut open = ledger(&journal);
    open.disclose(&leak, Private::new(()), 7).expect("written");
    drop(open);
    let mut open = ledger(&journal);
    spend(&mut open, "0.1").expect("fits");
    let certificate = open.close();
    assert_eq!(certificate.total.as_ref().map(|total| total.leaks), Some(7));
    assert!(
        certificate.to_string().contains("not counting 7 items"),
        "{certificate}"
    );
    let mut unrecorded = Ledger::volatile(AddRemove::row(), pure("1"), Delta::ZERO, random()).expect("opens");
    spend(&mut unrecorded, "0.1").expect("fits");
    assert_eq!(unrecorded.close().total, None, "nobody knows of other runs");
}
