//! E0624: only a ledger makes what an owner brings to a joint sum.
use privet::privacy::Contribution;

fn main() {
    let _ = Contribution::new(vec![34]);
}
