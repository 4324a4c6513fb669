//! `privet ledger adopt`

use privet::privacy::Book;
use privet::privacy::journal::Event;
use serde_json::json;

use crate::verb::Answer;
use crate::verb::exit::Failure;
use crate::verb::request::LedgerFile;

pub(in crate::verb) fn run(ledger: &LedgerFile, dataset: &str, of: &str) -> Result<Answer, Failure> {
    let mut store = ledger.open()?;
    let shares = |book: &Book| {
        let owner = book.names().get(of);
        dataset != of && owner.is_some() && book.names().get(dataset) == owner
    };
    // What others write meanwhile is in the book that this is decided by.
    let (book, entry) = store.record_with(|book| {
        let wanted = book.names().contains_key(of) && !shares(book);
        wanted.then(|| Event::Adopt {
            dataset: dataset.into(),
            of: of.into(),
        })
    })?;
    let Some(owner) = book.names().get(of) else {
        return Err(Failure::usage(format!(
            "there is no data set '{of}' in this ledger: `privet ledger show` lists them"
        )));
    };
    let already = entry.is_none();
    let head = entry.map_or_else(|| book.head().clone(), |entry| entry.head());
    let verb = if already {
        "shared already"
    } else {
        "shares from now on"
    };
    let text = format!("'{dataset}' {verb} the budget of '{owner}'.\n");
    let json = json!({"dataset": dataset, "shares": owner, "changed": !already, "head": head});
    Ok(Answer::new(text, json))
}
