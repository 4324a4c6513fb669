//! Roles: what a party does in a protocol.

use std::collections::BTreeSet;

use super::Context;
use crate::Error;
use crate::wire::{RunId, Wire};

/// A party's number in an agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(pub u16);

/// Who takes part in which run: the same for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    run: RunId,
    parties: Vec<String>,
}

impl Agreement {
    /// These parties, by name; a party's number is its place.
    ///
    /// # Errors
    /// [`Error::Parameter`] for fewer than two, or names that are empty, not in one line, or alike.
    pub fn new(run: RunId, parties: Vec<String>) -> Result<Self, Error> {
        let bad = |why: String| Err(Error::parameter("parties", why));
        if !(2..=1000).contains(&parties.len()) {
            return bad(format!("{} parties: 2 to 1000 can take part", parties.len()));
        }
        let mut names = BTreeSet::new();
        for name in &parties {
            if name.is_empty()
                || name.trim() != name
                || name.len() > 100
                || name.chars().any(char::is_control)
            {
                return bad(format!("{name:?} cannot name a party: write one short line"));
            }
            if !names.insert(name) {
                return bad(format!("two parties are called '{name}'"));
            }
        }
        Ok(Self { run, parties })
    }

    /// The run.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// A party's name.
    pub fn name(&self, party: PartyId) -> &str {
        self.parties
            .get(usize::from(party.0))
            .map_or("a stranger", String::as_str)
    }

    /// All parties.
    pub fn parties(&self) -> impl Iterator<Item = PartyId> + use<> {
        (0..self.parties.len() as u16).map(PartyId)
    }
}

/// The state of a role after one turn.
pub enum TurnOutcome<R: Role> {
    /// The role waits for a message.
    Continue(R),
    /// The role has work to do before it takes another message; [`Role::resume`] does the next piece of it.
    Working(R),
    /// The role has its output and takes no more messages.
    Finished(R::Output),
}

/// One party of a protocol, as a state machine that each turn consumes.
///
/// A role must be deterministic given its table and messages; all randomness is derived from [`Context::once`].
pub trait Role: Sized {
    /// The messages of the protocol.
    type Message: Wire;
    /// The party's result.
    type Output;

    /// Begins, and may send first messages.
    ///
    /// # Errors
    /// Any failure. Other parties learn only that it gave up.
    fn start(self, context: &mut Context<'_, Self::Message>) -> Result<TurnOutcome<Self>, Error>;

    /// Takes a message.
    ///
    /// # Errors
    /// [`Error::Peer`] that names the party if the message is out of turn or invalid, and as [`start`](Self::start).
    fn handle(
        self,
        from: PartyId,
        message: Self::Message,
        context: &mut Context<'_, Self::Message>,
    ) -> Result<TurnOutcome<Self>, Error>;

    /// Does the next piece of long work.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    fn resume(self, context: &mut Context<'_, Self::Message>) -> Result<TurnOutcome<Self>, Error>;

    /// The parties whose messages it waits for.
    fn waits_for(&self) -> Vec<PartyId>;
}
