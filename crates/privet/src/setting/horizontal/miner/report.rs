//! Owners that have sent their trees judge the model, each on its own held-out rows: the miner adds up their noisy counts.

use std::collections::BTreeMap;

use super::attendance::Attendance;
use super::parts::{Chained, told};
use super::{Next, Stage};
use crate::Error;
use crate::party::{Context, PartyId};
use crate::privacy::Certificate;
use crate::setting::horizontal::evaluation::Judging;
use crate::setting::horizontal::message::{Message, OpenedSum};
use crate::setting::horizontal::plan::Plan;
use crate::setting::horizontal::{PATIENCE, local};

/// The model is there, and owners judge it.
pub(super) struct Reporting {
    trees: Chained,
    /// Of the owners whose trees are in it.
    certificates: Vec<(PartyId, Certificate)>,
    came: BTreeMap<PartyId, Vec<i64>>,
}

impl Reporting {
    /// Sends the model to all owners whose trees are in it.
    pub(super) fn begin(
        trees: Chained,
        certificates: Vec<(PartyId, Certificate)>,
        plan: &Plan,
        here: &mut Attendance,
        context: &mut Context<'_, Message>,
    ) -> Result<Next, Error> {
        here.only(certificates.iter().map(|(party, _)| *party));
        let message = Message::Judge(local::grown(&trees.0.ensemble, trees.0.unit)?);
        for party in here.here() {
            context.send(party, &message)?;
        }
        context.deadline(PATIENCE, plan.patience());
        let came = BTreeMap::new();
        Ok(Next::Wait(Stage::Reporting(Box::new(Self {
            trees,
            certificates,
            came,
        }))))
    }

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
        let judging = plan.judging();
        let judging = judging.ok_or_else(|| Error::internal("an evaluation was planned"))?;
        match message {
            Some((from, message)) if here.takes_part(from) => self.hear(from, message, judging, here),
            // Its trees came too late, or never: there is nothing for it to judge.
            Some((from, Message::Hello { .. })) => context.send(from, &Message::Refused(Vec::new()))?,
            Some(_) | None => {}
        }
        if !here.missing(|party| !self.awaits(party)).is_empty() {
            return Ok(Next::Wait(Stage::Reporting(self)));
        }
        here.check(&self.came.keys().copied().collect(), context)?;
        let mut values = vec![0_i64; judging.dimension()];
        for counts in self.came.values() {
            let cells = values.iter_mut().zip(counts);
            // What an owner sends may be any number.
            cells.for_each(|(sum, own)| *sum = sum.saturating_add(*own));
        }
        let sum = OpenedSum {
            contributions: self.came.len() as u32,
            values,
        };
        let report = Box::new(judging.added_up(&sum)?);
        told(
            self.trees,
            self.certificates,
            Some((sum, report)),
            plan,
            here,
            context,
        )
    }

    fn hear(&mut self, from: PartyId, message: Message, judging: &Judging, here: &mut Attendance) {
        match message {
            Message::Judged(counts) if self.awaits(from) && counts.len() == judging.dimension() => {
                self.came.insert(from, counts);
            }
            Message::Here { .. } => {}
            _ => here.exclude(from),
        }
    }
}
