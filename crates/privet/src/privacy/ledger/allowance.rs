//! Reservations that a role owns: they survive messages and crashes. A run that is resumed finds its reservation by its name, and each
//! draw that was given by its label.

use std::num::NonZeroU32;

use super::keeping::damaged;
use super::transaction::Step;
use super::{Drawn, Ledger, Mechanism, Paid, Query};
use crate::Error;
use crate::error::JournalFault;
use crate::privacy::account::{Caps, Price};
use crate::privacy::book::{PaidDraws, Refusal, Terms};
use crate::privacy::journal::{Event, KeptValue};
use crate::privacy::keeping::{Binding, KeptName};
use crate::privacy::{Neighbours, Relation, Released, Sensitivity};

/// A reservation that is no part of a ledger's life: a number of draws and a cap on their cost together, paid for once in a run. The
/// ledger knows which draws were given; [`Ledger::draw`] takes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    what: String,
    added: bool,
}

/// Which draw of an allowance: the portion of the units that it is about, if there are portions, and its label.
pub(super) type Which<'a> = (Option<u32>, &'a str);

impl Allowance {
    /// That a question may be asked from what was reserved.
    pub(super) fn covers<N: Neighbours>(&self, claim: &Sensitivity<N>) -> Result<(), Error> {
        if self.added && !claim.holds_added() {
            return Err(Error::misuse(
                "this was reserved for questions whose sensitivity holds when a unit is added or removed, and this one's was not claimed \
                 for that",
            ));
        }
        Ok(())
    }
}

/// What a ledger can keep of a draw: as many bytes for every value.
pub trait KeptOutput: Sized {
    /// Its bytes.
    fn to_kept(&self) -> Vec<u8>;

    /// The value of its bytes, if they are such a value's.
    fn from_kept(bytes: &[u8]) -> Option<Self>;
}

impl KeptOutput for Vec<i64> {
    fn to_kept(&self) -> Vec<u8> {
        self.iter().flat_map(|value| value.to_le_bytes()).collect()
    }

    fn from_kept(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<8>();
        let values = values.iter().map(|value| i64::from_le_bytes(*value));
        rest.is_empty().then(|| values.collect())
    }
}

impl KeptOutput for usize {
    fn to_kept(&self) -> Vec<u8> {
        (*self as u64).to_le_bytes().to_vec()
    }

    fn from_kept(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; 8] = bytes.try_into().ok()?;
        Self::try_from(u64::from_le_bytes(bytes)).ok()
    }
}

impl KeptOutput for Vec<usize> {
    fn to_kept(&self) -> Vec<u8> {
        self.iter().flat_map(KeptOutput::to_kept).collect()
    }

    fn from_kept(bytes: &[u8]) -> Option<Self> {
        let (values, rest) = bytes.as_chunks::<8>();
        let values: Option<Self> = values.iter().map(|value| usize::from_kept(value)).collect();
        values.filter(|_| rest.is_empty())
    }
}

impl KeptOutput for [u8; 32] {
    fn to_kept(&self) -> Vec<u8> {
        self.to_vec()
    }

    fn from_kept(bytes: &[u8]) -> Option<Self> {
        bytes.try_into().ok()
    }
}

impl<N: Neighbours> Ledger<N> {
    /// Buys up to `draws` draws that together cost at most `price`, with one durable entry; or finds the entry with which this run has
    /// bought them before. What is reserved is spent from then on, drawn or not.
    ///
    /// # Errors
    /// As [`Ledger::release`]; [`Error::Budget`] if the run has reserved draws for the same purpose otherwise; [`Error::Journal`] if it was
    /// begun under another name of the data set.
    pub fn allow(&mut self, what: &str, price: Price, draws: u64) -> Result<Allowance, Error> {
        self.allowed(what, (price, draws), None, false)
    }

    /// As [`allow`](Self::allow), for draws whose sensitivities all hold when a unit is added or removed, too.
    ///
    /// # Errors
    /// As [`allow`](Self::allow).
    pub fn allow_also_added(&mut self, what: &str, price: Price, draws: u64) -> Result<Allowance, Error> {
        self.allowed(what, (price, draws), None, true)
    }

    pub(super) fn allowed(
        &mut self,
        what: &str,
        (price, draws): (Price, u64),
        portions: Option<NonZeroU32>,
        added: bool,
    ) -> Result<Allowance, Error> {
        let drawn = portions.map_or(Drawn::Kept, Drawn::KeptOf);
        let added = self.paid_once((what, price, draws), drawn, added)?;
        let what = what.to_owned();
        Ok(Allowance { what, added })
    }

    /// Pays for draws with one durable entry, or finds the entry with which this run has paid for them before. Whether sensitivities of all
    /// questions must hold when a unit is added or removed, too.
    pub(super) fn paid_once(
        &mut self,
        (what, price, draws): (&str, Price, u64),
        drawn: Drawn,
        added: bool,
    ) -> Result<bool, Error> {
        let added = added && matches!(self.relation.relation(), Relation::Replace { .. });
        self.transact(|run| {
            run.is_own()?;
            let Some(paid) = run.book.reserved(run.dataset, run.name, what) else {
                if drawn.sharing().is_some() {
                    run.limits(price)?;
                }
                let event = run.spend((what, price, draws), added, drawn)?;
                return Ok((Step::Write(event), ()));
            };
            let terms = Terms {
                dataset: run.dataset.into(),
                relation: run.relation.clone(),
                price,
                draws,
                added,
                sharing: drawn.sharing(),
                portions: drawn.portions(),
            };
            match paid.terms == terms {
                true => Ok((Step::Nothing, ())),
                false => Err(Refusal::OtherReservation { what: what.into() }.into()),
            }
        })?;
        Ok(added)
    }

    /// What remains of an allowance: of its cap, and how many draws.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it is of another run.
    pub fn allowance_remaining(&self, allowance: &Allowance) -> Result<(Caps, u64), Error> {
        let paid = self.reserved(allowance)?;
        Ok((paid.remaining(None), paid.draws_remaining()))
    }

    /// One draw of an allowance, known by its label: as the ledger has kept it; else it is drawn, and kept by the ledger before it is
    /// given. Either way it is one of the draws that were paid for.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#redraw`: a draw that was lost before it was kept is drawn again; nobody has seen it.
    ///
    /// # Errors
    /// [`Error::Budget`] if too little of the allowance remains, before the answer is computed; [`Error::Journal`] if the draw could
    /// not be kept, if what was kept is missing or damaged, or if it is the draw of another question.
    pub fn draw<M: Mechanism<Output: KeptOutput>>(
        &mut self,
        allowance: &Allowance,
        label: &str,
        mechanism: &M,
        query: Query<'_, N>,
    ) -> Result<Released<M::Output>, Error> {
        self.draw_about(allowance, (None, label), mechanism, query)
    }

    /// The same about a portion of the units, if the allowance is for portions.
    pub(super) fn draw_about<M: Mechanism<Output: KeptOutput>>(
        &mut self,
        allowance: &Allowance,
        which: Which<'_>,
        mechanism: &M,
        query: Query<'_, N>,
    ) -> Result<Released<M::Output>, Error> {
        query.check(&self.relation)?;
        allowance.covers(query.sensitivity())?;
        let norm = query.sensitivity().norm();
        let price = mechanism.price(norm)?;
        let binding = Binding::default()
            .with("mechanism", mechanism.describe())
            .with("norm", format!("{norm:?}"))
            .with("dimension", query.dimension().to_string());
        self.kept_draw(allowance, (which, price), &binding, |ledger| {
            let answer = query.answer();
            ledger.output(mechanism, (norm, price), answer)
        })
    }

    /// A draw as the ledger has kept it; else as `draw` makes it, once everything that can be refused was not.
    pub(super) fn kept_draw<T: KeptOutput>(
        &mut self,
        allowance: &Allowance,
        (which, price): (Which<'_>, Price),
        binding: &Binding,
        draw: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<Released<T>, Error> {
        let (portion, label) = which;
        self.catch_up()?;
        let paid = self.reserved(allowance)?;
        if !paid.has(portion) {
            return Err(Error::misuse(
                "a draw is about one of the portions that were paid for, if there are portions",
            ));
        }
        if !paid.kept.contains_key(label) {
            paid.admits(portion, price)?;
            // A key that is missing is found out before the answer is computed.
            self.journal.seal([0; 32])?;
            self.random.renew()?;
            #[cfg(feature = "audit")]
            if let Some(auditor) = self.auditor.as_deref_mut() {
                auditor.portion(portion);
            }
            let kept = KeptValue {
                about: binding.to_text(),
                value: draw(self)?.to_kept(),
            };
            self.write_draw(allowance, (which, price), kept)?;
        }
        self.load_draw(allowance, (label, price), binding)
    }

    pub(super) fn output<M: Mechanism>(
        &mut self,
        mechanism: &M,
        (norm, price): (crate::privacy::Norm, Price),
        answer: crate::privacy::Private<Vec<i64>>,
    ) -> Result<M::Output, Error> {
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            let random = &mut self.random;
            return crate::privacy::audit::observe(auditor, norm, price, mechanism, answer, random);
        }
        let _ = (norm, price);
        Ok(mechanism.draw(answer, Paid::receipt(), &mut self.random))
    }

    pub(super) fn reserved(&self, allowance: &Allowance) -> Result<&PaidDraws, Error> {
        let paid = self.book.reserved(&self.dataset, &self.name, &allowance.what);
        let paid =
            paid.ok_or_else(|| Error::misuse("an allowance is drawn from by the run that paid for it"))?;
        if paid.terms.sharing.is_some() {
            return Err(Error::misuse("what was paid for joint sums is not released"));
        }
        // What was paid for decides which questions may be asked, and not what somebody hands over.
        if (&paid.terms.relation, paid.terms.added) != (&self.relation.relation(), allowance.added) {
            return Err(Error::misuse(
                "an allowance is drawn from under the change that it was paid for, and with the questions that it was paid for",
            ));
        }
        Ok(paid)
    }

    /// Stores a draw together with the entry that says that it may be given; nothing if another process was first.
    fn write_draw(
        &mut self,
        allowance: &Allowance,
        ((portion, label), price): (Which<'_>, Price),
        kept: KeptValue,
    ) -> Result<(), Error> {
        let dataset = self.reserved(allowance)?.terms.dataset.clone();
        let name = KeptName {
            dataset: &dataset,
            run: &self.name,
            what: &allowance.what,
            draw: Some(label),
        };
        let digest = self.journal.seal(name.hash(&kept))?;
        let mut kept = Some(kept);
        self.transact(|run| {
            let paid = run.book.reserved(run.dataset, run.name, &allowance.what);
            let paid = paid.ok_or_else(|| Error::internal("what was reserved stays reserved"))?;
            if paid.kept.contains_key(label) {
                return Ok((Step::Nothing, ()));
            }
            paid.admits(portion, price)?;
            let event = Event::Kept {
                dataset: dataset.clone(),
                run: run.name.into(),
                what: allowance.what.clone(),
                draw: Some(label.into()),
                price: Some(price),
                portion,
                digest: digest.clone(),
            };
            let kept = kept
                .take()
                .ok_or_else(|| Error::internal("a transaction decides once"))?;
            Ok((Step::Keep(event, kept), ()))
        })
    }

    fn load_draw<T: KeptOutput>(
        &mut self,
        allowance: &Allowance,
        (label, price): (&str, Price),
        binding: &Binding,
    ) -> Result<Released<T>, Error> {
        let paid = self.reserved(allowance)?;
        let kept = paid.kept.get(label).cloned();
        let (at, then) = kept.ok_or_else(|| Error::internal("what was just kept is kept"))?;
        let (dataset, run) = (paid.terms.dataset.clone(), self.name.clone());
        let name = KeptName {
            dataset: &dataset,
            run: &run,
            what: &allowance.what,
            draw: Some(label),
        };
        let kept = self.checked(name, &at)?;
        if then != price || Binding::from_text(&kept.about).as_ref() != Some(binding) {
            let why = format!(
                "the draw '{label}' of this run was given for another question: go on with the job and version it was begun with, or begin a new \
                 run"
            );
            return Err(Error::journal(JournalFault::OtherJob, why));
        }
        let value = T::from_kept(&kept.value).ok_or_else(|| damaged(&at, "it cannot be read"))?;
        Ok(Released::new(value))
    }
}

#[cfg(test)]
pub(super) mod tests;
