//! One owner after another adds trees to those of the owners before it, in one round or several.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::attendance::Attendance;
use super::parts::finish;
use super::{Next, Stage};
use crate::Error;
use crate::boost::Ensemble;
use crate::noisy::trees::Before;
use crate::party::{Context, PartyId};
use crate::privacy::Certificate;
use crate::setting::horizontal::message::{Grown, Message};
use crate::setting::horizontal::plan::Plan;
use crate::setting::horizontal::quality::Measured;
use crate::setting::horizontal::{PATIENCE, certified, local};

/// A chain under way.
pub(super) struct Chaining {
    /// The owners in their order.
    order: Vec<PartyId>,
    /// The round, from zero.
    round: u32,
    /// Whose turn it is.
    now: PartyId,
    /// Who still waits in this round.
    next: VecDeque<PartyId>,
    trees: Option<Before>,
    /// What was added, turn by turn.
    pieces: Vec<Grown>,
    /// How many of these each owner was sent.
    sent: BTreeMap<PartyId, usize>,
    /// What each owner that has had a turn promises.
    certificates: BTreeMap<PartyId, Certificate>,
    /// Turns that were given up: the chain has gone on without them.
    skipped: BTreeSet<(PartyId, u32)>,
    /// Whose trees were left out, and in which round.
    refused: Vec<(PartyId, u32)>,
    /// What was measured in each round: sums over its turns.
    measured: Vec<Measured>,
    /// The chain at the end of each round, if an owner was there by then.
    ends: Vec<Option<Before>>,
}

/// What an owner has added in its turn.
struct Turn {
    trees: Before,
    measured: Option<Measured>,
    certificate: Certificate,
}

impl Chaining {
    pub(super) fn begin(
        here: &mut Attendance,
        plan: &Plan,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        let order = here.here();
        let first = order.first().copied();
        let begun = Box::new(Self {
            now: first.ok_or_else(|| Error::internal("at least one owner is there"))?,
            next: order.iter().copied().collect(),
            order,
            round: 0,
            trees: plan.before(),
            pieces: Vec::new(),
            sent: BTreeMap::new(),
            certificates: BTreeMap::new(),
            skipped: BTreeSet::new(),
            refused: Vec::new(),
            measured: vec![Measured::default()],
            ends: Vec::new(),
        });
        begun.go_on(plan, here, context)
    }

    pub(super) fn awaits(&self, party: PartyId) -> bool {
        self.now == party
    }

    pub(super) fn take(
        mut self: Box<Self>,
        message: Option<(PartyId, Message)>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        match message {
            Some((from, Message::Turned { round, .. })) if self.skipped.contains(&(from, round)) => {
                // It came too late: the chain has gone on.
                return Ok(Next::Wait(Stage::Chaining(self)));
            }
            Some((
                from,
                Message::Turned {
                    round,
                    grown,
                    measured,
                    certificate,
                },
            )) if (from, round) == (self.now, self.round) && here.takes_part(from) => {
                match Turn::read(&grown, &measured, &certificate, plan)? {
                    Some(turn) => {
                        self.add(from, turn, plan, here, context)?;
                        return self.go_on(plan, here, context);
                    }
                    None => here.exclude(from),
                }
            }
            Some((_, Message::Here { .. })) | None => {}
            Some((from, Message::Hello { .. })) => context.send(from, &Message::Refused(Vec::new()))?,
            Some((from, _)) => here.exclude(from),
        }
        match here.has(self.now) {
            true => Ok(Next::Wait(Stage::Chaining(self))),
            false => {
                self.skipped.insert((self.now, self.round));
                self.go_on(plan, here, context)
            }
        }
    }

    /// Adds what an owner has grown, unless its own measurement says that the chain is worse with it.
    fn add(
        &mut self,
        from: PartyId,
        turn: Turn,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<(), Error> {
        self.certificates.insert(from, turn.certificate);
        let least = plan.horizontal().quality;
        let gain = turn.measured.and_then(Measured::gain);
        let is_refused = matches!((gain, least), (Some(gain), Some(least)) if gain < -least);
        if let (Some(now), Some(round)) = (turn.measured, self.measured.last_mut()) {
            round.rows += now.rows;
            round.before += now.before;
            // Of the chain that goes on.
            round.after += if is_refused { now.before } else { now.after };
        }
        let mut own = turn.trees;
        if is_refused {
            self.refused.push((from, self.round));
            if self.trees.is_some() {
                return Ok(());
            }
            // Where scores begin, and what residuals are clipped to, is not judged.
            own.ensemble = Ensemble::new(own.ensemble.link, own.ensemble.base, Vec::new());
        }
        let bare = Ensemble {
            calibration: None,
            ..own.ensemble.clone()
        };
        let piece = local::grown(&bare, own.unit)?;
        self.trees = Some(local::chained(self.trees.take(), own));
        self.pieces.push(piece);
        self.send_added(plan, here, context)
    }

    /// Sends to all who still wait in this round what they lack, if trees are broadcast. Whoever is not there is sent it in its turn.
    fn send_added(
        &mut self,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<(), Error> {
        if !plan.horizontal().broadcast {
            return Ok(());
        }
        for &party in self.next.iter().filter(|party| here.has(**party)) {
            let sent = self.sent.insert(party, self.pieces.len()).unwrap_or(0);
            for (known, grown) in self.pieces.iter().enumerate().skip(sent) {
                let message = Message::Added {
                    known: known as u32,
                    grown: grown.clone(),
                };
                context.send(party, &message)?;
            }
        }
        Ok(())
    }

    /// The next owner's turn, in this round or in another; the end, if there is none.
    fn go_on(
        mut self: Box<Self>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        loop {
            while let Some(next) = self.next.pop_front() {
                if here.has(next) {
                    self.now = next;
                    self.send_turn(plan, context)?;
                    return Ok(Next::Wait(Stage::Chaining(self)));
                }
                self.skipped.insert((next, self.round));
            }
            self.ends.push(self.trees.clone());
            if !self.has_another_round(plan)? {
                return self.end(plan, here, context);
            }
            self.round += 1;
            self.measured.push(Measured::default());
            self.next = self.order.iter().copied().collect();
            self.send_added(plan, here, context)?;
        }
    }

    fn send_turn(&mut self, plan: &Plan, context: &mut Context<'_, Message>) -> Result<(), Error> {
        let known = match plan.horizontal().broadcast {
            true => self.sent.insert(self.now, self.pieces.len()).unwrap_or(0),
            false => 0,
        };
        let message = Message::Turn {
            round: self.round,
            known: known as u32,
            more: self.pieces[known..].to_vec(),
        };
        context.send(self.now, &message)?;
        context.deadline(PATIENCE, plan.patience());
        Ok(())
    }

    /// Whether a round follows the one that has ended: by its number, and by what was measured and paid for.
    fn has_another_round(&self, plan: &Plan) -> Result<bool, Error> {
        if self.round + 1 >= plan.chain()?.rounds {
            return Ok(false);
        }
        let figures = |back: usize| self.measured.iter().rev().nth(back).and_then(|own| own.figure());
        Ok(match (plan.horizontal().advance, figures(0), figures(1)) {
            (Some(least), Some(now), Some(before)) => now - before >= least,
            _ => true,
        })
    }

    /// The model: of all rounds; or, where rounds are measured, up to the one that was best.
    fn end(
        self: Box<Self>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        here.check(&self.certificates.keys().copied().collect(), context)?;
        let figures = self.measured.iter().map(|own| own.figure().unwrap_or(0.0));
        let best = figures
            .enumerate()
            .fold((0, f64::MIN), |best, now| if now.1 > best.1 { now } else { best });
        let kept = match plan.horizontal().advance {
            Some(_) => best.0,
            None => self.ends.len().saturating_sub(1),
        };
        let notes = self.notes(kept, plan, context);
        let mut ends = self.ends;
        let last = ends.last().cloned().flatten();
        let trees = (kept < ends.len()).then(|| ends.swap_remove(kept)).flatten();
        let trees = trees.or(last);
        let trees = trees.ok_or_else(|| Error::internal("at least one owner was there"))?;
        let certificates = self.certificates.into_iter().collect();
        finish((trees, notes), certificates, plan, here, context)
    }

    /// What the rounds came to, for whoever reads the model's settings. All of it follows from what was released.
    fn notes(&self, kept: usize, plan: &Plan, context: &Context<'_, Message>) -> Vec<(String, String)> {
        let mut notes = Vec::new();
        if !plan.horizontal().names_rounds() {
            return notes;
        }
        let mut note = |name: &str, value: String| notes.push((name.to_owned(), value));
        note("rounds made", self.measured.len().to_string());
        if plan.horizontal().judges() {
            for (round, own) in self.measured.iter().enumerate() {
                let figure = own
                    .figure()
                    .map_or("hidden by noise".to_owned(), |f| format!("{f:.3}"));
                note("judged by noisy counts", format!("round {}: {figure}", round + 1));
            }
            note("rounds in the model", (kept + 1).min(self.ends.len()).to_string());
        }
        for (party, round) in &self.refused {
            let who = context.name(*party);
            note("left out", format!("the trees of {who} in round {}", round + 1));
        }
        notes
    }
}

impl Turn {
    /// What an owner sent, if it fits the schema and what is measured.
    fn read(grown: &Grown, measured: &[i64], certificate: &str, plan: &Plan) -> Result<Option<Self>, Error> {
        let quality = plan.chain()?.quality.as_ref();
        let read = || {
            Some(Self {
                trees: local::received(grown, plan.schema()).ok()?,
                measured: match quality {
                    Some(quality) => Some(quality.read(measured)?),
                    None if measured.is_empty() => None,
                    None => return None,
                },
                certificate: certified::theirs(certificate)?,
            })
        };
        Ok(read())
    }
}
