//! Which column of a table is which column of the schema.

use super::guard::unguarded;
use super::schema::{ColumnGuess, line_to_add};
use super::table::Intake;
use crate::Error;

/// For each column of a table, in its order, the place of the schema's column that it feeds, if any. `source` is what the
/// table is called in messages, and `form` what it is: "file" or "frame".
///
/// # Errors
/// [`Error::Data`] if the names are not those of the schema's table.
pub fn places(
    (source, form): (&str, &str),
    names: &[String],
    intake: &Intake,
) -> Result<Vec<Option<usize>>, Error> {
    let columns = intake.schema().columns();
    let bad = |what: String| Err(Error::data_in(source, what));
    for (i, name) in names.iter().enumerate() {
        if name.is_empty() && columns.iter().all(|column| !column.name.is_empty()) {
            let index = match i {
                0 => format!(
                    ", or, if these are the row numbers that pandas writes, add to the schema\n  {}",
                    line_to_add("", ColumnGuess::Nothing)
                ),
                _ => String::new(),
            };
            return bad(format!(
                "column {} has no name; give it one in the first line{index}",
                i + 1
            ));
        }
        if let Some(first) = names[..i].iter().position(|other| other == name) {
            return bad(format!(
                "columns {} and {} are both called '{name}'; rename one",
                first + 1,
                i + 1
            ));
        }
    }
    let columns_are_many = columns.len() > 1;
    let found: Vec<Option<usize>> = names
        .iter()
        .map(|name| {
            let place = |name: &str| columns.iter().position(|column| column.name == name);
            // A name that was guarded against spreadsheet programs, unless the same column is there without a guard.
            let without_guard = || unguarded(name.as_bytes()).and_then(|_| name.get(1..));
            place(name).or_else(|| {
                let bare = without_guard().filter(|bare| !names.iter().any(|other| other == bare));
                bare.and_then(place)
            })
        })
        .collect();
    let missing: Vec<String> = (0..columns.len())
        .filter(|&place| intake.needs(place) && !found.contains(&Some(place)))
        .map(|place| format!("'{}'", columns[place].name))
        .collect();
    let plural = |count: usize| match count {
        1 => ("column", "is", "a line"),
        _ => ("columns", "are", "lines"),
    };
    if !missing.is_empty() {
        let (columns, are, _) = plural(missing.len());
        let delimiter = intake.schema().layout().delimiter as char;
        let hint = if form == "file" && names.len() == 1 && columns_are_many {
            format!(
                "; is another delimiter used? The schema says {:?}",
                delimiter.to_string()
            )
        } else {
            String::new()
        };
        let hint = match missing.iter().any(|name| name.contains('*')) {
            true => "; a pattern is for a code book: `privet schema draft FILE --from CODEBOOK.toml` writes a line for each column".into(),
            false => hint,
        };
        return bad(format!(
            "{columns} {} {are} declared in the schema and not in the {form}; it has {}{hint}",
            missing.join(", "),
            listed(names)
        ));
    }
    let unknown: Vec<&String> = names
        .iter()
        .zip(&found)
        .filter(|(_, place)| place.is_none())
        .map(|(name, _)| name)
        .collect();
    // To train, an owner says of every column what it is; to predict, what the model does not know is not looked at.
    if intake.reads_labels() && !unknown.is_empty() {
        let (columns, are, lines) = plural(unknown.len());
        let quoted: Vec<String> = unknown.iter().map(|name| format!("'{name}'")).collect();
        let add: Vec<String> = unknown
            .iter()
            .map(|name| format!("  {}", line_to_add(name, ColumnGuess::Nothing)))
            .collect();
        return bad(format!(
            "{columns} {} {are} not declared in the schema; add {lines} such as\n{}",
            quoted.join(", "),
            add.join("\n")
        ));
    }
    Ok(found
        .into_iter()
        .map(|place| place.filter(|&place| intake.reads(place)))
        .collect())
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}
