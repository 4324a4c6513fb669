//! Columns whose values are stored with the ledger: paid for, drawn, kept, and only then given to anybody.
//!
//! Two transactions: the payment; then the value together with the entry that says that it may be shown. A process that ends between
//! them leaves columns that are paid for and that nobody has seen: they are drawn again. Two processes may both draw; the value that
//! is kept first is the one that both of them give.

use sha2::{Digest, Sha256};

use super::transaction::Step;
use super::{Ledger, random_name};
use crate::Error;
use crate::error::JournalFault;
use crate::privacy::account::Price;
use crate::privacy::book::{Book, KeptAt, PaidColumns, Refusal};
use crate::privacy::journal::{Event, KeptValue};
use crate::privacy::keeping::{Binding, KeptName};
use crate::privacy::mechanism::ordered::{Column, Desensitised, Distance};
use crate::privacy::run::{Run, public_name};
use crate::privacy::{Certificate, Epsilon, Neighbours, Private, Relation};

/// A value that the ledger has kept.
#[derive(Debug)]
pub(crate) struct Kept {
    /// What it is bound to.
    pub(crate) binding: Binding,
    /// Its bytes.
    pub(crate) value: Vec<u8>,
    /// What was promised about it, as of the entry that says that it is kept.
    pub(crate) certificate: Certificate,
}

/// What the ledger says about columns.
#[derive(Debug)]
pub(crate) enum Standing {
    /// None of them was released.
    Free,
    /// These were paid for, and nobody has seen them.
    Paid(Vec<Distance>),
    /// They were released, and this is what was kept.
    Kept(Box<Kept>),
    /// They were released before values were stored with the ledger, by this run: the values are in a file.
    Elsewhere { run: String, columns: Vec<Distance> },
}

impl<N: Neighbours> Ledger<N> {
    /// For a table that its owner recognises by `mark`, such as a keyed hash of its file. What is kept is bound to it.
    pub fn of_table(mut self, mark: impl Into<String>) -> Self {
        self.mark = Some(mark.into());
        self
    }

    /// What its owner recognises the table by.
    pub(crate) fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }

    /// A keyed hash of private rows, by which the ledger's owner recognises them. It is stored beside a kept value and shown to nobody.
    pub(crate) fn fingerprint(&mut self, rows: Private<[u8; 32]>) -> Result<String, Error> {
        let hash = Sha256::new_with_prefix(b"privet table 1\0").chain_update(rows.expose());
        self.journal.seal(hash.finalize().into())
    }

    /// What the ledger says about the columns with these names, for this purpose.
    ///
    /// # Errors
    /// [`Error::Budget`] if they were released otherwise; [`Error::Journal`] if the ledger cannot be read, or what it kept is missing
    /// or damaged.
    pub(crate) fn standing(&mut self, what: &str, names: &[&str]) -> Result<Standing, Error> {
        self.catch_up()?;
        let Some(paid) = self.book.paid_columns(&self.dataset, what, names)? else {
            return Ok(Standing::Free);
        };
        if paid.may_be_drawn() && paid.relation != self.relation.relation() {
            return Err(Refusal::OtherColumns.into());
        }
        match paid.kept.clone() {
            Some(at) => {
                let paid = paid.clone();
                self.load(&paid, &at).map(|kept| Standing::Kept(Box::new(kept)))
            }
            None if paid.may_be_drawn() => Ok(Standing::Paid(paid.columns.clone())),
            None => Ok(Standing::Elsewhere {
                run: paid.run.clone(),
                columns: paid.columns.clone(),
            }),
        }
    }

    /// Whether the run of this name has entries.
    pub(crate) fn knows_run(&self, name: &str) -> bool {
        self.book.knows_run(&public_name(name))
    }

    /// That columns could be paid for now.
    ///
    /// # Errors
    /// As [`desensitise`](Self::desensitise).
    pub(crate) fn admits_columns(&self, columns: &[Distance]) -> Result<(), Error> {
        let relation = self.relation.relation();
        self.book.desensitises(&self.dataset, &relation, columns)?;
        Ok(())
    }

    /// Pays for columns, which are some of those with these names, draws them and keeps the value that `make` makes of the draw and its
    /// certificate. Nothing if another process has paid for others of these names or kept them meanwhile: ask for their
    /// [`standing`](Self::standing) again. `beside` is what is used as it is in the same run, at no ε.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#redraw`. `make` must not fail because of the values, and makes as many bytes of all of them.
    ///
    /// # Errors
    /// As [`desensitise`](Self::desensitise).
    pub(crate) fn keep_columns(
        &mut self,
        (what, names): (&str, &[&str]),
        columns: Vec<Column<'_>>,
        (binding, beside): (&Binding, Option<&str>),
        make: impl FnOnce(Vec<Desensitised>, Certificate) -> Result<Vec<u8>, Error>,
    ) -> Result<Option<Kept>, Error> {
        let distances: Vec<Distance> = columns.iter().map(Column::distance).collect();
        let fresh = random_name::<16>()?;
        // A key that is missing is found out before anything is paid.
        self.journal.seal([0; 32])?;
        let drawing = self.transact(|run| match run.book.paid_columns(run.dataset, what, names)? {
            None => {
                let record = run.book.desensitises(run.dataset, &run.relation, &distances)?;
                let event = Event::Desensitise {
                    dataset: run.dataset.into(),
                    relation: run.relation.clone(),
                    what: what.into(),
                    columns: distances.clone(),
                    record,
                    run: Some(fresh.clone()),
                    stored: true,
                };
                Ok((Step::Write(event), true))
            }
            Some(paid) if paid.may_be_drawn() && paid.is(&run.relation, &distances) => {
                let event = Event::Redraw {
                    dataset: paid.dataset.clone(),
                    run: paid.run.clone(),
                    what: what.into(),
                };
                Ok((Step::Write(event), true))
            }
            Some(_) => Ok((Step::Nothing, false)),
        })?;
        let paid = self.book.paid_columns(&self.dataset, what, names)?.cloned();
        let Some(paid) = paid.filter(|_| drawing) else {
            return Ok(None);
        };
        self.mark_run_void((&paid.dataset, &paid.run))?;
        if let Some(beside) = beside {
            self.pay_beside(&paid, beside)?;
        }
        let drawn = self.draw_columns(columns)?;
        let certificate = self.certificate(&self.book, (&paid.dataset, &paid.run), &paid.relation);
        let kept = KeptValue {
            about: binding.to_text(),
            value: make(drawn, certificate)?,
        };
        self.write_kept(&paid, kept)?;
        self.load_kept(what, names).map(Some)
    }

    /// Stores the value of columns that were released before values were stored with the ledger.
    ///
    /// # Errors
    /// [`Error::Journal`] if it cannot be written, or the ledger does not know the run.
    pub(crate) fn import_columns(
        &mut self,
        what: &str,
        (run, names): (&str, &[&str]),
        binding: &Binding,
        value: Vec<u8>,
    ) -> Result<Kept, Error> {
        self.catch_up()?;
        let paid = self.book.paid_columns(&self.dataset, what, names)?.cloned();
        let paid = paid.filter(|paid| paid.run == run && !paid.stored);
        let paid = paid.ok_or_else(|| Error::internal("what is imported was released by its run"))?;
        let about = binding.to_text();
        self.write_kept(&paid, KeptValue { about, value })?;
        self.load_kept(what, names)
    }

    /// Stores a value together with the entry that says that it may be shown; nothing if another process was first.
    fn write_kept(&mut self, paid: &PaidColumns, kept: KeptValue) -> Result<(), Error> {
        let digest = self.journal.seal(paid.name().hash(&kept))?;
        let names: Vec<&str> = paid.columns.iter().map(|c| c.column.as_str()).collect();
        let mut kept = Some(kept);
        self.transact(|run| {
            let now = run.book.paid_columns(run.dataset, &paid.what, &names)?;
            if now.is_some_and(|now| now.kept.is_some()) {
                return Ok((Step::Nothing, ()));
            }
            let event = Event::Kept {
                dataset: paid.dataset.clone(),
                run: paid.run.clone(),
                what: paid.what.clone(),
                draw: None,
                price: None,
                portion: None,
                digest: digest.clone(),
            };
            let kept = kept
                .take()
                .ok_or_else(|| Error::internal("a transaction decides once"))?;
            Ok((Step::Keep(event, kept), ()))
        })
    }

    fn load_kept(&mut self, what: &str, names: &[&str]) -> Result<Kept, Error> {
        match self.standing(what, names)? {
            Standing::Kept(kept) => Ok(*kept),
            _ => Err(Error::internal("what was just kept is kept")),
        }
    }

    /// A run that protects nobody says so in its own entries, before anything is drawn.
    pub(super) fn mark_run_void(&mut self, (dataset, run): (&str, &str)) -> Result<(), Error> {
        let Some(because) = self.void.clone() else {
            return Ok(());
        };
        let relation = self.relation.relation();
        self.transact(|_| {
            let event = Event::Void {
                dataset: dataset.into(),
                because: because.clone(),
                run: Some(run.into()),
                relation: Some(relation.clone()),
            };
            Ok((Step::Write(event), ()))
        })
    }

    /// Says in the run of columns what is used beside them as it is.
    fn pay_beside(&mut self, paid: &PaidColumns, beside: &str) -> Result<(), Error> {
        let price = Price::Pure(Epsilon::ZERO);
        self.transact(|view| {
            let run = view.book.run(&paid.dataset, &paid.run).unwrap_or(Run::NEW);
            if run.payments().iter().any(|payment| payment.what == beside) {
                return Ok((Step::Nothing, ()));
            }
            view.book.admits(&paid.dataset, &paid.relation, price, false)?;
            let event = Event::Spend {
                dataset: paid.dataset.clone(),
                relation: paid.relation.clone(),
                what: beside.into(),
                price,
                draws: 1,
                assuming: Vec::new(),
                run: Some(paid.run.clone()),
                promise: run.promise().is_none().then(|| view.may_spend()),
                added: false,
                stored: false,
                sharing: None,
                portions: None,
            };
            Ok((Step::Write(event), ()))
        })
    }

    /// What was kept, if it is what the ledger's entry says.
    fn load(&mut self, paid: &PaidColumns, at: &KeptAt) -> Result<Kept, Error> {
        let kept = self.checked(paid.name(), at)?;
        let binding = Binding::from_text(&kept.about)
            .ok_or_else(|| damaged(at, "what it is bound to cannot be read"))?;
        let until = usize::try_from(at.entry).unwrap_or(usize::MAX);
        let entries = self.journal.read(0)?;
        let then = Book::of(entries.get(..until).unwrap_or(&entries))?;
        Ok(Kept {
            binding,
            value: kept.value,
            certificate: self.certificate(&then, (&paid.dataset, &paid.run), &paid.relation),
        })
    }

    /// A kept value, if it is there and has the digest of its entry.
    pub(super) fn checked(&mut self, name: KeptName<'_>, at: &KeptAt) -> Result<KeptValue, Error> {
        let kept = self.journal.kept(at.entry)?;
        let kept = kept.ok_or_else(|| damaged(at, "it is missing"))?;
        if self.journal.seal(name.hash(&kept))? != at.digest {
            return Err(damaged(at, "it was changed since"));
        }
        Ok(kept)
    }
}

impl PaidColumns {
    fn name(&self) -> KeptName<'_> {
        KeptName {
            dataset: &self.dataset,
            run: &self.run,
            what: &self.what,
            draw: None,
        }
    }

    /// Whether these are the columns that were paid for, changed in the same way under the same relation.
    fn is(&self, relation: &Relation, columns: &[Distance]) -> bool {
        (&self.relation, &self.columns[..]) == (relation, columns)
    }
}

pub(super) fn damaged(at: &KeptAt, why: &str) -> Error {
    let why = format!(
        "the ledger cannot give the value again that was kept with its entry {}: {why}. Put the ledger back from a backup; files \
         beside it that end in -wal and -shm are removed first. The value is not drawn again: whoever has seen the first draw could take noise off with a second one",
        at.entry
    );
    Error::journal(JournalFault::Damaged, why)
}
