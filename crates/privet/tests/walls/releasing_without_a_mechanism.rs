//! E0624: nothing is released but by a mechanism.
use privet::privacy::Released;

fn main() {
    let _ = Released::new(34);
}
