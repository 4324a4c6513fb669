//! Shapes and pairs from the members of an ensemble.

use std::collections::BTreeMap;

use super::{Term, TermColumn};
use crate::Error;
use crate::boost::Member;
use crate::data::schema::Column;
use crate::error::Subject;
use crate::learner::tree::{self, Tree};
use crate::learner::{Learner, Stump, StumpRule};
use crate::model::Model;

/// Look-ups in all terms together, at most: trees come from files that anybody may have written.
const MOST_WORK: usize = 1 << 27;
/// Numbers in all terms together, at most.
const MOST_CELLS: usize = 1 << 22;

/// A member that adds to a term.
#[derive(Clone, Copy)]
enum Part<'a> {
    Tree(f64, &'a Tree),
    Stump(f64, &'a Stump),
}

/// The score and the columns, in rising order, that a term is about.
type Key = (usize, Vec<usize>);

/// The base of each score, and the terms, before they are centred.
pub(super) fn of(model: &Model) -> Result<(Vec<f64>, Vec<Term>), Error> {
    let ensemble = model.ensemble();
    let slope = ensemble
        .calibration
        .as_ref()
        .map_or(1.0, |calibration| calibration.slope);
    let mut base = ensemble.base.clone();
    if let Some(calibration) = &ensemble.calibration {
        for (output, own) in base.iter_mut().enumerate() {
            *own = calibration.apply(output, *own);
        }
    }
    let mut parts: BTreeMap<Key, Vec<Part<'_>>> = BTreeMap::new();
    for member in &ensemble.members {
        let weight = slope * member.weight;
        match part(member, weight)? {
            (features, _) if features.is_empty() => base[member.output] += weight * constant(&member.learner),
            (features, part) => parts.entry((member.output, features)).or_default().push(part),
        }
    }
    let (columns, engine): (Vec<&Column>, _) = (
        model.schema().features().collect(),
        tree::Column::of(model.schema()),
    );
    let (mut work, mut cells) = (0usize, 0usize);
    let mut terms = Vec::with_capacity(parts.len());
    for ((output, features), parts) in &parts {
        let term_columns: Vec<TermColumn> = features
            .iter()
            .map(|&feature| own_column(feature, columns[feature], &engine[feature], parts))
            .collect();
        let count: usize = term_columns.iter().map(|column| column.segments.len()).product();
        cells = cells.saturating_add(count);
        work = work.saturating_add(count.saturating_mul(parts.len()));
        if cells > MOST_CELLS || work > MOST_WORK {
            return Err(refusal("its trees cut columns into too many parts"));
        }
        terms.push(summed(*output, term_columns, parts, &engine));
    }
    Ok((base, terms))
}

/// That a model cannot be read column by column.
fn refusal(why: &str) -> Error {
    Error::parameter(
        Subject::Algorithm,
        format!(
            "this model cannot be shown column by column: {why}. Models that can are made with [algorithm] name = \"trees\" and splits = \
             \"one-feature\", or without splits; `privet inspect` says how far each column can move the result"
        ),
    )
}

/// The columns of a member, in rising order.
fn part(member: &Member, weight: f64) -> Result<(Vec<usize>, Part<'_>), Error> {
    match &member.learner {
        Learner::Tree(tree) => {
            let mut features: Vec<usize> = tree.nodes.iter().map(|node| node.feature as usize).collect();
            features.sort_unstable();
            features.dedup();
            match features.len() {
                0..=2 => Ok((features, Part::Tree(weight, tree))),
                n => Err(refusal(&format!(
                    "one of its trees asks about {n} columns, and what a column does there depends on the others"
                ))),
            }
        }
        Learner::Stump(stump) if stump.rule.needs_values() => Err(refusal(
            "its stumps cut between any two numbers (thresholds = \"exact\"), not between bins",
        )),
        Learner::Stump(stump) => {
            let features = match stump.rule {
                StumpRule::All => Vec::new(),
                _ => vec![stump.feature],
            };
            Ok((features, Part::Stump(weight, stump)))
        }
        Learner::Linear(_) => Err(refusal("it is a weighted sum of numbers, not of steps")),
        Learner::Plane(_) | Learner::Region(_) => Err(refusal("its members look at all columns at once")),
    }
}

/// What a member says that asks nothing.
fn constant(learner: &Learner) -> f64 {
    match learner {
        Learner::Tree(tree) => tree.leaves.first().copied().map_or(0.0, f64::from),
        Learner::Stump(stump) => stump.left,
        Learner::Linear(_) | Learner::Plane(_) | Learner::Region(_) => 0.0,
    }
}

fn own_column(feature: usize, column: &Column, engine: &tree::Column, parts: &[Part<'_>]) -> TermColumn {
    let mut rules: Vec<Box<dyn Fn(u16) -> bool + '_>> = Vec::new();
    for part in parts {
        match part {
            Part::Stump(_, stump) => rules.push(Box::new(|slot| stump.rule.is_left(slot))),
            Part::Tree(_, tree) => {
                let own = tree.nodes.iter().filter(|node| node.feature as usize == feature);
                rules.extend(own.map(|node| {
                    Box::new(|slot| node.rule.goes_left(slot, engine)) as Box<dyn Fn(u16) -> bool>
                }));
            }
        }
    }
    let questions: Vec<&dyn Fn(u16) -> bool> = rules.iter().map(|rule| &**rule).collect();
    TermColumn::new(feature, column, engine, &questions)
}

/// The sum of all parts in each cell of a term.
fn summed(output: usize, columns: Vec<TermColumn>, parts: &[Part<'_>], engine: &[tree::Column]) -> Term {
    let count = columns.iter().map(|column| column.segments.len()).product();
    let (mut values, mut variances) = (vec![0.0; count], vec![0.0; count]);
    let mut knows_noise = false;
    for part in parts {
        for (cell, (value, variance)) in values.iter_mut().zip(&mut variances).enumerate() {
            let slots = slots_of(&columns, cell);
            let slot = |feature: usize| {
                let own = columns.iter().position(|column| column.feature == feature);
                own.map_or(0, |place| slots[place])
            };
            match part {
                Part::Stump(weight, stump) => *value += weight * stump.vote(slot(stump.feature)),
                Part::Tree(weight, tree) => {
                    let leaf = tree.leaf(engine, slot);
                    *value += weight * f64::from(tree.leaves[leaf]);
                    if let Some(noise) = tree.deviation(leaf) {
                        knows_noise = true;
                        *variance += (weight * f64::from(noise)).powi(2);
                    }
                }
            }
        }
    }
    let noise = knows_noise.then(|| variances.into_iter().map(f64::sqrt).collect());
    Term {
        output,
        columns,
        values,
        noise,
    }
}

/// A slot of each column in a cell of a term.
fn slots_of(columns: &[TermColumn], cell: usize) -> [u16; 2] {
    match columns {
        [first, second] => {
            let wide = second.segments.len();
            [
                first.segments[cell / wide].first,
                second.segments[cell % wide].first,
            ]
        }
        columns => [columns.first().map_or(0, |own| own.segments[cell].first), 0],
    }
}

/// Moves every term so that its mean over the columns' shares is zero, and the base by as much the other way.
pub(super) fn centre(model: &Model, base: &mut [f64], terms: &mut [Term]) {
    let engine = tree::Column::of(model.schema());
    let shares: Vec<Vec<f64>> = (0..engine.len())
        .map(|feature| shares(model, feature, &engine))
        .collect();
    for term in terms {
        let by_segment: Vec<Vec<f64>> = term
            .columns
            .iter()
            .map(|column| {
                let of = |segment: &super::Segment| -> f64 {
                    let first = usize::from(segment.first);
                    shares[column.feature][first..first + usize::from(segment.slots)]
                        .iter()
                        .sum()
                };
                column.segments.iter().map(of).collect()
            })
            .collect();
        let weight = |cell: usize| match &by_segment[..] {
            [first, second] => first[cell / second.len()] * second[cell % second.len()],
            [own] => own[cell],
            _ => 0.0,
        };
        let (mut mean, mut total) = (0.0, 0.0);
        for (cell, value) in term.values.iter().enumerate() {
            mean += weight(cell) * value;
            total += weight(cell);
        }
        if total > 0.0 {
            mean /= total;
            term.values.iter_mut().for_each(|value| *value -= mean);
            base[term.output] += mean;
        }
    }
}

/// About which part of rows is in each slot: leaves' shares of 1/noise, spread evenly over the slots of a leaf. Where no noise is known, every
/// bin or value counts alike.
fn shares(model: &Model, feature: usize, engine: &[tree::Column]) -> Vec<f64> {
    let column = &engine[feature];
    let mut shares = vec![0.0; column.slots];
    for member in &model.ensemble().members {
        let Learner::Tree(tree) = &member.learner else {
            continue;
        };
        let alone = !tree.nodes.is_empty() && tree.nodes.iter().all(|node| node.feature as usize == feature);
        if !alone || tree.nodes.len() > MOST_NODES {
            continue;
        }
        let leaves: Vec<usize> = (0..column.slots)
            .map(|slot| tree.leaf(engine, |_| slot as u16))
            .collect();
        let mut wide = vec![0usize; tree.leaves.len()];
        leaves.iter().for_each(|&leaf| wide[leaf] += 1);
        let precision = |leaf: usize| match tree.deviation(leaf) {
            Some(noise) if noise > 0.0 => 1.0 / f64::from(noise),
            _ => 0.0,
        };
        let all: f64 = (0..tree.leaves.len()).map(precision).sum();
        if all > 0.0 {
            for (share, leaf) in shares.iter_mut().zip(leaves) {
                *share += precision(leaf) / all / wide[leaf] as f64;
            }
        }
    }
    if shares.iter().sum::<f64>() == 0.0 {
        shares[..column.ordinary].fill(1.0);
    }
    shares
}

/// Larger trees about one column are left out of shares: they take long to walk, and no algorithm here makes them.
const MOST_NODES: usize = 1 << 12;
