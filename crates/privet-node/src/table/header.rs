//! Which column of a file without names is which column of the schema.

use privet::Error;
use privet::data::Intake;

/// For each column of a file, in its order, the place of the schema's column that it feeds, if any, by how many there are: all that
/// are declared; to predict, the label may be absent, or whatever is not read.
pub(super) fn places_in_order(
    file: &str,
    line: u64,
    cells: usize,
    intake: &Intake,
) -> Result<Vec<Option<usize>>, Error> {
    let count = intake.schema().columns().len();
    let label = intake.schema().label().map(|(column, _)| &column.name);
    let is_label = |place: usize| Some(&intake.schema().columns()[place].name) == label;
    let mut ways = vec![(0..count).collect::<Vec<_>>()];
    if !intake.reads_labels() || (0..count).all(|place| !intake.needs(place)) {
        ways.push((0..count).filter(|&place| !is_label(place)).collect());
        ways.push((0..count).filter(|&place| intake.reads(place)).collect());
    }
    match ways.iter().find(|way| way.len() == cells) {
        Some(way) => Ok(way
            .iter()
            .map(|&place| Some(place).filter(|&place| intake.reads(place)))
            .collect()),
        None => {
            let s = if cells == 1 { "" } else { "s" };
            Err(Error::data_at(
                file,
                Some(line),
                format!(
                    "{cells} cell{s} where the schema declares {count} columns; a file without names has \
                 them all, in the schema's order"
                ),
            ))
        }
    }
}
