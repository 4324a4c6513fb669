//! What a program learns from an error without reading its words, and that the words are as they were.

use privet::data::Schema;
use privet::error::{DataError, JournalFault, Refusal, Subject};
use privet::privacy::account::{Caps, Price};
use privet::privacy::journal::{Event, Journal, Volatile};
use privet::privacy::ledger::{append, begin};
use privet::privacy::mechanism::Laplace;
use privet::privacy::{
    AddRemove, Anchor, Book, Delta, Epsilon, Ledger, Neighbours, Norm, Query, Randomness, Relation, Replace,
    Sensitivity,
};
use privet::setting::vertical::Desensitisation;
use privet::{Error, privacy::Private};

fn epsilon(text: &str) -> Epsilon {
    text.parse().unwrap()
}

fn pure(text: &str) -> Caps {
    Caps {
        pure: epsilon(text),
        ..Caps::ZERO
    }
}

fn row() -> Relation {
    AddRemove::row().relation()
}

fn limited(caps: Caps) -> Volatile {
    let mut journal = Volatile::default();
    begin(&mut journal).unwrap();
    let limit = Event::Limit {
        dataset: "toy".into(),
        relation: row(),
        caps,
        delta: Delta::ZERO,
    };
    append(&mut journal, limit).unwrap();
    journal
}

fn open<N: Neighbours>(relation: N, caps: Caps) -> Result<Ledger<N>, Error> {
    Ledger::open("toy", relation, limited(caps), Randomness::from_os().unwrap())
}

fn release(ledger: &mut Ledger<AddRemove>, price: &str) -> Result<(), Error> {
    let claim = Sensitivity::claim(
        &AddRemove::row(),
        Norm::L1(1),
        Anchor::new("laplace#integer-vectors"),
    )?;
    let query = Query::new(1, claim, || Private::new(vec![0]));
    let mechanism = Laplace::calibrated(epsilon(price), 1)?;
    ledger.release("a count", &mechanism, query).map(|_| ())
}

#[track_caller]
fn refusal<T>(outcome: Result<T, Error>) -> Refusal {
    match outcome {
        Err(Error::Budget(refusal)) => *refusal,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("not refused"),
    }
}

#[test]
fn a_refusal_says_what_was_needed_and_what_is_left() {
    let mut ledger = open(AddRemove::row(), pure("1")).unwrap();
    release(&mut ledger, "0.7").unwrap();
    let over = refusal(release(&mut ledger, "0.4"));
    let expected = Refusal::NoRoom {
        dataset: "toy".into(),
        relation: row(),
        needed: Price::Pure(epsilon("0.4")),
        remaining: pure("0.3"),
        caps: pure("1"),
        delta: Delta::ZERO,
    };
    assert_eq!(over, expected);
    assert_eq!(
        over.to_string(),
        "refused: this needs pure ε of 0.4, and for 'toy' when one row is added or removed there remains pure ε of 0.3. Nothing was \
         drawn and no data was looked at."
    );
    assert_eq!(over.to_string(), format!("refused: {}", over.reason()));
}

#[test]
fn a_run_that_promised_less_and_a_budget_that_is_not_there_are_other_refusals() {
    let mut ledger = open(AddRemove::row(), pure("1")).unwrap();
    ledger.promise(Price::Pure(epsilon("0.5")), Delta::ZERO).unwrap();
    let over = refusal(release(&mut ledger, "0.6"));
    let (needed, remaining) = (Price::Pure(epsilon("0.6")), pure("0.5"));
    assert_eq!(over, Refusal::OverPromise { needed, remaining });
    assert_eq!(
        over.to_string(),
        "refused: this needs pure ε of 0.6, and the run may spend pure ε of 0.5 more. Nothing was drawn and no data was looked at."
    );
    let mut reserved = ledger
        .reserve("two draws", Price::Pure(epsilon("0.2")), 2)
        .unwrap();
    let claim = Sensitivity::claim(
        &AddRemove::row(),
        Norm::L1(1),
        Anchor::new("laplace#integer-vectors"),
    );
    let query = Query::new(1, claim.unwrap(), || Private::new(vec![0]));
    let mechanism = Laplace::calibrated(epsilon("0.3"), 1).unwrap();
    let over = refusal(reserved.release(&mechanism, query));
    let fields = Refusal::OverReservation {
        draws: 1,
        needed: Price::Pure(epsilon("0.3")),
        remaining: pure("0.2"),
        draws_remaining: 2,
    };
    assert_eq!(over, fields);
    let absent = refusal(open(Replace::row(), pure("1")));
    assert_eq!(
        absent,
        Refusal::NoBudget {
            dataset: "toy".into(),
            relation: Replace::row().relation(),
            other: Some(row()),
        }
    );
}

#[test]
fn an_entry_that_does_not_verify_is_named_by_its_number() {
    let mut journal = limited(pure("1"));
    let mut entries = journal.read(0).unwrap();
    entries.swap(0, 1);
    let Err(Error::Journal(e)) = Book::of(&entries) else {
        panic!("verified");
    };
    assert_eq!(e.fault(), JournalFault::Entry(1));
    assert_eq!(e.to_string(), format!("ledger entry 1: {}", e.reason()));
}

#[test]
fn parameters_are_named_by_their_keys() {
    let key = |e: Error| match e {
        Error::Parameter(e) => e.key().map(str::to_owned),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        key("x".parse::<Epsilon>().unwrap_err()).as_deref(),
        Some("epsilon")
    );
    assert_eq!(key("2".parse::<Delta>().unwrap_err()).as_deref(), Some("delta"));
    let e = Desensitisation::builder().epsilon(epsilon("1")).bins(1).build();
    assert_eq!(key(e.unwrap_err()).as_deref(), Some("bins"));
    let flag = Error::parameter(Subject::Flag("--data"), "--data names one table");
    assert_eq!(key(flag), None, "a flag is no key of a job");
}

#[test]
fn errors_of_a_file_come_with_its_lines() {
    let schema = "dataset = \"d\"\n[columns]\nage = { type = \"integer\", min = 9, max = 1 }\nsex = { type = \"flagg\" }\n";
    let Err(Error::Data(e)) = Schema::from_toml("schema.toml", schema) else {
        panic!("read");
    };
    assert_eq!(e.file(), Some("schema.toml"));
    let lines: Vec<_> = e.findings().iter().map(|finding| finding.line).collect();
    assert_eq!(lines, [Some(3), Some(4)]);
    let Err(Error::Data(e)) = Schema::from_toml("schema.toml", "dataset = \n") else {
        panic!("read");
    };
    let [only] = e.findings() else {
        panic!("{e}");
    };
    assert_eq!((only.line, only.character), (Some(1), Some(11)));
    let e = DataError::new("column 'a' is nested")
        .in_file("t.parquet")
        .of_column("a");
    assert_eq!(e.to_string(), "t.parquet: column 'a' is nested");
    assert_eq!(e.findings()[0].column.as_deref(), Some("a"));
}

#[test]
fn what_is_our_fault_says_so() {
    assert_eq!(
        Error::internal("a party starts once").to_string(),
        "internal error: it should hold that a party starts once. This is a bug in Privet: please report it with this message"
    );
    assert_eq!(
        Error::misuse("a party starts once").to_string(),
        "a party starts once"
    );
    let silent = Error::peer("shop", "a message is missing");
    assert_eq!(silent.to_string(), "shop: a message is missing");
    assert_eq!(
        Error::randomness("no device").to_string(),
        "the operating system gave no randomness: no device"
    );
}

/// Nobody else can choose it, so a builder has no default for it, and says so instead of speaking of a zero that nobody wrote.
#[test]
fn a_missing_epsilon_is_said_to_be_missing() {
    let missing = Desensitisation::builder().build().unwrap_err().to_string();
    assert!(
        missing.starts_with("epsilon is missing") && missing.contains("Desensitisation::builder().epsilon("),
        "{missing}"
    );
    let inside = privet::setting::vertical::Vertical::builder()
        .build()
        .unwrap_err();
    assert!(inside.to_string().starts_with("epsilon is missing"), "{inside}");
    let zero = Desensitisation::builder()
        .epsilon(Epsilon::ZERO)
        .build()
        .unwrap_err();
    assert_eq!(
        zero.to_string(),
        "epsilon = 0 is invalid: write a number above zero"
    );
}
