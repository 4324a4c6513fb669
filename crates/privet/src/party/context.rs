//! The context that a role is called with.

use std::marker::PhantomData;

use super::record::Recorder;
use super::{Agreement, PartyId};
use crate::Error;
use crate::privacy::getters;
use crate::wire::{RunId, Wire};

/// Progress callback (what, done, total).
pub(super) type PartyProgress<'a> = &'a dyn Fn(&str, u64, u64);

/// The context of one turn of a role: the other parties, its outbox, its record and a progress callback.
pub struct Context<'a, M> {
    pub(super) agreement: &'a Agreement,
    pub(super) me: PartyId,
    pub(super) recorder: &'a mut Recorder,
    pub(super) outbox: Vec<(PartyId, Vec<u8>)>,
    pub(super) progress: PartyProgress<'a>,
    pub(super) messages: PhantomData<fn(M)>,
}

impl<M: Wire> Context<'_, M> {
    getters! {
        /// The party whose role this is.
        pub me(me) -> PartyId;
        /// The run.
        pub run(agreement.run()) -> RunId;
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

    /// Sends a message when this turn has succeeded.
    pub fn send(&mut self, to: PartyId, message: &M) {
        self.outbox.push((to, message.to_bytes()));
    }

    /// A value that is computed once per run, however often the run is resumed: it is taken from the record if it is there;
    /// otherwise it is computed, stored in the record, and returned.
    ///
    /// Every release for another party, and every secret that a message depends on, is computed in here. The record holds no
    /// private values: only released or random ones.
    ///
    /// # Errors
    /// Those of `make`; [`Error::Journal`] if the value could not be stored, or if the record is of another job.
    pub fn once<T: Wire>(&mut self, what: &str, make: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.recorder.once(what, make)
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
