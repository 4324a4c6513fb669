//! E0451: only a ledger makes a receipt.
use privet::privacy::Paid;

fn main() {
    let _ = Paid { _only_a_ledger_makes_one: () };
}
