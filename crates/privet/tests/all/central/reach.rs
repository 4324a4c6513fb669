//! How far answers move between all neighbours among small tables, while every release is answered alike.
//!
//! That is the obligation of adaptive composition word for word: fix what was released, and compare the next answer.

use privet::data::{Keep, Schema};
use privet::privacy::audit::Observed;
use privet::privacy::{Neighbours, Norm};
use privet::setting::central::Central;

use crate::central::tables::{Lines, Open, Row};
use crate::central::window::{Script, watch};
use crate::home;

/// The largest part of its claim that each question's answer moved by, and how far that was; squared, where the claim is.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reach {
    pub(crate) part: f64,
    pub(crate) moved: u64,
}

/// Everything that a unit of one to k rows can be, made of these rows.
pub(crate) fn units(corners: &[Row], k: usize) -> Vec<Lines> {
    let mut units: Vec<Lines> = corners.iter().map(|row| vec![*row]).collect();
    let mut last = units.clone();
    for _ in 1..k {
        last = last
            .iter()
            .flat_map(|unit| corners.iter().map(|row| [unit.clone(), vec![*row]].concat()))
            .collect();
        units.extend(last.iter().cloned());
    }
    units
}

/// Which units may stand in each other's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Change {
    /// Nobody for somebody.
    Comes,
    /// Somebody for somebody else.
    Replaced,
    /// The same rows, other private columns.
    Columns,
}

impl Change {
    fn allows(self, open: Open, one: &Lines, other: &Lines) -> bool {
        match self {
            Self::Comes => one.is_empty() != other.is_empty(),
            Self::Replaced => !one.is_empty() && !other.is_empty(),
            Self::Columns => one.len() == other.len() && one.iter().zip(other).all(|(a, b)| open.agree(a, b)),
        }
    }
}

/// The tables that are compared.
pub(crate) struct Case<'a> {
    pub(crate) schema: &'a Schema,
    /// What the schema leaves public.
    pub(crate) open: Open,
    pub(crate) change: Change,
    pub(crate) units: &'a [Lines],
    pub(crate) rest: &'a [Row],
}

/// Compares the answers on all neighbours, question by question.
///
/// # Panics
/// If two runs ask different questions, or an answer moves further than its claim.
pub(crate) fn reach<N: Neighbours>(
    central: &Central,
    relation: &N,
    case: &Case<'_>,
    coins: u8,
    script: &Script,
) -> Vec<Reach> {
    let mut units: Vec<Lines> = case.units.to_vec();
    if case.change == Change::Comes {
        units.push(Vec::new());
    }
    let asked: Vec<Vec<Observed>> = units
        .iter()
        .map(|unit| {
            let lines = [case.rest, unit].concat();
            let table = home::table(case.schema.clone(), Keep::Values, &lines);
            let found = watch(central, table, relation, (Some(coins), script));
            found.expect("a run").1.asked
        })
        .collect();
    let mut reached = vec![Reach::default(); asked[0].len()];
    for (i, one) in units.iter().enumerate() {
        for (j, other) in units[..i].iter().enumerate() {
            if !case.change.allows(case.open, one, other) {
                continue;
            }
            assert_eq!(asked[i].len(), asked[j].len());
            for (turn, (a, b)) in asked[i].iter().zip(&asked[j]).enumerate() {
                assert_eq!((&a.mechanism, a.norm), (&b.mechanism, b.norm));
                let (moved, claim) = distance(a, b);
                assert!(
                    moved <= claim,
                    "{central:?} under {relation:?}: {one:?} and {other:?} lie {moved} apart in question {turn}, claimed are {claim}"
                );
                if moved >= reached[turn].moved {
                    reached[turn] = Reach {
                        part: moved as f64 / claim as f64,
                        moved,
                    };
                }
            }
        }
    }
    reached
}

fn distance(a: &Observed, b: &Observed) -> (u64, u64) {
    let changes = || a.answer.iter().zip(&b.answer).map(|(a, b)| a - b);
    match a.norm {
        Norm::L1(claim) => (changes().map(i64::unsigned_abs).sum(), claim),
        Norm::Width(claim) => {
            let (least, most) = (changes().min(), changes().max());
            (most.unwrap_or(0).abs_diff(least.unwrap_or(0)), claim)
        }
        Norm::L2Squared(claim) => (
            changes().map(|change| change.unsigned_abs().pow(2)).sum(),
            u64::try_from(claim).expect("small"),
        ),
    }
}

/// The farthest of several, question by question.
pub(crate) fn farthest(all: impl IntoIterator<Item = Vec<Reach>>) -> Vec<Reach> {
    let mut most: Vec<Reach> = Vec::new();
    for reached in all {
        most.resize(most.len().max(reached.len()), Reach::default());
        for (most, one) in most.iter_mut().zip(reached) {
            most.part = most.part.max(one.part);
            most.moved = most.moved.max(one.moved);
        }
    }
    most
}
