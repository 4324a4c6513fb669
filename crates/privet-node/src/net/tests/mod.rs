//! Peers that do not follow the rules, over real TLS: the party refuses them, says so, and is still there.

mod hostile;
mod idle;
mod lying;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use privet::Error;
use privet::party::{Agreement, MemoryRecord, PartyId, Role, Seat};
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

/// So many parties, by the keys of [`identity`].
fn check(parties: usize) -> Arc<KeyCheck> {
    let keys: Vec<_> = (0..parties as u16)
        .map(|party| identity(PartyId(party)).public())
        .collect();
    Arc::new(move |key| {
        let place = keys.iter().position(|own| own == key);
        place
            .map(|place| PartyId(place as u16))
            .ok_or(KeyRefusal::Stranger)
    })
}

fn names(agreement: &Agreement) -> Vec<String> {
    agreement
        .parties()
        .map(|party| format!("party {}", party.0))
        .collect()
}

/// How a party ended: what went wrong, what it noted, and its log.
struct Ended {
    outcome: Result<(), Error>,
    report: Arc<Report>,
    log: String,
}

const WAITS: Waits = Waits {
    patience: Duration::from_millis(1500),
    deadline: Duration::from_secs(20),
};

/// How the honest party ends that listens, and whose peer does as `attack` says.
fn met<R: Role>(
    (agreement, seat): (Agreement, Seat<R>),
    (me, peer): (PartyId, PartyId),
    waits: Waits,
    attack: impl FnOnce(&Agreement, PartyId, SocketAddr) + Send + 'static,
) -> Ended {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let files = ReportFiles {
        log: Some(log.clone()),
        ..ReportFiles::default()
    };
    let report = Arc::new(Report::new("a party", names(&agreement), files, |_| {}));
    let bind = SocketAddr::from(([127, 0, 0, 1], 0));
    let seats = Seats {
        names: names(&agreement),
        me,
        listens: me,
        silence: Duration::from_secs(5),
    };
    let check = check(seats.names.len());
    let listened = Drive::listen(bind, (&identity(me), check), seats, report.clone());
    let (mut drive, address) = listened.expect("a port");
    let agreed = Agreed {
        agreement: agreement.clone(),
        signatures: Vec::new(),
        is_resumed: false,
    };
    let attacker = thread::spawn(move || attack(&agreement, peer, address));
    let driven = drive.run(seat, &agreed, waits, QUIET).expect("nobody stops it");
    drop(drive);
    attacker.join().expect("the attacker is done");
    Ended {
        outcome: driven.outcome.map(drop),
        report,
        log: std::fs::read_to_string(log).expect("a log"),
    }
}

/// The same for a party of the vertical setting.
fn attacked(
    kind: u8,
    attack: impl FnOnce(&Agreement, PartyId, SocketAddr) + Send + 'static,
) -> (Result<(), Error>, Arc<Report>) {
    let me = PartyId(u16::from(kind % 2));
    let seat = party(kind, &MemoryRecord::default(), &journal()).expect("a party");
    let ended = met(seat, (me, PartyId(1 - me.0)), WAITS, attack);
    (ended.outcome, ended.report)
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

/// A connection for frames with a party that listens.
fn joined(agreement: &Agreement, own: PartyId, to: PartyId, address: SocketAddr) -> (Socket, Secured) {
    let (socket, mut secured) = dialled(address, &identity(own)).expect("it is known");
    let hello = Hello {
        purpose: Purpose::Frames(to),
        agreement: agreement.digest(),
    };
    record::hello(&mut secured.writer, hello).expect("sent");
    (socket, secured)
}

/// A connection for frames, on which these bytes are sent as they are.
fn sends(
    to: PartyId,
    bytes: impl FnOnce(&Agreement, PartyId) -> Vec<u8> + Send + 'static,
) -> impl FnOnce(&Agreement, PartyId, SocketAddr) + Send {
    move |agreement, own, address| {
        let (socket, mut secured) = joined(agreement, own, to, address);
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

fn framed(agreement: &Agreement, (from, to): (PartyId, PartyId), number: u64, body: Body) -> Vec<u8> {
    let frame = Frame {
        agreement: agreement.digest(),
        from: from.0,
        to: to.0,
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
        let to = PartyId(1 - own.0);
        sends(to, move |agreement, own| {
            framed(agreement, (own, to), 0, Body::Greeting)
        })(agreement, own, place);
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
    let check = check(3);
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
            let report = Report::new("a party", names.clone(), ReportFiles::default(), |_| {});
            let report = Arc::new(report);
            let seats = Seats {
                names,
                me,
                listens: PartyId(2),
                silence: Duration::from_secs(5),
            };
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

fn run_alone<R: Role>(drive: &mut Drive, seat: Seat<R>, agreed: &Agreed, waits: Waits) -> Result<(), Error> {
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
