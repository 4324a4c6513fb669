//! What a role is given.

use std::marker::PhantomData;

use super::record::Recorder;
use super::{Agreement, PartyId};
use crate::Error;
use crate::wire::{RunId, Wire};

/// Told what is done, and how much of how much.
pub(super) type Progress<'a> = &'a dyn Fn(&str, u64, u64);

/// What a role is given for one step: whom it can write to, its record, and somebody to tell how far it is.
pub struct Context<'a, M> {
    pub(super) agreement: &'a Agreement,
    pub(super) me: PartyId,
    pub(super) recorder: &'a mut Recorder,
    pub(super) outbox: Vec<(PartyId, Vec<u8>)>,
    pub(super) progress: Progress<'a>,
    pub(super) messages: PhantomData<fn(M)>,
}

impl<M: Wire> Context<'_, M> {
    /// The party whose role this is.
    pub fn me(&self) -> PartyId {
        self.me
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

    /// The run.
    pub fn run(&self) -> RunId {
        self.agreement.run()
    }

    /// Sends a message once this step has ended well.
    pub fn send(&mut self, to: PartyId, message: &M) {
        self.outbox.push((to, message.to_bytes()));
    }

    /// A value that is made once in a run, however often the run is taken up again: from the record if it stands there; else
    /// it is made, written down, and then given.
    ///
    /// Whatever leaves a ledger for another party, and every secret that a message follows from, is made in here. The record is
    /// no place for private values: what is made is released, or random.
    ///
    /// # Errors
    /// Those of `make`; [`Error::Journal`] if it could not be written down, or if the record is of another job.
    pub fn once<T: Wire>(&mut self, what: &str, make: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
        self.recorder.once(what, make)
    }

    /// Says how far a piece of work is.
    pub fn progress(&self, what: &str, done: u64, of: u64) {
        (self.progress)(what, done, of);
    }

    /// What a party did that nobody does who follows the protocol.
    pub fn complain(&self, about: PartyId, why: impl std::fmt::Display) -> Error {
        complain(self.agreement, about, why)
    }
}

pub(super) fn complain(agreement: &Agreement, about: PartyId, why: impl std::fmt::Display) -> Error {
    Error::peer(agreement.name(about), why.to_string())
}
