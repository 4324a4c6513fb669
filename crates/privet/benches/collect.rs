//! What it costs to add up local messages, beside reading, checksumming and registering the same frames; and what an owner's message costs. One
//! thread. `PRIVET_OWNERS` says how many messages there are. Times are those of the processor, where the system tells them (Linux), so that other work
//! on the machine counts little.

use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;
use std::time::Instant;

use privet::privacy::account::{Caps, Price};
use privet::privacy::mechanism::local::{LocalMessage, Token};
use privet::privacy::{Delta, Ledger, Owner, Private, Randomness};
use privet::setting::local::{Campaign, Collected, Collector, DataOwner, Message, Share};

/// Passes over the same file, in turns, of which the best counts.
const PASSES: usize = 3;

fn main() {
    let owners = std::env::var("PRIVET_OWNERS")
        .ok()
        .and_then(|text| text.parse().ok());
    let owners: u64 = owners.unwrap_or(1_000_000);
    let folder = tempfile::tempdir().expect("a folder");
    println!(
        "{:<40}{:>12}{:>10}{:>12}{:>12}{:>14}{:>8}",
        format!("{owners} messages, ns each"),
        "registered",
        "and added",
        "difference",
        "million/s",
        "bytes a token",
        "bytes"
    );
    for (name, text) in [
        (
            "coordinates, p = 50, ε = 1",
            "epsilon = 1.0\nmessage = \"coordinates\"\ndimension = 50\nradius = 1.0\n",
        ),
        (
            "coordinates, p = 50, ε = 5",
            "epsilon = 5.0\nmessage = \"coordinates\"\ndimension = 50\nradius = 1.0\n",
        ),
        (
            "vectors, p = 50",
            "epsilon = 1.0\nmessage = \"vector\"\ndimension = 50\nradius = 1.0\n",
        ),
        (
            "categories, 16",
            "epsilon = 3.0\nmessage = \"category\"\ncategories = 16\n",
        ),
    ] {
        let campaign = Campaign::read("campaign.toml", &format!("version = 1\nname = \"bench\"\n{text}"));
        let campaign = campaign.expect("a campaign");
        let file = folder.path().join("messages");
        write(&campaign, owners, &file);
        let mut best = [f64::INFINITY; 2];
        let mut bytes = 0.0;
        for _ in 0..PASSES {
            for (place, adds) in [false, true].into_iter().enumerate() {
                let before = Collected::new(&campaign, Share::ALL);
                let collector = Collector::new(&campaign, before, owners, 1).expect("a collector");
                let mut collector = if adds {
                    collector
                } else {
                    collector.registering_only()
                };
                let started = Clock::start();
                count(&mut collector, &file);
                let each = started.seconds() * 1e9 / owners as f64;
                best[place] = best[place].min(each);
                assert_eq!(collector.collected().messages(), owners);
                bytes = collector.register_bytes() as f64 / owners as f64;
            }
        }
        let [registered, added] = best;
        println!(
            "{name:<40}{registered:>12.1}{added:>10.1}{:>12.1}{:>12.2}{bytes:>14.2}{:>8}",
            added - registered,
            1e3 / added,
            campaign.submission_bytes()
        );
        println!(
            "{:<40}{:>12.1} µs without disk",
            format!("  an owner of {name}"),
            owner(&campaign)
        );
    }
}

/// Time of the processor in this thread; of the clock where that is not told.
struct Clock(Option<u64>, Instant);

impl Clock {
    fn start() -> Self {
        Self(processor(), Instant::now())
    }

    fn seconds(&self) -> f64 {
        match (self.0, processor()) {
            (Some(before), Some(now)) => (now - before) as f64 / 1e9,
            _ => self.1.elapsed().as_secs_f64(),
        }
    }
}

/// Nanoseconds that this thread has run.
fn processor() -> Option<u64> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    told.split_whitespace().next()?.parse().ok()
}

/// Random tokens, and bodies that can be drawn.
fn write(campaign: &Campaign, owners: u64, file: &Path) {
    let mut random = Randomness::seeded(1);
    let mut bytes = Vec::new();
    let mut out = File::create(file).expect("a file");
    let (mut token, mut any) = ([0; 16], [0; 4]);
    for i in 0..owners {
        random.bytes(&mut token);
        random.bytes(&mut any);
        let body = match campaign.message() {
            Message::Coordinates(it) => (0..it.sampled())
                .flat_map(|k| [(k * 20) as u8 + any[k] % 20, 0, any[2], 16])
                .collect(),
            Message::Category(_) if campaign.body_bytes() == 2 => vec![any[0] % 16, 0],
            _ => vec![any[0]; campaign.body_bytes()],
        };
        let token = Token::from_bytes(token).expect("a token");
        bytes.extend(campaign.submission(&LocalMessage { token, body }));
        if i % 65_536 == 0 {
            out.write_all(&bytes).expect("written");
            bytes.clear();
        }
    }
    out.write_all(&bytes).expect("written");
}

fn count(collector: &mut Collector<'_>, file: &Path) {
    let mut file = File::open(file).expect("a file");
    let length = file.metadata().expect("its length").len();
    let mut buffer = vec![0; 1 << 20];
    let (mut tokens, mut filled, mut read) = (Vec::new(), 0, 0);
    while read < length {
        let more = file.read(&mut buffer[filled..]).expect("read");
        (filled, read) = (filled + more, read + more as u64);
        let done = collector.fold(&buffer[..filled], &mut tokens);
        buffer.copy_within(done..filled, 0);
        filled -= done;
        tokens.clear();
    }
}

/// Microseconds for one message: paid for in a ledger in memory, drawn, kept and framed. All are timed together: the system counts a thread's time in steps
/// that are longer than one message takes.
fn owner(campaign: &Campaign) -> f64 {
    const MESSAGES: usize = 2000;
    let owner = DataOwner::new(campaign);
    let caps = Caps::from(Price::Pure(campaign.epsilon()));
    let ledger = || {
        let random = Randomness::from_os().expect("randomness");
        Ledger::volatile(Owner, caps, Delta::ZERO, random).expect("opens")
    };
    let mut ledgers: Vec<Ledger<Owner>> = (0..MESSAGES).map(|_| ledger()).collect();
    let vector: Vec<f64> = (0..50).map(|i| f64::from(i % 5) / 50.0).collect();
    let started = Clock::start();
    for ledger in &mut ledgers {
        let vector = vector.clone();
        let sent = match campaign.message() {
            Message::Category(_) => owner.contribute_category(ledger, || Private::new(3)),
            _ => owner.contribute_vector(ledger, || Private::new(vector)),
        };
        assert_eq!(sent.expect("drawn").submission.len(), campaign.submission_bytes());
    }
    started.seconds() * 1e6 / MESSAGES as f64
}
