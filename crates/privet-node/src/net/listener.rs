//! The side that listens: it takes connections, knows their other ends by their keys, and joins the connections of two others.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use privet::party::PartyId;

use super::dial::Socket;
use super::dialer::Keys;
use super::link::{Event, Known, Link};
use super::record::{self, Hello, Purpose};
use super::tls::{Secured, Side, Tls, TlsReader, TlsWriter};
use super::trust::Distrust;
use super::{HANDSHAKE, Seats};

/// Connections whose other end is not known yet, at most.
const STRANGERS: usize = 64;
/// Connections of one party, at most, beside one for each other party: those that were lost on the way are there until they are missed.
const OF_ONE: usize = 64;
/// Said to both when their connections are joined.
pub(super) const GO: u8 = 1;

/// How many connections each party has.
type Open = Arc<Mutex<BTreeMap<PartyId, usize>>>;

/// A connection's place among those of its party; free again when whoever holds the connection has let go of it.
pub(super) struct Place {
    open: Open,
    party: PartyId,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.party) {
            *count = count.saturating_sub(1);
        }
    }
}

/// One of two connections that are to be joined.
struct Half {
    place: Arc<Place>,
    socket: Socket,
    reader: TlsReader,
    writer: TlsWriter,
}

/// What the threads of a listener share.
pub(super) struct Listener {
    tls: Tls,
    keys: Keys,
    seats: Seats,
    events: Sender<Event>,
    strangers: AtomicUsize,
    open: Open,
    /// Connections that wait for their other half: who dialled, and to whom.
    halves: Mutex<BTreeMap<(PartyId, PartyId), Half>>,
}

/// A port that is listened at until this is dropped.
pub(super) struct Listening {
    /// Of which the port may have been chosen by the system.
    pub(super) address: SocketAddr,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Listening {
    /// Frees the port: the thread that waits for connections is woken by one.
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        let own = match self.address.ip() {
            ip if !ip.is_unspecified() => ip,
            IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
        };
        let own = SocketAddr::new(own, self.address.port());
        if TcpStream::connect_timeout(&own, Duration::from_secs(1)).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

impl Listener {
    /// Listens at an address.
    pub(super) fn start(
        bind: SocketAddr,
        (tls, keys): (Tls, Keys),
        seats: Seats,
        events: Sender<Event>,
    ) -> io::Result<Listening> {
        let socket = TcpListener::bind(bind)?;
        let address = socket.local_addr()?;
        let listener = Arc::new(Self {
            tls,
            keys,
            seats,
            events,
            strangers: AtomicUsize::new(0),
            open: Open::default(),
            halves: Mutex::default(),
        });
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        let thread = thread::spawn(move || {
            while !over.load(Ordering::SeqCst) {
                match socket.accept() {
                    Ok(_) if over.load(Ordering::SeqCst) => {}
                    Ok((stream, _)) => listener.accepted(stream),
                    // Too many files are open, or the other was gone at once.
                    Err(_) => thread::sleep(Duration::from_millis(50)),
                }
            }
        });
        Ok(Listening {
            address,
            is_over,
            thread: Some(thread),
        })
    }

    fn accepted(self: &Arc<Self>, stream: TcpStream) {
        if self.strangers.fetch_add(1, Ordering::SeqCst) >= STRANGERS {
            self.strangers.fetch_sub(1, Ordering::SeqCst);
            self.note(
                "too-many-strangers",
                "a connection was closed: too many others are not known yet",
            );
            return;
        }
        let listener = self.clone();
        let thread = thread::Builder::new().spawn(move || {
            let found = listener.known(stream);
            listener.strangers.fetch_sub(1, Ordering::SeqCst);
            if let Some((socket, secured, party, hello)) = found
                && let Some(place) = listener.opens(party)
            {
                listener.dispatch(socket, secured, place, hello);
            }
        });
        // The system has no thread left: the connection is closed, and the party dials again.
        if thread.is_err() {
            self.strangers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Whether a party may have one more connection.
    fn opens(&self, party: PartyId) -> Option<Arc<Place>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(party).or_default();
        let fits = *count < OF_ONE + self.seats.names.len();
        *count += usize::from(fits);
        drop(open);
        if !fits {
            let name = self.seats.name(party);
            self.note(
                "too-many-connections",
                format!("a connection of {name} was closed: it has too many"),
            );
        }
        fits.then(|| {
            Arc::new(Place {
                open: self.open.clone(),
                party,
            })
        })
    }

    fn note(&self, what: &'static str, text: impl Into<String>) {
        let _ = self.events.send(Event::Note(what, text.into()));
    }

    /// Finds out who has dialled and what for. Whoever is not a party of this run, or is silent, is gone after this.
    fn known(&self, stream: TcpStream) -> Option<(Socket, Secured, PartyId, Hello)> {
        let socket = Socket::new(stream, Instant::now() + HANDSHAKE).ok()?;
        let peer = socket.peer();
        let why = Arc::new(Mutex::new(None));
        let (keys, said) = (self.keys.clone(), why.clone());
        let check = Arc::new(move |key: &_| {
            let found: Result<PartyId, Distrust> = keys(key);
            if let Err(distrust) = found {
                let line = match distrust {
                    Distrust::Stranger => "a stranger",
                    Distrust::Expired => "a party whose key has expired in the trust file",
                    Distrust::Revoked => "a party whose key was revoked",
                };
                let line = format!("{line}, with the key {}", key.fingerprint());
                *said.lock().unwrap_or_else(PoisonError::into_inner) = Some(line);
            }
            found.map(drop)
        });
        let halves = (
            Box::new(socket.copy()) as Box<dyn Read + Send>,
            Box::new(socket.copy()) as Box<dyn Write + Send>,
        );
        let secured = self.tls.secure(Side::Listens, check, halves);
        let secured = secured.and_then(|mut secured| {
            let hello = record::read_hello(&mut secured.reader)?;
            Ok((secured, hello))
        });
        let line = why.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (secured, line) {
            (Ok((secured, hello)), None) => {
                let party = (self.keys)(&secured.key).ok()?;
                socket.wait(self.seats.silence).ok()?;
                Some((socket, secured, party, hello))
            }
            (_, Some(line)) => {
                self.note("refused", format!("{line}, from {peer}"));
                None
            }
            (Err(e), None) => {
                self.note(
                    "refused",
                    format!("a connection from {peer} that is not of a party: {e}"),
                );
                None
            }
        }
    }

    fn dispatch(self: &Arc<Self>, socket: Socket, secured: Secured, place: Arc<Place>, hello: Hello) {
        let party = place.party;
        let known = Known {
            party,
            key: secured.key,
            cipher: secured.cipher,
            is_relayed: false,
        };
        let halves = (secured.reader, secured.writer);
        match hello.purpose {
            Purpose::Control => {
                let (mut link, reading) =
                    Link::start(known, socket, halves, (&self.events, self.seats.silence));
                link.place = Some(place.clone());
                if self.events.send(Event::Controls(link)).is_ok() {
                    reading.run();
                }
            }
            Purpose::Frames(with) if with == self.seats.me => {
                let (mut link, reading) =
                    Link::start(known, socket, halves, (&self.events, self.seats.silence));
                link.place = Some(place.clone());
                if self.events.send(Event::Joined(link)).is_ok() {
                    reading.run();
                }
            }
            Purpose::Frames(with) if with != party && usize::from(with.0) < self.seats.names.len() => {
                let (reader, writer) = halves;
                self.join(
                    (party, with),
                    Half {
                        place,
                        socket,
                        reader,
                        writer,
                    },
                );
            }
            Purpose::Frames(_) => self.note("refused", format!("{} dialled nobody", self.seats.name(party))),
        }
    }

    /// Joins the connections of two others, when both are there. An earlier one that waits is replaced.
    fn join(self: &Arc<Self>, (from, to): (PartyId, PartyId), half: Half) {
        let other = {
            let mut halves = self.halves.lock().unwrap_or_else(PoisonError::into_inner);
            match halves.remove(&(to, from)) {
                None => {
                    if let Some(old) = halves.insert((from, to), half) {
                        old.socket.cut();
                    }
                    return;
                }
                Some(other) => (other, half),
            }
        };
        let (mut one, mut two) = other;
        let went = [&mut one.writer, &mut two.writer]
            .into_iter()
            .try_for_each(|writer| writer.write_all(&[GO]).and_then(|()| writer.flush()));
        if went.is_err() {
            one.socket.cut();
            two.socket.cut();
            return;
        }
        let sockets = (one.socket.copy(), two.socket.copy());
        let (reader, writer) = (two.reader, one.writer);
        // Both count until nothing is carried any more.
        let _places = (one.place, two.place);
        match thread::Builder::new().spawn(move || carry(reader, writer, sockets)) {
            Ok(_) => carry(one.reader, two.writer, (one.socket, two.socket)),
            // The system has no thread left: both dial again.
            Err(_) => {
                one.socket.cut();
                two.socket.cut();
            }
        }
    }
}

/// Carries what two others tell each other, sealed, until one of them is gone.
fn carry(mut from: TlsReader, mut to: TlsWriter, (one, two): (Socket, Socket)) {
    let mut buffer = vec![0; 1 << 16];
    loop {
        let carried = from.read(&mut buffer).and_then(|read| {
            if read == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            to.write_all(&buffer[..read])?;
            to.flush()
        });
        if carried.is_err() {
            break;
        }
    }
    drop(to);
    one.cut();
    two.cut();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Identity;

    /// A party that is known cannot take all threads and files by dialling; the others are not touched by that.
    #[test]
    fn a_party_has_so_many_connections_at_most() {
        let names: Vec<String> = ["a", "b", "c"].map(String::from).into();
        let (events, notes) = std::sync::mpsc::channel();
        let most = OF_ONE + names.len();
        let listener = Listener {
            tls: Tls::new(&Identity::from_seed([1; 32])).expect("a key"),
            keys: Arc::new(|_| Err(Distrust::Stranger)),
            seats: Seats {
                names,
                me: PartyId(0),
                listens: PartyId(0),
                silence: Duration::from_secs(1),
            },
            events,
            strangers: AtomicUsize::new(0),
            open: Open::default(),
            halves: Mutex::default(),
        };
        let mut places: Vec<_> = (0..most).filter_map(|_| listener.opens(PartyId(1))).collect();
        assert_eq!(places.len(), most);
        assert!(notes.try_recv().is_err());
        assert!(listener.opens(PartyId(1)).is_none());
        assert!(matches!(
            notes.try_recv(),
            Ok(Event::Note("too-many-connections", _))
        ));
        assert!(listener.opens(PartyId(2)).is_some());
        // A place that two hold is free when both have let go of it.
        let kept = places.pop();
        let copy = kept.clone();
        drop(kept);
        assert!(listener.opens(PartyId(1)).is_none());
        drop(copy);
        let again = listener.opens(PartyId(1));
        assert!(again.is_some() && listener.opens(PartyId(1)).is_none());
    }
}
