//! Decoders fed with foreign bytes, which may only give an error. Bodies of the fuzz targets, replayed by stable tests.

use std::fs;
use std::path::Path;

use privet::Error;
use privet::data::document::{Document, Section};
use privet::data::schema::{self, CodeBook, ColumnGuess, DraftColumn, Layout};
use privet::data::{Schema, common_unit, date};
use privet::privacy::account::{Caps, MuSquared, Price, Rho};
use privet::privacy::journal::{Entry, Head};
use privet::privacy::{Book, Certificate, Delta, Epsilon, Relation};

/// A fuzz target: its name, which is also its corpus folder's, and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every decoder.
pub const TARGETS: [Target; 13] = [
    ("entry", entry),
    ("chain", chain),
    ("certificate", certificate),
    ("amount", amount),
    ("schema", schema),
    ("model", crate::models::model),
    ("frame", crate::parties::frame),
    ("record", crate::parties::record),
    ("message", crate::parties::message),
    ("seat", crate::parties::seat),
    ("horizontal", crate::owners::horizontal),
    ("secure", crate::secure::secure),
    ("submission", crate::submissions::submission),
];

/// Feeds a decoder every file of its corpus, whole, cut short and with bytes changed at some six places of each
/// (`PRIVET_FULL=1`: five hundred).
///
/// # Panics
/// If the decoder does, or if the corpus is too small to mean anything.
pub fn replay(name: &str, decode: fn(&[u8])) {
    let places = if crate::skipped::full() { 500 } else { 6 };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(name);
    let files: Vec<_> = fs::read_dir(folder).expect("a corpus").collect();
    assert!(
        files.len() >= 3,
        "the corpus of {name} is too small to mean anything"
    );
    for file in files {
        let bytes = fs::read(file.expect("an entry").path()).expect("a file");
        decode(&bytes);
        for place in (0..bytes.len()).step_by(bytes.len() / places + 1) {
            decode(&bytes[..place]);
            let flipped = [1, 0x20, 0x80, 0xff].map(|change| bytes[place] ^ change);
            // Digits, quotes and separators are where grammars break.
            for byte in flipped.into_iter().chain(*b"09-\"{[,e\n#") {
                let mut changed = bytes.clone();
                changed[place] = byte;
                decode(&changed);
            }
        }
    }
}

/// One entry of a ledger: what parses is written again to the letter, and applied to an empty book.
pub fn entry(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let Ok(entry) = Entry::parse(text.into(), "00".into()) else {
        return;
    };
    assert_eq!(entry.text(), text);
    assert!(!entry.follows(&Head::empty()), "a hash that was made up");
    let again = Entry::after(&Head::empty(), entry.at(), entry.event().clone()).expect("an entry");
    let mut book = Book::default();
    let _ = book.apply(&again);
}

/// Events in a row, each chained to the one before: a book may refuse any of them, and never overdraws.
pub fn chain(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    let mut book = Book::default();
    for line in text.lines() {
        let Ok(parsed) = Entry::parse(line.into(), String::new()) else {
            continue;
        };
        let next = Entry::after(book.head(), parsed.at(), parsed.event().clone()).expect("an entry");
        let before = (book.head().clone(), book.names().clone());
        if book.apply(&next).is_err() {
            assert_eq!(
                before,
                (book.head().clone(), book.names().clone()),
                "a refusal leaves nothing behind"
            );
        }
        for name in book.names().keys() {
            let account = book.account(name).expect("every name has an account");
            for (relation, line) in account.lines() {
                let (spent, caps) = (line.spent, line.caps);
                let within =
                    spent.pure <= caps.pure && spent.rho <= caps.rho && spent.mu_squared <= caps.mu_squared;
                assert!(within, "{name} overdrawn: {relation}");
            }
        }
    }
}

/// A certificate that came with somebody's model, or as a file.
pub fn certificate(bytes: &[u8]) {
    if let Ok(file) = serde_json::from_slice(bytes) {
        let _ = Certificate::from_file(file);
    }
    let Ok(certificate) = serde_json::from_slice::<Certificate>(bytes) else {
        return;
    };
    assert!(!certificate.to_string().is_empty());
    let _ = certificate.is_void();
    let text = serde_json::to_vec(&certificate).expect("writes");
    assert_eq!(
        serde_json::from_slice::<Certificate>(&text).expect("reads"),
        certificate
    );
}

/// Amounts and relations as text: what parses prints to the same value.
pub fn amount(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    if let Ok(epsilon) = text.parse::<Epsilon>() {
        assert_eq!(epsilon.to_string().parse(), Ok(epsilon));
    }
    if let Ok(delta) = text.parse::<Delta>() {
        assert_eq!(delta.to_string().parse(), Ok(delta));
    }
    let quoted = serde_json::Value::from(text);
    let _ = serde_json::from_value::<Rho>(quoted.clone());
    let _ = serde_json::from_value::<MuSquared>(quoted);
    if let Ok(price) = serde_json::from_str::<Price>(text) {
        for steps in [0, 1, 2, u64::MAX] {
            let _ = price
                .group(steps)
                .and_then(|p| Caps::ZERO.charge(&Caps::from(price), p));
        }
    }
    if let Ok(relation) = serde_json::from_str::<Relation>(text) {
        let _ = relation.steps_to(&relation);
        let _ = relation.to_string();
    }
}

/// A schema that somebody wrote: what is read is written, and read the same again. Any text can be a column's name in a line
/// to add, and a draft.
pub fn schema(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return;
    };
    match Schema::from_toml("it", text) {
        Err(Error::Data(error)) => assert_eq!(error.file(), Some("it"), "{error}"),
        Err(error) => panic!("{error:?}"),
        Ok(schema) => {
            let written = schema.to_toml();
            let again = Schema::from_toml("it", &written).expect("reads");
            assert_eq!(again, schema);
            assert_eq!(again.to_toml(), written);
            assert!(!schema.explain().is_empty());
        }
    }
    if let Ok(book) = CodeBook::from_toml("it", text) {
        let _ = book.declared(text);
    }
    if let Ok(document) = Document::parse("it", text) {
        ask_everything(document.root());
        let _ = document.finish();
    }
    let line = schema::line_to_add(text, ColumnGuess::of_cells([bytes]));
    let document = Document::parse("it", &line).expect("a line of TOML");
    assert!(document.root().section(text).is_some());
    let guess = |line: &str| ColumnGuess::of_cells(line.split(',').map(str::as_bytes));
    let columns = text.lines().map(|line| DraftColumn {
        name: line.into(),
        guess: guess(line),
        measure: common_unit(line.split(',').map(str::as_bytes), false),
        thousands: line.len() % 5 == 0,
        is_index: line.len() % 7 == 0,
        unread: (line.len() % 11 == 3).then(|| "dates".into()),
        known: None,
    });
    let columns: Vec<DraftColumn> = columns.collect();
    let draft = schema::draft(text, Layout::default(), &columns);
    Document::parse("it", &draft).expect("TOML");
}

fn ask_everything(section: Section<'_>) {
    for key in section.keys() {
        let _ = (section.text(key), section.number(key), section.integer(key));
        let _ = (section.flag(key), section.texts(key), section.numbers(key));
        let _ = section.choice(key, &[("one", 1), ("two", 2)]);
        let _ = section.date(key).map(|found| date(found.value));
        section.section(key).into_iter().for_each(ask_everything);
        section.list(key).into_iter().for_each(ask_everything);
    }
}
