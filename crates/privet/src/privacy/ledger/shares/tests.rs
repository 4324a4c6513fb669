use super::super::allowance::tests::Shared;
use super::*;
use crate::error::JournalFault;
use crate::privacy::account::Caps;
use crate::privacy::journal::{Entry, Event, Journal};
use crate::privacy::mechanism::{SharedGaussian, SharedLaplace};
use crate::privacy::{
    AddRemove, Anchor, Book, Certificate, Delta, Guarantee, Observer, Randomness, Ratio, Replace, Sensitivity,
};

fn sharing() -> Sharing {
    Sharing::new(20, 2, 2).expect("owners")
}

fn pure(text: &str) -> Price {
    Price::Pure(text.parse().expect("an ε"))
}

fn gaussian(text: &str) -> Price {
    Price::Gaussian(text.parse().expect("a μ²"))
}

/// A journal with a limit of pure ε.
fn limited(caps: impl Into<Caps>) -> Shared {
    Shared::limited([(AddRemove::row().relation(), caps.into())])
}

fn laplace(scale: u64) -> SharedLaplace {
    SharedLaplace::new(Ratio::new(scale, 1).expect("positive"), sharing()).expect("a mechanism")
}

fn query<N: Neighbours>(relation: &N, norm: Norm) -> Query<'static, N> {
    let anchor = Anchor::new("shares#joint-sums");
    let claim = Sensitivity::claim(relation, norm, anchor).expect("a claim");
    Query::new(64, claim, || Private::new(vec![0; 64]))
}

fn share(
    ledger: &mut Ledger<AddRemove>,
    allowance: &ShareAllowance,
    draw: u64,
) -> Result<Contribution, Error> {
    ledger.share(
        allowance,
        draw,
        &laplace(10),
        query(&AddRemove::row(), Norm::L1(1)),
    )
}

fn refused<T>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Budget(why)) => *why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

fn misused<T>(result: Result<T, Error>) {
    match result {
        Err(Error::Misuse(_)) => {}
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

/// 64 shares agree by chance with a probability below 2^-20: a share of sixteen is often zero.
#[test]
fn a_number_is_drawn_once_and_no_more_than_was_paid_for() {
    let journal = limited(pure("1"));
    let mut ledger = journal.ledger("one");
    let allowance = ledger
        .share_allowance("trees", pure("0.1"), 3, sharing())
        .expect("paid");
    let entries = journal.count(|_| true);
    let [one, other] = [0, 2].map(|draw| {
        share(&mut ledger, &allowance, draw)
            .expect("drawn")
            .into_residues()
    });
    assert!(one != other && one.len() == 64, "two draws");
    misused(share(&mut ledger, &allowance, 2));
    let over = refused(share(&mut ledger, &allowance, 3));
    assert!(
        matches!(
            over,
            Refusal::OverShares {
                draw: 3,
                draws: 3,
                ..
            }
        ),
        "{over}"
    );
    assert!(over.to_string().contains("3 joint draws"), "{over}");
    // Less noise than was paid for, other owners, another currency, another change.
    let relation = AddRemove::row();
    let narrow = ledger.share(&allowance, 1, &laplace(9), query(&relation, Norm::L1(1)));
    assert!(matches!(refused(narrow), Refusal::OverShares { .. }));
    let others = Sharing::new(20, 2, 3).expect("owners");
    let others = SharedLaplace::new(Ratio::new(1000, 1).expect("positive"), others).expect("a mechanism");
    misused(ledger.share(&allowance, 1, &others, query(&relation, Norm::L1(1))));
    let wide =
        SharedGaussian::new(Ratio::new(1 << 30, 1).expect("positive"), sharing()).expect("a mechanism");
    let currency = ledger.share(&allowance, 1, &wide, query(&relation, Norm::L2Squared(1)));
    assert!(matches!(refused(currency), Refusal::OverShares { .. }));
    let mut ledger = ledger.at_run_time();
    let other = query(&Replace::row().relation(), Norm::L1(1));
    misused(ledger.share(&allowance, 1, &laplace(10), other));
    // Nothing of that used the number up, and no draw wrote an entry.
    let asked = query(&relation.relation(), Norm::L1(1));
    assert!(ledger.share(&allowance, 1, &laplace(10), asked).is_ok());
    assert_eq!(journal.count(|_| true), entries);
    assert_eq!(ledger.remaining(), Caps::from(pure("0.7")));
}

#[test]
fn the_answer_of_a_refused_share_is_not_computed() {
    let journal = limited(pure("1"));
    let mut ledger = journal.ledger("one");
    let allowance = ledger
        .share_allowance("trees", pure("0.1"), 1, sharing())
        .expect("paid");
    share(&mut ledger, &allowance, 0).expect("drawn");
    let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), Anchor::new("shares#joint-sums"))
        .expect("a claim");
    for draw in [0, 1] {
        let asked = Query::new(1, claim.clone(), || panic!("the rows were looked at"));
        assert!(ledger.share(&allowance, draw, &laplace(10), asked).is_err());
    }
}

#[test]
fn a_resumed_run_finds_what_it_paid_for_joint_sums() {
    let journal = limited(pure("1"));
    let is_spend = |event: &Event| matches!(event, Event::Spend { .. });
    let mut first = journal.ledger("one");
    let allowance = first
        .share_allowance("trees", pure("0.1"), 3, sharing())
        .expect("paid");
    share(&mut first, &allowance, 0).expect("drawn");
    drop(first);
    let mut again = journal.ledger("one");
    assert_eq!(
        again
            .share_allowance("trees", pure("0.1"), 3, sharing())
            .expect("found"),
        allowance
    );
    assert_eq!(journal.count(is_spend), 1);
    // What was drawn before is in the run's record, of which the ledger knows nothing: a share that was lost is drawn again.
    share(&mut again, &allowance, 0).expect("drawn again");
    // The bounds follow from the entry.
    assert!(matches!(
        refused(share(&mut again, &allowance, 3)),
        Refusal::OverShares { .. }
    ));
    let fewer = Sharing::new(20, 2, 1).expect("owners");
    for (each, draws, sharing) in [("0.1", 4, sharing()), ("0.2", 3, sharing()), ("0.1", 3, fewer)] {
        let other = again.share_allowance("trees", pure(each), draws, sharing);
        assert!(matches!(refused(other), Refusal::OtherReservation { .. }));
    }
    // Nor is it an allowance whose draws are released, and the other way round.
    assert!(matches!(
        refused(again.allow("trees", pure("0.3"), 3)),
        Refusal::OtherReservation { .. }
    ));
    again.allow("counts", pure("0.3"), 3).expect("paid");
    let counts = again.share_allowance("counts", pure("0.1"), 3, sharing());
    assert!(matches!(refused(counts), Refusal::OtherReservation { .. }));
    // Another run has nothing of it.
    let mut other = journal.ledger("two");
    misused(share(&mut other, &allowance, 0));
    let too_much = other.share_allowance("trees", pure("0.1"), 5, sharing());
    assert!(matches!(refused(too_much), Refusal::NoRoom { .. }));
    for draws in [0, u64::MAX] {
        assert!(matches!(
            other.share_allowance("trees", pure("0.1"), draws, sharing()),
            Err(Error::Parameter(_))
        ));
    }
    assert_eq!(journal.count(is_spend), 2);
}

#[test]
fn a_share_whose_payment_was_not_written_is_not_drawn() {
    let journal = limited(pure("1"));
    let mut ledger = journal.ledger("one");
    let paid = ledger
        .share_allowance("trees", pure("0.1"), 3, sharing())
        .expect("paid");
    journal.fails(true);
    assert!(
        ledger
            .share_allowance("more trees", pure("0.1"), 3, sharing())
            .is_err()
    );
    journal.fails(false);
    let unwritten = share(&mut ledger, &paid, 0)
        .err()
        .expect("the ledger is opened again first");
    assert!(
        matches!(&unwritten, Error::Journal(e) if e.fault() == JournalFault::Unwritten),
        "{unwritten}"
    );
    let mut again = journal.ledger("one");
    share(&mut again, &paid, 0).expect("paid");
}

#[test]
fn all_owners_pay_in_one_currency() {
    let in_mu = Caps::from(gaussian("1"));
    for (caps, each) in [(in_mu, pure("0.01")), (pure("1").into(), gaussian("0.01"))] {
        let journal = limited(caps);
        let other = refused(journal.ledger("one").share_allowance("trees", each, 2, sharing()));
        assert!(matches!(other, Refusal::OtherCurrency { .. }), "{other}");
        assert!(other.to_string().contains("one currency"), "{other}");
        assert_eq!(journal.count(|event| matches!(event, Event::Spend { .. })), 0);
    }
    let both = Caps {
        pure: "1".parse().expect("an ε"),
        ..in_mu
    };
    let journal = limited(both);
    let mut ledger = journal.ledger("one");
    for each in [pure("0.1"), gaussian("0.1")] {
        ledger
            .share_allowance(&each.to_string(), each, 2, sharing())
            .expect("room in its own currency");
    }
    // No budget for the change at all.
    let mut other = limited(pure("1")).open("toy", AddRemove::row(), "one");
    other.relation = AddRemove::unit(3.try_into().expect("rows"));
    assert!(matches!(
        refused(other.share_allowance("trees", pure("0.1"), 1, sharing())),
        Refusal::NoBudget { .. }
    ));
}

#[test]
fn shares_that_hold_for_added_units_are_charged_so() {
    let journal = Shared::limited([
        (AddRemove::row().relation(), pure("1").into()),
        (Replace::row().relation(), pure("2").into()),
    ]);
    let mut ledger = journal.open("toy", Replace::row(), "one");
    let allowance = ledger
        .share_allowance_also_added("trees", pure("0.1"), 2, sharing())
        .expect("paid");
    let claimed = |added: bool| {
        let anchor = Anchor::new("shares#joint-sums");
        let claim = Sensitivity::claim(&Replace::row(), Norm::L1(1), anchor).expect("a claim");
        let claim = if added { claim.also_added() } else { claim };
        Query::new(1, claim, || Private::new(vec![0]))
    };
    misused(ledger.share(&allowance, 0, &laplace(10), claimed(false)));
    assert!(ledger.share(&allowance, 0, &laplace(10), claimed(true)).is_ok());
    let plain = ShareAllowance {
        added: false,
        ..allowance
    };
    misused(ledger.share(&plain, 1, &laplace(10), claimed(false)));
    let book = Book::of(&journal.clone().read(0).expect("entries")).expect("a chain");
    let lines = book.account("toy").expect("an account").lines();
    assert!(
        lines.values().all(|line| line.spent == Caps::from(pure("0.2"))),
        "{lines:?}"
    );
}

fn certificate(journal: &Shared, price: Price) -> Certificate {
    let mut ledger = journal.ledger("one");
    ledger
        .promise(price.times(10).expect("small"), "1e-7".parse().expect("a δ"))
        .expect("promised");
    ledger
        .share_allowance("trees", price, 5, sharing())
        .expect("paid");
    ledger.close()
}

#[test]
fn the_assumption_stands_in_the_entry_and_in_the_certificate() {
    for (caps, price) in [(pure("1"), pure("0.01")), (gaussian("1"), gaussian("0.01"))] {
        let journal = limited(caps);
        let certificate = certificate(&journal, price);
        let claim = &certificate.claims[0];
        assert_eq!(claim.from, Observer::Provided(vec![sharing()]));
        assert!(matches!(
            claim.guarantee,
            Guarantee::Pure { .. } | Guarantee::Approximate { .. }
        ));
        let text = certificate.to_string();
        let provided = "provided that the cryptography of the joint sums is not broken, at most 2 of the 20 owners collude";
        assert_eq!(
            text.matches(provided).count(),
            2,
            "for the run and for the total: {text}"
        );
        assert!(!text.contains("FALSE"), "{text}");
        assert_eq!(certificate.payments[0].sharing, Some(sharing()));
        assert_eq!(
            certificate.total.as_ref().map(|total| &total.sharing[..]),
            Some(&[sharing()][..])
        );
        // Read again, and made again from the entries.
        assert_eq!(
            Certificate::from_json(&certificate.to_json()).as_ref(),
            Some(&certificate)
        );
        let entries = journal.clone().read(0).expect("entries");
        let last = entries.last().expect("a payment");
        assert!(
            last.text()
                .contains(r#""sharing":{"owners":20,"absent":2,"colluding":2}"#),
            "{}",
            last.text()
        );
        let read: Vec<Entry> = entries
            .iter()
            .map(|entry| Entry::parse(entry.text().into(), entry.hash().into()).expect("an entry"))
            .collect();
        let book = Book::of(&read).expect("a chain");
        let again = book.certificate("toy", &certificate.runs, &AddRemove::row().relation());
        let again = again.expect("the run is known");
        assert_eq!(
            (&again.claims, &again.payments, &again.total),
            (&certificate.claims, &certificate.payments, &certificate.total)
        );
        // A later run that shares nothing is not conditional; the total that counts both is.
        let mut later = journal.ledger("two");
        later
            .promise(price, "1e-7".parse().expect("a δ"))
            .expect("promised");
        later.allow("counts", price, 1).expect("paid");
        let later = later.close();
        assert_eq!(later.claims[0].from, Observer::Anyone);
        assert_eq!(later.total.map(|total| total.sharing), Some(vec![sharing()]));
    }
}

#[test]
fn a_seed_voids_what_was_shared() {
    let ledger = Ledger::volatile(
        AddRemove::row(),
        Caps::from(pure("1")),
        Delta::ZERO,
        Randomness::seeded(5),
    );
    let mut ledger = ledger.expect("opens");
    let allowance = ledger
        .share_allowance("trees", pure("0.1"), 1, sharing())
        .expect("paid");
    share(&mut ledger, &allowance, 0).expect("drawn");
    let certificate = ledger.close();
    assert!(certificate.is_void());
    assert_eq!(certificate.claims[0].from, Observer::Anyone);
    assert!(
        !certificate.to_string().contains("provided that"),
        "{certificate}"
    );
}

#[test]
fn forged_entries_about_shares_are_not_in_a_chain() {
    let journal = limited(pure("1"));
    certificate(&journal, pure("0.01"));
    let entries = journal.clone().read(0).expect("entries");
    let book = Book::of(&entries).expect("a chain");
    let spend = entries.last().expect("a payment").event().clone();
    let follows = |event: Event| {
        let entry = Entry::after(book.head(), None, event).expect("an entry");
        book.clone().apply(&entry)
    };
    let changed = |change: &dyn Fn(&mut Event)| {
        let mut event = spend.clone();
        change(&mut event);
        follows(event)
    };
    // Under another purpose it is a payment like the first.
    let other = |event: &mut Event| {
        if let Event::Spend { what, promise, .. } = event {
            (*what, *promise) = ("other trees".into(), None);
        }
    };
    changed(&other).expect("admitted");
    let cases: [&dyn Fn(&mut Event); 3] = [
        // Paid for twice.
        &|event| {
            if let Event::Spend { promise, .. } = event {
                *promise = None
            }
        },
        &|event| {
            other(event);
            if let Event::Spend { stored, .. } = event {
                *stored = true
            }
        },
        &|event| {
            other(event);
            if let Event::Spend { run, .. } = event {
                *run = None
            }
        },
    ];
    for case in cases {
        assert!(changed(case).is_err());
    }
    let kept = Event::Kept {
        dataset: "toy".into(),
        run: "one".into(),
        what: "trees".into(),
        draw: Some("0".into()),
        price: Some(pure("0.01")),
        portion: None,
        digest: "0".repeat(64),
    };
    let refused = follows(kept).expect_err("shares are not kept");
    assert!(
        matches!(&refused, Error::Journal(e) if matches!(e.fault(), JournalFault::Entry(_))),
        "{refused}"
    );
}
