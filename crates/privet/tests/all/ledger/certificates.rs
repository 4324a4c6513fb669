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
    let delta: Delta = "1e-7".parse().expect("a delta");
    kept.promise(Price::Gaussian(tenth), delta).expect("fits");
    kept.reserve("a run", Price::Gaussian(tenth), 5).expect("fits");
    assert!(
        matches!(
            kept.reserve("more", Price::Gaussian(tenth), 5),
            Err(Error::Budget(_))
        ),
        "a promise is kept"
    );
    assert!(
        matches!(kept.promise(Price::Gaussian(tenth), delta), Err(Error::Misuse(_))),
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

    journal.fail_at(1, AppendFault::Refused);
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
        ("a reason", Some(AppendFault::Refused)),
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

/// The ε of a job is stated at the job's own δ, whatever δ its ledger's budget was set with.
#[test]
fn a_promise_is_stated_at_the_delta_of_its_job() {
    let budget = |e: &str, d: &str| MuSquared::for_budget(epsilon(e), d.parse().expect("a delta"));
    let caps = Caps {
        mu_squared: budget("4", "0.009").expect("a budget"),
        ..Caps::ZERO
    };
    let journal = journal(&AddRemove::row(), caps, "0.009");
    let price = Price::Gaussian(budget("0.5", "1e-6").expect("a budget"));
    let delta: Delta = "1e-6".parse().expect("a delta");
    let mut open = ledger(&journal);
    assert!(
        matches!(open.promise(price, Delta::ZERO), Err(Error::Parameter(_))),
        "μ² means nothing there"
    );
    open.promise(price, delta).expect("fits");
    open.reserve("a run", price, 1).expect("fits");
    let certificate = open.close();
    let Guarantee::Approximate {
        epsilon: stated,
        delta: at,
        caps: own,
    } = certificate.claims[0].guarantee
    else {
        panic!("{certificate}");
    };
    assert_eq!((stated, at, own), (epsilon("0.5"), delta, Caps::from(price)));
    let text = certificate.to_string();
    assert!(
        text.contains("guarantee  differential privacy, ε = 0.5 at δ = 0.000001"),
        "{text}"
    );
    assert!(
        text.contains("together   under this ledger's budget, with all other runs"),
        "{text}"
    );
    assert!(
        text.contains("at that δ this run alone has ε = 0.137276025"),
        "{text}"
    );

    let mut free = ledger(&journal);
    free.reserve("a run", price, 1).expect("fits");
    let certificate = free.close();
    let Guarantee::Approximate { delta, .. } = certificate.claims[0].guarantee else {
        panic!("{certificate}");
    };
    assert_eq!(
        delta,
        "0.009".parse().expect("a delta"),
        "nothing was promised: the budget's"
    );
}

/// What a run says of itself and what its entries say is one thing, for every kind of run.
#[test]
fn a_certificate_follows_from_the_entries_of_its_run() {
    let leak = privet::privacy::joint::Leak::new("rows", "them", Anchor::new("relations#disclosure"));
    let journal = journal(&AddRemove::row(), pure("1"), "0");
    type Of<'a> = &'a dyn Fn(&mut Ledger<AddRemove>);
    let runs: [Of<'_>; 4] = [
        &|open| spend(open, "0.1").expect("fits"),
        &|open| {
            spend(open, "0.1").expect("fits");
            open.disclose(&leak, Private::new(()), 7)
                .map(drop)
                .expect("written");
            spend(open, "0.2").expect("fits");
        },
        &|open| {
            open.disclose(&leak, Private::new(()), 2)
                .map(drop)
                .expect("written")
        },
        &|open| open.void("a test").expect("written"),
    ];
    for run in runs {
        // Crashed: its entries are nobody else's.
        spend(&mut ledger(&journal), "0.01").expect("fits");
        let mut open = ledger(&journal);
        run(&mut open);
        let certificate = open.close();
        assert_eq!(certificate.runs.len(), usize::from(certificate.recorded));
        let relation = AddRemove::row().relation();
        let book = Book::of(&journal.entries()).expect("verifies");
        let found = book.certificate("toy", &certificate.runs, &relation);
        // Entries alone do not give the commitment: it takes the ledger's key.
        let without = privet::privacy::Certificate {
            commitment: None,
            ..certificate.clone()
        };
        assert_eq!(found.as_ref(), Some(&without));
        assert_eq!(book.certificate("other", &certificate.runs, &relation), None);
        let told = certificate.to_json();
        let own = |entry: &Entry| {
            entry
                .text()
                .split("\"run\":\"")
                .nth(1)
                .map(|name| name[..32].to_owned())
        };
        let names: Vec<String> = journal.entries().iter().filter_map(own).collect();
        assert!(
            names.len() >= 2 && names.iter().all(|name| !told.contains(name)),
            "{told}"
        );
        assert_eq!(book.certificate("toy", &["unknown".into()], &relation), None);
    }
}

/// A run pays no more than it promised, and promises once: a chain that says otherwise was not written by a ledger.
#[test]
fn a_chain_whose_run_breaks_its_promise_is_refused() {
    let mut journal = journal(&AddRemove::row(), pure("1"), "0");
    let promise = |text: &str| privet::privacy::Promise {
        caps: pure(text),
        delta: Delta::ZERO,
    };
    let spend = |price: &str, run: Option<&str>, promise| Event::Spend {
        dataset: "toy".into(),
        relation: AddRemove::row().relation(),
        what: "a count".into(),
        price: Price::Pure(epsilon(price)),
        draws: 1,
        assuming: Vec::new(),
        run: run.map(str::to_owned),
        promise,
        added: false,
        stored: false,
        sharing: None,
        portions: None,
    };
    for (why, event) in [
        ("no promise", spend("0.1", Some("a"), None)),
        (
            "more than promised",
            spend("0.2", Some("a"), Some(promise("0.1"))),
        ),
        ("nobody's promise", spend("0.1", None, Some(promise("0.1")))),
    ] {
        assert!(append(&mut journal, event).is_err(), "{why}");
    }
    append(&mut journal, spend("0.1", Some("a"), Some(promise("0.15")))).expect("fits");
    for (why, event) in [
        ("a second promise", spend("0.01", Some("a"), Some(promise("0.5")))),
        ("more than is left", spend("0.06", Some("a"), None)),
    ] {
        assert!(append(&mut journal, event).is_err(), "{why}");
    }
    append(&mut journal, spend("0.05", Some("a"), None)).expect("fits");
    append(&mut journal, spend("0.05", None, None)).expect("as older ledgers wrote it");
}

/// Whoever wrote a certificate cannot write lines of their own into what is printed of it, nor hide characters.
#[test]
fn what_somebody_else_wrote_is_shown_in_one_line() {
    let text = |what: &str| what.replace('!', "\n\u{fe0f}\u{202e}");
    let mut ledger = Ledger::volatile(
        Replace::row(),
        Caps::from(Price::Pure("1".parse().expect("an epsilon"))),
        Delta::ZERO,
        Randomness::from_os().expect("randomness"),
    )
    .expect("opens");
    ledger
        .reserve("a count", Price::Pure("1".parse().expect("an epsilon")), 1)
        .map(drop)
        .expect("paid");
    let mut certificate = ledger.close();
    certificate.dataset = text("shop!");
    certificate.payments[0].what = text("a count!");
    certificate.payments[0].assuming = vec![text("a promise!")];
    certificate.claims[0].from = privet::privacy::Observer::Party(text("a friend!"));
    let mut void = certificate.clone();
    void.claims[0].guarantee = Guarantee::Void {
        because: text("of modesty!"),
    };
    let party = privet::privacy::PartyCertificate {
        party: text("bank!"),
        certificate: void,
    };
    certificate.parties.push(party);
    let shown = certificate.to_string();
    assert!(!shown.contains(['\u{fe0f}', '\u{202e}']), "{shown:?}");
    assert!(shown.contains("bank\\u000A\\uFE0F\\u202E"), "{shown}");
    for line in shown.lines().filter(|line| !line.is_empty()) {
        let begins = [
            "guarantee ",
            "data set ",
            "paid ",
            "ledger ",
            "together ",
            "           ",
            "What ",
        ];
        assert!(begins.iter().any(|begin| line.starts_with(begin)), "{line:?}");
    }
}
