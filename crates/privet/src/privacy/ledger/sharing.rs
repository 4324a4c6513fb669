//! What other parties receive: desensitised columns, and values that enter a joint computation.

use super::Ledger;
use crate::Error;
use crate::privacy::joint::{Disclosed, Leak};
use crate::privacy::journal::Event;
use crate::privacy::mechanism::Paid;
use crate::privacy::mechanism::ordered::{Column, Desensitised, Distance};
use crate::privacy::{Neighbours, Private, Released};

impl<N: Neighbours> Ledger<N> {
    /// For a run between parties, under the secret name in its record. A run that is resumed from its record finds its entries by
    /// that name: a disclosure is not written twice, and columns whose draw was never kept are drawn once more.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#redraw`: the caller must keep the values of this run before it shows them.
    ///
    /// # Errors
    /// [`Error::Journal`] if the ledger is void already and that cannot be written for this run.
    pub(crate) fn for_run(mut self, name: String) -> Result<Self, Error> {
        (self.name, self.taken_up) = (name, true);
        if let Some(because) = self.void.clone() {
            self.void(&because)?;
        }
        Ok(self)
    }

    /// Releases columns with every value randomised on its own: stores the privacy loss between two rows, then draws. No cap is
    /// charged, since the loss depends on distance and is not an ε of the budget; instead a column is released only once.
    ///
    /// # Privacy
    /// `docs/proofs/ordered.md#columns`: how well two rows can be told apart, value by value.
    ///
    /// # Errors
    /// [`Error::Budget`] if a column was released before, or the number of rows is private; [`Error::Journal`] if it could not be
    /// written. Nothing was drawn then.
    pub fn desensitise(
        &mut self,
        what: &str,
        columns: Vec<Column<'_>>,
    ) -> Result<Released<Vec<Desensitised>>, Error> {
        self.catch_up()?;
        let relation = self.relation.relation();
        let distances: Vec<Distance> = columns.iter().map(Column::distance).collect();
        self.is_own(&relation)?;
        let of = (self.name.as_str(), what);
        let again = match self.taken_up {
            true => self.book.redraws(&self.dataset, of, &relation, &distances),
            false => Ok(false),
        };
        let event = if again? {
            Event::Redraw {
                dataset: self.dataset.clone(),
                run: self.name.clone(),
                what: what.into(),
            }
        } else {
            let record = self.book.desensitises(&self.dataset, &relation, &distances)?;
            Event::Desensitise {
                dataset: self.dataset.clone(),
                relation,
                what: what.into(),
                columns: distances,
                record,
                run: Some(self.name.clone()),
            }
        };
        self.write(event)?;
        self.random.renew()?;
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            let rows = self.relation.relation().rows().get().into();
            let observed = crate::privacy::audit::observe_columns(auditor, columns, rows, &mut self.random);
            return Ok(Released::new(observed));
        }
        let draw = |column: Column<'_>| column.draw(Paid::receipt(), &mut self.random);
        Ok(Released::new(columns.into_iter().map(draw).collect()))
    }

    /// Whether columns could be released now: they were not yet, or only in this run, whose record may have them.
    ///
    /// # Errors
    /// As [`desensitise`](Self::desensitise).
    pub(crate) fn admits_columns(&self, what: &str, columns: &[Distance]) -> Result<(), Error> {
        if self.taken_up && self.book.released_in(&self.dataset, &self.name, what) {
            return Ok(());
        }
        let relation = self.relation.relation();
        self.book.desensitises(&self.dataset, &relation, columns)?;
        Ok(())
    }

    /// Discloses a private value to a joint computation that shows `count` items of `leak` to another party.
    ///
    /// # Errors
    /// [`Error::Journal`] if the entry could not be written; the value is then not disclosed.
    pub fn disclose<T>(&mut self, leak: &Leak, value: Private<T>, count: u64) -> Result<Disclosed<T>, Error> {
        if count == 0 {
            return Err(Error::parameter("count", "a disclosure counts at least one item"));
        }
        self.catch_up()?;
        let relation = self.relation.relation();
        self.is_own(&relation)?;
        let (what, to) = (leak.what().to_owned(), leak.to().to_owned());
        let shown = (self.name.clone(), what.clone(), to.clone(), count);
        if !(self.taken_up && self.book.has_shown(&self.dataset, &shown)) {
            let proof = leak.anchor().as_str().into();
            let dataset = self.dataset.clone();
            self.write(Event::Leak {
                dataset,
                what,
                to,
                count,
                proof,
                run: Some(self.name.clone()),
                relation: Some(relation),
            })?;
        }
        Ok(Disclosed::new(value.expose()))
    }
}
