//! The record of one run, and the other run's comparison with it.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use privet::privacy::Norm;
use privet::privacy::audit::{Auditor, Columns, Minimised, Minimum, Observed};
use privet::privacy::mechanism::ordered::Desensitised;

use super::minima::{self, Probe};
use super::{Finding, Transcript};

#[derive(Default)]
pub(super) struct Tape {
    transcript: Transcript,
    pub(super) events: Vec<Taped>,
    replaying: bool,
    pub(super) at: usize,
    pub(super) queries: usize,
    pub(super) attained: f64,
    pub(super) minima: [f64; 2],
    pub(super) finding: Option<Finding>,
    /// The parts that the run is in, outermost first.
    pub(super) parts: Vec<Parts>,
    /// The portion of the units that the run asks about, if there are portions.
    portion: Option<u32>,
    /// The portions of which an answer moved.
    moved: BTreeSet<u32>,
}

pub(super) struct Parts {
    /// How many single rows one change is.
    steps: u64,
    used: Moved,
    /// The most that a query of the current part moved.
    current: Moved,
}

/// How far two answers lie apart.
#[derive(Debug, Clone, Copy, Default)]
struct Moved {
    /// In whole claims, rounded up: decides.
    claims: u128,
    /// In claims: tells whether the pair was a good one.
    fraction: f64,
}

impl Moved {
    fn most(self, other: Self) -> Self {
        Self {
            claims: self.claims.max(other.claims),
            fraction: self.fraction.max(other.fraction),
        }
    }
}

pub(super) enum Taped {
    Query(Observed, Option<Output>),
    Minimum(Minimum, Vec<Probe>, Option<Output>),
    Columns(Columns, Option<Vec<Desensitised>>),
    Coins([u8; 32]),
    PartsBegin(usize, u64),
    PartEnds,
    PartsEnd,
}

pub(super) enum Output {
    Numbers(Vec<i64>),
    Choice(usize),
    Reals(Vec<f64>),
}

impl Tape {
    pub(super) fn new(transcript: Transcript) -> Self {
        Self {
            transcript,
            ..Self::default()
        }
    }

    pub(super) fn rewind(&mut self) {
        self.replaying = true;
        self.at = 0;
        self.parts.clear();
        self.portion = None;
    }

    fn found(&mut self, finding: Finding) {
        self.finding.get_or_insert(finding);
    }

    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        self.queries += 1;
        if !self.replaying {
            let forged = forge(self.transcript, self.queries, &query);
            let answer = forged.as_ref().map(Output::boxed);
            self.events.push(Taped::Query(query, forged));
            return answer;
        }
        let Some(Taped::Query(recorded, output)) = self.events.get(self.at) else {
            self.found(Finding::Branch(format!(
                "the second run asked a question at step {}, the first did not",
                self.at
            )));
            return None;
        };
        let answer = output.as_ref().map(Output::boxed);
        let recorded = recorded.clone();
        self.at += 1;
        let asked = |q: &Observed| (q.mechanism.clone(), q.norm, q.price, q.answer.len());
        if asked(&recorded) != asked(&query) {
            let [one, other] = [&recorded, &query].map(asked);
            self.found(Finding::Branch(format!(
                "step {}: {one:?} in one run, {other:?} in the other",
                self.at
            )));
            return answer;
        }
        let moved = distance(query.norm, &recorded.answer, &query.answer);
        // One change is of one unit, and a unit is in one portion.
        self.moved.extend(self.portion.filter(|_| moved.claims > 0));
        if self.moved.len() > 1 {
            let both = format!("the pair moves answers about portions {:?}", self.moved);
            self.found(Finding::Distance(both));
        }
        // Within parts a claim is for one row, and the rows of one change may be spread over the parts.
        match self.parts.last_mut() {
            Some(parts) => parts.current = parts.current.most(moved),
            None => self.judge(moved),
        }
        answer
    }

    /// A minimum has no answer without noise. So both runs are asked for slopes and second derivatives at the same points, which must
    /// not differ by more than was claimed; and each finds the point where the other one stopped, for the noise that leads there.
    fn minimum(&mut self, asked: Minimum, loss: &dyn Minimised) -> Option<Vec<f64>> {
        self.queries += 1;
        if !self.replaying {
            let forged = forge_reals(self.transcript, self.queries, asked.dimension);
            let answer = forged.clone();
            let probes = minima::probes(&asked, loss, forged.as_deref());
            let forged = forged.map(Output::Reals);
            self.events.push(Taped::Minimum(asked, probes, forged));
            return answer;
        }
        let at = self.at;
        self.at += 1;
        let Some(Taped::Minimum(recorded, probes, Some(Output::Reals(output)))) = self.events.get(at) else {
            self.found(Finding::Branch(format!(
                "step {at}: only one run minimised a loss"
            )));
            return Some(vec![0.0; asked.dimension]);
        };
        let output = output.clone();
        if *recorded != asked {
            self.found(Finding::Branch(format!(
                "step {at}: the two runs minimised different losses"
            )));
            return Some(output);
        }
        let used: Vec<minima::Used> = probes.iter().map(|probe| probe.used(&asked, loss)).collect();
        for used in used {
            let fraction = used.most();
            self.minima = [self.minima[0].max(used.slope), self.minima[1].max(used.bend)];
            self.judge(Moved {
                claims: 1 + u128::from(fraction > 1.0 + minima::ROUNDING),
                fraction,
            });
        }
        Some(output)
    }

    /// Columns must be changed in the same way in both runs, and the pair may differ in as many rows as one change may touch.
    fn columns(&mut self, columns: Columns) -> Option<Vec<Desensitised>> {
        self.queries += 1;
        if !self.replaying {
            self.events.push(Taped::Columns(columns, None));
            return None;
        }
        let at = self.at;
        self.at += 1;
        let Some(Taped::Columns(recorded, output)) = self.events.get(at) else {
            self.found(Finding::Branch(format!(
                "step {at}: only one run let columns out"
            )));
            return None;
        };
        let (recorded, output) = (recorded.clone(), output.clone());
        let asked = |c: &Columns| {
            let lengths: Vec<usize> = c.values.iter().map(Vec::len).collect();
            (c.distances.clone(), lengths, c.rows)
        };
        if asked(&recorded) == asked(&columns) {
            let rows = columns.values.first().map_or(0, Vec::len);
            let pair = || recorded.values.iter().zip(&columns.values);
            let differs = |row: &usize| pair().any(|(a, b)| a.get(*row) != b.get(*row));
            let moved = (0..rows).filter(differs).count() as u128;
            self.judge(Moved {
                claims: moved.div_ceil(columns.rows.into()),
                fraction: moved as f64 / columns.rows as f64,
            });
        } else {
            self.found(Finding::Branch(format!(
                "step {at}: the two runs changed their columns differently"
            )));
        }
        output
    }

    fn judge(&mut self, moved: Moved) {
        self.attained = self.attained.max(moved.fraction);
        if moved.claims > 1 {
            self.found(Finding::Distance(format!(
                "step {}: the pair moves {} times what was claimed",
                self.at, moved.fraction
            )));
        }
    }

    fn part_ends(&mut self) {
        self.step(Taped::PartEnds);
        if let Some(parts) = self.parts.last_mut() {
            // Half a row is no neighbour: a part that moved at all used up a whole step.
            parts.used.claims = parts.used.claims.saturating_add(parts.current.claims);
            parts.used.fraction += parts.current.fraction;
            parts.current = Moved::default();
        }
    }

    fn parts_end(&mut self) {
        self.step(Taped::PartsEnd);
        let Some(Parts { steps, used, .. }) = self.parts.pop() else {
            return;
        };
        let moved = Moved {
            claims: used.claims.div_ceil(steps.into()),
            fraction: used.fraction / steps as f64,
        };
        match self.parts.last_mut() {
            Some(outer) => outer.current = outer.current.most(moved),
            None if self.replaying => self.judge(moved),
            None => {}
        }
    }

    /// Notes a step that is no query, or finds that the second run took another one.
    fn step(&mut self, event: Taped) {
        if !self.replaying {
            self.events.push(event);
            return;
        }
        let same = match (self.events.get(self.at), &event) {
            (Some(Taped::PartsBegin(a, s)), Taped::PartsBegin(b, t)) => (a, s) == (b, t),
            (Some(Taped::PartEnds), Taped::PartEnds) | (Some(Taped::PartsEnd), Taped::PartsEnd) => true,
            _ => false,
        };
        if !same {
            self.found(Finding::Branch(format!(
                "step {}: the two runs cut the table differently",
                self.at
            )));
        }
        self.at += 1;
    }
}

/// How much of a claimed sensitivity lies between two answers, in integers throughout.
fn distance(norm: Norm, a: &[i64], b: &[i64]) -> Moved {
    let apart = || a.iter().zip(b).map(|(a, b)| a.abs_diff(*b));
    match norm {
        Norm::L1(bound) => {
            let sum: u128 = apart().map(u128::from).sum();
            Moved {
                claims: sum.div_ceil(bound.into()),
                fraction: sum as f64 / bound as f64,
            }
        }
        Norm::L2Squared(bound) => {
            let sum = apart().try_fold(0u128, |sum, d| sum.checked_add(u128::from(d).pow(2)));
            let Some(sum) = sum else {
                return Moved {
                    claims: u128::MAX,
                    fraction: f64::INFINITY,
                };
            };
            // The least n with n²·bound ≥ sum.
            let enough = |n: u128| {
                n.checked_mul(n)
                    .and_then(|n| n.checked_mul(bound))
                    .is_none_or(|n| n >= sum)
            };
            let mut claims = ((sum / bound).isqrt()).saturating_sub(1);
            while !enough(claims) {
                claims += 1;
            }
            Moved {
                claims,
                fraction: (sum as f64 / bound as f64).sqrt(),
            }
        }
        Norm::Width(bound) => {
            // An interval of that length must hold all changes; it may lie anywhere.
            let change = || a.iter().zip(b).map(|(a, b)| i128::from(*a) - i128::from(*b));
            let (least, most) = (change().min().unwrap_or(0), change().max().unwrap_or(0));
            let width = most.abs_diff(least);
            Moved {
                claims: width.div_ceil(bound.into()),
                fraction: width as f64 / bound as f64,
            }
        }
    }
}

fn forge(transcript: Transcript, turn: usize, query: &Observed) -> Option<Output> {
    let shift = |coordinate: usize| match transcript {
        Transcript::Drawn => None,
        Transcript::Above(by) => Some(by),
        Transcript::Below(by) => Some(-by),
        Transcript::Alternating(by) => Some(if (turn + coordinate).is_multiple_of(2) {
            by
        } else {
            -by
        }),
    };
    let first = shift(0)?;
    Some(match query.norm {
        Norm::Width(_) => Output::Choice(if first > 0 { query.answer.len() - 1 } else { 0 }),
        _ => {
            let moved = |(i, x): (usize, &i64)| x.saturating_add(shift(i).unwrap_or(0));
            Output::Numbers(query.answer.iter().enumerate().map(moved).collect())
        }
    })
}

/// Any coefficients are legal: the noise can be any vector.
fn forge_reals(transcript: Transcript, turn: usize, dimension: usize) -> Option<Vec<f64>> {
    let at = |coordinate: usize| {
        Some(match transcript {
            Transcript::Drawn => return None,
            Transcript::Above(by) => by as f64,
            Transcript::Below(by) => -by as f64,
            Transcript::Alternating(by) if (turn + coordinate).is_multiple_of(2) => by as f64,
            Transcript::Alternating(by) => -by as f64,
        })
    };
    (0..dimension).map(at).collect()
}

impl Output {
    fn boxed(&self) -> Box<dyn Any + Send> {
        match self {
            Self::Numbers(numbers) => Box::new(numbers.clone()),
            Self::Choice(index) => Box::new(*index),
            Self::Reals(reals) => Box::new(reals.clone()),
        }
    }
}

pub(super) struct Shared(Arc<Mutex<Tape>>);

impl Shared {
    pub(super) fn new(tape: &Arc<Mutex<Tape>>) -> Self {
        Self(Arc::clone(tape))
    }
}

pub(super) fn lock(tape: &Mutex<Tape>) -> MutexGuard<'_, Tape> {
    tape.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Auditor for Shared {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        lock(&self.0).query(query)
    }

    fn minimum(&mut self, minimum: Minimum, loss: &dyn Minimised) -> Option<Vec<f64>> {
        lock(&self.0).minimum(minimum, loss)
    }

    fn columns(&mut self, columns: Columns) -> Option<Vec<Desensitised>> {
        lock(&self.0).columns(columns)
    }

    fn released(&mut self, output: Box<dyn Any + Send>) {
        let mut tape = lock(&self.0);
        if tape.replaying {
            return;
        }
        if let Some(Taped::Columns(_, recorded)) = tape.events.last_mut() {
            *recorded = output.downcast().ok().map(|left| *left);
            return;
        }
        let output = match output.downcast::<Vec<i64>>() {
            Ok(numbers) => Output::Numbers(*numbers),
            Err(other) => match other.downcast::<Vec<f64>>() {
                Ok(reals) => Output::Reals(*reals),
                Err(other) => Output::Choice(
                    *other
                        .downcast::<usize>()
                        .expect("a mechanism gives numbers, reals or a choice"),
                ),
            },
        };
        if let Some(Taped::Query(_, recorded) | Taped::Minimum(_, _, recorded)) = tape.events.last_mut() {
            *recorded = Some(output);
        }
    }

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        let mut tape = lock(&self.0);
        if !tape.replaying {
            tape.events.push(Taped::Coins(seed));
            return seed;
        }
        let at = tape.at;
        tape.at += 1;
        match tape.events.get(at) {
            Some(Taped::Coins(seed)) => *seed,
            _ => {
                tape.found(Finding::Branch(format!(
                    "step {at}: only one run asked for public randomness"
                )));
                seed
            }
        }
    }

    fn portion(&mut self, portion: Option<u32>) {
        lock(&self.0).portion = portion;
    }

    fn parts_begin(&mut self, parts: usize, steps: u64) {
        let mut tape = lock(&self.0);
        tape.step(Taped::PartsBegin(parts, steps));
        tape.parts.push(Parts {
            steps,
            used: Moved::default(),
            current: Moved::default(),
        });
    }

    fn part_ends(&mut self) {
        lock(&self.0).part_ends();
    }

    fn parts_end(&mut self) {
        lock(&self.0).parts_end();
    }
}
