//! What owners' schemas must say alike, line by line.

use crate::Error;
use crate::data::schema::{Schema, alike};

pub(super) use alike::{digest, lines};

/// Where an owner's schema differs from the one that all have, line by line; nothing if a model can be trained on tables of both. The data
/// set's name, how the file is written and columns that nothing is learnt from may differ.
///
/// # Errors
/// [`Error::Parameter`] if a schema has nothing to learn from.
pub fn schema_differences(common: &Schema, own: &Schema, owner: &str) -> Result<Vec<String>, Error> {
    Ok(differences(
        &lines(&common.spread())?,
        &lines(&own.spread())?,
        owner,
    ))
}

/// Where two schemas differ, line by line; nothing if they are alike.
pub(super) fn differences(miner: &[String], owner: &[String], name: &str) -> Vec<String> {
    alike::differences(("the miner's schema", miner), owner, name)
}
