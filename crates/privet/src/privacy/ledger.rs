//! Every release is paid for, the payment is stored durably, and only then is noise drawn.
//!
//! A [`Ledger`] is one run's view of one data set's budget under one neighbour relation. It is a privacy filter: prices
//! may depend on what was released before, and a payment is admitted only while the box of caps, fixed when the limit was
//! set, holds (`docs/proofs/accounts.md`). Refusal comes before the data is looked at.

mod allowance;
mod contributions;
mod keeping;
mod portions;
mod run;
mod shares;
mod sharing;
mod transaction;

use super::account::{Caps, Price};
use super::book::Book;
use super::journal::{Event, Journal, Volatile, random_name};
use super::mechanism::{Floating, LogisticRows, Mechanism, Objective, Paid, ROUNDING_TELLS};
use super::query::Query;
use super::reservation::{Part, Reservation, price_of_parts};
use super::run::Promise;
use super::texts::readable;
use super::{AddRemove, Coins, Delta, Neighbours, Partition, Private, Randomness, Relation, Released};
use crate::Error;
pub use allowance::{Allowance, KeptOutput};
pub use contributions::CampaignName;
pub(crate) use keeping::{Kept, Standing};
pub use portions::{PartQuery, PortionAllowance, Portions};
use run::Drawn;
pub use shares::ShareAllowance;
use shares::SharedDraws;
use transaction::Step;
pub use transaction::{append, begin};

/// The budget of one data set, opened for one run.
pub struct Ledger<N = Relation> {
    dataset: String,
    relation: N,
    book: Book,
    journal: Box<dyn Journal>,
    random: Randomness,
    /// The run's name in the ledger.
    name: String,
    /// Whether the name is that of a run between parties, which may be resumed.
    taken_up: bool,
    /// What the owner of the table recognises it by.
    mark: Option<String>,
    /// What the run promised before its first payment.
    promised: Option<Promise>,
    /// Why the run protects nobody, whether or not that could be written down.
    void: Option<String>,
    /// The shares that were drawn for joint sums since this ledger was opened.
    shared: SharedDraws,
    /// Set after a failed write, which may or may not be on disk: nothing more is drawn until the ledger is opened again.
    broken: bool,
    #[cfg(feature = "audit")]
    auditor: Option<Box<dyn super::audit::Auditor>>,
}

impl<N: Neighbours> Ledger<N> {
    /// Opens the budget that `journal` keeps for `dataset`.
    ///
    /// # Errors
    /// [`Error::Journal`] if the chain does not verify; [`Error::Budget`] if no limit was set for this relation.
    pub fn open(
        dataset: &str,
        relation: N,
        mut journal: impl Journal + 'static,
        random: Randomness,
    ) -> Result<Self, Error> {
        let book = Book::of(&journal.read(0)?)?;
        book.admits(
            dataset,
            &relation.relation(),
            Price::Pure(super::Epsilon::ZERO),
            false,
        )?;
        let seeded = random.is_seeded();
        let mut ledger = Self {
            dataset: dataset.to_owned(),
            relation,
            book,
            journal: Box::new(journal),
            random,
            name: random_name::<16>()?,
            taken_up: false,
            mark: None,
            promised: None,
            void: None,
            shared: SharedDraws::default(),
            broken: false,
            #[cfg(feature = "audit")]
            auditor: None,
        };
        if seeded {
            ledger.void("the noise came from a seed: whoever knows it can take the noise off again")?;
        }
        Ok(ledger)
    }

    /// A ledger in memory only, for experiments. Its certificate says that nothing was recorded.
    ///
    /// # Errors
    /// As [`Ledger::open`].
    pub fn volatile(relation: N, caps: Caps, delta: Delta, random: Randomness) -> Result<Self, Error> {
        let dataset = "unrecorded";
        let mut journal = Volatile::default();
        begin(&mut journal)?;
        let limit = Event::Limit {
            dataset: dataset.into(),
            relation: relation.relation(),
            caps,
            delta,
        };
        append(&mut journal, limit)?;
        Self::open(dataset, relation, journal, random)
    }

    /// The same run, with its relation as a value that is checked at run time.
    pub fn at_run_time(self) -> Ledger {
        Ledger {
            relation: self.relation.relation(),
            dataset: self.dataset,
            book: self.book,
            journal: self.journal,
            random: self.random,
            name: self.name,
            taken_up: self.taken_up,
            mark: self.mark,
            promised: self.promised,
            void: self.void,
            shared: self.shared,
            broken: self.broken,
            #[cfg(feature = "audit")]
            auditor: self.auditor,
        }
    }

    /// Pays the mechanism's price for this query, stores the payment, then draws once.
    ///
    /// # Errors
    /// [`Error::Budget`] if too little of the budget remains, before the data is looked at; [`Error::Journal`] if the payment
    /// could not be stored, in which case nothing was drawn.
    pub fn release<M: Mechanism>(
        &mut self,
        what: &str,
        mechanism: &M,
        query: Query<'_, N>,
    ) -> Result<Released<M::Output>, Error> {
        query.check(&self.relation)?;
        let price = mechanism.price(query.sensitivity().norm())?;
        let added = query.sensitivity().holds_added();
        self.buy(what, price, 1, added)?.release(mechanism, query)
    }

    /// Pays for the minimum of a perturbed loss, stores the payment, and only then looks at the rows and draws.
    ///
    /// # Privacy
    /// `docs/proofs/objective.md#released-minima`.
    ///
    /// # Errors
    /// As [`Ledger::release`].
    pub fn minimise<R: LogisticRows>(
        &mut self,
        what: &str,
        objective: &Objective<N>,
        rows: impl FnOnce() -> Private<R>,
    ) -> Result<Released<Vec<f64>>, Error> {
        objective.check(&self.relation)?;
        // Rows that come and rows that go are counted alike: what holds for replaced units holds for added ones.
        self.reserve_also_added(what, objective.price(), 1)?
            .minimise(objective, rows)
    }

    /// Pays for a minimum in floating point, and voids the run and the data set's total: the last digits of such minima tell about
    /// the rows. Then draws, and lets `solve` find the minimum.
    ///
    /// # Errors
    /// As [`Ledger::release`].
    pub fn minimise_void(
        &mut self,
        what: &str,
        objective: &Floating,
        solve: impl FnOnce(Private<Vec<f64>>) -> Private<Vec<f64>>,
    ) -> Result<Released<Vec<f64>>, Error> {
        self.pay(what, Price::Pure(objective.epsilon()), 1, false)?;
        self.void(ROUNDING_TELLS)?;
        self.random.renew()?;
        Ok(Released::new(objective.minimum(
            solve,
            Paid::receipt(),
            &mut self.random,
        )))
    }

    /// Buys up to `draws` draws that together cost at most `price`, with one durable entry. What is reserved is spent
    /// from then on, also after a crash and whether or not it is drawn.
    ///
    /// # Errors
    /// As [`Ledger::release`].
    pub fn reserve(&mut self, what: &str, price: Price, draws: u64) -> Result<Reservation<'_, N>, Error> {
        self.buy(what, price, draws, false)
    }

    /// As [`Ledger::reserve`], for draws whose sensitivities all hold when a unit is added or removed, too
    /// ([`Sensitivity::also_added`](super::Sensitivity::also_added)). Where units are replaced, a budget for the stronger protection
    /// is charged as well, if there is one.
    ///
    /// # Errors
    /// As [`Ledger::release`].
    pub fn reserve_also_added(
        &mut self,
        what: &str,
        price: Price,
        draws: u64,
    ) -> Result<Reservation<'_, N>, Error> {
        self.buy(what, price, draws, true)
    }

    fn buy(
        &mut self,
        what: &str,
        price: Price,
        draws: u64,
        added: bool,
    ) -> Result<Reservation<'_, N>, Error> {
        let added = added && matches!(self.relation.relation(), Relation::Replace { .. });
        self.pay(what, price, draws, added)?;
        Ok(Reservation {
            added,
            relation: self.relation.clone(),
            cap: Caps::from(price),
            spent: Caps::ZERO,
            draws,
            random: &mut self.random,
            #[cfg(feature = "audit")]
            auditor: self.auditor.as_deref_mut(),
        })
    }

    /// Runs `body` on each part with `price` and up to `draws` draws of its own. Parts share no row, so together they
    /// cost one part's price, times the steps of one change ([`Neighbours::steps`]).
    ///
    /// # Privacy
    /// Parallel composition, then group privacy; proof in `docs/proofs/relations.md#parts`.
    ///
    /// # Errors
    /// As [`Ledger::release`]; the first error of `body` ends the run, and everything stays paid.
    pub fn parallel<P, R>(
        &mut self,
        what: &str,
        price: Price,
        draws: u64,
        parts: Partition<P>,
        body: impl FnMut(&mut Part<'_, P, AddRemove>) -> Result<R, Error>,
    ) -> Result<Vec<R>, Error> {
        let whole = price_of_parts(&self.relation, price)?;
        let all = draws.saturating_mul(parts.parts() as u64);
        self.reserve(what, whole, all)?
            .parallel(price, draws, parts, body)
    }

    /// Declares this run void: it protects nobody, for the given reason. The data set's total is void from then on.
    ///
    /// # Errors
    /// [`Error::Journal`] if that could not be written.
    pub fn void(&mut self, because: &str) -> Result<(), Error> {
        let because = readable(because);
        // First of all: whatever becomes of the entry, this run protects nobody.
        self.void.get_or_insert_with(|| because.clone());
        self.transact(|run| {
            let event = Event::Void {
                dataset: run.dataset.into(),
                because: because.clone(),
                run: Some(run.name.into()),
                relation: Some(run.relation.clone()),
            };
            Ok((Step::Write(event), ()))
        })
    }

    /// Public randomness: for random planes, splits, shuffles of public values.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the operating system has none to give.
    pub fn coins(&mut self) -> Result<Coins, Error> {
        self.random.renew()?;
        let mut seed = [0; 32];
        self.random.fill(&mut seed);
        #[cfg(feature = "audit")]
        if let Some(auditor) = &mut self.auditor {
            seed = auditor.coins(seed);
        }
        Ok(Coins::from_seed(seed))
    }

    /// The change that this budget protects against.
    pub fn relation(&self) -> &N {
        &self.relation
    }

    /// Shows every query to `auditor` and lets it answer in the mechanism's place. The run is void from here on.
    ///
    /// # Errors
    /// [`Error::Journal`] if that could not be written.
    #[cfg(feature = "audit")]
    pub fn audited(mut self, auditor: Box<dyn super::audit::Auditor>) -> Result<Self, Error> {
        self.void("an auditor saw the queries without noise")?;
        self.auditor = Some(auditor);
        Ok(self)
    }

    fn pay(&mut self, what: &str, price: Price, draws: u64, added: bool) -> Result<(), Error> {
        self.transact(|run| {
            let event = run.spend((what, price, draws), added, Drawn::Released)?;
            Ok((Step::Write(event), ()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::mechanism::Laplace;
    use super::super::{AddRemove, Anchor, Epsilon, Norm, Sensitivity};
    use super::*;

    /// Two processes in the same state, as after a fork or a restored snapshot.
    #[test]
    fn every_draw_renews_the_stream() {
        let twin = || {
            let caps = Caps::from(Price::Pure(Epsilon::from_billionths(10_000_000_000)));
            Ledger::volatile(AddRemove::row(), caps, Delta::ZERO, Randomness::forked(7)).expect("opens")
        };
        let mechanism = Laplace::calibrated(Epsilon::from_billionths(1_000_000), 1).expect("a mechanism");
        let query = || {
            let anchor = Anchor::new("laplace#integer-vectors");
            let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1), anchor).expect("a claim");
            Query::new(64, claim, || Private::new(vec![0; 64]))
        };
        let (mut one, mut other) = (twin(), twin());
        let price = mechanism
            .price(Norm::L1(1))
            .and_then(|p| p.times(2).ok_or(Error::misuse(String::new())));
        let price = price.expect("a price");
        let mut reserved =
            [one.reserve("a run", price, 2), other.reserve("a run", price, 2)].map(|r| r.expect("paid"));
        for _ in 0..2 {
            // 64 draws at scale 1000 agree by chance with probability below 2^-600.
            let [a, b] = reserved
                .each_mut()
                .map(|r| r.release(&mechanism, query()).expect("paid").into_inner());
            assert_ne!(a, b);
        }
        assert_ne!(
            one.coins().expect("coins").seed(),
            other.coins().expect("coins").seed()
        );
    }
}
