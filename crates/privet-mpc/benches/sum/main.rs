//! Secure sums of 24 numbers: processor milliseconds and bytes of one round, packed sharing beside double masks (Bonawitz et al. 2017) with the
//! same thresholds. `PRIVET_OWNERS=1000` for one size only.
//!
//! All owners and the miner run on one thread. Time is the processor's where the system tells it, since other work on the machine stretches the
//! clock's. Key agreement is printed apart. Every sum is compared with the plain one, with as many owners absent as may be.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

mod double_masks;

use std::time::Instant;

use privet_mpc::sealed::SealingKey;
use privet_mpc::sum::{Collecting, OwnerRound, Seed, SumOwner, SumTerms};

const NUMBERS: usize = 24;

/// Owners, absent, colluding, rounds.
const SIZES: [[usize; 4]; 3] = [[20, 2, 2, 300], [100, 10, 10, 300], [1000, 50, 50, 3]];

fn main() {
    let only: Option<usize> = std::env::var("PRIVET_OWNERS").ok().map(|n| n.parse().unwrap());
    println!(
        "{:<14} {:>6} {:>7} {:>7} {:>9} {:>10} {:>9} {:>10} {:>10} {:>8} {:>9}",
        "scheme",
        "owners",
        "holders",
        "pieces",
        "required",
        "ms/round",
        "s/300",
        "sent B",
        "received B",
        "B/other",
        "set-up s"
    );
    // 1,000 owners take a minute of key agreement: only when asked for.
    let wanted = |size: &&[usize; 4]| only.map_or(size[0] < 1000, |only| size[0] == only);
    for [owners, absent, colluding, rounds] in SIZES.iter().filter(wanted) {
        let packed = packed(*owners, *absent, *colluding, *rounds);
        let masked = double_masks::measure(*owners, *absent, *colluding, *rounds);
        let ratio = masked.seconds / packed.seconds;
        let bytes = (masked.sent + masked.received) as f64 / (packed.sent + packed.received) as f64;
        println!("double masks beside packed: time ratio {ratio:.2}, bytes ratio {bytes:.2}");
    }
}

struct Measured {
    seconds: f64,
    sent: usize,
    received: usize,
}

struct Line<'a> {
    scheme: &'a str,
    owners: usize,
    holders: usize,
    pieces: usize,
    required: usize,
    rounds: usize,
    set_up: Option<f64>,
    /// Seconds of all rounds by part.
    parts: &'a [(&'a str, f64)],
    sent: usize,
    received: usize,
}

impl Line<'_> {
    fn print(self) -> Measured {
        let total: f64 = self.parts.iter().map(|(_, seconds)| seconds).sum();
        let seconds = total / self.rounds as f64;
        let each = (self.sent + self.received) as f64 / (self.owners - 1) as f64;
        println!(
            "{:<14} {:>6} {:>7} {:>7} {:>9} {:>10.3} {:>9.2} {:>10} {:>10} {:>8.1} {:>9}",
            self.scheme,
            self.owners,
            self.holders,
            self.pieces,
            self.required,
            1e3 * seconds,
            300.0 * seconds,
            self.sent,
            self.received,
            each,
            self.set_up
                .map_or(String::new(), |seconds| format!("{seconds:.2}"))
        );
        let parts = self.parts.iter();
        let parts = parts.map(|(part, time)| format!("{part} {:.3}", 1e3 * time / self.rounds as f64));
        println!("    ms: {}", parts.collect::<Vec<_>>().join(", "));
        Measured {
            seconds,
            sent: self.sent,
            received: self.received,
        }
    }
}

/// Adds the processor time of some work.
fn timed<T>(total: &mut f64, work: impl FnOnce() -> T) -> T {
    let (clock, before) = (Instant::now(), thread_seconds());
    let made = work();
    let clock = clock.elapsed().as_secs_f64();
    *total += thread_seconds()
        .zip(before)
        .map_or(clock, |(after, before)| after - before);
    made
}

/// The processor time of the first thread so far, on Linux, to the nanosecond.
fn thread_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? / 1e9)
}

/// The processor time of this process so far, on Linux, to a hundredth of a second.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// A vector of an owner in a round; sums wrap around for some of its numbers.
fn numbers(owner: usize, round: u32) -> [i64; NUMBERS] {
    std::array::from_fn(|at| ((owner as i64 + 1) * (i64::from(round) + 3)) << (2 * at))
}

fn plain(survivors: impl Iterator<Item = usize> + Clone, round: u32) -> Vec<i128> {
    let at = |at| {
        survivors
            .clone()
            .map(|owner| i128::from(numbers(owner, round)[at]))
            .sum()
    };
    (0..NUMBERS).map(at).collect()
}

fn packed(owners: usize, absent: usize, colluding: usize, rounds: usize) -> Measured {
    let (clock, before) = (Instant::now(), processor_seconds());
    let terms = SumTerms::new(owners, absent, colluding, NUMBERS).unwrap();
    let keys: Vec<SealingKey> = (0..owners).map(|_| SealingKey::from_os().unwrap()).collect();
    let publics: Vec<(u16, [u8; 32])> = (0..).zip(keys.iter().map(SealingKey::public)).collect();
    let owner = |(me, key)| SumOwner::new(&terms, me, key, &publics, &[1; 32], 0).unwrap();
    let mut all: Vec<SumOwner> = (0..).zip(&keys).map(owner).collect();
    let clock = clock.elapsed().as_secs_f64();
    let set_up = processor_seconds()
        .zip(before)
        .map_or(clock, |(after, before)| after - before);

    let [mut share, mut relay, mut answer, mut open] = [0.0; 4];
    for round in 0..rounds as u32 {
        let shared: Vec<(Option<OwnerRound>, Vec<u8>)> = timed(&mut share, || {
            let owners = all.iter_mut().enumerate();
            let shares = |(me, owner): (usize, &mut SumOwner)| {
                owner
                    .share(round, &numbers(me, round), Seed::from_os().unwrap())
                    .unwrap()
            };
            owners.map(shares).collect()
        });
        // Others are absent in each round.
        let gone = |owner: usize| (owner + 7 * round as usize) % owners < absent;
        let mut states = Vec::with_capacity(owners);
        let relaying = timed(&mut relay, || {
            let mut collecting = Collecting::new(&terms, round);
            for (owner, (state, shares)) in (0..).zip(shared) {
                states.push(state);
                if !gone(usize::from(owner)) {
                    collecting.receive(owner, shares).unwrap();
                }
            }
            collecting.fix().map_err(|(_, why)| why).unwrap()
        });
        // One measurement for all owners: asking for the time takes longer than a small message.
        let told: Vec<(u16, Vec<u8>)> = timed(&mut relay, || {
            let holders = relaying.holders().iter();
            holders.map(|to| (*to, relaying.message(*to).unwrap())).collect()
        });
        let answers: Vec<(u16, Vec<u8>)> = timed(&mut answer, || {
            let answers = told.iter().map(|(to, relayed)| {
                let place = usize::from(*to);
                let answered = states[place].take().unwrap().answer(&all[place], relayed);
                (*to, answered.unwrap().message)
            });
            answers.collect()
        });
        let opened = timed(&mut open, || {
            let mut opening = relaying.sent();
            for (from, answer) in &answers {
                opening.receive(*from, answer).unwrap();
            }
            opening.open().unwrap()
        });
        let expected = plain((0..owners).filter(|owner| !gone(*owner)), round);
        let modulus = i128::from(privet_mpc::sum::MODULUS);
        for (number, expected) in opened.numbers.iter().zip(expected) {
            assert_eq!(
                i128::from(*number).rem_euclid(modulus),
                expected.rem_euclid(modulus)
            );
        }
    }
    // Of all owners on average.
    let dealt: usize = (0..).take(owners).map(|owner| terms.share_bytes(owner)).sum();
    let held = |bytes: usize| bytes * terms.holders() / owners;
    Line {
        scheme: "packed",
        owners,
        holders: terms.holders(),
        pieces: terms.pieces(),
        required: terms.required(),
        rounds,
        set_up: Some(set_up),
        parts: &[
            ("share", share),
            ("relay", relay),
            ("answer", answer),
            ("open", open),
        ],
        sent: dealt / owners + held(terms.answer_bytes()),
        received: held(terms.relay_bytes(owners)),
    }
    .print()
}
