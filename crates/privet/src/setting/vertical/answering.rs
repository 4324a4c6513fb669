//! What a feature holder makes of released values: branches, ranks, thresholds.

use super::message::{Ordinals, Question};
use super::packed::{self, Packed};
use super::release::{Release, ReleasedColumn};
use super::texts::{declared, meant};
use crate::Error;
use crate::data::schema::Kind;
use crate::wire::MOST_BYTES;

/// Which rows go left at each question, by the released values.
pub(super) fn branches(release: &Release, questions: &[Question]) -> Result<Vec<Vec<u8>>, String> {
    let bytes = questions.len().saturating_mul(release.rows.div_ceil(8) + 8);
    if bytes > MOST_BYTES / 2 {
        return Err(format!(
            "{} questions about {} rows, whose answers do not fit into a message",
            questions.len(),
            release.rows
        ));
    }
    questions
        .iter()
        .map(|question| {
            let place = release.schema.features().position(|c| c.name == question.column);
            let place = place.ok_or("it asks about a column that is not here")?;
            let ReleasedColumn { reading, values } = &release.columns[place];
            if reading.each != 1 {
                return Err("it asks about a column of flags".into());
            }
            let kind = release.schema.features().nth(place).map(|column| &column.kind);
            let ours = kind.and_then(|kind| declared(&question.column, &meant(kind, *reading).ok()?).ok());
            if ours != Some(question.declared) {
                return Err(format!(
                    "its model knows the column '{}' by another declaration than ours",
                    question.column
                ));
            }
            let mut left = vec![false; reading.outputs];
            for slot in &question.left {
                if let Some(goes) = left.get_mut(usize::from(*slot)) {
                    *goes = true;
                }
            }
            let bits = values.iter().map(|value| u16::from(left[usize::from(value)]));
            Ok(packed::pack(bits, 1))
        })
        .collect()
}

/// The rank of each value among those that occur in its column, and the values by rank.
pub(super) fn ranked(release: Release) -> Result<(Ordinals, Vec<Vec<u16>>), Error> {
    let (mut ranks, mut tables) = (Vec::new(), Vec::new());
    for (declared, column) in release.schema.features().zip(&release.columns) {
        if column.reading.each != 1 || matches!(declared.kind, Kind::Category(_)) {
            let why = format!(
                "protocol = \"as_published\" ranks values, and the column '{}' has no order: declare flags or ordinals, or use \
                 protocol = \"columns\"",
                declared.name
            );
            return Err(Error::parameter("protocol", why));
        }
        let mut seen = vec![false; column.reading.outputs];
        column
            .values
            .iter()
            .for_each(|value| seen[usize::from(value)] = true);
        let table: Vec<u16> = (0..seen.len() as u16).filter(|v| seen[usize::from(*v)]).collect();
        let mut rank_of = vec![0; seen.len()];
        for (rank, value) in table.iter().enumerate() {
            rank_of[usize::from(*value)] = rank as u32;
        }
        ranks.push(
            column
                .values
                .iter()
                .map(|value| rank_of[usize::from(value)])
                .collect(),
        );
        tables.push(table);
    }
    let told = Release {
        rows: 0,
        columns: release
            .columns
            .iter()
            .map(|column| ReleasedColumn {
                reading: column.reading,
                values: Packed::new([].into_iter(), column.reading.outputs),
            })
            .collect(),
        ..release
    };
    Ok((Ordinals { release: told, ranks }, tables))
}

/// The values on the two sides of each split, if there are such splits.
pub(super) fn thresholds(tables: &[Vec<u16>], splits: &[Vec<u32>]) -> Option<Vec<Vec<[u16; 2]>>> {
    // Each is asked for once: the answer is no longer than what is known here.
    let rising = |ranks: &Vec<u32>| ranks.is_sorted_by(|one, next| one < next);
    if splits.len() != tables.len() || !splits.iter().all(rising) {
        return None;
    }
    let each = splits.iter().zip(tables).map(|(ranks, table)| {
        let pair = |rank: &u32| {
            let rank = usize::try_from(*rank).ok()?;
            Some([*table.get(rank)?, *table.get(rank.checked_add(1)?)?])
        };
        ranks.iter().map(pair).collect()
    });
    each.collect()
}
