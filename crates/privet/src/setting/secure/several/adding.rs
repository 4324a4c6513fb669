//! Rounds of three parties or more.

use privet_mpc::sum::{Collecting, Opening, OwnerRound, Seed, SumFault, SumOwner};
use sha2::{Digest, Sha256};

use super::super::certified::{Promise, with_others};
use super::super::checkpoint::Secrets;
use super::super::course::{Beginning, Course, Seen};
use super::super::joint::{summands, summed};
use super::super::message::Message;
use super::super::party::{INITIATOR, Outcome};
use super::super::plan::Plan;
use super::super::side::Side;
use super::super::voter::Voter;
use super::super::weak::Weak;
use super::{Heard, Member, Stage, Turn, sum_error};
use crate::Error;
use crate::boost::WholeRates;
use crate::error::PeerError;
use crate::model::{Model, Settings};
use crate::party::{Context, PartyId, TurnOutcome};
use crate::wire::Wire;

/// A member in the middle of rounds.
pub(super) struct Adding {
    promise: Promise,
    course: Course,
    side: Side,
    sum: SumOwner,
    /// A digest of all classifiers and sums that it was told.
    told: [u8; 32],
    waiting: Waiting,
}

/// What it waits for.
enum Waiting {
    /// The initiator: stumps; a responder: those of all.
    Voters(Voter, Heard<Voter>),
    /// The initiator: shares.
    Shares(Weak, OwnerRound, Box<Collecting>),
    /// A responder: the shares of the others.
    Relayed(Weak, OwnerRound),
    /// The initiator: answers.
    Answers(Weak, Box<Opening>, Heard<()>),
    /// A responder: the sum.
    Total(Weak),
    /// The initiator: certificates; a responder: those of all.
    Certificates(Heard<String>),
}

impl Adding {
    pub(super) fn new(promise: Promise, course: Course, side: Side, sum: SumOwner) -> Self {
        Self {
            promise,
            course,
            side,
            sum,
            told: [0; 32],
            waiting: Waiting::Certificates(Heard::nothing()),
        }
    }

    /// Whether a responder has said what the initiator waits for.
    pub(super) fn has_heard(&self, party: PartyId) -> bool {
        match &self.waiting {
            Waiting::Voters(_, heard) => heard.0.contains_key(&party),
            Waiting::Shares(_, _, collecting) => !collecting.missing().contains(&party.0),
            Waiting::Answers(_, _, heard) => heard.0.contains_key(&party),
            Waiting::Certificates(heard) => heard.0.contains_key(&party),
            Waiting::Relayed(..) | Waiting::Total(_) => true,
        }
    }

    fn wait(mut self, plan: Plan, waiting: Waiting, context: &Context<'_, Message>) -> Turn {
        self.waiting = waiting;
        Ok(TurnOutcome::Continue(Member {
            plan,
            is_initiator: context.me() == INITIATOR,
            stage: Stage::Adding(Box::new(self)),
        }))
    }

    /// Begins the next round, or ends.
    pub(super) fn begin_round(mut self, plan: Plan, context: &mut Context<'_, Message>) -> Turn {
        context.progress("rounds", self.course.rounds().len() as u64, plan.all_rounds());
        let asks = context.me() == INITIATOR;
        let mut begins = self.course.begin();
        while let Beginning::Class(class) = begins {
            self.side.turn_to(class);
            begins = self.course.begin();
        }
        if let Beginning::Stumps(group) = begins {
            let own = self.side.voter(group);
            if !asks {
                context.send(INITIATOR, &Message::Voter(own.clone()))?;
            }
            return self.wait(plan, Waiting::Voters(own, Heard::nothing()), context);
        }
        if !asks {
            let certificate = self.promise.close(context)?;
            let told = certificate.for_partners().to_json();
            context.send(INITIATOR, &Message::Finish(told))?;
            self.promise = Promise::Closed(certificate);
        }
        self.wait(plan, Waiting::Certificates(Heard::nothing()), context)
    }

    /// Notes what all parties should have been told alike.
    fn note(&mut self, message: &Message) {
        let hash = Sha256::new_with_prefix(b"privet secure told 1\0").chain_update(self.told);
        self.told = hash.chain_update(message.to_bytes()).finalize().into();
    }

    /// All stumps are known: the weights of this party's rows go into the sum. Shares are sealed under all that was told, so that they open only at
    /// parties that were told the same.
    fn share(mut self, plan: Plan, voters: Vec<Voter>, context: &mut Context<'_, Message>) -> Turn {
        for (party, voter) in (0..).map(PartyId).zip(&voters) {
            let about = if context.me() == INITIATOR {
                party
            } else {
                INITIATOR
            };
            let checked = plan.check_voter(voter, self.course.group());
            checked.map_err(|why| context.complain(about, why))?;
        }
        self.note(&Message::Voters(voters.clone()));
        self.sum.told(&self.told);
        let weak = Weak::of(voters, plan.needed());
        let numbers = summands(&self.side.rates(&weak));
        let round = self.sum.next();
        let seed = self.seed(round, numbers, context)?;
        // Each has 22 digits at most.
        let (own, shares) = self
            .sum
            .share(round, &numbers.map(u64::cast_signed), seed)
            .map_err(|e| sum_error(e, context.me(), context))?;
        let own = own.ok_or_else(|| Error::internal("every party of a sum holds shares"))?;
        if context.me() != INITIATOR {
            context.send(INITIATOR, &Message::Sum(shares))?;
            return self.wait(plan, Waiting::Relayed(weak, own), context);
        }
        let mut collecting = Box::new(Collecting::new(self.sum.terms(), round));
        let received = collecting.receive(INITIATOR.0, shares);
        received.map_err(|e| sum_error(e, INITIATOR, context))?;
        self.wait(plan, Waiting::Shares(weak, own, collecting), context)
    }

    /// The secret of one sum, drawn once for these numbers and rows and no others.
    fn seed(&self, round: u32, numbers: [u64; 3], context: &mut Context<'_, Message>) -> Result<Seed, Error> {
        let mut hash = Sha256::new_with_prefix(b"privet secure sum 1\0").chain_update(self.side.digest());
        numbers
            .iter()
            .for_each(|number| hash.update(number.to_le_bytes()));
        let digest = hash.finalize().into();
        let secrets = context.once(&format!("sum {round}"), || Secrets::draw(digest))?;
        Ok(Seed::new(*secrets.for_input(&digest)?.expose()))
    }

    pub(super) fn take(
        mut self,
        plan: Plan,
        from: PartyId,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Turn {
        let asks = context.me() == INITIATOR;
        let waiting = std::mem::replace(&mut self.waiting, Waiting::Certificates(Heard::nothing()));
        match (waiting, message) {
            (Waiting::Voters(own, mut heard), Message::Voter(voter)) if asks => {
                if !heard.take(from, voter, context)? {
                    return self.wait(plan, Waiting::Voters(own, heard), context);
                }
                let all = heard.behind(own);
                Member::tell(&Message::Voters(all.clone()), context)?;
                self.share(plan, all, context)
            }
            (Waiting::Voters(own, _), Message::Voters(all)) if !asks => {
                let is_there = all.get(usize::from(context.me().0)) == Some(&own);
                if all.len() != usize::from(plan.parties()) || !is_there {
                    return Err(context.complain(from, "it tells other classifiers than the parties have"));
                }
                self.share(plan, all, context)
            }
            (Waiting::Shares(weak, own, mut collecting), Message::Sum(shares)) if asks => {
                let received = collecting.receive(from.0, shares);
                received.map_err(|e| sum_error(e, from, context))?;
                match collecting.complete() {
                    false => self.wait(plan, Waiting::Shares(weak, own, collecting), context),
                    true => self.relay(plan, (weak, own, *collecting), context),
                }
            }
            (Waiting::Relayed(weak, own), Message::Sum(relayed)) if !asks => {
                let answered = own.answer(&self.sum, &relayed);
                let answered = answered.map_err(|e| sum_error(e, from, context))?;
                context.send(from, &Message::Sum(answered.message))?;
                self.wait(plan, Waiting::Total(weak), context)
            }
            (Waiting::Answers(weak, mut opening, mut heard), Message::Sum(answer)) if asks => {
                let received = opening.receive(from.0, &answer);
                received.map_err(|e| sum_error(e, from, context))?;
                match heard.take(from, (), context)? {
                    false => self.wait(plan, Waiting::Answers(weak, opening, heard), context),
                    true => self.open(plan, weak, &opening, context),
                }
            }
            (Waiting::Total(weak), Message::Rates(total)) if !asks => {
                let own = summed(summands(&self.side.rates(&weak))).unwrap_or_default();
                let holds =
                    total.right >= own.right && total.wrong >= own.wrong && total.silent >= own.silent;
                if !holds {
                    return Err(context.complain(
                        from,
                        "it tells a sum that is smaller than this party's part of it",
                    ));
                }
                self.settle(plan, weak, total, context)
            }
            (Waiting::Certificates(mut heard), Message::Finish(certificate)) if asks => {
                if !heard.take(from, certificate, context)? {
                    return self.wait(plan, Waiting::Certificates(heard), context);
                }
                let own = self.promise.close(context)?;
                let all = heard.behind(own.for_partners().to_json());
                Member::tell(&Message::Certificates(all.clone()), context)?;
                self.promise = Promise::Closed(own);
                self.finish(&plan, all, context)
            }
            (Waiting::Certificates(_), Message::Certificates(all)) if !asks => {
                self.finish(&plan, all, context)
            }
            (_, message) => Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
    }

    /// The initiator: everybody is sent the shares that the others have sealed for it.
    fn relay(
        self,
        plan: Plan,
        (weak, own, collecting): (Weak, OwnerRound, Collecting),
        context: &mut Context<'_, Message>,
    ) -> Turn {
        let about = |e, context: &Context<'_, Message>| sum_error(e, INITIATOR, context);
        let relaying = collecting.fix().map_err(|(_, e)| about(e, context))?;
        for party in context.others() {
            let message = relaying.message(party.0).map_err(|e| about(e, context))?;
            context.send(party, &Message::Sum(message))?;
        }
        let relayed = relaying.message(INITIATOR.0).map_err(|e| about(e, context))?;
        let mut opening = Box::new(relaying.sent());
        let answered = own.answer(&self.sum, &relayed).map_err(|e| match &e {
            privet_mpc::Error::Sum(SumFault::Envelope { from }) => {
                context.complain(PartyId(*from), "an envelope of it does not open")
            }
            _ => about(e, context),
        })?;
        let received = opening.receive(INITIATOR.0, &answered.message);
        received.map_err(|e| about(e, context))?;
        self.wait(plan, Waiting::Answers(weak, opening, Heard::nothing()), context)
    }

    /// The initiator: the sum is opened and told.
    fn open(self, plan: Plan, weak: Weak, opening: &Opening, context: &mut Context<'_, Message>) -> Turn {
        let impossible = |context: &Context<'_, Message>| {
            let others = context
                .others()
                .into_iter()
                .map(|party| context.name(party).to_owned());
            Error::Peer(PeerError {
                parties: others.collect(),
                what:
                    "the weights of all parties have a sum that cannot be: one of them sent something wrong"
                        .into(),
            })
        };
        let opened = opening.open().map_err(|e| match e {
            privet_mpc::Error::Sum(SumFault::Inconsistent { owners }) if !owners.is_empty() => context
                .complain(
                    PartyId(owners[0]),
                    "its answer in a sum does not fit those of the others",
                ),
            privet_mpc::Error::Sum(_) => impossible(context),
            e => sum_error(e, INITIATOR, context),
        })?;
        let sums = <[i64; 3]>::try_from(opened.numbers).ok();
        let sums = sums.filter(|sums| sums.iter().all(|sum| *sum >= 0));
        let total = sums.and_then(|sums| summed(sums.map(i64::cast_unsigned)));
        let total = total.ok_or_else(|| impossible(context))?;
        Member::tell(&Message::Rates(total), context)?;
        self.settle(plan, weak, total, context)
    }

    fn settle(
        mut self,
        plan: Plan,
        weak: Weak,
        total: WholeRates,
        context: &mut Context<'_, Message>,
    ) -> Turn {
        self.note(&Message::Rates(total));
        let seen = Seen::Rates(total);
        if let Some(alpha) = self.course.settle(weak.clone(), seen) {
            self.course.reweigh(&mut self.side, &weak, alpha, seen);
        }
        self.begin_round(plan, context)
    }

    fn finish(self, plan: &Plan, all: Vec<String>, context: &mut Context<'_, Message>) -> Turn {
        if all.len() != usize::from(plan.parties()) {
            return Err(context.complain(INITIATOR, "it tells the certificates of some parties only"));
        }
        let own = self.promise.close(context)?;
        let certificate = with_others(*own, (0..).map(PartyId).zip(all), context)?;
        let schema = (**plan.schema()).clone();
        let model = Model::new(
            schema,
            self.course.ensemble(),
            certificate,
            Settings::new(plan.settings()),
        )?;
        Ok(TurnOutcome::Finished(Outcome {
            model: Box::new(model),
            rounds: self.course.into_rounds(),
        }))
    }
}
