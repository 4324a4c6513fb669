//! Released columns, as they are meant and as they are written.

use sha2::{Digest, Sha256};

use super::columns::Reading;
use super::release::{Release, ReleasedColumn};
use crate::Error;
use crate::data::Schema;
use crate::data::schema::{Column, Kind};

impl Release {
    /// The columns' names; a category that was released as flags has one for each of its values.
    pub fn names(&self) -> Vec<String> {
        let names = |(column, released): (&Column, &ReleasedColumn)| match &column.kind {
            Kind::Category(declared) if released.reading.each > 1 => {
                flag_names(&column.name, declared.values())
            }
            _ => vec![column.name.clone()],
        };
        self.schema
            .features()
            .zip(&self.columns)
            .flat_map(names)
            .collect()
    }

    /// How a row's values are written: a number as the middle of its bin, everything else as it was declared. What lies outside a
    /// domain is written as far outside.
    ///
    /// # Errors
    /// [`Error::Data`] if bins cannot reach that far.
    pub fn texts(&self) -> Result<Texts<'_>, Error> {
        let columns = self.schema.features().zip(&self.columns);
        let columns = columns.map(|(column, released)| Ok((words(&column.kind, released)?, released)));
        Ok(Texts(columns.collect::<Result<_, Error>>()?))
    }
}

/// Values of released columns, as they are written.
pub struct Texts<'a>(Vec<(Vec<String>, &'a ReleasedColumn)>);

impl Texts<'_> {
    /// The cells of a row, in the order of [`Release::names`].
    pub fn row(&self, row: usize) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(move |(words, released)| {
            let each = released.reading.each;
            let places = (row * each..(row + 1) * each).take_while(|place| *place < released.values.len());
            places.map(|place| words[usize::from(released.values.get(place))].as_str())
        })
    }
}

/// The names of a category's flags.
pub(super) fn flag_names(column: &str, values: &[String]) -> Vec<String> {
    let values = values.iter().map(String::as_str).chain(["(other)", "(missing)"]);
    values.map(|value| format!("{column}={value}")).collect()
}

/// What a column is, now that its values may lie outside its domain.
pub(super) fn meant(kind: &Kind, reading: Reading) -> Result<Kind, Error> {
    Ok(match kind {
        Kind::Number(number) => {
            let below = reading.lowest.unsigned_abs() as usize;
            let above = reading.outputs - below - number.cuts().bins();
            Kind::Number(number.wider(below, above)?)
        }
        other => other.clone(),
    })
}

/// What a declaration says about slots, as a hash: two parties that agree on it mean the same by a slot.
pub(super) fn declared(name: &str, kind: &Kind) -> Result<[u8; 32], Error> {
    let column = Column {
        name: name.to_owned(),
        kind: kind.clone(),
        private: true,
        measure: None,
    };
    let alone = Schema::builder("d")
        .missing::<&str>([])
        .columns([column])
        .build()?;
    Ok(Sha256::digest(alone.to_toml()).into())
}

/// The text of each output.
fn words(kind: &Kind, released: &ReleasedColumn) -> Result<Vec<String>, Error> {
    if released.reading.each > 1 {
        return Ok(["0", "1"].map(String::from).into());
    }
    Ok(match meant(kind, released.reading)? {
        Kind::Number(number) => {
            let points = number.cuts().points().iter().map(|&x| f64::from(x));
            let edges: Vec<f64> = [number.min()]
                .into_iter()
                .chain(points)
                .chain([number.max()])
                .collect();
            let whole = matches!(kind, Kind::Number(declared) if declared.is_integer());
            let middle = |pair: &[f64]| {
                let middle = f64::midpoint(pair[0], pair[1]);
                let down = middle.floor();
                if whole && down >= pair[0] {
                    down as f32
                } else {
                    middle as f32
                }
            };
            edges.windows(2).map(|pair| middle(pair).to_string()).collect()
        }
        Kind::Ordinal(declared) | Kind::Flag(declared) => declared.values().to_vec(),
        Kind::Category(declared) => {
            let values = declared.values().iter().map(String::as_str);
            values.chain(["(other)", ""]).map(String::from).collect()
        }
        Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => Vec::new(),
    })
}
