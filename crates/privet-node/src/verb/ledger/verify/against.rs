//! Whether a certificate follows from a ledger.

use privet::privacy::journal::Entry;
use privet::privacy::{Book, Certificate, Claim, Guarantee, Payment};

use super::unnamed;
use crate::ledger::CommitmentKey;

/// A ledger that certificates are compared with.
pub(super) struct Compared<'a> {
    pub(super) entries: &'a [Entry],
    /// What certificates commit to it by; nothing if the ledger's key is not there.
    pub(super) key: Option<&'a CommitmentKey>,
}

/// A certificate that follows from the ledger.
pub(super) struct VerifiedCertificate {
    /// Whether it names the runs whose entries it speaks of. Otherwise it was written before runs had names, and less can be told.
    named: bool,
    /// Whether it is of another ledger itself, and only parties of it are here.
    pub(super) is_foreign: bool,
    /// Whether it is of a party that has no rows, and everything that it guarantees is in the parts of others.
    pub(super) is_without_rows: bool,
    /// Parties whose certificates commit to a place in this ledger, and that place; nothing without the ledger's key.
    pub(super) parts: Vec<(String, Option<u64>)>,
    /// Parties whose certificates are of other ledgers.
    pub(super) elsewhere: Vec<String>,
}

impl VerifiedCertificate {
    /// Compares a certificate with the entries that it speaks of; if it does not follow from them, says what differs. One that another ledger
    /// signed may have been made there: then the parts of its parties are looked for.
    pub(super) fn of(
        ledger: &Compared<'_>,
        certificate: &Certificate,
        signed_elsewhere: bool,
    ) -> Result<Self, String> {
        let entries = ledger.entries;
        let now = Book::of(entries).map_err(|e| e.to_string())?;
        let here = |certificate: &Certificate| certificate.runs.iter().any(|run| now.knows_run(run));
        let then = as_it_was(entries, certificate);
        let parties = certificate
            .parties
            .iter()
            .map(|said| (said.party.clone(), &said.certificate));
        let earlier = certificate.earlier.iter();
        let earlier = earlier.map(|said| (format!("{} in the run before", said.party), &said.certificate));
        let all_said: Vec<(String, &Certificate)> = parties.chain(earlier).collect();
        let some_here = all_said.iter().any(|(_, said)| here(said));
        let is_foreign = signed_elsewhere && then.is_err() && !here(certificate) && some_here;
        let named = !certificate.runs.is_empty();
        let is_without_rows = certificate.is_without_rows();
        if is_without_rows && !signed_elsewhere && now.account(&certificate.dataset).is_some() {
            let why =
                "it claims nothing about a data set of this ledger, which only a party without rows does";
            return Err(edited(why));
        }
        if !is_foreign && !is_without_rows {
            let then = then?;
            if named {
                follows(&then, &now, certificate)?;
            } else {
                unnamed::follows(&then, entries, certificate)?;
            }
        }
        let (mut parts, mut elsewhere) = (Vec::new(), Vec::new());
        for (party, said) in all_said {
            let about = |why| format!("in the part of {party}: {why}");
            // Whoever is not in this ledger has one of their own; a wrong head alone does not make a party such a one.
            let absent = !here(said);
            if !said.parties.is_empty() || !said.earlier.is_empty() {
                return Err(about(edited("a party has no parties of its own")));
            }
            if absent && (said.is_for_partners() || as_it_was(entries, said).is_err()) {
                elsewhere.push(party);
            } else if said.is_for_partners() {
                let made = committed(ledger, &now, said).map_err(about)?;
                parts.push((party, made));
            } else {
                Self::of(ledger, said, false).map_err(about)?;
            }
        }
        Ok(Self {
            named,
            is_foreign,
            is_without_rows,
            parts,
            elsewhere,
        })
    }

    pub(super) fn words(&self) -> &'static str {
        if self.named {
            "what it says follows from the entries of its run"
        } else {
            "everything it paid for is recorded; it was written before runs had names, so whether it omits a payment is unknown"
        }
    }
}

/// The entry at which a certificate was made that commits to it, if the key is there; and that it follows from the entries of its runs.
fn committed(ledger: &Compared<'_>, now: &Book, certificate: &Certificate) -> Result<Option<u64>, String> {
    let Some(key) = ledger.key else {
        follows_as_shown(now, now, certificate)?;
        return Ok(None);
    };
    let commits = |entry: &Entry| {
        let (head, dataset, runs) = (entry.head(), &certificate.dataset, &certificate.runs);
        let commitment = certificate.commitment.as_ref();
        commitment.is_some_and(|commitment| commitment.is_to(&head, dataset, runs, |bytes| key.seal(bytes)))
    };
    let Some(place) = ledger.entries.iter().rposition(commits) else {
        return Err(
            "it does not commit to its runs and an entry of this ledger: the ledger was rolled back or cut short, or the certificate was edited"
                .into(),
        );
    };
    let then = Book::of(&ledger.entries[..=place]).map_err(|e| e.to_string())?;
    follows_as_shown(&then, now, certificate)?;
    Ok(Some(place as u64 + 1))
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
    let expected = expected(then, now, certificate)?;
    claims(&expected.claims, &certificate.claims)?;
    if expected.total == certificate.total {
        return Ok(());
    }
    Err(edited(
        "its total is not what the ledger added up to when it was made",
    ))
}

/// The same for one that parties were shown. It has no total. It says what its own run showed, which is the last; what earlier runs
/// showed, from which it has columns, is not said.
fn follows_as_shown(then: &Book, now: &Book, certificate: &Certificate) -> Result<(), String> {
    if certificate.total.is_some() {
        return Err(edited("it has a total, which parties are not shown"));
    }
    expected(then, now, certificate)?;
    let told = |tells_last: bool| {
        let mut told = Vec::new();
        for (place, run) in certificate.runs.iter().enumerate() {
            let tells = tells_last && place + 1 == certificate.runs.len();
            let alone = of_runs(then, certificate, std::slice::from_ref(run));
            let alone = alone.map_or_else(Vec::new, |alone| alone.claims);
            let is_told = |claim: &Claim| tells || !matches!(claim.guarantee, Guarantee::Simulated { .. });
            told.extend(alone.into_iter().filter(is_told));
        }
        told
    };
    let found = claims(&told(true), &certificate.claims);
    // Where its own run has no entries, the only one is that of the columns.
    match certificate.runs.len() {
        1 => found.or_else(|why| claims(&told(false), &certificate.claims).map_err(|_| why)),
        _ => found,
    }
}

/// What the entries of its runs give, if its payments are those, and its runs did nothing after it was made.
fn expected(then: &Book, now: &Book, certificate: &Certificate) -> Result<Certificate, String> {
    let expected = of_runs(then, certificate, &certificate.runs).ok_or_else(|| {
        format!(
            "this ledger has no entries of its run on '{}': the certificate was edited, or the run is of another ledger",
            certificate.dataset
        )
    })?;
    let whole = of_runs(now, certificate, &certificate.runs).map(|whole| (whole.claims, whole.payments));
    if whole.is_some_and(|whole| whole != (expected.claims.clone(), expected.payments.clone())) {
        return Err(edited(format!(
            "its run went on after entry {}, and it omits that",
            then.head().entries
        )));
    }
    payments(&expected.payments, &certificate.payments)?;
    Ok(expected)
}

fn of_runs(book: &Book, certificate: &Certificate, runs: &[String]) -> Option<Certificate> {
    // Only disclosures of older ledgers do not say whom they protect.
    let stated = certificate.claims.first().map(|claim| &claim.protects);
    let account = book.account(&certificate.dataset);
    let relation = stated.or_else(|| account.and_then(|account| account.lines().keys().next()));
    book.certificate(&certificate.dataset, runs, relation?)
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
