//! Which column of a table is which column of the schema.

use super::guard::unguarded;
use super::numeral::parse;
use super::schema::{Column, ColumnGuess, line_to_add};
use super::table::Intake;
use crate::Error;

/// What a table is, and so where its names stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableForm {
    /// Text: the first line has the names, or is a row that was taken for them.
    Text,
    /// Parquet.
    Parquet,
    /// Columns in memory.
    Frame,
}

impl TableForm {
    fn called(self) -> &'static str {
        match self {
            Self::Text | Self::Parquet => "file",
            Self::Frame => "frame",
        }
    }
}

/// For each column of a table, in its order, the place of the schema's column that it feeds, if any. `source` is what the
/// table is called in messages.
///
/// # Privacy
/// What stands where names are expected may be a row, also in a frame that was made of such a file. So it is shown only where some
/// of it is declared in the schema.
///
/// # Errors
/// [`Error::Data`] if the names are not those of the schema's table.
pub fn places(
    (source, form): (&str, TableForm),
    names: &[String],
    intake: &Intake,
) -> Result<Vec<Option<usize>>, Error> {
    let columns = intake.schema().columns();
    let bad = |what: String| Err(Error::data_in(source, what));
    let needed = || (0..columns.len()).filter(|&place| intake.needs(place));
    if (intake.reads_labels() || needed().next().is_some()) && !are_names(names, columns) {
        return bad(unlike_names(form, names, &needed().collect::<Vec<_>>(), intake));
    }
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
    let asked = intake.asked().filter(|&place| !found.contains(&Some(place)));
    if let Some(place) = asked {
        return bad(format!(
            "the {} has no column '{}'; it has {}",
            form.called(),
            columns[place].name,
            listed(names)
        ));
    }
    if !missing.is_empty() {
        let (columns, are, _) = plural(missing.len());
        let hint = match missing.iter().any(|name| name.contains('*')) {
            true => "; a pattern is for a code book: `privet schema draft FILE --from CODEBOOK.toml` writes a line for each column".into(),
            false => other_delimiter(form, names, intake),
        };
        return bad(format!(
            "{columns} {} {are} declared in the schema and not in the {}; it has {}{hint}",
            missing.join(", "),
            form.called(),
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

fn plural(count: usize) -> (&'static str, &'static str, &'static str) {
    match count {
        1 => ("column", "is", "a line"),
        _ => ("columns", "are", "lines"),
    }
}

/// Whether these are names and no row: some are declared, also if they are written otherwise or not yet apart. A number may be a
/// cell as well, so that numbers count only where most are declared.
fn are_names(names: &[String], columns: &[Column]) -> bool {
    let is_declared = |name: &str| {
        let bare = unguarded(name.as_bytes()).and_then(|_| name.get(1..));
        let name = bare.unwrap_or(name).trim();
        let mut declared = columns.iter().map(|column| &column.name);
        declared.any(|other| !other.is_empty() && other.to_lowercase() == name.to_lowercase())
    };
    let declared = || names.iter().filter(|name| is_declared(name));
    let pieces: Vec<&str> = names
        .iter()
        .flat_map(|name| name.split([',', ';', '\t', '|']))
        .collect();
    let is_number = |name: &str| parse(name.trim().as_bytes()).is_some();
    let words = pieces
        .iter()
        .map(|piece| piece.trim_matches(['"', '\'']))
        .chain(declared().map(String::as_str))
        .filter(|piece| !is_number(piece) && is_declared(piece));
    // One cell of a row may happen to be a declared name; two hardly are.
    let words: std::collections::BTreeSet<&str> = words.collect();
    words.len() > 1 || !words.is_empty() && pieces.len() < 3 || 2 * declared().count() > names.len()
}

/// What is said where none of the names is declared.
fn unlike_names(form: TableForm, names: &[String], needed: &[usize], intake: &Intake) -> String {
    let quoted: Vec<String> = needed
        .iter()
        .map(|&place| intake.schema().columns()[place].name.clone())
        .collect();
    let declared = match quoted.len() {
        0 => String::new(),
        count => {
            let (columns, are, _) = plural(count);
            format!("{columns} {} {are} declared in the schema, and ", listed(&quoted))
        }
    };
    let mend = match form {
        TableForm::Text => {
            "the first line does not have the declared names. If it is a row, write in the schema, below [file], header = false. If it \
             has names, correct them, there or in the schema. The line is not shown, since it may be somebody's row"
        }
        TableForm::Parquet | TableForm::Frame => {
            "none of these names is in the table. Correct the names, there or in the schema. Those of the table are not shown: where it \
             was made of a file without names, they are somebody's row"
        }
    };
    format!("{declared}{mend}{}", other_delimiter(form, names, intake))
}

fn other_delimiter(form: TableForm, names: &[String], intake: &Intake) -> String {
    if form != TableForm::Text || names.len() != 1 || intake.schema().columns().len() < 2 {
        return String::new();
    }
    let delimiter = char::from(intake.schema().layout().delimiter);
    format!(
        "; is another delimiter used? The schema says {:?}",
        delimiter.to_string()
    )
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let mut text: Vec<String> = names.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
    if names.len() > SHOWN {
        text.push(format!("and {} more", names.len() - SHOWN));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Schema;
    use crate::data::schema::{AnyColumn, flag, label, number};

    /// A row in which one cell happens to be a declared name is still a row.
    #[test]
    fn one_cell_that_is_a_declared_name_makes_no_header() {
        let columns: [AnyColumn; 4] = [
            number("age", 0..=120).into(),
            flag("married").into(),
            number("7", 0..=9).into(),
            label("ill", ["no", "yes"]).into(),
        ];
        let schema = Schema::builder("header")
            .columns(columns)
            .build()
            .expect("a schema");
        let is_header = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            are_names(&names, schema.columns())
        };
        for row in [
            &["44", "Married", "3", "jones"][..],
            &["44", "no", "7", "yes"],
            &["44;Married;3;jones"],
        ] {
            assert!(!is_header(row), "{row:?}");
        }
        for names in [
            &["age", "Married", "7", "ill"][..],
            &["AGE", "wed", "eight", "ill"],
            &["age;married;7;ill"],
            &["age", "wed"],
        ] {
            assert!(is_header(names), "{names:?}");
        }
    }
}
