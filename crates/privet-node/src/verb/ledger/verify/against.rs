//! Whether a certificate follows from a ledger.

use privet::privacy::journal::Entry;
use privet::privacy::{Book, Certificate, Claim, Guarantee, Payment};

use super::unnamed;

/// A certificate that follows from the ledger.
pub(super) struct VerifiedCertificate {
    /// Whether it names the runs whose entries it speaks of. Otherwise it was written before runs had names, and less can be told.
    named: bool,
    /// Parties whose certificates are of other ledgers.
    pub(super) elsewhere: Vec<String>,
}

impl VerifiedCertificate {
    /// Compares a certificate with the entries that it speaks of; if it does not follow from them, says what differs.
    pub(super) fn of(entries: &[Entry], certificate: &Certificate) -> Result<Self, String> {
        let then = as_it_was(entries, certificate)?;
        let now = Book::of(entries).map_err(|e| e.to_string())?;
        let named = !certificate.runs.is_empty();
        if named {
            follows(&then, &now, certificate)?;
        } else {
            unnamed::follows(&then, entries, certificate)?;
        }
        let mut elsewhere = Vec::new();
        for said in &certificate.parties {
            // Whoever is not in this ledger has one of their own; a wrong head alone does not make a party such a one.
            let here = said.certificate.runs.iter().any(|run| now.knows_run(run));
            if !here && as_it_was(entries, &said.certificate).is_err() {
                elsewhere.push(said.party.clone());
                continue;
            }
            Self::of(entries, &said.certificate)
                .map_err(|why| format!("in the part of {}: {why}", said.party))?;
        }
        Ok(Self { named, elsewhere })
    }

    pub(super) fn words(&self) -> &'static str {
        if self.named {
            "what it says follows from the entries of its run"
        } else {
            "everything it paid for is recorded; it was written before runs had names, so whether it omits a payment is unknown"
        }
    }
}

/// What the ledger added up to when the certificate was made.
fn as_it_was(entries: &[Entry], certificate: &Certificate) -> Result<Book, String> {
    if !certificate.recorded {
        return Err("it was made without a ledger: what it spent is not recorded".into());
    }
    let (here, made) = (entries.len() as u64, certificate.ledger.entries);
    if made > here {
        return Err(format!(
            "this ledger ends at entry {here}, the model was made at entry {made}: the ledger was rolled back or cut \
             short, or it is not the one the model was made with"
        ));
    }
    let made_at = usize::try_from(made).unwrap_or(usize::MAX).min(entries.len());
    let then = Book::of(&entries[..made_at]).map_err(|e| e.to_string())?;
    if *then.head() != certificate.ledger {
        return Err(format!(
            "entry {made} of this ledger is not the one that the model was made at: the ledger was rolled back and \
             written on, or it is not the one the model was made with"
        ));
    }
    Ok(then)
}

/// Whether the certificate is the one that the entries of its runs give, and these runs did nothing after it was made.
fn follows(then: &Book, now: &Book, certificate: &Certificate) -> Result<(), String> {
    // Only disclosures of older ledgers do not say whom they protect.
    let stated = certificate.claims.first().map(|claim| &claim.protects);
    let account = then.account(&certificate.dataset);
    let relation = stated.or_else(|| account.and_then(|account| account.lines().keys().next()));
    let of =
        |book: &Book| relation.and_then(|own| book.certificate(&certificate.dataset, &certificate.runs, own));
    let expected = of(then).ok_or_else(|| {
            format!(
                "this ledger has no entries of its run on '{}': the certificate was edited, or the run is of another ledger",
                certificate.dataset
            )
        })?;
    let whole = of(now).map(|whole| (whole.claims, whole.payments));
    if whole.is_some_and(|whole| whole != (expected.claims.clone(), expected.payments.clone())) {
        return Err(edited(format!(
            "its run went on after entry {}, and it omits that",
            certificate.ledger.entries
        )));
    }
    payments(&expected.payments, &certificate.payments)?;
    claims(&expected.claims, &certificate.claims)?;
    if expected.total != certificate.total {
        return Err(edited(
            "its total is not what the ledger added up to when it was made",
        ));
    }
    Ok(())
}

pub(super) fn edited(what: impl std::fmt::Display) -> String {
    format!("{what}: the certificate was edited")
}

fn payments(expected: &[Payment], stated: &[Payment]) -> Result<(), String> {
    let mut rest: Vec<&Payment> = expected.iter().collect();
    for payment in stated {
        let place = rest.iter().position(|found| *found == payment);
        let Some(place) = place else {
            return Err(edited(format!(
                "its payment of {} for '{}' is not in this ledger",
                payment.price, payment.what
            )));
        };
        rest.remove(place);
    }
    match rest.first() {
        None => Ok(()),
        Some(payment) => Err(edited(format!(
            "it omits the payment of {} for '{}', which its run made",
            payment.price, payment.what
        ))),
    }
}

fn claims(expected: &[Claim], stated: &[Claim]) -> Result<(), String> {
    for (place, claim) in expected.iter().enumerate() {
        let Some(stated) = stated.get(place) else {
            return Err(edited(format!("it omits the claim: {}", claim.guarantee)));
        };
        if let Some(what) = differs(claim, stated) {
            return Err(edited(format!(
                "its claim differs from what its run paid for in {what}"
            )));
        }
    }
    match stated.get(expected.len()) {
        None => Ok(()),
        Some(claim) => Err(edited(format!(
            "its claim does not follow from its run: {}",
            claim.guarantee
        ))),
    }
}

/// What two claims differ in, if they do.
fn differs(expected: &Claim, stated: &Claim) -> Option<String> {
    let pair = |what: &str, ours: &dyn std::fmt::Display, theirs: &dyn std::fmt::Display| {
        Some(format!("{what}, which is {theirs} there and {ours} here"))
    };
    if expected.protects != stated.protects {
        return pair("whom it protects", &expected.protects, &stated.protects);
    }
    if expected.from != stated.from {
        return pair("from whom it protects", &expected.from, &stated.from);
    }
    match (&expected.guarantee, &stated.guarantee) {
        (ours, theirs) if ours == theirs => None,
        (
            Guarantee::Approximate { epsilon, delta, caps },
            Guarantee::Approximate {
                epsilon: their_epsilon,
                delta: their_delta,
                caps: their_caps,
            },
        ) => {
            if delta != their_delta {
                pair("δ", delta, their_delta)
            } else if caps != their_caps {
                pair("what it may spend", caps, their_caps)
            } else {
                pair("ε", epsilon, their_epsilon)
            }
        }
        (ours, theirs) => pair("the guarantee", ours, theirs),
    }
}
