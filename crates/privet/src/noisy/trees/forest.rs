//! Random trees of which rows are counted by leaf and class, once, with noise.
//!
//! Boosting asks one question after another and divides the budget among them. Here all trees are drawn first, from the schema alone, and all
//! counts are one release: a row is in one leaf of each tree. Of three classes or more, rows are counted once more then: by how far scores must be
//! believed to call them by another class than the most frequent one ([`slope`]).

use std::collections::BTreeMap;

use super::cut::{Cut, Features};
use super::laws::{Added, Law};
use super::slope::{self, Frequencies};
use crate::Error;
use crate::boost::{Ensemble, Link, Member};
use crate::data::{Cells, Schema, Target};
use crate::learner::Learner;
use crate::learner::tree::{Rule, Side, Tree};
use crate::privacy::account::Price;
use crate::privacy::{Anchor, Coins, Ledger, Private, Query, Relation};

/// Rows whose leaves are looked up together.
const BLOCK: usize = 1 << 10;
/// How often another cut, or another column, is tried where the rows of a node have one value only.
const TRIES: usize = 8;
/// The bits that a column is worth, at most: columns of many values are asked about more often than flags.
const MOST_BITS: u32 = 5;
/// The share of a count's standard deviation that each count is raised by.
const RAISED: f64 = 0.1;
/// What rows by score and class get, in hundredths of the whole.
const CALIBRATION: u64 = 5;

/// What a forest will do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forest {
    pub(crate) trees: u32,
    pub(crate) depth: u32,
    pub(crate) classes: usize,
    pub(crate) price: Price,
    /// Whether scores are shrunk towards the frequencies of classes, as far as rows say.
    pub(crate) calibrated: bool,
}

impl Forest {
    /// What the counts of all trees cost, and what rows by score and class do, if these are counted.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the budget cannot be cut into such shares.
    pub(crate) fn prices(&self) -> Result<(Price, Option<Price>), Error> {
        if !self.calibrated {
            return Ok((self.price, None));
        }
        let share = |percent| self.price.part(percent, 100);
        let few = || {
            Error::parameter(
                "epsilon",
                "the budget cannot be cut into a hundred shares: raise epsilon",
            )
        };
        let counted = share(100 - CALIBRATION).ok_or_else(few)?;
        Ok((counted, Some(share(CALIBRATION).ok_or_else(few)?)))
    }

    /// How far one change moves the counts of all trees, and what they cost.
    fn law(&self, relation: &Relation) -> Result<Law, Error> {
        let trees = (self.trees.into(), 1);
        Law::of_counts(relation, self.prices()?.0, trees, Anchor::new("central#forest"))
    }

    /// The same of rows by score and class.
    fn law_by_score(&self, relation: &Relation) -> Result<Option<Law>, Error> {
        let law = |price| Law::of_counts(relation, price, (1, 1), Anchor::new("trees#calibration"));
        self.prices()?.1.map(law).transpose()
    }

    /// The standard deviation of the noise on each count.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the budget cannot pay for so many trees.
    pub(crate) fn deviation(&self, relation: &Relation) -> Result<f64, Error> {
        Ok(self.law(relation)?.mechanism()?.deviation())
    }

    /// Counts, and makes a model of what was released.
    ///
    /// # Privacy
    /// The price, under the ledger's relation; `docs/proofs/central.md#forest`.
    pub(crate) fn train(
        &self,
        schema: &Schema,
        cells: &Private<Cells>,
        ledger: &mut Ledger,
    ) -> Result<Ensemble, Error> {
        let features = Features::of(schema);
        let mut coins = ledger.coins()?;
        let cuts: Vec<Cut> = (0..self.trees)
            .map(|_| random(&features, self.depth, &mut coins))
            .collect();
        let law = self.law(ledger.relation())?;
        let noise: Added = law.mechanism()?;
        let dimension = cuts.iter().map(Cut::leaves).sum::<usize>() * self.classes;
        let by_score = self.law_by_score(ledger.relation())?;
        let by_score = by_score
            .map(|law| law.mechanism().map(|noise| (law, noise)))
            .transpose()?;
        let what = format!("counts of {} random trees", self.trees);
        let draws = 1 + u64::from(by_score.is_some());
        let mut paid = ledger.reserve_also_added(&what, self.price, draws)?;
        let query = Query::new(dimension, law.claim().clone(), || {
            cells.as_ref().map(|cells| self.count(cells, &cuts, &features))
        });
        let counts = noise.release(&mut paid, query)?;
        let (mut ensemble, prior) = self.ensemble(cuts, &counts, noise.deviation(), &mut coins);
        if let Some((law, noise)) = by_score {
            let known = Frequencies::of(&prior);
            let query = Query::new(slope::COUNTS, law.claim().clone(), || {
                cells
                    .as_ref()
                    .map(|cells| by_slope(schema, cells, &ensemble, &known))
            });
            let counts = noise.release(&mut paid, query)?;
            ensemble.calibration = Some(known.fit(&counts, (noise.deviation(), 1.0)));
        }
        Ok(ensemble)
    }

    /// Rows by tree, leaf and class.
    fn count(&self, cells: &Cells, cuts: &[Cut], features: &Features) -> Vec<i64> {
        let labels = match cells.target() {
            Some(Target::Classes(of)) => of.as_slice(),
            _ => &[],
        };
        let mut all = Vec::new();
        let mut leaves = [0; BLOCK];
        for cut in cuts {
            let mut own = vec![0i64; cut.leaves() * self.classes];
            for first in (0..cells.rows()).step_by(BLOCK) {
                let leaves = &mut leaves[..BLOCK.min(cells.rows() - first)];
                cut.fill(cells, &features.columns, first, leaves);
                for (row, &leaf) in leaves.iter().enumerate() {
                    // A missing label counts as the first class.
                    let class = labels.get(first + row).map_or(0, |&class| usize::from(class));
                    own[usize::from(leaf) * self.classes + class.min(self.classes - 1)] += 1;
                }
            }
            all.extend(own);
        }
        all
    }

    /// Each tree says by how much its leaf changes the log-probabilities of the classes. Trees agree in part, so that their sum would be too sure:
    /// it is divided by the square root of their number, and shrunk by what noise alone would say.
    /// Beside the model stands how frequent each class is.
    fn ensemble(
        &self,
        cuts: Vec<Cut>,
        counts: &[i64],
        deviation: f64,
        coins: &mut Coins,
    ) -> (Ensemble, Vec<f64>) {
        let (classes, trees) = (self.classes, f64::from(self.trees));
        let leaves = (counts.len() / classes) as f64 / trees;
        let mut prior = vec![deviation * (leaves / trees).sqrt() + 1.0; classes];
        let mut totals = vec![0.0; classes];
        for leaf in counts.chunks_exact(classes) {
            totals
                .iter_mut()
                .zip(leaf)
                .for_each(|(total, &count)| *total += count as f64);
        }
        prior
            .iter_mut()
            .zip(&totals)
            .for_each(|(prior, total)| *prior += (total / trees).max(0.0));
        let all: f64 = prior.iter().sum();
        prior.iter_mut().for_each(|prior| *prior /= all);
        // Each count is raised towards what all rows say, by a part of its noise and by half a row.
        let raised = (RAISED * deviation + 0.5) * classes as f64;
        let changes = |leaf: &[f64]| -> Vec<f64> {
            let smooth = |(count, prior): (&f64, &f64)| count.max(0.0) + raised * prior;
            let own: Vec<f64> = leaf.iter().zip(&prior).map(smooth).collect();
            let sum: f64 = own.iter().sum();
            let change = |(own, prior): (&f64, &f64)| (own / sum / prior).ln();
            own.iter().zip(&prior).map(change).collect()
        };
        let counts: Vec<f64> = counts.iter().map(|&count| count as f64).collect();
        let weight = kept(&counts, &prior, deviation, &changes, coins) / trees.sqrt();
        let logs: Vec<f64> = prior.iter().map(|prior| prior.ln()).collect();
        // Two classes have one score: the log-odds of the second.
        let (link, base) = match classes {
            2 => (Link::Logistic, vec![logs[1] - logs[0]]),
            _ => (Link::Softmax, logs),
        };
        let outputs = base.len();
        let mut members = Vec::new();
        let mut rest = counts.as_slice();
        for cut in cuts {
            let (own, others) = rest.split_at(cut.leaves() * classes);
            rest = others;
            let values: Vec<Vec<f64>> = own.chunks_exact(classes).map(changes).collect();
            for output in 0..outputs {
                let value = |leaf: &Vec<f64>| match outputs {
                    1 => leaf[1] - leaf[0],
                    _ => leaf[output],
                };
                let leaves = values.iter().map(|leaf| (weight * value(leaf)) as f32).collect();
                let tree = Tree::new(cut.tree.nodes.clone(), leaves);
                members.push(Member::new(1.0, output, Learner::Tree(tree)));
            }
        }
        (Ensemble::new(link, base, members), prior)
    }
}

/// Rows by what a slope must be to change their class, and by which class is right.
fn by_slope(schema: &Schema, cells: &Cells, ensemble: &Ensemble, known: &Frequencies) -> Vec<i64> {
    let mut counts = vec![0; slope::COUNTS];
    let labels = match cells.target() {
        Some(Target::Classes(of)) => of.as_slice(),
        _ => &[],
    };
    let scores = ensemble.scores(schema, cells).unwrap_or_default();
    for (row, scores) in scores.chunks_exact(ensemble.outputs()).enumerate() {
        // A missing label counts as the first class.
        let class = labels.get(row).map_or(0, |&class| class.into());
        if let Some(place) = known.place(scores, class) {
            counts[place] += 1;
        }
    }
    counts
}

/// The share of what leaves say that noise does not explain: beside their squares, those of leaves where every class is as frequent as anywhere, with noise of the same
/// size that was drawn anew, by public coins. Small shares are shrunk further: where nothing can be learnt, every row is called by the most frequent class, as a
/// constant does.
fn kept(
    counts: &[f64],
    prior: &[f64],
    deviation: f64,
    changes: &dyn Fn(&[f64]) -> Vec<f64>,
    coins: &mut Coins,
) -> f64 {
    let scale = deviation / std::f64::consts::SQRT_2;
    let mut noise = || {
        let u = coins.unit() - 0.5;
        -scale * u.signum() * (1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE).ln()
    };
    let [mut all, mut by_noise] = [0.0; 2];
    for leaf in counts.chunks_exact(prior.len()) {
        let rows = leaf.iter().sum::<f64>().max(0.0);
        let same: Vec<f64> = prior.iter().map(|prior| rows * prior + noise()).collect();
        let squares = |changes: Vec<f64>| -> f64 {
            let each = changes.iter().zip(prior);
            rows * each.map(|(change, prior)| prior * change * change).sum::<f64>()
        };
        all += squares(changes(leaf));
        by_noise += squares(changes(&same));
    }
    match all > by_noise {
        true => {
            let share = 1.0 - by_noise / all;
            share * (2.0 * share).min(1.0)
        }
        false => 0.0,
    }
}

/// The values of a column that rows of a node can have: of ordered columns the first and the last bin, of others all.
#[derive(Clone)]
enum Rest {
    Range(u16, u16),
    Slots(Vec<u16>),
}

/// A complete tree. Questions are about random columns, and cut what earlier questions have left of them.
fn random(features: &Features, depth: u32, coins: &mut Coins) -> Cut {
    let columns = &features.columns;
    let bits = |values: usize| values.max(2).next_power_of_two().ilog2().min(MOST_BITS);
    let weights: Vec<u64> = columns
        .iter()
        .map(|column| match column.ordered {
            true => bits(column.ordinary).into(),
            false => bits(column.slots).into(),
        })
        .collect();
    let questions = (1usize << depth) - 1;
    let mut rests: Vec<BTreeMap<usize, Rest>> = vec![BTreeMap::new(); 2 * questions + 1];
    let mut rules = Vec::with_capacity(questions);
    for place in 0..questions {
        let rest = std::mem::take(&mut rests[place]);
        let mut asked = draw(features, &weights, &rest, coins);
        for _ in 1..TRIES {
            if asked.1.is_some() {
                break;
            }
            asked = draw(features, &weights, &rest, coins);
        }
        let (feature, split) = asked;
        let children = [2 * place + 1, 2 * place + 2];
        for child in children {
            rests[child] = rest.clone();
        }
        let rule = match split {
            Some((rule, left, right)) => {
                for (child, own) in children.into_iter().zip([left, right]) {
                    rests[child].insert(feature, own);
                }
                rule
            }
            // Nothing is left to ask about: all rows go left, whatever they are.
            None if columns[feature].ordered => Rule::UpTo {
                slot: columns[feature].ordinary.saturating_sub(1) as u16,
                others: Side::Left,
            },
            None => Rule::one_of(columns[feature].slots, 0..columns[feature].slots),
        };
        rules.push((feature, rule));
    }
    Cut::complete(rules)
}

/// A column by the bits it is worth, and a cut of what is left of it, if more than one value is.
fn draw(
    features: &Features,
    weights: &[u64],
    rest: &BTreeMap<usize, Rest>,
    coins: &mut Coins,
) -> (usize, Option<(Rule, Rest, Rest)>) {
    let mut at = coins.below(weights.iter().sum());
    let feature = weights.iter().position(|&weight| match at.checked_sub(weight) {
        Some(after) => {
            at = after;
            false
        }
        None => true,
    });
    let feature = feature.unwrap_or(0);
    let column = &features.columns[feature];
    let whole = || match column.ordered {
        true => Rest::Range(0, column.ordinary.saturating_sub(1) as u16),
        false => Rest::Slots((0..column.slots as u16).collect()),
    };
    let split = match rest.get(&feature).cloned().unwrap_or_else(whole) {
        Rest::Range(first, last) if first < last => {
            let mut cuts = (0..TRIES).map(|_| features.last_slot(feature, coins));
            let within = cuts.find(|slot| (first..last).contains(slot));
            let slot = within.unwrap_or_else(|| first + coins.below((last - first).into()) as u16);
            let others = match coins.below(2) {
                0 => Side::Left,
                _ => Side::Right,
            };
            let rule = Rule::UpTo { slot, others };
            Some((rule, Rest::Range(first, slot), Rest::Range(slot + 1, last)))
        }
        Rest::Slots(slots) if slots.len() > 1 => {
            let (mut left, mut right): (Vec<u16>, Vec<u16>) =
                slots.into_iter().partition(|_| coins.below(2) == 0);
            // Neither side is empty.
            if left.is_empty() {
                left.extend(right.pop());
            } else if right.is_empty() {
                right.extend(left.pop());
            }
            let rule = Rule::one_of(column.slots, left.iter().map(|&slot| slot.into()));
            Some((rule, Rest::Slots(left), Rest::Slots(right)))
        }
        _ => None,
    };
    (feature, split)
}
