//! The miner's part in joint sums: it collects, relays, opens and tells.

use std::collections::{BTreeMap, BTreeSet};

use privet_mpc::sum::{Collecting, Opening, Relaying, SumFault, SumTerms};

use super::attendance::Attendance;
use super::{Next, Stage};
use crate::Error;
use crate::error::PeerError;
use crate::model::{Model, Settings};
use crate::party::{Context, PartyId, RunKey, RunKeys};
use crate::privacy::Certificate;
use crate::setting::horizontal::joint::{Asked, Joint};
use crate::setting::horizontal::message::{Message, OpenedSum};
use crate::setting::horizontal::plan::Plan;
use crate::setting::horizontal::resolve::Together;
use crate::setting::horizontal::{MINER, Outcome, PATIENCE, certified};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// Joint sums, one question after another.
pub(super) struct Summing {
    joint: Joint,
    /// Every sum that was opened, from the first question on.
    opened: Vec<OpenedSum>,
    /// The number of the current question's first round.
    round: u32,
    phase: Phase,
}

enum Phase {
    /// Owners share their numbers, for each round of the question; these have.
    Collecting(Vec<Collecting>, BTreeSet<PartyId>),
    /// Holders among those who have shared answer; these have not yet.
    Opening(Vec<Opening>, BTreeSet<PartyId>),
}

impl Summing {
    /// Tells all owners the keys of those that take part.
    pub(super) fn begin(
        greetings: impl Iterator<Item = (PartyId, Option<RunKey>)>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        let (mut known, mut keys) = (RunKeys::default(), Vec::new());
        let nobody = plan.nobody(context.agreement());
        for (party, key) in greetings {
            match key {
                Some(key)
                    if known.insert(context.agreement(), party, &key).is_ok()
                        && !nobody.contains(known.get(party)) =>
                {
                    keys.push((party, key))
                }
                _ => here.exclude(party),
            }
        }
        let owners: BTreeSet<PartyId> = keys.iter().map(|(party, _)| *party).collect();
        here.check(&owners, context)?;
        here.only(owners.iter().copied());
        let message = Message::Begin(keys);
        for party in owners {
            context.send(party, &message)?;
        }
        let stage = Self::of(Vec::new(), plan, context)?;
        context.deadline(PATIENCE, plan.patience());
        Ok(Next::Wait(Stage::Summing(Box::new(stage))))
    }

    fn of(opened: Vec<OpenedSum>, plan: &Plan, context: &Context<'_, Message>) -> Result<Self, Error> {
        let mut summing = Self {
            joint: Joint::blank(plan, context.agreement())?,
            opened: Vec::new(),
            round: 0,
            phase: Phase::Collecting(Vec::new(), BTreeSet::new()),
        };
        for sum in opened {
            summing.learn(sum, plan.joint()?)?;
        }
        summing.collect(plan.joint()?);
        Ok(summing)
    }

    /// Goes on from an opened sum.
    fn learn(&mut self, sum: OpenedSum, together: &Together) -> Result<(), Error> {
        let asked = self.asked()?;
        self.joint.take(together, &asked, &sum)?;
        self.round += together.numbered(&asked);
        self.opened.push(sum);
        Ok(())
    }

    /// Begins to collect shares for the current question, if there is one.
    fn collect(&mut self, together: &Together) -> Option<Asked> {
        let asked = self.joint.asked()?;
        let rounds = self.round..self.round + together.rounds(asked.dimension());
        let each = rounds.map(|round| Collecting::new(&together.sums, round));
        self.phase = Phase::Collecting(each.collect(), BTreeSet::new());
        Some(asked)
    }

    /// What is asked now.
    fn asked(&self) -> Result<Asked, Error> {
        let asked = self.joint.asked();
        asked.ok_or_else(|| Error::internal("what is opened was asked for"))
    }

    fn number(&self) -> u32 {
        self.opened.len() as u32
    }

    /// Whether something of an owner is missing for the current question.
    pub(super) fn awaits(&self, party: PartyId) -> bool {
        match &self.phase {
            Phase::Collecting(_, came) => !came.contains(&party),
            Phase::Opening(_, missing) => missing.contains(&party),
        }
    }

    pub(super) fn take(
        mut self: Box<Self>,
        message: Option<(PartyId, Message)>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        if let Some((from, message)) = message {
            self.hear(from, message, here, context)?;
        }
        self.go_on(plan, here, context)
    }

    fn hear(
        &mut self,
        from: PartyId,
        message: Message,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<(), Error> {
        let number = self.number();
        let fits = match message {
            Message::Shares { number: of, sealed } if of == number => self.shares(from, &sealed),
            Message::Answer { number: of, sum } if of == number => self.answer(from, &sum),
            // It was given up for this question, and is back.
            Message::Shares { number: of, .. } if of < number => {
                self.tell(from, of, context)?;
                true
            }
            Message::Answer { number: of, .. } => of < number,
            Message::Here { next } if next <= number => {
                self.tell(from, next, context)?;
                true
            }
            Message::Hello { .. } if !here.takes_part(from) => {
                context.send(from, &Message::Refused(Vec::new()))?;
                true
            }
            _ => false,
        };
        if !fits {
            here.exclude(from);
        }
        Ok(())
    }

    /// An owner's shares for every round of the question; whether they are such.
    fn shares(&mut self, from: PartyId, sealed: &[u8]) -> bool {
        let Phase::Collecting(rounds, came) = &mut self.phase else {
            // Too late for this sum; it will be told.
            return true;
        };
        let parts = parts(sealed, rounds.len());
        let Some(parts) = parts.map(Iterator::collect::<Vec<&[u8]>>) else {
            return false;
        };
        // All of them or none: survivors are the same in all rounds of a question.
        let checked = |(round, part): (&Collecting, &&[u8])| round.check(place(from), part).is_ok();
        let fits = parts.len() == rounds.len() && rounds.iter().zip(&parts).all(checked);
        if fits {
            for (round, part) in rounds.iter_mut().zip(parts) {
                // It was checked.
                let _ = round.receive(place(from), part.to_vec());
            }
            came.insert(from);
        }
        fits
    }

    /// An owner's answer for every round of the question; whether it is one.
    fn answer(&mut self, from: PartyId, sum: &[u8]) -> bool {
        let Phase::Opening(rounds, missing) = &mut self.phase else {
            return false;
        };
        let parts = parts(sum, rounds.len());
        missing.remove(&from);
        let fits = parts.is_some_and(|mut parts| {
            rounds.iter_mut().all(|round| {
                round
                    .receive(place(from), parts.next().unwrap_or_default())
                    .is_ok()
            })
        });
        if !fits {
            // What did fit of it is not used either.
            rounds.iter_mut().for_each(|round| round.exclude(place(from)));
        }
        fits
    }

    /// Tells an owner what it has missed; and asks it, if its numbers can still be part of the current sum.
    fn tell(&self, to: PartyId, next: u32, context: &mut Context<'_, Message>) -> Result<(), Error> {
        let asks = matches!(self.phase, Phase::Collecting(..)) && self.awaits(to);
        if !asks && next == self.number() {
            return Ok(());
        }
        let message = Message::Opened {
            first: next,
            sums: self.opened[next as usize..].to_vec(),
            digest: self.joint.digest(),
            asks,
        };
        context.send(to, &message)
    }

    /// Goes on as soon as nothing is missing of any owner that is there.
    fn go_on(
        mut self: Box<Self>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        let together = plan.joint()?;
        if here.misses(|party| !self.awaits(party)) {
            return Ok(Next::Wait(Stage::Summing(self)));
        }
        let number = self.number();
        let nothing = Phase::Collecting(Vec::new(), BTreeSet::new());
        match std::mem::replace(&mut self.phase, nothing) {
            Phase::Collecting(rounds, came) => {
                here.check(&came, context)?;
                let mut relaying = Vec::with_capacity(rounds.len());
                for round in rounds {
                    let fixed = round
                        .fix()
                        .map_err(|(_, e)| Error::internal(format!("enough owners shared ({e})")))?;
                    relaying.push(fixed);
                }
                let holders = relaying.first().map_or(Vec::new(), |one| one.holders().to_vec());
                for to in &holders {
                    let mut sealed = Vec::new();
                    for round in &relaying {
                        let part = round.message(*to);
                        sealed.extend(part.map_err(|e| Error::internal(format!("a holder is told ({e})")))?);
                    }
                    context.send(party(*to), &Message::Survivors { number, sealed })?;
                }
                let rounds = relaying.into_iter().map(Relaying::sent).collect();
                self.phase = Phase::Opening(rounds, holders.into_iter().map(party).collect());
                context.deadline(PATIENCE, plan.patience());
                Ok(Next::Wait(Stage::Summing(self)))
            }
            Phase::Opening(mut rounds, _) => {
                let asked = self.asked()?;
                let mut values = Vec::new();
                let mut contributions = 0;
                for round in &mut rounds {
                    values.extend(open(round, &together.sums, context)?);
                    contributions = round.survivors().len() as u32;
                }
                values.truncate(asked.dimension());
                self.learn(
                    OpenedSum {
                        contributions,
                        values,
                    },
                    together,
                )?;
                let more = self.collect(together).is_some();
                let message = Message::Opened {
                    first: number,
                    sums: self.opened[number as usize..].to_vec(),
                    digest: self.joint.digest(),
                    asks: more,
                };
                for party in here.here() {
                    context.send(party, &message)?;
                }
                context.deadline(PATIENCE, plan.patience());
                context.progress("joint sums", self.opened.len() as u64, together.questions());
                context.checkpoint(&Saved {
                    owners: here.saved(),
                    opened: self.opened.clone(),
                });
                Ok(Next::Wait(self.next_stage(more)))
            }
        }
    }

    fn next_stage(self: Box<Self>, more: bool) -> Stage {
        match more {
            true => Stage::Summing(self),
            false => Stage::Certifying(Box::new(Certifying {
                summing: *self,
                came: BTreeMap::new(),
            })),
        }
    }
}

/// Opens a sum of these terms. Answers that do not fit the others are left out, as long as enough remain.
fn open(round: &mut Opening, terms: &SumTerms, context: &Context<'_, Message>) -> Result<Vec<i64>, Error> {
    let holders = (0..terms.holders() as u16).map(party);
    let untold = holders.filter(|holder| !round.holders().contains(&place(*holder)));
    let mut unfit: BTreeSet<PartyId> = untold.chain(round.unanswered().map(party)).collect();
    let named = |parties: &BTreeSet<PartyId>, what: &str| {
        let parties = parties.iter().map(|party| context.name(*party).to_owned());
        Error::Peer(PeerError {
            parties: parties.collect(),
            what: what.to_owned(),
        })
    };
    loop {
        match round.open() {
            Ok(opened) => return Ok(opened.numbers),
            Err(privet_mpc::Error::Sum(SumFault::Inconsistent { owners })) if !owners.is_empty() => {
                for owner in owners {
                    round.exclude(owner);
                    unfit.insert(party(owner));
                }
            }
            Err(privet_mpc::Error::Sum(SumFault::FewAnswers { .. })) => {
                return Err(named(
                    &unfit,
                    "too few answers open a sum: theirs are missing, or do not fit the others",
                ));
            }
            Err(_) => {
                let all = round.holders().iter().map(|place| party(*place)).collect();
                return Err(named(
                    &all,
                    "their answers do not fit each other, and it cannot be said whose is wrong",
                ));
            }
        }
    }
}

/// As many parts of equal length, if that is what it is.
fn parts(bytes: &[u8], count: usize) -> Option<impl Iterator<Item = &[u8]>> {
    let each = bytes.len() / count.max(1);
    (each > 0 && each * count == bytes.len()).then(|| bytes.chunks(each))
}

/// An owner's place among owners.
fn place(party: PartyId) -> u16 {
    party.0.wrapping_sub(1)
}

fn party(place: u16) -> PartyId {
    PartyId(place + 1)
}

/// All sums are opened, and owners say what they promise.
pub(super) struct Certifying {
    summing: Summing,
    came: BTreeMap<PartyId, Certificate>,
}

impl Certifying {
    pub(super) fn awaits(&self, party: PartyId) -> bool {
        !self.came.contains_key(&party)
    }

    pub(super) fn take(
        mut self: Box<Self>,
        message: Option<(PartyId, Message)>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        match message {
            Some((from, Message::Certified(text))) if here.takes_part(from) => {
                match certified::theirs(&text) {
                    Some(certificate) if self.awaits(from) => {
                        self.came.insert(from, certificate);
                    }
                    _ => here.exclude(from),
                }
            }
            Some((from, Message::Certified(_))) => here.exclude(from),
            Some((from, message)) => self.summing.hear(from, message, here, context)?,
            None => {}
        }
        if here.misses(|party| !self.awaits(party)) {
            return Ok(Next::Wait(Stage::Certifying(self)));
        }
        here.check(&self.came.keys().copied().collect(), context)?;
        let told = self
            .came
            .iter()
            .map(|(party, certificate)| (*party, certificate.to_json()));
        let message = Message::Finished {
            trees: None,
            certificates: told.collect(),
        };
        for party in here.here() {
            context.send(party, &message)?;
        }
        let owners = self
            .summing
            .opened
            .last()
            .map_or(0, |sum| sum.contributions as usize);
        let parties = certified::of_others(context.agreement(), MINER, self.came);
        let certificate = certified::of_miner(plan, parties);
        let settings = Settings::new(plan.model_settings(0)?);
        let (ensemble, report) = self.summing.joint.finish();
        let model = Model::new((**plan.schema()).clone(), ensemble, certificate, settings)?;
        let model = Box::new(model);
        Ok(Next::Done(Outcome::Trained {
            model,
            owners,
            report,
        }))
    }
}

/// The state of the miner between two questions.
pub(super) struct Saved {
    /// Owners that take part, that are gone, and that are excluded.
    owners: [Vec<PartyId>; 3],
    opened: Vec<OpenedSum>,
}

impl Saved {
    pub(super) fn restore(
        self,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Stage, Error> {
        here.restore(self.owners);
        let summing = Box::new(Summing::of(self.opened, plan, context)?);
        let more = summing.joint.asked().is_some();
        Ok(summing.next_stage(more))
    }
}

impl Wire for Saved {
    fn write(&self, to: &mut Writer) {
        self.owners.iter().for_each(|owners| to.list(owners, Wire::write));
        to.list(&self.opened, Wire::write);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let mut owners = || from.list(4, PartyId::read);
        Ok(Self {
            owners: [owners()?, owners()?, owners()?],
            opened: from.list(8, OpenedSum::read)?,
        })
    }
}
