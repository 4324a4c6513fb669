//! E0382: one payment buys one draw.
use privet::privacy::mechanism::{Laplace, Mechanism};
use privet::privacy::{Paid, Private, Randomness};

fn draw_twice(mechanism: &Laplace, paid: Paid, random: &mut Randomness) {
    let _ = mechanism.draw(Private::new(vec![1]), paid, random);
    let _ = mechanism.draw(Private::new(vec![1]), paid, random);
}

fn main() {
    let _ = draw_twice;
}
