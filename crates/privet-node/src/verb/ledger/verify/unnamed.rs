//! Certificates that were written before runs had names: which entries they speak of is not known, only that these come before.

use privet::privacy::account::Caps;
use privet::privacy::journal::{Entry, Event};
use privet::privacy::mechanism::ordered::Distance;
use privet::privacy::{Book, Certificate, Claim, Guarantee, Leakage, Observer, Payment, Relation};

use super::against::edited;

/// Whether everything that can be told without the run's name fits.
pub(super) fn follows(then: &Book, entries: &[Entry], certificate: &Certificate) -> Result<(), String> {
    let made = usize::try_from(certificate.ledger.entries).unwrap_or(usize::MAX);
    let before = &entries[..made.min(entries.len())];
    if certificate.claims.is_empty() {
        return Err(edited(
            "it claims nothing, so nothing in the ledger can show what it is about",
        ));
    }
    last(before, certificate)?;
    let paid = paid(before, certificate)?;
    totals(then, certificate)?;
    let released: Vec<&Distance> = before
        .iter()
        .flat_map(|entry| released(entry, certificate))
        .collect();
    for claim in &certificate.claims {
        guarantee(then, certificate, claim, &released)?;
        match &claim.guarantee {
            Guarantee::Simulated { leakage } => shown(before, certificate, leakage)?,
            Guarantee::Local { .. } => {
                return Err(edited(
                    "it claims local privacy, which no entry of a ledger can show",
                ));
            }
            _ => {}
        }
        let relation = &claim.protects;
        if !matches!(claim.from, Observer::Party(_)) && paid.iter().any(|under| *under != relation) {
            return Err(edited("it protects others than its payments were made for"));
        }
    }
    Ok(())
}

/// A certificate is made right after the last entry of its run.
fn last(before: &[Entry], certificate: &Certificate) -> Result<(), String> {
    let kept = |claim: &Claim| matches!(claim.guarantee, Guarantee::Distance { .. });
    let Some(entry) = before.last() else {
        return Ok(());
    };
    // Columns that were kept may be older than the run they are used in. Whoever reads named entries writes them, too.
    if before.iter().any(is_named) && !certificate.claims.iter().any(kept) {
        return Err(edited(
            "it was made when this ledger named runs already, and it names none",
        ));
    }
    match entry.event() {
        Event::Spend {
            dataset, what, price, ..
        } if *dataset == certificate.dataset => {
            let is_it = |payment: &Payment| payment.what == *what && payment.price == *price;
            if certificate.payments.iter().any(is_it) {
                return Ok(());
            }
            Err(edited(format!(
                "it omits the payment of {price} for '{what}', which it was made after"
            )))
        }
        _ => Ok(()),
    }
}

/// Whether an entry is of a version that names every run.
fn is_named(entry: &Entry) -> bool {
    matches!(
        entry.event(),
        Event::Spend { run: Some(_), .. } | Event::Void { run: Some(_), .. }
    )
}

/// Whether the items that it says were shown are all that its run showed.
fn shown(before: &[Entry], certificate: &Certificate, stated: &[Leakage]) -> Result<(), String> {
    let leaks: Vec<_> = before
        .iter()
        .filter_map(|entry| match entry.event() {
            event @ Event::Leak { dataset, run, .. } if *dataset == certificate.dataset => {
                Some((Leakage::of(event)?, run))
            }
            _ => None,
        })
        .collect();
    // The run's own come last.
    let Some((_, run)) = leaks.last() else {
        return Err(edited("it says that items were shown, and this ledger has none"));
    };
    let own: Vec<&Leakage> = leaks
        .iter()
        .filter(|(_, of)| of == run)
        .map(|(item, _)| item)
        .collect();
    let listed = |item: &Leakage| leaks.iter().any(|(found, _)| found == item);
    if stated.iter().all(listed) && own.iter().all(|item| stated.contains(item)) {
        return Ok(());
    }
    Err(edited("what it says was shown is not what this ledger has"))
}

/// Whom the payments that it lists protect, if the ledger has them all.
fn paid<'a>(before: &'a [Entry], certificate: &Certificate) -> Result<Vec<&'a Relation>, String> {
    let mut all: Vec<_> = before
        .iter()
        .filter_map(|entry| match entry.event() {
            Event::Spend {
                dataset,
                relation,
                what,
                price,
                draws,
                assuming,
                sharing,
                run: None,
                ..
            } if *dataset == certificate.dataset => Some(((what, price, draws, assuming, sharing), relation)),
            _ => None,
        })
        .collect();
    let mut relations = Vec::new();
    for payment in &certificate.payments {
        let wanted = (
            &payment.what,
            &payment.price,
            &payment.draws,
            &payment.assuming,
            &payment.sharing,
        );
        // The latest: the run's own come last.
        let Some(place) = all.iter().rposition(|(found, _)| *found == wanted) else {
            return Err(edited(format!(
                "its payment of {} for '{}' is not in this ledger",
                payment.price, payment.what
            )));
        };
        relations.push(all.remove(place).1);
    }
    Ok(relations)
}

fn totals(then: &Book, certificate: &Certificate) -> Result<(), String> {
    let account = then.account(&certificate.dataset);
    for claim in &certificate.claims {
        let total = account.and_then(|account| account.total(&claim.protects));
        // A void run may have ended before its ledger could say so; nothing else may differ.
        if total != certificate.total && !certificate.is_void() {
            return Err(edited(
                "its total is not what the ledger added up to when it was made",
            ));
        }
    }
    Ok(())
}

fn released<'a>(entry: &'a Entry, certificate: &Certificate) -> &'a [Distance] {
    match entry.event() {
        Event::Desensitise { dataset, columns, .. } if *dataset == certificate.dataset => columns,
        _ => &[],
    }
}

/// Whether one claim fits the payments that are listed, and the budget of that time.
fn guarantee(
    then: &Book,
    certificate: &Certificate,
    claim: &Claim,
    released: &[&Distance],
) -> Result<(), String> {
    let account = then.account(&certificate.dataset);
    let line = account.and_then(|account| account.lines().get(&claim.protects));
    let spends = !certificate.payments.is_empty();
    let covered = |claim: &Claim| {
        matches!(
            claim.guarantee,
            Guarantee::Pure { .. } | Guarantee::Approximate { .. } | Guarantee::Void { .. }
        )
    };
    let costs = certificate
        .pure_sum()
        .is_none_or(|sum| sum != privet::privacy::Epsilon::ZERO);
    if spends && costs && !certificate.claims.iter().any(covered) {
        return Err(edited("it lists payments and no claim that they were made for"));
    }
    match &claim.guarantee {
        Guarantee::Pure { epsilon } if !spends || certificate.pure_sum() != Some(*epsilon) => {
            Err(edited("its ε is not the sum of its payments"))
        }
        Guarantee::Approximate { epsilon, delta, caps } => {
            let charged = |spent: Option<Caps>, payment: &Payment| spent?.charge(caps, payment.price);
            if caps.epsilon(*delta) != *epsilon {
                Err(edited("its ε does not follow from its caps"))
            } else if !spends
                || certificate
                    .payments
                    .iter()
                    .fold(Some(Caps::ZERO), charged)
                    .is_none()
            {
                Err(edited("its payments are more than it says that it may spend"))
            } else if line.is_none_or(|line| line.delta != *delta) {
                Err(edited("its δ is not the one that its budget had"))
            } else {
                Ok(())
            }
        }
        Guarantee::Distance {
            columns,
            record,
            unit,
        } if Distance::record(columns) != *record
            || record.times(claim.protects.rows().get().into()) != *unit
            || !columns.iter().all(|column| released.contains(&column)) =>
        {
            Err(edited(
                "its desensitised columns are not those that the ledger recorded as released",
            ))
        }
        _ => Ok(()),
    }
}
