//! Arrow record batches as rows: each column goes from its buffers straight into bins.
//!
//! Types are read as Parquet's are, and the same ones are refused: dates and times, half-precision numbers, raw bytes of a fixed
//! length, long decimals, and whatever is nested. What number or category a date is, its owner must decide.

use std::ops::Range;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::DataType;

use super::column::ColumnBuilder;
use super::frame::Frame;
use super::values::{ColumnValues, Holds};

/// The longest decimals that Parquet keeps as whole numbers.
const DIGITS: u8 = 18;

/// A batch as rows in memory; nothing is copied.
///
/// ```
/// # use std::sync::Arc;
/// use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray};
/// # use privet::data::schema::{category, number};
/// use privet::data::{Frame, Table};
/// # use privet::data::{Intake, Keep, Schema};
///
/// # let schema = Schema::builder("people").columns([number("age", 0..=120), category("job", ["nurse", "clerk"])]).build()?;
/// # let intake = Intake::everything(Arc::new(schema), Keep::Bins);
/// let age: ArrayRef = Arc::new(Float64Array::from(vec![Some(31.0), None]));
/// let job: ArrayRef = Arc::new(StringArray::from(vec!["nurse", "clerk"]));
/// let batches = [RecordBatch::try_from_iter([("age", age), ("job", job)]).unwrap()];
///
/// let frames: Vec<Frame> = batches.iter().map(Frame::from).collect();
/// let table = Table::read(&intake, &frames[..])?;
/// # Ok::<(), privet::Error>(())
/// ```
impl<'a> From<&'a RecordBatch> for Frame<'a> {
    fn from(batch: &'a RecordBatch) -> Self {
        let fields = batch.schema_ref().fields().iter();
        fields
            .zip(batch.columns())
            .fold(Self::new(), |frame, (field, column)| {
                frame.column(field.name().trim(), Column(column))
            })
    }
}

/// One column of a batch.
struct Column<'a>(&'a dyn Array);

impl ColumnValues for Column<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn holds(&self) -> Holds {
        holds(self.0.data_type())
    }

    fn give(&self, rows: Range<usize>, to: &mut ColumnBuilder<'_>) {
        give(&*self.0.slice(rows.start, rows.len()), to);
    }
}

fn holds(of: &DataType) -> Holds {
    use DataType as D;
    let other = |what: &str| Holds::Other(what.into());
    match of {
        D::Float32 | D::Float64 => Holds::Fractions,
        D::Decimal32(_, scale) | D::Decimal64(_, scale) | D::Decimal128(..=DIGITS, scale) if *scale < 0 => {
            other("decimals with an invalid scale")
        }
        D::Null
        | D::Boolean
        | D::Int8
        | D::Int16
        | D::Int32
        | D::Int64
        | D::UInt8
        | D::UInt16
        | D::UInt32
        | D::UInt64
        | D::Decimal32(..)
        | D::Decimal64(..)
        | D::Decimal128(..=DIGITS, _)
        | D::Utf8
        | D::LargeUtf8
        | D::Utf8View
        | D::Binary
        | D::LargeBinary
        | D::BinaryView => Holds::Names,
        D::Dictionary(_, values) => holds(values),
        D::Date32 | D::Date64 => other("dates"),
        D::Time32(_) | D::Time64(_) | D::Timestamp(..) | D::Duration(_) | D::Interval(_) => other("times"),
        D::Decimal128(..) | D::Decimal256(..) => other("decimals as bytes"),
        D::Float16 => other("half-precision numbers"),
        D::FixedSizeBinary(_) => other("bytes"),
        D::RunEndEncoded(..) => other("runs of cells"),
        _ => Holds::Nested,
    }
}

/// Hands on numbers of one type, and asks about missing ones only where there are some.
macro_rules! numbers {
    ($array:ident as $type:ty, $to:ident.$method:ident($wide:ty)) => {{
        let array = $array.as_primitive::<$type>();
        let cells: &[<$type as ArrowPrimitiveType>::Native] = array.values();
        match array.nulls().filter(|nulls| nulls.null_count() > 0) {
            None => $to.$method(cells.len(), |at| Some(<$wide>::from(cells[at]))),
            Some(nulls) => $to.$method(cells.len(), |at| {
                nulls.is_valid(at).then(|| <$wide>::from(cells[at]))
            }),
        }
    }};
}

/// Hands on texts of one type.
macro_rules! texts {
    ($array:expr, $to:ident) => {{
        let array = $array;
        let text = |at| AsRef::<[u8]>::as_ref(array.value(at));
        match array.null_count() {
            0 => $to.texts((0..array.len()).map(text)),
            _ => $to.known_texts((0..array.len()).map(|at| array.is_valid(at).then(|| text(at)))),
        }
    }};
}

/// Hands on decimals of one type.
macro_rules! decimals {
    ($array:ident as $type:ty, $to:ident, $scale:expr) => {{
        let cells = $array.as_primitive::<$type>().iter();
        // So many digits fit.
        $to.decimals(cells.map(|cell| cell.map(|x| x as i64)), $scale);
    }};
}

fn give(array: &dyn Array, to: &mut ColumnBuilder<'_>) {
    use DataType as D;
    match array.data_type() {
        D::Boolean => to.flags(array.as_boolean().iter()),
        D::Int8 => numbers!(array as Int8Type, to.integers_at(i64)),
        D::Int16 => numbers!(array as Int16Type, to.integers_at(i64)),
        D::Int32 => numbers!(array as Int32Type, to.integers_at(i64)),
        D::Int64 => numbers!(array as Int64Type, to.integers_at(i64)),
        D::UInt8 => numbers!(array as UInt8Type, to.naturals_at(u64)),
        D::UInt16 => numbers!(array as UInt16Type, to.naturals_at(u64)),
        D::UInt32 => numbers!(array as UInt32Type, to.naturals_at(u64)),
        D::UInt64 => numbers!(array as UInt64Type, to.naturals_at(u64)),
        D::Float32 => numbers!(array as Float32Type, to.numbers_at(f64)),
        D::Float64 => numbers!(array as Float64Type, to.numbers_at(f64)),
        D::Decimal32(_, scale) => decimals!(array as Decimal32Type, to, scale.unsigned_abs()),
        D::Decimal64(_, scale) => decimals!(array as Decimal64Type, to, scale.unsigned_abs()),
        D::Decimal128(_, scale) => decimals!(array as Decimal128Type, to, scale.unsigned_abs()),
        D::Utf8 => texts!(array.as_string::<i32>(), to),
        D::LargeUtf8 => texts!(array.as_string::<i64>(), to),
        D::Utf8View => texts!(array.as_string_view(), to),
        D::Binary => texts!(array.as_binary::<i32>(), to),
        D::LargeBinary => texts!(array.as_binary::<i64>(), to),
        D::BinaryView => texts!(array.as_binary_view(), to),
        D::Dictionary(..) => coded(array, to),
        // Nothing but missing cells; other types were refused.
        _ => (0..array.len()).for_each(|_| to.missing()),
    }
}

/// A dictionary: each of its values is looked up once.
fn coded(array: &dyn Array, to: &mut ColumnBuilder<'_>) {
    let dictionary = array.as_any_dictionary();
    let (keys, values) = (dictionary.keys(), dictionary.values());
    if values.is_empty() {
        return (0..keys.len()).for_each(|_| to.missing());
    }
    let codes = dictionary.normalized_keys().into_iter().enumerate();
    let codes = codes.map(|(at, code)| keys.is_valid(at).then_some(code));
    to.coded(codes, |to| give(&**values, to));
}
