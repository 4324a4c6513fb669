//! `privet ledger limit`

use std::fmt::Write;

use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::{Book, Relation};
use serde_json::json;

use crate::verb::Answer;
use crate::verb::exit::{Exit, Failure};
use crate::verb::request::{LedgerFile, Limit};
use crate::verb::words::{self, Round};

pub(in crate::verb) fn run(ledger: &LedgerFile, limit: &Limit) -> Result<Answer, Failure> {
    let created = std::fs::symlink_metadata(ledger.path()?).is_err();
    let mut store = ledger.open_or_create()?;
    let stand = |book: &Book| {
        let account = book.account(&limit.dataset);
        let first = account.and_then(|account| account.second_to(&limit.relation));
        let before = account.and_then(|a| a.lines().get(&limit.relation));
        Stand {
            first: first.filter(|_| limit.caps != Caps::ZERO).cloned(),
            paid: account.map_or(0, |a| a.payments()),
            same: before.is_some_and(|line| line.caps == limit.caps && line.delta == limit.delta),
        }
    };
    // What others write meanwhile is in the book that this is decided by.
    let (book, entry) = store.record_with(|book| {
        let Stand { first, same, .. } = stand(book);
        let wanted = !same && (first.is_none() || limit.second);
        wanted.then(|| Event::Limit {
            dataset: limit.dataset.clone(),
            relation: limit.relation.clone(),
            caps: limit.caps,
            delta: limit.delta,
        })
    })?;
    let Stand { first, paid, same } = stand(&book);
    if let Some(first) = &first
        && !limit.second
    {
        return Err(second(limit, first));
    }
    let head = entry.map_or_else(|| book.head().clone(), |entry| entry.head());

    let book = store.book()?;
    let line = book
        .account(&limit.dataset)
        .and_then(|a| a.lines().get(&limit.relation));
    let uncounted = line.map_or(0, |line| line.uncovered);

    let mut text = String::new();
    if created {
        let _ = writeln!(text, "There was no ledger: created {}", store.path().display());
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
            "This allows no release that costs ε. Columns may be released with changed values, each once: with `privet desensitise`, or to another party \
             (setting = \"vertical\")."
        ),
        _ => writeln!(
            text,
            "This allows {} in all: {}",
            words::promise(limit.epsilon, limit.delta),
            words::meaning(&limit.relation, limit.epsilon, &limit.caps)
        ),
    };
    if let Some(first) = first {
        let _ = writeln!(
            text,
            "There is also the budget for: {first}. What is paid from one may not be counted by the other: `privet ledger show {}` says \
             which of the promises still covers everything.",
            limit.dataset
        );
    }
    let late = paid > 0 && !same;
    if late {
        let _ = writeln!(
            text,
            "{} made before this limit was set. {} The sentence above holds only against a limit that was fixed before the first of them.",
            words::count(paid as u64, "payment was", "payments were"),
            match uncounted {
                0 => "They are counted.".to_owned(),
                some =>
                    format!("Of these {some} protect less and are not counted: no promise here covers them."),
            }
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
        "payments_not_counted": uncounted,
        "fixed_before_first_payment": !late,
        "head": head,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// What the book says before the limit is set.
struct Stand {
    /// A budget for the same people that this would be a second one to.
    first: Option<Relation>,
    paid: usize,
    /// Whether the limit is what it was.
    same: bool,
}

/// Why a second budget for the same people needs --second-budget.
fn second(limit: &Limit, first: &Relation) -> Failure {
    Failure::new(
        Exit::Budget,
        format!(
            "'{}' has a budget already, for: {first}. A budget for: {} would be a second one for the same people: what is paid from one \
             may not be counted by the other, whose promise would no longer cover everything that was released. Use the first one, by asking for \
             its change (in a job: change = …); or add --second-budget. Nothing was written.",
            limit.dataset, limit.relation
        ),
    )
}
