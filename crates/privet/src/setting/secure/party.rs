//! The parties of a run: two that compute circuits, or more that add up.

use super::message::Message;
use super::pair::Pair;
use super::plan::Plan;
use super::several::Member;
use super::side::Side;
use super::weak::Round;
use crate::Error;
use crate::data::Table;
use crate::model::Model;
use crate::party::{Context, PartyEvent, PartyId, Role, RunName, TurnOutcome};
use crate::privacy::signature::SigningKey;
use crate::privacy::{Ledger, Neighbours, Private};

/// The initiator's number in every agreement.
pub const INITIATOR: PartyId = PartyId(0);
/// The number of the only responder, or of the first.
pub const RESPONDER: PartyId = PartyId(1);

/// The party that asks. Of three or more, it also relays.
pub struct Initiator;

/// A party that answers.
pub struct Responder;

/// One of the parties.
pub enum Party {
    /// One of two.
    Pair(Box<Pair>),
    /// One of three or more.
    Member(Box<Member>),
}

/// What a party took part for.
#[derive(Debug)]
pub struct Outcome {
    /// The model.
    pub model: Box<Model>,
    /// What each round added; also rounds that added nothing to the model.
    pub rounds: Vec<Round>,
}

/// What a party brings.
pub(super) struct Brings {
    pub(super) table: Table,
    pub(super) ledger: Ledger,
    /// Signs its key of the run, of three parties or more.
    pub(super) identity: Option<SigningKey>,
}

impl Initiator {
    /// The initiator with its table, and the ledger that lists what it shows. `identity` signs its key of the run, as the agreement has it: of three parties
    /// or more each needs one.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was not read as the plan says; [`Error::Parameter`] if an identity is missing.
    pub fn party<N: Neighbours>(
        plan: Plan,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
        identity: Option<SigningKey>,
    ) -> Result<Party, Error> {
        party(INITIATOR, (plan, table), ledger, (run, identity))
    }
}

impl Responder {
    /// A responder with its table, and the ledger that lists what it shows; `identity` as for the [`Initiator`].
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was not read as the plan says; [`Error::Parameter`] if an identity is missing.
    pub fn party<N: Neighbours>(
        plan: Plan,
        table: Table,
        ledger: Ledger<N>,
        run: &RunName,
        identity: Option<SigningKey>,
    ) -> Result<Party, Error> {
        party(RESPONDER, (plan, table), ledger, (run, identity))
    }
}

fn party<N: Neighbours>(
    me: PartyId,
    (plan, table): (Plan, Table),
    ledger: Ledger<N>,
    (run, identity): (&RunName, Option<SigningKey>),
) -> Result<Party, Error> {
    table.is_of(plan.schema(), "Plan::reads")?;
    table.is_whole(plan.keep())?;
    if plan.parties() > 2 && identity.is_none() {
        return Err(Error::parameter(
            "identity",
            "a party of three or more signs its key of the run: it needs an identity",
        ));
    }
    let ledger = ledger.at_run_time();
    let brings = Brings {
        table,
        ledger: ledger.for_run(run.to_text())?,
        identity,
    };
    Ok(match plan.parties() {
        2 => Party::Pair(Box::new(Pair::new(plan, me, brings))),
        _ => Party::Member(Box::new(Member::new(plan, me, brings))),
    })
}

/// Writes down all that will be shown, item by item; only then are rows taken out for the joint computation.
pub(super) fn disclosed(plan: &Plan, brings: Brings) -> Result<(Side, Ledger), Error> {
    let Brings {
        table, mut ledger, ..
    } = brings;
    let items = plan.items();
    let (first, others) = items
        .split_first()
        .ok_or_else(|| Error::internal("a run shows something"))?;
    for item in others {
        ledger.disclose(&item.leak, Private::new(()), item.most)?;
    }
    let cells = ledger.disclose(&first.leak, table.into_cells(), first.most)?;
    Ok((Side::new(plan, cells.into_inner())?, ledger))
}

/// That schemas differ.
pub(super) fn differ(lines: &[String]) -> Error {
    Error::data(format!(
        "the run cannot begin: the schemas of the parties differ, and nothing was shown:\n{}",
        lines.join("\n")
    ))
}

fn of_pair(turn: TurnOutcome<Pair>) -> TurnOutcome<Party> {
    match turn {
        TurnOutcome::Continue(pair) => TurnOutcome::Continue(Party::Pair(Box::new(pair))),
        TurnOutcome::Working(pair) => TurnOutcome::Working(Party::Pair(Box::new(pair))),
        TurnOutcome::Finished(outcome) => TurnOutcome::Finished(outcome),
    }
}

fn of_member(turn: TurnOutcome<Member>) -> TurnOutcome<Party> {
    match turn {
        TurnOutcome::Continue(member) => TurnOutcome::Continue(Party::Member(Box::new(member))),
        TurnOutcome::Working(member) => TurnOutcome::Working(Party::Member(Box::new(member))),
        TurnOutcome::Finished(outcome) => TurnOutcome::Finished(outcome),
    }
}

impl Role for Party {
    type Message = Message;
    type Output = Outcome;

    fn start(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Pair(party) => party.start(context).map(of_pair),
            Self::Member(party) => party.start(context).map(of_member),
        }
    }

    fn handle(
        self,
        event: PartyEvent<Message>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Pair(party) => party.handle(event, context).map(of_pair),
            Self::Member(party) => party.handle(event, context).map(of_member),
        }
    }

    fn resume(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Pair(party) => party.resume(context).map(of_pair),
            Self::Member(party) => party.resume(context).map(of_member),
        }
    }

    fn waits_for(&self) -> Vec<PartyId> {
        match self {
            Self::Pair(party) => party.waits_for(),
            Self::Member(party) => party.waits_for(),
        }
    }

    fn most_bytes(&self, from: PartyId) -> Option<u64> {
        match self {
            Self::Pair(party) => party.most_bytes(from),
            Self::Member(party) => party.most_bytes(from),
        }
    }

    fn restore(self, state: &[u8], context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Pair(party) => party.restore(state, context).map(of_pair),
            Self::Member(_) => Err(Error::internal("a member of several hands over no state")),
        }
    }

    /// The schema. The library does not look at rows for this; whoever stores the record knows them by a keyed fingerprint.
    fn brings(&self) -> [u8; 32] {
        match self {
            Self::Pair(party) => party.brings(),
            Self::Member(party) => party.brings(),
        }
    }
}
