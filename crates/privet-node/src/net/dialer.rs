//! The side that dials: connections to the listener, and through it to other parties, made again whenever they are lost.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use privet::party::PartyId;
use privet::privacy::signature::PublicKey;
use privet::wire::Wire;

use super::dial::{Dial, Socket};
use super::link::{Event, Known, Link};
use super::listener::GO;
use super::record::{self, Hello, Purpose};
use super::tls::{self, Check, Secured, Side, Tls};
use super::trust::Distrust;
use super::{Control, HANDSHAKE, Seats};

/// Which party has a key.
pub(super) type Keys = Arc<dyn Fn(&PublicKey) -> Result<PartyId, Distrust> + Send + Sync>;

/// The shortest and the longest time between two attempts.
const SOON: Duration = Duration::from_millis(50);
const LATER: Duration = Duration::from_secs(2);

/// What the threads of a dialling party share.
pub(super) struct Dialer {
    pub(super) dial: Dial,
    pub(super) tls: Tls,
    pub(super) keys: Keys,
    pub(super) seats: Seats,
    pub(super) events: Sender<Event>,
    /// What the listener is told first over a connection for control messages.
    pub(super) opening: Mutex<Control>,
    /// The digest of the agreement, when there is one.
    pub(super) agreement: Mutex<[u8; 32]>,
    /// Whether refusals end the party: before the run, not during it.
    pub(super) is_opening: AtomicBool,
    /// Whether nobody needs connections any more.
    pub(super) is_over: AtomicBool,
}

impl Dialer {
    /// Keeps a connection for control messages.
    pub(super) fn keep_control(self: &Arc<Self>) {
        let dialer = self.clone();
        thread::spawn(move || dialer.keep(Purpose::Control));
    }

    /// Keeps a connection for frames with a party.
    pub(super) fn keep_frames(self: &Arc<Self>, with: PartyId) {
        let dialer = self.clone();
        thread::spawn(move || dialer.keep(Purpose::Frames(with)));
    }

    fn keep(&self, purpose: Purpose) {
        let mut pause = SOON;
        let mut said = None;
        while !self.is_over.load(Ordering::SeqCst) {
            let began = Instant::now();
            match self.connected(purpose) {
                Ok(Some(())) if began.elapsed() > LATER => pause = SOON,
                Ok(Some(())) => {}
                // Nobody listens to events any more.
                Ok(None) => return,
                Err(e) => {
                    if self.is_opening.load(Ordering::SeqCst)
                        && let Some(why) = self.hopeless(&e)
                    {
                        let _ = self.events.send(Event::Refused(why));
                        return;
                    }
                    let note = Event::Note("no-connection", e.to_string());
                    if said != Some(e.kind()) && self.events.send(note).is_err() {
                        return;
                    }
                    said = Some(e.kind());
                }
            }
            let mut byte = [0];
            // At different times for different parties.
            let _ = getrandom::fill(&mut byte);
            thread::sleep(pause.mul_f64(0.5 + f64::from(byte[0]) / 512.0));
            pause = (pause * 2).min(LATER);
        }
    }

    /// Why it makes no sense to try again, if so.
    fn hopeless(&self, e: &io::Error) -> Option<String> {
        let (listener, address) = (self.seats.name(self.seats.listens), &self.dial.address);
        if tls::is_wrong_key(e) {
            return Some(format!(
                "whoever listens at {address} does not have the key that '{listener}' is trusted by here: check the address, and compare the \
                 fingerprint with `privet keys show` at '{listener}'"
            ));
        }
        let own = self.seats.name(self.seats.me);
        let why = match tls::refused(e)? {
            Distrust::Stranger => "does not know the key of this party",
            Distrust::Expired => "trusted the key of this party until a day that has passed",
            Distrust::Revoked => "has revoked the key of this party",
        };
        Some(format!(
            "'{listener}' {why}: tell it the fingerprint that `privet keys show` says here, for `privet keys trust {own} FINGERPRINT` there"
        ))
    }

    /// A check that takes the key of this party only.
    fn only(&self, party: PartyId) -> Check {
        let keys = self.keys.clone();
        Arc::new(move |key| match keys(key)? {
            found if found == party => Ok(()),
            _ => Err(Distrust::Stranger),
        })
    }

    /// Makes a connection, and reads it until it is lost. Nothing if nobody wants to hear of it.
    fn connected(&self, purpose: Purpose) -> io::Result<Option<()>> {
        let socket = self.dial.connect(HANDSHAKE.min(self.seats.silence))?;
        let halves = (
            Box::new(socket.copy()) as Box<dyn Read + Send>,
            Box::new(socket.copy()) as Box<dyn Write + Send>,
        );
        let mut secured = self
            .tls
            .secure(Side::Dials, self.only(self.seats.listens), halves)?;
        let agreement = *self.agreement.lock().unwrap_or_else(PoisonError::into_inner);
        record::hello(&mut secured.writer, Hello { purpose, agreement })?;
        socket.wait(self.seats.silence)?;
        let (party, mut secured, is_relayed) = match purpose {
            Purpose::Control => (self.seats.listens, secured, false),
            Purpose::Frames(with) if with == self.seats.listens => (with, secured, false),
            Purpose::Frames(with) => (with, self.through(with, &socket, secured)?, true),
        };
        if purpose == Purpose::Control {
            let opening = self
                .opening
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .to_bytes();
            record::control(&mut secured.writer, &opening)?;
        }
        let known = Known {
            party,
            key: secured.key,
            cipher: secured.cipher,
            is_relayed,
        };
        let (link, reading) = Link::start(
            known,
            socket,
            (secured.reader, secured.writer),
            (&self.events, self.seats.silence),
        );
        let event = match purpose {
            Purpose::Control => Event::Controls(link),
            Purpose::Frames(_) => Event::Joined(link),
        };
        if self.events.send(event).is_err() {
            return Ok(None);
        }
        match reading.run() {
            Some(e) if tls::refused(&e).is_some() => Err(e),
            _ => Ok(Some(())),
        }
    }

    /// A connection with another dialling party inside the one with the listener, which sees sealed bytes only. The party of the smaller number
    /// begins.
    fn through(&self, with: PartyId, socket: &Socket, mut outer: Secured) -> io::Result<Secured> {
        // Until the other has dialled, too; then the listener says so. If that takes long, it may have been lost on the way.
        socket.wait(self.seats.silence)?;
        let mut go = [0];
        outer.reader.read_exact(&mut go)?;
        if go != [GO] {
            return Err(io::Error::other("the listener does not join connections"));
        }
        socket.wait(HANDSHAKE.min(self.seats.silence))?;
        let side = match self.seats.me < with {
            true => Side::Dials,
            false => Side::Listens,
        };
        let halves = (
            Box::new(outer.reader) as Box<dyn Read + Send>,
            Box::new(outer.writer) as Box<dyn Write + Send>,
        );
        let inner = self.tls.secure(side, self.only(with), halves)?;
        socket.wait(self.seats.silence)?;
        Ok(inner)
    }
}
