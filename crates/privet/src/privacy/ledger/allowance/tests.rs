use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::*;
use crate::privacy::journal::{Addition, Decide, Entry, Head, Journal, Volatile};
use crate::privacy::ledger::{append, begin};
use crate::privacy::mechanism::Laplace;
use crate::privacy::{AddRemove, Anchor, Delta, Epsilon, Norm, Private, Randomness, Replace, Sensitivity};

/// One journal of several processes, which can lose what is kept.
#[derive(Clone, Default)]
pub(in crate::privacy::ledger) struct Shared(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    journal: Volatile,
    /// The next value that is to be kept is not: the process ends there.
    loses: bool,
    changed: bool,
    /// No entry can be written.
    fails: bool,
    /// What is sealed is sealed with this key.
    key: u8,
}

impl Shared {
    fn new() -> Self {
        // To replace a row is to remove one and to add one.
        let pure = |cap| Caps::from(Price::Pure(epsilon(cap)));
        Self::limited([
            (AddRemove::row().relation(), pure("1")),
            (Replace::row().relation(), pure("2")),
        ])
    }

    /// With these limits, at a δ of 10⁻⁶ where there is more than pure ε.
    pub(in crate::privacy::ledger) fn limited<const LIMITS: usize>(
        limits: [(Relation, Caps); LIMITS],
    ) -> Self {
        let mut journal = Self::default();
        begin(&mut journal).expect("begins");
        for (relation, caps) in limits {
            let pure = caps == Caps::from(Price::Pure(caps.pure));
            let limit = Event::Limit {
                dataset: "toy".into(),
                relation,
                caps,
                delta: if pure {
                    Delta::ZERO
                } else {
                    "1e-6".parse().expect("a δ")
                },
            };
            append(&mut journal, limit).expect("a limit");
        }
        journal
    }

    /// Whether writing fails from now on.
    pub(in crate::privacy::ledger) fn fails(&self, fails: bool) {
        self.state().fails = fails;
    }

    /// Whether values are lost instead of kept from now on.
    pub(in crate::privacy::ledger) fn loses(&self, loses: bool) {
        self.state().loses = loses;
    }

    /// Whether kept values are read as others from now on.
    pub(in crate::privacy::ledger) fn changes(&self, changes: bool) {
        self.state().changed = changes;
    }

    /// The key that is no part of the journal.
    pub(in crate::privacy::ledger) fn has_key(&self, key: u8) {
        self.state().key = key;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::privacy::ledger) fn ledger(&self, run: &str) -> Ledger<AddRemove> {
        self.open("toy", AddRemove::row(), run)
    }

    pub(in crate::privacy::ledger) fn open<N: Neighbours>(
        &self,
        dataset: &str,
        relation: N,
        run: &str,
    ) -> Ledger<N> {
        let random = Randomness::from_os().expect("randomness");
        let ledger = Ledger::open(dataset, relation, self.clone(), random).expect("opens");
        ledger.for_run(run.into()).expect("not void")
    }

    pub(in crate::privacy::ledger) fn count(&self, wanted: fn(&Event) -> bool) -> usize {
        let entries = self.state().journal.read(0).expect("entries");
        entries.iter().filter(|entry| wanted(entry.event())).count()
    }
}

impl Journal for Shared {
    fn seal(&mut self, mut hash: [u8; 32]) -> Result<String, Error> {
        let mut state = self.state();
        hash[0] ^= state.key;
        state.journal.seal(hash)
    }

    fn read(&mut self, after: u64) -> Result<Vec<Entry>, Error> {
        self.state().journal.read(after)
    }

    fn transact(&mut self, known: &Head, decide: Decide<'_>) -> Result<(), Error> {
        let mut state = self.state();
        let (loses, fails) = (state.loses, state.fails);
        let lost = || Error::journal(JournalFault::Full, "the disk is full");
        state
            .journal
            .transact(known, &mut |news, now| match decide(news, now)? {
                Some(Addition { value: Some(_), .. }) if loses => Err(lost()),
                Some(_) if fails => Err(lost()),
                addition => Ok(addition),
            })
    }

    fn kept(&mut self, entry: u64) -> Result<Option<KeptValue>, Error> {
        let mut state = self.state();
        let mut kept = state.journal.kept(entry)?;
        if let (true, Some(kept)) = (state.changed, &mut kept) {
            kept.value[0] ^= 1;
        }
        Ok(kept)
    }

    fn is_durable(&self) -> bool {
        true
    }
}

fn epsilon(text: &str) -> Epsilon {
    text.parse().expect("an epsilon")
}

fn query() -> Query<'static, AddRemove> {
    let anchor = Anchor::new("laplace#integer-vectors");
    let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), anchor).expect("a claim");
    Query::new(64, claim, || Private::new(vec![0; 64]))
}

fn counts(
    ledger: &mut Ledger<AddRemove>,
    allowance: &Allowance,
    label: &str,
    price: &str,
) -> Result<Vec<i64>, Error> {
    let mechanism = Laplace::calibrated(epsilon(price), 1).expect("a mechanism");
    ledger
        .draw(allowance, label, &mechanism, query())
        .map(Released::into_inner)
}

fn is_spend(event: &Event) -> bool {
    matches!(event, Event::Spend { .. })
}

fn is_kept(event: &Event) -> bool {
    matches!(event, Event::Kept { .. })
}

/// 64 draws at scale 10 agree by chance with probability below 2^-200.
#[test]
fn a_resumed_run_finds_its_reservation_and_its_draws() {
    let journal = Shared::new();
    let price = Price::Pure(epsilon("0.3"));
    let mut first = journal.ledger("one");
    let allowance = first.allow("rounds", price, 3).expect("paid");
    let drawn = ["a", "b"].map(|label| counts(&mut first, &allowance, label, "0.1").expect("drawn"));
    assert_ne!(drawn[0], drawn[1]);
    drop(first);
    // After a crash: nothing is paid again, and what was given is given again, in whatever order it is asked for.
    let mut again = journal.ledger("one");
    let allowance = again.allow("rounds", price, 3).expect("found");
    assert_eq!(journal.count(is_spend), 1);
    assert_eq!(again.allowance_remaining(&allowance).expect("own").1, 1);
    assert_eq!(
        counts(&mut again, &allowance, "b", "0.1").expect("kept"),
        drawn[1]
    );
    let third = counts(&mut again, &allowance, "c", "0.1").expect("one is left");
    assert!(!drawn.contains(&third));
    // Draws are counted from what was kept, asked for again or not.
    let over = counts(&mut again, &allowance, "d", "0.1");
    assert!(
        matches!(&over, Err(Error::Budget(why)) if matches!(**why, Refusal::OverReservation { .. })),
        "{over:?}"
    );
    assert_eq!(
        counts(&mut again, &allowance, "a", "0.1").expect("kept"),
        drawn[0]
    );
    assert_eq!(journal.count(is_kept), 3);
    // Another run has nothing of it.
    let mut other = journal.ledger("two");
    assert!(matches!(
        counts(&mut other, &allowance, "a", "0.1"),
        Err(Error::Misuse(_))
    ));
    other.allow("rounds", price, 3).expect("paid for itself");
    assert_eq!(journal.count(is_spend), 2);
}

#[test]
fn the_cap_holds_over_crashes() {
    let journal = Shared::new();
    let price = Price::Pure(epsilon("0.3"));
    let mut first = journal.ledger("one");
    let allowance = first.allow("rounds", price, 10).expect("paid");
    counts(&mut first, &allowance, "a", "0.2").expect("drawn");
    let mut again = journal.ledger("one");
    let allowance = again.allow("rounds", price, 10).expect("found");
    assert!(matches!(
        counts(&mut again, &allowance, "b", "0.2"),
        Err(Error::Budget(_))
    ));
    counts(&mut again, &allowance, "b", "0.1").expect("what is left");
    // The same label for another question is not answered with the old one's value.
    let other = counts(&mut again, &allowance, "a", "0.1");
    assert!(
        matches!(&other, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob),
        "{other:?}"
    );
    // Nor are other terms the same reservation.
    for (price, draws) in [("0.3", 11), ("0.2", 10)] {
        let other = again.allow("rounds", Price::Pure(epsilon(price)), draws);
        assert!(
            matches!(&other, Err(Error::Budget(why)) if matches!(**why, Refusal::OtherReservation { .. })),
            "{other:?}"
        );
    }
}

#[test]
fn a_lost_draw_is_drawn_again_and_none_is_given_before_it_is_kept() {
    let journal = Shared::new();
    let price = Price::Pure(epsilon("0.1"));
    for _ in 0..3 {
        journal.state().loses = true;
        let mut lost = journal.ledger("one");
        let allowance = lost.allow("rounds", price, 1).expect("paid once");
        assert!(counts(&mut lost, &allowance, "a", "0.1").is_err());
        journal.state().loses = false;
    }
    assert_eq!((journal.count(is_spend), journal.count(is_kept)), (1, 0));
    let mut ledger = journal.ledger("one");
    let allowance = ledger.allow("rounds", price, 1).expect("found");
    let drawn = counts(&mut ledger, &allowance, "a", "0.1").expect("drawn");
    let mut again = journal.ledger("one");
    assert_eq!(counts(&mut again, &allowance, "a", "0.1").expect("kept"), drawn);
    journal.state().changed = true;
    let damaged = counts(&mut journal.ledger("one"), &allowance, "a", "0.1");
    assert!(
        matches!(&damaged, Err(Error::Journal(e)) if e.fault() == JournalFault::Damaged),
        "{damaged:?}"
    );
}

#[test]
fn two_processes_of_one_run_give_one_value() {
    let journal = Shared::new();
    let price = Price::Pure(epsilon("0.1"));
    let [mut one, mut other] = [journal.ledger("one"), journal.ledger("one")];
    let allowance = one.allow("rounds", price, 1).expect("paid");
    assert_eq!(other.allow("rounds", price, 1).expect("found"), allowance);
    let first = counts(&mut one, &allowance, "a", "0.1").expect("drawn");
    assert_eq!(counts(&mut other, &allowance, "a", "0.1").expect("kept"), first);
    assert!(counts(&mut other, &allowance, "b", "0.1").is_err());
    // Both have drawn before either has kept: the second one is told the first one's value.
    let mechanism = Laplace::calibrated(epsilon("0.1"), 1).expect("a mechanism");
    let [mut one, mut other] = [journal.ledger("two"), journal.ledger("two")];
    let allowance = one.allow("rounds", price, 1).expect("paid");
    let mut meanwhile = None;
    let claim = query().sensitivity().clone();
    let asked = Query::new(64, claim, || {
        meanwhile = counts(&mut other, &allowance, "a", "0.1").ok();
        Private::new(vec![0; 64])
    });
    let drawn = one.draw(&allowance, "a", &mechanism, asked).expect("drawn");
    assert_eq!(Some(drawn.into_inner()), meanwhile);
    assert_eq!(journal.count(is_kept), 2);
    // The other one has kept another draw, and it was the last: this one is given to nobody.
    let [mut one, mut other] = [journal.ledger("three"), journal.ledger("three")];
    let allowance = one.allow("rounds", price, 1).expect("paid");
    let claim = query().sensitivity().clone();
    let asked = Query::new(64, claim, || {
        counts(&mut other, &allowance, "b", "0.1").expect("drawn");
        Private::new(vec![0; 64])
    });
    let over = one
        .draw(&allowance, "a", &mechanism, asked)
        .map(Released::into_inner);
    assert!(matches!(over, Err(Error::Budget(_))), "{over:?}");
    assert_eq!(journal.count(is_kept), 3);
}

#[test]
fn a_chain_keeps_no_draw_that_was_not_reserved() {
    let mut journal = Shared::new();
    let price = Price::Pure(epsilon("0.1"));
    let mut ledger = journal.ledger("one");
    let allowance = ledger.allow("rounds", price, 1).expect("paid");
    let kept = |run: &str, draw: Option<&str>, price: Option<Price>| Event::Kept {
        dataset: "toy".into(),
        run: run.into(),
        what: "rounds".into(),
        draw: draw.map(str::to_owned),
        price,
        portion: None,
        digest: "0".repeat(64),
    };
    for event in [
        kept("two", Some("a"), Some(price)),
        kept("one", Some("a"), Some(Price::Pure(epsilon("0.2")))),
        kept("one", Some("a"), None),
        kept("one", None, None),
    ] {
        assert!(append(&mut journal, event.clone()).is_err(), "{event:?}");
    }
    counts(&mut ledger, &allowance, "a", "0.1").expect("drawn");
    assert!(append(&mut journal, kept("one", Some("b"), Some(price))).is_err());
}

/// What was paid for replaced units says less about added ones.
#[test]
fn an_allowance_is_drawn_under_the_change_it_was_paid_for() {
    let journal = Shared::new();
    let price = Price::Pure(epsilon("0.1"));
    let mut replace = journal.open("toy", Replace::row(), "one");
    let allowance = replace.allow("rounds", price, 1).expect("paid");
    let mut added = journal.ledger("one");
    let drawn = counts(&mut added, &allowance, "a", "0.1");
    assert!(matches!(drawn, Err(Error::Misuse(_))), "{drawn:?}");
    assert!(added.allowance_remaining(&allowance).is_err());
    assert_eq!(journal.count(is_kept), 0);
}

/// Whether a question holds for added units, too, is decided by what was paid.
#[test]
fn an_allowance_of_another_ledger_does_not_change_what_was_paid_for() {
    let price = Price::Pure(epsilon("0.1"));
    let [ours, theirs] = [Shared::new(), Shared::new()]
        .map(|journal| (journal.clone(), journal.open("toy", Replace::row(), "one")));
    let ((journal, mut ours), (_, mut theirs)) = (ours, theirs);
    ours.allow_also_added("rounds", price, 1).expect("paid");
    let allowance = theirs.allow("rounds", price, 1).expect("paid elsewhere");
    let mechanism = Laplace::calibrated(epsilon("0.1"), 1).expect("a mechanism");
    let anchor = Anchor::new("laplace#integer-vectors");
    let claim = Sensitivity::claim(&Replace::row(), Norm::L1(1), anchor).expect("a claim");
    let asked = Query::new(1, claim, || Private::new(vec![0]));
    let drawn = ours
        .draw(&allowance, "a", &mechanism, asked)
        .map(Released::into_inner);
    assert!(matches!(drawn, Err(Error::Misuse(_))), "{drawn:?}");
    assert_eq!(journal.count(is_kept), 0);
}

/// Its certificate would not say what was paid under the other name, and it would promise twice.
#[test]
fn a_run_is_not_resumed_under_an_adopted_name() {
    let mut journal = Shared::new();
    let (dataset, of) = ("alias".into(), "toy".into());
    append(&mut journal, Event::Adopt { dataset, of }).expect("adopted");
    let price = Price::Pure(epsilon("0.1"));
    journal.ledger("one").allow("rounds", price, 1).expect("paid");
    let mut alias = journal.open("alias", AddRemove::row(), "one");
    let is_refused = |result: Result<(), Error>| matches!(&result, Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob);
    assert!(is_refused(alias.allow("rounds", price, 1).map(drop)));
    assert!(is_refused(alias.reserve("more", price, 1).map(drop)));
    assert_eq!(journal.count(is_spend), 1);
    // A run of its own, and the first one under its own name, go on.
    alias.void("a test").expect("written");
    journal.ledger("one").allow("rounds", price, 1).expect("found");
    let mut other = journal.open("alias", AddRemove::row(), "two");
    other.allow("rounds", price, 1).expect("paid");
}

#[test]
fn a_resumed_run_promises_what_it_has_promised() {
    let journal = Shared::new();
    let [whole, part] = ["1", "0.6"].map(|price| Price::Pure(epsilon(price)));
    let mut first = journal.ledger("one");
    first.promise(whole, Delta::ZERO).expect("fits");
    first.allow("rounds", part, 1).expect("paid");
    // The budget has no room for the same promise once more, and needs none.
    let mut again = journal.ledger("one");
    again.promise(whole, Delta::ZERO).expect("the same");
    again.allow("rounds", part, 1).expect("found");
    let other = again.promise(part, Delta::ZERO);
    assert!(matches!(other, Err(Error::Misuse(_))), "{other:?}");
}
