//! E0308: a claim for one relation is not paid under another.
use privet::privacy::mechanism::Laplace;
use privet::privacy::{AddRemove, Ledger, Query, Replace};

fn pay(ledger: &mut Ledger<AddRemove>, mechanism: &Laplace, query: Query<'_, Replace>) {
    let _ = ledger.release("a count", mechanism, query);
}

fn main() {
    let _ = pay;
}
