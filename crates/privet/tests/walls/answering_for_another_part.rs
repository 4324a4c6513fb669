//! E0308: a part is asked about its own rows, not about a table from elsewhere.
use privet::Error;
use privet::privacy::mechanism::Laplace;
use privet::privacy::{AddRemove, Part, Private, Released, PerRow, Sensitivity};

fn ask(
    part: &mut Part<'_, PerRow<i64>, AddRemove>,
    mechanism: &Laplace,
    claim: Sensitivity<AddRemove>,
    table: &Private<PerRow<i64>>,
) -> Result<Released<Vec<i64>>, Error> {
    part.release(mechanism, 1, claim, |_| table.as_ref().map(|rows| vec![rows.as_slice().len() as i64]))
}

fn main() {
    let _ = ask;
}
