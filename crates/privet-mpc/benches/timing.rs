//! Whether the time of gates tells the colours of labels: Welch's t between labels whose colours are all zero and random ones, measured in random order, as in
//! dudect (Reparaz, Balasch and Verbauwhede 2017). Above 10 in absolute value is a leak; a planted branch must be one.
//!
//! `PRIVET_SAMPLES` (100,000) measurements of each. The slowest tenth is cut off: other work on the machine.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::time::Instant;

use privet_mpc::garble::timing::{Labels, Place, Timed};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

const LEAK: f64 = 10.0;

fn main() {
    let samples: usize = std::env::var("PRIVET_SAMPLES").map_or(100_000, |n| n.parse().unwrap());
    println!("{samples} measurements of 256 gates; zero or random colours; |t| above {LEAK} is a leak");
    let mut told = Vec::new();
    for what in [Timed::Garbler, Timed::Evaluator, Timed::Planted] {
        let t = welch(what, samples);
        let leaks = t.abs() > LEAK;
        println!(
            "{:<12} t = {t:>8.1}  {}",
            format!("{what:?}"),
            if leaks { "a leak" } else { "no leak found" }
        );
        told.push(leaks);
    }
    match told[2] {
        true => println!("the planted branch is caught"),
        false => println!("the planted branch is NOT caught: this run says nothing"),
    }
}

fn welch(what: Timed, samples: usize) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let labels: Vec<[Labels; 2]> = (0..64)
        .map(|seed| [Labels::new(seed, false), Labels::new(seed, true)])
        .collect();
    let mut place = Place::new();
    let mut times: [Vec<f64>; 2] = Default::default();
    for at in 0..samples {
        let draw = rng.next_u32();
        let (class, one) = ((draw & 1) as usize, (draw >> 1) as usize % labels.len());
        place.put(&labels[one][class]);
        let started = Instant::now();
        place.walk(what);
        let time = started.elapsed().as_nanos() as f64;
        if at > samples / 100 {
            times[class].push(time);
        }
    }
    let mut all = times.concat();
    all.sort_by(f64::total_cmp);
    let cut = all[all.len() * 9 / 10];
    let [zero, random] = times.map(|times| {
        let kept: Vec<f64> = times.into_iter().filter(|time| *time <= cut).collect();
        let count = kept.len() as f64;
        let mean = kept.iter().sum::<f64>() / count;
        let variance = kept.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
        (mean, variance / count)
    });
    (zero.0 - random.0) / (zero.1 + random.1).sqrt()
}
