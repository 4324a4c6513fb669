//! Foreign bytes as the connections of a party bring them to its handler: the body of the fuzz target `handler`.

use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use privet::Error;
use privet::party::{Agreement, PartyId, Role, Seat, SeatState};
use privet::wire::{Body, Frame, Wire};

use super::dial::Socket;
use super::drive::{Drive, Waits};
use super::link::{Event, Link, LinkId, Out};
use super::record::{self, Next};
use super::running::Running;
use super::{Agreed, Control, Report, ReportFiles, Seats};

/// Lets a party hear these bytes: each turn begins with a byte that says of whom and what, and with a length in two bytes. Gives how it ended.
/// Records are taken as they are; the bytes of a message are put into the frame that is due, since nobody guesses its seal.
///
/// No byte goes over a network: what a reader would say of the bytes is told to the party's own thread, as its readers do.
///
/// # Errors
/// Whatever the party ends with; never anything else than an error.
pub fn handle<R: Role>(
    (agreement, seat): (Agreement, Seat<R>),
    me: PartyId,
    mut bytes: &[u8],
) -> Result<(), Error> {
    let names: Vec<String> = agreement.parties().map(|party| party.0.to_string()).collect();
    let (parties, quiet) = (names.len() as u16, &|_: &str, _: u64, _: u64| {});
    let seats = Seats {
        names: names.clone(),
        me,
        listens: me,
        silence: Duration::from_secs(1),
    };
    let report = Arc::new(Report::new("foreign", names, ReportFiles::default(), |_| {}));
    let (events, heard) = mpsc::channel();
    let mut drive = Drive::new(seats, None, report, heard);
    let agreed = Agreed {
        agreement,
        signatures: Vec::new(),
        is_resumed: false,
    };
    let waits = Waits {
        patience: Duration::from_secs(3600),
        deadline: Duration::from_secs(3600),
    };
    let mut running = Running::new((seat, me), &agreed, waits, quiet);
    running.tick = Duration::from_nanos(1);
    let mut others = Others {
        agreement: agreed.agreement.digest(),
        me,
        links: BTreeMap::new(),
        numbers: BTreeMap::new(),
        sinks: Vec::new(),
    };
    while let Some((head, rest)) = bytes.split_first_chunk::<3>() {
        let [what, low, high] = *head;
        let length = usize::from(u16::from_le_bytes([low, high])).min(rest.len());
        let (said, rest) = rest.split_at(length);
        bytes = rest;
        for event in others.events(PartyId(u16::from(what >> 4) % parties), what & 15, said) {
            let _ = events.send(event);
            running.step(&mut drive)?;
        }
        running.step(&mut drive)?;
    }
    for _ in 0..50 {
        running.step(&mut drive)?;
        if running.is_over(&drive) {
            break;
        }
    }
    match running.seat.state() {
        SeatState::Working | SeatState::Blocked => Ok(()),
        _ => running.seat.finish().map(drop),
    }
}

/// The connections of the other parties.
struct Others {
    agreement: [u8; 32],
    me: PartyId,
    links: BTreeMap<PartyId, LinkId>,
    /// The number of each party's next message.
    numbers: BTreeMap<PartyId, u64>,
    /// Kept so that what is sent has a place to go.
    sinks: Vec<(Receiver<()>, Receiver<Out>)>,
}

impl Others {
    /// What the party is told.
    fn events(&mut self, party: PartyId, what: u8, said: &[u8]) -> Vec<Event> {
        let mut events = Vec::new();
        if what == 0 || !self.links.contains_key(&party) {
            let (link, out, permits) = Link::to_nowhere(party, socket());
            self.links.insert(party, link.id);
            self.sinks.push((permits, out));
            events.push(Event::Joined(link));
        }
        let link = self.links.get(&party).copied().unwrap_or_default();
        match what {
            1 => {
                if let Ok(control) = Control::from_bytes(said) {
                    events.push(Event::Control(party, link, control));
                }
            }
            2 => events.push(Event::Room),
            3 => events.push(Event::Lost {
                party,
                link,
                why: "lost".into(),
                fault: false,
            }),
            4 => read(party, link, said, &mut events),
            what => {
                let count = said.first().map_or(0, |count| u64::from(*count));
                let number = self.numbers.entry(party).or_default();
                let (number, acknowledged, body) = match what {
                    5 => (count, count, Body::Greeting),
                    6 => (0, count, Body::Acknowledged),
                    7 => (*number, 0, Body::Aborted),
                    _ => {
                        *number += 1;
                        (*number - 1, 0, Body::message(said.to_vec()))
                    }
                };
                let frame = Frame {
                    agreement: self.agreement,
                    from: party.0,
                    to: self.me.0,
                    number,
                    acknowledged,
                    body,
                };
                let mut bytes = Vec::new();
                if record::frame(&mut bytes, &frame.to_bytes()).is_ok() {
                    read(party, link, &bytes, &mut events);
                }
            }
        }
        events
    }
}

/// What a reader says of these bytes, until a record is malformed or they end.
fn read(party: PartyId, link: LinkId, mut bytes: &[u8], events: &mut Vec<Event>) {
    loop {
        match record::next(&mut bytes) {
            Ok(Next::Control(message)) => {
                if let Ok(control) = Control::from_bytes(&message) {
                    events.push(Event::Control(party, link, control));
                }
            }
            Ok(Next::Short(header, frame)) => events.push(Event::Arrived(party, link, header, frame)),
            Ok(Next::Long(header, begun)) => {
                events.push(Event::Begun(party, link, header));
                let Ok(frame) = record::rest(&mut bytes, &header, begun) else {
                    return;
                };
                events.push(Event::Arrived(party, link, header, frame));
            }
            Err(e) => {
                if e.kind() == std::io::ErrorKind::InvalidData {
                    events.push(Event::Lost {
                        party,
                        link,
                        why: e.to_string(),
                        fault: true,
                    });
                }
                return;
            }
        }
    }
}

/// A connection that nobody reads, made once.
fn socket() -> Socket {
    static ENDS: OnceLock<(TcpStream, TcpStream)> = OnceLock::new();
    // Unwrap safety: only fuzzing and its tests come here, on machines with a loopback.
    let (one, _) = ENDS.get_or_init(|| {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let address = listener.local_addr().expect("an address");
        let one = TcpStream::connect(address).expect("a connection");
        (one, listener.accept().expect("a connection").0)
    });
    let copy = one.try_clone().expect("a copy");
    Socket::new(copy, Instant::now()).expect("a socket")
}
