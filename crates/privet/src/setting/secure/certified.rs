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

/// This party's certificate with the other's.
pub(super) fn with_other(
    mut own: Certificate,
    other: PartyId,
    said: &str,
    context: &Context<'_, Message>,
) -> Result<Certificate, Error> {
    let theirs = Certificate::from_json(said)
        .ok_or_else(|| context.complain(other, "it sent a certificate that cannot be read"))?;
    own.parties = vec![PartyCertificate {
        party: context.name(other).to_owned(),
        certificate: theirs,
    }];
    Ok(own)
}
