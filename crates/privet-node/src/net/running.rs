//! The loop of a seat on connections: one event, one piece of work, and what follows from them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use privet::Error;
use privet::party::{PartyId, PartyProgress, Role, Seat, SeatState};
use privet::wire::{Body, Frame, Header};

use super::control::Bundle;
use super::drive::{Drive, Waits};
use super::link::{Event, Link, LinkId};
use super::{Agreed, Control};

/// How often deadlines are looked at, and after how long an idle party says what it has stored.
const TICK: Duration = Duration::from_millis(50);
/// How long a party that has given up stays to say so.
const PARTING: Duration = Duration::from_secs(3);

/// What has come of a party and is not taken yet.
enum Parked {
    Header(Header),
    Frame(Header, Vec<u8>),
}

/// The connection with one party.
struct Peer {
    link: Option<Link>,
    parked: Option<Parked>,
    absent_since: Option<Instant>,
    /// Whether the role was told that it is gone.
    gone: bool,
    /// Whether messages came that it was not told about.
    heard: bool,
}

impl Peer {
    fn new(now: Instant) -> Self {
        Self {
            link: None,
            parked: None,
            absent_since: Some(now),
            gone: false,
            heard: false,
        }
    }

    fn is(&self, link: LinkId) -> bool {
        self.link.as_ref().is_some_and(|own| own.id == link)
    }
}

/// A seat while it runs.
pub(super) struct Running<'a, R: Role> {
    pub(super) seat: Seat<R>,
    /// How long an event is waited for.
    pub(super) tick: Duration,
    peers: BTreeMap<PartyId, Peer>,
    waits: Waits,
    began: Instant,
    timers: BTreeMap<u64, Instant>,
    progress: PartyProgress<'a>,
    bundle: Bundle,
    /// Parties that said that they have given up.
    left: BTreeSet<PartyId>,
    /// Since when the seat has its result, or has given up.
    ended: Option<Instant>,
    /// Since when this party has said that it needs nothing more.
    said_done: Option<Instant>,
}

impl<'a, R: Role> Running<'a, R> {
    pub(super) fn new(
        (seat, me): (Seat<R>, PartyId),
        agreed: &Agreed,
        waits: Waits,
        progress: PartyProgress<'a>,
    ) -> Self {
        let now = Instant::now();
        let neighbours = agreed.agreement.neighbours(me);
        Self {
            peers: neighbours.map(|party| (party, Peer::new(now))).collect(),
            seat,
            tick: TICK,
            waits,
            began: now,
            timers: BTreeMap::new(),
            progress,
            bundle: Bundle {
                terms: agreed.agreement.terms().clone(),
                signatures: agreed.signatures.clone(),
            },
            left: BTreeSet::new(),
            ended: None,
            said_done: None,
        }
    }

    /// One event, one piece of work, and what follows from them.
    pub(super) fn step(&mut self, drive: &mut Drive) -> Result<(), Error> {
        let wait = match self.seat.state() {
            SeatState::Working => {
                self.seat.work(self.progress);
                Duration::ZERO
            }
            _ => self.tick,
        };
        self.pump(drive);
        let event = match drive.stash.pop_front() {
            Some(event) => Some(event),
            None => drive.next(wait),
        };
        let idle = event.is_none() && !wait.is_zero();
        if let Some(event) = event {
            self.take(event, drive)?;
        }
        let parked: Vec<PartyId> = self.parked().collect();
        for party in parked {
            self.admit(party, drive);
        }
        self.clock(drive);
        if idle || self.ended.is_some() {
            self.acknowledge();
        }
        self.pump(drive);
        if self.ended.is_none() && matches!(self.seat.state(), SeatState::Finished | SeatState::Failed) {
            self.ended = Some(Instant::now());
        }
        let waits_for = self.seat.waits_for();
        let names: Vec<&str> = waits_for.iter().map(|party| drive.seats.name(*party)).collect();
        drive.report.waiting_for(&names);
        Ok(())
    }

    fn parked(&self) -> impl Iterator<Item = PartyId> + use<'_, 'a, R> {
        let parked = self.peers.iter().filter(|(_, peer)| peer.parked.is_some());
        parked.map(|(party, _)| *party)
    }

    fn take(&mut self, event: Event, drive: &mut Drive) -> Result<(), Error> {
        match event {
            Event::Controls(link) => {
                let party = link.party;
                drive.controlled(link);
                if self.said_done.is_some() {
                    drive.tell(party, &Control::Done(drive.seats.me));
                }
            }
            Event::Control(party, link, message) => {
                drive.permit_control(party, link);
                self.control(party, message, drive)?;
            }
            Event::Joined(link) => self.joined(link, drive),
            Event::Begun(party, link, header) => self.park(party, link, Parked::Header(header), drive),
            Event::Arrived(party, link, header, bytes) => {
                self.park(party, link, Parked::Frame(header, bytes), drive);
            }
            Event::Lost {
                party,
                link,
                why,
                fault,
            } => self.lost(party, link, (why, fault), drive),
            // Frames are taken from the seat in every step.
            Event::Room => {}
            Event::Refused(why) => drive.report.note("refused", &why),
            Event::Note(what, text) => drive.report.note(what, &text),
        }
        Ok(())
    }

    fn joined(&mut self, link: Link, drive: &Drive) {
        let party = link.party;
        let Some(peer) = self.peers.get_mut(&party) else {
            drive.report.note(
                "refused",
                &format!("{} has nothing to say here", drive.seats.name(party)),
            );
            return;
        };
        drive.report.connected(&link, "frames");
        self.seat.disconnected(party);
        link.send(self.seat.greeting(party));
        drive.report.lost(peer.link.replace(link));
        (peer.parked, peer.absent_since, peer.gone) = (None, None, false);
        self.left.remove(&party);
    }

    fn lost(&mut self, party: PartyId, link: LinkId, (why, fault): (String, bool), drive: &mut Drive) {
        if fault {
            drive
                .report
                .note("malformed", &format!("{}: {why}", drive.seats.name(party)));
        }
        if drive.lost_control(party, link) {
            drive.report.note(
                "disconnected",
                &format!("{}, control: {why}", drive.seats.name(party)),
            );
            return;
        }
        let Some(peer) = self.peers.get_mut(&party).filter(|peer| peer.is(link)) else {
            return;
        };
        drive.report.lost(peer.link.take());
        drive
            .report
            .note("disconnected", &format!("{}: {why}", drive.seats.name(party)));
        (peer.parked, peer.absent_since) = (None, Some(Instant::now()));
        self.seat.disconnected(party);
        if fault {
            let _ = self.seat.fault(party, why, self.progress);
        }
    }

    fn control(&mut self, party: PartyId, message: Control, drive: &mut Drive) -> Result<(), Error> {
        let name = drive.seats.name(party).to_owned();
        match message {
            Control::Opening(opening) if drive.seats.is_listener() => {
                let held = opening.held.as_ref().map(|held| &held.terms);
                let answer = match held == Some(&self.bundle.terms) {
                    true => Control::Agreed {
                        bundle: self.bundle.clone(),
                        done: drive.done.iter().copied().collect(),
                    },
                    false => Control::Refused {
                        plan: None,
                        why: "a run of this plan is going on, and you have no record of it".into(),
                    },
                };
                drive.tell(party, &answer);
            }
            Control::Done(who) if drive.seats.is_listener() && who == party => {
                match drive.done.insert(who) {
                    true => drive.tell_all(&Control::Done(who)),
                    // The others know; it waits for an answer.
                    false => drive.tell(party, &Control::Done(who)),
                }
            }
            Control::Done(who) if !drive.seats.is_listener() => {
                drive.done.insert(who);
            }
            Control::Agreed { bundle, done } if !drive.seats.is_listener() && bundle == self.bundle => {
                drive.done(done);
            }
            Control::Refused { why, .. } if !drive.seats.is_listener() => {
                return Err(Error::peer(name, why));
            }
            _ => {
                let why = format!("{name} sent a control message out of turn");
                drive.report.note("out-of-turn", &why);
            }
        }
        Ok(())
    }

    fn park(&mut self, party: PartyId, link: LinkId, what: Parked, drive: &Drive) {
        if let Some(peer) = self.peers.get_mut(&party).filter(|peer| peer.is(link)) {
            peer.parked = Some(what);
            self.admit(party, drive);
        }
    }

    /// Takes what has come of a party, if its state admits it now.
    fn admit(&mut self, party: PartyId, drive: &Drive) {
        let Some(peer) = self.peers.get_mut(&party) else {
            return;
        };
        let (Some(parked), Some(link)) = (peer.parked.take(), &peer.link) else {
            return;
        };
        let header = match &parked {
            Parked::Header(header) | Parked::Frame(header, _) => *header,
        };
        match (self.seat.admits(party, &header), parked) {
            (Ok(false), parked) => peer.parked = Some(parked),
            (Ok(true), Parked::Header(_)) => link.permit(),
            (Ok(true), Parked::Frame(header, bytes)) => {
                if header.is_message() {
                    peer.heard = true;
                } else if bytes.len() < 1024
                    && let Ok(frame) = Frame::from_bytes(bytes.clone())
                    && frame.body == Body::Aborted
                {
                    drive.report.note("gave-up", drive.seats.name(party));
                    self.left.insert(party);
                }
                drive
                    .report
                    .received(party, bytes.len(), header.begins().is_some());
                if let Err(e) = self.seat.deliver(party, bytes, self.progress) {
                    drive.report.note("late", &e.to_string());
                }
                // Asked again: the seat may have moved the map's place, and so the borrow is over.
                if let Some(link) = self.peers.get(&party).and_then(|peer| peer.link.as_ref()) {
                    link.permit();
                }
            }
            // Nothing more is read of it; what the seat has to say about that is still sent.
            (Err(e), _) => {
                drive.report.note("fault", &e.to_string());
                let why = match e {
                    Error::Peer(e) => e.what,
                    e => e.to_string(),
                };
                let _ = self.seat.fault(party, why, self.progress);
            }
        }
    }

    /// Deadlines of the role, and of whoever is not there.
    fn clock(&mut self, drive: &Drive) {
        let now = Instant::now();
        for (id, after) in self.seat.deadlines() {
            self.timers.insert(id, now + after);
        }
        let due: Vec<u64> = self
            .timers
            .iter()
            .filter(|(_, at)| **at <= now)
            .map(|(id, _)| *id)
            .collect();
        for id in due {
            self.timers.remove(&id);
            self.seat.deadline(id, self.progress);
        }
        let over = now.duration_since(self.began) > self.waits.deadline;
        for (party, peer) in &mut self.peers {
            let away = peer
                .absent_since
                .is_some_and(|since| now.duration_since(since) > self.waits.patience);
            if (away || over) && !peer.gone && !drive.done.contains(party) && self.ended.is_none() {
                peer.gone = true;
                drive.report.note("gone", drive.seats.name(*party));
                self.seat.gone(*party, self.progress);
            }
        }
    }

    /// Tells whoever has sent messages that they are stored.
    fn acknowledge(&mut self) {
        for (party, peer) in &mut self.peers {
            if let Some(link) = peer.link.as_ref().filter(|_| peer.heard) {
                link.send(self.seat.acknowledgement(*party));
                peer.heard = false;
            }
        }
    }

    /// Queues frames where there is room.
    fn pump(&mut self, drive: &Drive) {
        let ready: Vec<PartyId> = self.seat.ready().collect();
        for party in ready {
            let Some(peer) = self.peers.get_mut(&party) else {
                continue;
            };
            let Some(link) = &peer.link else { continue };
            while link.has_room() {
                let Some(sent) = self.seat.next_frame_to(party) else {
                    break;
                };
                let begins = sent.bytes.first_chunk().and_then(|head| Header::read(head).ok());
                let begins = begins.is_some_and(|header| header.begins().is_some());
                drive.report.sent(party, sent.bytes.len(), begins);
                link.send(sent.bytes);
                peer.heard = false;
            }
        }
    }

    /// Whether nobody needs anything more of this party, or it waits no longer.
    pub(super) fn is_over(&mut self, drive: &Drive) -> bool {
        let now = Instant::now();
        if now.duration_since(self.began) > self.waits.deadline + PARTING {
            return true;
        }
        let Some(ended) = self.ended else { return false };
        if self.seat.state() == SeatState::Failed {
            let told = self
                .peers
                .values()
                .all(|peer| peer.link.as_ref().is_none_or(|link| link.has_room()));
            return now.duration_since(ended) > PARTING
                || told && self.seat.ready().next().is_none() && now.duration_since(ended) > 10 * TICK;
        }
        let waits = |party: &PartyId| {
            let peer = self.peers.get(party);
            let away = peer.and_then(|peer| peer.absent_since).unwrap_or(now);
            let away = now.duration_since(away.max(ended)) > self.waits.patience;
            !away && !drive.done.contains(party) && !self.left.contains(party)
        };
        if self.seat.owed().any(|party| waits(&party)) {
            return false;
        }
        let me = drive.seats.me;
        if self.said_done.is_none() {
            self.said_done = Some(now);
            drive.tell_all(&Control::Done(me));
        }
        let said = self.said_done.unwrap_or(now);
        match drive.seats.is_listener() {
            // Others may still speak to each other through this party.
            true => !drive
                .seats
                .all()
                .any(|party| party != me && self.is_needed_by(&party, drive, ended)),
            // Until the listener has heard it.
            false => {
                drive.done.contains(&me)
                    || now.duration_since(said) > self.waits.patience.min(Duration::from_secs(20))
            }
        }
    }

    /// Whether another party may still need the listener.
    fn is_needed_by(&self, party: &PartyId, drive: &Drive, ended: Instant) -> bool {
        let is_connected = drive.controls.contains_key(party);
        let is_awaited = ended.elapsed() < self.waits.patience && !self.left.contains(party);
        !drive.done.contains(party) && (is_connected || is_awaited)
    }

    /// Says good-bye on all connections.
    pub(super) fn part(&mut self, drive: &mut Drive) {
        self.pump(drive);
        for peer in self.peers.values_mut() {
            if let Some(link) = peer.link.take() {
                drive.report.finished(&link);
                link.close(Duration::from_secs(2));
            }
        }
        for (_, link) in std::mem::take(&mut drive.controls) {
            link.close(Duration::from_secs(2));
        }
    }
}
