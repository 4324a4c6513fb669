//! Rows in memory: columns by name, or records.

use rayon::prelude::*;

use super::feature::Names;
use super::header::{TableForm, places};
use super::schema::Schema;
use super::table::{Cells, Intake, Piece, Table};
use super::values::{Cell, ColumnValues, Field};
use crate::Error;
use crate::error::DataError;

/// Rows that one thread takes at a time.
const BLOCK: usize = 1 << 16;

/// Unprotected rows that the caller holds or can open: a [`Frame`], or a function that reads a file.
///
/// [`Table::read`] makes them private, to train; [`Model::predict`](crate::model::Model::predict) predicts each of them.
pub trait RawRows {
    /// The rows by the rules of an intake.
    ///
    /// # Errors
    /// [`Error::Data`] if their columns do not match the schema. The content of a cell is never an error.
    fn pieces(&self, intake: &Intake) -> Result<Vec<Piece>, Error>;
}

/// The cells of one column as they are written, to stand beside the predictions of the same rows. The schema is the model's; the column
/// need not be one of its, if the rows have names.
///
/// ```
/// use privet::data::schema::{label, number};
/// use privet::data::{Frame, Schema, column_texts};
///
/// let schema = Schema::builder("d").columns([number("age", 0..=120), label("ill", ["no", "yes"])]).build()?;
/// let people = Frame::new().column("name", ["Ann", "Bo"]).column("age", [31, 47]);
/// let names = column_texts(&people, &schema, "name")?;
/// assert_eq!(names.iter().collect::<Vec<_>>(), [b"Ann".as_slice(), b"Bo"]);
/// # Ok::<(), privet::Error>(())
/// ```
///
/// # Errors
/// [`Error::Data`] for rows without this column; [`Error::Parameter`] if rows have no names and the schema does not declare it.
pub fn column_texts(rows: &(impl RawRows + ?Sized), schema: &Schema, column: &str) -> Result<Names, Error> {
    let intake = Intake::texts_of(schema, column)?;
    Ok(Cells::in_the_clear(rows.pieces(&intake)?).into_ids())
}

impl<F: Fn(&Intake) -> Result<Vec<Piece>, Error>> RawRows for F {
    fn pieces(&self, intake: &Intake) -> Result<Vec<Piece>, Error> {
        self(intake)
    }
}

/// Frames one after another: the batches of a stream.
impl RawRows for [Frame<'_>] {
    fn pieces(&self, intake: &Intake) -> Result<Vec<Piece>, Error> {
        let pieces: Vec<_> = self.par_iter().map(|frame| frame.pieces(intake)).collect();
        let pieces = pieces.into_iter().collect::<Result<Vec<_>, _>>()?;
        let mut pieces: Vec<Piece> = pieces.into_iter().flatten().collect();
        if pieces.is_empty() {
            pieces.push(intake.piece(intake.columns())?);
        }
        Ok(pieces)
    }
}

impl RawRows for Frame<'_> {
    fn pieces(&self, intake: &Intake) -> Result<Vec<Piece>, Error> {
        let rows = self.rows()?;
        let sources = self.sources(intake)?;
        let blocks = rows.div_ceil(BLOCK).max(1);
        let pieces: Vec<Result<Piece, Error>> = (0..blocks)
            .into_par_iter()
            .map(|block| {
                let range = block * BLOCK..rows.min((block + 1) * BLOCK);
                let mut columns = intake.columns();
                columns.par_iter_mut().zip(&sources).for_each(|(column, source)| {
                    if let Some(source) = source {
                        source.give(range.clone(), column);
                    }
                });
                intake.piece(columns)
            })
            .collect();
        pieces.into_iter().collect()
    }
}

impl Table {
    /// The table of these rows, which are private from here on.
    ///
    /// # Errors
    /// As [`RawRows::pieces`].
    pub fn read(intake: &Intake, rows: &(impl RawRows + ?Sized)) -> Result<Self, Error> {
        Ok(Self::new(intake, rows.pieces(intake)?))
    }
}

/// A table in memory: columns with names, borrowed or owned, as they are.
///
/// Cells follow the rules of files: a number outside its bounds counts as the bound, a value that is not declared and a missing
/// cell go to slots of their own, and the content of a cell is never an error. Columns are found by their names, in any order.
///
/// ```
/// use std::sync::Arc;
/// use privet::data::schema::{category, flag, label, number};
/// use privet::data::{Frame, Intake, Keep, Schema, Table};
///
/// let schema = Schema::builder("people")
///     .columns([
///         number("age", 0..=120),
///         category("job", ["nurse", "clerk"]),
///         flag("smokes"),
///         label("ill", ["no", "yes"]),
///     ])
///     .build()?;
/// let intake = Intake::everything(Arc::new(schema), Keep::Bins);
///
/// // A column at a time …
/// let frame = Frame::new()
///     .column("age", [Some(31), None, Some(47)])
///     .column("job", ["nurse", "clerk", "pilot"])
///     .column("smokes", [true, false, false])
///     .column("ill", ["no", "no", "yes"]);
/// let table = Table::read(&intake, &frame)?;
///
/// // … or a row at a time.
/// use privet::data::Value;
/// let rows: [[Value; 4]; 2] = [
///     [31.into(), "nurse".into(), true.into(), "no".into()],
///     [Value::Missing, "clerk".into(), false.into(), "no".into()],
/// ];
/// let table = Table::read(&intake, &Frame::records(["age", "job", "smokes", "ill"], &rows)?)?;
/// # Ok::<(), privet::Error>(())
/// ```
#[derive(Default)]
pub struct Frame<'a> {
    names: Vec<String>,
    columns: Vec<Box<dyn ColumnValues + 'a>>,
}

impl<'a> Frame<'a> {
    /// A table without columns.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one column more.
    #[must_use]
    pub fn column(mut self, name: impl Into<String>, cells: impl ColumnValues + 'a) -> Self {
        self.names.push(name.into());
        self.columns.push(Box::new(cells));
        self
    }

    /// A table of records, each with a cell for each name: arrays or vectors of one type, or of [`Value`](super::Value).
    ///
    /// # Errors
    /// [`Error::Data`] for a record of another length.
    pub fn records<N: Into<String>, R: AsRef<[V]> + Sync, V: Cell + 'a>(
        names: impl IntoIterator<Item = N>,
        rows: &'a [R],
    ) -> Result<Self, Error> {
        let names: Vec<String> = names.into_iter().map(|name| name.into()).collect();
        let wrong = |row: &R| row.as_ref().len() != names.len();
        if let Some(place) = rows.iter().position(wrong) {
            return Err(Error::data(format!(
                "record {} has {} cells where there are {} names; give each record a cell for each name",
                place + 1,
                rows[place].as_ref().len(),
                names.len()
            )));
        }
        let mut frame = Self::new();
        for (place, name) in names.into_iter().enumerate() {
            frame = frame.column(name, Field::new(rows, place));
        }
        Ok(frame)
    }

    /// What feeds each column of the schema.
    fn sources(&self, intake: &Intake) -> Result<Vec<Option<&dyn ColumnValues>>, Error> {
        let places = places(("the frame", TableForm::Frame), &self.names, intake)?;
        let mut sources: Vec<Option<&dyn ColumnValues>> = vec![None; intake.schema().columns().len()];
        for (column, place) in places.into_iter().enumerate() {
            let Some(place) = place else { continue };
            self.columns[column]
                .holds()
                .check("the frame", &self.names[column], intake)?;
            sources[place] = Some(&*self.columns[column]);
        }
        Ok(sources)
    }

    /// The number of rows; an error if columns differ in length.
    fn rows(&self) -> Result<usize, Error> {
        let Some(first) = self.columns.first() else {
            return Ok(0);
        };
        let rows = first.count();
        if let Some(other) = self.columns.iter().position(|column| column.count() != rows) {
            let (name, cells) = (&self.names[other], self.columns[other].count());
            let why = format!(
                "column '{name}' has {cells} cells where '{}' has {rows}; give every column as many",
                self.names[0]
            );
            return Err(Error::Data(
                DataError::new(why).in_file("the frame").of_column(name),
            ));
        }
        if rows > u32::MAX as usize {
            let why = format!("it has more than {} rows", u32::MAX);
            return Err(Error::data_in("the frame", why));
        }
        Ok(rows)
    }
}
