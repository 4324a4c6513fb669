//! E0277: a share of noise protects nobody by itself, so nothing is released with it.
use privet::Error;
use privet::privacy::mechanism::SharedLaplace;
use privet::privacy::{AddRemove, Ledger, Query, Released};

fn release(
    ledger: &mut Ledger<AddRemove>,
    mechanism: &SharedLaplace,
    query: Query<'_, AddRemove>,
) -> Result<Released<Vec<u64>>, Error> {
    ledger.release("a sum", mechanism, query)
}

fn main() {
    let _ = release;
}
