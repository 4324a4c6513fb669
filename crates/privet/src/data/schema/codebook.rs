//! A code book: what is publicly known of columns, for every table that has them.

use super::Column;
use super::column::{self, EXAMPLE};
use super::write::body;
use crate::Error;
use crate::data::document::Document;

/// Declared columns, by their names or by patterns such as `reading_*`, where `*` stands for any text.
#[derive(Debug, Clone, PartialEq)]
pub struct CodeBook {
    columns: Vec<Column>,
}

impl CodeBook {
    /// Reads a code book: `[columns]` as in a schema. Whatever else a schema says is allowed and not looked at, so that the schema of one
    /// table is a code book for the next.
    ///
    /// ```
    /// use privet::data::schema::CodeBook;
    ///
    /// let text = "[columns]\n\"reading_*\" = { type = \"number\", min = 0, max = 50 }\n";
    /// let book = CodeBook::from_toml("book.toml", text)?;
    /// assert_eq!(
    ///     book.declared("reading_17").as_deref(),
    ///     Some("type = \"number\", min = 0, max = 50, private = true")
    /// );
    /// assert_eq!(book.declared("age"), None);
    /// # Ok::<(), privet::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Data`] with everything that is wrong, line by line.
    pub fn from_toml(name: &str, text: &str) -> Result<Self, Error> {
        let document = Document::parse(name, text)?;
        let root = document.root();
        root.allow(&["dataset", "unit", "rows_per_unit", "missing", "file"]);
        let section = root.required_section("columns", &format!("\"reading_*\" = {EXAMPLE}"));
        let sections = section.map_or_else(Vec::new, |section| section.sections(EXAMPLE));
        let columns = sections.into_iter().filter_map(column::read).collect();
        document.finish()?;
        Ok(Self { columns })
    }

    /// What a schema says between the braces of the column of this name: as the code book names it, or else by the first pattern that fits.
    pub fn declared(&self, name: &str) -> Option<String> {
        let exact = self.columns.iter().find(|column| column.name == name);
        let found = exact.or_else(|| self.columns.iter().find(|column| fits(&column.name, name)))?;
        Some(body(found))
    }

    /// The names and patterns that no column of this table fits.
    pub fn unused(&self, names: &[&str]) -> Vec<&str> {
        let is_used = |column: &Column| names.iter().any(|name| fits(&column.name, name));
        let unused = self.columns.iter().filter(|column| !is_used(column));
        unused.map(|column| column.name.as_str()).collect()
    }
}

/// Whether a name fits a pattern.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(first) else {
        return false;
    };
    let mut ends = name.char_indices().map(|(place, _)| place).chain([name.len()]);
    ends.any(|place| fits(rest, &name[place..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_text() {
        for (pattern, name, expected) in [
            ("reading_*", "reading_1", true),
            ("reading_*", "reading_", true),
            ("reading_*", "reading", false),
            ("*_mm", "rain_mm", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "acb", false),
            ("*", "", true),
            ("é*", "éa", true),
            ("x", "xy", false),
        ] {
            assert_eq!(fits(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn a_name_comes_before_a_pattern_and_errors_have_lines() {
        let text = "dataset = \"d\"\n[columns]\n\"r_*\" = { type = \"integer\", min = 0, max = 9 }\nr_1 = { type = \"skip\" }\n";
        let book = CodeBook::from_toml("b", text).expect("a book");
        assert_eq!(
            book.declared("r_1").as_deref(),
            Some("type = \"skip\", private = false")
        );
        assert!(book.declared("r_2").is_some_and(|body| body.contains("max = 9")));
        let wrong = CodeBook::from_toml("b", "[columns]\n\"r_*\" = { type = \"integer\", min = 0 }\n");
        let wrong = wrong.expect_err("no maximum").to_string();
        assert!(wrong.contains("line 2") && wrong.contains("needs max"), "{wrong}");
    }
}
