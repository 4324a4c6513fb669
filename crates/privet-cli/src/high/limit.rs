//! A budget as it was typed, as the limit that is asked for.

use std::num::NonZeroU32;

use privet::privacy::Relation;
use privet_node::verb::{Failure, Limit, Limits, dataset_name};

use crate::low::{self, Change};

pub(super) fn limit_of(low: &low::Limit) -> Result<Limit, Failure> {
    let limits = Limits {
        dataset: dataset_name(&low.dataset)?,
        relation: relation_of(low)?,
        delta: parse(low.delta.as_deref())?,
        epsilon: parse(low.epsilon.as_deref())?,
        rho: parse(low.rho.as_deref())?,
        mu_squared: parse(low.mu_squared.as_deref())?,
        second: low.second_budget,
    };
    limits.checked()
}

fn parse<T: std::str::FromStr<Err = privet::Error>>(text: Option<&str>) -> Result<Option<T>, Failure> {
    Ok(text.map(str::parse).transpose()?)
}

fn relation_of(low: &low::Limit) -> Result<Relation, Failure> {
    let rows: NonZeroU32 = low.rows_per_unit.parse().map_err(|_| {
        Failure::usage(format!(
            "--rows-per-unit {}: a person has at least one row, and at most 4294967295",
            low.rows_per_unit
        ))
    })?;
    let unit = low.unit.clone();
    if unit
        .as_ref()
        .is_some_and(|column| column.is_empty() || column.trim() != column)
    {
        return Err(Failure::usage(
            "--unit needs the name of the column that tells people apart, without spaces at its ends",
        ));
    }
    if low.change != Change::ReplacePrivate && !low.columns.is_empty() {
        return Err(Failure::usage(
            "--columns belongs to --change replace-private: the other changes protect all columns",
        ));
    }
    if low.change == Change::Owner && (unit.is_some() || rows != NonZeroU32::MIN) {
        return Err(Failure::usage(
            "--change owner protects all rows of an owner: leave --unit and --rows-per-unit away",
        ));
    }
    Ok(match low.change {
        Change::Owner => Relation::Owner,
        Change::AddRemove => Relation::AddRemove { rows, unit },
        Change::Replace => Relation::Replace { rows, unit },
        Change::ReplacePrivate if low.columns.is_empty() => {
            return Err(Failure::usage(
                "--change replace-private needs the private columns: add --columns diagnosis,income",
            ));
        }
        Change::ReplacePrivate => {
            if low.columns.iter().any(|column| column.trim().is_empty()) {
                return Err(Failure::usage("--columns has an empty name between two commas"));
            }
            let columns = low.columns.iter().map(|column| column.trim().to_owned());
            Relation::ReplacePrivate {
                rows,
                unit,
                columns: columns.collect(),
            }
        }
    })
}
