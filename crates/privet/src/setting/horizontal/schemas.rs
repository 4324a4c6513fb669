//! What owners' schemas must say alike, line by line.

use sha2::{Digest, Sha256};

use crate::Error;
use crate::data::schema::{Kind, Schema};

/// A digest of all of a schema.
pub(super) fn digest(schema: &Schema) -> [u8; 32] {
    Sha256::digest(schema.to_toml()).into()
}

/// The lines that must be alike: who is one person, every feature, the label. The data set's name, how its file is written and columns
/// that nothing is learnt from are each owner's own.
pub(super) fn lines(schema: &Schema) -> Result<Vec<String>, Error> {
    let learnt = schema.select(|column| column.kind.is_feature() || matches!(column.kind, Kind::Label(_)))?;
    let text = schema.to_toml();
    let head = text.lines().take_while(|line| *line != "[file]");
    let unit = head.filter(|line| line.starts_with("unit =") || line.starts_with("rows_per_unit ="));
    let columns = learnt.to_toml();
    let columns = columns.lines().skip_while(|line| *line != "[columns]").skip(1);
    Ok(unit.chain(columns).map(str::to_owned).collect())
}

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
    let mut found = Vec::new();
    for line in miner.iter().filter(|line| !owner.contains(line)) {
        found.push(format!("the miner's schema has {line}"));
    }
    for line in owner.iter().filter(|line| !miner.contains(line)) {
        found.push(format!("the schema of '{name}' has {line}"));
    }
    if found.is_empty() && miner != owner {
        found.push(format!(
            "the schema of '{name}' has the same columns in another order"
        ));
    }
    found
}
