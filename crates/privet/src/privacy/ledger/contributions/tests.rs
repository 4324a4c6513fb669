use super::super::allowance::tests::Shared;
use super::*;
use crate::privacy::account::Caps;
use crate::privacy::journal::{Entry, Journal};
use crate::privacy::mechanism::Laplace;
use crate::privacy::mechanism::local::{FrequencyCode, FrequencyOracle, KClosest};
use crate::privacy::{
    AddRemove, Anchor, Book, Delta, Epsilon, Guarantee, Norm, Observer, Owner, Query, Randomness, Refusal,
    Sensitivity,
};

fn pure(text: &str) -> Price {
    Price::Pure(text.parse().expect("an ε"))
}

fn eps(text: &str) -> Epsilon {
    text.parse().expect("an ε")
}

fn limited(cap: &str) -> Shared {
    Shared::limited([(Relation::Owner, Caps::from(pure(cap)))])
}

fn campaign(number: u8) -> CampaignName<'static> {
    CampaignName {
        name: "wages",
        digest: [number; 32],
        series: None,
    }
}

/// 65,535 categories: two draws agree with a probability of about 2^-16 besides their tokens.
fn oracle(epsilon: &str) -> FrequencyOracle {
    FrequencyOracle::new(eps(epsilon), 65_535, FrequencyCode::Hadamard).expect("an oracle")
}

fn refused<T>(result: Result<T, Error>) -> Refusal {
    match result {
        Err(Error::Budget(why)) => *why,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("not refused"),
    }
}

fn never() -> Private<usize> {
    panic!("the data was looked at")
}

fn is_payment(event: &Event) -> bool {
    matches!(event, Event::Contribute { .. })
}

#[test]
fn a_message_is_drawn_once_for_each_campaign() {
    let journal = limited("1");
    let mut first = journal.open("toy", Owner, "one");
    let (message, certificate) = first
        .contribute(campaign(1), &oracle("0.4"), || Private::new(3))
        .expect("drawn");
    assert_eq!(message.value().body.len(), 2);
    let claim = &certificate.claims[0];
    assert_eq!(claim.guarantee, Guarantee::Local { epsilon: eps("0.4") });
    assert_eq!(
        (&claim.protects, &claim.from),
        (&Relation::Owner, &Observer::Anyone)
    );
    drop(first);
    // The same bytes again, from whatever process, without a look at the data.
    for run in ["one", "two"] {
        let mut again = journal.open("toy", Owner, run);
        let (same, _) = again
            .contribute(campaign(1), &oracle("0.4"), never)
            .expect("kept");
        assert_eq!(same, message);
        assert_eq!(
            again.contributed([1; 32]).expect("kept").as_ref(),
            Some(message.value())
        );
        assert_eq!(again.contributed([2; 32]).expect("none"), None);
    }
    assert_eq!(journal.count(is_payment), 1);
    // Another campaign is another message, with another token.
    let mut again = journal.open("toy", Owner, "three");
    let (other, certificate) = again
        .contribute(campaign(2), &oracle("0.4"), || Private::new(3))
        .expect("drawn");
    assert_ne!(other.value().token, message.value().token);
    let total = certificate.total.expect("a total");
    assert_eq!(total.guarantee, Guarantee::Local { epsilon: eps("0.8") });
}

#[test]
fn campaigns_add_up_under_the_owners_cap() {
    let journal = limited("1");
    let mut ledger = journal.open("toy", Owner, "one");
    for number in 0..2 {
        ledger
            .contribute(campaign(number), &oracle("0.4"), || Private::new(3))
            .expect("drawn");
    }
    let entries = journal.count(|_| true);
    let over = refused(ledger.contribute(campaign(7), &oracle("0.3"), never));
    assert!(matches!(over, Refusal::NoRoom { .. }), "{over}");
    assert_eq!(journal.count(|_| true), entries);
    ledger
        .contribute(campaign(7), &oracle("0.2"), || Private::new(3))
        .expect("all that remained");
}

#[test]
fn a_message_that_was_lost_before_it_was_kept_is_drawn_again() {
    let journal = limited("1");
    journal.loses(true);
    let mut first = journal.open("toy", Owner, "one");
    let lost = first.contribute(campaign(1), &oracle("1"), || Private::new(3));
    assert!(matches!(lost, Err(Error::Journal(_))));
    assert_eq!(journal.count(is_payment), 1, "paid for before it was drawn");
    journal.loses(false);
    let mut again = journal.open("toy", Owner, "two");
    assert_eq!(again.contributed([1; 32]).expect("reads"), None);
    let (message, _) = again
        .contribute(campaign(1), &oracle("1"), || Private::new(3))
        .expect("drawn under the old entry");
    assert_eq!(journal.count(is_payment), 1);
    let (same, _) = again.contribute(campaign(1), &oracle("1"), never).expect("kept");
    assert_eq!(same, message);
}

#[test]
fn a_message_whose_payment_was_not_written_is_not_drawn() {
    let journal = limited("1");
    let mut ledger = journal.open("toy", Owner, "one");
    journal.fails(true);
    let failed = ledger.contribute(campaign(1), &oracle("1"), never);
    assert!(matches!(failed, Err(Error::Journal(_))));
    journal.fails(false);
    let unwritten = ledger.contribute(campaign(1), &oracle("1"), never);
    assert!(matches!(unwritten, Err(Error::Journal(e)) if e.fault() == JournalFault::Unwritten));
}

#[test]
fn a_kept_message_that_was_changed_is_an_error_and_no_new_draw() {
    let journal = limited("1");
    let mut ledger = journal.open("toy", Owner, "one");
    ledger
        .contribute(campaign(1), &oracle("0.4"), || Private::new(3))
        .expect("drawn");
    journal.changes(true);
    for _ in 0..2 {
        let damaged = ledger.contribute(campaign(1), &oracle("0.4"), never);
        assert!(matches!(damaged, Err(Error::Journal(e)) if e.fault() == JournalFault::Damaged));
    }
    journal.changes(false);
    // Another mechanism for the same campaign is no reason to draw, either.
    let other = KClosest::new(eps("0.4"), 3, 8).expect("a mechanism");
    let other = ledger.contribute(campaign(1), &other, || panic!("the data was looked at"));
    assert!(matches!(other, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob));
    let larger = ledger.contribute(campaign(1), &oracle("0.5"), never);
    assert!(matches!(larger, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob));
}

/// The parameters of a kind may be resolved otherwise by a later version: what was kept does not depend on that, a draw does.
#[test]
fn a_kept_message_is_sent_again_however_its_mechanism_is_described() {
    let journal = limited("1");
    let [one, other] = [8, 9].map(|codewords| KClosest::new(eps("0.4"), 3, codewords).expect("a mechanism"));
    let unseen = || -> Private<Vec<i32>> { panic!("the data was looked at") };
    journal.loses(true);
    let mut ledger = journal.open("toy", Owner, "one");
    let lost = ledger.contribute(campaign(1), &one, || Private::new(vec![1, 2, 3]));
    assert!(matches!(lost, Err(Error::Journal(_))));
    journal.loses(false);
    let mut ledger = journal.open("toy", Owner, "two");
    let drawn = ledger.contribute(campaign(1), &other, unseen);
    assert!(matches!(drawn, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob));
    let (message, _) = ledger
        .contribute(campaign(1), &one, || Private::new(vec![1, 2, 3]))
        .expect("drawn");
    let (same, _) = ledger.contribute(campaign(1), &other, unseen).expect("kept");
    assert_eq!(same, message);
}

#[test]
fn local_budgets_pay_for_messages_only_and_are_added_to_no_other() {
    let rows = AddRemove::row().relation();
    let journal = Shared::limited([
        (Relation::Owner, Caps::from(pure("1"))),
        (rows.clone(), Caps::from(pure("1"))),
    ]);
    let mut ledger = journal.open("toy", Owner, "one");
    let claim =
        Sensitivity::claim(&Owner, Norm::L1(1), Anchor::new("laplace#integer-vectors")).expect("a claim");
    let query = Query::new(1, claim, || panic!("the data was looked at"));
    let laplace = Laplace::calibrated(eps("0.1"), 1).expect("a mechanism");
    let not_local = refused(ledger.release("a count", &laplace, query));
    assert_eq!(not_local, Refusal::OnlyMessages);
    assert!(not_local.to_string().contains("local setting"), "{not_local}");
    assert!(matches!(
        refused(ledger.allow("counts", pure("0.1"), 1)),
        Refusal::OnlyMessages
    ));
    ledger
        .contribute(campaign(1), &oracle("0.4"), || Private::new(3))
        .expect("drawn");
    // Payments for rows and for messages never meet in one sum.
    let book = Book::of(&journal.clone().read(0).expect("entries")).expect("a book");
    let account = book.account("toy").expect("an account");
    assert_eq!(account.lines()[&rows].spent, Caps::ZERO);
    assert_eq!(account.lines()[&rows].uncovered, 1);
    assert_eq!(account.lines()[&Relation::Owner].spent, Caps::from(pure("0.4")));
    assert_eq!(rows.steps_to(&Relation::Owner), None);
    assert_eq!(Relation::Owner.steps_to(&rows), None);
    // Nor does a budget for rows pay for a message.
    let mut of_rows = journal.ledger("two");
    let misused = of_rows.contribute(campaign(2), &oracle("0.1"), never);
    assert!(matches!(misused, Err(Error::Misuse(_))));
}

#[test]
fn a_local_budget_is_one_of_pure_epsilon() {
    let mut journal = limited("1");
    let in_mu = Event::Limit {
        dataset: "toy".into(),
        relation: Relation::Owner,
        caps: Caps::from(Price::Gaussian("1".parse().expect("a μ²"))),
        delta: "1e-6".parse().expect("a δ"),
    };
    assert!(super::super::append(&mut journal, in_mu).is_err());
}

/// Two data sets of one owner would answer a campaign twice, each under a budget that knows nothing of the other.
#[test]
fn a_ledger_has_one_owner() {
    let mut journal = limited("1");
    let limit = |dataset: &str, cap: &str| Event::Limit {
        dataset: dataset.into(),
        relation: Relation::Owner,
        caps: Caps::from(pure(cap)),
        delta: Delta::ZERO,
    };
    let second = super::super::append(&mut journal, limit("steps", "1"));
    assert!(matches!(second, Err(Error::Journal(e)) if matches!(e.fault(), JournalFault::Entry(_))));
    let opened = Ledger::open("steps", Owner, journal.clone(), Randomness::seeded(1));
    assert!(matches!(refused(opened), Refusal::NoBudget { .. }));
    // One budget under two names, and its limit can be changed under both.
    let adopt = Event::Adopt {
        dataset: "steps".into(),
        of: "toy".into(),
    };
    super::super::append(&mut journal, adopt).expect("adopted");
    for name in ["toy", "steps"] {
        super::super::append(&mut journal, limit(name, "2")).expect("a limit");
    }
    let mut ledger = journal.open("toy", Owner, "two");
    let (message, _) = ledger
        .contribute(campaign(1), &oracle("0.4"), || Private::new(3))
        .expect("drawn");
    drop(ledger);
    let mut ledger = journal.open("steps", Owner, "three");
    let (same, _) = ledger
        .contribute(campaign(1), &oracle("0.4"), never)
        .expect("kept");
    assert_eq!(same, message);
    assert_eq!(journal.count(is_payment), 1);
}

/// A second campaign of a series is refused before it is paid for; the first is given again; a book refuses a chain with two.
#[test]
fn one_campaign_of_a_series_is_answered() {
    let journal = limited("1");
    let of_series = |number: u8, series: &'static str| CampaignName {
        series: Some(series),
        ..campaign(number)
    };
    let mut ledger = journal.open("toy", Owner, "one");
    let own = ledger.round("steps", 1000).expect("a round");
    assert!((1..=1000).contains(&own));
    assert_eq!(ledger.round("steps", 1000).expect("a round"), own);
    assert_eq!(ledger.round("steps", 1).expect("a round"), 1);
    let input = || Private::new(3);
    let (first, _) = ledger
        .contribute(of_series(1, "steps"), &oracle("0.3"), input)
        .expect("drawn");
    let again = ledger.contribute(of_series(1, "steps"), &oracle("0.3"), never);
    assert_eq!(again.expect("kept").0, first);
    let second = ledger.contribute(of_series(2, "steps"), &oracle("0.3"), never);
    assert!(matches!(second, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob));
    assert_eq!(journal.count(is_payment), 1);
    ledger
        .contribute(of_series(2, "sleep"), &oracle("0.3"), input)
        .expect("another series");
    drop(ledger);
    let mut journal = journal;
    let forged = Event::Contribute {
        dataset: "toy".into(),
        what: "wages".into(),
        campaign: "ef".repeat(32),
        mechanism: "a mechanism".into(),
        epsilon: eps("0.1"),
        proof: "local#contributions".into(),
        series: Some("sleep".into()),
        run: "forged".into(),
    };
    assert!(super::super::append(&mut journal, forged).is_err());
}

/// A book refuses a chain that was written otherwise.
#[test]
fn a_chain_with_a_second_message_to_a_campaign_is_refused() {
    let mut journal = limited("1");
    let message = |campaign: &str, run: &str| Event::Contribute {
        dataset: "toy".into(),
        what: "wages".into(),
        campaign: campaign.into(),
        mechanism: "a mechanism".into(),
        epsilon: eps("0.1"),
        proof: "local#contributions".into(),
        series: None,
        run: run.into(),
    };
    let one = "ab".repeat(32);
    super::super::append(&mut journal, message(&one, "one")).expect("a message");
    for (campaign, run) in [
        (one.as_str(), "two"),
        ("ab", "two"),
        (&one.to_uppercase(), "two"),
        (&"cd".repeat(32), "one"),
    ] {
        assert!(
            super::super::append(&mut journal, message(campaign, run)).is_err(),
            "{campaign}, {run}"
        );
    }
    let kept = |run: &str, campaign: &str| Event::Kept {
        dataset: "toy".into(),
        run: run.into(),
        what: campaign.into(),
        draw: None,
        price: None,
        portion: None,
        digest: "00".repeat(32),
    };
    assert!(super::super::append(&mut journal, kept("one", &"cd".repeat(32))).is_err());
    assert!(super::super::append(&mut journal, kept("two", &one)).is_err());
    super::super::append(&mut journal, kept("one", &one)).expect("kept");
    assert!(super::super::append(&mut journal, kept("one", &one)).is_err());
    // What is written reads back as the same entry.
    for entry in journal.read(0).expect("entries") {
        let again = Entry::parse(entry.text().into(), entry.hash().into()).expect("an entry");
        assert_eq!(again, entry);
    }
}

#[test]
fn a_seed_voids_the_message() {
    let journal = limited("1");
    let mut ledger = Ledger::open("toy", Owner, journal.clone(), Randomness::seeded(1)).expect("opens");
    let (_, certificate) = ledger
        .contribute(campaign(1), &oracle("0.4"), || Private::new(3))
        .expect("drawn");
    assert!(certificate.is_void());
    // From the entries alone, too.
    let mut again = journal.open("toy", Owner, "two");
    let (_, certificate) = again
        .contribute(campaign(1), &oracle("0.4"), never)
        .expect("kept");
    assert!(certificate.is_void());
}
