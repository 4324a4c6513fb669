//! How far one message about a vector lies from it: the papers' mechanisms beside the library's.

use privet::Error;
use privet::privacy::mechanism::local::{KClosest, LocalMechanism, UNIT, rehearse};
use privet::privacy::{Epsilon, Randomness};
use privet_node::progress::Progress;

use super::Named;
use super::mechanisms::{Duchi, Floating, Hybrid, LaplaceSplit, Piecewise, PrivUnit};
use crate::{Data, Measured, coins, compared};

const DIMENSION: usize = 50;
const DRAWS: u32 = 5000;
const SQUARE: &str = "squared distance";

enum Way {
    Box(&'static dyn Floating),
    PrivUnit,
    KClosest,
}

/// The mean squared distance of a message from a vector of length one, the first axis; boxes are as wide as the ball.
pub(super) fn measure(_: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    const EPSILONS: &[f64] = &[0.5, 1.0, 3.0, 5.0];
    let ways: [Named<Way>; 6] = [
        ("Laplace", Way::Box(&LaplaceSplit), EPSILONS),
        ("Duchi", Way::Box(&Duchi), EPSILONS),
        ("Piecewise", Way::Box(&Piecewise), EPSILONS),
        ("Hybrid", Way::Box(&Hybrid), EPSILONS),
        ("PrivUnit, floating", Way::PrivUnit, EPSILONS),
        ("k-closest", Way::KClosest, EPSILONS),
    ];
    compared(&ways, &[SQUARE], (runs, bar), |way, epsilon, run| {
        let epsilon = epsilon.unwrap_or(1.0);
        let mut coins = coins(0x7000 + u64::from(run));
        let x: Vec<f64> = (0..DIMENSION)
            .map(|place| f64::from(u8::from(place == 0)))
            .collect();
        let mut square = 0.0;
        let mut count = |estimate: &[f64]| {
            square += estimate.iter().zip(&x).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / f64::from(DRAWS);
        };
        match way {
            Way::Box(mechanism) => {
                for _ in 0..DRAWS {
                    let mut estimate = vec![0.0; DIMENSION];
                    mechanism.add(&x, epsilon, 1.0, &mut estimate, &mut coins);
                    count(&estimate);
                }
            }
            Way::PrivUnit => {
                let mechanism = PrivUnit::new(DIMENSION, epsilon);
                for _ in 0..DRAWS {
                    let mut estimate = vec![0.0; DIMENSION];
                    mechanism.add(&x, 1.0, &mut estimate, &mut coins);
                    count(&estimate);
                }
            }
            Way::KClosest => {
                let mechanism = KClosest::new(Epsilon::new(epsilon)?, DIMENSION, 256)?;
                let mut random = Randomness::seeded(u64::from(run));
                for _ in 0..DRAWS {
                    let grid = x.iter().map(|x| (x * f64::from(UNIT)) as i32).collect();
                    let message = rehearse(&mechanism, grid, &mut random)?;
                    let mut sums = vec![0; mechanism.sums()];
                    if !mechanism.add(&message.token, &message.body, &mut sums) {
                        return Err(Error::internal("a message that was drawn can be added"));
                    }
                    count(&mechanism.means(&sums, 1));
                }
            }
        }
        Ok(vec![(SQUARE, square)])
    })
}
