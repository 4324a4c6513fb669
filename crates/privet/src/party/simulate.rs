//! All parties in one process: every message is encoded, counted, perhaps tampered with, and decoded again.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::context::PartyProgress;
use super::post::{Post, Way};
use super::{Agreement, Fault, MemoryRecord, PartyId, Record, Role, RunName, Seat, SeatState};
use crate::Error;
use crate::privacy::Coins;
use crate::wire::{Header, RunId};

/// The traffic from one party to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Edge {
    /// Messages.
    pub messages: u64,
    /// Frames: parts of messages, and acknowledgements.
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
    /// How many steps it took: frames carried, and pieces of work.
    pub steps: u64,
    /// Faults that did nothing: there was no frame, nothing to overtake or to be overtaken by, no deadline, or nothing to be written.
    pub unused: Vec<Fault>,
    /// How much time would have passed while parties waited for deadlines.
    pub waited: Duration,
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
type OpenRecord<'a> = Box<dyn FnMut(PartyId) -> Result<Box<dyn Record>, Error> + 'a>;

/// A simulation of all parties in one process.
pub struct Simulation<'a, R> {
    agreement: Agreement,
    make: Make<'a, R>,
    records: Vec<MemoryRecord>,
    /// Opens a party's record, if records are not kept in memory.
    stored: Option<OpenRecord<'a>>,
    going_on: &'a dyn Fn() -> Result<(), Error>,
    faults: BTreeMap<u64, VecDeque<Fault>>,
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
        // Nobody listens: the number need not be new.
        Ok(Self::of(Agreement::new(RunId([0x5e; 16]), parties)?, make))
    }

    /// The parties of an agreement.
    pub fn of(agreement: Agreement, make: impl FnMut(PartyId, RunName) -> Result<R, Error> + 'a) -> Self {
        Self {
            records: agreement.parties().map(|_| MemoryRecord::default()).collect(),
            agreement,
            make: Box::new(make),
            stored: None,
            going_on: &|| Ok(()),
            faults: BTreeMap::new(),
            coins: Coins::from_seed([0; 32]),
            progress: &|_, _, _| {},
        }
    }

    /// Injects a fault at the n-th step, from 0. A step carries a frame or does a piece of work.
    #[must_use]
    pub fn fault(mut self, at: u64, fault: Fault) -> Self {
        self.faults.entry(at).or_default().push_back(fault);
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

    /// Sets the records of the parties.
    #[must_use]
    pub fn with_records(mut self, records: Vec<MemoryRecord>) -> Self {
        for (old, new) in self.records.iter_mut().zip(records) {
            *old = new;
        }
        self
    }

    /// Records that outlive the process: `open` opens a party's. A run that was broken off is taken up where its records end.
    /// [`Fault::Crash`] is for records in memory.
    #[must_use]
    pub fn stored(mut self, open: impl FnMut(PartyId) -> Result<Box<dyn Record>, Error> + 'a) -> Self {
        self.stored = Some(Box::new(open));
        self
    }

    /// Asks before every step whether to go on. Where the answer is an error, [`run`](Self::run) ends with it, and nobody is told: records
    /// are as after a crash.
    #[must_use]
    pub fn while_going_on(mut self, going_on: &'a dyn Fn() -> Result<(), Error>) -> Self {
        self.going_on = going_on;
        self
    }

    /// Records that drop nothing: whoever is built again replays everything.
    #[must_use]
    pub fn without_checkpoints(self) -> Self {
        let records = self.records.iter().map(|_| MemoryRecord::without_checkpoints());
        let records = records.collect();
        self.with_records(records)
    }

    /// The records of the parties; clones share their items.
    pub fn records(&self) -> Vec<MemoryRecord> {
        self.records.clone()
    }

    /// Runs until no party has work, no frame is in transit, no deadline is to pass and nobody is to come back.
    ///
    /// # Errors
    /// The errors of `make`, and [`Error::Misuse`] if a party that was built again sends other frames than before.
    pub fn run(mut self) -> Result<Simulated<R::Output>, Error> {
        let mut begun = false;
        let rebuilt = |fault: &Fault| matches!(fault, Fault::Restart(_) | Fault::Crash(_));
        let mut running = Running {
            seats: Vec::new(),
            post: Post::new(self.faults.values().flatten().any(rebuilt)),
            working: BTreeSet::new(),
            deadlines: BTreeSet::new(),
            due: BTreeMap::new(),
            now: Duration::ZERO,
            absent: BTreeMap::new(),
            crashing: BTreeSet::new(),
            late: Vec::new(),
            unused: Vec::new(),
        };
        for party in self.agreement.parties() {
            let mut record = self.record(party)?;
            begun |= record.read(0)?.is_some();
            let seat = self.seat(party, record)?;
            running.seats.push(seat);
        }
        for party in self.agreement.parties() {
            running.turned(party)?;
        }
        // Somebody had a record: what each has is told first, as over a new connection.
        if begun {
            for party in self.agreement.parties() {
                running.reconnect(&self.agreement, party, self.progress)?;
            }
        }
        let (mut steps, mut of_frames) = (0, VecDeque::new());
        loop {
            (self.going_on)()?;
            for fault in self.faults.remove(&steps).into_iter().flatten() {
                match fault.is_of_frame() {
                    true => of_frames.push_back(fault),
                    false => self.befall(fault, &mut running)?,
                }
            }
            if let Some(party) = running.working.pop_first() {
                running.seats[usize::from(party.0)].work(self.progress);
                steps += 1;
                self.turned(party, &mut running)?;
                continue;
            }
            let Some((way, bytes)) = running.post.next(&mut self.coins) else {
                if running.idle(&self.agreement, self.progress)? {
                    continue;
                }
                break;
            };
            if running.is_absent(way) || !running.admits(way, &bytes) {
                running.post.park(way, bytes);
                continue;
            }
            let arriving = match of_frames.pop_front() {
                Some(Fault::Postpone) => {
                    if !running.post.postpone(way, bytes) {
                        running.unused.push(Fault::Postpone);
                    }
                    continue;
                }
                Some(Fault::Delay) => {
                    let overtaking = running.post.overtaking(way);
                    if overtaking.is_none() {
                        running.unused.push(Fault::Delay);
                    }
                    overtaking.into_iter().chain([bytes]).collect()
                }
                Some(fault) => fault.tamper(bytes),
                None => vec![bytes],
            };
            steps += 1;
            let (from, to) = way;
            for bytes in arriving {
                if !running.admits(way, &bytes) {
                    running.post.park(way, bytes);
                    continue;
                }
                if let Err(e) = running.seats[usize::from(to.0)].deliver(from, bytes, self.progress) {
                    running.late.push(e);
                }
            }
            self.turned(to, &mut running)?;
        }
        for party in running.crashing {
            self.records[usize::from(party.0)].fail_no_more();
            running.unused.push(Fault::Crash(party));
        }
        let ended = |(seat, party): (Seat<R>, PartyId)| match running.absent.contains_key(&party) {
            true => Err(Error::peer(self.agreement.name(party), "it left the run")),
            false => seat.finish(),
        };
        Ok(Simulated {
            outcomes: running
                .seats
                .into_iter()
                .zip(self.agreement.parties())
                .map(ended)
                .collect(),
            late: running.late,
            traffic: running.post.traffic,
            steps,
            unused: of_frames
                .into_iter()
                .chain(running.unused)
                .chain(self.faults.into_values().flatten())
                .collect(),
            waited: running.now,
        })
    }

    /// A party has had a turn, and may have been killed in it.
    fn turned(&mut self, party: PartyId, running: &mut Running<R>) -> Result<(), Error> {
        if running.crashing.contains(&party) && self.records[usize::from(party.0)].has_failed() {
            running.crashing.remove(&party);
            return self.rebuild(party, running);
        }
        running.turned(party)
    }

    fn befall(&mut self, fault: Fault, running: &mut Running<R>) -> Result<(), Error> {
        match fault {
            Fault::Restart(party) => self.rebuild(party, running)?,
            Fault::Crash(party) => {
                self.records[usize::from(party.0)].fail_next();
                running.crashing.insert(party);
            }
            Fault::Disconnect(party) => running.reconnect(&self.agreement, party, self.progress)?,
            Fault::Leave(party) | Fault::Return(party) | Fault::Stall(party) => {
                let comes_back = !matches!(fault, Fault::Leave(_));
                running.absent.insert(party, comes_back);
                running.working.remove(&party);
                for other in self.agreement.neighbours(party) {
                    running.disconnect(party, other);
                    if !matches!(fault, Fault::Stall(_)) {
                        running.seats[usize::from(other.0)].gone(party, self.progress);
                        running.turned(other)?;
                    }
                }
            }
            Fault::Hurry(party) => {
                let due = running.deadlines.iter().find(|(_, who, _)| *who == party);
                if let Some(&(at, _, id)) = due {
                    running.deadlines.remove(&(at, party, id));
                    running.due.remove(&(party, id));
                    running.seats[usize::from(party.0)].deadline(id, self.progress);
                    running.turned(party)?;
                } else {
                    running.unused.push(fault);
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A party is killed and built again.
    fn rebuild(&mut self, party: PartyId, running: &mut Running<R>) -> Result<(), Error> {
        let record = self.record(party)?;
        running.seats[usize::from(party.0)] = self.seat(party, record)?;
        running.deadlines.retain(|(_, who, _)| *who != party);
        running.due.retain(|(who, _), _| *who != party);
        running.reconnect(&self.agreement, party, self.progress)
    }

    fn record(&mut self, party: PartyId) -> Result<Box<dyn Record>, Error> {
        match &mut self.stored {
            Some(open) => open(party),
            None => Ok(Box::new(self.records[usize::from(party.0)].clone())),
        }
    }

    fn seat(&mut self, party: PartyId, record: Box<dyn Record>) -> Result<Seat<R>, Error> {
        let make = &mut self.make;
        Seat::take(self.agreement.clone(), party, record, self.progress, |name| {
            make(party, name)
        })
    }
}

/// A simulation that runs.
struct Running<R: Role> {
    seats: Vec<Seat<R>>,
    post: Post,
    /// Parties that have work to do.
    working: BTreeSet<PartyId>,
    /// When, whose, and which.
    deadlines: BTreeSet<(Duration, PartyId, u64)>,
    /// When each of them passes.
    due: BTreeMap<(PartyId, u64), Duration>,
    now: Duration,
    /// Parties that are not there, and whether they come back.
    absent: BTreeMap<PartyId, bool>,
    crashing: BTreeSet<PartyId>,
    late: Vec<Error>,
    unused: Vec<Fault>,
}

impl<R: Role> Running<R> {
    /// A party has had a turn: its frames, its deadlines, its work.
    fn turned(&mut self, party: PartyId) -> Result<(), Error> {
        let seat = &mut self.seats[usize::from(party.0)];
        while let Some(sent) = seat.next_frame() {
            self.post.take((party, sent.to), sent.bytes)?;
        }
        for (id, after) in seat.deadlines() {
            let due = self.now + after;
            if let Some(before) = self.due.insert((party, id), due) {
                self.deadlines.remove(&(before, party, id));
            }
            self.deadlines.insert((due, party, id));
        }
        match seat.state() {
            SeatState::Working if !self.absent.contains_key(&party) => self.working.insert(party),
            _ => self.working.remove(&party),
        };
        self.post.unpark(party);
        Ok(())
    }

    fn is_absent(&self, (from, to): Way) -> bool {
        self.absent.contains_key(&from) || self.absent.contains_key(&to)
    }

    fn admits(&mut self, (from, to): Way, bytes: &[u8]) -> bool {
        let header = bytes.first_chunk().and_then(|head| Header::read(head).ok());
        // What is refused for good is delivered, so that the party says so.
        header.is_none_or(|header| {
            let admitted = self.seats[usize::from(to.0)].admits(from, &header);
            !matches!(admitted, Ok(false))
        })
    }

    /// Nothing is on its way: the next deadline passes, or else whoever is away comes back. Whether anything happened.
    fn idle(&mut self, agreement: &Agreement, progress: PartyProgress<'_>) -> Result<bool, Error> {
        if let Some((due, party, id)) = self.deadlines.pop_first() {
            self.due.remove(&(party, id));
            if self.seats[usize::from(party.0)].deadline(id, progress) {
                self.now = due;
            }
            self.turned(party)?;
            return Ok(true);
        }
        let back = self.absent.iter().find(|(_, comes_back)| **comes_back);
        let Some(party) = back.map(|(party, _)| *party) else {
            return Ok(false);
        };
        self.absent.remove(&party);
        self.reconnect(agreement, party, progress)?;
        Ok(true)
    }

    /// The connection between two parties is lost, with the frames on their way.
    fn disconnect(&mut self, one: PartyId, other: PartyId) {
        self.post.lose(one, other);
        self.seats[usize::from(one.0)].disconnected(other);
        self.seats[usize::from(other.0)].disconnected(one);
    }

    /// All connections of a party are lost and made again: each says what it has received, and is sent what it lacks.
    fn reconnect(
        &mut self,
        agreement: &Agreement,
        party: PartyId,
        progress: PartyProgress<'_>,
    ) -> Result<(), Error> {
        for other in agreement.neighbours(party) {
            self.disconnect(party, other);
            for (from, to) in [(party, other), (other, party)] {
                let greeting = self.seats[usize::from(from.0)].greeting(to);
                if let Err(e) = self.seats[usize::from(to.0)].deliver(from, greeting, progress) {
                    self.late.push(e);
                }
            }
            self.turned(other)?;
        }
        self.turned(party)
    }
}
