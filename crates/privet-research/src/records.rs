//! Rows of a public data set as texts, from which tables are made again and again: subsets, splits and codes differ run by run.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use privet::Error;
use privet::data::schema::{Column, Declared, Extras, Kind, Label, Number, Schema};
use privet::data::{Intake, Keep, Table};
use privet::privacy::Coins;

use super::coins;

/// All rows of a file, cell by cell in the schema's order.
pub struct Records {
    schema: Schema,
    rows: Vec<Vec<Box<str>>>,
    /// The place of the label.
    label: usize,
    /// For columns with a list of values: the texts that occur, in the order of the alphabet.
    alphabets: Vec<Vec<Box<str>>>,
}

/// How columns become numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnCoding {
    /// As the schema declares them.
    Declared,
    /// As BRC's authors seem to have done it: categories by their place in the alphabet, numbers on a linear scale.
    Alphabet,
}

/// Which columns are private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PrivateColumns {
    /// All but these features and the label.
    AllBut(&'static [&'static str]),
    /// All but these features; the label is private.
    LabelAndAllBut(&'static [&'static str]),
    /// Everything.
    Everything,
}

/// Which rows are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowChoice {
    /// How many of each class.
    pub balance: ClassBalance,
    /// Of the first so many rows of the file only.
    pub first: Option<usize>,
    /// So many at most, at random.
    pub most: Option<usize>,
}

impl RowChoice {
    /// As many of one class as of the other, at random, as many as there are.
    pub const BALANCED: Self = Self {
        balance: ClassBalance::Random,
        first: None,
        most: None,
    };
}

/// How many rows are kept of each class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClassBalance {
    /// As many of one class as of the other, at random.
    Random,
    /// As many of one class as of the other, the first of the file: this matches the figures that the paper prints.
    Head,
    /// All of them.
    None,
}

impl Records {
    /// Reads lines of cells. Cells are split at the schema's delimiter, and lose spaces and quotes around them: enough for
    /// the public files that experiments use.
    ///
    /// # Errors
    /// [`Error::Data`] if a line has another number of cells, or there is no label.
    pub fn parse(schema: Schema, text: &str, path: &Path) -> Result<Self, Error> {
        let bad = |why: String| Error::data_in(path.display(), why);
        let layout = schema.layout();
        let columns = schema.columns().len();
        let label = schema
            .columns()
            .iter()
            .position(|column| matches!(column.kind, Kind::Label(_)))
            .ok_or_else(|| bad("there is no label".into()))?;
        let mut rows = Vec::new();
        let lines = text.lines().enumerate().skip(usize::from(layout.header));
        for (number, line) in lines {
            let comment = layout
                .comment
                .is_some_and(|c| line.as_bytes().first() == Some(&c));
            if line.trim().is_empty() || comment {
                continue;
            }
            let clean = |cell: &str| cell.trim().trim_matches('"').into();
            let cells: Vec<Box<str>> = line.split(char::from(layout.delimiter)).map(clean).collect();
            if cells.len() != columns {
                return Err(bad(format!(
                    "line {} has {} cells, not {columns}",
                    number + 1,
                    cells.len()
                )));
            }
            rows.push(cells);
        }
        let alphabets = schema.columns().iter().enumerate().map(|(place, column)| {
            let listed = matches!(column.kind, Kind::Ordinal(_) | Kind::Category(_) | Kind::Flag(_));
            let texts: BTreeSet<Box<str>> = rows
                .iter()
                .filter(|_| listed)
                .map(|row: &Vec<Box<str>>| row[place].clone())
                .collect();
            texts.into_iter().collect()
        });
        Ok(Self {
            alphabets: alphabets.collect(),
            schema,
            rows,
            label,
        })
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether a label that is a number is at least `least`, instead of the number.
    /// # Errors
    /// [`Error::Data`] if that does not fit together.
    pub fn at_least(mut self, least: f64) -> Result<Self, Error> {
        let declared = Declared::new(vec!["below".into(), "above".into()], None)?;
        for row in &mut self.rows {
            let above = row[self.label].parse().is_ok_and(|x: f64| x >= least);
            row[self.label] = if above { "above" } else { "below" }.into();
        }
        let mut columns = self.schema.columns().to_vec();
        columns[self.label].kind = Kind::Label(Label::Classes(declared));
        self.schema = self.schema.with_columns(columns)?;
        Ok(self)
    }

    /// Without other features than these: the others are skipped.
    ///
    /// # Errors
    /// [`Error::Data`] if that does not fit together.
    pub fn only(mut self, features: &[&str]) -> Result<Self, Error> {
        self.schema = self.schema_with(|column| {
            let skipped = column.kind.is_feature() && !features.contains(&column.name.as_str());
            Ok(if skipped { Kind::Skip } else { column.kind.clone() })
        })?;
        Ok(self)
    }

    /// The row with the smallest number in a column, if there is one.
    pub fn smallest(&self, column: &str) -> Option<usize> {
        let place = self.place(column)?;
        let number = |row: &usize| self.rows[*row][place].parse().unwrap_or(f64::INFINITY);
        (0..self.rows.len()).min_by(|a, b| number(a).total_cmp(&number(b)))
    }

    fn place(&self, column: &str) -> Option<usize> {
        self.schema.columns().iter().position(|own| own.name == column)
    }

    /// Only the first rows.
    #[must_use]
    pub fn head(mut self, rows: usize) -> Self {
        self.rows.truncate(rows);
        self
    }

    /// The numbers of a column; not a number where there is none.
    pub fn numbers(&self, column: &str) -> Vec<f64> {
        let place = self.place(column);
        let number = |row: &Vec<Box<str>>| place.and_then(|place| row[place].parse().ok());
        self.rows
            .iter()
            .map(|row| number(row).unwrap_or(f64::NAN))
            .collect()
    }

    /// The schema with other kinds for some columns.
    ///
    /// # Errors
    /// [`Error::Data`] if it does not fit together.
    pub fn schema_with(&self, kind: impl Fn(&Column) -> Result<Kind, Error>) -> Result<Schema, Error> {
        let mut columns = self.schema.columns().to_vec();
        for column in &mut columns {
            column.kind = kind(column)?;
        }
        self.schema.with_columns(columns)
    }

    /// The schema of a preparation.
    ///
    /// # Errors
    /// [`Error::Data`] if it does not fit together.
    pub fn schema(&self, coding: ColumnCoding, secret: PrivateColumns) -> Result<Schema, Error> {
        let coded = |min, max, integer| {
            let extras = Extras {
                integer,
                ..Extras::default()
            };
            Ok::<_, Error>(Kind::Number(Number::new(min, max, extras)?))
        };
        let columns = self.schema.columns().iter().enumerate().map(|(place, column)| {
            let kind = match (&column.kind, coding) {
                (Kind::Number(it), ColumnCoding::Alphabet) => coded(it.min(), it.max(), it.is_integer())?,
                (Kind::Ordinal(_) | Kind::Category(_) | Kind::Flag(_), ColumnCoding::Alphabet) => {
                    coded(0.0, (self.alphabets[place].len().max(2) - 1) as f64, true)?
                }
                (kind, _) => kind.clone(),
            };
            let private = match (secret, &column.kind) {
                (_, Kind::Id | Kind::Skip) => false,
                (PrivateColumns::Everything, _) => true,
                (PrivateColumns::AllBut(_), Kind::Label(_)) => false,
                (PrivateColumns::LabelAndAllBut(_), Kind::Label(_)) => true,
                (PrivateColumns::AllBut(public) | PrivateColumns::LabelAndAllBut(public), _) => {
                    !public.contains(&column.name.as_str())
                }
            };
            Ok(Column {
                kind,
                private,
                ..column.clone()
            })
        });
        let columns = columns.collect::<Result<Vec<Column>, Error>>()?;
        self.schema.with_columns(columns)
    }

    /// Rows to train on, and so many to test on, at random.
    pub fn deal(&self, test: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        shuffle(&mut rows, &mut coins(seed));
        let test = rows.split_off(rows.len().saturating_sub(test));
        (rows, test)
    }

    /// Rows to train on and rows to test on, a tenth of them, of the first rows of the file or of all.
    pub fn split(&self, pick: RowChoice, seed: u64) -> (Vec<usize>, Vec<usize>) {
        let mut coins = coins(seed);
        let last = pick.first.unwrap_or(self.rows.len()).min(self.rows.len());
        let positive = self.positive();
        let is = |row: &usize| *self.rows[*row][self.label] == *positive;
        let (mut one, mut other): (Vec<usize>, Vec<usize>) = (0..last).partition(is);
        let least = one.len().min(other.len());
        match pick.balance {
            ClassBalance::Random => [&mut one, &mut other].map(|class| shuffle(class, &mut coins)),
            ClassBalance::Head | ClassBalance::None => [(); 2],
        };
        if pick.balance != ClassBalance::None {
            one.truncate(least);
            other.truncate(least);
        }
        let mut rows = [one, other].concat();
        shuffle(&mut rows, &mut coins);
        rows.truncate(pick.most.unwrap_or(usize::MAX));
        let test = rows.split_off(rows.len() - (rows.len() as f64 * 0.1).round() as usize);
        (rows, test)
    }

    fn positive(&self) -> String {
        match self.schema.label() {
            Some((_, Label::Classes(declared))) => declared.values().last().cloned().unwrap_or_default(),
            _ => String::new(),
        }
    }

    /// These rows as a table of a preparation's schema.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the schema is not one of [`schema`](Self::schema).
    pub fn table(&self, schema: &Arc<Schema>, rows: &[usize]) -> Result<Table, Error> {
        self.table_with(schema, rows, &[])
    }

    /// The same, where some columns have other cells than in the file.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the schema has other columns, or there is not a cell for every row.
    pub fn table_with(
        &self,
        schema: &Arc<Schema>,
        rows: &[usize],
        instead: &[(String, Vec<String>)],
    ) -> Result<Table, Error> {
        let intake = Intake::everything(Arc::clone(schema), Keep::Values);
        let mut columns = intake.columns();
        for (declared, column) in schema.columns().iter().zip(&mut columns) {
            if let Some((_, cells)) = instead.iter().find(|(own, _)| *own == declared.name) {
                column.texts(cells.iter().map(String::as_bytes));
                continue;
            }
            let Some(place) = self.place(&declared.name) else {
                return Err(Error::misuse(format!("no record has a '{}'", declared.name)));
            };
            let coded = matches!(declared.kind, Kind::Number(_))
                && !matches!(self.schema.columns()[place].kind, Kind::Number(_));
            for cell in rows.iter().map(|&row| &self.rows[row][place]) {
                match coded {
                    true => column.integer(self.alphabets[place].partition_point(|text| text < cell) as i64),
                    false => column.text(cell.as_bytes()),
                }
            }
        }
        Ok(Table::new(&intake, vec![intake.piece(columns)?]))
    }
}

fn shuffle(rows: &mut [usize], coins: &mut Coins) {
    for i in (1..rows.len()).rev() {
        rows.swap(i, coins.below(i as u64 + 1) as usize);
    }
}
