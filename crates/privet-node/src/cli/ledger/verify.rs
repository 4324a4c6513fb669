//! `privet ledger verify`

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use privet::model::Model;
use privet::privacy::journal::{Entry, Event, Journal};
use privet::privacy::mechanism::ordered::Distance;
use privet::privacy::{Book, Certificate, Guarantee, Observer};
use serde_json::json;

use crate::cli::Answer;
use crate::cli::exit::{Exit, Failure};
use crate::cli::words::{self, count};
use crate::ledger::Store;

pub(in crate::cli) fn run(path: &Path, against: &[impl AsRef<Path>]) -> Result<Answer, Failure> {
    // Files first: a mistyped name is not a broken ledger.
    let certificates = against
        .iter()
        .map(|file| Ok((file.as_ref(), certificate(file.as_ref())?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let mut store = Store::read_only(path)?;
    store.check()?;
    let entries = store.read()?;
    let book = Book::of(&entries)?;
    if entries.is_empty() {
        return Err(privet::Error::Journal(format!(
            "the ledger {} has no first entry: it was emptied. Put it back from a backup.",
            store.path().display()
        ))
        .into());
    }

    let mut text = String::new();
    let head = book.head();
    let _ = writeln!(
        text,
        "The ledger is whole: {}, each follows from the one before, and none overdraws.",
        count(head.entries, "entry", "entries")
    );
    let mut checks = Vec::new();
    let mut sound = true;
    let assuming: BTreeSet<&String> = book
        .names()
        .keys()
        .filter_map(|name| book.account(name))
        .flat_map(|account| account.lines().values())
        .flat_map(|line| &line.assuming)
        .collect();
    for sentence in &assuming {
        let _ = writeln!(text, "Some of its prices hold provided that {sentence}.");
    }
    for (file, certificate) in certificates {
        let problem = problem(&book, &entries, &certificate);
        sound &= problem.is_none();
        let shown = file.display();
        let _ = match &problem {
            None => writeln!(
                text,
                "{shown}: made at entry {}, and everything it paid for is recorded.",
                certificate.ledger.entries
            ),
            Some(problem) => writeln!(text, "{shown}: DOES NOT VERIFY: {problem}"),
        };
        checks.push(json!({"file": file, "verified": problem.is_none(), "problem": problem}));
    }
    let last = entries.last().and_then(Entry::at);
    let _ = writeln!(text, "It ends at {head}, written {}.", words::date(last));
    let mut json = json!({"ledger": store.path(), "verified": sound, "head": head, "against": checks});
    if !assuming.is_empty() {
        json["assuming"] = json!(assuming);
    }
    let mut answer = Answer::new(text, json);
    if !sound {
        answer.exit = Exit::Ledger;
    }
    Ok(answer)
}

/// A certificate, bare or as a field of a model.
pub(in crate::cli) fn certificate(file: &Path) -> Result<Certificate, Failure> {
    let bad = |why: String| Failure::input(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
    let mut value: serde_json::Value =
        serde_json::from_str(&text).map_err(|e| bad(format!("it is not JSON: {e}")))?;
    if value.get("privet-model").is_some() {
        let model = Model::from_bytes(text.as_bytes()).map_err(|e| bad(e.to_string()))?;
        return Ok(model.certificate().clone());
    }
    if let Some(inner) = value.get_mut("certificate") {
        value = inner.take();
    }
    serde_json::from_value(value)
        .map_err(|e| bad(format!("it holds no certificate that this version can read: {e}")))
}

/// Why the certificate does not stand in this ledger, if it does not.
fn problem(book: &Book, entries: &[Entry], certificate: &Certificate) -> Option<String> {
    let (here, made) = (book.head().entries, certificate.ledger.entries);
    if !certificate.recorded {
        return Some(
            "it says itself that it was made without a ledger: what it spent is recorded nowhere".into(),
        );
    }
    if !book.contains(&certificate.ledger) {
        return Some(if made > here {
            format!(
                "this ledger ends at entry {here}, the model was made at entry {made}: the ledger was rolled back or cut \
                 short, or it is not the one the model was made with"
            )
        } else {
            format!(
                "entry {made} of this ledger is not the one that the model was made at: the ledger was rolled back and \
                 written on, or it is not the one the model was made with"
            )
        });
    }
    claims_problem(entries, certificate).or_else(|| payments_problem(entries, certificate))
}

/// Why what the certificate claims does not follow from what it lists and from the ledger as it was then.
fn claims_problem(entries: &[Entry], certificate: &Certificate) -> Option<String> {
    let edited = |what: &str| Some(format!("{what}: the certificate was edited"));
    let made = usize::try_from(certificate.ledger.entries)
        .unwrap_or(usize::MAX)
        .min(entries.len());
    let then = Book::of(&entries[..made]).ok()?;
    let left: Vec<&Distance> = entries[..made]
        .iter()
        .filter_map(|entry| match entry.event() {
            Event::Desensitise { dataset, columns, .. } if *dataset == certificate.dataset => Some(columns),
            _ => None,
        })
        .flatten()
        .collect();
    for claim in &certificate.claims {
        let total = then
            .account(&certificate.dataset)
            .and_then(|account| account.total(&claim.protects));
        // A void run may have ended before its ledger could say so; nothing else may differ.
        if claim.from == Observer::Anyone && total != certificate.total && !certificate.is_void() {
            return edited("its total is not what the ledger added up to when it was made");
        }
        match &claim.guarantee {
            Guarantee::Pure { epsilon } if certificate.pure_sum() != Some(*epsilon) => {
                return edited("its ε is not the sum of its payments");
            }
            Guarantee::Approximate { epsilon, delta, caps } if caps.epsilon(*delta) != *epsilon => {
                return edited("its ε does not follow from its caps");
            }
            Guarantee::Distance {
                columns,
                record,
                unit,
            } if Distance::record(columns) != *record
                || record.times(claim.protects.rows().get().into()) != *unit
                || !columns.iter().all(|column| left.contains(&column)) =>
            {
                return edited("its desensitised columns are not those that the ledger let out");
            }
            _ => {}
        }
    }
    None
}

/// Which payment of the certificate is not in the ledger, if one is not.
fn payments_problem(entries: &[Entry], certificate: &Certificate) -> Option<String> {
    let made = certificate.ledger.entries;
    let mut paid: Vec<_> = entries
        .iter()
        .take_while(|entry| entry.number() <= made)
        .filter_map(|entry| match entry.event() {
            Event::Spend {
                dataset,
                what,
                price,
                draws,
                assuming,
                ..
            } if *dataset == certificate.dataset => Some((what, price, draws, assuming)),
            _ => None,
        })
        .collect();
    for payment in &certificate.payments {
        let wanted = (&payment.what, &payment.price, &payment.draws, &payment.assuming);
        let Some(place) = paid.iter().position(|found| *found == wanted) else {
            return Some(format!(
                "its payment of {} for '{}' is not in this ledger: the certificate was edited",
                payment.price, payment.what
            ));
        };
        paid.swap_remove(place);
    }
    None
}
