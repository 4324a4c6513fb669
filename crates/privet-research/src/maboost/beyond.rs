//! What the remarks and section 8 of MABoost speak of: more parties, groups of attributes, trees, the smallest Z, merging without abstention, an end that depends on
//! rows, and more than two classes.

use std::num::NonZeroUsize;

use privet::Error;
use privet::boost::{TOTAL, Thresholds, WholeRates};
use privet::data::{Cells, Keep, Table, Target};
use privet::setting::plain::Stumps;
use privet::setting::secure::clear::InTheClear;
use privet::setting::secure::{
    AttributeChoice, Classifier, CoefficientRule, CutPlaces, Round, Secure, Side, Weak,
};
use privet_node::progress::Progress;

use super::floating::Floating;
use super::{ROUNDS, Scores, Split, TEST, TRAINING, alone, boosted, coins, meeting, percent, reached};
use crate::{Data, Measured, each_run, public, seed};

const NEGATIVE: &str = "negative edges";
const BITS: &str = "kilobits of a party's classifiers";

/// Parties, how far a majority must be above one half, and what it is called, as are its parties alone.
const SEVERAL: [(usize, f64, &str, Option<&str>); 5] = [
    (3, 0.0, "3 parties", Some("one of 3 alone")),
    (3, 0.2, "3 parties, majority 0.2", None),
    (5, 0.0, "5 parties", Some("one of 5 alone")),
    (5, 0.2, "5 parties, majority 0.2", None),
    (10, 0.0, "10 parties", Some("one of 10 alone")),
];

/// Variants of two parties.
fn variants() -> Result<Vec<(&'static str, Secure)>, Error> {
    let grid = |rounds| Secure::builder().rounds(rounds);
    Ok(vec![
        ("grid-16", grid(ROUNDS).build()?),
        ("groups of 6", grid(ROUNDS).group(6).build()?),
        (
            "trees of depth 2, groups of 6",
            grid(ROUNDS).depth(2).group(6).build()?,
        ),
        ("the same, 50 rounds", grid(50).depth(2).group(6).build()?),
        (
            "trees of depth 3, groups of 6",
            grid(ROUNDS).depth(3).group(6).build()?,
        ),
        (
            "trees of depth 2, whole class",
            grid(ROUNDS).depth(2).attribute(AttributeChoice::All).build()?,
        ),
        ("stops without training error", grid(ROUNDS).stop_at(0.0).build()?),
    ])
}

/// Everything on one data set, beside the union of all rows and parties alone.
pub(super) fn measured(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let table = data.train("ionosphere", Keep::Values)?;
    let variants = variants()?;
    let steps = (variants.len() + SEVERAL.len() + 3) as u64;
    let mut all = Vec::new();
    for (done, (method, secure)) in variants.iter().enumerate() {
        bar.at(done as u64, steps);
        let found = each_run(runs, |run| reached(&Split::new(&table, run)?, secure, run))?;
        let bits = secure.plan(table.schema())?.voter_bits();
        all.push(Measured::new(
            method,
            None,
            TEST,
            found.iter().map(|run| run.test),
        ));
        all.push(Measured::new(
            method,
            None,
            TRAINING,
            found.iter().map(|run| run.training),
        ));
        all.push(Measured::new(
            method,
            None,
            NEGATIVE,
            found.iter().map(|run| run.negative),
        ));
        let rounds = |missing: f64| f64::from(*secure.rounds()) - missing;
        let shown = found.iter().map(|run| rounds(run.failures) * bits / 1000.0);
        all.push(Measured::new(method, None, BITS, shown));
    }
    for (merge, method) in [
        (Merge::SmallestZ, "smallest Z"),
        (Merge::BetterOfTwo, "better of two"),
    ] {
        bar.at(variants.len() as u64, steps);
        let found = each_run(runs, |run| merged(&Split::new(&table, run)?, merge, run))?;
        all.push(Measured::new(
            method,
            None,
            TEST,
            found.iter().map(|(error, _)| *error),
        ));
        all.push(Measured::new(
            method,
            None,
            NEGATIVE,
            found.iter().map(|(_, negative)| *negative),
        ));
    }
    for (done, (parties, majority, method, lonely)) in SEVERAL.into_iter().enumerate() {
        bar.at((variants.len() + 1 + done) as u64, steps);
        let found = each_run(runs, |run| several(&table, (parties, majority), run))?;
        all.push(Measured::new(method, None, TEST, found.iter().map(|run| run[0])));
        all.push(Measured::new(
            method,
            None,
            NEGATIVE,
            found.iter().map(|run| run[1]),
        ));
        all.push(Measured::new(
            method,
            None,
            "abstention %",
            found.iter().map(|run| run[2]),
        ));
        if let Some(lonely) = lonely {
            let values = each_run(runs, |run| {
                let (parts, test) = parts(&table, parties, run)?;
                alone(&parts[0], &test)
            })?;
            all.push(Measured::new(lonely, None, TEST, values));
        }
    }
    bar.at(steps - 1, steps);
    let union = each_run(runs, |run| {
        let split = Split::new(&table, run)?;
        alone(&split.train, &split.test)
    })?;
    all.push(Measured::new("union AdaBoost", None, TEST, union));
    let constant = each_run(runs, |run| Ok(constant(&Split::new(&table, run)?)))?;
    all.push(Measured::new("constant", None, TEST, constant));
    Ok(all)
}

/// The error of always calling the class that is more frequent in training.
fn constant(split: &Split) -> f64 {
    let count = |table: &Table| {
        let scores = Scores::new(Split::cells(table));
        let second = scores.classes.iter().filter(|class| **class != 0).count();
        (second, scores.classes.len())
    };
    let ((second, rows), (tested, all)) = (count(&split.train), count(&split.test));
    let wrong = if 2 * second > rows { all - tested } else { tested };
    percent(wrong, all)
}

/// The tables of several parties, and the one to test on.
fn parts(table: &Table, parties: usize, run: u32) -> Result<(Vec<Table>, Table), Error> {
    let permission = public(table.schema());
    let number = seed(u64::from(run) + 1);
    let (train, test) = table.hold_out(20, number, &permission);
    let parties = NonZeroUsize::new(parties).ok_or_else(|| Error::internal("there are parties"))?;
    Ok((train.parties(parties, number, &permission), test))
}

/// Test error, negative edges and abstention of several parties.
fn several(table: &Table, (parties, majority): (usize, f64), run: u32) -> Result<[f64; 3], Error> {
    let (parts, test) = parts(table, parties, run)?;
    let secure = Secure::builder().rounds(ROUNDS).majority(majority).build()?;
    let plan = secure.plan_for(parties as u16, table.schema())?;
    let sides = parts.iter().map(|part| Side::new(&plan, Split::cells(part)));
    let sides = sides.collect::<Result<Vec<_>, _>>()?;
    let mut boosting = InTheClear::new(&plan, sides, &coins(u64::from(run) ^ 0x7365_7665));
    let (mut scores, mut done) = (Scores::new(Split::cells(&test)), 0);
    let (mut negative, mut silent) = (0.0, 0.0);
    let mut meeting = meeting(run.into());
    while boosting.round(&mut meeting) {
        boosting.rounds()[done..]
            .iter()
            .for_each(|round| scores.add(round));
        done = boosting.rounds().len();
        let rates = boosting.rates();
        negative += f64::from(u8::from(rates.wrong > rates.right));
        silent += rates.silent as f64 / rates.total().max(1) as f64;
    }
    let error = percent(scores.wrong(), scores.classes.len());
    Ok([error, negative, 100.0 * silent / done.max(1) as f64])
}

/// How two stumps become one classifier. What the parties would have to tell each other for it is not protected: these are for the clear only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Merge {
    /// The attribute whose merged stump has the smallest Z.
    SmallestZ,
    /// Of a random attribute the one of the two stumps that is better on the rows of both: nothing abstains.
    BetterOfTwo,
}

/// Test error and negative edges.
fn merged(split: &Split, merge: Merge, run: u32) -> Result<(f64, f64), Error> {
    let plan = Secure::builder()
        .rounds(ROUNDS)
        .build()?
        .plan(split.train.schema())?;
    let smoothing = (plan.secure().smoothing() * TOTAL as f64) as u64;
    let [first, second] = &split.parties;
    let mut sides = [
        Side::new(&plan, Split::cells(first))?,
        Side::new(&plan, Split::cells(second))?,
    ];
    let mut coins = coins(u64::from(run) ^ 0x6d65_7267);
    let mut scores = Scores::new(Split::cells(&split.test));
    let mut negative = 0.0;
    for _ in 0..ROUNDS {
        let both = |attribute: usize| [sides[0].best(attribute).0, sides[1].best(attribute).0];
        let candidates: Vec<Weak> = match merge {
            Merge::SmallestZ => (0..plan.attributes())
                .map(|attribute| {
                    let [own, other] = both(attribute);
                    Weak::merged(own, other)
                })
                .collect(),
            Merge::BetterOfTwo => {
                let attribute = coins.below(plan.attributes() as u64) as usize;
                both(attribute).map(Weak::single).into()
            }
        };
        let rates = |weak: &Weak| sides[0].rates(weak).plus(sides[1].rates(weak));
        let z =
            |rates: WholeRates| rates.silent as f64 + 2.0 * (rates.right as f64 * rates.wrong as f64).sqrt();
        let least = candidates.into_iter().map(|weak| (z(rates(&weak)), weak));
        let Some((_, weak)) = least.min_by(|one, other| one.0.total_cmp(&other.0)) else {
            break;
        };
        let rates = rates(&weak);
        negative += f64::from(u8::from(rates.wrong > rates.right));
        let alpha = rates.coefficient(smoothing);
        let factors = rates.factors(alpha);
        sides.iter_mut().for_each(|side| side.reweigh(&weak, &factors));
        scores.add(&Round {
            output: 0,
            weak,
            alpha,
        });
    }
    Ok((percent(scores.wrong(), scores.classes.len()), negative))
}

/// Whose rows of a split are learnt from.
type RowsOf = fn(&Split) -> &Table;

/// More than two classes, each against all others, in the clear, which gives the model of the protocol; and the same written apart in floating point. Beside them AdaBoost on
/// the union and each party alone, one class against all others, too; and SAMME with as many rounds in all as one class has.
pub(super) fn one_versus_all(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let table = data.train("pendigits", Keep::Values)?;
    let grid = || Secure::builder().rounds(ROUNDS);
    let published = grid()
        .thresholds(CutPlaces::Data)
        .attribute(AttributeChoice::Rendezvous);
    let variants = [
        ("MABoost, one versus all", published.build()?),
        ("grid-16, one versus all", grid().build()?),
        (
            "grid-16, rounded, one versus all",
            grid().coefficient(CoefficientRule::Rounded).build()?,
        ),
        (
            "whole class, one versus all",
            grid().attribute(AttributeChoice::All).build()?,
        ),
        (
            "joint grid-16, one versus all",
            grid()
                .classifier(Classifier::Joint)
                .attribute(AttributeChoice::All)
                .build()?,
        ),
    ];
    let steps = variants.len() as u64 + 5;
    let mut all = Vec::new();
    for (done, (method, secure)) in variants.iter().enumerate() {
        bar.at(done as u64, steps);
        let found = each_run(runs, |run| {
            let split = Split::new(&table, run)?;
            let rounds = split.sides(secure)?.finish(&mut meeting(run.into()));
            let test = Split::cells(&split.test);
            let outputs = secure.plan(table.schema())?.outputs();
            let mut scores = vec![vec![0i64; outputs]; test.rows()];
            for round in &rounds {
                for (row, scores) in scores.iter_mut().enumerate() {
                    scores[round.output] += i64::from(round.weak.vote(test.features(), row)) * round.alpha.0;
                }
            }
            wrong(&test, &scores)
        })?;
        all.push(Measured::new(method, None, TEST, found));
    }
    bar.at(steps - 5, steps);
    let floating = each_run(runs, |run| {
        let split = Split::new(&table, run)?;
        let parties = split.parties.each_ref().map(Split::cells);
        let test = Split::cells(&split.test);
        let classes = classes(&test)?;
        let count = classes.iter().copied().max().unwrap_or(0);
        let mut scores = vec![Vec::new(); classes.len()];
        for class in 0..=count {
            let found = Floating::of_class(&parties, class).scores(ROUNDS, &test, run);
            for (scores, score) in scores.iter_mut().zip(found) {
                scores.push(score);
            }
        }
        wrong(&test, &scores)
    })?;
    all.push(Measured::new(
        "floating point, one versus all",
        None,
        TEST,
        floating,
    ));
    let stumps = || Stumps::builder().rounds(ROUNDS).thresholds(Thresholds::Exact);
    let against = stumps().one_versus_all(true).build()?;
    let each: [(&str, Stumps, RowsOf); 4] = [
        ("union, one versus all", against.clone(), |split| &split.train),
        ("Alice alone, one versus all", against.clone(), |split| {
            &split.parties[0]
        }),
        ("Bob alone, one versus all", against, |split| &split.parties[1]),
        ("union, SAMME", stumps().build()?, |split| &split.train),
    ];
    for (done, (method, stumps, rows)) in (0..).zip(each) {
        bar.at(steps - 4 + done, steps);
        let found = each_run(runs, |run| {
            let split = Split::new(&table, run)?;
            boosted(&stumps, rows(&split), &split.test)
        })?;
        all.push(Measured::new(method, None, TEST, found));
    }
    Ok(all)
}

fn classes(cells: &Cells) -> Result<&[u16], Error> {
    match cells.target() {
        Some(Target::Classes(classes)) => Ok(classes),
        _ => Err(Error::internal("the data set has classes")),
    }
}

/// The share of rows for which another class has the largest score; of equals the first has it.
fn wrong<T: PartialOrd + Copy>(test: &Cells, scores: &[Vec<T>]) -> Result<f64, Error> {
    let classes = classes(test)?;
    let called = |scores: &[T]| {
        let mut best = 0;
        for (place, score) in scores.iter().enumerate() {
            if *score > scores[best] {
                best = place;
            }
        }
        best
    };
    let rows = scores.iter().zip(classes);
    let wrong = rows.filter(|(scores, class)| called(scores) != usize::from(**class));
    Ok(percent(wrong.count(), classes.len()))
}
