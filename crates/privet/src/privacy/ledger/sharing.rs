//! What other parties receive: desensitised columns, and values that enter a joint computation.

use super::Ledger;
use super::transaction::Step;
use crate::Error;
use crate::privacy::joint::{Disclosed, Leak};
use crate::privacy::journal::Event;
use crate::privacy::mechanism::Paid;
use crate::privacy::mechanism::ordered::{Column, Desensitised, Distance};
use crate::privacy::{Neighbours, Private, Released};

impl<N: Neighbours> Ledger<N> {
    /// For a run between parties, under the secret name in its record. A run that is resumed from its record finds its entries by
    /// that name: a disclosure is not written twice.
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
    /// charged, since the loss depends on distance and is not an ε of the budget; instead a column is released only once. The values
    /// are the caller's to keep: whatever becomes of them, they are not drawn again.
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
        let distances: Vec<Distance> = columns.iter().map(Column::distance).collect();
        self.transact(|run| {
            run.is_own()?;
            let record = run.book.desensitises(run.dataset, &run.relation, &distances)?;
            let event = Event::Desensitise {
                dataset: run.dataset.into(),
                relation: run.relation.clone(),
                what: what.into(),
                columns: distances.clone(),
                record,
                run: Some(run.name.into()),
                stored: false,
            };
            Ok((Step::Write(event), ()))
        })?;
        self.draw_columns(columns).map(Released::new)
    }

    /// Draws columns that were paid for.
    pub(super) fn draw_columns(&mut self, columns: Vec<Column<'_>>) -> Result<Vec<Desensitised>, Error> {
        self.random.renew()?;
        #[cfg(feature = "audit")]
        if let Some(auditor) = self.auditor.as_deref_mut() {
            let rows = self.relation.relation().rows().get().into();
            return Ok(crate::privacy::audit::observe_columns(
                auditor,
                columns,
                rows,
                &mut self.random,
            ));
        }
        let draw = |column: Column<'_>| column.draw(Paid::receipt(), &mut self.random);
        Ok(columns.into_iter().map(draw).collect())
    }

    /// Discloses a private value to a joint computation that shows `count` items of `leak` to another party.
    ///
    /// # Errors
    /// [`Error::Journal`] if the entry could not be written; the value is then not disclosed.
    pub fn disclose<T>(&mut self, leak: &Leak, value: Private<T>, count: u64) -> Result<Disclosed<T>, Error> {
        if count == 0 {
            return Err(Error::parameter("count", "a disclosure counts at least one item"));
        }
        let taken_up = self.taken_up;
        self.transact(|run| {
            run.is_own()?;
            let (what, to) = (leak.what().to_owned(), leak.to().to_owned());
            let shown = (run.name.to_owned(), what.clone(), to.clone(), count);
            if taken_up && run.book.has_shown(run.dataset, &shown) {
                return Ok((Step::Nothing, ()));
            }
            let event = Event::Leak {
                dataset: run.dataset.into(),
                what,
                to,
                count,
                proof: leak.anchor().as_str().into(),
                run: Some(run.name.into()),
                relation: Some(run.relation.clone()),
            };
            Ok((Step::Write(event), ()))
        })?;
        Ok(Disclosed::new(value.expose()))
    }
}
