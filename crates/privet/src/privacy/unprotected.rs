//! The door for what is not private, and says so.

use super::certificate::{Certificate, Claim, Guarantee, Observer};
use super::journal::{Event, Head, Journal, random_name};
use super::ledger::append;
use super::run::public_name;
use super::{Private, Relation, book, texts};
use crate::Error;
use crate::error::JournalFault;

/// Leave to use private values without protection: an algorithm without privacy, a paper's algorithm whose claim is
/// false, an owner who looks at their own rows.
///
/// Where it stands in a ledger, the data set's total is void from then on, for ever. Its certificate protects nobody, and
/// so can never be taken for another. Who may make one is checked by a test: it is named in few files.
#[derive(Debug, Clone)]
pub struct Unprotected {
    certificate: Certificate,
}

impl Unprotected {
    /// Writes down that `dataset` is used without protection, and why; only then can it be.
    ///
    /// # Errors
    /// [`Error::Journal`] if that could not be written. Nothing can be looked at then.
    pub fn recorded(
        dataset: &str,
        relation: &Relation,
        because: &str,
        journal: &mut impl Journal,
    ) -> Result<Self, Error> {
        let run = random_name::<16>()?;
        let event = Event::Void {
            dataset: dataset.into(),
            because: texts::readable(because),
            run: Some(run.clone()),
            relation: Some(relation.clone()),
        };
        append(journal, event)?;
        let book = book::Book::of(&journal.read()?)?;
        let certificate = book
            .certificate(dataset, &[public_name(&run)], relation)
            .ok_or_else(|| {
                Error::journal(
                    JournalFault::Storage,
                    "the entry that was just written is not there",
                )
            })?;
        Ok(Self {
            certificate: Certificate {
                recorded: journal.is_durable(),
                ..certificate
            },
        })
    }

    /// Without a record: for tables that are public anyway, and for what only their owner sees.
    pub fn unrecorded(dataset: &str, relation: &Relation, because: &str) -> Self {
        let claim = Claim {
            protects: relation.clone(),
            from: Observer::Anyone,
            guarantee: Guarantee::Void {
                because: texts::readable(because),
            },
        };
        Self {
            certificate: Certificate {
                dataset: dataset.into(),
                claims: vec![claim],
                payments: Vec::new(),
                total: None,
                recorded: false,
                ledger: Head::empty(),
                runs: Vec::new(),
                parties: Vec::new(),
            },
        }
    }

    /// The value itself.
    pub fn reveal<T>(&self, value: Private<T>) -> T {
        value.expose()
    }

    /// What may be said about a model that was made this way: that it protects nobody.
    pub fn certificate(&self) -> Certificate {
        self.certificate.clone()
    }
}
