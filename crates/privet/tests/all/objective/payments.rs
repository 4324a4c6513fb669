//! Pay, write it down with what it assumes, draw; and say so ever after.

use std::cell::Cell;

use privet::Error;
use privet::privacy::account::{Caps, Price};
use privet::privacy::journal::{Entry, Event};
use privet::privacy::ledger::{append, begin};
use privet::privacy::mechanism::{Ball, Laplace, LogisticRow, LogisticRows, Objective, RowLoss};
use privet::privacy::{
    AddRemove, Anchor, Book, Certificate, Delta, Epsilon, Ledger, Neighbours, Norm, Private, Query,
    Randomness, Replace, Sensitivity,
};
use privet_testkit::faults::{AppendFault, Faulty};

const SENTENCE: &str = "rounding tells nothing: the proof is about real numbers and an exact minimum, and this program computes noise \
                        and minimum to about ten digits";

fn epsilon(text: &str) -> Epsilon {
    text.parse().expect("an epsilon")
}

fn journal() -> Faulty {
    let mut journal = Faulty::default();
    begin(&mut journal).expect("begins");
    for relation in [Replace::row().relation(), AddRemove::row().relation()] {
        let limit = Event::Limit {
            dataset: "toy".into(),
            relation,
            caps: Caps::from(Price::Pure(epsilon("1"))),
            delta: Delta::ZERO,
        };
        append(&mut journal, limit).expect("a limit");
    }
    journal
}

fn open<N: Neighbours>(relation: N, journal: &Faulty) -> Ledger<N> {
    let random = Randomness::from_os().expect("randomness");
    Ledger::open("toy", relation, journal.clone(), random).expect("opens")
}

fn objective<N: Neighbours>(relation: &N, price: &str) -> Objective<N> {
    let loss = RowLoss {
        ball: Ball::Cube,
        dimension: 3,
        slope: 1.0,
        curvature: 0.75,
        anchor: Anchor::new("objective#logistic-losses"),
    };
    Objective::calibrated(epsilon(price), relation, loss).expect("an objective")
}

/// No rows at all.
struct Nobody;

impl LogisticRows for Nobody {
    fn rows(&self) -> usize {
        0
    }

    fn row(&self, _row: usize, _entries: &mut Vec<(usize, i32)>) -> LogisticRow {
        unreachable!("there are none")
    }
}

fn nobody() -> Private<Nobody> {
    Private::new(Nobody)
}

#[test]
fn a_minimum_is_paid_for_before_it_is_looked_for() {
    let journal = journal();
    let looked = Cell::new(0);
    let rows = || {
        looked.set(looked.get() + 1);
        nobody()
    };
    let mut ledger = open(Replace::row(), &journal);
    let found = ledger
        .minimise("coefficients", &objective(&Replace::row(), "0.6"), rows)
        .expect("paid");
    assert_eq!((found.value().len(), looked.get()), (3, 1));
    let over = ledger.minimise("coefficients", &objective(&Replace::row(), "0.6"), rows);
    assert!(matches!(over, Err(Error::Budget(_))) && looked.get() == 1);
    journal.fail_at(1, AppendFault::Refused);
    let unwritten = ledger.minimise("coefficients", &objective(&Replace::row(), "0.1"), rows);
    assert!(matches!(unwritten, Err(Error::Journal(_))) && looked.get() == 1);
    let certificate = ledger.close();
    assert_eq!(certificate.pure_sum(), Some(epsilon("0.6")), "what was drawn");
    assert!(!certificate.is_void() && certificate.assuming().is_empty());
    // It holds for rows that are added or removed, and is charged to their budget, at the same price.
    let book = Book::of(&journal.entries()).expect("verifies");
    let lines = book.account("toy").expect("known").lines();
    for relation in [Replace::row().relation(), AddRemove::row().relation()] {
        let line = &lines[&relation];
        let spent = Caps::from(Price::Pure(epsilon("0.6")));
        assert_eq!((line.spent, line.uncovered), (spent, 0), "{relation}");
    }
}

#[test]
fn one_payment_is_one_minimum() {
    let journal = journal();
    let mut ledger = open(Replace::row(), &journal);
    let each = objective(&Replace::row(), "0.1");
    let unpaid = || -> Private<Nobody> { panic!("it was not paid for like this") };
    let mut paid = ledger
        .reserve("a run", Price::Pure(epsilon("0.2")), 2)
        .expect("paid");
    for _ in 0..2 {
        paid.minimise(&each, nobody).expect("reserved");
    }
    assert!(matches!(paid.minimise(&each, unpaid), Err(Error::Budget(_))));
    let larger = Replace::unit(2.try_into().expect("two"));
    let other = ledger.minimise("another unit", &objective(&larger, "0.1"), unpaid);
    assert!(matches!(other, Err(Error::Misuse(_))));
}

/// Released coefficients are multiples of 2^-36, whatever the noise was.
#[test]
fn minima_are_released_on_a_public_grid() {
    let mut ledger = open(Replace::row(), &journal());
    for _ in 0..5 {
        let found = ledger.minimise("coefficients", &objective(&Replace::row(), "0.1"), nobody);
        for x in found.expect("paid").value() {
            assert_eq!((x * (1u64 << 36) as f64).fract(), 0.0, "{x}");
        }
    }
}

fn count(ledger: &mut Ledger<Replace>) {
    let claim = Sensitivity::claim(
        &Replace::row(),
        Norm::L1(2),
        Anchor::new("laplace#integer-vectors"),
    );
    let query = Query::new(1, claim.expect("a claim"), || Private::new(vec![41]));
    let mechanism = Laplace::calibrated(epsilon("0.1"), 2).expect("a mechanism");
    ledger.release("a count", &mechanism, query).expect("paid");
}

/// Written when minima were still floating-point numbers, and an assumption stood for what was not proved.
const ASSUMED: &str = include_str!("before/journal.txt");
const ASSUMED_CERTIFICATE: &str = include_str!("before/certificate.json");

fn assumed() -> Vec<Entry> {
    let lines: Vec<&str> = ASSUMED.lines().collect();
    let entry = |pair: &[&str]| Entry::parse(pair[0].into(), pair[1].into()).expect("as it was written");
    lines.chunks(2).map(entry).collect()
}

#[test]
fn what_was_paid_under_an_assumption_still_says_so() {
    let run = Certificate::from_json(ASSUMED_CERTIFICATE).expect("as it was written");
    let text = run.to_string();
    let [own, together] = [text.find(SENTENCE), text.rfind(SENTENCE)].map(|at| at.expect("it is said"));
    let total = text.find("together").expect("a total");
    assert!(
        own < total && total < together,
        "once for the run, once for the total: {text}"
    );
    assert_eq!(text.matches("PROVIDED THAT").count(), 2);

    // A later run rests on nothing, but what all runs together guarantee does.
    let mut journal = Faulty::default();
    assumed()
        .iter()
        .for_each(|entry| journal.append(entry).expect("appended"));
    let mut after = open(Replace::row(), &journal);
    count(&mut after);
    let after = after.close();
    assert!(after.assuming().is_empty());
    assert!(
        !serde_json::to_string(&after.payments)
            .expect("JSON")
            .contains("assuming")
    );
    assert_eq!(after.total.as_ref().expect("a total").assuming, [SENTENCE]);
    assert_eq!(after.to_string().matches("PROVIDED THAT").count(), 1);
    // Nor is it part of a sentence that does not cover it.
    let book = Book::of(&journal.entries()).expect("verifies");
    let account = book.account("toy").expect("known");
    let add_remove = &account.lines()[&AddRemove::row().relation()];
    assert!(add_remove.assuming.is_empty() && add_remove.uncovered == 2);
    // A limit that is set later knows of it too.
    let limit = Event::Limit {
        dataset: "toy".into(),
        relation: Replace::row().relation(),
        caps: Caps::from(Price::Pure(epsilon("2"))),
        delta: Delta::ZERO,
    };
    append(&mut journal, limit).expect("raised");
    let total = open(Replace::row(), &journal).close().total.expect("a total");
    assert_eq!(total.assuming, [SENTENCE]);
}

/// Written before there were assumptions, hashed by another program.
const OLD: [(&str, &str); 3] = [
    (
        r#"{"number":1,"nonce":"00112233445566778899aabbccddeeff","at":null,"event":{"begin":{"ledger":"abababababababababababababababababababababababababababababababab"}}}"#,
        "ba5c42917f3f2cca651c2905c819d8cd4c7ce1fd3ca8da14b0f1afd0f2dae002",
    ),
    (
        r#"{"number":2,"nonce":"102132435465768798a9bacbdcedfe0f","at":1700000000,"event":{"limit":{"dataset":"toy","relation":{"change":"add-remove","rows":1},"caps":{"pure":"1","rho":"0","mu_squared":"0"},"delta":"0"}}}"#,
        "3ecf4f88c6926c775c34dd511b3805d1ade341dddfeb21dc8b3823aa592b4bd0",
    ),
    (
        r#"{"number":3,"nonce":"2031425364758697a8b9cadbecfd0e1f","at":1700000001,"event":{"spend":{"dataset":"toy","relation":{"change":"add-remove","rows":1},"what":"a count","price":{"pure":"0.25"},"draws":1}}}"#,
        "44ebb0c21197f6bef31a6e33b44e5cdcc758543c189de32bb9a63490013a790a",
    ),
];

#[test]
fn old_journals_keep_their_bytes_and_hashes() {
    let read = |(text, hash): (&str, &str)| Entry::parse(text.into(), hash.into());
    let entries = OLD.map(|entry| read(entry).expect("as it was written"));
    let book = Book::of(&entries).expect("verifies");
    assert_eq!(book.account("toy").expect("known").payments(), 1);
    assert!(
        entries
            .iter()
            .zip(OLD)
            .all(|(entry, (text, _))| entry.text() == text)
    );
    // An empty list is another text, and nobody writes it.
    let listed = OLD[2].0.replace("\"draws\":1", "\"draws\":1,\"assuming\":[]");
    assert!(matches!(read((&listed, OLD[2].1)), Err(Error::Journal(_))));
    let odd = OLD[2]
        .0
        .replace("\"draws\":1", "\"draws\":1,\"assuming\":[\"two\\nlines\"]");
    let odd = Entry::parse(odd, OLD[2].1.into()).expect("an entry");
    assert!(Book::of(&[entries[0].clone(), entries[1].clone(), odd]).is_err());
}
