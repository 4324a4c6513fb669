//! A first look at a file that has no schema yet: names and some cells, to draft one.
//!
//! Only its owner sees what is found here, and a draft omits whatever must come from public knowledge.

use std::io::{BufReader, Read};
use std::path::Path;

use privet::Error;
use privet::data::schema::{ColumnGuess, Layout};
use privet::data::{common_unit, has_thousands};

use super::blocks::{SIZE, ShapeFault, TextBlocks};
use super::rows::record;

/// How many rows are looked at; a draft says so, too.
pub(super) const ROWS: usize = 1000;

/// What a file seems to hold.
#[derive(Debug, Clone, PartialEq)]
pub struct FilePreview {
    /// How it seems to be written, if it is text.
    pub layout: Layout,
    /// Why the first line was not taken for names, and what to do if it has them.
    pub nameless: Option<String>,
    /// Each column's name (`column_1` and so on where the file has none) and some of its cells as text, in the file's order.
    /// A column that cannot be read, such as a nested one, has no cells. What seems to be a flag was looked at in all rows, and the
    /// first cell that is none stands last.
    pub columns: Vec<ColumnPreview>,
    /// For each column, what is in it if it cannot be read.
    pub unread: Vec<Option<String>>,
}

/// A column's name and some of its cells as text.
pub type ColumnPreview = (String, Vec<Vec<u8>>);

impl FilePreview {
    /// Whether no row was there to look at.
    pub fn is_without_rows(&self) -> bool {
        self.columns.iter().all(|(_, cells)| cells.is_empty())
    }

    /// Whether the column at this place holds nothing but the numbers of the rows, as pandas writes them: whole numbers without a name, or
    /// with one that pandas makes up, and counting by one.
    pub fn is_index(&self, place: usize) -> bool {
        let Some((name, cells)) = self.columns.get(place) else {
            return false;
        };
        let numbers = cells
            .iter()
            .map(|cell| std::str::from_utf8(cell).ok()?.parse::<i64>().ok());
        let numbers: Option<Vec<i64>> = numbers.collect();
        let count_by_one = |numbers: &[i64]| {
            numbers
                .windows(2)
                .all(|pair| pair[0].checked_add(1) == Some(pair[1]))
        };
        // Without a name, rows may have been shuffled as well.
        let is_made_up = name.starts_with("Unnamed: ") || name.starts_with("__index_level_");
        numbers.is_some_and(|numbers| name.is_empty() || is_made_up && count_by_one(&numbers))
    }
}

/// Looks at the first rows of a file, and at all of what seems to be a flag: a flag needs nothing filled in, so that nobody would
/// notice a wrong one.
///
/// # Errors
/// [`Error::Data`] for a file that cannot be read, or is empty.
pub fn peek(path: &Path) -> Result<FilePreview, Error> {
    let name = super::shown(path);
    let (file, _, format) = super::open(path, &name)?;
    match format {
        super::Format::Parquet => {
            let mut columns = super::peek_parquet(&name, file, ROWS)?;
            let mut flags = flags(&columns);
            let unread = super::peek_flags(&name, super::open(path, &name)?.0, &mut flags)?;
            add(&mut columns, flags);
            Ok(FilePreview {
                layout: Layout::default(),
                nameless: None,
                columns,
                unread,
            })
        }
        super::Format::Gzip => peek_text(&name, flate2::read::MultiGzDecoder::new(BufReader::new(file))),
        super::Format::Text => peek_text(&name, super::text(&name, file)?),
    }
}

/// A column that seems to be a flag, until a cell is something else.
pub(super) struct Flag {
    pub(super) place: usize,
    guess: ColumnGuess,
    other: Option<Vec<u8>>,
}

impl Flag {
    pub(super) fn take(&mut self, cell: &[u8]) {
        if self.other.is_none() {
            self.guess.look(cell);
            if !is_flag(self.guess) {
                self.other = Some(cell.trim_ascii().to_vec());
            }
        }
    }
}

fn is_flag(guess: ColumnGuess) -> bool {
    matches!(guess, ColumnGuess::Bits | ColumnGuess::Flag)
}

fn flags(columns: &[ColumnPreview]) -> Vec<Flag> {
    let guesses = columns
        .iter()
        .map(|(_, cells)| ColumnGuess::of_cells(cells.iter().map(Vec::as_slice)));
    let flags = guesses.enumerate().filter(|&(_, guess)| is_flag(guess));
    let flag = |(place, guess)| Flag {
        place,
        guess,
        other: None,
    };
    flags.map(flag).collect()
}

fn add(columns: &mut [ColumnPreview], flags: Vec<Flag>) {
    for flag in flags {
        columns[flag.place].1.extend(flag.other);
    }
}

pub(super) type RawRow = Vec<Vec<u8>>;

fn peek_text(name: &str, input: impl Read) -> Result<FilePreview, Error> {
    let mut text = Vec::new();
    let mut blocks = TextBlocks::new(input, Layout::default(), SIZE);
    let fault = |fault: ShapeFault| Error::data_at(name, fault.line.map(|line| line + 1), fault.what);
    blocks.next(&mut text).map_err(fault)?;
    let FirstRows {
        layout,
        names,
        rows,
        nameless,
    } = decided(name, &text)?;
    let columns = names.into_iter().enumerate();
    let cells = |place: usize| rows.iter().filter_map(|row| row.get(place).cloned()).collect();
    let mut columns: Vec<ColumnPreview> = columns.map(|(place, name)| (name, cells(place))).collect();
    let mut flags = flags(&columns);
    blocks.layout = layout;
    let mut is_name = layout.header;
    while flags.iter().any(|flag| flag.other.is_none()) {
        let (mut at, mut buffer) = (0, Vec::new());
        while at < text.len() {
            let (mut place, mut next) = (0, flags.iter_mut().peekable());
            let read = record(&text, at, &layout, &mut buffer, |cell| {
                if let Some(flag) = next.next_if(|flag| flag.place == place)
                    && !is_name
                {
                    flag.take(cell);
                }
                place += 1;
            });
            is_name &= place == 0;
            at = read.end;
        }
        // What is wrong further on does not concern a draft.
        if !matches!(blocks.next(&mut text), Ok(Some(_))) {
            break;
        }
    }
    add(&mut columns, flags);
    Ok(FilePreview {
        layout,
        nameless,
        unread: columns.iter().map(|_| None).collect(),
        columns,
    })
}

/// What the beginning of a text shows.
pub(super) struct FirstRows {
    pub(super) layout: Layout,
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<RawRow>,
    pub(super) nameless: Option<String>,
}

/// How a text seems to be written, the names of its columns, and its first rows.
///
/// # Errors
/// [`Error::Data`] if there are none.
pub(super) fn decided(name: &str, text: &[u8]) -> Result<FirstRows, Error> {
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
    if let Some(what) = rows[0].iter().find_map(|cell| odd(cell)) {
        return Err(Error::data_at(name, Some(1), what));
    }
    let nameless = nameless(&rows[0]);
    layout.header = nameless.is_none();
    let names: Vec<String> = if layout.header {
        let name = |cell: &Vec<u8>| String::from_utf8_lossy(cell).into_owned();
        rows.remove(0).iter().map(name).collect()
    } else {
        (1..=rows[0].len()).map(|i| format!("column_{i}")).collect()
    };
    if layout.delimiter != b',' && has_decimal_commas(&rows) {
        layout.decimal = b',';
    }
    Ok(FirstRows {
        layout,
        names,
        rows,
        nameless,
    })
}

/// What is wrong with lines whose first one has this cell.
pub(super) fn odd(cell: &[u8]) -> Option<&'static str> {
    let cell = cell.trim_ascii();
    if cell.contains(&b'\r') {
        return Some("lines end with carriage returns alone; save the file with line feeds");
    }
    cell.contains(&0)
        .then_some("there is a zero byte; is this a table of text? If it is UTF-16, save it as UTF-8")
}

/// Whether some column's cells are numbers with a comma before the fraction, and no column's have a point there. Commas that may all stand
/// between thousands say nothing.
fn has_decimal_commas(rows: &[RawRow]) -> bool {
    let columns = rows.first().map_or(0, Vec::len);
    let cells = |place: usize| {
        rows.iter()
            .filter_map(move |row| row.get(place).map(Vec::as_slice))
    };
    let is_number = |place: usize, comma: bool| {
        let guess = match comma {
            true => ColumnGuess::of_cells_with_comma(cells(place)),
            false => ColumnGuess::of_cells(cells(place)),
        };
        match guess {
            ColumnGuess::Number => true,
            ColumnGuess::Text => common_unit(cells(place), comma).is_some(),
            _ => false,
        }
    };
    (0..columns)
        .any(|place| is_number(place, true) && !is_number(place, false) && !has_thousands(cells(place)))
        && (0..columns)
            .all(|place| !is_number(place, false) || cells(place).all(|cell| !cell.contains(&b'.')))
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

/// Why these are no names, and what to do if they are: names are neither numbers nor empty, and no two are alike. The first may be empty
/// where others follow: pandas writes row numbers so.
fn nameless(first: &RawRow) -> Option<String> {
    let is_number = |cell: &[u8]| std::str::from_utf8(cell).is_ok_and(|text| text.parse::<f64>().is_ok());
    let indexed = first.len() > 1 && first[0].is_empty();
    let rename = "give every column a name of its own in the file, and draft again";
    let (why, mend) = first
        .iter()
        .enumerate()
        .skip(usize::from(indexed))
        .find_map(|(i, cell)| {
            let earlier = first[..i].iter().position(|other| other == cell);
            match (&cell[..], earlier) {
                (b"", _) => Some((format!("its cell {} is empty", i + 1), rename)),
                (b"?", _) => Some((format!("its cell {} is a question mark", i + 1), rename)),
                (cell, _) if is_number(cell) => Some((
                    format!("its cell {} is a number", i + 1),
                    "remove header = false from the schema, and call the columns there as the line does",
                )),
                (_, Some(other)) => {
                    Some((format!("its cells {} and {} are alike", other + 1, i + 1), rename))
                }
                _ => None,
            }
        })?;
    Some(format!(
        "The first line was taken for a row and not for names, since {why}. If it has the names, {mend}."
    ))
}
