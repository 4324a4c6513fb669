//! Every role of every setting with a peer that sends what it must not: fifty kinds of that, and one that is slow.

use std::path::Path;
use std::thread::{self, JoinHandle};

use privet::setting::horizontal::{MINER, Protocol};
use privet_testkit::{owners, secure, skipped};

use super::*;

/// Whom the peer attacks.
#[derive(Debug, Clone, Copy)]
enum Victim {
    /// A label holder or a feature holder, by kind.
    Vertical(u8),
    Miner(Protocol),
    Owner(Protocol),
    /// A party of a kind of run.
    Secure(usize, PartyId),
}

const VICTIMS: [Victim; 17] = [
    Victim::Vertical(0),
    Victim::Vertical(3),
    Victim::Miner(Protocol::Aggregated),
    Victim::Owner(Protocol::Aggregated),
    Victim::Secure(0, PartyId(0)),
    Victim::Secure(1, PartyId(1)),
    // With `PRIVET_FULL` only.
    Victim::Vertical(1),
    Victim::Vertical(2),
    Victim::Vertical(4),
    Victim::Vertical(5),
    Victim::Miner(Protocol::Averaged),
    Victim::Owner(Protocol::Averaged),
    Victim::Miner(Protocol::Chain),
    Victim::Owner(Protocol::Chain),
    Victim::Secure(0, PartyId(1)),
    Victim::Secure(1, PartyId(0)),
    Victim::Secure(5, PartyId(1)),
];

impl Victim {
    /// The victim, and the neighbour that attacks it.
    fn both(self) -> (PartyId, PartyId) {
        match self {
            Self::Vertical(kind) => (PartyId(u16::from(kind % 2)), PartyId(u16::from(1 - kind % 2))),
            Self::Miner(_) => (MINER, PartyId(1)),
            Self::Owner(_) => (PartyId(1), MINER),
            Self::Secure(_, me) => (me, PartyId(u16::from(me.0 == 0))),
        }
    }

    /// How it ends.
    fn met(
        self,
        waits: Waits,
        attack: impl FnOnce(&Agreement, PartyId, SocketAddr) + Send + 'static,
    ) -> Ended {
        let both = self.both();
        match self {
            Self::Vertical(kind) => {
                let seat = party(kind, &MemoryRecord::default(), &journal());
                met(seat.expect("a party"), both, waits, attack)
            }
            Self::Miner(protocol) | Self::Owner(protocol) => {
                met(owners::owner(protocol, both.0), both, waits, attack)
            }
            Self::Secure(kind, me) => met(secure::party(kind, me), both, waits, attack),
        }
    }

    /// Whole messages of its setting, each of which may come at some moment of a run: as the first one nearly all are out of turn.
    fn messages(self) -> Vec<Vec<u8>> {
        let (target, kinds) = match self {
            Self::Vertical(_) => ("message", None),
            Self::Miner(_) | Self::Owner(_) => ("horizontal", Some(4)),
            Self::Secure(..) => ("secure", Some(7)),
        };
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../fuzz/corpus")
            .join(target);
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .expect("a corpus")
            .map(|entry| entry.expect("a file").path())
            .collect();
        files.sort();
        let read = files.iter().map(|file| std::fs::read(file).expect("a file"));
        let messages = read.filter_map(|bytes| match kinds {
            None => Some(bytes),
            // The first byte says what the others are; from 128 on they are for parties with three classes.
            Some(kinds) => bytes
                .split_first()
                .filter(|(kind, _)| **kind < 128 && *kind % kinds == 0)
                .map(|(_, message)| message.to_vec()),
        });
        messages.collect()
    }
}

fn full<T>(all: T, few: T) -> T {
    if skipped::full() { all } else { few }
}

/// Malformed records, frames out of turn and of others, messages that are none or not due: fifty to each kind of party.
#[test]
fn hostile_peers_are_refused_and_the_party_lives() {
    // Most parties wait for their peer until the deadline, so those of several victims wait together.
    for victims in VICTIMS[..full(VICTIMS.len(), 6)].chunks(6) {
        let all: Vec<JoinHandle<()>> = victims.iter().flat_map(|victim| attacked(*victim)).collect();
        all.into_iter().for_each(|one| one.join().expect("no panic"));
    }
}

/// One thread for each attack on this kind of party.
fn attacked(victim: Victim) -> impl Iterator<Item = JoinHandle<()>> {
    let messages = victim.messages();
    assert!(messages.len() >= 10, "{victim:?}");
    (0..full(50, 17)).map(move |number| {
        let message = messages[number as usize % messages.len()].clone();
        let (to, _) = victim.both();
        let attack = move |agreement: &Agreement, own| bytes(number, agreement, (own, to), message);
        thread::spawn(move || {
            let ended = victim.met(WAITS, sends(to, attack));
            let Err(e) = ended.outcome else {
                // One message, released values or a request for them, is all that these hear: whole and in turn it is no attack.
                assert!(matches!(victim, Victim::Vertical(_)), "{victim:?}, {number}");
                assert!(number >= 12 && number % 3 != 0, "{victim:?}, {number}");
                return;
            };
            // The others: it was told that schemas or jobs differ.
            let fine = matches!(e, Error::Peer(_) | Error::Data(_) | Error::Parameter(_));
            assert!(fine, "{victim:?}, {number}: {e:?}");
            let event = if matches!(e, Error::Peer(_)) {
                "fault"
            } else {
                "ended"
            };
            let logged = ended.log.contains(&format!("\"event\":\"{event}\""));
            assert!(logged, "{victim:?}, {number}: {}", ended.log);
        })
    })
}

fn bytes(number: u32, agreement: &Agreement, both: (PartyId, PartyId), valid: Vec<u8>) -> Vec<u8> {
    let greeting = framed(agreement, both, 0, Body::Greeting);
    let message = |bytes: Vec<u8>| framed(agreement, both, 0, Body::message(bytes));
    let attack = match number {
        // Behind the first dozen, messages of the setting: whole, cut, or one byte changed.
        12.. => message(match number % 3 {
            0 => valid[..valid.len() - 1 - number as usize % valid.len().min(8)].to_vec(),
            1 => {
                let mut changed = valid;
                let place = number as usize * 7 % changed.len();
                changed[place] ^= 1 << (number % 8);
                changed
            }
            _ => valid,
        }),
        0 => vec![0xff; 40],
        1 => [&u32::MAX.to_le_bytes()[..], &[3]].concat(),
        2 => [&0_u32.to_le_bytes()[..], &[9]].concat(),
        3 => message(vec![3; 3]),
        4 => framed(agreement, both, 11, Body::message(vec![1])),
        5 => framed(agreement, (PartyId(7), both.1), 0, Body::message(vec![1])),
        6 => {
            let other = Agreement::new(privet::wire::RunId([1; 16]), vec!["a".into(), "b".into()]);
            framed(&other.expect("an agreement"), both, 0, Body::message(vec![1]))
        }
        7 => {
            let mut damaged = message(vec![5; 100]);
            let last = damaged.len() - 8;
            damaged[last] ^= 1;
            damaged
        }
        // Longer than anything that the role waits for: its header alone is read.
        8 => part(agreement, both, (1 << 40, 0)),
        9 => part(agreement, both, (3 << 20, 1 << 20)),
        10 => framed(agreement, both, u64::MAX, Body::Greeting),
        11 => {
            let mut control = Vec::new();
            record::control(&mut control, &Control::Done(PartyId(number as u16)).to_bytes()).expect("memory");
            [control, message(vec![0; 3])].concat()
        }
    };
    [greeting, attack].concat()
}

fn part(agreement: &Agreement, both: (PartyId, PartyId), (total, at): (u64, u64)) -> Vec<u8> {
    let bytes = vec![0; 1 << 20];
    framed(agreement, both, 0, Body::Part { total, at, bytes })
}

/// A party that says its message a byte at a time, and is never silent: the run ends at its deadline, and says whom it waited for.
#[test]
fn a_slow_peer_ends_with_the_deadline() {
    let waits = Waits {
        patience: Duration::from_secs(1),
        deadline: Duration::from_secs(4),
    };
    let all = VICTIMS[..full(VICTIMS.len(), 6)].iter().map(|victim| {
        let victim = *victim;
        thread::spawn(move || {
            let (to, _) = victim.both();
            let ended = victim.met(waits, move |agreement, own, address| {
                let (_socket, mut secured) = joined(agreement, own, to, address);
                let greeting = framed(agreement, (own, to), 0, Body::Greeting);
                let message = framed(agreement, (own, to), 0, Body::message(vec![1; 4000]));
                for byte in [greeting, message].concat() {
                    let said = secured
                        .writer
                        .write_all(&[byte])
                        .and_then(|()| secured.writer.flush());
                    if said.is_err() {
                        return;
                    }
                    thread::sleep(Duration::from_millis(20));
                }
                panic!("it was heard to the end");
            });
            let e = ended.outcome.expect_err("no result comes of this");
            assert!(
                matches!(&e, Error::Peer(e) if !e.parties.is_empty()),
                "{victim:?}: {e:?}"
            );
            assert!(
                ended.log.contains("\"event\":\"fault\""),
                "{victim:?}: {}",
                ended.log
            );
        })
    });
    let all: Vec<_> = all.collect();
    all.into_iter().for_each(|one| one.join().expect("no panic"));
}
