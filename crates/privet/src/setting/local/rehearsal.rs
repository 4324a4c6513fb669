//! Owners in one process, for simulations: nothing is paid, recorded or protected.

use std::ops::Range;

use rayon::prelude::*;

use super::answer::Answer;
use super::campaign::{Campaign, Message};
use super::course::{Algorithm, Learnt, Next, Task};
use super::encoding::{Encoding, Rows, Statistic, row_weights};
use super::owner::{in_ball, on_grid};
use crate::Error;
use crate::data::schema::Schema;
use crate::data::{Cells, Target};
use crate::privacy::mechanism::local::{LocalMessage, rehearse};
use crate::privacy::{Coins, Randomness};

/// Owners whose messages one thread draws at a time.
const BLOCK: usize = 256;

/// How owners answer in a simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voice {
    /// With messages drawn by the campaign's mechanism.
    Drawn,
    /// All the same public thing, drawn likewise: what comes of it comes from the own rows.
    Silent,
    /// With the truth: neither clipped nor randomised.
    Exact,
}

/// How rows are dealt to made-up owners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dealing {
    /// How many rows an owner has, at least.
    pub least: u32,
    /// And at most: each number between is as likely.
    pub most: u32,
    /// The share of all rows that are dealt by their class. Of these, an owner's are of one class, but where one class ends and the next begins; the rest are dealt at
    /// random. At 0 owners are alike, at 1 each knows one class.
    pub skew: f64,
}

impl Dealing {
    /// Owners of so many rows each, who are alike.
    pub fn even(each: u32) -> Self {
        Self {
            least: each,
            most: each,
            skew: 0.0,
        }
    }
}

/// Made-up owners: rows in a random order, some for each.
#[derive(Debug)]
pub struct Crowd<'a> {
    schema: &'a Schema,
    cells: &'a Cells,
    order: Vec<u32>,
    /// Where the rows of each owner begin, and where those of the last end.
    starts: Vec<usize>,
    seed: u64,
}

impl<'a> Crowd<'a> {
    /// The rows of a schema dealt to owners of `each` rows, in an order that follows from the seed. Rows that are left over have no owner.
    pub fn new(schema: &'a Schema, cells: &'a Cells, each: u32, seed: u64) -> Self {
        Self::dealt(schema, cells, Dealing::even(each), seed)
    }

    /// The same for owners of different numbers of rows, who need not be alike.
    pub fn dealt(schema: &'a Schema, cells: &'a Cells, dealing: Dealing, seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let mut coins = Coins::from_seed(bytes);
        let mut order: Vec<u32> = (0..cells.rows() as u32).collect();
        shuffle(&mut order, &mut coins);
        let (least, more) = (dealing.least.max(1), dealing.most.saturating_sub(dealing.least));
        let (mut starts, mut end) = (vec![0], 0);
        loop {
            let another = match more {
                0 => 0,
                more => coins.below(u64::from(more) + 1) as usize,
            };
            end += least as usize + another;
            if end > order.len() {
                break;
            }
            starts.push(end);
        }
        let mut crowd = Self {
            schema,
            cells,
            order,
            starts,
            seed,
        };
        if dealing.skew > 0.0 {
            crowd.deal_by_class(dealing.skew, &mut coins);
        }
        crowd
    }

    /// Exchanges a share of all rows, so that those of an owner are of one class. Owners come in random order, so that every round has all kinds.
    fn deal_by_class(&mut self, skew: f64, coins: &mut Coins) {
        let Some(Target::Classes(classes)) = self.cells.target() else {
            return;
        };
        let mut owners: Vec<u32> = (0..self.owners() as u32).collect();
        shuffle(&mut owners, coins);
        let all = owners
            .iter()
            .flat_map(|owner| self.starts[*owner as usize]..self.starts[*owner as usize + 1]);
        let places: Vec<usize> = all.filter(|_| coins.unit() < skew).collect();
        let mut rows: Vec<u32> = places.iter().map(|place| self.order[*place]).collect();
        rows.sort_by_key(|row| classes[*row as usize]);
        for (place, row) in places.into_iter().zip(rows) {
            self.order[place] = row;
        }
    }

    /// Only so many owners.
    #[must_use]
    pub fn of_owners(mut self, owners: usize) -> Self {
        self.starts.truncate(owners.saturating_add(1));
        self
    }

    /// How many owners there are.
    pub fn owners(&self) -> usize {
        self.starts.len() - 1
    }

    /// Plays a whole course: each round asks owners of its own, as many in each; equally many choose each ε.
    ///
    /// # Errors
    /// As the algorithm; [`Error::Data`] if there are fewer owners than rounds.
    pub fn play(&self, algorithm: &dyn Algorithm, task: &Task, voice: Voice) -> Result<Learnt, Error> {
        let rounds = algorithm.rounds() as usize;
        let group = self.owners() / rounds.max(1);
        let campaigns = rounds * task.epsilons().len();
        if group < task.epsilons().len() {
            return Err(Error::data(format!(
                "{} owners cannot answer {campaigns} campaigns: each answers one",
                self.owners()
            )));
        }
        let mut answers = Vec::new();
        loop {
            match algorithm.next(task, &answers)? {
                Next::Done(learnt) => return Ok(*learnt),
                Next::Ask(draft) => {
                    let drafts = task.campaigns(&draft);
                    let first = answers.len() * group;
                    let start = |part: usize| first + group * part / drafts.len();
                    let mut each = Vec::with_capacity(drafts.len());
                    for (part, draft) in drafts.iter().enumerate() {
                        let campaign = Campaign::read("campaign", &draft.to_toml())?;
                        each.push(self.answer(&campaign, start(part)..start(part + 1), voice)?);
                    }
                    answers.push(Answer::pooled(&each)?);
                }
            }
        }
    }

    /// What some of the owners answer to a campaign.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the campaign does not say how rows become messages.
    pub fn answer(&self, campaign: &Campaign, owners: Range<usize>, voice: Voice) -> Result<Answer, Error> {
        let encoding = campaign
            .encoding()
            .ok_or_else(|| Error::misuse("a campaign that is simulated has an [encoding]"))?;
        let binned;
        let cells = match encoding.statistic() {
            Statistic::Cell => {
                binned = self.cells.in_bins(self.schema, encoding.schema())?;
                &binned
            }
            _ => self.cells,
        };
        let messages = owners.len() as u64;
        let blocks: Vec<Range<usize>> = owners
            .clone()
            .step_by(BLOCK)
            .map(|first| first..(first + BLOCK).min(owners.end))
            .collect();
        if voice == Voice::Exact {
            let parts: Vec<Vec<f64>> = blocks
                .into_par_iter()
                .map(|block| self.exact(encoding, cells, block))
                .collect();
            let width = parts.first().map_or(0, Vec::len);
            let mut means = vec![0.0; width];
            for part in parts {
                means
                    .iter_mut()
                    .zip(part)
                    .for_each(|(mean, x)| *mean += x / messages as f64);
            }
            return Ok(Answer::exact(means, messages));
        }
        let parts = blocks
            .into_par_iter()
            .map(|block| self.drawn(campaign, encoding, cells, (block, voice)))
            .collect::<Result<Vec<Vec<i64>>, Error>>()?;
        let mut sums = vec![0i64; campaign.sums()];
        for part in parts {
            sums.iter_mut()
                .zip(part)
                .for_each(|(sum, x)| *sum = sum.wrapping_add(x));
        }
        Ok(Answer::of(campaign, &sums, messages))
    }

    /// The sum of the truth of some owners.
    fn exact(&self, encoding: &Encoding, cells: &Cells, owners: Range<usize>) -> Vec<f64> {
        let Some((columns, categories)) = encoding.cells() else {
            let mut sums = vec![0.0; encoding.width()];
            for owner in owners {
                let vector = self.vector(encoding, owner);
                sums.iter_mut().zip(vector).for_each(|(sum, x)| *sum += x);
            }
            return sums;
        };
        let mut sums = vec![0.0; columns * categories];
        for owner in owners {
            let rows = self.rows(owner);
            for row in rows {
                for (column, cell) in encoding.cells_at(cells, *row as usize).iter().enumerate() {
                    sums[column * categories + cell] += 1.0 / rows.len() as f64;
                }
            }
        }
        sums
    }

    fn drawn(
        &self,
        campaign: &Campaign,
        encoding: &Encoding,
        cells: &Cells,
        (owners, voice): (Range<usize>, Voice),
    ) -> Result<Vec<i64>, Error> {
        let number = campaign.round().map_or(0, |round| round.number);
        let seed = self.seed ^ (owners.start as u64) << 20 ^ number << 52;
        let mut random = Randomness::seeded(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x006c_6f63_616c);
        let mut sums = vec![0i64; campaign.sums()];
        for owner in owners {
            let message = match (campaign.message(), voice) {
                (Message::Cells(mechanism), Voice::Silent) => {
                    rehearse(mechanism, vec![0; mechanism.columns()], &mut random)?
                }
                (Message::Cells(mechanism), _) => {
                    let rows = self.rows(owner);
                    let row = rows[(random.word() % rows.len() as u64) as usize];
                    rehearse(mechanism, encoding.cells_at(cells, row as usize), &mut random)?
                }
                (_, Voice::Silent) => draw(campaign, &vec![0.0; encoding.width()], &mut random)?,
                _ => draw(campaign, &self.vector(encoding, owner), &mut random)?,
            };
            if !campaign.add(&message, &mut sums) {
                return Err(Error::internal("a message that was drawn can be added"));
            }
        }
        Ok(sums)
    }

    fn rows(&self, owner: usize) -> &[u32] {
        &self.order[self.starts[owner]..self.starts[owner + 1]]
    }

    /// What an owner computes from its rows.
    fn vector(&self, encoding: &Encoding, owner: usize) -> Vec<f64> {
        let features = encoding.features();
        let rows = self.rows(owner);
        let mut values = Vec::with_capacity(rows.len() * features.dimension());
        let classes = match self.cells.target() {
            Some(Target::Classes(classes)) => &classes[..],
            _ => &[],
        };
        let mut labels = Vec::with_capacity(rows.len());
        for row in rows {
            features.row(self.cells, *row as usize, &mut values);
            labels.extend(classes.get(*row as usize));
        }
        let even = vec![1.0 / rows.len() as f64; rows.len()];
        let rows = Rows {
            dimension: features.dimension(),
            values: &values,
            labels: &labels,
            weights: &even,
            classes: encoding.classes(),
        };
        if encoding.learners().is_empty() {
            return encoding.statistic().vector(&rows);
        }
        let weights = row_weights(encoding.learners(), &rows);
        encoding.statistic().vector(&Rows {
            weights: &weights,
            ..rows
        })
    }
}

fn shuffle(rows: &mut [u32], coins: &mut Coins) {
    for i in (1..rows.len()).rev() {
        rows.swap(i, coins.below(i as u64 + 1) as usize);
    }
}

/// A message about a vector, clipped as an owner's.
fn draw(campaign: &Campaign, vector: &[f64], random: &mut Randomness) -> Result<LocalMessage, Error> {
    let radius = campaign.radius();
    match campaign.message() {
        Message::Vector(mechanism) => rehearse(mechanism, on_grid(&in_ball(vector, radius), radius), random),
        Message::Coordinates(mechanism) => rehearse(mechanism, on_grid(vector, radius), random),
        Message::Signs(mechanism) => rehearse(mechanism, on_grid(vector, radius), random),
        Message::Category(_) | Message::Cells(_) => Err(Error::internal("a category is no vector")),
    }
}

#[cfg(test)]
mod tests;
