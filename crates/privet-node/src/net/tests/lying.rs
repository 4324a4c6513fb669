//! A miner that shows some owners other survivors than the rest: nothing is opened, and every owner says who is at fault.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{self, Receiver};

use privet::party::SeatState;
use privet::setting::horizontal::{MINER, Message, Party, Protocol};
use privet_testkit::owners::owner;

use super::super::record::Next;
use super::super::tls::TlsWriter;
use super::*;

/// Two miners in one: the first speaks to the owners 3 and 4 and hears everybody's shares, the second to 1 and 2 and never hears of the shares of 4.
struct Miners {
    seats: [Seat<Party>; 2],
    timers: [BTreeMap<u64, Instant>; 2],
    writers: BTreeMap<PartyId, TlsWriter>,
    /// Owners of which the second hears nothing more.
    deaf: BTreeSet<PartyId>,
    /// To whom survivors were told, and by which of the two.
    told: Vec<(PartyId, usize)>,
    /// Whether a sum was opened.
    opened: bool,
}

/// The one that speaks to an owner.
fn speaks(to: PartyId) -> usize {
    usize::from(to.0 <= 2)
}

fn message(frame: &[u8]) -> Option<Message> {
    match Frame::from_bytes(frame.to_vec()).ok()?.body {
        Body::Part { total, at: 0, bytes } if total == bytes.len() as u64 => Message::from_bytes(&bytes).ok(),
        _ => None,
    }
}

impl Miners {
    /// Lets both work, and sends what they have to say.
    fn speak(&mut self) {
        for own in 0..2 {
            while self.seats[own].state() == SeatState::Working {
                self.seats[own].work(QUIET);
            }
            for to in self.writers.keys().copied().collect::<Vec<_>>() {
                while let Some(sent) = self.seats[own].next_frame_to(to) {
                    if speaks(to) != own {
                        continue;
                    }
                    match message(&sent.bytes) {
                        Some(Message::Survivors { .. }) => self.told.push((to, own)),
                        Some(Message::Opened { sums, .. }) => self.opened |= !sums.is_empty(),
                        _ => {}
                    }
                    self.send(to, &sent.bytes);
                }
            }
        }
    }

    fn send(&mut self, to: PartyId, frame: &[u8]) {
        if let Some(writer) = self.writers.get_mut(&to) {
            let _ = record::frame(writer, frame);
        }
    }

    fn hear(&mut self, from: PartyId, frame: Vec<u8>) {
        let said = message(&frame);
        if from == PartyId(4) && matches!(said, Some(Message::Shares { .. })) {
            self.deaf.insert(from);
        }
        for own in 0..2 {
            let is_answer = matches!(said, Some(Message::Answer { .. }));
            let is_deaf = own == 1 && self.deaf.contains(&from);
            if !is_deaf && (!is_answer || speaks(from) == own) {
                let _ = self.seats[own].deliver(from, frame.clone(), QUIET);
            }
        }
        let stored = self.seats[speaks(from)].acknowledgement(from);
        self.send(from, &stored);
    }

    fn clock(&mut self) {
        let now = Instant::now();
        for (seat, timers) in self.seats.iter_mut().zip(&mut self.timers) {
            timers.extend(seat.deadlines().into_iter().map(|(id, after)| (id, now + after)));
            let due: Vec<u64> = timers
                .iter()
                .filter(|(_, at)| **at <= now)
                .map(|(id, _)| *id)
                .collect();
            for id in due {
                timers.remove(&id);
                seat.deadline(id, QUIET);
            }
        }
    }

    fn play(&mut self, heard: &Receiver<(PartyId, Vec<u8>)>) {
        while self.seats.iter().any(|seat| seat.state() != SeatState::Failed) {
            self.speak();
            match heard.recv_timeout(Duration::from_millis(20)) {
                Ok((from, frame)) => self.hear(from, frame),
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                // All owners have left.
                Err(mpsc::RecvTimeoutError::Disconnected) => return,
            }
            self.clock();
        }
        self.speak();
    }
}

fn read(mut reader: impl Read, from: PartyId, to: &mpsc::Sender<(PartyId, Vec<u8>)>) {
    loop {
        let frame = match record::next(&mut reader) {
            Ok(Next::Short(_, bytes)) => bytes,
            Ok(Next::Long(header, begun)) => match record::rest(&mut reader, &header, begun) {
                Ok(bytes) => bytes,
                Err(_) => return,
            },
            _ => return,
        };
        if to.send((from, frame)).is_err() {
            return;
        }
    }
}

#[test]
fn survivor_sets_that_differ_open_nothing() {
    let waits = Waits {
        patience: Duration::from_secs(20),
        deadline: Duration::from_secs(40),
    };
    let (dial, dialled_to) = mpsc::channel();
    let owners: Vec<_> = (1..=4)
        .map(|place| {
            let (me, dial) = (PartyId(place), dial.clone());
            thread::spawn(move || {
                met(
                    owner(Protocol::Aggregated, me),
                    (me, MINER),
                    waits,
                    move |_, _, address| {
                        dial.send((me, address)).expect("the miner waits");
                    },
                )
            })
        })
        .collect();
    drop(dial);
    let (agreement, first) = owner(Protocol::Aggregated, MINER);
    let (_, second) = owner(Protocol::Aggregated, MINER);
    let (say, heard) = mpsc::channel();
    let mut miners = Miners {
        seats: [first, second],
        timers: [BTreeMap::new(), BTreeMap::new()],
        writers: BTreeMap::new(),
        deaf: BTreeSet::new(),
        told: Vec::new(),
        opened: false,
    };
    let mut sockets = Vec::new();
    for (to, address) in dialled_to {
        let (socket, secured) = joined(&agreement, MINER, to, address);
        socket.wait(Duration::from_secs(30)).expect("set");
        let say = say.clone();
        thread::spawn(move || read(secured.reader, to, &say));
        miners.writers.insert(to, secured.writer);
        let greeting = miners.seats[speaks(to)].greeting(to);
        miners.send(to, &greeting);
        sockets.push(socket);
    }
    drop(say);
    miners.play(&heard);
    sockets.iter().for_each(Socket::cut);
    let told: BTreeSet<usize> = miners.told.iter().map(|(_, own)| *own).collect();
    assert_eq!(
        told,
        BTreeSet::from([0, 1]),
        "both sets were told: {:?}",
        miners.told
    );
    assert!(!miners.opened, "a sum was opened");
    for owner in owners {
        let ended = owner.join().expect("no panic");
        let e = ended.outcome.expect_err("no model comes of this");
        assert!(matches!(&e, Error::Peer(e) if !e.parties.is_empty()), "{e:?}");
    }
}
