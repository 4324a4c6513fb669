//! The values that a frame's columns can be made of.

use std::marker::PhantomData;
use std::ops::Range;

use super::column::ColumnBuilder;
use super::table::Intake;
use crate::Error;
use crate::error::DataError;

/// What the cells of a column are, by their type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Holds {
    /// Text, truth values or whole numbers.
    Names,
    /// Numbers with fractions.
    Fractions,
    /// Lists or records.
    Nested,
    /// Something else that is not read, in words: "dates".
    Other(String),
}

impl Holds {
    /// Checks that such cells can be read into the column of this name.
    ///
    /// # Errors
    /// [`Error::Data`] if they cannot, with `source` and the column's name.
    pub fn check(&self, source: &str, column: &str, intake: &Intake) -> Result<(), Error> {
        let why = match self {
            Self::Nested => "is nested; give each of its parts a column of its own".into(),
            Self::Other(what) => format!(
                "holds {what}; make it a number, a truth value or text before, or say type = \"skip\""
            ),
            // Whole numbers beyond 2^53 would be rounded to the same id.
            Self::Fractions if intake.schema().unit().column.as_deref() == Some(column) => {
                "tells people apart and holds numbers with fractions; make them whole numbers or text before"
                    .into()
            }
            Self::Names | Self::Fractions => return Ok(()),
        };
        let e = DataError::new(format!("column '{column}' {why}"));
        Err(Error::Data(e.in_file(source).of_column(column)))
    }
}

/// The cells of one column: slices, arrays and vectors of [`Cell`], a [`Dictionary`], or a column of an Arrow batch.
pub trait ColumnValues: Sync {
    /// How many cells there are.
    fn count(&self) -> usize;

    /// What they are.
    fn holds(&self) -> Holds;

    /// Hands some of them on.
    fn give(&self, rows: Range<usize>, to: &mut ColumnBuilder<'_>);
}

impl<T: ColumnValues + ?Sized> ColumnValues for &T {
    fn count(&self) -> usize {
        (**self).count()
    }

    fn holds(&self) -> Holds {
        (**self).holds()
    }

    fn give(&self, rows: Range<usize>, to: &mut ColumnBuilder<'_>) {
        (**self).give(rows, to);
    }
}

/// Slices, and what is one: arrays and vectors.
macro_rules! slices {
    ($([$($of:tt)*] $type:ty;)*) => {$(
        impl<C: Cell $($of)*> ColumnValues for $type {
            fn count(&self) -> usize {
                self.len()
            }

            fn holds(&self) -> Holds {
                C::holds()
            }

            fn give(&self, rows: Range<usize>, to: &mut ColumnBuilder<'_>) {
                let cells = &self[rows];
                C::give(cells.len(), |at| &cells[at], to);
            }
        }
    )*};
}

slices! {
    [] [C];
    [] Vec<C>;
    [, const N: usize] [C; N];
}

/// A type of cells. `Option` says that a cell may be missing; a number that is not a number is missing, too.
pub trait Cell: Sync {
    /// What such cells are.
    fn holds() -> Holds {
        Holds::Names
    }

    /// Hands on this many cells, by their place.
    fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>)
    where
        Self: 'c;
}

macro_rules! numbers {
    ($method:ident as $wide:ty, $holds:ident: $($type:ty)*) => {$(
        impl Cell for $type {
            fn holds() -> Holds {
                Holds::$holds
            }

            fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>) {
                to.$method(count, |at| Some(<$wide>::from(*cell(at))));
            }
        }

        impl Cell for Option<$type> {
            fn holds() -> Holds {
                Holds::$holds
            }

            fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>) {
                to.$method(count, |at| cell(at).map(<$wide>::from));
            }
        }
    )*};
}

numbers!(numbers_at as f64, Fractions: f32 f64);
numbers!(integers_at as i64, Names: i8 i16 i32 i64);
numbers!(naturals_at as u64, Names: u8 u16 u32 u64);

impl Cell for bool {
    fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>) {
        to.flags((0..count).map(|at| Some(*cell(at))));
    }
}

impl Cell for Option<bool> {
    fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>) {
        to.flags((0..count).map(|at| *cell(at)));
    }
}

macro_rules! texts {
    ($($type:ty)*) => {$(
        impl Cell for $type {
            fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>)
            where
                Self: 'c,
            {
                to.texts((0..count).map(|at| cell(at).as_bytes()));
            }
        }

        impl Cell for Option<$type> {
            fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>)
            where
                Self: 'c,
            {
                to.known_texts((0..count).map(|at| cell(at).as_ref().map(|text| text.as_bytes())));
            }
        }
    )*};
}

texts!(&str String);

/// A cell of a record whose cells differ in type.
///
/// The type of a cell is as private as its content, so neither is ever an error. In a unit column, a [`Real`](Self::Real) names
/// a person only if it is a whole number that is represented exactly; otherwise it is missing.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Value<'v> {
    /// Nothing.
    #[default]
    Missing,
    /// A number.
    Real(f64),
    /// A whole number.
    Integer(i64),
    /// A whole number without a sign.
    Natural(u64),
    /// A truth value.
    Flag(bool),
    /// A text.
    Text(&'v str),
}

macro_rules! values {
    ($($kind:ident: $($type:ty)*;)*) => {$($(
        impl<'v> From<$type> for Value<'v> {
            fn from(cell: $type) -> Self {
                Self::$kind(cell.into())
            }
        }
    )*)*};
}

values! {
    Real: f32 f64;
    Integer: i8 i16 i32 i64;
    Natural: u8 u16 u32 u64;
    Flag: bool;
    Text: &'v str;
}

impl<'v, T: Into<Value<'v>>> From<Option<T>> for Value<'v> {
    fn from(cell: Option<T>) -> Self {
        cell.map_or(Self::Missing, Into::into)
    }
}

impl Cell for Value<'_> {
    fn give<'c>(count: usize, cell: impl Fn(usize) -> &'c Self, to: &mut ColumnBuilder<'_>)
    where
        Self: 'c,
    {
        const EXACT: f64 = (1u64 << 53) as f64;
        for at in 0..count {
            match *cell(at) {
                Self::Missing => to.missing(),
                Self::Real(x) if to.takes_ids() => match x.fract() == 0.0 && x.abs() < EXACT {
                    true => to.integer(x as i64),
                    false => to.missing(),
                },
                Self::Real(x) => to.number(x),
                Self::Integer(x) => to.integer(x),
                Self::Natural(x) => to.naturals_at(1, |_| Some(x)),
                Self::Flag(x) => to.flag(x),
                Self::Text(x) => to.text(x.as_bytes()),
            }
        }
    }
}

/// Cells as places in a list of values: each value is looked up once, however often it occurs.
///
/// A code that the list does not have is a missing cell, as -1 is in pandas.
///
/// ```
/// use privet::data::{Dictionary, Frame};
///
/// let jobs = Dictionary::new(&[0, 1, 1, -1], &["nurse", "clerk"]);
/// let frame = Frame::new().column("job", jobs);
/// ```
#[derive(Clone, Copy)]
pub struct Dictionary<'a, T> {
    codes: &'a [i32],
    values: &'a [T],
}

impl<'a, T: Cell> Dictionary<'a, T> {
    /// These codes, by these values.
    pub fn new(codes: &'a [i32], values: &'a [T]) -> Self {
        Self { codes, values }
    }
}

impl<T: Cell> ColumnValues for Dictionary<'_, T> {
    fn count(&self) -> usize {
        self.codes.len()
    }

    fn holds(&self) -> Holds {
        T::holds()
    }

    fn give(&self, rows: Range<usize>, to: &mut ColumnBuilder<'_>) {
        let codes = self.codes[rows].iter().map(|&code| usize::try_from(code).ok());
        to.coded(codes, |to| self.values.give(0..self.values.len(), to));
    }
}

/// One cell of each record.
pub(super) struct Field<'a, R, V> {
    rows: &'a [R],
    place: usize,
    cell: PhantomData<fn() -> V>,
}

impl<'a, R, V> Field<'a, R, V> {
    pub(super) fn new(rows: &'a [R], place: usize) -> Self {
        Self {
            rows,
            place,
            cell: PhantomData,
        }
    }
}

impl<R: AsRef<[V]> + Sync, V: Cell> ColumnValues for Field<'_, R, V> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn holds(&self) -> Holds {
        V::holds()
    }

    fn give(&self, rows: Range<usize>, to: &mut ColumnBuilder<'_>) {
        let rows = &self.rows[rows];
        V::give(rows.len(), |at| &rows[at].as_ref()[self.place], to);
    }
}
