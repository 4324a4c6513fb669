//! A party in the middle of rounds.

use privet_mpc::circuit::Counted;
use privet_mpc::garble::{Evaluating, Garbling};
use privet_mpc::transfer::{ReceiverKeys, SenderKeys};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::super::certified::{Promise, with_others};
use super::super::checkpoint::{Received, Saved, Secrets};
use super::super::circuits::JointCircuit;
use super::super::message::Message;
use super::super::plan::Plan;
use super::super::script::{Need, Script};
use super::super::voter::Voter;
use super::{INITIATOR, MOST_LINES, MOST_SMALL, Outcome, Pair, RESPONDER, Stage, joint_error, other};
use crate::Error;
use crate::boost::WholeRates;
use crate::model::{Model, Settings};
use crate::party::{Context, TurnOutcome};

/// The keys of transfers, if there are circuits.
pub(super) enum Keys {
    None,
    Initiator(Box<ReceiverKeys>),
    Responder(Box<SenderKeys>),
}

/// A party in the middle of rounds.
pub(super) struct Boosting {
    pub(super) promise: Promise,
    pub(super) script: Script,
    pub(super) keys: Keys,
    /// How many circuits there were.
    pub(super) circuits: u32,
    pub(super) waiting: Waiting,
    /// How much was received since the last checkpoint.
    pub(super) received: Received,
}

/// What it waits for.
pub(super) enum Waiting {
    Voter(Voter),
    Rates(WholeRates),
    /// The responder: the initiator's choices in this circuit.
    Choices(Counted<JointCircuit>, Box<Garbling<JointCircuit>>),
    /// The initiator: the garbled circuit.
    Garbled(Counted<JointCircuit>, Box<Evaluating<JointCircuit>>),
    /// The responder: what came out.
    Outcome(Counted<JointCircuit>, Box<Garbling<JointCircuit>>),
    Finish,
}

/// This party's bits of a circuit, with coins if a place is chosen at random.
fn with_coins(
    circuit: &JointCircuit,
    bits: Vec<bool>,
    secrets: &Secrets,
    context: &Context<'_, Message>,
) -> Result<Zeroizing<Vec<bool>>, Error> {
    let bits = Zeroizing::new(bits);
    let JointCircuit::Meeting(rendezvous) = circuit else {
        return Ok(bits);
    };
    let input = rendezvous.input(&bits, secrets.coins());
    Ok(Zeroizing::new(input.map_err(|e| joint_error(e, context))?))
}

impl Boosting {
    /// Goes on to the next thing that the other party is needed for. The initiator asks for it, unless it has asked `before` it was built again.
    pub(super) fn go_on(
        mut self,
        plan: Plan,
        before: Option<Secrets>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Pair>, Error> {
        let me = context.me();
        context.progress("rounds", self.script.rounds().len() as u64, plan.all_rounds());
        let asks = me == INITIATOR && before.is_none();
        let state = self.received.is_much().then(|| self.save()).flatten();
        let mut secrets = None;
        self.waiting = match self.script.need()? {
            Need::Voter(own) => {
                if asks {
                    context.send(RESPONDER, &Message::Voter(own.clone()))?;
                }
                Waiting::Voter(own)
            }
            Need::Rates(own) => {
                if asks {
                    context.send(RESPONDER, &Message::Rates(own))?;
                }
                Waiting::Rates(own)
            }
            Need::Circuit(circuit, bits) => {
                self.circuits += 1;
                let drawn = self.secrets(&bits, before, context)?;
                let bits = with_coins(&circuit, bits, &drawn, context)?;
                let seed = drawn.seed();
                secrets = Some(drawn);
                match &mut self.keys {
                    Keys::Initiator(keys) => {
                        let evaluating = Evaluating::new(keys, self.circuits, &circuit, &bits, seed);
                        let mut evaluating = evaluating.map_err(|e| joint_error(e, context))?;
                        let parts = std::iter::from_fn(|| evaluating.next_message()).collect();
                        if asks {
                            context.send(RESPONDER, &Message::Choices(parts))?;
                        }
                        Waiting::Garbled(circuit, Box::new(evaluating))
                    }
                    Keys::Responder(keys) => {
                        let garbling = Garbling::new(keys, self.circuits, &circuit, &bits, seed);
                        let garbling = garbling.map_err(|e| joint_error(e, context))?;
                        Waiting::Choices(circuit, Box::new(garbling))
                    }
                    Keys::None => return Err(Error::internal("who computes jointly has keys")),
                }
            }
            Need::End => {
                if asks {
                    let certificate = self.promise.close(context)?;
                    let told = certificate.for_partners().to_json();
                    context.send(RESPONDER, &Message::Finish(told))?;
                    self.promise = Promise::Closed(certificate);
                }
                Waiting::Finish
            }
        };
        // At the end the certificate is in the record, and stays there.
        if let Some(state) = state.filter(|_| !matches!(self.waiting, Waiting::Finish)) {
            context.checkpoint(&Saved { secrets, ..state });
            self.received = Received::default();
        }
        let stage = Stage::Boosting(Box::new(self));
        Ok(TurnOutcome::Continue(Pair { plan, me, stage }))
    }

    /// The state between two rounds, as far as it is there already.
    fn save(&self) -> Option<Saved> {
        Some(Saved {
            script: self.script.save()?,
            circuits: self.circuits,
            keys: match &self.keys {
                Keys::None => Zeroizing::default(),
                Keys::Initiator(keys) => keys.save(),
                Keys::Responder(keys) => keys.save(),
            },
            secrets: None,
        })
    }

    /// The secrets of a circuit, drawn once for these bits and rows and no others.
    fn secrets(
        &self,
        bits: &[bool],
        before: Option<Secrets>,
        context: &mut Context<'_, Message>,
    ) -> Result<Secrets, Error> {
        let hash = Sha256::new_with_prefix(b"privet secure input 1\0").chain_update(self.script.rows());
        let digest = hash
            .chain_update(*privet_mpc::garble::digest(bits))
            .finalize()
            .into();
        let draw = || Secrets::draw(digest);
        let drawn = match before {
            Some(before) => before,
            None => context.once(&format!("joint computation {}", self.circuits), draw)?,
        };
        drawn.for_input(&digest)?;
        Ok(drawn)
    }

    pub(super) fn take(
        mut self,
        plan: Plan,
        message: Message,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Pair>, Error> {
        let me = context.me();
        let (from, answers) = (other(me), me == RESPONDER);
        self.received.add(&message);
        let wrong = |why: &'static str, context: &Context<'_, Message>| context.complain(from, why);
        match (self.waiting, message) {
            (Waiting::Voter(own), Message::Voter(theirs)) => {
                if answers {
                    context.send(from, &Message::Voter(own))?;
                }
                self.script
                    .take_voter(theirs)
                    .map_err(|why| wrong(why, context))?;
            }
            (Waiting::Rates(own), Message::Rates(theirs)) => {
                if answers {
                    context.send(from, &Message::Rates(own))?;
                }
                self.script
                    .take_rates(theirs)
                    .map_err(|why| wrong(why, context))?;
            }
            (Waiting::Choices(circuit, mut garbling), Message::Choices(parts)) => {
                for part in &parts {
                    garbling.receive(part).map_err(|e| joint_error(e, context))?;
                }
                if !garbling.is_ready() {
                    return Err(wrong("its choices are incomplete", context));
                }
                let parts = std::iter::from_fn(|| garbling.next_message()).collect();
                context.send(from, &Message::Garbled(parts))?;
                self.waiting = Waiting::Outcome(circuit, garbling);
                let stage = Stage::Boosting(Box::new(self));
                return Ok(TurnOutcome::Continue(Pair { plan, me, stage }));
            }
            (Waiting::Garbled(circuit, mut evaluating), Message::Garbled(parts)) => {
                let mut evaluated = None;
                for part in &parts {
                    if evaluated.is_some() {
                        return Err(wrong("more than a garbled circuit", context));
                    }
                    evaluated = evaluating.receive(part).map_err(|e| joint_error(e, context))?;
                }
                let evaluated = evaluated.ok_or_else(|| wrong("a part of a garbled circuit", context))?;
                context.send(from, &Message::Outcome(evaluated.message))?;
                let taken = self.script.take_bits(&circuit, &evaluated.bits);
                taken.map_err(|why| wrong(why, context))?;
            }
            (Waiting::Outcome(circuit, garbling), Message::Outcome(outcome)) => {
                let bits = garbling.open(&outcome).map_err(|e| joint_error(e, context))?;
                let taken = self.script.take_bits(&circuit, &bits);
                taken.map_err(|why| wrong(why, context))?;
            }
            (Waiting::Finish, Message::Finish(theirs)) => {
                let own = self.promise.close(context)?;
                if answers {
                    context.send(from, &Message::Finish(own.for_partners().to_json()))?;
                }
                let certificate = with_others(*own, [(from, theirs)], context)?;
                let settings = Settings::new(plan.settings());
                let schema = (**plan.schema()).clone();
                let model = Model::new(schema, self.script.ensemble(), certificate, settings)?;
                return Ok(TurnOutcome::Finished(Outcome {
                    model: Box::new(model),
                    rounds: self.script.rounds().to_vec(),
                }));
            }
            (_, message) => return Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
        self.waiting = Waiting::Finish;
        self.go_on(plan, None, context)
    }

    /// The most bytes of the message that it waits for.
    pub(super) fn most_bytes(&self) -> u64 {
        match &self.waiting {
            Waiting::Voter(_) | Waiting::Rates(_) => MOST_SMALL,
            Waiting::Choices(circuit, _) | Waiting::Garbled(circuit, _) | Waiting::Outcome(circuit, _) => {
                // Bodies, heads, and the length of each part.
                circuit.cost().bytes() + 8 * circuit.cost().messages + MOST_SMALL
            }
            Waiting::Finish => MOST_LINES,
        }
    }
}
