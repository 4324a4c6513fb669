//! `schema.toml`, from text.

use std::num::NonZeroU32;

use super::check::Place;
use super::column::{self, EXAMPLE};
use super::{Layout, Schema, Unit};
use crate::Error;
use crate::data::document::{Document, Found, Section};
use crate::error::Subject;
use crate::privacy::texts::{hidden, shown};

impl Schema {
    /// Reads a schema; `name` stands for the file in messages.
    ///
    /// ```
    /// let schema = privet::data::Schema::from_toml(
    ///     "schema.toml",
    ///     r#"
    ///     dataset = "clinic"
    ///     [columns]
    ///     age = { type = "integer", min = 0, max = 120, measure = "years" }
    ///     sex = { type = "category", values = ["F", "M"], private = false }
    ///     outcome = { type = "label", values = ["alive", "dead"] }
    ///     "#,
    /// )?;
    /// assert_eq!(schema.features().count(), 2);
    /// # Ok::<(), privet::Error>(())
    /// ```
    ///
    /// Columns are private unless `private = false`. An id or a skipped column is never learnt from, and so is not.
    ///
    /// # Errors
    /// [`Error::Data`] with everything that is wrong, each with its line and what to write instead.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, Error> {
        let document = Document::parse(name, text)?;
        let schema = read(&document, document.root(), MOST_SLOTS);
        if let Some(why) = hidden_dataset(&schema.dataset) {
            document.finding(document.root().line_of("dataset"), why);
        }
        document.finish()?;
        Ok(schema)
    }

    /// Reads a schema that was accepted before: names are not looked at again.
    pub(crate) fn from_stored(name: &str, text: &str) -> Result<Self, Error> {
        Self::accepted(name, text, MOST_SLOTS)
    }

    /// As [`from_stored`](Self::from_stored), of a text that a peer sent: a short one takes no more than a few megabytes.
    pub(crate) fn from_peer(name: &str, text: &str) -> Result<Self, Error> {
        Self::accepted(name, text, MOST_SLOTS_OF_PEER)
    }

    fn accepted(name: &str, text: &str, most: usize) -> Result<Self, Error> {
        let document = Document::stored(name, text)?;
        let schema = read(&document, document.root(), most);
        document.finish()?;
        Ok(schema)
    }

    /// That a peer will read it: asked before its columns are released.
    pub(crate) fn check_sendable(&self) -> Result<(), Error> {
        let slots = self.features().map(|column| column.kind.slots()).sum();
        too_many_slots(slots, MOST_SLOTS_OF_PEER)
            .map_or(Ok(()), |why| Err(Error::parameter(Subject::Schema, why)))
    }
}

/// Bins and values of all columns together, at most: a short text must not take gigabytes.
pub(super) const MOST_SLOTS: usize = 1 << 24;
/// The same of a text that a peer sent.
pub(crate) const MOST_SLOTS_OF_PEER: usize = 1 << 20;

/// Why no other column can be added, if none can.
pub(super) fn too_many_slots(slots: usize, most: usize) -> Option<String> {
    (slots > most).then(|| {
        format!(
            "the columns so far have {slots} bins and values, and {most} are possible: declare fewer bins"
        )
    })
}

/// Why this cannot be the name of a data set that is declared now, if a character of it cannot be seen. Columns and values may have
/// such characters where the table has them, and TOML shows them.
pub(super) fn hidden_dataset(name: &str) -> Option<String> {
    // Control characters are refused in every schema.
    let hidden = hidden(name).filter(|hidden| !hidden.character.is_control())?;
    Some(format!(
        "{:?} cannot be the name of a data set: it has {hidden}, which cannot be seen: remove that character",
        shown(name)
    ))
}

/// How many rows of a person are kept.
pub(super) fn rows_per_unit(rows: i64) -> Result<NonZeroU32, String> {
    let few = u32::try_from(rows).ok().and_then(NonZeroU32::new);
    few.ok_or_else(|| {
        format!(
            "rows_per_unit = {rows}: at least 1 and at most {} are possible",
            u32::MAX
        )
    })
}

/// The schema; where something was found, a stand-in that nobody will see.
fn read(document: &Document, root: Section<'_>, most: usize) -> Schema {
    let dataset = root.required_text("dataset", "\"adult\"");
    let unit = Unit {
        column: root.text("unit").map(|found| found.value),
        rows: rows(root).unwrap_or(NonZeroU32::MIN),
    };
    let missing = root.texts("missing").map_or_else(
        || Schema::MISSING.map(str::to_owned).to_vec(),
        |found| found.value,
    );
    let file = root.section("file");
    let layout = file.map_or_else(Layout::default, layout);
    let example = "age = { type = \"integer\", min = 0, max = 120 }\nsex = { type = \"category\", values = [\"F\", \"M\"] }";
    let section = root.required_section("columns", example);
    let sections = section.map_or_else(Vec::new, |section| section.sections(EXAMPLE));
    let mut whole = section.is_some_and(|section| section.keys().count() == sections.len());
    let mut columns = Vec::with_capacity(sections.len());
    let mut lines = Vec::with_capacity(sections.len());
    let mut slots = 0;
    for section in sections {
        if let Some(why) = too_many_slots(slots, most) {
            document.finding(section.line(), why);
            whole = false;
            break;
        }
        match column::read(section) {
            Some(column) => {
                slots += column.kind.slots();
                columns.push(column);
                lines.push(section.line());
            }
            None => whole = false,
        }
    }
    let schema = Schema {
        dataset: dataset
            .as_ref()
            .map_or_else(|| "missing".into(), |found| found.value.clone()),
        unit,
        layout,
        missing,
        columns,
    };
    for (place, why) in schema.faults() {
        let line = match place {
            Place::Dataset => root.line_of("dataset"),
            Place::Rows if root.has("unit") => continue,
            Place::Rows => root.line_of("rows_per_unit"),
            Place::File(key) => file.map_or(1, |file| file.line_of(key)),
            Place::Missing => root.line_of("missing"),
            Place::Column(column) => lines[column],
            // A column that could not be read may be the one that is wanted.
            place if !whole && place.wants_a_column() => continue,
            Place::Unit => root.line_of("unit"),
            Place::Columns => root.line_of("columns"),
        };
        document.finding(line, why);
    }
    schema
}

fn rows(root: Section<'_>) -> Option<NonZeroU32> {
    let Found { value, .. } = root.integer("rows_per_unit")?;
    rows_per_unit(value)
        .map_err(|why| root.finding_at("rows_per_unit", why))
        .ok()
}

fn layout(file: Section<'_>) -> Layout {
    let default = Layout::default();
    Layout {
        header: file.flag("header").map_or(default.header, |found| found.value),
        delimiter: mark(file, "delimiter").unwrap_or(default.delimiter),
        quote: mark(file, "quote").unwrap_or(default.quote),
        comment: mark(file, "comment"),
        decimal: decimal(file).unwrap_or(default.decimal),
    }
}

fn decimal(file: Section<'_>) -> Option<u8> {
    file.choice("decimal", &[(".", b'.'), (",", b',')])
        .map(|found| found.value)
}

fn mark(file: Section<'_>, key: &str) -> Option<u8> {
    let text = file.text(key)?.value;
    match text.as_bytes() {
        b"tab" => Some(b'\t'),
        [byte] => Some(*byte),
        _ => {
            file.finding_at(
                key,
                format!("{key} = {text:?} must be one ASCII character, or \"tab\""),
            );
            None
        }
    }
}
