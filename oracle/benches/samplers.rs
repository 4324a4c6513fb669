//! How fast the exact samplers are, beside OpenDP's and beside the random bytes they consume. One thread.

use std::hint::black_box;
use std::time::Instant;

use privet::privacy::Ratio;
use privet::privacy::sampler::{
    DiscreteLaplace, Geometric, LaplaceShare, Noise, Randomness, RoundedGaussian,
};

const VALUES: usize = 1 << 16;

fn main() {
    let mut random = Randomness::from_os().expect("randomness");
    let mut bytes = vec![0u8; 8 * VALUES];
    let word = nanoseconds(VALUES, || random.bytes(&mut bytes));
    println!("eight random bytes: {word:.2} ns\n");

    println!(
        "{:<28}{:>12}{:>12}{:>12}{:>14}{:>14}",
        "law", "build µs", "draw ns", "bulk ns", "bulk/8 bytes", "bulk/OpenDP"
    );
    for scale in [1u64, 10, 100, 1_000, 1_000_000, 1 << 40] {
        let theirs = matches!(scale, 10 | 1_000_000).then(|| opendp(scale));
        let build = || DiscreteLaplace::new(ratio(scale)).expect("a scale");
        row(&format!("discrete Laplace {scale}"), build, word, theirs);
    }
    for sigma in [1, 10, 100, 400, 1_000, 100_000, 1 << 40] {
        let build = || RoundedGaussian::new(ratio(sigma)).expect("a sigma");
        row(&format!("rounded Gaussian {sigma}"), build, word, None);
    }
    for scale in [10, 1_000_000] {
        let build = || Geometric::new(ratio(scale)).expect("a scale");
        row(&format!("geometric {scale}"), build, word, None);
    }
    for scale in [10, 1_000, 20_000] {
        let build = || LaplaceShare::new(ratio(scale), 5).expect("a scale");
        row(&format!("Laplace share of 5, {scale}"), build, word, None);
    }
}

fn ratio(whole: u64) -> Ratio {
    Ratio::new(whole, 1).expect("a positive ratio")
}

/// Nanoseconds per sample of OpenDP.
fn opendp(scale: u64) -> f64 {
    let n = 2_000;
    nanoseconds(n, || {
        for _ in 0..n {
            black_box(privet_oracle::laplace(scale));
        }
    })
}

fn row<N: Noise>(name: &str, build: impl Fn() -> N, word: f64, theirs: Option<f64>) {
    let mut random = Randomness::from_os().expect("randomness");
    let noise = build();
    let built = nanoseconds(1, || {
        black_box(build());
    });
    let single = nanoseconds(VALUES, || {
        for _ in 0..VALUES {
            black_box(noise.draw(&mut random));
        }
    });
    let mut values = vec![0i64; VALUES];
    let bulk = nanoseconds(VALUES, || noise.add_to(black_box(&mut values), &mut random));
    print!(
        "{name:<28}{:>12.0}{single:>12.2}{bulk:>12.2}{:>14.2}",
        built / 1000.0,
        bulk / word
    );
    match theirs {
        Some(theirs) => println!(
            "{:>13.0}x  (OpenDP {theirs:.0} ns, draw {:.0}x)",
            theirs / bulk,
            theirs / single
        ),
        None => println!(),
    }
}

/// The best of seven runs, per item: other work on the machine only ever adds.
fn nanoseconds(items: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..7 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / items as f64
}
