//! How fast columns are desensitised, beside the random bytes that they consume and beside exponential sampling. One thread.

use std::hint::black_box;
use std::time::Instant;

use privet::privacy::account::Caps;
use privet::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment, ClampedGeometric, Column, GlobalMap, Loss, Ordered, PathGeometric,
    Piecewise, RandomisedResponse, Route,
};
use privet::privacy::{Delta, Epsilon, Ledger, Private, Randomness, Ratio, Replace};

/// The default mechanism changes this many, the others a fiftieth.
const VALUES: usize = 100_000_000;
/// Values that are changed at a time: random bytes are drawn in between, so that other work on the machine slows both.
const PIECE: usize = 50_000;

fn main() {
    let one = Loss::Bounded(epsilon(0.08));
    for slots in [10, 1024] {
        println!(
            "\n|D| = {slots:<32}{:>10}{:>10}{:>12}{:>12}{:>15}",
            "ns", "8 bytes", "ratio", "best piece", "exponential /"
        );
        let exponential = GlobalMap::new(epsilon(0.08), slots, Route::Exponential).expect("a map");
        let slow = time(&exponential, VALUES / 100 / slots);
        for (name, mechanism, values) in [
            (
                "clamped geometric, 0.08",
                Box::new(ClampedGeometric::new(epsilon(0.08), slots).expect("a mechanism"))
                    as Box<dyn Ordered>,
                VALUES,
            ),
            (
                "clamped geometric, 1.28",
                Box::new(ClampedGeometric::new(epsilon(1.28), slots).expect("a mechanism")),
                VALUES,
            ),
            (
                "path geometric, 0.08 and 4",
                Box::new(PathGeometric::parts(slots, 4, one, Loss::Bounded(epsilon(4.0))).expect("a path")),
                VALUES / 50,
            ),
            (
                "global map, 0.08",
                Box::new(GlobalMap::new(epsilon(0.08), slots, Route::BoundedLaplace).expect("a map")),
                VALUES / 50,
            ),
            ("adjusted map, 0.08", Box::new(adjusted(slots)), VALUES / 50),
            (
                "piecewise, clipped, 1.28",
                Box::new(Piecewise::clipped(epsilon(1.28), slots).expect("a mechanism")),
                VALUES / 50,
            ),
            (
                "randomised response, 1.28",
                Box::new(RandomisedResponse::new(epsilon(1.28), slots).expect("a response")),
                VALUES / 50,
            ),
        ] {
            let ours = time(mechanism.as_ref(), values);
            row(name, &ours);
            println!("{:>15.0}", slow.all / ours.all);
        }
        row("exponential sampling, 0.08", &slow);
        println!();
    }
}

fn epsilon(value: f64) -> Epsilon {
    Epsilon::new(value).expect("an ε")
}

fn adjusted(slots: usize) -> AdjustedMap {
    let adjustment = Adjustment {
        width: 4,
        alpha: Ratio::new(2, 1).expect("positive"),
        alignment: Alignment::FirstSlot,
    };
    AdjustedMap::new(epsilon(0.08), slots, adjustment, Route::BoundedLaplace).expect("a map")
}

/// Nanoseconds per value of all pieces, and of eight random bytes meanwhile; then the quotient of the best of each.
struct Time {
    all: f64,
    bytes: f64,
    best: f64,
}

fn row(name: &str, time: &Time) {
    let (all, bytes) = (time.all, time.bytes);
    print!(
        "{name:<38}{all:>10.2}{bytes:>10.2}{:>12.2}{:>12.2}",
        all / bytes,
        time.best
    );
}

fn time(mechanism: &dyn Ordered, values: usize) -> Time {
    let mut random = Randomness::from_os().expect("randomness");
    let ours = Randomness::from_os().expect("randomness");
    let mut ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, ours).expect("opens");
    let piece = values.min(PIECE);
    let column: Vec<u16> = (0..piece)
        .map(|i| ((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % mechanism.inputs())
        .map(|slot| slot as u16)
        .collect();
    let mut bytes = vec![0u8; 1 << 11];
    let (mut all, mut best) = ([0.0; 2], [f64::INFINITY; 2]);
    // The table is built with the first piece, which is not counted.
    for turn in 0..=values / piece {
        let values = Private::new(column.clone());
        let name = format!("column {turn}");
        let start = Instant::now();
        let left = ledger.desensitise("a benchmark", vec![Column::slots(name, mechanism, values)]);
        let changed = start.elapsed().as_secs_f64();
        black_box(left.expect("leaves"));
        let start = Instant::now();
        for _ in 0..piece.div_ceil(bytes.len() / 8) {
            random.bytes(black_box(&mut bytes));
        }
        let drawn = start.elapsed().as_secs_f64();
        if turn > 0 {
            all = [all[0] + changed, all[1] + drawn];
            best = [best[0].min(changed), best[1].min(drawn)];
        }
    }
    let each = 1e9 / (values / piece * piece) as f64;
    Time {
        all: all[0] * each,
        bytes: all[1] * each,
        best: best[0] / best[1],
    }
}
