//! E0277: a price is a theorem: mechanisms are those of the proofs.
use privet::Error;
use privet::privacy::account::Price;
use privet::privacy::mechanism::{Laplace, Mechanism};
use privet::privacy::{Epsilon, Norm, Paid, Private, Randomness};

struct Cheap(Laplace);

impl Mechanism for Cheap {
    type Output = Vec<i64>;

    fn price(&self, _: Norm) -> Result<Price, Error> {
        Ok(Price::Pure(Epsilon::ZERO))
    }

    fn draw(&self, answer: Private<Vec<i64>>, paid: Paid, random: &mut Randomness) -> Vec<i64> {
        self.0.draw(answer, paid, random)
    }

    fn describe(&self) -> String {
        String::new()
    }

    fn bias(&self) -> f64 {
        0.0
    }

    fn variance(&self) -> f64 {
        0.0
    }
}

fn main() {}
