//! E0624: a private value enters a joint computation through the ledger only.
use privet::privacy::joint::Disclosed;

fn main() {
    let _ = Disclosed::new(34);
}
