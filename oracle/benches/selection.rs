//! Selections per second against OpenDP, one core, in one run.
//!
//! OpenDP's `make_noisy_max` with `MaxDivergence` is permute-and-flip with exact rational coins: the same law as ours.
//! Its loop stops at the first head, ours flips every coin. The two take turns, and the best round of each counts, so
//! that a busy machine slows neither alone.

use std::hint::black_box;
use std::time::{Duration, Instant};

use opendp::domains::{AtomDomain, VectorDomain};
use opendp::measurements::make_noisy_max;
use opendp::measures::MaxDivergence;
use opendp::metrics::LInfDistance;
use privet::privacy::Ratio;
use privet::privacy::sampler::{Randomness, Selection};

const SCALE: u64 = 20;
const ROUNDS: usize = 9;
const ROUND: Duration = Duration::from_millis(60);

/// Calls per second over one round.
fn rate(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    let mut calls = 0u32;
    while start.elapsed() < ROUND {
        for _ in 0..16 {
            call();
        }
        calls += 16;
    }
    f64::from(calls) / start.elapsed().as_secs_f64()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let opendp = make_noisy_max(
        VectorDomain::new(AtomDomain::<i64>::default()),
        LInfDistance::default(),
        MaxDivergence,
        SCALE as f64,
        false,
    )
    .map_err(|e| format!("{e:?}"))?;
    let privet = Selection::new(Ratio::new(1, SCALE)?)?;
    let mut random = Randomness::from_os()?;

    println!("selections per second, scale {SCALE}, scores (7919·i) mod 1000");
    println!(
        "{:>10} {:>14} {:>16} {:>7} {:>14} {:>17}",
        "candidates", "opendp", "permute-and-flip", "ratio", "ns/candidate", "exponential"
    );
    for k in [34, 256, 4096] {
        let scores: Vec<i64> = (0..k).map(|i| i * 7919 % 1000).collect();
        let [mut theirs, mut ours, mut exponential] = [0f64; 3];
        for _ in 0..ROUNDS {
            theirs = theirs.max(rate(|| {
                black_box(opendp.invoke(black_box(&scores)).is_ok());
            }));
            ours = ours.max(rate(|| {
                black_box(privet.permute_and_flip(black_box(&scores), &mut random).is_ok());
            }));
            exponential = exponential.max(rate(|| {
                black_box(privet.exponential(black_box(&scores), &mut random).is_ok());
            }));
        }
        println!(
            "{k:>10} {theirs:>14.0} {ours:>16.0} {:>6.1}x {:>14.2} {exponential:>17.0}",
            ours / theirs,
            1e9 / ours / k as f64
        );
    }

    println!("\nmicroseconds to prepare a selection");
    for (numerator, denominator) in [(1, 1), (1, SCALE), (1, 10_000), (1, 1_000_000_000)] {
        let ratio = Ratio::new(numerator, denominator)?;
        let prepared = (0..ROUNDS)
            .map(|_| {
                rate(|| {
                    black_box(Selection::new(ratio.clone()).is_ok());
                })
            })
            .fold(0.0, f64::max);
        println!("{:>20} {:>10.1}", format!("rate {ratio}"), 1e6 / prepared);
    }
    Ok(())
}
