//! Permission to use private values without protection.

use super::book::Book;
use super::certificate::{Certificate, Claim, Guarantee, Leakage, Observer};
use super::joint::Leak;
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
                commitment: None,
                runs: Vec::new(),
                parties: Vec::new(),
                earlier: Vec::new(),
            },
        }
    }

    /// The same permission for a joint computation, with what that shows to others. Where the permission is recorded, so is this, before
    /// anything is shown.
    ///
    /// # Errors
    /// [`Error::Journal`] if it could not be written; [`Error::Misuse`] if the permission is not recorded, and so has no ledger.
    pub fn showing(self, leaks: &[Leak], journal: &mut impl Journal) -> Result<Self, Error> {
        let Some(relation) = self.relation().filter(|_| self.is_recorded()) else {
            return Err(Error::misuse("a permission without a ledger records nothing"));
        };
        let dataset = self.certificate.dataset.clone();
        // A run of its own: that the model protects nobody says nothing about what the parties are shown.
        let run = random_name::<16>()?;
        for leak in leaks {
            let event = Event::Leak {
                dataset: dataset.clone(),
                what: leak.what().into(),
                to: leak.to().into(),
                count: 1,
                proof: leak.anchor().as_str().into(),
                run: Some(run.clone()),
                relation: Some(relation.clone()),
            };
            append(journal, event)?;
        }
        let shown = (!leaks.is_empty()).then(|| public_name(&run));
        let runs: Vec<String> = self.certificate.runs.iter().cloned().chain(shown).collect();
        let book = Book::of(&journal.read(0)?)?;
        let certificate = book.certificate(&dataset, &runs, &relation);
        let certificate = certificate.ok_or_else(|| {
            Error::journal(
                JournalFault::Storage,
                "the entries that were just written are not there",
            )
        })?;
        Ok(Self {
            certificate: Certificate {
                recorded: journal.is_durable(),
                ..certificate
            },
        })
    }

    /// The same for a permission that stands in no ledger: the certificate alone says what is shown.
    fn declare(&mut self, leaks: &[Leak]) {
        if let Some(protects) = self.relation().filter(|_| !leaks.is_empty()) {
            let leakage = leaks.iter().map(|leak| Leakage {
                what: leak.what().into(),
                to: leak.to().into(),
                count: 1,
                proof: leak.anchor().as_str().into(),
            });
            self.certificate.claims.push(Claim {
                protects,
                from: Observer::Party("the other parties".into()),
                guarantee: Guarantee::Simulated {
                    leakage: leakage.collect(),
                },
            });
        }
    }

    /// Whether a ledger says so.
    pub fn is_recorded(&self) -> bool {
        !self.certificate.runs.is_empty()
    }

    /// That its certificate says what is shown: where a ledger records the permission, that ledger says it already.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the ledger does not.
    pub(crate) fn check_shown(&mut self, leaks: &[Leak]) -> Result<(), Error> {
        if self.shows(leaks) {
            return Ok(());
        }
        if self.is_recorded() {
            return Err(Error::misuse(
                "the ledger that records this permission must record what the other parties are shown, too: `Unprotected::showing` with the \
                 leaks of the plan",
            ));
        }
        self.declare(leaks);
        Ok(())
    }

    /// Whether it says that all of this is shown.
    fn shows(&self, leaks: &[Leak]) -> bool {
        let listed = |leak: &Leak| {
            self.certificate
                .claims
                .iter()
                .any(|claim| match &claim.guarantee {
                    Guarantee::Simulated { leakage } => leakage
                        .iter()
                        .any(|item| item.what == leak.what() && item.to == leak.to()),
                    _ => false,
                })
        };
        leaks.iter().all(listed)
    }

    fn relation(&self) -> Option<Relation> {
        self.certificate
            .claims
            .first()
            .map(|claim| claim.protects.clone())
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
