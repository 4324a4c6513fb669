//! All parties in one process: every message is encoded, counted, perhaps tampered with, and decoded again.

use std::collections::{BTreeMap, VecDeque};

use super::context::PartyProgress;
use super::{Agreement, MemoryRecord, PartyId, Role, RunName, Seat, SeatState, Sent};
use crate::Error;
use crate::privacy::Coins;
use crate::wire::{Body, Frame, RunId};

/// A fault to inject into one frame, or into a party before the frame arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FrameFault {
    /// It never arrives.
    Drop,
    /// It arrives twice.
    Repeat,
    /// The next frame from the same sender to the same receiver overtakes it, if there is one.
    Delay,
    /// Only this many of its bytes arrive.
    Truncate(usize),
    /// One bit of the byte at this place is turned, counted around its end.
    Flip(usize),
    /// It belongs to another run.
    Foreign,
    /// It claims to be a later one.
    Future,
    /// Its message is replaced, in a valid envelope.
    Forge(Vec<u8>),
    /// The party is killed, and built again from its table and its record.
    Restart(PartyId),
}

/// The traffic from one party to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Edge {
    /// Frames.
    pub frames: u64,
    /// Their bytes, envelopes included.
    pub bytes: u64,
}

/// How a simulation ended.
#[derive(Debug)]
pub struct Simulated<T> {
    /// The result of each party, or its error.
    pub outcomes: Vec<Result<T, Error>>,
    /// Errors for frames that arrived after a party had ended.
    pub late: Vec<Error>,
    /// The traffic, by sender and receiver.
    pub traffic: BTreeMap<(PartyId, PartyId), Edge>,
}

impl<T> Simulated<T> {
    /// Bytes from one party to another.
    pub fn bytes(&self, from: PartyId, to: PartyId) -> u64 {
        self.traffic.get(&(from, to)).map_or(0, |edge| edge.bytes)
    }

    /// All outcomes.
    ///
    /// # Errors
    /// The first failure that is not merely the report that another party gave up.
    pub fn all(self) -> Result<Vec<T>, Error> {
        let failures: Vec<&Error> = self.outcomes.iter().filter_map(|o| o.as_ref().err()).collect();
        let own = failures.iter().find(|e| !matches!(e, Error::Peer(_)));
        if let Some(first) = own.or(failures.first()) {
            return Err((*first).clone());
        }
        self.outcomes.into_iter().collect()
    }
}

type Make<'a, R> = Box<dyn FnMut(PartyId, RunName) -> Result<R, Error> + 'a>;

/// A simulation of all parties in one process.
pub struct Simulation<'a, R> {
    agreement: Agreement,
    make: Make<'a, R>,
    records: Vec<MemoryRecord>,
    faults: BTreeMap<u64, FrameFault>,
    coins: Coins,
    progress: PartyProgress<'a>,
}

impl<'a, R: Role> Simulation<'a, R> {
    /// Parties by name. `make` builds a party's role, again after it was killed.
    ///
    /// # Errors
    /// As [`Agreement::new`].
    pub fn new(
        parties: Vec<String>,
        make: impl FnMut(PartyId, RunName) -> Result<R, Error> + 'a,
    ) -> Result<Self, Error> {
        let records = vec![(); parties.len()];
        Ok(Self {
            // Nobody listens: the number need not be new.
            agreement: Agreement::new(RunId([0x5e; 16]), parties)?,
            make: Box::new(make),
            records: records.into_iter().map(|()| MemoryRecord::default()).collect(),
            faults: BTreeMap::new(),
            coins: Coins::from_seed([0; 32]),
            progress: &|_, _, _| {},
        })
    }

    /// Injects a fault into the n-th frame, from 0.
    #[must_use]
    pub fn fault(mut self, at: u64, fault: FrameFault) -> Self {
        self.faults.insert(at, fault);
        self
    }

    /// The seed of the order in which frames are delivered.
    #[must_use]
    pub fn schedule(mut self, seed: [u8; 32]) -> Self {
        self.coins = Coins::from_seed(seed);
        self
    }

    /// Sets the progress callback (what, done, total).
    #[must_use]
    pub fn progress(mut self, progress: PartyProgress<'a>) -> Self {
        self.progress = progress;
        self
    }

    /// The records of the parties; clones share their items.
    pub fn records(&self) -> Vec<MemoryRecord> {
        self.records.clone()
    }

    /// Runs until no party has work and no frame is in transit.
    ///
    /// # Errors
    /// The errors of `make`, and [`Error::Misuse`] if a party that was built again sends other frames than before.
    pub fn run(mut self) -> Result<Simulated<R::Output>, Error> {
        let mut post = Post::default();
        let mut seats = Vec::new();
        for party in self.agreement.parties() {
            let (seat, sent) = self.seat(party)?;
            seats.push(seat);
            post.take(party, sent)?;
        }
        let (mut carried, mut late) = (0, Vec::new());
        loop {
            let working = seats.iter().position(|seat| seat.state() == SeatState::Working);
            if let Some(at) = working {
                let sent = seats[at].work(self.progress);
                post.take(PartyId(at as u16), sent)?;
                continue;
            }
            let Some((from, to, bytes)) = post.next(&mut self.coins) else {
                break;
            };
            let fault = self.faults.remove(&carried);
            carried += 1;
            if let Some(FrameFault::Restart(party)) = fault
                && let Some(seat) = seats.get_mut(usize::from(party.0))
            {
                let (again, sent) = self.seat(party)?;
                *seat = again;
                post.take(party, sent)?;
            }
            for bytes in post.tampered((from, to), bytes, fault) {
                let Some(seat) = seats.get_mut(usize::from(to.0)) else {
                    continue;
                };
                match seat.deliver(from, &bytes, self.progress) {
                    Ok(sent) => post.take(to, sent)?,
                    Err(e) => late.push(e),
                }
            }
        }
        Ok(Simulated {
            outcomes: seats.into_iter().map(Seat::finish).collect(),
            late,
            traffic: post.traffic,
        })
    }

    fn seat(&mut self, party: PartyId) -> Result<(Seat<R>, Vec<Sent>), Error> {
        let record = Box::new(self.records[usize::from(party.0)].clone());
        let make = &mut self.make;
        Seat::take(self.agreement.clone(), party, record, self.progress, |name| {
            make(party, name)
        })
    }
}

/// Frames in transit.
#[derive(Default)]
struct Post {
    waiting: BTreeMap<(PartyId, PartyId), VecDeque<Vec<u8>>>,
    /// Hashes of all frames sent: a party that is built again must send the same.
    posted: BTreeMap<(PartyId, PartyId), Vec<[u8; 32]>>,
    traffic: BTreeMap<(PartyId, PartyId), Edge>,
}

impl Post {
    fn take(&mut self, from: PartyId, sent: Vec<Sent>) -> Result<(), Error> {
        use sha2::{Digest, Sha256};
        for Sent { to, number, bytes } in sent {
            let digest: [u8; 32] = Sha256::digest(&bytes).into();
            let posted = self.posted.entry((from, to)).or_default();
            match posted.get(number as usize) {
                Some(before) if *before == digest => continue,
                Some(_) => {
                    return Err(Error::misuse(
                        "a party that was built again sent other frames than before",
                    ));
                }
                None => posted.push(digest),
            }
            let edge = self.traffic.entry((from, to)).or_default();
            edge.frames += 1;
            edge.bytes += bytes.len() as u64;
            self.waiting.entry((from, to)).or_default().push_back(bytes);
        }
        Ok(())
    }

    fn next(&mut self, coins: &mut Coins) -> Option<(PartyId, PartyId, Vec<u8>)> {
        self.waiting.retain(|_, frames| !frames.is_empty());
        let choice = coins.below(self.waiting.len() as u64) as usize;
        let (&(from, to), frames) = self.waiting.iter_mut().nth(choice)?;
        Some((from, to, frames.pop_front()?))
    }

    /// What arrives instead of a frame.
    fn tampered(
        &mut self,
        edge: (PartyId, PartyId),
        mut bytes: Vec<u8>,
        fault: Option<FrameFault>,
    ) -> Vec<Vec<u8>> {
        let reframed = |bytes: &[u8], change: &dyn Fn(&mut Frame)| {
            Frame::from_bytes(bytes).map_or_else(
                |_| bytes.to_vec(),
                |mut frame| {
                    change(&mut frame);
                    frame.to_bytes()
                },
            )
        };
        match fault {
            None | Some(FrameFault::Restart(_)) => vec![bytes],
            Some(FrameFault::Drop) => Vec::new(),
            Some(FrameFault::Repeat) => vec![bytes.clone(), bytes],
            Some(FrameFault::Delay) => {
                let overtaking = self.waiting.get_mut(&edge).and_then(VecDeque::pop_front);
                overtaking.into_iter().chain([bytes]).collect()
            }
            Some(FrameFault::Truncate(length)) => {
                bytes.truncate(length);
                vec![bytes]
            }
            Some(FrameFault::Flip(at)) => {
                let length = bytes.len().max(1);
                if let Some(byte) = bytes.get_mut(at % length) {
                    *byte ^= 1 << (at % 8);
                }
                vec![bytes]
            }
            Some(FrameFault::Foreign) => vec![reframed(&bytes, &|frame| frame.run = RunId([0xf0; 16]))],
            Some(FrameFault::Future) => vec![reframed(&bytes, &|frame| frame.number += 1)],
            Some(FrameFault::Forge(message)) => {
                vec![reframed(&bytes, &|frame| {
                    frame.body = Body::Message(message.clone());
                })]
            }
        }
    }
}
