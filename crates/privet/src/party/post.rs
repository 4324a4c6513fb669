//! Frames on their way in a simulation. A frame that is taken at once costs the same however many there are; to put one back costs a look at
//! all open ways.

use std::collections::{BTreeMap, VecDeque};

use sha2::{Digest, Sha256};

use super::PartyId;
use super::simulate::Edge;
use crate::Error;
use crate::privacy::Coins;
use crate::wire::{Body, Frame, Header};

/// From whom to whom.
pub(super) type Way = (PartyId, PartyId);

#[derive(Default)]
pub(super) struct Post {
    frames: BTreeMap<Way, VecDeque<Vec<u8>>>,
    /// Ways with frames that can be carried now.
    open: Vec<Way>,
    /// Ways whose receiver takes nothing now, by receiver.
    parked: BTreeMap<PartyId, Vec<Way>>,
    /// Ways that wait until no other is open.
    postponed: Vec<Way>,
    /// If somebody is built again: digests of all messages, which must be the same then.
    posted: Option<BTreeMap<(Way, u64), [u8; 32]>>,
    pub(super) traffic: BTreeMap<Way, Edge>,
}

impl Post {
    /// An empty post that may compare what is sent twice.
    pub(super) fn new(compares: bool) -> Self {
        Self {
            posted: compares.then(BTreeMap::new),
            ..Self::default()
        }
    }

    /// Takes a frame from its sender.
    pub(super) fn take(&mut self, way: Way, bytes: Vec<u8>) -> Result<(), Error> {
        if let Some(posted) = &mut self.posted
            && let Ok(Frame {
                number,
                body: Body::Part { bytes, .. },
                ..
            }) = Frame::from_bytes(bytes.clone())
        {
            let digest: [u8; 32] = Sha256::digest(&bytes).into();
            if *posted.entry((way, number)).or_insert(digest) != digest {
                return Err(Error::misuse(
                    "a party that was built again sent other frames than before",
                ));
            }
        }
        let edge = self.traffic.entry(way).or_default();
        edge.frames += 1;
        let begins = |head| Header::read(head).ok().and_then(|header| header.begins());
        edge.messages += u64::from(bytes.first_chunk().and_then(begins).is_some());
        edge.bytes += bytes.len() as u64;
        let frames = self.frames.entry(way).or_default();
        frames.push_back(bytes);
        // A way that has frames already is in one of the lists.
        if frames.len() == 1 {
            self.open.push(way);
        }
        Ok(())
    }

    /// The next frame: of a way that is drawn among the open ones.
    pub(super) fn next(&mut self, coins: &mut Coins) -> Option<(Way, Vec<u8>)> {
        if self.open.is_empty() {
            self.open.append(&mut self.postponed);
        }
        while !self.open.is_empty() {
            let place = coins.below(self.open.len() as u64) as usize;
            let way = self.open[place];
            let frames = self.frames.get_mut(&way);
            match frames.and_then(VecDeque::pop_front) {
                Some(bytes) => {
                    if self.frames.get(&way).is_none_or(VecDeque::is_empty) {
                        self.open.swap_remove(place);
                    }
                    return Some((way, bytes));
                }
                None => {
                    self.open.swap_remove(place);
                }
            }
        }
        None
    }

    /// The next frame of one way.
    pub(super) fn overtaking(&mut self, way: Way) -> Option<Vec<u8>> {
        let frames = self.frames.get_mut(&way)?;
        let bytes = frames.pop_front();
        if frames.is_empty() {
            self.open.retain(|other| *other != way);
        }
        bytes
    }

    /// Puts a frame back that its receiver does not take now.
    pub(super) fn park(&mut self, way: Way, bytes: Vec<u8>) {
        self.put_back(way, bytes);
        self.parked.entry(way.1).or_default().push(way);
    }

    /// Puts a frame back that waits until nothing else is to be carried. Whether there is anything else.
    pub(super) fn postpone(&mut self, way: Way, bytes: Vec<u8>) -> bool {
        self.put_back(way, bytes);
        self.postponed.push(way);
        !self.open.is_empty()
    }

    fn put_back(&mut self, way: Way, bytes: Vec<u8>) {
        self.open.retain(|other| *other != way);
        self.frames.entry(way).or_default().push_front(bytes);
    }

    /// A receiver may take frames again.
    pub(super) fn unpark(&mut self, receiver: PartyId) {
        if let Some(ways) = self.parked.remove(&receiver) {
            self.open.extend(ways);
        }
    }

    /// Frames between two parties are lost.
    pub(super) fn lose(&mut self, one: PartyId, other: PartyId) {
        for way in [(one, other), (other, one)] {
            self.frames.remove(&way);
            self.open.retain(|open| *open != way);
            self.postponed.retain(|open| *open != way);
            if let Some(parked) = self.parked.get_mut(&way.1) {
                parked.retain(|open| *open != way);
            }
        }
    }
}
