//! Tables as text: the one way in which Privet writes CSV. What it looks like is described in `docs/csv.md`.

use std::io::Write;

use privet::data::guarded;

/// Rows of cells, separated by commas and line feeds.
#[derive(Debug, Default)]
pub struct CsvWriter {
    bytes: Vec<u8>,
    /// Cells of the row that is being written.
    cells: usize,
    /// Where this row begins.
    begin: usize,
}

impl CsvWriter {
    /// A table whose first row has these names.
    pub fn with_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Self {
        let mut writer = Self::default();
        names.into_iter().for_each(|name| writer.text(name.as_bytes()));
        writer.end_row();
        writer
    }

    /// A text. If a spreadsheet program could run it as a formula, it gets a guard.
    pub fn text(&mut self, cell: &[u8]) {
        self.separate();
        let cell = guarded(cell);
        if cell.iter().any(|byte| b",\"\n\r".contains(byte)) {
            self.bytes.push(b'"');
            for &byte in cell.iter() {
                if byte == b'"' {
                    self.bytes.push(b'"');
                }
                self.bytes.push(byte);
            }
            self.bytes.push(b'"');
        } else {
            self.bytes.extend_from_slice(&cell);
        }
    }

    /// A number, which is no formula whatever its sign.
    pub fn number(&mut self, cell: impl std::fmt::Display) {
        self.separate();
        // Writing to a vector cannot fail.
        let _ = write!(self.bytes, "{cell}");
    }

    /// Ends a row. An empty line would not be a row to most readers, so that a single empty cell has quotes.
    pub fn end_row(&mut self) {
        if self.cells == 1 && self.bytes.len() == self.begin {
            self.bytes.extend_from_slice(b"\"\"");
        }
        self.bytes.push(b'\n');
        self.cells = 0;
        self.begin = self.bytes.len();
    }

    /// Adds rows that another writer wrote.
    pub fn append(&mut self, rows: &Self) {
        self.bytes.extend_from_slice(&rows.bytes);
        self.begin = self.bytes.len();
    }

    /// The text.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    fn separate(&mut self) {
        if self.cells > 0 {
            self.bytes.push(b',');
        }
        self.cells += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(names: &[&str], rows: &[&[&str]]) -> String {
        let mut writer = CsvWriter::with_names(names.iter().copied());
        for row in rows {
            row.iter().for_each(|cell| writer.text(cell.as_bytes()));
            writer.end_row();
        }
        String::from_utf8(writer.into_bytes()).expect("text")
    }

    #[test]
    fn an_empty_row_of_one_column_is_still_a_row() {
        assert_eq!(written(&["a"], &[&["x"], &[""], &["y"]]), "a\nx\n\"\"\ny\n");
        assert_eq!(written(&["a", "b"], &[&["", ""], &["x", ""]]), "a,b\n,\nx,\n");
    }

    #[test]
    fn cells_are_quoted_and_formulas_guarded() {
        let text = written(&["=a"], &[&["a,\"b\""], &["=1,2"], &["-1"], &["-x"], &["a\nb"]]);
        assert_eq!(text, "'=a\n\"a,\"\"b\"\"\"\n\"'=1,2\"\n-1\n'-x\n\"a\nb\"\n");
        let mut writer = CsvWriter::default();
        writer.number(-0.5);
        writer.number(3);
        writer.end_row();
        assert_eq!(writer.into_bytes(), b"-0.5,3\n");
    }
}
