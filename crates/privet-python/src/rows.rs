//! Frames: Arrow streams without a copy, buffers, lists of cells.

use std::sync::Arc;

use arrow_array::ffi_stream::ArrowArrayStreamReader;
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, RecordBatchReader, StringArray,
};
use arrow_pyarrow::PyArrowType;
use arrow_schema::{Field, Schema};
use privet::Error;
use privet::data::{Dictionary, Frame, Intake, Piece, RawRows, Value};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString};

/// Unprotected rows that a caller holds.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Rows {
    held: Held,
}

enum Held {
    Batches(Vec<RecordBatch>),
    Columns(Vec<(String, Cells)>),
}

/// A column without Arrow.
#[derive(Clone)]
enum Cells {
    Reals(Vec<f64>),
    Singles(Vec<f32>),
    Integers(Vec<i64>),
    Naturals(Vec<u64>),
    Flags(Vec<bool>),
    Codes(Vec<i32>, Vec<Cell>),
    Any(Vec<Cell>),
}

/// A cell of a column whose cells differ in type.
#[derive(Clone)]
enum Cell {
    Missing,
    Real(f64),
    Integer(i64),
    Natural(u64),
    Flag(bool),
    Text(String),
}

impl Cell {
    /// Whatever a cell is, reading it is no error.
    fn of(cell: &Bound<'_, PyAny>) -> Self {
        if let Ok(text) = cell.cast::<PyString>() {
            return text
                .to_str()
                .map_or(Self::Missing, |text| Self::Text(text.to_owned()));
        }
        if cell.is_none() {
            return Self::Missing;
        }
        if let Ok(flag) = cell.cast::<PyBool>() {
            return Self::Flag(flag.is_true());
        }
        if let Ok(real) = cell.cast::<PyFloat>() {
            return match real.value() {
                x if x.is_nan() => Self::Missing,
                x => Self::Real(x),
            };
        }
        if let Ok(whole) = cell.cast::<PyInt>() {
            return match (whole.extract::<i64>(), whole.extract::<u64>()) {
                (Ok(x), _) => Self::Integer(x),
                (_, Ok(x)) => Self::Natural(x),
                _ => whole.extract::<f64>().map_or(Self::Missing, Self::Real),
            };
        }
        // Numbers of numpy and the like.
        if let Ok(x) = cell.extract::<f64>() {
            return if x.is_nan() { Self::Missing } else { Self::Real(x) };
        }
        Self::Missing
    }

    fn value(&self) -> Value<'_> {
        match self {
            Self::Missing => Value::Missing,
            Self::Real(x) => Value::Real(*x),
            Self::Integer(x) => Value::Integer(*x),
            Self::Natural(x) => Value::Natural(*x),
            Self::Flag(x) => Value::Flag(*x),
            Self::Text(x) => Value::Text(x),
        }
    }
}

impl Cells {
    /// As an Arrow array: numbers, and codes of texts.
    fn array(&self) -> Result<ArrayRef, arrow_schema::ArrowError> {
        Ok(match self {
            Self::Reals(x) => Arc::new(Float64Array::from(x.clone())),
            Self::Codes(codes, names) => {
                let keys: Int32Array = codes.iter().map(|&code| (code >= 0).then_some(code)).collect();
                let names: StringArray = names
                    .iter()
                    .map(|name| match name {
                        Cell::Text(text) => Some(text.as_str()),
                        _ => None,
                    })
                    .collect();
                Arc::new(DictionaryArray::try_new(keys, Arc::new(names))?)
            }
            _ => {
                let why = "a column that is added holds doubles or codes";
                return Err(arrow_schema::ArrowError::InvalidArgumentError(why.into()));
            }
        })
    }

    /// A column by what Python says that it holds: the type of a numpy array, `"codes"` or `"cells"`.
    fn of(py: Python<'_>, kind: &str, values: &Bound<'_, PyAny>) -> PyResult<Self> {
        /// A buffer of one type, as a wider one.
        macro_rules! buffer {
            ($type:ty as $wide:ident) => {
                PyBuffer::<$type>::get(values)?
                    .to_vec(py)?
                    .into_iter()
                    .map($wide::from)
                    .collect()
            };
        }
        Ok(match kind {
            "float64" => Self::Reals(PyBuffer::<f64>::get(values)?.to_vec(py)?),
            "float32" => Self::Singles(PyBuffer::<f32>::get(values)?.to_vec(py)?),
            "int8" => Self::Integers(buffer!(i8 as i64)),
            "int16" => Self::Integers(buffer!(i16 as i64)),
            "int32" => Self::Integers(buffer!(i32 as i64)),
            "int64" => Self::Integers(PyBuffer::<i64>::get(values)?.to_vec(py)?),
            "uint8" => Self::Naturals(buffer!(u8 as u64)),
            "uint16" => Self::Naturals(buffer!(u16 as u64)),
            "uint32" => Self::Naturals(buffer!(u32 as u64)),
            "uint64" => Self::Naturals(PyBuffer::<u64>::get(values)?.to_vec(py)?),
            // Python sends truth values as bytes.
            "bool" => {
                let bytes = PyBuffer::<u8>::get(values)?.to_vec(py)?;
                Self::Flags(bytes.into_iter().map(|byte| byte != 0).collect())
            }
            "codes" => {
                let (codes, names): (Bound<'_, PyAny>, Bound<'_, PyAny>) = values.extract()?;
                let names = names.try_iter()?.map(|name| Ok(Cell::of(&name?)));
                Self::Codes(
                    PyBuffer::<i32>::get(&codes)?.to_vec(py)?,
                    names.collect::<PyResult<_>>()?,
                )
            }
            "cells" => {
                let cells = values.try_iter()?.map(|cell| Ok(Cell::of(&cell?)));
                Self::Any(cells.collect::<PyResult<_>>()?)
            }
            other => {
                return Err(PyTypeError::new_err(format!("there are no columns of {other}")));
            }
        })
    }
}

/// Batches with a column more, which is as long as all of them.
fn appended(
    batches: &[RecordBatch],
    name: &str,
    array: ArrayRef,
) -> Result<Vec<RecordBatch>, arrow_schema::ArrowError> {
    let mut from = 0;
    let each = batches.iter().map(|batch| {
        let own = array.slice(from, batch.num_rows().min(array.len() - from));
        from += own.len();
        let mut fields = batch.schema().fields().to_vec();
        fields.push(Arc::new(Field::new(name, own.data_type().clone(), true)));
        let mut columns = batch.columns().to_vec();
        columns.push(own);
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    });
    each.collect()
}

#[pymethods]
impl Rows {
    /// Rows from an object with `__arrow_c_stream__`: buffers are used where they are.
    #[staticmethod]
    fn from_arrow(py: Python<'_>, stream: PyArrowType<ArrowArrayStreamReader>) -> PyResult<Self> {
        let reader = stream.0;
        let schema = reader.schema();
        let batches: Result<Vec<_>, _> = py.detach(|| reader.collect());
        let mut batches = batches.map_err(|e| PyValueError::new_err(e.to_string()))?;
        if batches.is_empty() {
            // Columns have names and types even if there are no rows.
            batches.push(RecordBatch::new_empty(schema));
        }
        Ok(Self {
            held: Held::Batches(batches),
        })
    }

    /// Rows from columns: name, what it holds, values.
    #[staticmethod]
    fn from_columns(py: Python<'_>, columns: Vec<(String, String, Bound<'_, PyAny>)>) -> PyResult<Self> {
        let column = |(name, kind, values): &(String, String, Bound<'_, PyAny>)| {
            Ok((name.clone(), Cells::of(py, kind, values)?))
        };
        let columns = columns.iter().map(column).collect::<PyResult<_>>()?;
        Ok(Self {
            held: Held::Columns(columns),
        })
    }

    /// The same rows with a column more.
    fn with_column(
        &self,
        py: Python<'_>,
        name: &str,
        kind: &str,
        values: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let cells = Cells::of(py, kind, values)?;
        let held = match &self.held {
            Held::Columns(columns) => {
                let mut columns = columns.clone();
                columns.push((name.to_owned(), cells));
                Held::Columns(columns)
            }
            Held::Batches(batches) => {
                let added = cells
                    .array()
                    .and_then(|array| appended(batches, name, array))
                    .map_err(|e| PyValueError::new_err(e.to_string()))?;
                Held::Batches(added)
            }
        };
        Ok(Self { held })
    }

    /// The address of the first buffer of a column of numbers, to see that nothing was copied.
    fn address(&self, column: &str) -> Option<usize> {
        let Held::Batches(batches) = &self.held else {
            return None;
        };
        let array = batches.first()?.column_by_name(column)?;
        let data = array.to_data();
        Some(data.buffers().first()?.as_ptr() as usize + size_of::<f64>() * data.offset())
    }

    /// Names and Arrow types, without a look at a cell. A dictionary of texts is a category.
    fn types(&self) -> Vec<(String, String)> {
        match &self.held {
            Held::Batches(batches) => {
                let fields = batches.first().map(|batch| batch.schema());
                let fields = fields.iter().flat_map(|schema| schema.fields().iter());
                fields
                    .map(|field| (field.name().clone(), field.data_type().to_string()))
                    .collect()
            }
            Held::Columns(columns) => {
                let kind = |cells: &Cells| match cells {
                    Cells::Reals(_) => "Float64",
                    Cells::Singles(_) => "Float32",
                    Cells::Integers(_) => "Int64",
                    Cells::Naturals(_) => "UInt64",
                    Cells::Flags(_) => "Boolean",
                    Cells::Codes(..) => "Dictionary",
                    Cells::Any(_) => "Utf8",
                };
                columns
                    .iter()
                    .map(|(name, cells)| (name.clone(), kind(cells).to_owned()))
                    .collect()
            }
        }
    }

    /// How many rows there are: for whoever holds them, and predicts them.
    fn __len__(&self) -> usize {
        match &self.held {
            Held::Batches(batches) => batches.iter().map(RecordBatch::num_rows).sum(),
            Held::Columns(columns) => columns.first().map_or(0, |(_, cells)| match cells {
                Cells::Reals(x) => x.len(),
                Cells::Singles(x) => x.len(),
                Cells::Integers(x) => x.len(),
                Cells::Naturals(x) => x.len(),
                Cells::Flags(x) => x.len(),
                Cells::Codes(x, _) => x.len(),
                Cells::Any(x) => x.len(),
            }),
        }
    }
}

impl RawRows for Rows {
    fn pieces(&self, intake: &Intake) -> Result<Vec<Piece>, Error> {
        match &self.held {
            Held::Batches(batches) => {
                let frames: Vec<Frame<'_>> = batches.iter().map(Frame::from).collect();
                frames[..].pieces(intake)
            }
            Held::Columns(columns) => {
                // What is borrowed from cells lives as long as the frame.
                let named: Vec<Vec<Value<'_>>> = columns
                    .iter()
                    .map(|(_, cells)| match cells {
                        Cells::Codes(_, names) => names.iter().map(Cell::value).collect(),
                        Cells::Any(cells) => cells.iter().map(Cell::value).collect(),
                        _ => Vec::new(),
                    })
                    .collect();
                let mut frame = Frame::new();
                for ((name, cells), values) in columns.iter().zip(&named) {
                    let name = name.trim();
                    frame = match cells {
                        Cells::Reals(x) => frame.column(name, &x[..]),
                        Cells::Singles(x) => frame.column(name, &x[..]),
                        Cells::Integers(x) => frame.column(name, &x[..]),
                        Cells::Naturals(x) => frame.column(name, &x[..]),
                        Cells::Flags(x) => frame.column(name, &x[..]),
                        Cells::Codes(codes, _) => frame.column(name, Dictionary::new(codes, values)),
                        Cells::Any(_) => frame.column(name, &values[..]),
                    };
                }
                frame.pieces(intake)
            }
        }
    }
}
