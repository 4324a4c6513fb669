//! Peers that do not follow the rules, over real TLS: the party refuses them, says so, and is still there.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use privet::Error;
use privet::party::{Agreement, MemoryRecord, PartyId, Seat};
use privet::wire::{Body, Frame, Wire};
use privet_testkit::parties::{journal, party};

use super::dial::Socket;
use super::record::{self, Hello, Purpose};
use super::tls::{Check, Secured, Side, Tls};
use super::*;
use super::{Agreed, Drive, Identity, Report, ReportFiles, Waits};

const QUIET: &(dyn Fn(&str, u64, u64) + Sync) = &|_, _, _| {};

fn identity(party: PartyId) -> Identity {
    Identity::from_seed([party.0 as u8 + 1; 32])
}

fn check() -> Arc<KeyCheck> {
    let keys = [PartyId(0), PartyId(1)].map(|party| (party, identity(party).public()));
    Arc::new(move |key| {
        let found = keys.iter().find(|(_, own)| own == key);
        found.map(|(party, _)| *party).ok_or(KeyRefusal::Stranger)
    })
}

fn seats(me: PartyId) -> Seats {
    Seats {
        names: vec!["bank".into(), "shop".into()],
        me,
        listens: me,
        silence: Duration::from_secs(5),
    }
}

fn report() -> Arc<Report> {
    Arc::new(Report::new(
        "a party",
        vec!["bank".into(), "shop".into()],
        ReportFiles::default(),
        |_| {},
    ))
}

/// How the honest party ends whose peer does as `attack` says: what went wrong, and what it noted.
fn attacked(
    kind: u8,
    attack: impl FnOnce(&Agreement, PartyId, SocketAddr) + Send + 'static,
) -> (Result<(), Error>, Arc<Report>) {
    let me = PartyId(u16::from(kind % 2));
    let (agreement, seat) = party(kind, &MemoryRecord::default(), &journal()).expect("a party");
    let report = report();
    let bind = SocketAddr::from(([127, 0, 0, 1], 0));
    let own = identity(me);
    let listened = Drive::listen(bind, (&own, check()), seats(me), report.clone());
    let (mut drive, address) = listened.expect("a port");
    let agreed = Agreed {
        agreement: agreement.clone(),
        signatures: Vec::new(),
        is_resumed: false,
    };
    let waits = Waits {
        patience: Duration::from_millis(1500),
        deadline: Duration::from_secs(20),
    };
    let attacker = thread::spawn(move || attack(&agreement, PartyId(1 - me.0), address));
    let driven = drive.run(seat, &agreed, waits, QUIET).expect("nobody stops it");
    attacker.join().expect("the attacker is done");
    (driven.outcome.map(drop), report)
}

fn any() -> Check {
    Arc::new(|_| Ok(()))
}

/// A connection of a party that the other knows.
fn dialled(address: SocketAddr, own: &Identity) -> std::io::Result<(Socket, Secured)> {
    let stream = std::net::TcpStream::connect(address)?;
    let socket = Socket::new(stream, Instant::now() + HANDSHAKE)?;
    let halves = (
        Box::new(socket.copy()) as Box<dyn Read + Send>,
        Box::new(socket.copy()) as Box<dyn Write + Send>,
    );
    let secured = Tls::new(own)?.secure(Side::Dials, any(), halves)?;
    Ok((socket, secured))
}

/// A connection for frames, on which these bytes are sent as they are.
fn sends(
    bytes: impl FnOnce(&Agreement, PartyId) -> Vec<u8> + Send + 'static,
) -> impl FnOnce(&Agreement, PartyId, SocketAddr) + Send {
    move |agreement, own, address| {
        let (socket, mut secured) = dialled(address, &identity(own)).expect("it is known");
        let purpose = Purpose::Frames(PartyId(1 - own.0));
        let agreed = agreement.digest();
        record::hello(
            &mut secured.writer,
            Hello {
                purpose,
                agreement: agreed,
            },
        )
        .expect("sent");
        let _ = secured
            .writer
            .write_all(&bytes(agreement, own))
            .and_then(|()| secured.writer.flush());
        // Until it is refused or has been heard.
        let _ = socket.wait(Duration::from_millis(600));
        let mut rest = [0; 4096];
        while matches!(secured.reader.read(&mut rest), Ok(1..)) {}
    }
}

fn framed(agreement: &Agreement, from: PartyId, number: u64, body: Body) -> Vec<u8> {
    let frame = Frame {
        agreement: agreement.digest(),
        from: from.0,
        to: 1 - from.0.min(1),
        number,
        acknowledged: 0,
        body,
    };
    recorded(&frame.to_bytes())
}

fn recorded(frame: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    record::frame(&mut bytes, frame).expect("memory");
    bytes
}

/// Malformed records, frames out of turn and of others, messages that are none: fifty kinds to each kind of party.
#[test]
fn hostile_peers_are_refused_and_the_party_lives() {
    let kinds: Vec<u8> = match privet_testkit::skipped::full() {
        true => (0..6).collect(),
        false => vec![0, 3],
    };
    for kind in kinds {
        let attacks: u32 = if privet_testkit::skipped::full() { 50 } else { 12 };
        let all: Vec<JoinHandle<()>> = (0..attacks)
            .map(|number| {
                thread::spawn(move || {
                    let (outcome, _) =
                        attacked(kind, sends(move |agreement, own| bytes(number, agreement, own)));
                    let e = outcome.expect_err("no result comes of this");
                    assert!(matches!(e, Error::Peer(_)), "{number}: {e:?}");
                })
            })
            .collect();
        all.into_iter().for_each(|one| one.join().expect("no panic"));
    }
}

fn bytes(number: u32, agreement: &Agreement, own: PartyId) -> Vec<u8> {
    let greeting = framed(agreement, own, 0, Body::Greeting);
    let message = |bytes: Vec<u8>| framed(agreement, own, 0, Body::message(bytes));
    let attack = match number % 12 {
        0 => vec![0xff; 40],
        1 => [&u32::MAX.to_le_bytes()[..], &[3]].concat(),
        2 => [&0_u32.to_le_bytes()[..], &[9]].concat(),
        3 => message(vec![number as u8; number as usize]),
        4 => framed(agreement, own, 7 + u64::from(number), Body::message(vec![1])),
        5 => framed(agreement, PartyId(7), 0, Body::message(vec![1])),
        6 => {
            let other = Agreement::new(privet::wire::RunId([1; 16]), vec!["a".into(), "b".into()]);
            framed(&other.expect("an agreement"), own, 0, Body::message(vec![1]))
        }
        7 => {
            let mut damaged = message(vec![5; 100]);
            let last = damaged.len() - 1 - number as usize % 16;
            damaged[last] ^= 1;
            damaged
        }
        // Longer than anything that the role waits for: its header alone is read.
        8 => framed(
            agreement,
            own,
            0,
            Body::Part {
                total: 1 << 40,
                at: 0,
                bytes: vec![0; 1 << 20],
            },
        ),
        9 => framed(
            agreement,
            own,
            0,
            Body::Part {
                total: 3 << 20,
                at: 1 << 20,
                bytes: vec![0; 1 << 20],
            },
        ),
        10 => framed(agreement, own, u64::MAX, Body::Greeting),
        _ => {
            let mut control = Vec::new();
            record::control(&mut control, &Control::Done(PartyId(number as u16)).to_bytes()).expect("memory");
            [control, message(vec![0; 3])].concat()
        }
    };
    [greeting, attack].concat()
}

/// A key that is not a party's is refused in the handshake, and nothing of its connection reaches the party.
#[test]
fn a_stranger_reaches_nobody() {
    let (outcome, _) = attacked(0, |_, _, address| {
        let stranger = Identity::from_seed([77; 32]);
        // With TLS 1.3 it is told after its own part of the handshake.
        if let Ok((_, mut secured)) = dialled(address, &stranger) {
            let hello = Hello {
                purpose: Purpose::Control,
                agreement: [0; 32],
            };
            let _ = record::hello(&mut secured.writer, hello);
            let mut byte = [0];
            let e = secured.reader.read_exact(&mut byte).expect_err("refused");
            assert_eq!(tls::refused(&e), Some(trust::Distrust::Stranger), "{e}");
        }
    });
    assert!(outcome.is_err(), "nobody came");
}

/// What a connection said is worth nothing over another one.
#[test]
fn a_replayed_connection_is_refused() {
    let (outcome, report) = attacked(0, |agreement, own, address| {
        // A wire that remembers what was sent over it.
        let relay = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let place = relay.local_addr().expect("an address");
        let keeps = thread::spawn(move || {
            let (mut from, _) = relay.accept().expect("the party");
            let mut to = std::net::TcpStream::connect(address).expect("the listener");
            let mut back = (to.try_clone().expect("a copy"), from.try_clone().expect("a copy"));
            thread::spawn(move || std::io::copy(&mut back.0, &mut back.1));
            let (mut kept, mut piece) = (Vec::new(), [0; 4096]);
            while let Ok(read @ 1..) = from.read(&mut piece) {
                kept.extend_from_slice(&piece[..read]);
                let _ = to.write_all(&piece[..read]);
            }
            kept
        });
        sends(|agreement, own| framed(agreement, own, 0, Body::Greeting))(agreement, own, place);
        let kept = keeps.join().expect("bytes");
        assert!(kept.len() > 500);
        let mut again = std::net::TcpStream::connect(address).expect("the listener");
        again.write_all(&kept).expect("sent");
        let mut answer = Vec::new();
        again.set_read_timeout(Some(Duration::from_secs(2))).expect("set");
        let _ = again.read_to_end(&mut answer);
    });
    assert!(outcome.is_err());
    let connections: u64 = report.traffic().iter().map(|peer| peer.connections).sum();
    assert_eq!(connections, 1, "the second one is nobody's");
}

/// Bytes that a listener changes between two others end that connection, and the next one goes on where it was.
#[test]
fn a_tampered_relay_is_noticed_and_overcome() {
    let names: Vec<String> = ["bank", "shop", "relay"].map(String::from).into();
    let keys: Vec<_> = (0..3).map(|place| identity(PartyId(place)).public()).collect();
    let check: Arc<KeyCheck> = Arc::new(move |key| {
        let place = keys.iter().position(|own| own == key);
        place
            .map(|place| PartyId(place as u16))
            .ok_or(KeyRefusal::Stranger)
    });
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || tampering(&listener));
    let play = |kind: u8| {
        let (names, check) = (names.clone(), check.clone());
        thread::spawn(move || {
            let me = PartyId(u16::from(kind % 2));
            let (agreement, seat) = party(kind, &MemoryRecord::default(), &journal()).expect("a party");
            let dial = Dial {
                address: format!("127.0.0.1:{}", address.port())
                    .parse()
                    .expect("an address"),
                proxy: None,
            };
            let seats = Seats {
                names,
                me,
                listens: PartyId(2),
                silence: Duration::from_secs(5),
            };
            let report = report();
            let own = identity(me);
            let mut drive = Drive::dial(dial, (&own, check), seats, report.clone()).expect("a dialler");
            let agreed = Agreed {
                agreement,
                signatures: Vec::new(),
                is_resumed: false,
            };
            let waits = Waits {
                patience: Duration::from_secs(4),
                deadline: Duration::from_secs(60),
            };
            let outcome = run_alone(&mut drive, seat, &agreed, waits);
            let connections: u64 = report.traffic().iter().map(|peer| peer.connections).sum();
            (outcome, connections)
        })
    };
    // Rows are in the same order: label holder and feature holder.
    let both = [play(0), play(1)].map(|one| one.join().expect("no panic"));
    for (outcome, connections) in both {
        outcome.expect("the run ends well");
        assert!(connections >= 2, "the first connection was broken");
    }
}

fn run_alone<R: privet::party::Role>(
    drive: &mut Drive,
    seat: Seat<R>,
    agreed: &Agreed,
    waits: Waits,
) -> Result<(), Error> {
    drive
        .run(seat, agreed, waits, QUIET)
        .and_then(|driven| driven.outcome.map(drop))
}

/// A listener that joins connections of the two others, and changes one byte of the first that it carries behind the handshake.
fn tampering(listener: &TcpListener) {
    let mut round = 0;
    let mut waiting: Option<(PartyId, Secured, Socket)> = None;
    for stream in listener.incoming() {
        let socket =
            Socket::new(stream.expect("a connection"), Instant::now() + HANDSHAKE).expect("a socket");
        let halves = (
            Box::new(socket.copy()) as Box<dyn Read + Send>,
            Box::new(socket.copy()) as Box<dyn Write + Send>,
        );
        let tls = Tls::new(&identity(PartyId(2))).expect("a key");
        let Ok(mut secured) = tls.secure(Side::Listens, any(), halves) else {
            continue;
        };
        let Ok(hello) = record::read_hello(&mut secured.reader) else {
            continue;
        };
        let Purpose::Frames(with) = hello.purpose else {
            continue;
        };
        socket.wait(Duration::from_secs(5)).expect("set");
        match waiting.take() {
            Some((from, mut one, other)) if from == with => {
                for writer in [&mut one.writer, &mut secured.writer] {
                    writer
                        .write_all(&[listener::GO])
                        .and_then(|()| writer.flush())
                        .expect("told");
                }
                round += 1;
                let tampers = round == 1;
                let mut ways = [(one.reader, secured.writer), (secured.reader, one.writer)];
                let sockets = [other.copy(), socket.copy()];
                let [first, second] = &mut ways;
                thread::scope(|scope| {
                    for (reader, writer) in [first, second] {
                        let sockets = &sockets;
                        scope.spawn(move || {
                            let (mut carried, mut piece) = (0, [0; 4096]);
                            while let Ok(read @ 1..) = reader.read(&mut piece) {
                                carried += read;
                                if tampers && carried > 700 {
                                    piece[read - 1] ^= 1;
                                }
                                if writer
                                    .write_all(&piece[..read])
                                    .and_then(|()| writer.flush())
                                    .is_err()
                                {
                                    break;
                                }
                            }
                            sockets.iter().for_each(Socket::cut);
                        });
                    }
                });
            }
            _ => waiting = Some((PartyId(1 - with.0), secured, socket)),
        }
    }
}
