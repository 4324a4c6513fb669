//! What the schemas of parties must say alike, line by line, where each has rows of the same columns.

use sha2::{Digest, Sha256};

use super::{Kind, Schema};
use crate::Error;

/// A digest of all of a schema.
pub(crate) fn digest(schema: &Schema) -> [u8; 32] {
    Sha256::digest(schema.to_toml()).into()
}

/// The lines that must be alike: who is one person, every feature, the label. The data set's name, how its file is written and columns
/// that nothing is learnt from are each owner's own.
pub(crate) fn lines(schema: &Schema) -> Result<Vec<String>, Error> {
    let learnt = schema.select(|column| column.kind.is_feature() || matches!(column.kind, Kind::Label(_)))?;
    let text = schema.to_toml();
    let head = text.lines().take_while(|line| *line != "[file]");
    let unit = head.filter(|line| line.starts_with("unit =") || line.starts_with("rows_per_unit ="));
    let columns = learnt.to_toml();
    let columns = columns.lines().skip_while(|line| *line != "[columns]").skip(1);
    Ok(unit.chain(columns).map(str::to_owned).collect())
}

/// Where two schemas differ, line by line; nothing if they are alike.
pub(crate) fn differences((whose, common): (&str, &[String]), own: &[String], name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in common.iter().filter(|line| !own.contains(line)) {
        found.push(format!("{whose} has {line}"));
    }
    for line in own.iter().filter(|line| !common.contains(line)) {
        found.push(format!("the schema of '{name}' has {line}"));
    }
    if found.is_empty() && common != own {
        found.push(format!(
            "the schema of '{name}' has the same columns in another order"
        ));
    }
    found
}
