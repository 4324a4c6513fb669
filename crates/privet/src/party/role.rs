//! Roles: what a party does in a protocol.

use super::Context;
use crate::Error;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// A party's number in an agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartyId(pub u16);

impl Wire for PartyId {
    fn write(&self, to: &mut Writer) {
        to.word(self.0.into());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let number = u16::try_from(from.word()?).map_err(|_| Malformed::new("no such party"))?;
        Ok(Self(number))
    }
}

/// What happens to a party while it waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartyEvent<M> {
    /// A message came.
    Message {
        /// From whom.
        from: PartyId,
        /// What it says.
        message: M,
    },
    /// A party gave up or cannot be reached. If it comes back, its next message says so; until then nothing is sent to it.
    Gone(PartyId),
    /// A party sent something invalid. Nothing more is taken from it or sent to it.
    Fault {
        /// Which party.
        party: PartyId,
        /// What it did.
        why: String,
    },
    /// A deadline that the role had asked for by this number has passed.
    Deadline(u64),
}

impl<M: Wire> PartyEvent<M> {
    /// The message, for a role that cannot go on without any one party: everything else is the error that ends its run.
    ///
    /// # Errors
    /// [`Error::Peer`] that names the party.
    pub fn message(self, context: &Context<'_, M>) -> Result<(PartyId, M), Error> {
        match self {
            Self::Message { from, message } => Ok((from, message)),
            Self::Gone(party) => Err(context.complain(party, "has given up; the reason is shown only there")),
            Self::Fault { party, why } => Err(context.complain(party, why)),
            Self::Deadline(_) => Err(Error::internal("a role that asks for a deadline handles it")),
        }
    }
}

/// The state of a role after one turn.
pub enum TurnOutcome<R: Role> {
    /// The role waits for an event.
    Continue(R),
    /// The role has work to do before it takes another event; [`Role::resume`] does the next piece of it.
    Working(R),
    /// The role has its output and takes no more events.
    Finished(R::Output),
}

/// One party of a protocol, as a state machine that each turn consumes.
///
/// A role must be deterministic given its table and events; all randomness is derived from [`Context::once`].
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

    /// Takes an event.
    ///
    /// # Errors
    /// [`Error::Peer`] that names the party if a message is out of turn or invalid, and as [`start`](Self::start).
    fn handle(
        self,
        event: PartyEvent<Self::Message>,
        context: &mut Context<'_, Self::Message>,
    ) -> Result<TurnOutcome<Self>, Error>;

    /// Does the next piece of long work. A role that sends much sends about one message in each piece, and hands over a checkpoint in
    /// most of them: it is resumed only while its peers have stored most of what it sent before. A restart does all pieces since
    /// the last checkpoint again, without waiting, and holds what they sent.
    ///
    /// # Errors
    /// As [`start`](Self::start).
    fn resume(self, context: &mut Context<'_, Self::Message>) -> Result<TurnOutcome<Self>, Error>;

    /// The parties whose messages it waits for.
    fn waits_for(&self) -> Vec<PartyId>;

    /// The most bytes that a message of this party may have now; none if nothing is expected of it. Asked before a message is read.
    fn most_bytes(&self, from: PartyId) -> Option<u64>;

    /// Goes on from a state that the same role handed to [`Context::checkpoint`], in place of [`start`](Self::start).
    ///
    /// # Errors
    /// As [`start`](Self::start).
    fn restore(
        self,
        _state: &[u8],
        _context: &mut Context<'_, Self::Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        Err(Error::internal("a role that hands over its state takes it back"))
    }

    /// Whether the record holds only a digest of messages of this party, which says them again after a crash. Only for a party
    /// without which the run ends: if it is gone after a restart, the run cannot go on. The role must hand over a checkpoint before it
    /// has received more than [`UNHELD`](super::UNHELD) bytes in this way, and in its last turn.
    fn by_digest(&self, _from: PartyId) -> bool {
        false
    }

    /// A digest of what the party brings, such as its table: a run goes on only with the same.
    fn brings(&self) -> [u8; 32] {
        [0; 32]
    }
}
