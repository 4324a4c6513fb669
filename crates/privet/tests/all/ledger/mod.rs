//! The ledger: pay, write it down, draw; and what happens when one of these fails.

mod certificates;
mod chain;
mod desensitise;
mod limits;
mod payments;
mod portions;
mod shares;

use std::cell::Cell;

use privet::Error;
use privet::privacy::account::{Caps, MuSquared, Price};
use privet::privacy::journal::{Entry, Event, Journal};
use privet::privacy::ledger::{append, begin};
use privet::privacy::mechanism::{Gaussian, Laplace, PermuteAndFlip};
use privet::privacy::{
    AddRemove, Anchor, Book, Delta, Epsilon, Guarantee, Ledger, Neighbours, Norm, Partition, PerRow, Private,
    Query, Randomness, Relation, Replace, Sensitivity,
};
use privet_testkit::faults::{AppendFault, Faulty};

const LAPLACE: Anchor = Anchor::new("laplace#integer-vectors");

fn epsilon(text: &str) -> Epsilon {
    text.parse().expect("an epsilon")
}

fn pure(text: &str) -> Caps {
    Caps {
        pure: epsilon(text),
        ..Caps::ZERO
    }
}

fn random() -> Randomness {
    Randomness::from_os().expect("the operating system has randomness")
}

fn journal(relation: &impl Neighbours, caps: Caps, delta: &str) -> Faulty {
    let mut journal = Faulty::default();
    begin(&mut journal).expect("begins");
    let delta = delta.parse().expect("a delta");
    append(
        &mut journal,
        Event::Limit {
            dataset: "toy".into(),
            relation: relation.relation(),
            caps,
            delta,
        },
    )
    .expect("a limit");
    journal
}

fn ledger(journal: &Faulty) -> Ledger<AddRemove> {
    Ledger::open("toy", AddRemove::row(), journal.clone(), random()).expect("opens")
}

fn count<N: Neighbours>(relation: &N) -> Query<'static, N> {
    let sensitivity = Sensitivity::claim(relation, Norm::L1(1), LAPLACE).expect("a claim");
    Query::new(1, sensitivity, || Private::new(vec![41]))
}

fn spend(ledger: &mut Ledger<AddRemove>, price: &str) -> Result<(), Error> {
    let mechanism = Laplace::calibrated(epsilon(price), 1).expect("a mechanism");
    ledger
        .release("a count", &mechanism, count(&AddRemove::row()))
        .map(drop)
}
