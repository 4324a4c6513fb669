//! Two parties. The initiator asks and evaluates circuits, the responder answers and garbles them.

mod boosting;

use privet_mpc::garble::Seed;
use privet_mpc::transfer::{self, ExpectAnswer, ReceiverKeys, SenderKeys};
use zeroize::Zeroizing;

use super::StartWeights;
use super::certified::Promise;
use super::checkpoint::{Received, Saved};
use super::message::Message;
use super::party::{Brings, INITIATOR, Outcome, RESPONDER, differ, disclosed};
use super::plan::{Plan, coins};
use super::script::Script;
use super::side::Side;
use crate::Error;
use crate::data::schema::alike;
use crate::error::JournalFault;
use crate::party::{Context, PartyEvent, PartyId, Role, TurnOutcome};
use crate::privacy::Ledger;
use crate::wire::Wire;
use boosting::{Boosting, Keys, Waiting};

/// The most bytes of a greeting or a certificate.
const MOST_LINES: u64 = 1 << 24;
/// The most bytes of a message of the set-up, of a stump or of rates.
const MOST_SMALL: u64 = 1 << 20;

/// One of two parties.
pub struct Pair {
    plan: Plan,
    me: PartyId,
    stage: Stage,
}

enum Stage {
    /// It waits for a greeting.
    Greeting(Box<Brings>),
    /// It waits for the other's beginning; the responder has shown nothing yet.
    Answering(Box<Brings>),
    /// The initiator has begun.
    Beginning(Box<Ledger>, Box<Script>, Option<Box<ExpectAnswer>>),
    /// Rounds.
    Boosting(Box<Boosting>),
    /// The responder has refused: it ends when that is said.
    Failing(Box<Error>),
}

impl Pair {
    pub(super) fn new(plan: Plan, me: PartyId, brings: Brings) -> Self {
        let stage = Stage::Greeting(Box::new(brings));
        Self { plan, me, stage }
    }
}

fn other(me: PartyId) -> PartyId {
    if me == INITIATOR { RESPONDER } else { INITIATOR }
}

/// An error of a joint computation: the other party's fault, or for want of randomness.
fn joint_error(e: privet_mpc::Error, context: &Context<'_, Message>) -> Error {
    match e {
        privet_mpc::Error::Randomness(why) => Error::Randomness(why),
        privet_mpc::Error::Misuse(why) => Error::internal(format!("a circuit is run by its rules ({why})")),
        other_party => context.complain(other(context.me()), other_party),
    }
}

/// A secret of a joint computation, drawn once.
fn seed(what: &str, context: &mut Context<'_, Message>) -> Result<Seed, Error> {
    let drawn = context.once(what, || {
        let seed = Seed::from_os().map_err(|e| match e {
            privet_mpc::Error::Randomness(why) => Error::Randomness(why),
            other => Error::internal(format!("drawing fails for want of randomness only ({other})")),
        })?;
        Ok(Zeroizing::new(*seed.expose()))
    })?;
    Ok(Seed::new(*drawn))
}

impl Pair {
    fn own_rows(&self, side: &Side) -> Option<u64> {
        let are_said = *self.plan.secure().start() == StartWeights::Rows;
        are_said.then(|| side.rows() as u64)
    }

    /// The other party's part of the set-up fits to the parameters.
    fn begun(
        &self,
        script: &mut Script,
        rows: Option<u64>,
        transfer: &[u8],
        context: &Context<'_, Message>,
    ) -> Result<(), Error> {
        let are_said = *self.plan.secure().start() == StartWeights::Rows;
        if rows.is_some() != are_said || transfer.is_empty() == self.plan.has_circuits() {
            return Err(context.complain(other(context.me()), "it begins with other parameters"));
        }
        if let Some(rows) = rows {
            script.weigh_rows(rows);
        }
        Ok(())
    }

    fn refuse(
        self,
        lines: Vec<String>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        context.send(INITIATOR, &Message::Refused(lines.clone()))?;
        let why = differ(&lines);
        Ok(TurnOutcome::Working(Self {
            stage: Stage::Failing(Box::new(why)),
            ..self
        }))
    }

    fn greeted(
        self,
        theirs: Vec<String>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        let Stage::Greeting(brings) = self.stage else {
            return Err(Error::internal("a party is greeted once"));
        };
        let own = alike::lines(self.plan.schema())?;
        let name = context.name(other(context.me())).to_owned();
        let lines = alike::differences(("this party's schema", &own), &theirs, &name);
        if context.me() == RESPONDER {
            if !lines.is_empty() {
                let stage = Stage::Answering(brings);
                return Self { stage, ..self }.refuse(lines, context);
            }
            context.send(INITIATOR, &Message::Hello(own))?;
            let stage = Stage::Answering(brings);
            return Ok(TurnOutcome::Continue(Self { stage, ..self }));
        }
        if !lines.is_empty() {
            return Err(differ(&lines));
        }
        let (side, ledger) = disclosed(&self.plan, *brings)?;
        let (mut expects, mut transfer) = (None, Vec::new());
        if self.plan.has_circuits() {
            let seed = seed("the set-up of joint computations", context)?;
            let (expect, offer) = transfer::offer(&context.agreement().digest(), seed);
            (expects, transfer) = (Some(Box::new(expect)), offer);
        }
        let rows = match *self.plan.secure().start() {
            StartWeights::Rows => Some(side.rows() as u64),
            StartWeights::Halves => None,
        };
        context.send(RESPONDER, &Message::Begin { rows, transfer })?;
        let script = Script::new(&self.plan, coins(context.agreement()).seed(), side, true);
        let stage = Stage::Beginning(Box::new(ledger), Box::new(script), expects);
        Ok(TurnOutcome::Continue(Self { stage, ..self }))
    }

    fn answer_beginning(
        self,
        rows: Option<u64>,
        theirs: &[u8],
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        let Stage::Answering(brings) = self.stage else {
            return Err(Error::internal("a responder begins once"));
        };
        let party = Self {
            plan: self.plan.clone(),
            me: self.me,
            stage: Stage::Failing(Box::new(Error::internal("a stage is put back"))),
        };
        let (side, ledger) = disclosed(&self.plan, *brings)?;
        let own = party.own_rows(&side);
        let mut script = Script::new(&self.plan, coins(context.agreement()).seed(), side, false);
        party.begun(&mut script, rows, theirs, context)?;
        let (mut keys, mut transfer) = (Keys::None, Vec::new());
        if self.plan.has_circuits() {
            let seed = seed("the set-up of joint computations", context)?;
            let digest = context.agreement().digest();
            let answer = transfer::answer(&digest, seed, theirs);
            let (sender, answer) = answer.map_err(|e| joint_error(e, context))?;
            (keys, transfer) = (Keys::Responder(Box::new(sender)), answer);
        }
        context.send(INITIATOR, &Message::Begin { rows: own, transfer })?;
        let boosting = Boosting {
            promise: Promise::Open(Box::new(ledger)),
            script,
            keys,
            circuits: 0,
            waiting: Waiting::Finish,
            received: Received::default(),
        };
        boosting.go_on(party.plan, None, context)
    }
}

impl Role for Pair {
    type Message = Message;
    type Output = Outcome;

    fn start(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        if context.me() != self.me {
            return Err(Error::misuse(
                "the initiator has number 0 in an agreement, the responder number 1",
            ));
        }
        if self.me == INITIATOR {
            let lines = alike::lines(self.plan.schema())?;
            context.send(RESPONDER, &Message::Hello(lines))?;
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn handle(
        self,
        event: PartyEvent<Message>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        // Neither goes on without the other.
        let (from, message) = event.message(context)?;
        match (&self.stage, message) {
            (Stage::Greeting(_), Message::Hello(lines)) => self.greeted(lines, context),
            (Stage::Greeting(_), Message::Refused(lines)) if context.me() == INITIATOR => Err(differ(&lines)),
            (Stage::Answering(_), Message::Begin { rows, transfer }) => {
                self.answer_beginning(rows, &transfer, context)
            }
            (Stage::Beginning(..), Message::Begin { rows, transfer }) => {
                let Stage::Beginning(ledger, mut script, expects) = self.stage else {
                    return Err(Error::internal("an initiator begins once"));
                };
                let party = Self {
                    plan: self.plan,
                    me: self.me,
                    stage: Stage::Failing(Box::new(Error::internal("a stage is put back"))),
                };
                party.begun(&mut script, rows, &transfer, context)?;
                let keys = match expects {
                    None => Keys::None,
                    Some(expects) => {
                        let keys = expects.receive(&transfer).map_err(|e| joint_error(e, context))?;
                        Keys::Initiator(Box::new(keys))
                    }
                };
                let boosting = Boosting {
                    promise: Promise::Open(ledger),
                    script: *script,
                    keys,
                    circuits: 0,
                    waiting: Waiting::Finish,
                    received: Received::default(),
                };
                boosting.go_on(party.plan, None, context)
            }
            (Stage::Boosting(_), message) => {
                let Stage::Boosting(boosting) = self.stage else {
                    return Err(Error::internal("a party that boosts"));
                };
                boosting.take(self.plan, message, context)
            }
            (_, message) => Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
    }

    /// Only a run that cannot begin has anything left to do.
    fn resume(self, _: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self.stage {
            Stage::Failing(why) => Err(*why),
            _ => Err(Error::internal("a party of two waits for the other")),
        }
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![other(self.me)]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(match &self.stage {
            Stage::Greeting(_) => MOST_LINES,
            Stage::Answering(_) | Stage::Beginning(..) | Stage::Failing(_) => MOST_SMALL,
            Stage::Boosting(boosting) => boosting.most_bytes(),
        })
    }

    fn restore(self, state: &[u8], context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        let damaged = || {
            Error::journal(
                JournalFault::Damaged,
                "the checkpoint is damaged, or is one of other rows",
            )
        };
        let saved = Saved::from_bytes(state).map_err(|_| damaged())?;
        let Stage::Greeting(brings) = self.stage else {
            return Err(Error::internal("a party is restored once"));
        };
        let (side, ledger) = disclosed(&self.plan, *brings)?;
        let script = Script::new(
            &self.plan,
            coins(context.agreement()).seed(),
            side,
            self.me == INITIATOR,
        );
        let keys = match (self.plan.has_circuits(), self.me == INITIATOR) {
            (false, _) => Keys::None,
            (true, true) => Keys::Initiator(Box::new(
                ReceiverKeys::restore(&saved.keys).map_err(|_| damaged())?,
            )),
            (true, false) => {
                Keys::Responder(Box::new(SenderKeys::restore(&saved.keys).map_err(|_| damaged())?))
            }
        };
        let boosting = Boosting {
            promise: Promise::Open(Box::new(ledger)),
            script: script.restored(saved.script).ok_or_else(damaged)?,
            keys,
            circuits: saved.circuits,
            waiting: Waiting::Finish,
            received: Received::default(),
        };
        // What was asked for is held until it is acknowledged, and need not be said again.
        boosting.go_on(self.plan, Some(saved.secrets.unwrap_or_default()), context)
    }

    /// The schema. The library does not look at rows for this; whoever stores the record knows them by a keyed fingerprint.
    fn brings(&self) -> [u8; 32] {
        alike::digest(self.plan.schema())
    }
}
