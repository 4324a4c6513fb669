//! Members that look at one feature at a time, summed to one table for each feature.
//!
//! A hundred stumps on five features are then five look-ups for a row, whatever their number. Where tables would grow too
//! large, with very many slots and classes, members vote one by one instead.

use rayon::prelude::*;

use super::steps::Steps;
use super::{Ensemble, Member};
use crate::Error;
use crate::data::{Bins, Cells, Feature};
use crate::learner::{Learner, Shape, StumpRule, Term};

/// Rows that are scored together, so that their scores stay in the cache while features pass by.
const BLOCK: usize = 2048;
/// Numbers in all tables together, at most.
const MOST: usize = 1 << 23;

/// What one feature adds to the scores.
#[derive(Clone)]
struct FeatureTable {
    /// By slot, then by output.
    slots: Vec<f64>,
    /// By output, if the number itself counts.
    slopes: Option<Vec<f64>>,
    /// Where the number itself is asked about.
    steps: Option<Steps>,
}

/// An ensemble, ready to score the rows of one table.
pub(super) struct Additive<'a> {
    base: Vec<f64>,
    tables: Vec<Option<FeatureTable>>,
    room: usize,
    one_by_one: Vec<&'a Member>,
}

impl<'a> Additive<'a> {
    pub(super) fn new(ensemble: &'a Ensemble, shapes: &[Shape], cells: &Cells) -> Result<Self, Error> {
        let mut additive = Self {
            base: ensemble.base.clone(),
            tables: vec![None; cells.features().len()],
            room: MOST,
            one_by_one: Vec::new(),
        };
        for member in &ensemble.members {
            additive.check(member, shapes, cells.features())?;
            if !additive.add(member, cells.features()) {
                additive.one_by_one.push(member);
            }
        }
        let steps = additive.tables.iter_mut().flatten();
        steps
            .filter_map(|table| table.steps.as_mut())
            .for_each(Steps::finish);
        Ok(additive)
    }

    fn check(&self, member: &Member, shapes: &[Shape], features: &[Feature]) -> Result<(), Error> {
        let sums = member.learner.sums();
        let fits = match &member.learner {
            Learner::Stump(stump) => stump.feature < features.len(),
            _ => sums.iter().all(|sum| sum.terms.len() == features.len()),
        };
        if !fits || shapes.len() != features.len() || member.output >= self.base.len() {
            return Err(Error::misuse("the cells were not read for this model's schema"));
        }
        let unread = match &member.learner {
            Learner::Stump(stump) => stump.rule.needs_values() && features[stump.feature].scaled.is_none(),
            _ => sums.iter().any(|sum| {
                let mut pairs = sum.terms.iter().zip(features);
                pairs.any(|(term, feature)| matches!(term, Term::Number { .. }) && feature.scaled.is_none())
            }),
        };
        if unread {
            return Err(Error::misuse(
                "the model weighs numbers, and the cells were read without them",
            ));
        }
        Ok(())
    }

    /// Makes room for a feature's table; whether there is any.
    fn reserve(&mut self, number: usize, feature: &Feature) -> bool {
        if self.tables[number].is_some() {
            return true;
        }
        let slots: usize = match feature.bins {
            Bins::Narrow(_) => 1 << 8,
            Bins::Wide(_) => 1 << 16,
        };
        let Some(room) = slots
            .checked_mul(self.base.len())
            .and_then(|size| self.room.checked_sub(size))
        else {
            return false;
        };
        self.room = room;
        self.tables[number] = Some(FeatureTable {
            slots: vec![0.0; slots * self.base.len()],
            slopes: None,
            steps: None,
        });
        true
    }

    /// Adds a member to the tables of its features; whether they have room for it.
    fn add(&mut self, member: &Member, features: &[Feature]) -> bool {
        let (weight, output, outputs) = (member.weight, member.output, self.base.len());
        match &member.learner {
            Learner::Stump(stump) => {
                if !self.reserve(stump.feature, &features[stump.feature]) {
                    return false;
                }
                if let Some(table) = &mut self.tables[stump.feature] {
                    if let StumpRule::UpTo { missing, .. } = stump.rule {
                        if let Some(line) = table.slots.chunks_mut(outputs).nth(usize::from(missing)) {
                            line[output] += weight * stump.vote(missing);
                        }
                        let steps = table.steps.get_or_insert_with(|| Steps::new(outputs));
                        steps.push(stump, weight, output);
                        return true;
                    }
                    for (slot, line) in table.slots.chunks_mut(outputs).enumerate() {
                        line[output] += weight * stump.vote(slot as u16);
                    }
                }
            }
            Learner::Linear(linear) => {
                if !(0..features.len()).all(|number| self.reserve(number, &features[number])) {
                    return false;
                }
                self.base[output] += weight * linear.intercept;
                for (term, table) in linear.terms.iter().zip(self.tables.iter_mut().flatten()) {
                    match term {
                        Term::Slots(weights) => {
                            for (line, own) in table.slots.chunks_mut(outputs).zip(weights) {
                                line[output] += weight * own;
                            }
                        }
                        Term::Number {
                            slope,
                            at_missing,
                            missing,
                        } => {
                            if let Some(line) = table.slots.chunks_mut(outputs).nth(usize::from(*missing)) {
                                line[output] += weight * at_missing;
                            }
                            table.slopes.get_or_insert_with(|| vec![0.0; outputs])[output] += weight * slope;
                        }
                    }
                }
            }
            // What a plane or a region says is no sum over features.
            Learner::Plane(_) | Learner::Region(_) => return false,
            // Trees are scored apart, by the engine's own walk.
            Learner::Tree(_) => {}
        }
        true
    }

    pub(super) fn scores(&self, shapes: &[Shape], cells: &Cells) -> Vec<f64> {
        let outputs = self.base.len();
        let mut scores = vec![0.0; cells.rows() * outputs];
        scores
            .par_chunks_mut(BLOCK * outputs.max(1))
            .enumerate()
            .for_each(|(block, scores)| {
                let first = block * BLOCK;
                for row in scores.chunks_mut(outputs) {
                    row.copy_from_slice(&self.base);
                }
                for (table, feature) in self.tables.iter().zip(cells.features()) {
                    if let Some(table) = table {
                        table.add(feature, first, scores, outputs);
                    }
                }
                for member in &self.one_by_one {
                    for (row, score) in scores[member.output..].iter_mut().step_by(outputs).enumerate() {
                        *score += member.weight * member.learner.vote(shapes, cells.features(), first + row);
                    }
                }
            });
        scores
    }
}

impl FeatureTable {
    fn add(&self, feature: &Feature, first: usize, scores: &mut [f64], outputs: usize) {
        let rows = first..first + scores.len() / outputs;
        match &feature.bins {
            Bins::Narrow(bins) => self.look_up(&bins[rows.clone()], scores, outputs),
            Bins::Wide(bins) => self.look_up(&bins[rows.clone()], scores, outputs),
        }
        if let (Some(slopes), Some(scaled)) = (&self.slopes, &feature.scaled) {
            for (line, &x) in scores.chunks_exact_mut(outputs).zip(&scaled[rows.clone()]) {
                for (score, slope) in line.iter_mut().zip(slopes) {
                    *score += slope * f64::from(x);
                }
            }
        }
        if let (Some(steps), Some(scaled)) = (&self.steps, &feature.scaled) {
            for (line, row) in scores.chunks_exact_mut(outputs).zip(rows) {
                if let Some(sums) = steps.at(feature.bins.get(row), scaled[row]) {
                    line.iter_mut().zip(sums).for_each(|(score, x)| *score += x);
                }
            }
        }
    }

    fn look_up<T: Copy + Into<usize>>(&self, bins: &[T], scores: &mut [f64], outputs: usize) {
        if outputs == 1 {
            for (score, &slot) in scores.iter_mut().zip(bins) {
                *score += self.slots[slot.into()];
            }
            return;
        }
        for (line, &slot) in scores.chunks_exact_mut(outputs).zip(bins) {
            let own = &self.slots[slot.into() * outputs..][..outputs];
            line.iter_mut().zip(own).for_each(|(score, x)| *score += x);
        }
    }
}
