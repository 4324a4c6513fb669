//! A schema to be filled in: names, and types as far as cells show them; never a bound or a list of values.
//!
//! Bounds that come from the rows show the rows. So a draft leaves them out, and a schema without them is refused.

use std::collections::BTreeSet;

use super::{Layout, Schema};
use crate::data::days;
use crate::data::document::{key, quoted};

/// The column type that some cells suggest. It is only used for a draft that the owner completes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColumnGuess {
    /// No cell, or missing cells only.
    #[default]
    Nothing,
    /// Nothing but 0 and 1.
    Bits,
    /// No and yes.
    Flag,
    /// Whole numbers.
    Integer,
    /// Numbers.
    Number,
    /// Dates, with or without a time.
    Date,
    /// Anything.
    Text,
}

impl ColumnGuess {
    /// What these cells suggest together.
    pub fn of_cells<'a>(cells: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut seen = Self::Nothing;
        for cell in cells {
            seen.look(cell);
        }
        seen
    }

    /// Looks at one more cell.
    pub fn look(&mut self, cell: &[u8]) {
        *self = self.and(Self::of(cell.trim_ascii()));
    }

    /// What both suggest together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        use ColumnGuess::{Bits, Date, Flag, Integer, Nothing, Number, Text};
        match (self, other) {
            (a, b) if a == b => a,
            (Nothing, x) | (x, Nothing) => x,
            (Bits, x) | (x, Bits) => x,
            (Integer, Number) | (Number, Integer) => Number,
            (Flag | Integer | Number | Date | Text, _) => Text,
        }
    }

    /// The same of numbers with a decimal comma: what cells suggest that have a point instead.
    pub fn of_cells_with_comma<'a>(cells: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut seen = Self::Nothing;
        for cell in cells {
            let text: Vec<u8> = cell
                .iter()
                .map(|&byte| if byte == b',' { b'.' } else { byte })
                .collect();
            seen = seen.and(match (Self::of(text.trim_ascii()), cell.contains(&b'.')) {
                (Self::Number, true) => Self::Text,
                (seen, _) => seen,
            });
        }
        seen
    }

    fn of(cell: &[u8]) -> Self {
        if Schema::MISSING.iter().any(|missing| missing.as_bytes() == cell) {
            return Self::Nothing;
        }
        if matches!(cell, b"0" | b"1") {
            return Self::Bits;
        }
        let words: [&[u8]; 8] = [b"no", b"yes", b"n", b"y", b"f", b"t", b"false", b"true"];
        if words.iter().any(|word| cell.eq_ignore_ascii_case(word)) {
            return Self::Flag;
        }
        let digits = cell.strip_prefix(b"-").unwrap_or(cell);
        // 007 is a code and not a number; longer ones tell people or things apart.
        let is_code = digits.len() > 1 && digits[0] == b'0' && digits[1].is_ascii_digit();
        if !is_code && (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit) {
            return Self::Integer;
        }
        match fast_float2::parse::<f64, _>(cell) {
            Ok(x) if x.is_finite() && !is_code => Self::Number,
            _ if days(cell).is_some() => Self::Date,
            _ => Self::Text,
        }
    }
}

/// The line that declares a column, with a remark on what is still to be filled in.
///
/// # Privacy
/// A message about a table that is being used must not depend on its cells: it says [`ColumnGuess::Nothing`]. Only a draft,
/// which its owner completes, looks at cells.
pub fn line_to_add(name: &str, seen: ColumnGuess) -> String {
    let (body, remark) = guessed(seen);
    line(name, body, remark)
}

fn guessed(seen: ColumnGuess) -> (&'static str, &'static str) {
    match seen {
        ColumnGuess::Nothing => ("type = \"skip\"", "or another type, with its bounds or values"),
        ColumnGuess::Bits | ColumnGuess::Flag => ("type = \"flag\"", ""),
        ColumnGuess::Integer => ("type = \"integer\"", "add: min = …, max = …"),
        ColumnGuess::Number => ("type = \"number\"", "add: min = …, max = …"),
        ColumnGuess::Date => ("type = \"date\"", "add: min = \"…\", max = \"…\""),
        ColumnGuess::Text => (
            "type = \"category\"",
            "add: values = [\"…\", \"…\"]; or type = \"id\" or \"skip\"",
        ),
    }
}

fn line(name: &str, body: &str, remark: &str) -> String {
    let line = format!("{} = {{ {body} }}", key(name));
    if remark.is_empty() {
        line
    } else {
        format!("{line}   # {remark}")
    }
}

/// One column of a draft.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DraftColumn {
    /// Its name.
    pub name: String,
    /// What its cells suggest.
    pub guess: ColumnGuess,
    /// The unit that its cells have besides numbers.
    pub measure: Option<String>,
    /// Whether its cells are numbers with commas between thousands, which no reader takes for numbers.
    pub thousands: bool,
    /// Whether it holds nothing but the numbers of the rows, as pandas writes them.
    pub is_index: bool,
    /// What is in it, if it cannot be read.
    pub unread: Option<String>,
    /// What a public file says of it, as it stands between the braces, and which file that is.
    pub known: Option<(String, String)>,
}

impl DraftColumn {
    /// The line that declares it.
    fn line(&self) -> String {
        if let Some((body, file)) = &self.known {
            return line(&self.name, body, &format!("from {file}"));
        }
        if let Some(what) = &self.unread {
            let remark =
                format!("{what}, which are not read: make it a number, a truth value or text in the file");
            return line(&self.name, "type = \"skip\"", &remark);
        }
        if self.is_index {
            return line(
                &self.name,
                "type = \"skip\"",
                "row numbers, as pandas writes them: not read",
            );
        }
        if self.name.is_empty() {
            return line(
                "",
                "type = \"skip\"",
                "no name, such as names of rows: not read; give it a name in the file to use it",
            );
        }
        if self.thousands {
            return line(
                &self.name,
                "type = \"skip\"",
                "numbers with commas between thousands: take these commas out of the file, then type = \"number\" and add: min = …, max = …",
            );
        }
        match (&self.measure, guessed(self.guess)) {
            (Some(measure), (body, remark)) => line(
                &self.name,
                &format!("{body}, measure = {}", quoted(measure)),
                remark,
            ),
            (None, (body, remark)) => line(&self.name, body, remark),
        }
    }
}

/// The text of a schema to be filled in; until it is, reading it gives a finding for each gap.
pub fn draft(dataset: &str, layout: Layout, columns: &[DraftColumn]) -> String {
    let mut out = format!("{HEAD}dataset = {}\n{UNIT}", quoted(dataset));
    let default = Layout::default();
    let mark = |byte: u8| match byte {
        b'\t' => "\"tab\"".to_owned(),
        byte => quoted(&char::from(byte).to_string()),
    };
    if layout != default {
        out += "\n[file]\n";
        if layout.header != default.header {
            out += "# The first line was taken for a row. If it has names, remove this, and call the columns below as it does.\n";
            out += "header = false   # columns come in the order below\n";
        }
        if layout.delimiter != default.delimiter {
            out += &format!("delimiter = {}\n", mark(layout.delimiter));
        }
        if layout.quote != default.quote {
            out += &format!("quote = {}\n", mark(layout.quote));
        }
        if let Some(comment) = layout.comment {
            out += &format!("comment = {}\n", mark(comment));
        }
        if layout.decimal != default.decimal {
            out += &format!(
                "decimal = {}   # numbers are written like 1,5\n",
                mark(layout.decimal)
            );
        }
    }
    if layout.header {
        out += "\n# The first line was taken for names. If it is a row, write header = false below [file]: names are published.\n";
    }
    out += COLUMNS;
    let mut names = BTreeSet::new();
    for column in columns {
        let line = column.line();
        if names.insert(&column.name) {
            out += &format!("{line}\n");
        } else {
            out += &format!("# {line}   # a second column of this name: rename it in the file first\n");
        }
    }
    out
}

const HEAD: &str = "\
# What is public about a table. Everything here can be published, so nothing here may come from its rows.

# The name under which the privacy budget of these people is kept. Use the same name for every table about them.
";

const UNIT: &str = "
# Who is one person? As it stands, each row is somebody else. If people have several rows, name the column that tells
# them apart (its type is \"id\") and how many rows of each person are used, at most:
# unit = \"person\"
# rows_per_unit = 3

# Texts that mean \"missing\", if not these:
# missing = [\"\", \"?\", \"NA\", \"NaN\", \"nan\", \"null\"]
";

const COLUMNS: &str = "
# Types were guessed from cells of the first 1000 rows, flags from all: check them. Bounds and values were left out,
# and are yours to fill in.
#
# Take them from public knowledge: a form, a code book, a law of nature. Never from the rows. The largest income in a
# table is the income of one person, and whoever reads it here knows that this person is in the table. Numbers beyond
# the bounds count as the bounds; values that are not listed share one slot. So bounds need not hold every number, and
# should not be far too wide: `privet schema check` says what that costs.
#
# Every column is private: what it says about a person is protected. Add private = false to a column that anybody may know
# of anybody. One column can be what is to be predicted: give it type = \"label\", with values or with min and max.
#
#   age = { type = \"integer\", min = 0, max = 120, measure = \"years\" }
#   income = { type = \"number\", min = 1, max = 1000000, transform = \"log\" }
#   balance = { type = \"number\", min = -10000, max = 100000, transform = \"log1p\", scale = 1000 }
#   admitted = { type = \"date\", min = \"2015-01-01\", max = \"2024-12-31\" }
#   grade = { type = \"ordinal\", values = [\"low\", \"mid\", \"high\"] }
#   outcome = { type = \"label\", values = [\"alive\", \"dead\"] }
#   notes = { type = \"skip\" }
[columns]
";

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(cells: &[&str]) -> ColumnGuess {
        ColumnGuess::of_cells(cells.iter().map(|cell| cell.as_bytes()))
    }

    #[test]
    fn cells_suggest_types() {
        for (cells, expected) in [
            (&[][..], ColumnGuess::Nothing),
            (&["", " NA ", "?"], ColumnGuess::Nothing),
            (&["0", "1", ""], ColumnGuess::Bits),
            (&["0", "1", "true"], ColumnGuess::Flag),
            (&["No", "YES"], ColumnGuess::Flag),
            (&["yes", "2"], ColumnGuess::Text),
            (&["0", "1", "2"], ColumnGuess::Integer),
            (&["-3", " 4 "], ColumnGuess::Integer),
            (&["1", "2.5"], ColumnGuess::Number),
            (&["1e3", "7"], ColumnGuess::Number),
            (&["007", "7"], ColumnGuess::Text),
            (&["0.5", "-0.25"], ColumnGuess::Number),
            (&["12345678901234567890"], ColumnGuess::Number),
            (&["-"], ColumnGuess::Text),
            (&["inf"], ColumnGuess::Text),
            (&["a", "1"], ColumnGuess::Text),
            (&["2024-02-29", "2024-03-01 10:30"], ColumnGuess::Date),
            (&["2024-02-29", "7"], ColumnGuess::Text),
        ] {
            assert_eq!(seen(cells), expected, "{cells:?}");
            let backwards: Vec<&str> = cells.iter().rev().copied().collect();
            assert_eq!(seen(&backwards), expected, "{cells:?} backwards");
        }
    }

    #[test]
    fn a_line_to_add_parses_and_quotes_odd_names() {
        assert_eq!(
            line_to_add("age", ColumnGuess::Integer),
            "age = { type = \"integer\" }   # add: min = …, max = …"
        );
        assert_eq!(
            line_to_add("pulse (1/min)", ColumnGuess::Flag),
            "\"pulse (1/min)\" = { type = \"flag\" }"
        );
        assert_eq!(
            line_to_add("x.y", ColumnGuess::Nothing),
            "\"x.y\" = { type = \"skip\" }   # or another type, with its bounds or values"
        );
        assert_eq!(line_to_add("", ColumnGuess::Bits), "\"\" = { type = \"flag\" }");
    }

    #[test]
    fn a_draft_is_refused_until_it_is_filled_in() {
        let columns = [
            ("age", ColumnGuess::Integer),
            ("blood \"group\"", ColumnGuess::Text),
            ("smoker", ColumnGuess::Flag),
            ("age", ColumnGuess::Number),
        ]
        .map(|(name, guess)| DraftColumn {
            name: name.to_owned(),
            guess,
            ..DraftColumn::default()
        });
        let layout = Layout {
            delimiter: b'\t',
            comment: Some(b'#'),
            ..Layout::default()
        };
        let text = draft("clinic", layout, &columns);
        let error = Schema::from_toml("draft", &text).expect_err("gaps").to_string();
        assert!(error.starts_with("draft has 2 errors:"), "{error}");
        assert!(error.contains("column 'age' needs min and max"), "{error}");
        assert!(
            error.contains("column 'blood \"group\"' needs its values"),
            "{error}"
        );
        let filled = text
            .replace("\"integer\" }   # add", "\"integer\", min = 0, max = 9 }   # add")
            .replace(
                "\"category\" }   # add",
                "\"category\", values = [\"0\", \"A\"] }   # add",
            );
        let schema = Schema::from_toml("draft", &filled).expect("complete");
        assert_eq!(schema.layout(), layout);
        assert_eq!(schema.columns().len(), 3);
    }
}
