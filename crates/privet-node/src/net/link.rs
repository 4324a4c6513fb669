//! A connection with a party, with the two threads that read and write it. What it brings comes to the party's own thread as events.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use privet::party::PartyId;
use privet::privacy::signature::PublicKey;
use privet::wire::{Header, Wire};

use super::Control;
use super::dial::{Bytes, Socket};
use super::listener::Place;
use super::record::{self, Next};
use super::tls::{TlsReader, TlsWriter};

/// Frames wait in a connection's queue up to this many bytes; the rest waits in the seat.
const QUEUE: usize = 2 << 20;
/// A connection whose other end leaves so many bytes of control messages unread is cut: one message of the largest size, and as much again.
const MOST_UNREAD: usize = 8 << 20;

/// The number of a connection in this process.
pub(super) type LinkId = u64;

static NEXT: AtomicU64 = AtomicU64::new(0);

/// What the threads of connections tell the party.
pub(super) enum Event {
    /// A connection for frames is there.
    Joined(Link),
    /// A connection for control messages is there.
    Controls(Link),
    /// A control message.
    Control(PartyId, LinkId, Control),
    /// A frame of which only the header was read; the rest when that is permitted.
    Begun(PartyId, LinkId, Header),
    /// A whole frame; the next when that is permitted.
    Arrived(PartyId, LinkId, Header, Vec<u8>),
    /// There is room in the queue again.
    Room,
    /// A connection is lost; whether the other broke the rules.
    Lost {
        party: PartyId,
        link: LinkId,
        why: String,
        fault: bool,
    },
    /// No connection can be made, for a reason that does not pass.
    Refused(String),
    /// Something worth a line in the log.
    Note(&'static str, String),
}

impl Event {
    /// Whose connection for frames it is about, and which.
    pub(super) fn of_frames(&self) -> Option<(PartyId, LinkId)> {
        match self {
            Self::Joined(link) => Some((link.party, link.id)),
            Self::Begun(party, link, _) | Self::Arrived(party, link, ..) => Some((*party, *link)),
            _ => None,
        }
    }
}

/// What is to be written.
pub(super) enum Out {
    Frame(Vec<u8>),
    Control(Vec<u8>),
    Close,
}

/// A connection with a party. Dropped, it is cut.
pub(super) struct Link {
    pub(super) party: PartyId,
    pub(super) id: LinkId,
    pub(super) key: PublicKey,
    pub(super) cipher: String,
    pub(super) address: String,
    pub(super) is_relayed: bool,
    pub(super) bytes: Arc<Bytes>,
    socket: Socket,
    out: Sender<Out>,
    /// Whether the reader may go on.
    permits: Sender<()>,
    queued: Arc<AtomicUsize>,
    wanted: Arc<AtomicBool>,
    /// Bytes of control messages that are not written yet.
    told: Arc<AtomicUsize>,
    /// Whether it was cut for leaving too many of them unread.
    is_cut: Arc<AtomicBool>,
    /// Its place among the connections of its party, at the listener.
    pub(super) place: Option<Arc<Place>>,
}

/// What a connection was found to be.
pub(super) struct Known {
    pub(super) party: PartyId,
    pub(super) key: PublicKey,
    pub(super) cipher: String,
    pub(super) is_relayed: bool,
}

/// The reading side of a connection, to be run on a thread of its own.
pub(super) struct Reading {
    party: PartyId,
    id: LinkId,
    reader: TlsReader,
    permits: Receiver<()>,
    is_cut: Arc<AtomicBool>,
    events: Sender<Event>,
    is_told: bool,
}

impl Link {
    /// Starts the writing thread; the reading side is returned.
    pub(super) fn start(
        known: Known,
        socket: Socket,
        (reader, writer): (TlsReader, TlsWriter),
        (events, silence): (&Sender<Event>, Duration),
    ) -> (Self, Reading) {
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let (out, queue) = mpsc::channel();
        let (permits, permitted) = mpsc::channel();
        let link = Self {
            party: known.party,
            id,
            key: known.key,
            cipher: known.cipher,
            address: socket.peer(),
            is_relayed: known.is_relayed,
            bytes: socket.bytes(),
            socket,
            out,
            permits,
            queued: Arc::default(),
            wanted: Arc::default(),
            told: Arc::default(),
            is_cut: Arc::default(),
            place: None,
        };
        let writing = Writing {
            writer,
            queue,
            queued: link.queued.clone(),
            wanted: link.wanted.clone(),
            told: link.told.clone(),
            events: events.clone(),
            socket: link.socket.copy(),
            idle: silence / 4,
        };
        // The system has no thread left: the reader notices that the connection is cut, and the party dials again.
        if thread::Builder::new().spawn(move || writing.run()).is_err() {
            link.socket.cut();
        }
        let reading = Reading {
            party: known.party,
            id,
            reader,
            permits: permitted,
            is_cut: link.is_cut.clone(),
            events: events.clone(),
            is_told: false,
        };
        (link, reading)
    }

    /// A connection without threads: what is said over it comes out of the first, permissions out of the second.
    pub(super) fn to_nowhere(party: PartyId, socket: Socket) -> (Self, Receiver<Out>, Receiver<()>) {
        let (out, said) = mpsc::channel();
        let (permits, permitted) = mpsc::channel();
        let link = Self {
            party,
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            key: PublicKey::from_bytes([0; 32]),
            cipher: String::new(),
            address: String::new(),
            is_relayed: false,
            bytes: socket.bytes(),
            socket,
            out,
            permits,
            queued: Arc::default(),
            wanted: Arc::default(),
            told: Arc::default(),
            is_cut: Arc::default(),
            place: None,
        };
        (link, said, permitted)
    }

    /// Whether a frame may be queued now; if not, an event says when.
    pub(super) fn has_room(&self) -> bool {
        if self.queued.load(Ordering::SeqCst) < QUEUE {
            return true;
        }
        self.wanted.store(true, Ordering::SeqCst);
        // The writer may have been faster.
        self.queued.load(Ordering::SeqCst) < QUEUE
    }

    pub(super) fn send(&self, frame: Vec<u8>) {
        self.queued.fetch_add(frame.len(), Ordering::SeqCst);
        let _ = self.out.send(Out::Frame(frame));
    }

    /// Queues a control message. Whoever asks and never reads the answers is cut off, and its reader says so.
    pub(super) fn tell(&self, message: &Control) {
        let bytes = message.to_bytes();
        let before = self.told.fetch_add(bytes.len(), Ordering::SeqCst);
        if before + bytes.len() > MOST_UNREAD {
            self.is_cut.store(true, Ordering::SeqCst);
            self.socket.cut();
            return;
        }
        let _ = self.out.send(Out::Control(bytes));
    }

    /// Lets the reader go on.
    pub(super) fn permit(&self) {
        let _ = self.permits.send(());
    }

    /// Says good-bye after everything that is queued, and waits for that up to some time.
    pub(super) fn close(self, within: Duration) {
        let until = Instant::now() + within;
        self.queued.fetch_add(1, Ordering::SeqCst);
        if self.out.send(Out::Close).is_err() {
            return;
        }
        while self.queued.load(Ordering::SeqCst) > 0 && Instant::now() < until {
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.socket.cut();
    }
}

/// The writing side of a connection.
struct Writing {
    writer: TlsWriter,
    queue: Receiver<Out>,
    queued: Arc<AtomicUsize>,
    wanted: Arc<AtomicBool>,
    told: Arc<AtomicUsize>,
    events: Sender<Event>,
    socket: Socket,
    /// After so long it says that it is there.
    idle: Duration,
}

impl Writing {
    fn run(mut self) {
        loop {
            let written = match self.queue.recv_timeout(self.idle) {
                Err(RecvTimeoutError::Timeout) => record::alive(&mut self.writer),
                Err(RecvTimeoutError::Disconnected) => break,
                Ok(Out::Close) => {
                    // The end is said before anybody who waits is told that all was written.
                    drop(self.writer);
                    self.queued.store(0, Ordering::SeqCst);
                    return;
                }
                Ok(Out::Control(message)) => {
                    let written = record::control(&mut self.writer, &message);
                    self.told.fetch_sub(message.len(), Ordering::SeqCst);
                    written
                }
                Ok(Out::Frame(frame)) => {
                    let written = record::frame(&mut self.writer, &frame);
                    let before = self.queued.fetch_sub(frame.len(), Ordering::SeqCst);
                    if before - frame.len() < QUEUE && self.wanted.swap(false, Ordering::SeqCst) {
                        let _ = self.events.send(Event::Room);
                    }
                    written
                }
            };
            if written.is_err() {
                // The reader notices, and says so.
                self.socket.cut();
                break;
            }
        }
        self.queued.store(0, Ordering::SeqCst);
    }
}

impl Reading {
    /// Reads until the connection is lost, says so, and gives the reason; none when nobody wants to hear of it any more.
    pub(super) fn run(mut self) -> Option<io::Error> {
        let e = self.read().err()?;
        self.lost(e.to_string(), e.kind() == io::ErrorKind::InvalidData);
        Some(e)
    }

    fn lost(&mut self, why: String, fault: bool) {
        self.is_told = true;
        let _ = self.events.send(Event::Lost {
            party: self.party,
            link: self.id,
            why,
            fault,
        });
    }

    /// `Ok` when nobody wants to hear of it any more.
    fn read(&mut self) -> io::Result<()> {
        loop {
            // What had come before it was cut is not read.
            if self.is_cut.load(Ordering::SeqCst) {
                return Err(io::Error::other("it does not read what it is told"));
            }
            let event = match record::next(&mut self.reader)? {
                Next::Control(message) => {
                    let message = Control::from_bytes(&message)
                        .map_err(|e| io::Error::new(io::ErrorKind::InvalidData, e.to_string()))?;
                    Event::Control(self.party, self.id, message)
                }
                Next::Short(header, bytes) => Event::Arrived(self.party, self.id, header, bytes),
                Next::Long(header, begun) => {
                    if self.said(Event::Begun(self.party, self.id, header)).is_none() {
                        return Ok(());
                    }
                    let bytes = record::rest(&mut self.reader, &header, begun)?;
                    Event::Arrived(self.party, self.id, header, bytes)
                }
            };
            if self.said(event).is_none() {
                return Ok(());
            }
        }
    }

    /// Tells the party, and waits until it may read on.
    fn said(&self, event: Event) -> Option<()> {
        self.events.send(event).ok()?;
        self.permits.recv().ok()
    }
}

impl Drop for Reading {
    /// Also where its thread ends in another way.
    fn drop(&mut self) {
        if !self.is_told {
            self.lost("its reader ended".into(), false);
        }
    }
}
