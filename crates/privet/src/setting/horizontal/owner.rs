//! The party that has rows.

mod chain;
mod report;
mod sums;

use privet_mpc::sealed::SealingKey;
use zeroize::Zeroizing;

use super::message::{Grown, Message};
use super::plan::{OwnerPlan, Plan, unrandom};
use super::{MINER, Outcome, PATIENCE, Party, Protocol, certified, local, schemas};
use crate::Error;
use crate::data::{Cells, Schema, Table};
use crate::model::{Model, Settings};
use crate::party::{Context, PartyEvent, PartyId, RunKey, RunName, TurnOutcome};
use crate::privacy::signature::SigningKey;
use crate::privacy::{Certificate, Ledger, Neighbours, Private};
use crate::wire::{Malformed, Reader, Wire, Writer};
use chain::Chaining;
use report::Reporting;
use sums::{Saved, Summing};

/// A party with rows of its own.
pub struct Owner {
    plan: OwnerPlan,
    stage: Stage,
    /// How often it has reminded the miner since it last heard of it.
    reminders: u32,
}

enum Stage {
    /// It has not begun to pay.
    Ready(Box<Brings>),
    /// It trains on its own rows.
    Training(Box<Brings>),
    /// It waits in a chain, or takes its turn.
    Chaining(Box<Chaining>),
    /// It has sent its trees, under this promise.
    Trained(Box<Certificate>),
    /// It has sent its trees, and judges the model.
    Reporting(Box<Reporting>),
    /// Joint sums.
    Summing(Box<Summing>),
}

/// What an owner brings.
struct Brings {
    table: Table,
    ledger: Ledger,
    /// Signs its key of the run.
    identity: Option<SigningKey>,
    /// The secret half of that key, once it is drawn.
    key: Option<SealingKey>,
    /// What decides whose rows are held out, once it is drawn.
    held_out: Option<[u8; 32]>,
}

impl Owner {
    /// An owner with a table and the ledger that protects it. `identity` signs its key of the run, as the agreement has it: for
    /// `protocol = "aggregated"`.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read with another schema than the plan's, or the budget protects others than the plan was made
    /// for; [`Error::Parameter`] if an identity is missing.
    pub fn party<N: Neighbours>(
        plan: OwnerPlan,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
        identity: Option<SigningKey>,
    ) -> Result<Party, Error> {
        plan.check(&table)?;
        let ledger = ledger.at_run_time();
        if ledger.relation() != plan.plan().relation() {
            return Err(Error::misuse(format!(
                "the plan was made for the case that {}, the budget is for the case that {}",
                plan.plan().relation(),
                ledger.relation()
            )));
        }
        if plan.plan().sharing().is_some() && identity.is_none() {
            return Err(Error::parameter(
                "identity",
                "an owner of a secure sum signs its key of the run: it needs an identity",
            ));
        }
        let brings = Brings {
            table,
            ledger: ledger.for_run(run.to_text())?,
            identity,
            key: None,
            held_out: None,
        };
        Ok(Party::Owner(Self {
            plan,
            stage: Stage::Ready(Box::new(brings)),
            reminders: 0,
        }))
    }

    pub(super) fn plan(&self) -> &Plan {
        self.plan.plan()
    }

    pub(super) fn schema(&self) -> &Schema {
        self.plan.schema()
    }

    pub(super) fn most_bytes(&self) -> u64 {
        self.plan().most_bytes()
    }

    pub(super) fn start(mut self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let schema = schemas::lines(self.schema())?;
        let is_joint = self.plan().sharing().is_some();
        let judges = self.plan().judging().is_some();
        let Stage::Ready(brings) = &mut self.stage else {
            return Err(Error::internal("a party starts once"));
        };
        let key = match &brings.identity {
            Some(identity) if is_joint => {
                let key = brings.key.insert(run_key(context)?);
                Some(RunKey::sign(
                    identity,
                    context.agreement(),
                    context.me(),
                    key.public(),
                ))
            }
            _ => None,
        };
        if judges {
            brings.held_out = Some(held_out(&mut brings.ledger, context)?);
        }
        context.send(MINER, &Message::Hello { schema, key })?;
        self.wait(context)
    }

    pub(super) fn handle(
        mut self,
        event: PartyEvent<Message>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        if let PartyEvent::Deadline(_) = event {
            return self.remind(context);
        }
        // Without the miner nothing goes on.
        let (from, message) = event.message(context)?;
        self.reminders = 0;
        let is_chain = self.plan().protocol() == Protocol::Chain;
        // The first trees of a chain, or the first turn: from then on it waits for others, or they for it.
        self.stage = match (self.stage, &message) {
            (Stage::Ready(brings), Message::Added { .. } | Message::Turn { .. }) if is_chain => {
                Stage::Chaining(Box::new(Chaining::new(&self.plan, *brings)))
            }
            (stage, _) => stage,
        };
        match (self.stage, message) {
            (Stage::Ready(_), Message::Refused(lines)) if lines.is_empty() => Err(context.complain(
                from,
                "it has begun the run without this owner, which came too late",
            )),
            (Stage::Ready(_), Message::Refused(lines)) => Err(Error::data(format!(
                "the run cannot begin with this owner; nothing was paid:\n{}",
                lines.join("\n")
            ))),
            (Stage::Ready(brings), Message::Begin(keys)) if !is_chain => match self.plan.plan().sharing() {
                Some(_) => {
                    let stage =
                        Stage::Summing(Box::new(Summing::begin(&self.plan, *brings, &keys, context)?));
                    Ok(TurnOutcome::Working(Party::Owner(Self { stage, ..self })))
                }
                None => Self {
                    stage: Stage::Training(brings),
                    ..self
                }
                .work(),
            },
            (Stage::Chaining(mut chaining), Message::Added { known, grown }) => {
                chaining.added((known, &grown), &self.plan, context)?;
                let stage = Stage::Chaining(chaining);
                Self { stage, ..self }.wait(context)
            }
            (Stage::Chaining(mut chaining), Message::Turn { round, known, more }) => {
                chaining.turn((round, known, &more), &self.plan, context)?;
                let stage = Stage::Chaining(chaining);
                Self { stage, ..self }.work()
            }
            (Stage::Chaining(chaining), message @ Message::Judge(_)) => {
                let reporting = Box::new(chaining.judge(context)?);
                reporting.handle(&self.plan, message, context)
            }
            (Stage::Chaining(chaining), Message::Finished { trees, certificates }) => {
                let outcome = chaining.finish(&self.plan, (trees, certificates), context)?;
                Ok(TurnOutcome::Finished(outcome))
            }
            (Stage::Trained(certificate), Message::Finished { trees, certificates }) => {
                let outcome = outcome(&self.plan, certificate, (trees, certificates), context)?;
                Ok(TurnOutcome::Finished(outcome))
            }
            (Stage::Reporting(reporting), message) => reporting.handle(&self.plan, message, context),
            (Stage::Summing(summing), message) => summing.handle(&self.plan, message, context),
            (_, message) => Err(context.complain(from, format!("{} out of turn", message.name()))),
        }
    }

    fn work(self) -> Result<TurnOutcome<Party>, Error> {
        Ok(TurnOutcome::Working(Party::Owner(self)))
    }

    pub(super) fn resume(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        let brings = match self.stage {
            Stage::Training(brings) => brings,
            Stage::Chaining(mut chaining) => {
                chaining.take_turn(&self.plan, context)?;
                let stage = Stage::Chaining(chaining);
                return Self { stage, ..self }.wait(context);
            }
            Stage::Summing(summing) => return summing.resume(&self.plan, context),
            _ => return Err(Error::internal("an owner works when it trains")),
        };
        let Brings {
            table,
            mut ledger,
            held_out,
            ..
        } = *brings;
        let (table, held_out) = cut(&self.plan, table, held_out);
        let agreement = context.agreement().clone();
        let own = |ledger: &mut Ledger| {
            let progress = &|_, _| std::ops::ControlFlow::Continue(());
            local::train(&self.plan, table, ledger, &agreement, progress)
        };
        let grown = context.once("the trees", || own(&mut ledger))?;
        let certificate = certified::of_run(&ledger, context)?;
        let told = certificate.for_partners().to_json();
        let message = Message::Trees {
            grown,
            certificate: told,
        };
        context.send(MINER, &message)?;
        let stage = match held_out {
            None => Stage::Trained(Box::new(certificate)),
            Some(held_out) => Stage::Reporting(Box::new(Reporting {
                ledger,
                held_out,
                certificate,
                model: None,
            })),
        };
        Self { stage, ..self }.wait(context)
    }

    /// The miner may think that this owner is absent: it is reminded, and not for ever.
    fn remind(mut self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        self.reminders += 1;
        if self.reminders > self.plan().most_reminders() {
            return Err(context.complain(MINER, "it has said nothing for a long time"));
        }
        let next = match &self.stage {
            Stage::Summing(summing) => summing.next(),
            _ => 0,
        };
        context.send(MINER, &Message::Here { next })?;
        self.wait(context)
    }

    fn wait(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        context.deadline(PATIENCE, self.plan().patience());
        Ok(TurnOutcome::Continue(Party::Owner(self)))
    }

    pub(super) fn restore(
        self,
        state: &[u8],
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let saved = Saved::from_bytes(state).map_err(|e| Error::internal(format!("its own state ({e})")))?;
        let Stage::Ready(brings) = self.stage else {
            return Err(Error::internal("a party is restored once"));
        };
        Summing::restore(&self.plan, *brings, saved, context)
    }
}

/// The rows that an owner learns from, and those that judge the model if some do.
fn cut(plan: &OwnerPlan, table: Table, seed: Option<[u8; 32]>) -> (Table, Option<Private<Cells>>) {
    match plan.plan().judging().zip(seed) {
        Some((judging, seed)) => {
            let (learnt, held_out) = judging.cut(&table, seed);
            (learnt, Some(held_out))
        }
        None => (table, None),
    }
}

/// What an owner that trains on its own rows has at the end: the model, if it gets it.
fn outcome(
    plan: &OwnerPlan,
    certificate: Box<Certificate>,
    (grown, certificates): (Option<Grown>, Vec<(PartyId, String)>),
    context: &Context<'_, Message>,
) -> Result<Outcome, Error> {
    let Some(grown) = grown else {
        return Ok(Outcome::Contributed(certificate));
    };
    let all = plan.plan();
    let trained = local::received(&grown, all.schema()).map_err(|e| context.complain(MINER, e))?;
    let owners = certificates.len();
    let certificate = with_others(plan, *certificate, certificates, context)?;
    let settings = Settings::new(all.model_settings(plan.place())?);
    let model = Model::new((**all.schema()).clone(), trained.ensemble, certificate, settings)?;
    Ok(Outcome::Trained {
        model: Box::new(model),
        owners,
        report: None,
    })
}

/// One's own certificate with those of the other owners.
fn with_others(
    plan: &OwnerPlan,
    mut own: Certificate,
    all: Vec<(PartyId, String)>,
    context: &Context<'_, Message>,
) -> Result<Certificate, Error> {
    let mut read = Vec::new();
    for (party, text) in all {
        let certificate = certified::theirs(&text)
            .ok_or_else(|| context.complain(MINER, "it sent a certificate that cannot be read"))?;
        read.push((party, certificate));
    }
    own.parties = certified::of_others(context.agreement(), context.me(), read);
    own.earlier = plan.plan().earlier().to_vec();
    Ok(own)
}

/// The secret key of this run, drawn once.
fn run_key(context: &mut Context<'_, Message>) -> Result<SealingKey, Error> {
    let KeptKey(key) = context.once("the key of this run", || {
        let key = SealingKey::from_os().map_err(unrandom)?;
        Ok(KeptKey(key))
    })?;
    Ok(key)
}

/// What decides whose rows are held out, drawn once and before anything is paid: nobody else may know it.
fn held_out(ledger: &mut Ledger, context: &mut Context<'_, Message>) -> Result<[u8; 32], Error> {
    let KeptSeed(seed) = context.once("who is held out", || Ok(KeptSeed(ledger.coins()?.seed())))?;
    Ok(seed)
}

/// A seed on its way into the record and out of it.
struct KeptSeed([u8; 32]);

impl Wire for KeptSeed {
    fn write(&self, to: &mut Writer) {
        to.fixed(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.array().map(Self)
    }
}

/// A key on its way into the record and out of it.
struct KeptKey(SealingKey);

impl Wire for KeptKey {
    fn write(&self, to: &mut Writer) {
        to.fixed(self.0.expose());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let key = Zeroizing::new(from.array()?);
        Ok(Self(SealingKey::new(*key)))
    }
}
