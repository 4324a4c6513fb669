//! Many parties around one hub, and a large stream between two seats: time for each frame, memory, size of records.
//!
//! `cargo bench -p privet --bench parties`; with `-- stream` or `-- hub` only one of them.

use std::collections::BTreeSet;
use std::time::Instant;

use privet::Error;
use privet::party::{
    Agreement, Context, Edges, MemoryRecord, PartyEvent, PartyId, Role, Seat, SeatState, Simulation, Terms,
    TurnOutcome,
};
use privet::wire::{RunId, Wire};

type Turn<R> = Result<TurnOutcome<R>, Error>;

const HUB: PartyId = PartyId(0);
/// What an owner says in a round, in bytes.
const WORD: usize = 10_000;

/// In each round every owner sends some bytes, and the hub answers all when all have.
enum Rounds {
    Hub {
        round: u64,
        of: u64,
        came: BTreeSet<PartyId>,
    },
    Owner {
        round: u64,
    },
}

impl Rounds {
    fn say(round: u64, context: &mut Context<'_, Vec<u8>>) -> Result<(), Error> {
        let mut word = vec![7; WORD];
        word[..8].copy_from_slice(&round.to_le_bytes());
        context.send(HUB, &word)
    }
}

impl Role for Rounds {
    type Message = Vec<u8>;
    type Output = u64;

    fn start(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        if let Self::Owner { round } = self {
            Self::say(round, context)?;
        }
        Ok(TurnOutcome::Continue(self))
    }

    fn handle(self, event: PartyEvent<Vec<u8>>, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let (from, message) = event.message(context)?;
        match self {
            Self::Owner { round } if message.is_empty() => Ok(TurnOutcome::Finished(round)),
            Self::Owner { round } => {
                let round = round + 1;
                Self::say(round, context)?;
                context.checkpoint(&round.to_le_bytes().to_vec());
                Ok(TurnOutcome::Continue(Self::Owner { round }))
            }
            Self::Hub { round, of, mut came } => {
                came.insert(from);
                if came.len() + 1 < context.agreement().terms().parties.len() {
                    return Ok(TurnOutcome::Continue(Self::Hub { round, of, came }));
                }
                let others = context.others();
                let round = round + 1;
                let answer = if round == of {
                    Vec::new()
                } else {
                    round.to_le_bytes().to_vec()
                };
                for other in others {
                    context.send(other, &answer)?;
                }
                if round == of {
                    return Ok(TurnOutcome::Finished(round));
                }
                context.checkpoint(&round.to_le_bytes().to_vec());
                let came = BTreeSet::new();
                Ok(TurnOutcome::Continue(Self::Hub { round, of, came }))
            }
        }
    }

    fn resume(self, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Err(Error::internal("there is no work"))
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![HUB]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(2 * WORD as u64)
    }
}

fn hub(parties: usize, rounds: u64) {
    let names = (0..parties).map(|n| format!("party {n}")).collect();
    let all = Agreement::new(RunId([1; 16]), names).expect("names");
    let terms = Terms {
        edges: Edges::Hub(HUB),
        ..all.terms().clone()
    };
    let simulation = Simulation::of(Agreement::of(terms).expect("terms"), move |party, _| {
        Ok(match party {
            HUB => Rounds::Hub {
                round: 0,
                of: rounds,
                came: BTreeSet::new(),
            },
            _ => Rounds::Owner { round: 0 },
        })
    });
    let records = simulation.records();
    let before = peak::begin();
    let began = Instant::now();
    let done = simulation.run().expect("a run");
    let took = began.elapsed();
    let frames: u64 = done.traffic.values().map(|edge| edge.frames).sum();
    done.all().expect("all end well");
    println!(
        "{parties:>5} parties, {rounds:>3} rounds: {frames:>7} frames, {:>6.2} s, {:>5.2} µs a frame, {:>4} MiB more memory, records {:.1} kB at \
         the hub, {:.1} kB at an owner",
        took.as_secs_f64(),
        took.as_secs_f64() * 1e6 / frames as f64,
        peak::since(before) >> 20,
        size(&records[0]) as f64 / 1e3,
        size(&records[1]) as f64 / 1e3,
    );
}

fn size(record: &MemoryRecord) -> usize {
    record.items().iter().map(|item| item.to_bytes().len()).sum()
}

/// Sends a number of messages, one in each piece of work.
enum Stream {
    Sender { left: u64, length: usize },
    Receiver { left: u64, sum: u64 },
}

const CHUNK: usize = (1 << 20) - 8;

impl Role for Stream {
    type Message = Vec<u8>;
    type Output = u64;

    fn start(self, _: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        Ok(match self {
            Self::Sender { .. } => TurnOutcome::Working(self),
            Self::Receiver { .. } => TurnOutcome::Continue(self),
        })
    }

    fn handle(self, event: PartyEvent<Vec<u8>>, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let (_, message) = event.message(context)?;
        let Self::Receiver { left, sum } = self else {
            return Err(Error::internal("only one of them receives"));
        };
        let (left, sum) = (left - 1, sum + message.len() as u64);
        context.checkpoint(&[left.to_le_bytes(), sum.to_le_bytes()].concat());
        if left == 0 {
            return Ok(TurnOutcome::Finished(sum));
        }
        Ok(TurnOutcome::Continue(Self::Receiver { left, sum }))
    }

    fn resume(self, context: &mut Context<'_, Vec<u8>>) -> Turn<Self> {
        let Self::Sender { left, length } = self else {
            return Err(Error::internal("only one of them sends"));
        };
        context.send(PartyId(1), &vec![left as u8; length])?;
        if left == 1 {
            return Ok(TurnOutcome::Finished(0));
        }
        Ok(TurnOutcome::Working(Self::Sender {
            left: left - 1,
            length,
        }))
    }

    fn waits_for(&self) -> Vec<PartyId> {
        vec![PartyId(0)]
    }

    fn most_bytes(&self, _: PartyId) -> Option<u64> {
        Some(1 << 30)
    }

    fn by_digest(&self, _: PartyId) -> bool {
        true
    }
}

/// Messages of this length, one in each piece of work, through two seats. A role holds a message whole.
fn stream(chunks: u64, length: usize) -> u64 {
    let agreement = Agreement::new(RunId([1; 16]), vec!["a".into(), "b".into()]).expect("names");
    let quiet = &|_: &str, _: u64, _: u64| {};
    let before = peak::begin();
    let began = Instant::now();
    let take = |me: u16, role: Stream| {
        let record = Box::new(MemoryRecord::default());
        Seat::take(agreement.clone(), PartyId(me), record, quiet, |_| Ok(role)).expect("a seat")
    };
    let mut sender = take(0, Stream::Sender { left: chunks, length });
    let mut receiver = take(1, Stream::Receiver { left: chunks, sum: 0 });
    loop {
        if let Some(sent) = sender.next_frame() {
            receiver.deliver(PartyId(0), sent.bytes, quiet).expect("admitted");
        } else if let Some(sent) = receiver.next_frame() {
            sender.deliver(PartyId(1), sent.bytes, quiet).expect("admitted");
        } else if sender.state() == SeatState::Working {
            sender.work(quiet);
        } else {
            break;
        }
    }
    let bytes = receiver.finish().expect("all of it");
    let more = peak::since(before);
    println!(
        "{:.3} GiB in {chunks} messages: {:.2} s, {:.1} MiB more memory",
        bytes as f64 / f64::from(1 << 30),
        began.elapsed().as_secs_f64(),
        more as f64 / f64::from(1 << 20)
    );
    more
}

/// The most memory that this process has had, on Linux.
mod peak {
    use std::fs;

    fn value(key: &str) -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with(key));
        let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        kilobytes.unwrap_or(0) << 10
    }

    /// Forgets the peak so far; what is used now.
    pub(crate) fn begin() -> u64 {
        let _ = fs::write("/proc/self/clear_refs", "5");
        value("VmRSS")
    }

    /// How much more than then it has been since.
    pub(crate) fn since(then: u64) -> u64 {
        value("VmHWM").saturating_sub(then)
    }
}

fn main() {
    let only = std::env::args().find(|arg| arg == "stream" || arg == "hub");
    if only.as_deref() != Some("hub") {
        let more = stream(1024, CHUNK);
        assert!(more <= 64 << 20, "at most 64 MiB more");
        // Both parties' copies, as they say and read it.
        stream(1, CHUNK << 8);
    }
    if only.as_deref() != Some("stream") {
        // The record stays as small after more rounds; the time for a frame stays the same with more parties.
        for (parties, rounds) in [(100, 100), (100, 300), (300, 300), (1001, 300), (10_000, 10)] {
            hub(parties, rounds);
        }
    }
}
