//! Private set intersection: microseconds per id and core, and bytes. `PRIVET_IDS=1000000` for the full size.
//!
//! An id is masked once by its owner and once by the other side, so that an exchange of n and m ids makes 2(n + m) multiplications
//! of points by a secret; the last line says how much more than these an exchange costs. Time is the processor's where the
//! system tells it, since other work on the machine stretches the clock's.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::hint::black_box;
use std::time::Instant;

use curve25519_dalek::ristretto::RistrettoPoint;
use curve25519_dalek::scalar::Scalar;
use privet_mpc::psi::{self, Ids, Key, Run};

fn main() {
    let ids: usize = std::env::var("PRIVET_IDS").map_or(20_000, |n| n.parse().unwrap());
    let cores = rayon::current_num_threads();
    println!("{ids} x {ids} ids, half of them common, {cores} threads");
    println!("{:<44} {:>9} {:>12} {:>13}", "", "seconds", "µs per id", "bytes");

    let run = Run::new([1; 32]);
    let (bank, label) = measure("label holder: check ids", ids, |_| 0, || people(0, ids));
    let shop = people(ids / 2, ids);
    let (offered, one) = measure(
        "label holder: offer",
        ids,
        |o: &(_, Vec<u8>)| o.1.len(),
        || psi::offer(&Key::from_os().unwrap(), run, &bank).unwrap(),
    );
    let (expect_answer, offer) = offered;
    let (answered, feature) = measure(
        "feature holder: answer",
        ids,
        |a: &(_, Vec<u8>)| a.1.len(),
        || psi::answer(&Key::from_os().unwrap(), run, &shop, &offer).unwrap(),
    );
    let (expect_common, answer) = answered;
    let (settled, two) = measure(
        "label holder: pair and settle",
        ids,
        |settled: &psi::Settled| settled.1[0].len(),
        || psi::settle(vec![expect_answer.receive(&answer).unwrap()]).unwrap(),
    );
    let (rows, told) = settled;
    let (theirs, three) = measure(
        "feature holder: be told",
        ids,
        |_| 0,
        || expect_common.receive(&told[0]).unwrap(),
    );
    assert_eq!((rows.len(), theirs.len()), (ids - ids / 2, ids - ids / 2));

    let sides = [
        ("label holder", label + one + two),
        ("feature holder", feature + three),
    ];
    for (side, time) in sides {
        println!("{side:<44} {time:>9.2} {:>12.2}", 1e6 * time / ids as f64);
    }
    let bytes = offer.len() + answer.len() + told[0].len();
    println!("bytes per id of each side {:>40.1}", bytes as f64 / ids as f64);
    let bare = multiplication();
    let total = 1e6 * (label + one + two + feature + three) / (4.0 * ids as f64);
    println!(
        "a masking beside a bare multiplication ({bare:.2} µs): ratio {:.2}",
        total / bare
    );
}

fn people(from: usize, count: usize) -> Ids {
    Ids::new((from..from + count).map(|id| format!("person-{id:012}"))).unwrap()
}

/// What came out, and the seconds that all cores together took.
fn measure<T>(what: &str, ids: usize, bytes: impl Fn(&T) -> usize, work: impl FnOnce() -> T) -> (T, f64) {
    let (started, before) = (Instant::now(), processor_seconds());
    let made = work();
    let clock = started.elapsed().as_secs_f64() * rayon::current_num_threads() as f64;
    let time = processor_seconds()
        .zip(before)
        .map_or(clock, |(after, before)| after - before);
    let per_id = 1e6 * time / ids as f64;
    println!("{what:<44} {time:>9.2} {per_id:>12.2} {:>13}", bytes(&made));
    (made, time)
}

/// The processor time of this process so far, on Linux, to a hundredth of a second.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = text.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}

/// The best of five: a point times a secret, in microseconds.
fn multiplication() -> f64 {
    const TIMES: u32 = 2_000;
    let scalar = Scalar::from_bytes_mod_order([0x55; 32]);
    let times = (0..5).map(|_| {
        let mut point = RistrettoPoint::from_uniform_bytes(&[7; 64]);
        let started = Instant::now();
        (0..TIMES).for_each(|_| point = black_box(point * scalar));
        1e6 * started.elapsed().as_secs_f64() / f64::from(TIMES)
    });
    times.fold(f64::MAX, f64::min)
}
