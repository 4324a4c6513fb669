//! E0624: nor is its constructor open.
use privet::privacy::Paid;

fn main() {
    let _ = Paid::receipt();
}
