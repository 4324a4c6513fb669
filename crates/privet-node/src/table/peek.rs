//! A first look at a file that has no schema yet: names and some cells, to draft one.
//!
//! Only its owner sees what is found here, and a draft omits whatever must come from public knowledge.

use std::io::{BufReader, Read};
use std::path::Path;

use privet::Error;
use privet::data::schema::{ColumnGuess, Layout};

use super::blocks::{SIZE, TextBlocks};
use super::rows::record;

/// How many rows are looked at.
pub(super) const ROWS: usize = 1000;

/// What a file seems to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePreview {
    /// How it seems to be written, if it is text.
    pub layout: Layout,
    /// Each column's name (`column_1` and so on where the file has none) and some of its cells as text, in the file's order.
    /// A column that cannot be read, such as a nested one, has no cells.
    pub columns: Vec<ColumnPreview>,
}

/// A column's name and some of its cells as text.
pub type ColumnPreview = (String, Vec<Vec<u8>>);

impl FilePreview {
    /// Whether no row was there to look at.
    pub fn is_without_rows(&self) -> bool {
        self.columns.iter().all(|(_, cells)| cells.is_empty())
    }

    /// Whether the column at this place holds nothing but the numbers of the rows, as pandas writes them: without a name, or with one
    /// that pandas makes up, and counting by one.
    pub fn is_index(&self, place: usize) -> bool {
        let Some((name, cells)) = self.columns.get(place) else {
            return false;
        };
        let named = name.is_empty() || name.starts_with("Unnamed: ") || name.starts_with("__index_level_");
        let numbers = cells
            .iter()
            .map(|cell| std::str::from_utf8(cell).ok()?.parse::<i64>().ok());
        let numbers: Option<Vec<i64>> = numbers.collect();
        // An index of dates or names has no name either; it is not learnt from unless it gets one.
        named
            && (name.is_empty()
                || numbers.is_some_and(|numbers| {
                    numbers
                        .windows(2)
                        .all(|pair| pair[0].checked_add(1) == Some(pair[1]))
                }))
    }
}

/// Looks at the first rows of a file.
///
/// # Errors
/// [`Error::Data`] for a file that cannot be read, or is empty.
pub fn peek(path: &Path) -> Result<FilePreview, Error> {
    let name = super::shown(path);
    let (file, _, format) = super::open(path, &name)?;
    match format {
        super::Format::Parquet => Ok(FilePreview {
            layout: Layout::default(),
            columns: super::peek_parquet(&name, file, ROWS)?,
        }),
        super::Format::Gzip => peek_text(&name, flate2::read::MultiGzDecoder::new(BufReader::new(file))),
        super::Format::Text => peek_text(&name, super::text(&name, file)?),
    }
}

pub(super) type RawRow = Vec<Vec<u8>>;

fn peek_text(name: &str, input: impl Read) -> Result<FilePreview, Error> {
    let mut text = Vec::new();
    let mut blocks = TextBlocks::new(input, Layout::default(), SIZE);
    if let Err(fault) = blocks.next(&mut text) {
        return Err(Error::data_at(name, fault.line.map(|line| line + 1), fault.what));
    }
    let (layout, names, rows) = decided(name, &text)?;
    let columns = names.into_iter().enumerate();
    let cells = |place: usize| rows.iter().filter_map(|row| row.get(place).cloned()).collect();
    Ok(FilePreview {
        layout,
        columns: columns.map(|(place, name)| (name, cells(place))).collect(),
    })
}

/// How a text seems to be written, the names of its columns, and its first rows.
pub(super) fn decided(name: &str, text: &[u8]) -> Result<(Layout, Vec<String>, Vec<RawRow>), Error> {
    // The delimiter with which most rows have as many cells as the first, and more than one; of these, the most cells.
    let ways = *b",;\t|";
    let best = ways.map(|delimiter| {
        let layout = Layout {
            delimiter,
            ..Layout::default()
        };
        let rows = rows(text, &layout, ROWS);
        let cells = rows.first().map_or(0, Vec::len);
        let alike = rows.iter().filter(|row| row.len() == cells).count();
        let score = if cells > 1 { alike * 1000 / rows.len() } else { 0 };
        (score, cells, layout, rows)
    });
    let best = best
        .into_iter()
        .rev()
        .max_by_key(|&(score, cells, ..)| (score, cells));
    let Some((_, _, mut layout, mut rows)) = best.filter(|(_, cells, ..)| *cells > 0) else {
        let why = match text.contains(&0) {
            true => "these are no lines of text; if it is UTF-16, save it as UTF-8",
            false => "the file is empty; there is nothing to look at",
        };
        return Err(Error::data_in(name, why));
    };
    layout.header = is_header(&rows);
    let names: Vec<String> = if layout.header {
        let name = |cell: &Vec<u8>| String::from_utf8_lossy(cell).into_owned();
        rows.remove(0).iter().map(name).collect()
    } else {
        (1..=rows[0].len()).map(|i| format!("column_{i}")).collect()
    };
    if layout.delimiter != b',' && has_decimal_commas(&rows) {
        layout.decimal = b',';
    }
    Ok((layout, names, rows))
}

/// Whether some column's cells are numbers with a comma before the fraction, and no column's have a point there.
fn has_decimal_commas(rows: &[RawRow]) -> bool {
    let columns = rows.first().map_or(0, Vec::len);
    let guess = |place: usize, comma: bool| {
        let cells = rows.iter().filter_map(|row| row.get(place).map(Vec::as_slice));
        match comma {
            true => ColumnGuess::of_cells_with_comma(cells),
            false => ColumnGuess::of_cells(cells),
        }
    };
    let number = ColumnGuess::Number;
    (0..columns).any(|place| guess(place, true) == number && guess(place, false) == ColumnGuess::Text)
        && (0..columns).all(|place| guess(place, false) != number)
}

pub(super) fn rows(text: &[u8], layout: &Layout, most: usize) -> Vec<RawRow> {
    let (mut at, mut buffer, mut rows) = (0, Vec::new(), Vec::new());
    while at < text.len() && rows.len() <= most {
        let mut row = RawRow::new();
        let cell = |cell: &[u8]| row.push(cell.trim_ascii().to_vec());
        at = record(text, at, layout, &mut buffer, cell).end;
        if !row.is_empty() {
            rows.push(row);
        }
    }
    rows
}

/// Names are neither numbers nor empty, and no two are alike. The first may be empty where others follow: pandas writes row numbers so.
fn is_header(rows: &[RawRow]) -> bool {
    let first = &rows[0];
    let is_number = |cell: &Vec<u8>| std::str::from_utf8(cell).is_ok_and(|text| text.parse::<f64>().is_ok());
    let indexed = first.len() > 1 && first[0].is_empty();
    let named = first[usize::from(indexed)..]
        .iter()
        .all(|cell| !cell.is_empty() && cell != b"?" && !is_number(cell));
    named && (1..first.len()).all(|i| !first[..i].contains(&first[i]))
}
