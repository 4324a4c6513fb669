//! One party of a run: frames in, frames out, over any transport.

mod turns;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::context::{PartyProgress, complain};
use super::edge::{Absence, Edge, Next};
use super::record::{Checkpoint, Item};
use super::recorder::{self, Recorder};
use super::{Agreement, PartyId, Record, Role, RunName};
use crate::Error;
use crate::error::{JournalFault, PeerError};
use crate::wire::{Body, Frame, Header};

/// A frame to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// To whom.
    pub to: PartyId,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The state of a party.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SeatState {
    /// It waits for events; [`Seat::waits_for`] says of whom.
    Waiting,
    /// It has work to do: call [`Seat::work`].
    Working,
    /// It has work to do when others have acknowledged more of what it sent.
    Blocked,
    /// It has its result.
    Finished,
    /// It has given up.
    Failed,
}

enum Holding<R: Role> {
    Waiting(R),
    Working(R),
    Finished(R::Output),
    Failed(Error),
}

/// A party with its role, its record and its place in an agreement.
pub struct Seat<R: Role> {
    agreement: Agreement,
    me: PartyId,
    recorder: Recorder,
    brings: [u8; 32],
    holding: Option<Holding<R>>,
    edges: BTreeMap<PartyId, Edge>,
    /// Parties that a frame waits for.
    ready: BTreeSet<PartyId>,
    /// Parties of which messages were received by digest since the last checkpoint.
    unheld: BTreeSet<PartyId>,
    /// Events other than messages that came while the role could take none: at most two for each party, and deadlines. They change
    /// nothing that is recorded before they are taken from here; after a restart the transport says them again.
    events: VecDeque<Item>,
    deadlines: BTreeMap<u64, Duration>,
    /// Deadlines that the transport has not been told about.
    asked: BTreeMap<u64, Duration>,
}

/// What a record calls the digest of what the party brings.
const BRINGS: &str = "what this party brings";

impl<R: Role> Seat<R> {
    /// Builds the role, starts it, and replays its record if there is one.
    ///
    /// # Errors
    /// [`Error::Journal`] if the record cannot be read, or is of another run, party, agreement or table; the errors of `make`. A role
    /// that fails is a state, not an error.
    pub fn take(
        agreement: Agreement,
        me: PartyId,
        mut record: Box<dyn Record>,
        progress: PartyProgress<'_>,
        make: impl FnOnce(RunName) -> Result<R, Error>,
    ) -> Result<Self, Error> {
        let role = make(recorder::begin(&mut *record, &agreement, me)?)?;
        let brings = role.brings();
        let mut seat = Self {
            agreement,
            me,
            recorder: Recorder::new(record, 1),
            brings,
            holding: None,
            edges: BTreeMap::new(),
            ready: BTreeSet::new(),
            unheld: BTreeSet::new(),
            events: VecDeque::new(),
            deadlines: BTreeMap::new(),
            asked: BTreeMap::new(),
        };
        let is_new = seat.recorder.front()?.is_none();
        let checkpoint = seat.recorder.checkpoint()?;
        let brought = match &checkpoint {
            Some(checkpoint) => checkpoint.brings,
            None => seat.recorder.once(BRINGS, || Ok(brings))?,
        };
        if brought != brings {
            return Err(Error::journal(
                JournalFault::OtherJob,
                "this run was begun with another table: go on with the table it was begun with, or begin a new run",
            ));
        }
        match checkpoint {
            None => seat.turn(progress, |context| role.start(context)),
            Some(Checkpoint {
                state,
                edges,
                deadlines,
                ..
            }) => {
                seat.edges = edges.into_iter().map(Edge::of).collect();
                seat.deadlines = deadlines.into_iter().collect();
                seat.restore(role, &state.whole(), progress);
            }
        }
        seat.go_on(progress);
        if !is_new {
            seat.edges.values_mut().for_each(|edge| edge.paused = true);
            seat.ready.clear();
        }
        seat.asked = seat.deadlines.clone();
        Ok(seat)
    }

    /// The state of the party.
    pub fn state(&self) -> SeatState {
        match &self.holding {
            Some(Holding::Waiting(_)) => SeatState::Waiting,
            Some(Holding::Working(_)) if self.edges.values().any(Edge::is_full) => SeatState::Blocked,
            Some(Holding::Working(_)) => SeatState::Working,
            Some(Holding::Finished(_)) => SeatState::Finished,
            Some(Holding::Failed(_)) | None => SeatState::Failed,
        }
    }

    /// The parties whose messages it waits for.
    pub fn waits_for(&self) -> Vec<PartyId> {
        match &self.holding {
            Some(Holding::Waiting(role)) => role.waits_for(),
            _ => Vec::new(),
        }
    }

    /// How many frames of a party were received.
    pub fn received(&self, from: PartyId) -> u64 {
        self.edges.get(&from).map_or(0, |edge| edge.received)
    }

    /// Whether the frame that begins with this header may be read and delivered now; if not, it may be later, when the state of this
    /// party has changed, and the transport reads no further until then.
    ///
    /// # Errors
    /// [`Error::Peer`] if it is never admitted: it is longer than anything that is expected, or of a stranger. The transport reads nothing
    /// more of this party and calls [`fault`](Self::fault).
    pub fn admits(&mut self, from: PartyId, header: &Header) -> Result<bool, Error> {
        if !self.agreement.speaks(self.me, from) {
            return Err(self.complain(from, "by the agreement it sends nothing here"));
        }
        let edge = self.edges.get(&from);
        if !header.is_message() || edge.is_some_and(|edge| edge.noticed == Absence::Ended) {
            return Ok(true);
        }
        let in_record = edge.map_or(0, |edge| edge.replayed);
        let stalled = match self.recorder.front() {
            Ok(Some(Item::Digest { from: other, .. })) => Some(*other),
            _ => None,
        };
        let role = match &self.holding {
            Some(Holding::Waiting(_)) if stalled.is_some_and(|other| other != from) => return Ok(false),
            Some(Holding::Waiting(role)) => role,
            Some(Holding::Working(_)) => return Ok(false),
            _ => return Ok(true),
        };
        let Some(length) = header.begins() else {
            return Ok(true);
        };
        if header.number() < in_record {
            return Ok(true);
        }
        let most = role
            .most_bytes(from)
            .ok_or_else(|| self.complain(from, "a message out of turn"))?;
        let most = most.min(self.agreement.terms().limits.message_bytes);
        if length > most {
            return Err(self.complain(
                from,
                format!("a message of {length} bytes where at most {most} are expected"),
            ));
        }
        Ok(true)
    }

    /// Receives a frame whose sender the transport has authenticated, and which [`admits`](Self::admits) admitted.
    ///
    /// # Errors
    /// [`Error::Peer`] for a message after the end, or a sender that does not speak to this party; [`Error::Misuse`] if the frame is not
    /// admitted now. The state is unchanged then. Any other fault is an event of the role.
    pub fn deliver(
        &mut self,
        from: PartyId,
        bytes: Vec<u8>,
        progress: PartyProgress<'_>,
    ) -> Result<(), Error> {
        if !self.agreement.speaks(self.me, from) {
            return Err(self.complain(from, "by the agreement it sends nothing here"));
        }
        let header = bytes.first_chunk().map(Header::read);
        if let Some(Ok(header)) = header {
            match self.admits(from, &header) {
                Ok(true) => {}
                Ok(false) => return Err(Error::misuse("a frame is delivered when it is admitted")),
                Err(Error::Peer(e)) => return self.fault(from, e.what, progress),
                Err(e) => return Err(e),
            }
        }
        let taken = Frame::from_bytes(bytes)
            .map_err(|e| e.to_string())
            .and_then(|frame| self.take_in(from, frame));
        let message = match taken {
            Ok(message) => message,
            Err(why) => return self.fault(from, why, progress),
        };
        self.refresh(from);
        match message {
            Some(message) => self.message(from, message, progress),
            None => {
                self.go_on(progress);
                Ok(())
            }
        }
    }

    /// A party did something against the protocol that the transport has noticed. Further faults of the same party change nothing.
    ///
    /// # Errors
    /// [`Error::Peer`] that says so, if this party has already ended, or never speaks to that one.
    pub fn fault(&mut self, party: PartyId, why: String, progress: PartyProgress<'_>) -> Result<(), Error> {
        if self.has_ended() || !self.agreement.speaks(self.me, party) {
            return Err(self.complain(party, why));
        }
        let edge = self.edge(party);
        if edge.noticed == Absence::Ended {
            return Ok(());
        }
        (edge.noticed, edge.partial) = (Absence::Ended, None);
        let why = why.chars().take(200).collect();
        self.events.push_back(Item::Fault { party, why });
        self.go_on(progress);
        Ok(())
    }

    /// A party cannot be reached, and the transport waits for it no longer.
    pub fn gone(&mut self, party: PartyId, progress: PartyProgress<'_>) {
        let speaks = self.agreement.speaks(self.me, party);
        if self.has_ended() || !speaks || self.edge(party).noticed != Absence::Present {
            return;
        }
        let edge = self.edge(party);
        edge.noticed = Absence::Gone;
        if edge.absence == Absence::Present {
            self.events.push_back(Item::Gone(party));
        }
        self.go_on(progress);
    }

    /// The connection to a party is lost: nothing is sent to it before it has greeted over a new one.
    pub fn disconnected(&mut self, party: PartyId) {
        if self.agreement.speaks(self.me, party) {
            self.edge(party).paused = true;
            self.refresh(party);
        }
    }

    /// The deadlines that the role has asked for since this was last asked: their numbers, and after how long they pass.
    pub fn deadlines(&mut self) -> BTreeMap<u64, Duration> {
        std::mem::take(&mut self.asked)
    }

    /// A deadline has passed. Whether the role still waited for it.
    pub fn deadline(&mut self, id: u64, progress: PartyProgress<'_>) -> bool {
        let event = Item::Deadline(id);
        let waited = !self.has_ended() && self.deadlines.contains_key(&id) && !self.events.contains(&event);
        if waited {
            self.events.push_back(event);
            self.go_on(progress);
        }
        waited
    }

    /// Does the next piece of work, if there is any and it is not blocked.
    pub fn work(&mut self, progress: PartyProgress<'_>) {
        if self.state() == SeatState::Working {
            self.resume(progress);
            self.go_on(progress);
        }
    }

    /// The parties that there are frames for.
    pub fn ready(&self) -> impl Iterator<Item = PartyId> {
        self.ready.iter().copied()
    }

    /// The next frame to any party.
    pub fn next_frame(&mut self) -> Option<Sent> {
        let to = *self.ready.first()?;
        self.next_frame_to(to)
    }

    /// The next frame to this party.
    pub fn next_frame_to(&mut self, to: PartyId) -> Option<Sent> {
        let mut frame = self.frame(to);
        let edge = self.edges.get_mut(&to)?;
        let (next, acknowledged) = edge.next()?;
        frame.acknowledged = acknowledged;
        let bytes = match next {
            Next::Part {
                number,
                message,
                part,
            } => {
                frame.number = number;
                frame.part_of(message, part)
            }
            Next::Aborted { number } => {
                frame.number = number;
                frame.to_bytes()
            }
            Next::Acknowledged => {
                frame.body = Body::Acknowledged;
                frame.to_bytes()
            }
        };
        self.refresh(to);
        Some(Sent { to, bytes })
    }

    /// What is sent first over a new connection: how many frames were received, so that the other goes on with the next.
    pub fn greeting(&mut self, to: PartyId) -> Vec<u8> {
        let (number, acknowledged) = {
            let edge = self.edge(to);
            (edge.received, edge.acknowledge())
        };
        let greeting = Frame {
            number,
            acknowledged,
            body: Body::Greeting,
            ..self.frame(to)
        };
        greeting.to_bytes()
    }

    /// A frame that says only what was stored, for a transport that is idle or about to close.
    pub fn acknowledgement(&mut self, to: PartyId) -> Vec<u8> {
        let acknowledged = self.edge(to).acknowledge();
        let frame = Frame {
            acknowledged,
            body: Body::Acknowledged,
            ..self.frame(to)
        };
        frame.to_bytes()
    }

    /// The parties that have not acknowledged all that was sent to them. A party that has ended stays connected until there are none.
    pub fn owed(&self) -> impl Iterator<Item = PartyId> {
        let owed = self.edges.iter().filter(|(_, edge)| edge.is_owed());
        owed.map(|(party, _)| *party)
    }

    /// The party's result.
    ///
    /// # Errors
    /// Why it failed; [`Error::Peer`] with the parties it still waits for.
    pub fn finish(self) -> Result<R::Output, Error> {
        match self.holding {
            Some(Holding::Finished(output)) => Ok(output),
            Some(Holding::Failed(e)) => Err(e),
            Some(Holding::Waiting(role)) => {
                let parties = role.waits_for().into_iter();
                Err(Error::Peer(PeerError {
                    parties: parties.map(|party| self.agreement.name(party).into()).collect(),
                    what: "a message is missing".into(),
                }))
            }
            Some(Holding::Working(_)) | None => Err(Error::misuse("the party was not done")),
        }
    }

    fn has_ended(&self) -> bool {
        matches!(
            self.holding,
            Some(Holding::Finished(_) | Holding::Failed(_)) | None
        )
    }

    fn edge(&mut self, party: PartyId) -> &mut Edge {
        self.edges.entry(party).or_default()
    }

    /// Whether a frame to this party waits.
    fn refresh(&mut self, party: PartyId) {
        match self.edges.get(&party).is_some_and(Edge::is_ready) {
            true => self.ready.insert(party),
            false => self.ready.remove(&party),
        };
    }

    /// An empty frame to a party.
    fn frame(&self, to: PartyId) -> Frame {
        Frame {
            agreement: self.agreement.digest(),
            from: self.me.0,
            to: to.0,
            number: 0,
            acknowledged: 0,
            body: Body::Aborted,
        }
    }

    fn complain(&self, about: PartyId, why: impl std::fmt::Display) -> Error {
        complain(&self.agreement, about, why)
    }
}
