//! How long a draw takes, by the mechanism's sampler: only the machine's own quotients are told, and nothing is expected of them.

use std::time::Instant;

use privet::Error;
use privet::privacy::Epsilon;
use privet::privacy::mechanism::ordered::{ClampedGeometric, GlobalMap, Ordered, Route};

use super::mechanisms::drawn;
use super::{Data, Measured, Progress};

pub(super) fn table(_: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let epsilon = Epsilon::new(0.08)?;
    let mut found = Vec::new();
    for (slots, metric, values) in [
        (10, "time/clamped, 10", 200_000),
        (1024, "time/clamped, 1024", 4_000),
    ] {
        let column: Vec<u16> = (0..values).map(|i| (i * 7919 % slots) as u16).collect();
        let clamped = ClampedGeometric::new(epsilon, slots)?;
        let laplace = GlobalMap::new(epsilon, slots, Route::BoundedLaplace)?;
        let exponential = GlobalMap::new(epsilon, slots, Route::Exponential)?;
        let all: [(&str, &dyn Ordered, usize); 3] = [
            ("clamped", &clamped, 50),
            ("bounded Laplace", &laplace, 50),
            ("exponential", &exponential, 1),
        ];
        let mut times = [const { Vec::new() }; 3];
        for run in 0..=runs {
            bar.at(run.into(), u64::from(runs) + 1);
            for ((_, mechanism, more), times) in all.iter().zip(&mut times) {
                // Quick ones are given more to do, so that a clock can tell.
                let column = column.repeat(*more);
                let start = Instant::now();
                drawn(*mechanism, &column, run.into())?;
                let each = start.elapsed().as_secs_f64() / column.len() as f64;
                // The first builds the tables.
                if run > 0 {
                    times.push(each);
                }
            }
        }
        let base = times[0].clone();
        for ((method, _, _), times) in all.iter().zip(times) {
            let quotients = times.iter().zip(&base).map(|(time, base)| time / base);
            found.push(Measured::new(method, Some(0.08), metric, quotients));
        }
    }
    Ok(found)
}
