//! `privet ledger limit`

use std::fmt::Write;
use std::path::Path;

use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use serde_json::json;

use crate::cli::Answer;
use crate::cli::exit::Failure;
use crate::cli::high::Limit;
use crate::cli::words::{self, Round};
use crate::ledger::Store;

pub(in crate::cli) fn run(path: &Path, limit: &Limit) -> Result<Answer, Failure> {
    let created = std::fs::symlink_metadata(path).is_err();
    let mut store = if created {
        Store::create(path)?
    } else {
        Store::open(path)?
    };
    let book = store.book()?;
    let account = book.account(&limit.dataset);
    let paid = account.map_or(0, |a| a.payments());
    let before = account.and_then(|a| a.lines().get(&limit.relation));
    let same = before.is_some_and(|line| line.caps == limit.caps && line.delta == limit.delta);
    let head = if same {
        book.head().clone()
    } else {
        let event = Event::Limit {
            dataset: limit.dataset.clone(),
            relation: limit.relation.clone(),
            caps: limit.caps,
            delta: limit.delta,
        };
        store.record(event)?.head()
    };

    let mut text = String::new();
    if created {
        let _ = writeln!(text, "There was no ledger: made {}", store.path().display());
    }
    let verb = if same {
        "Limit was already set"
    } else {
        "Limit set"
    };
    let _ = writeln!(
        text,
        "{verb} for '{}', when {}: {}",
        limit.dataset,
        limit.relation,
        words::caps(&limit.caps, Round::Down)
    );
    let _ = match limit.caps {
        Caps::ZERO => writeln!(
            text,
            "This allows no release that costs ε. Columns may leave changed, each once: with `privet desensitise`, or to another party \
             (setting = \"vertical\")."
        ),
        _ => writeln!(
            text,
            "This allows {} in all: {}",
            words::promise(limit.epsilon, limit.delta),
            words::meaning(&limit.relation, limit.epsilon, limit.delta)
        ),
    };
    let late = paid > 0 && !same;
    if late {
        let _ = writeln!(
            text,
            "{} made before this limit was set. They are counted, but the sentence above holds only against a limit that \
             was fixed before the first of them.",
            words::count(paid as u64, "payment was", "payments were")
        );
    }
    let json = json!({
        "ledger": store.path(),
        "created": created,
        "changed": !same,
        "dataset": limit.dataset,
        "relation": limit.relation,
        "caps": limit.caps,
        "epsilon": limit.epsilon,
        "delta": limit.delta,
        "payments_before": paid,
        "fixed_before_first_payment": !late,
        "head": head,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}
