//! The context that a role is called with.

use std::marker::PhantomData;
use std::time::Duration;

use super::recorder::Recorder;
use super::wiped::Wiped;
use super::{Agreement, PartyId};
use crate::Error;
use crate::privacy::getters;
use crate::wire::{RunId, Wire};

/// Progress callback (what, done, total).
pub type PartyProgress<'a> = &'a (dyn Fn(&str, u64, u64) + Sync);

/// What a role has asked for in one turn, done when the turn has succeeded.
#[derive(Default)]
pub(super) struct Asked {
    pub(super) messages: Vec<(PartyId, Vec<u8>)>,
    pub(super) deadlines: Vec<(u64, Duration)>,
    pub(super) checkpoint: Option<Wiped>,
}

impl Asked {
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.deadlines.is_empty() && self.checkpoint.is_none()
    }
}

/// The context of one turn of a role: the other parties, its outbox, its record and a progress callback.
pub struct Context<'a, M> {
    pub(super) agreement: &'a Agreement,
    pub(super) me: PartyId,
    pub(super) recorder: &'a mut Recorder,
    pub(super) asked: Asked,
    pub(super) progress: PartyProgress<'a>,
    pub(super) messages: PhantomData<fn(M)>,
}

impl<'a, M: Wire> Context<'a, M> {
    getters! {
        /// The party whose role this is.
        pub me(me) -> PartyId;
        /// The run.
        pub run(agreement.run()) -> RunId;
        /// What was agreed on.
        pub agreement(agreement) -> &Agreement;
    }

    /// All other parties.
    pub fn others(&self) -> Vec<PartyId> {
        self.agreement
            .parties()
            .filter(|party| *party != self.me)
            .collect()
    }

    /// A party's name.
    pub fn name(&self, party: PartyId) -> &str {
        self.agreement.name(party)
    }

    /// Sends a message when this turn has succeeded. A party that is gone is sent nothing.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the agreement does not let this party speak to that one; [`Error::Parameter`] if the message is longer than
    /// was agreed on.
    pub fn send(&mut self, to: PartyId, message: &M) -> Result<(), Error> {
        if !self.agreement.speaks(self.me, to) {
            return Err(Error::misuse(format!(
                "by the agreement '{}' sends nothing to party {} ({})",
                self.agreement.name(self.me),
                to.0,
                self.agreement.name(to)
            )));
        }
        let bytes = message.to_bytes();
        let most = self.agreement.terms().limits.message_bytes;
        if bytes.len() as u64 > most {
            let why = format!(
                "a message of {} bytes to '{}', and the parties agreed on at most {most}",
                bytes.len(),
                self.agreement.name(to)
            );
            return Err(Error::parameter("message_bytes", why));
        }
        self.asked.messages.push((to, bytes));
        Ok(())
    }

    /// A secret or a choice that is made once per run, however often the run is resumed: it is taken from the record if it is there;
    /// otherwise it is made. It is stored with its turn, before a message of that turn leaves. If the turn fails, nobody has seen
    /// anything of it, and a restart makes another.
    ///
    /// # Errors
    /// Those of `make`; [`Error::Journal`] if the record cannot be read, or is of another job.
    pub fn once<T: Wire>(&mut self, what: &str, make: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.recorder.once(what, make)
    }

    /// Asks for the event [`Deadline`](super::PartyEvent::Deadline) with this number after some time. Asked again before that, the
    /// time begins again. After a restart it begins again, too.
    pub fn deadline(&mut self, id: u64, after: Duration) {
        self.asked.deadlines.push((id, after));
    }

    /// Hands over the state that the role has after this turn. A restart goes on from it with [`Role::restore`](super::Role::restore),
    /// and earlier items of the record are dropped.
    pub fn checkpoint(&mut self, state: &impl Wire) {
        self.asked.checkpoint = Some(Wiped::of(state));
    }

    /// The progress callback, for work that is done while something is made [`once`](Self::once).
    pub fn progress_callback(&self) -> PartyProgress<'a> {
        self.progress
    }

    /// Reports the progress of a piece of work.
    pub fn progress(&self, what: &str, done: u64, of: u64) {
        (self.progress)(what, done, of);
    }

    /// The error for a party that violated the protocol.
    pub fn complain(&self, about: PartyId, why: impl std::fmt::Display) -> Error {
        complain(self.agreement, about, why)
    }
}

pub(super) fn complain(agreement: &Agreement, about: PartyId, why: impl std::fmt::Display) -> Error {
    Error::peer(agreement.name(about), why.to_string())
}
