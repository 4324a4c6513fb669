//! Three parties or more. Each tells the others its best stump; the weights of right, wrong and silent rows are added up by a secure sum, of which only the total
//! is opened. The initiator relays: each party signs its key, and seals its shares under all that it was told.
//!
//! # Paper
//! MABoost, section 8. Lemma 1 does not hold for a majority of three or more: coefficients may be negative.

mod adding;

use std::collections::BTreeMap;

use privet_mpc::sealed::SealingKey;
use privet_mpc::sum::{SumOwner, SumTerms};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::certified::Promise;
use super::course::Course;
use super::message::Message;
use super::party::{Brings, INITIATOR, Outcome, differ, disclosed};
use super::plan::{Plan, coins};
use super::side::Side;
use crate::Error;
use crate::data::schema::alike;
use crate::party::{Context, PartyEvent, PartyId, Role, RunKey, RunKeys, TurnOutcome};
use crate::privacy::Ledger;
use crate::wire::Wire;
use adding::Adding;

/// The most bytes of what one party says, but for greetings.
const MOST_SAID: u64 = 1 << 20;
/// The most bytes of a greeting.
const MOST_LINES: u64 = 1 << 24;

type Turn = Result<TurnOutcome<Member>, Error>;

/// One of three parties or more.
pub struct Member {
    plan: Plan,
    is_initiator: bool,
    stage: Stage,
}

enum Stage {
    /// The initiator has greeted, and waits for greetings; a responder waits for the initiator's.
    Greeting(Box<Brings>, Heard<()>),
    /// A responder has greeted, and has shown nothing yet.
    Answering(Box<Brings>),
    /// It has said its key: the initiator waits for those of the others, a responder for those of all.
    Beginning(Box<Begun>, Heard<RunKey>),
    /// Rounds.
    Adding(Box<Adding>),
    /// It ends when the others have been told.
    Failing(Box<Error>),
}

/// A party that has written down what it will show.
struct Begun {
    ledger: Ledger,
    side: Side,
    key: SealingKey,
    /// The public half, signed.
    signed: RunKey,
}

/// What the responders have said, each once.
struct Heard<T>(BTreeMap<PartyId, T>);

impl<T> Heard<T> {
    fn nothing() -> Self {
        Self(BTreeMap::new())
    }

    /// Takes what one of them says; whether all have spoken.
    fn take(&mut self, from: PartyId, said: T, context: &Context<'_, Message>) -> Result<bool, Error> {
        match self.0.insert(from, said) {
            None => Ok(self.0.len() == context.agreement().parties().count() - 1),
            Some(_) => Err(context.complain(from, "it said the same thing twice")),
        }
    }

    /// What all said, in their order, behind what the initiator says.
    fn behind(self, own: T) -> Vec<T> {
        [own].into_iter().chain(self.0.into_values()).collect()
    }
}

/// An error of a secure sum, about the party whose message was taken or, where the error names another, about that.
fn sum_error(e: privet_mpc::Error, about: PartyId, context: &Context<'_, Message>) -> Error {
    match e {
        privet_mpc::Error::Randomness(why) => Error::Randomness(why),
        privet_mpc::Error::Misuse(why) => Error::internal(format!("a sum is run by its rules ({why})")),
        fault => context.complain(about, fault),
    }
}

impl Member {
    pub(super) fn new(plan: Plan, me: PartyId, brings: Brings) -> Self {
        Self {
            plan,
            is_initiator: me == INITIATOR,
            stage: Stage::Greeting(Box::new(brings), Heard::nothing()),
        }
    }

    /// Says the same to all responders.
    fn tell(message: &Message, context: &mut Context<'_, Message>) -> Result<(), Error> {
        for party in context.others() {
            context.send(party, message)?;
        }
        Ok(())
    }

    fn wait(self, stage: Stage) -> Turn {
        Ok(TurnOutcome::Continue(Self { stage, ..self }))
    }

    /// Tells whom it speaks to that the run cannot begin, and ends.
    fn refuse(self, lines: Vec<String>, context: &mut Context<'_, Message>) -> Turn {
        let why = differ(&lines);
        let message = Message::Refused(lines);
        match self.is_initiator {
            true => Self::tell(&message, context)?,
            false => context.send(INITIATOR, &message)?,
        }
        let stage = Stage::Failing(Box::new(why));
        Ok(TurnOutcome::Working(Self { stage, ..self }))
    }

    fn greeted(mut self, from: PartyId, theirs: &[String], context: &mut Context<'_, Message>) -> Turn {
        let own = alike::lines(self.plan.schema())?;
        let name = context.name(from).to_owned();
        let lines = alike::differences(("this party's schema", &own), theirs, &name);
        if !lines.is_empty() {
            return self.refuse(lines, context);
        }
        let stage = std::mem::replace(&mut self.stage, failing());
        let Stage::Greeting(brings, mut heard) = stage else {
            return Err(Error::internal("a party is greeted before it begins"));
        };
        if !self.is_initiator {
            context.send(INITIATOR, &Message::Hello(own))?;
            return self.wait(Stage::Answering(brings));
        }
        if !heard.take(from, (), context)? {
            return self.wait(Stage::Greeting(brings, heard));
        }
        let begun = self.begin(*brings, context)?;
        Self::tell(&Self::own_key(&begun), context)?;
        self.wait(Stage::Beginning(Box::new(begun), Heard::nothing()))
    }

    /// Writes down what it will show, and draws its key.
    fn begin(&self, mut brings: Brings, context: &mut Context<'_, Message>) -> Result<Begun, Error> {
        let identity = brings.identity.take();
        let identity = identity.ok_or_else(|| Error::internal("a party of several has an identity"))?;
        let (side, ledger) = disclosed(&self.plan, brings)?;
        let key = context.once("the key of this run", || {
            let key = SealingKey::from_os().map_err(|e| match e {
                privet_mpc::Error::Randomness(why) => Error::Randomness(why),
                other => Error::internal(format!("drawing fails for want of randomness only ({other})")),
            })?;
            Ok(Zeroizing::new(*key.expose()))
        })?;
        let key = SealingKey::new(*key);
        let signed = RunKey::sign(&identity, context.agreement(), context.me(), key.public());
        Ok(Begun {
            ledger,
            side,
            key,
            signed,
        })
    }

    fn own_key(begun: &Begun) -> Message {
        Message::Begin {
            rows: None,
            transfer: begun.signed.to_bytes(),
        }
    }

    /// Everybody's keys are known, and the first round begins.
    fn with_keys(self, begun: Begun, keys: &[RunKey], context: &mut Context<'_, Message>) -> Turn {
        let me = context.me();
        let mut known = RunKeys::default();
        for (party, key) in (0..).map(PartyId).zip(keys) {
            let inserted = known.insert(context.agreement(), party, key);
            inserted.map_err(|e| match self.is_initiator {
                true => e,
                // Whoever relays has looked at them, too.
                false => context.complain(INITIATOR, format!("it relays another key than a party has: {e}")),
            })?;
        }
        let is_own = known.get(me) == Some(&begun.key.public());
        if keys.len() != usize::from(self.plan.parties()) || !is_own {
            return Err(context.complain(INITIATOR, "it tells keys that cannot be those of all parties"));
        }
        let terms = terms(&self.plan)?;
        let parties = (0..self.plan.parties()).map(PartyId);
        let numbered = parties.filter_map(|party| Some((party.0, *known.get(party)?)));
        let numbered: Vec<(u16, [u8; 32])> = numbered.collect();
        let under = sealed_under(&self.plan, context)?;
        let sum = SumOwner::new(&terms, me.0, &begun.key, &numbered, &under, 0);
        let adding = Adding::new(
            Promise::Open(Box::new(begun.ledger)),
            Course::new(&self.plan, coins(context.agreement()).seed()),
            begun.side,
            sum.map_err(|e| sum_error(e, INITIATOR, context))?,
        );
        adding.begin_round(self.plan, context)
    }

    fn take(mut self, from: PartyId, message: Message, context: &mut Context<'_, Message>) -> Turn {
        let stage = std::mem::replace(&mut self.stage, failing());
        match (stage, message) {
            (stage @ Stage::Greeting(..), Message::Hello(lines)) => {
                Self { stage, ..self }.greeted(from, &lines, context)
            }
            (Stage::Greeting(..), Message::Refused(lines)) if self.is_initiator => {
                self.refuse(lines, context)
            }
            (Stage::Answering(_), Message::Refused(lines)) => Err(differ(&lines)),
            (Stage::Answering(brings), Message::Begin { rows: None, .. }) => {
                // The initiator's key comes with those of all.
                let begun = self.begin(*brings, context)?;
                context.send(INITIATOR, &Self::own_key(&begun))?;
                self.wait(Stage::Beginning(Box::new(begun), Heard::nothing()))
            }
            (Stage::Beginning(begun, mut heard), Message::Begin { rows: None, transfer })
                if self.is_initiator =>
            {
                let key = RunKey::from_bytes(&transfer);
                let key = key.map_err(|_| context.complain(from, "it begins without a key"))?;
                if !heard.take(from, key, context)? {
                    return self.wait(Stage::Beginning(begun, heard));
                }
                let keys = heard.behind(begun.signed.clone());
                Self::tell(&Message::Keys(keys.clone()), context)?;
                self.with_keys(*begun, &keys, context)
            }
            (Stage::Beginning(begun, _), Message::Keys(keys)) if !self.is_initiator => {
                self.with_keys(*begun, &keys, context)
            }
            (Stage::Adding(adding), message) => adding.take(self.plan, from, message, context),
            (_, message) => Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
    }
}

/// A stage that nobody sees.
fn failing() -> Stage {
    Stage::Failing(Box::new(Error::internal("a stage is put back")))
}

/// What all agree on about sums: three numbers of each party, and nobody is absent. All hold shares: a responder goes on only when what every other
/// party sealed for it opens under what it was told itself.
fn terms(plan: &Plan) -> Result<SumTerms, Error> {
    let terms = SumTerms::held_by_all(plan.parties().into(), 0, plan.secure().colluding.into(), 3);
    terms.map_err(|e| Error::internal(format!("a plan has sums that can be ({e})")))
}

/// What envelopes are sealed under: the agreement, and the lines of the schema that all must have alike.
fn sealed_under(plan: &Plan, context: &Context<'_, Message>) -> Result<[u8; 32], Error> {
    let mut hash =
        Sha256::new_with_prefix(b"privet secure sums 1\0").chain_update(context.agreement().digest());
    for line in alike::lines(plan.schema())? {
        hash.update((line.len() as u64).to_le_bytes());
        hash.update(line);
    }
    Ok(hash.finalize().into())
}

impl Role for Member {
    type Message = Message;
    type Output = Outcome;

    fn start(self, context: &mut Context<'_, Message>) -> Turn {
        if (context.me() == INITIATOR) != self.is_initiator {
            return Err(Error::misuse(
                "the initiator has number 0 in an agreement, responders follow",
            ));
        }
        if self.is_initiator {
            Self::tell(&Message::Hello(alike::lines(self.plan.schema())?), context)?;
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn handle(self, event: PartyEvent<Message>, context: &mut Context<'_, Message>) -> Turn {
        // Nobody goes on without the others.
        let (from, message) = event.message(context)?;
        self.take(from, message, context)
    }

    /// Only a run that cannot begin has anything left to do.
    fn resume(self, _: &mut Context<'_, Message>) -> Turn {
        match self.stage {
            Stage::Failing(why) => Err(*why),
            _ => Err(Error::internal("a member of several waits for others")),
        }
    }

    fn waits_for(&self) -> Vec<PartyId> {
        if !self.is_initiator {
            return vec![INITIATOR];
        }
        let missing = |heard: &dyn Fn(PartyId) -> bool| {
            let responders = (1..self.plan.parties()).map(PartyId);
            responders.filter(|party| !heard(*party)).collect()
        };
        match &self.stage {
            Stage::Greeting(_, heard) => missing(&|party| heard.0.contains_key(&party)),
            Stage::Beginning(_, heard) => missing(&|party| heard.0.contains_key(&party)),
            Stage::Adding(adding) => missing(&|party| adding.has_heard(party)),
            Stage::Answering(_) | Stage::Failing(_) => Vec::new(),
        }
    }

    fn most_bytes(&self, from: PartyId) -> Option<u64> {
        let speaks = self.is_initiator || from == INITIATOR;
        speaks.then(|| match self.stage {
            Stage::Greeting(..) | Stage::Answering(_) => MOST_LINES,
            _ if self.is_initiator => MOST_SAID,
            _ => MOST_SAID * (u64::from(self.plan.parties()) + 1),
        })
    }

    fn brings(&self) -> [u8; 32] {
        alike::digest(self.plan.schema())
    }
}
