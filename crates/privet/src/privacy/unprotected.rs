//! Permission to use private values without protection.

use super::certificate::{Certificate, Claim, Guarantee, Observer};
use super::journal::{Event, Head, Journal, random_name};
use super::ledger::append;
use super::run::public_name;
use super::{Private, Relation, texts};
use crate::Error;
use crate::error::JournalFault;

/// Permission to use private values without protection: for an algorithm without privacy, a paper's algorithm whose claim
/// is false, or an owner who looks at their own rows.
///
/// Once a ledger records it, the data set's total is void for good. A test lists the files that may name it.
#[derive(Debug, Clone)]
pub struct Unprotected {
    certificate: Certificate,
}

impl Unprotected {
    /// Records in the ledger that `dataset` is used without protection, and why.
    ///
    /// # Errors
    /// [`Error::Journal`] if that could not be written. There is no permission then.
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
        let book = append(journal, event)?;
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

    /// Permission without an entry: for public tables, and for results that only the owner sees.
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

    /// The certificate of a model made with this permission: void.
    pub fn certificate(&self) -> Certificate {
        self.certificate.clone()
    }
}
