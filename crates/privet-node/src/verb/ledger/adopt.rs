//! `privet ledger adopt`

use std::path::Path;

use privet::privacy::journal::Event;
use serde_json::json;

use crate::ledger::Store;
use crate::verb::Answer;
use crate::verb::exit::Failure;

pub(in crate::verb) fn run(path: &Path, dataset: &str, of: &str) -> Result<Answer, Failure> {
    let mut store = Store::open(path)?;
    let book = store.book()?;
    let Some(owner) = book.names().get(of) else {
        return Err(Failure::usage(format!(
            "there is no data set '{of}' in this ledger: `privet ledger show` lists them"
        )));
    };
    let already = dataset != of && book.names().get(dataset) == Some(owner);
    let head = if already {
        book.head().clone()
    } else {
        let event = Event::Adopt {
            dataset: dataset.into(),
            of: of.into(),
        };
        store.record(event)?.head()
    };
    let verb = if already {
        "shared already"
    } else {
        "shares from now on"
    };
    let text = format!("'{dataset}' {verb} the budget of '{owner}'.\n");
    let json = json!({"dataset": dataset, "shares": owner, "changed": !already, "head": head});
    Ok(Answer::new(text, json))
}
