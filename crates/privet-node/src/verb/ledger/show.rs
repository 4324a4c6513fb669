//! `privet ledger show`

use std::fmt::Write;
use std::path::Path;

use privet::privacy::account::Caps;
use privet::privacy::journal::{Entry, Event, Journal};
use privet::privacy::{Account, Book, BudgetLine, REFUTED, Relation};
use serde_json::{Value, json};

use crate::ledger::Store;
use crate::verb::Answer;
use crate::verb::exit::Failure;
use crate::verb::words::{self, Round, count};

/// How many of the last entries are shown.
const LAST: usize = 10;

pub(in crate::verb) fn run(path: &Path, dataset: Option<&str>) -> Result<Answer, Failure> {
    let mut store = Store::read_only(path)?;
    let entries = store.read(0)?;
    let book = Book::of(&entries)?;
    if let Some(wanted) = dataset.filter(|wanted| !book.names().contains_key(*wanted)) {
        let known: Vec<&str> = book.names().keys().map(String::as_str).collect();
        return Err(Failure::usage(format!(
            "there is no data set '{wanted}' in this ledger; it knows {}",
            if known.is_empty() {
                "none".into()
            } else {
                known.join(", ")
            }
        )));
    }
    Ok(answer(store.path(), &book, &entries, dataset))
}

/// The budgets in `book`, or the one that goes by `dataset`.
pub(in crate::verb) fn answer(path: &Path, book: &Book, entries: &[Entry], dataset: Option<&str>) -> Answer {
    let owner = dataset.and_then(|name| book.names().get(name));
    let last = entries.last().and_then(Entry::at);
    let mut text = format!(
        "{}  ({}, the last {})\n",
        path.display(),
        count(book.head().entries, "entry", "entries"),
        words::date(last)
    );
    let mut sets = Vec::new();
    for (name, kept_under) in book.names() {
        // One paragraph for each budget, under its first name.
        if name != kept_under || owner.is_some_and(|owner| owner != name) {
            continue;
        }
        let Some(account) = book.account(name) else {
            continue;
        };
        let others: Vec<&str> = book
            .names()
            .iter()
            .filter(|(other, under)| *under == name && *other != name)
            .map(|(other, _)| other.as_str())
            .collect();
        write_account(&mut text, name, &others, account);
        sets.push(account_json(name, &others, account));
    }
    if sets.is_empty() {
        text += "\nNo data set has a budget yet: privet ledger limit DATASET --epsilon E\n";
    }

    let chosen: Vec<&Entry> = entries
        .iter()
        .filter(|entry| {
            owner.is_none() || subject(entry.event()).and_then(|name| book.names().get(name)) == owner
        })
        .collect();
    let shown = &chosen[chosen.len().saturating_sub(LAST)..];
    text += "\nLast entries\n";
    for entry in shown {
        let _ = writeln!(
            text,
            "  {:>5}  {}  {}",
            entry.number(),
            words::date(entry.at()),
            sentence(entry.event())
        );
    }
    let events: Vec<Value> = shown
        .iter()
        .map(|entry| json!({"number": entry.number(), "at": entry.at(), "event": entry.event()}))
        .collect();
    let json = json!({"ledger": path, "head": book.head(), "datasets": sets, "last": events});
    Answer::new(text, json)
}

fn write_account(text: &mut String, name: &str, others: &[&str], account: &Account) {
    let also = if others.is_empty() {
        String::new()
    } else {
        format!("  (also known as {})", others.join(", "))
    };
    let _ = writeln!(text, "\n{name}{also}");
    if let Some(because) = account.void() {
        let _ = writeln!(
            text,
            "  VOID      something was released without protection: {because}."
        );
        let _ = writeln!(
            text,
            "            No promise below holds for this data set any more."
        );
    }
    for (relation, line) in account.lines() {
        write_line(text, relation, line, account);
    }
    if account.lines().is_empty() {
        text.push_str("  no limit was set\n");
    }
    if let Some(released) = account.desensitised() {
        let _ = writeln!(
            text,
            "  released  {} desensitised, by which two rows can be told apart by {}; no ε above covers that, and no column is released twice",
            count(released.columns, "column", "columns"),
            released.record
        );
    }
    if account.leaks() > 0 {
        let _ = writeln!(
            text,
            "  shown     {} went into joint computations; no ε covers them",
            count(account.leaks(), "item", "items")
        );
    }
}

fn write_line(text: &mut String, relation: &Relation, line: &BudgetLine, account: &Account) {
    let _ = writeln!(text, "  when {relation}");
    if line.caps == Caps::ZERO && line.spent == Caps::ZERO {
        let _ = writeln!(
            text,
            "    limit   nothing that costs ε; columns may be released with changed values, each once"
        );
        return;
    }
    let promise = words::promise(line.caps.epsilon(line.delta), line.delta);
    let _ = match uncounted(line, account) {
        None => writeln!(text, "    promise {promise}"),
        Some(rest) => writeln!(
            text,
            "    promise NONE THAT COVERS EVERYTHING: {rest}. What this budget counts keeps {promise}"
        ),
    };
    for (name, caps, round) in [
        ("limit", line.caps, Round::Down),
        ("spent", line.spent, Round::Up),
        ("remains", line.remaining(), Round::Down),
    ] {
        let _ = writeln!(text, "    {name:<7} {}", words::budget(&caps, line.delta, round));
    }
    for sentence in &line.assuming {
        let _ = writeln!(text, "    provided that {sentence}");
        let _ = writeln!(text, "    {REFUTED}");
    }
    for sharing in &line.sharing {
        let _ = writeln!(text, "    provided that {sharing}");
    }
    if line.changed > 0 {
        let _ = writeln!(
            text,
            "    note    the limit was set {} after something was spent: the promise holds only against limits \
             fixed before",
            count(line.changed, "time", "times")
        );
    }
}

/// What was released from the data set that this budget does not count, if anything was.
fn uncounted(line: &BudgetLine, account: &Account) -> Option<String> {
    let mut parts = Vec::new();
    if account.void().is_some() {
        parts.push("something was released without protection".to_owned());
    }
    if line.uncovered > 0 {
        parts.push(format!(
            "{} made for a weaker protection",
            count(line.uncovered, "payment was", "payments were")
        ));
    }
    if let Some(released) = account.desensitised() {
        parts.push(format!(
            "{} released with changed values",
            count(released.columns, "column", "columns")
        ));
    }
    if account.leaks() > 0 {
        parts.push(format!(
            "{} went into joint computations",
            count(account.leaks(), "item", "items")
        ));
    }
    (!parts.is_empty()).then(|| parts.join(", and "))
}

fn account_json(name: &str, others: &[&str], account: &Account) -> Value {
    let budgets: Vec<Value> = account
        .lines()
        .iter()
        .map(|(relation, line)| {
            let mut budget = json!({
                "relation": relation,
                "caps": line.caps,
                "spent": line.spent,
                "left": line.remaining(),
                "epsilon_left": line.remaining().epsilon(line.delta),
                "epsilon": line.caps.epsilon(line.delta),
                "delta": line.delta,
                "uncovered": line.uncovered,
                "counts_everything": account.counts_everything(relation),
                "set_after_spending": line.changed,
            });
            if !line.assuming.is_empty() {
                budget["assuming"] = json!(line.assuming);
            }
            if !line.sharing.is_empty() {
                budget["sharing"] = json!(line.sharing);
            }
            budget
        })
        .collect();
    let mut set = json!({
        "dataset": name,
        "also": others,
        "budgets": budgets,
        "payments": account.payments(),
        "void": account.void(),
        "leaks": account.leaks(),
    });
    if let Some(released) = account.desensitised() {
        set["desensitised"] = json!(released);
    }
    set
}

fn subject(event: &Event) -> Option<&str> {
    match event {
        Event::Begin { .. } => None,
        Event::Limit { dataset, .. }
        | Event::Spend { dataset, .. }
        | Event::Contribute { dataset, .. }
        | Event::Desensitise { dataset, .. }
        | Event::Redraw { dataset, .. }
        | Event::Kept { dataset, .. }
        | Event::Leak { dataset, .. }
        | Event::Void { dataset, .. }
        | Event::Adopt { dataset, .. } => Some(dataset),
    }
}

/// An entry in words.
pub(in crate::verb) fn sentence(event: &Event) -> String {
    match event {
        Event::Begin { .. } => "the ledger begins".into(),
        Event::Limit { dataset, caps, .. } if *caps == Caps::ZERO => {
            format!("{dataset}: columns may be released with changed values; nothing that costs ε")
        }
        Event::Limit { dataset, caps, .. } => {
            format!("{dataset}: limit set to {}", words::caps(caps, Round::Down))
        }
        Event::Spend {
            dataset,
            what,
            price,
            draws,
            assuming,
            sharing,
            portions,
            ..
        } => format!(
            "{dataset}: paid {} for {what} ({}{}{})",
            words::caps(&(*price).into(), Round::Up),
            match sharing {
                None => count(*draws, "draw", "draws"),
                Some(sharing) => format!(
                    "{} of {} owners",
                    count(*draws, "joint sum", "joint sums"),
                    sharing.owners()
                ),
            },
            match portions {
                None => String::new(),
                Some(portions) => format!(", each about one of {portions} portions of the units"),
            },
            if assuming.is_empty() && sharing.is_none() {
                ""
            } else {
                ", under an assumption"
            }
        ),
        Event::Contribute {
            dataset,
            what,
            epsilon,
            ..
        } => {
            format!("{dataset}: paid ε = {epsilon} for one local message to {what}")
        }
        Event::Desensitise {
            dataset,
            what,
            columns,
            record,
            ..
        } => format!(
            "{dataset}: {} desensitised for {what}, by which two rows can be told apart by {record}",
            count(columns.len() as u64, "column", "columns")
        ),
        Event::Redraw { dataset, what, .. } => {
            format!("{dataset}: drawn once more for {what}, since no draw before had been kept or seen")
        }
        Event::Kept {
            dataset, what, draw, ..
        } => match draw {
            None => format!("{dataset}: the values for {what} are kept with the ledger, and may be shown"),
            Some(draw) => {
                format!("{dataset}: the draw '{draw}' for {what} is kept with the ledger, and may be shown")
            }
        },
        Event::Leak {
            dataset,
            what,
            to,
            count: n,
            ..
        } => format!("{dataset}: {n} x {what} shown to {to}"),
        Event::Void { dataset, because, .. } => format!("{dataset}: VOID: {because}"),
        Event::Adopt { dataset, of } => format!("{dataset}: shares the budget of {of}"),
    }
}
