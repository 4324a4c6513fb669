//! A seat on connections: what arrives is admitted by its role's state, what it sends waits until there is room, and whoever stays away too
//! long is gone.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use privet::Error;
use privet::party::{PartyId, PartyProgress, Role, Seat, SeatState};

use super::agree::is_current;
use super::dialer::{Dialer, Keys};
use super::link::{Event, Link, LinkId};
use super::listener::{Listener, Listening};
use super::running::Running;
use super::tls::Tls;
use super::trust::Distrust;
use super::{Agreed, Control, Dial, Identity, Report, Seats};
use crate::progress::going_on;

/// Which party has a key, asked at every connection.
pub type KeyCheck =
    dyn Fn(&privet::privacy::signature::PublicKey) -> Result<PartyId, KeyRefusal> + Send + Sync;

/// Why a key is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyRefusal {
    /// Nobody is trusted by it.
    Stranger,
    /// Trust in it has ended.
    Expired,
    /// It was revoked.
    Revoked,
}

fn keys(check: Arc<KeyCheck>) -> Keys {
    Arc::new(move |key| {
        check(key).map_err(|why| match why {
            KeyRefusal::Stranger => Distrust::Stranger,
            KeyRefusal::Expired => Distrust::Expired,
            KeyRefusal::Revoked => Distrust::Revoked,
        })
    })
}

/// A party's connections, and the thread that works on what they bring.
pub struct Drive {
    pub(super) seats: Seats,
    pub(super) controls: BTreeMap<PartyId, Link>,
    pub(super) dialer: Option<Arc<Dialer>>,
    /// What is told about the run.
    pub report: Arc<Report>,
    events: Receiver<Event>,
    pub(super) stash: VecDeque<Event>,
    pub(super) done: BTreeSet<PartyId>,
    /// Held for its end.
    _listening: Option<Listening>,
}

impl Drop for Drive {
    /// A process may take part in other runs: nothing of this one goes on.
    fn drop(&mut self) {
        if let Some(dialer) = &self.dialer {
            dialer.is_over.store(true, Ordering::SeqCst);
        }
    }
}

/// How long parties wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    /// For one that is not connected.
    pub patience: Duration,
    /// For the end of the run.
    pub deadline: Duration,
}

/// How a run ended at this party.
pub struct Driven<T> {
    /// Its result, or why it has none.
    pub outcome: Result<T, Error>,
}

impl Drive {
    /// Listens at an address; gives it as well, since the system may have chosen the port.
    ///
    /// # Errors
    /// What the system says.
    pub fn listen(
        bind: SocketAddr,
        (identity, check): (&Identity, Arc<KeyCheck>),
        seats: Seats,
        report: Arc<Report>,
    ) -> io::Result<(Self, SocketAddr)> {
        let (send, events) = mpsc::channel();
        let both = (Tls::new(identity)?, keys(check));
        let listening = Listener::start(bind, both, seats.clone(), send)?;
        let address = listening.address;
        let mut drive = Self::new(seats, None, report, events);
        drive._listening = Some(listening);
        Ok((drive, address))
    }

    /// Dials the listener, as soon as there is something to say.
    ///
    /// # Errors
    /// What the system says.
    pub fn dial(
        dial: Dial,
        (identity, check): (&Identity, Arc<KeyCheck>),
        seats: Seats,
        report: Arc<Report>,
    ) -> io::Result<Self> {
        let (send, events) = mpsc::channel();
        let dialer = Dialer {
            dial,
            tls: Tls::new(identity)?,
            keys: keys(check),
            seats: seats.clone(),
            events: send,
            opening: Mutex::new(Control::Done(seats.me)),
            agreement: Mutex::new([0; 32]),
            is_opening: AtomicBool::new(true),
            is_over: AtomicBool::new(false),
        };
        Ok(Self::new(seats, Some(Arc::new(dialer)), report, events))
    }

    pub(super) fn new(
        seats: Seats,
        dialer: Option<Arc<Dialer>>,
        report: Arc<Report>,
        events: Receiver<Event>,
    ) -> Self {
        Self {
            seats,
            controls: BTreeMap::new(),
            dialer,
            report,
            events,
            stash: VecDeque::new(),
            done: BTreeSet::new(),
            _listening: None,
        }
    }

    /// Begins to dial, with these words. A listener waits.
    pub(super) fn open_with(&self, opening: Control, agreement: [u8; 32]) {
        if let Some(dialer) = &self.dialer {
            *dialer.opening.lock().unwrap_or_else(PoisonError::into_inner) = opening;
            *dialer.agreement.lock().unwrap_or_else(PoisonError::into_inner) = agreement;
            // Whoever goes on with a run does not end because the other is not ready yet.
            dialer.is_opening.store(agreement == [0; 32], Ordering::SeqCst);
            dialer.keep_control();
        }
    }

    /// The next event, after some time at most.
    pub(super) fn next(&mut self, wait: Duration) -> Option<Event> {
        match self.events.recv_timeout(wait) {
            Ok(Event::Note(what, text)) => {
                self.report.note(what, &text);
                None
            }
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }

    /// An event that is for the run. Of each party one connection is kept until then, so that none can fill the memory by dialling again and again.
    pub(super) fn later(&mut self, event: Event) {
        match &event {
            Event::Joined(link) => {
                let party = link.party;
                self.stash
                    .retain(|event| event.of_frames().is_none_or(|(other, _)| other != party));
            }
            // Whoever it was is not connected when the run begins.
            Event::Lost { link, .. } => {
                let lost = *link;
                self.stash
                    .retain(|event| event.of_frames().is_none_or(|(_, link)| link != lost));
                return;
            }
            _ => {}
        }
        self.stash.push_back(event);
    }

    pub(super) fn controlled(&mut self, link: Link) {
        self.report.connected(&link, "control");
        self.report.lost(self.controls.insert(link.party, link));
    }

    pub(super) fn permit_control(&self, party: PartyId, link: LinkId) {
        if is_current(&self.controls, party, link)
            && let Some(link) = self.controls.get(&party)
        {
            link.permit();
        }
    }

    /// Whether the connection that was lost is the party's one for control messages.
    pub(super) fn lost_control(&mut self, party: PartyId, link: LinkId) -> bool {
        let current = is_current(&self.controls, party, link);
        if current {
            self.report.lost(self.controls.remove(&party));
        }
        current
    }

    pub(super) fn tell(&self, party: PartyId, message: &Control) {
        if let Some(link) = self.controls.get(&party) {
            link.tell(message);
        }
    }

    pub(super) fn tell_all(&self, message: &Control) {
        self.controls.values().for_each(|link| link.tell(message));
    }

    pub(super) fn done(&mut self, parties: Vec<PartyId>) {
        self.done.extend(parties);
    }

    /// Lets a seat take part until it has ended and nobody needs anything more of it, or the time is over.
    ///
    /// # Errors
    /// [`Error::Stopped`] if the process is to stop: the record stays, and the run can go on.
    pub fn run<R: Role>(
        &mut self,
        seat: Seat<R>,
        agreed: &Agreed,
        waits: Waits,
        progress: PartyProgress<'_>,
    ) -> Result<Driven<R::Output>, Error> {
        let me = self.seats.me;
        let neighbours: Vec<PartyId> = agreed.agreement.neighbours(me).collect();
        let mut running = Running::new((seat, me), agreed, waits, progress);
        let is_over = running.seat.state() == SeatState::Finished && running.seat.owed().next().is_none();
        // A run that had ended before this process began needs nobody.
        if is_over && agreed.is_resumed {
            return Ok(Driven {
                outcome: running.seat.finish(),
            });
        }
        if let Some(dialer) = &self.dialer {
            dialer.is_opening.store(false, Ordering::SeqCst);
            neighbours.into_iter().for_each(|party| dialer.keep_frames(party));
        }
        loop {
            going_on()?;
            running.step(self)?;
            if running.is_over(self) {
                break;
            }
        }
        running.part(self);
        let outcome = running.seat.finish();
        match &outcome {
            Ok(_) => {}
            // What others did wrong; other errors may be about this party's own rows, which no log shows.
            Err(Error::Peer(e)) => self.report.note("fault", &e.to_string()),
            Err(_) => self.report.note("ended", "without a result"),
        }
        Ok(Driven { outcome })
    }
}
