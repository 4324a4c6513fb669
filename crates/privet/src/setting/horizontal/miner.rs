//! The party that asks, relays and has no rows.

mod attendance;
mod chain;
mod parts;
mod report;
mod sums;

use std::collections::BTreeMap;

use super::message::Message;
use super::plan::{MinerPlan, Plan};
use super::{Outcome, PATIENCE, Party, schemas};
use crate::Error;
use crate::party::{Context, PartyEvent, PartyId, RunKey, TurnOutcome};
use crate::wire::Wire;
use attendance::Attendance;
use chain::Chaining;
use parts::Averaging;
use report::Reporting;
use sums::{Certifying, Saved, Summing};

/// The party that asks.
pub struct Miner {
    plan: Plan,
    attendance: Attendance,
    stage: Stage,
}

enum Stage {
    /// Owners say that they are there.
    Gathering(BTreeMap<PartyId, Greeting>),
    /// Each owner trains on its own rows.
    Averaging(Averaging),
    /// One owner after another does.
    Chaining(Box<Chaining>),
    /// Owners judge the model that was made of their trees.
    Reporting(Box<Reporting>),
    /// Joint sums.
    Summing(Box<Summing>),
    /// All sums are opened.
    Certifying(Box<Certifying>),
    /// Owners were told why the run ends here.
    Failing(Box<Error>),
}

/// What an owner says first.
struct Greeting {
    schema: Vec<String>,
    key: Option<RunKey>,
}

/// What a stage comes to when an event was handled.
enum Next {
    Wait(Stage),
    Work(Stage),
    Done(Outcome),
}

impl Miner {
    /// The miner of a plan.
    pub fn party(plan: &MinerPlan) -> Party {
        let plan = plan.plan().clone();
        Party::Miner(Self {
            attendance: Attendance::new(&plan),
            plan,
            stage: Stage::Gathering(BTreeMap::new()),
        })
    }

    pub(super) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(super) fn most_bytes(&self) -> u64 {
        self.plan.most_bytes()
    }

    /// The owners whose messages it waits for.
    pub(super) fn waits_for(&self) -> Vec<PartyId> {
        let here = &self.attendance;
        match &self.stage {
            Stage::Gathering(came) => here.missing(|party| came.contains_key(&party)),
            Stage::Averaging(stage) => here.missing(|party| !stage.awaits(party)),
            Stage::Chaining(stage) => here.missing(|party| !stage.awaits(party)),
            Stage::Reporting(stage) => here.missing(|party| !stage.awaits(party)),
            Stage::Summing(stage) => here.missing(|party| !stage.awaits(party)),
            Stage::Certifying(stage) => here.missing(|party| !stage.awaits(party)),
            Stage::Failing(_) => Vec::new(),
        }
    }

    pub(super) fn start(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        context.deadline(PATIENCE, self.plan.patience());
        Ok(TurnOutcome::Continue(Party::Miner(self)))
    }

    pub(super) fn handle(
        mut self,
        event: PartyEvent<Message>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        // Who is there comes first; then the stage takes the message, and goes on if it waits for nobody who is there.
        let mut message = None;
        match event {
            PartyEvent::Message { from, message: said } => {
                if self.attendance.is_excluded(from) {
                    return Ok(TurnOutcome::Continue(Party::Miner(self)));
                }
                self.attendance.is_here(from);
                message = Some((from, said));
            }
            PartyEvent::Gone(party) => self.attendance.is_gone(party),
            PartyEvent::Fault { party, .. } => self.attendance.exclude(party),
            PartyEvent::Deadline(_) => {
                for late in self.waits_for() {
                    self.attendance.is_gone(late);
                }
            }
        }
        self.go_on(message, context)
    }

    fn go_on(
        mut self,
        message: Option<(PartyId, Message)>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let (plan, here) = (&self.plan, &mut self.attendance);
        let next = match self.stage {
            Stage::Gathering(came) => gather(came, message, plan, here, context),
            Stage::Averaging(stage) => stage.take(message, plan, here, context),
            Stage::Chaining(stage) => stage.take(message, plan, here, context),
            Stage::Reporting(stage) => stage.take(message, plan, here, context),
            Stage::Summing(stage) => stage.take(message, plan, here, context),
            Stage::Certifying(stage) => stage.take(message, plan, here, context),
            Stage::Failing(why) => Err(*why),
        }?;
        Ok(match next {
            Next::Wait(stage) => TurnOutcome::Continue(Party::Miner(Self { stage, ..self })),
            Next::Work(stage) => TurnOutcome::Working(Party::Miner(Self { stage, ..self })),
            Next::Done(outcome) => TurnOutcome::Finished(outcome),
        })
    }

    /// Only a run that cannot begin has anything left to do.
    pub(super) fn resume(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Party>, Error> {
        self.go_on(None, context)
    }

    pub(super) fn restore(
        mut self,
        state: &[u8],
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Party>, Error> {
        let saved = Saved::from_bytes(state).map_err(|e| Error::internal(format!("its own state ({e})")))?;
        self.stage = saved.restore(&self.plan, &mut self.attendance, context)?;
        Ok(TurnOutcome::Continue(Party::Miner(self)))
    }
}

/// Waits until every owner has greeted or is gone; then the run begins, if schemas are alike.
fn gather(
    mut came: BTreeMap<PartyId, Greeting>,
    message: Option<(PartyId, Message)>,
    plan: &Plan,
    here: &mut Attendance,
    context: &mut Context<'_, Message>,
) -> Result<Next, Error> {
    match message {
        Some((from, Message::Hello { schema, key })) if !came.contains_key(&from) => {
            came.insert(from, Greeting { schema, key });
        }
        Some((_, Message::Here { .. })) | None => {}
        Some((from, _)) => here.exclude(from),
    }
    if here.misses(|party| came.contains_key(&party)) {
        return Ok(Next::Wait(Stage::Gathering(came)));
    }
    came.retain(|party, _| here.has(*party));
    here.check(&came.keys().copied().collect(), context)?;
    if let Some(stage) = refused(&came, plan, context)? {
        return Ok(Next::Work(stage));
    }
    here.only(came.keys().copied());
    let greetings = came.into_iter().map(|(party, greeting)| (party, greeting.key));
    match plan.protocol() {
        super::Protocol::Averaged => Averaging::begin(here, plan, context),
        super::Protocol::Chain => Chaining::begin(here, plan, context),
        super::Protocol::Aggregated => Summing::begin(greetings, plan, here, context),
    }
}

/// Why the run cannot begin, if schemas are not alike: all owners are told where, before anybody has paid.
fn refused(
    came: &BTreeMap<PartyId, Greeting>,
    plan: &Plan,
    context: &mut Context<'_, Message>,
) -> Result<Option<Stage>, Error> {
    let own = schemas::lines(plan.schema())?;
    let mut lines = Vec::new();
    for (party, greeting) in came {
        lines.extend(schemas::differences(&own, &greeting.schema, context.name(*party)));
    }
    if lines.is_empty() {
        return Ok(None);
    }
    for party in came.keys() {
        context.send(*party, &Message::Refused(lines.clone()))?;
    }
    let why = Error::data(format!(
        "the owners' schemas differ; nobody has paid:\n{}",
        lines.join("\n")
    ));
    Ok(Some(Stage::Failing(Box::new(why))))
}
