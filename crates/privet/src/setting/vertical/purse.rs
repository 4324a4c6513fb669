//! A ledger whose relation is known to itself only, so that parties under different relations are of one type.

use crate::Error;
use crate::data::Names;
use crate::party::RunName;
use crate::privacy::account::Price;
use crate::privacy::joint::Leak;
use crate::privacy::journal::Journal;
use crate::privacy::mechanism::ordered::{Column, Desensitised, Distance};
use crate::privacy::{Certificate, Coins, Epsilon, Ledger, Neighbours, Private, Relation};

/// What a party of this setting can ask of its ledger.
pub(super) trait Purse {
    /// See [`Ledger::desensitise`].
    fn desensitise(&mut self, what: &str, columns: Vec<Column<'_>>) -> Result<Vec<Desensitised>, Error>;

    /// See [`Ledger::admits_columns`].
    fn admits(&self, what: &str, columns: &[Distance]) -> Result<(), Error>;

    /// See [`Ledger::disclose`]: ids enter a private set intersection.
    fn disclose(&mut self, leaks: &[Leak], ids: Private<Names>) -> Result<Names, Error>;

    /// Writes down that public columns are used as they are: against a change of whole people nothing protects them.
    fn use_public(&mut self) -> Result<(), Error>;

    /// See [`Ledger::coins`].
    fn coins(&mut self) -> Result<Coins, Error>;

    /// Whom it protects.
    fn relation(&self) -> Relation;

    /// See [`Ledger::close_holding`]: what is held is let go once the values stand in a record.
    fn close(self: Box<Self>) -> (Certificate, Held);
}

/// A ledger that was closed, and that no other process can open yet.
pub(super) type Held = Box<dyn Journal>;

impl<N: Neighbours> Purse for Ledger<N> {
    fn desensitise(&mut self, what: &str, columns: Vec<Column<'_>>) -> Result<Vec<Desensitised>, Error> {
        Ok(Ledger::desensitise(self, what, columns)?.into_inner())
    }

    fn admits(&self, what: &str, columns: &[Distance]) -> Result<(), Error> {
        Ledger::admits_columns(self, what, columns)
    }

    fn disclose(&mut self, leaks: &[Leak], ids: Private<Names>) -> Result<Names, Error> {
        for leak in leaks.iter().skip(1) {
            Ledger::disclose(self, leak, Private::new(()), 1)?;
        }
        let first = leaks
            .first()
            .ok_or_else(|| Error::internal("nothing is disclosed without saying what"))?;
        Ok(Ledger::disclose(self, first, ids, 1)?.into_inner())
    }

    fn use_public(&mut self) -> Result<(), Error> {
        let nothing = Price::Pure(Epsilon::ZERO);
        self.reserve("public columns, as they are", nothing, 1)
            .map(|_| ())
    }

    fn coins(&mut self) -> Result<Coins, Error> {
        Ledger::coins(self)
    }

    fn relation(&self) -> Relation {
        Ledger::relation(self).relation()
    }

    fn close(self: Box<Self>) -> (Certificate, Held) {
        Ledger::close_holding(*self)
    }
}

/// A ledger for one run between parties.
pub(super) fn purse<N: Neighbours + 'static>(
    ledger: Ledger<N>,
    run: &RunName,
) -> Result<Box<dyn Purse>, Error> {
    Ok(Box::new(ledger.for_run(run.to_text())?))
}
