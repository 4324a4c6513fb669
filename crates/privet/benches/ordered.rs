//! How fast columns are desensitised, beside the random bytes that they consume and beside exponential sampling. One thread.

use std::hint::black_box;
use std::time::Instant;

use privet::privacy::account::Caps;
use privet::privacy::mechanism::ordered::{
    AdjustedMap, Adjustment, Alignment, ClampedGeometric, Column, Desensitised, GlobalMap, Loss, Ordered,
    PathGeometric, Piecewise, RandomisedResponse, Route,
};
use privet::privacy::{Delta, Epsilon, Ledger, Private, Randomness, Ratio, Replace};

/// The default mechanism changes this many, the others a tenth.
const VALUES: usize = 100_000_000;

fn main() {
    let mut random = Randomness::from_os().expect("randomness");
    // In pieces, as samplers draw them.
    let mut bytes = vec![0u8; 1 << 14];
    let word = nanoseconds(VALUES / 10, || {
        for _ in 0..VALUES / 10 / 2048 {
            random.bytes(black_box(&mut bytes));
        }
    });
    println!("eight random bytes: {word:.2} ns");
    let one = Loss::Bounded(epsilon(0.08));
    for slots in [10, 1024] {
        println!(
            "\n|D| = {slots:<32}{:>9}{:>12}{:>14}",
            "ns", "/ 8 bytes", "exponential /"
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
                VALUES / 10,
            ),
            (
                "global map, 0.08",
                Box::new(GlobalMap::new(epsilon(0.08), slots, Route::BoundedLaplace).expect("a map")),
                VALUES / 10,
            ),
            ("adjusted map, 0.08", Box::new(adjusted(slots)), VALUES / 10),
            (
                "piecewise, clipped, 1.28",
                Box::new(Piecewise::clipped(epsilon(1.28), slots).expect("a mechanism")),
                VALUES / 10,
            ),
            (
                "randomised response, 1.28",
                Box::new(RandomisedResponse::new(epsilon(1.28), slots).expect("a response")),
                VALUES / 10,
            ),
        ] {
            let ours = time(mechanism.as_ref(), values);
            println!("{name:<38}{ours:>9.2}{:>12.2}{:>14.0}", ours / word, slow / ours);
        }
        println!(
            "{:<38}{slow:>9.0}{:>12.0}",
            "exponential sampling, 0.08",
            slow / word
        );
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

/// Nanoseconds per value of a column with all slots in it.
fn time(mechanism: &dyn Ordered, values: usize) -> f64 {
    let random = Randomness::from_os().expect("randomness");
    let mut ledger = Ledger::volatile(Replace::row(), Caps::ZERO, Delta::ZERO, random).expect("opens");
    let column: Vec<u16> = (0..values)
        .map(|i| ((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % mechanism.inputs())
        .map(|slot| slot as u16)
        .collect();
    let mut column = Some(column);
    let mut names = 0..;
    let mut change = |values: Vec<u16>| {
        let name = format!("column {}", names.next().unwrap_or(0));
        let column = Column::slots(name, mechanism, Private::new(values));
        match ledger
            .desensitise("a benchmark", vec![column])
            .map(|r| r.into_inner())
        {
            Ok(mut left) => match left.pop() {
                Some(Desensitised::Slots(values)) => values,
                other => panic!("{other:?}"),
            },
            Err(error) => panic!("{error}"),
        }
    };
    // The table is built with the first value.
    change(vec![0]);
    nanoseconds(values, || column = column.take().map(&mut change))
}

/// The best of three runs, per item: other work on the machine only ever adds.
fn nanoseconds(items: usize, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / items as f64
}
