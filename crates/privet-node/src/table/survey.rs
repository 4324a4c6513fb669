//! The bounds and values of a file that is public as a whole, to draft the schema of another one.

use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::Path;

use privet::Error;
use privet::data::schema::{ColumnGuess, Layout};
use privet::data::{common_unit, date, days};

use super::blocks::{SIZE, TextBlocks};
use super::peek::{FirstRows, decided, rows};

/// More different texts are no list of values.
const MOST_VALUES: usize = 1000;

/// What all cells of a public column say together.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ColumnSurvey {
    /// The type that they suggest.
    pub guess: ColumnGuess,
    /// The smallest and the largest number, or day.
    pub bounds: Option<(f64, f64)>,
    /// The different texts, if there are few.
    pub values: Option<Vec<String>>,
    /// The unit that stands in every cell besides a number.
    pub measure: Option<String>,
}

/// What is collected of one column.
#[derive(Default)]
struct Seen {
    guess: ColumnGuess,
    bounds: Option<(f64, f64)>,
    /// In the order in which they come; nothing once there are too many.
    values: Option<BTreeMap<String, usize>>,
    unit: Option<Option<String>>,
}

impl Seen {
    fn new() -> Self {
        Self {
            values: Some(BTreeMap::new()),
            ..Self::default()
        }
    }

    fn take(&mut self, cell: &[u8], comma: bool) {
        let cell = cell.trim_ascii();
        let one = std::iter::once(cell);
        let guess = match comma {
            true => ColumnGuess::of_cells_with_comma(one),
            false => ColumnGuess::of_cells(one),
        };
        if guess == ColumnGuess::Nothing {
            return;
        }
        self.guess = self.guess.and(guess);
        let unit = common_unit([cell], comma);
        self.unit = match self.unit.take() {
            None => Some(unit),
            Some(known) => Some(known.filter(|known| unit.as_ref() == Some(known))),
        };
        let unit = self.unit.as_ref().and_then(Option::as_deref).unwrap_or("");
        if let Some(x) = number(cell, unit, comma) {
            let (low, high) = self.bounds.unwrap_or((x, x));
            self.bounds = Some((low.min(x), high.max(x)));
        }
        if let Some(values) = &mut self.values {
            let next = values.len();
            values
                .entry(String::from_utf8_lossy(cell).into_owned())
                .or_insert(next);
            if values.len() > MOST_VALUES {
                self.values = None;
            }
        }
    }

    fn end(self) -> ColumnSurvey {
        let measure = self.unit.flatten().filter(|_| self.guess == ColumnGuess::Text);
        ColumnSurvey {
            guess: match measure {
                Some(_) => ColumnGuess::Number,
                None => self.guess,
            },
            bounds: self.bounds,
            values: self.values.map(|values| {
                let mut values: Vec<(String, usize)> = values.into_iter().collect();
                values.sort_by_key(|(_, place)| *place);
                values.into_iter().map(|(value, _)| value).collect()
            }),
            measure,
        }
    }
}

fn number(cell: &[u8], unit: &str, comma: bool) -> Option<f64> {
    if let Some(days) = days(cell) {
        return Some(days);
    }
    let text = std::str::from_utf8(cell).ok()?;
    let text = text
        .strip_suffix(unit)
        .or_else(|| text.strip_prefix(unit))?
        .trim();
    let text = if comma {
        text.replace(',', ".")
    } else {
        text.to_owned()
    };
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

impl ColumnSurvey {
    /// What a schema says between the braces of such a column; nothing if its cells do not tell.
    pub fn declared(&self) -> Option<String> {
        let measure = self.measure.as_ref().map_or_else(String::new, |measure| {
            format!(", measure = {}", privet::data::document::quoted(measure))
        });
        let number = privet::data::document::number;
        let (low, high) = self.bounds.unwrap_or((0.0, 0.0));
        match self.guess {
            ColumnGuess::Nothing => None,
            ColumnGuess::Bits | ColumnGuess::Flag => Some("type = \"flag\"".into()),
            // One value is no domain: what else there may be is not known.
            _ if low >= high && self.guess != ColumnGuess::Text => None,
            ColumnGuess::Integer => Some(format!(
                "type = \"integer\", min = {}, max = {}",
                number(low),
                number(high)
            )),
            ColumnGuess::Number => Some(format!(
                "type = \"number\", min = {}, max = {}{measure}",
                number(low),
                number(high)
            )),
            ColumnGuess::Date => Some(format!(
                "type = \"date\", min = \"{}\", max = \"{}\"",
                date(low.floor()),
                date(high.ceil())
            )),
            ColumnGuess::Text => {
                let values = self.values.as_ref().filter(|values| values.len() > 1)?;
                let values: Vec<String> = values
                    .iter()
                    .map(|value| privet::data::document::quoted(value))
                    .collect();
                Some(format!("type = \"category\", values = [{}]", values.join(", ")))
            }
        }
    }
}

/// Reads a public file whole: each column's name, and what its cells say.
///
/// # Errors
/// [`Error::Data`] for a file that cannot be read, or is empty.
pub fn survey(path: &Path) -> Result<Vec<(String, ColumnSurvey)>, Error> {
    let name = super::shown(path);
    let (file, _, format) = super::open(path, &name)?;
    match format {
        super::Format::Parquet => {
            let columns = super::peek_parquet(&name, file, usize::MAX)?;
            let column = |(name, cells): (String, Vec<Vec<u8>>)| {
                let mut seen = Seen::new();
                cells.iter().for_each(|cell| seen.take(cell, false));
                (name, seen.end())
            };
            Ok(columns.into_iter().map(column).collect())
        }
        super::Format::Gzip => of_text(&name, flate2::read::MultiGzDecoder::new(BufReader::new(file))),
        super::Format::Text => of_text(&name, super::text(&name, file)?),
    }
}

/// What is collected of each column.
type NamedColumns = Vec<(String, Seen)>;

fn of_text(name: &str, input: impl Read) -> Result<Vec<(String, ColumnSurvey)>, Error> {
    let mut blocks = TextBlocks::new(input, Layout::default(), SIZE);
    let mut text = Vec::new();
    let mut found: Option<(Layout, NamedColumns)> = None;
    loop {
        let block = blocks.next(&mut text);
        let block =
            block.map_err(|fault| Error::data_at(name, fault.line.map(|line| line + 1), fault.what))?;
        let first = found.is_none();
        let (layout, columns) = match &mut found {
            Some(found) => found,
            None => {
                let FirstRows { layout, names, .. } = decided(name, &text)?;
                found.insert((
                    layout,
                    names.into_iter().map(|name| (name, Seen::new())).collect(),
                ))
            }
        };
        if block.is_none() {
            break;
        }
        let header = usize::from(first && layout.header);
        for row in rows(&text, layout, usize::MAX).into_iter().skip(header) {
            for (cell, (_, seen)) in row.iter().zip(columns.iter_mut()) {
                seen.take(cell, layout.decimal == b',');
            }
        }
    }
    let columns = found.map_or_else(Vec::new, |(_, columns)| columns);
    Ok(columns
        .into_iter()
        .map(|(name, seen)| (name, seen.end()))
        .collect())
}
