//! Certificates of several owners.

use crate::Error;
use crate::error::JournalFault;
use crate::party::{Agreement, Context, PartyId};
use crate::privacy::journal::Head;
use crate::privacy::{Certificate, Ledger, PartyCertificate};

use super::message::Message;
use super::plan::Plan;

/// The most bytes of a certificate that is taken from another party.
const LONGEST: usize = 1 << 20;

/// What an owner's run guarantees, once everything is paid for: the same whenever the run is taken up again.
pub(super) fn of_run(ledger: &Ledger, context: &mut Context<'_, Message>) -> Result<Certificate, Error> {
    let said = context.once("the certificate", || {
        Ok(ledger.certificate_so_far().to_json().into_bytes())
    })?;
    let text = std::str::from_utf8(&said).ok();
    own(text.unwrap_or_default())
}

/// A certificate of one's own, from a record.
pub(super) fn own(text: &str) -> Result<Certificate, Error> {
    Certificate::from_json(text)
        .ok_or_else(|| Error::journal(JournalFault::Damaged, "the record's certificate is damaged"))
}

/// What another party says of its part, if it can be shown.
pub(super) fn theirs(text: &str) -> Option<Certificate> {
    (text.len() <= LONGEST)
        .then(|| Certificate::from_json(text))
        .flatten()
}

/// The certificates of all owners but one, under their names.
pub(super) fn of_others(
    agreement: &Agreement,
    me: PartyId,
    all: impl IntoIterator<Item = (PartyId, Certificate)>,
) -> Vec<PartyCertificate> {
    let others = all.into_iter().filter(|(party, _)| *party != me);
    let named = others.map(|(party, certificate)| PartyCertificate {
        party: agreement.name(party).to_owned(),
        certificate,
    });
    named.collect()
}

/// What a party without rows can say: what all owners say, and what was said of the model that the run started from.
pub(super) fn of_miner(plan: &Plan, parties: Vec<PartyCertificate>) -> Certificate {
    Certificate {
        dataset: plan.schema().dataset().to_owned(),
        claims: Vec::new(),
        payments: Vec::new(),
        total: None,
        recorded: parties.iter().all(|party| party.certificate.recorded),
        ledger: Head::empty(),
        commitment: None,
        runs: Vec::new(),
        parties,
        earlier: plan.earlier().to_vec(),
    }
}
