//! Certificates of both parties.

use super::message::Message;
use crate::Error;
use crate::error::JournalFault;
use crate::party::{Context, PartyId};
use crate::privacy::{Certificate, Ledger, PartyCertificate};

/// A run's ledger, until it is closed.
pub(super) enum Promise {
    /// Something may still be shown.
    Open(Box<Ledger>),
    /// What was shown.
    Closed(Box<Certificate>),
}

impl Promise {
    /// What this party has shown, the same whenever the run is taken up again.
    pub(super) fn close(self, context: &mut Context<'_, Message>) -> Result<Box<Certificate>, Error> {
        let ledger = match self {
            Self::Open(ledger) => ledger,
            Self::Closed(certificate) => return Ok(certificate),
        };
        let said = context.once("the certificate", || Ok(ledger.close().to_json().into_bytes()))?;
        let text = std::str::from_utf8(&said).ok();
        let certificate = text.and_then(Certificate::from_json);
        certificate
            .map(Box::new)
            .ok_or_else(|| Error::journal(JournalFault::Damaged, "the record's certificate is damaged"))
    }
}

/// This party's certificate with those that the others have told; what is told of itself is left out.
pub(super) fn with_others(
    mut own: Certificate,
    told: impl IntoIterator<Item = (PartyId, String)>,
    context: &Context<'_, Message>,
) -> Result<Certificate, Error> {
    for (party, said) in told.into_iter().filter(|(party, _)| *party != context.me()) {
        let certificate = Certificate::from_json(&said)
            .ok_or_else(|| context.complain(party, "it sent a certificate that cannot be read"))?;
        own.parties.push(PartyCertificate {
            party: context.name(party).to_owned(),
            certificate,
        });
    }
    Ok(own)
}
