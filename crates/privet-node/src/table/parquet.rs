//! Tables in Parquet: flat columns of numbers, truth values, dates and text.
//!
//! Row groups and their columns are decoded in parallel, each straight into its slots. Nested columns and times of day are refused by
//! name, and dates in a column that is not declared as one: the owner must convert them to numbers or categories.

mod look;

use std::io::{Read, Seek, SeekFrom};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use bytes::buf::{Buf, Reader};
use parquet::basic::{Compression, ConvertedType, LogicalType, TimeUnit, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescriptor;
use privet::Error;
use privet::data::schema::Kind;
use privet::data::{ColumnBuilder, Holds, Intake, Piece, TableForm, places};
use privet::error::DataError;
use rayon::prelude::*;

use super::ReadProgress;
use super::quiet::quiet;

/// How many cells of a column are decoded at a time.
const BATCH: usize = 4096;

/// Where a Parquet file comes from.
pub(super) struct ParquetSource<'s, R> {
    pub(super) name: &'s str,
    pub(super) input: Mutex<R>,
    pub(super) length: u64,
    pub(super) progress: &'s ReadProgress<'s>,
}

/// How the cells of a column are to be understood.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CellType {
    Flag,
    Integer,
    /// Without a sign.
    Natural,
    Real,
    Text,
    /// Whole numbers with this number of digits after the decimal point.
    Decimal(u8),
    /// Dates, or points in time: so many units make a day, counted from 1970-01-01.
    Days(f64),
}

/// One column that is read: its place in the file and in the schema.
struct ColumnToRead {
    leaf: usize,
    cells: CellType,
}

impl<R: Read + Seek + Send> ParquetSource<'_, R> {
    pub(super) fn read(&self, intake: &Intake) -> Result<Vec<Piece>, Error> {
        let metadata = self.metadata()?;
        let jobs = self.jobs(&metadata, intake)?;
        let rows: i64 = metadata
            .row_groups()
            .iter()
            .map(|group| group.num_rows().max(0))
            .fold(0, i64::saturating_add);
        if rows > i64::from(u32::MAX) {
            return Err(self.bad(format!("it has more than {} rows", u32::MAX)));
        }
        let done = AtomicU64::new(0);
        let pieces: Vec<Result<Piece, Error>> = (0..metadata.num_row_groups())
            .into_par_iter()
            .map(|group| self.group((&metadata, group), &jobs, intake, &done))
            .collect();
        let mut pieces = pieces.into_iter().collect::<Result<Vec<_>, _>>()?;
        if pieces.is_empty() {
            pieces.push(intake.piece(intake.columns())?);
        }
        Ok(pieces)
    }

    fn bad(&self, what: impl std::fmt::Display) -> Error {
        Error::data_in(self.name, what.to_string())
    }

    fn bad_column(&self, name: &str, what: String) -> Error {
        Error::Data(DataError::new(what).in_file(self.name).of_column(name))
    }

    fn bytes(&self, start: u64, length: u64) -> Result<Bytes, Error> {
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(self.bad("the file ends too early; was it copied whole?"));
        }
        let mut bytes = Vec::with_capacity(length as usize);
        let mut input = self.input.lock().unwrap_or_else(PoisonError::into_inner);
        let read = input
            .seek(SeekFrom::Start(start))
            .and_then(|_| (&mut *input).take(length).read_to_end(&mut bytes));
        match read {
            Ok(read) if read as u64 == length => Ok(bytes.into()),
            Ok(_) => Err(self.bad("the file ends too early; was it copied whole?")),
            Err(e) => Err(self.bad(format!("cannot be read: {e}"))),
        }
    }

    fn metadata(&self) -> Result<ParquetMetaData, Error> {
        const MAGIC: &[u8] = b"PAR1";
        if self.length < 12 || &self.bytes(0, 4)?[..] != MAGIC {
            return Err(
                self.bad("this is not a Parquet file; a table of text has another ending, such as .csv")
            );
        }
        let tail = self.bytes(self.length - 8, 8)?;
        if &tail[4..] != MAGIC {
            return Err(self.bad("the file ends too early; was it copied whole?"));
        }
        let length = u64::from(u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]));
        let start = self.length.checked_sub(8 + length).filter(|&start| start >= 4);
        let start = start.ok_or_else(|| self.bad("the description at the file's end is damaged"))?;
        let bytes = self.bytes(start, length)?;
        match quiet(|| ParquetMetaDataReader::decode_metadata(&bytes)) {
            Ok(Ok(metadata)) => Ok(metadata),
            Ok(Err(e)) => Err(self.bad(format!(
                "the description at the file's end is damaged: {}",
                plain(&e)
            ))),
            Err(e) => Err(self.bad(format!("the description at the file's end is damaged: {e}"))),
        }
    }

    /// Which column of the file feeds each column of the schema.
    fn jobs(&self, metadata: &ParquetMetaData, intake: &Intake) -> Result<Vec<Option<ColumnToRead>>, Error> {
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields();
        let names: Vec<String> = fields
            .iter()
            .map(|field| field.name().trim().to_owned())
            .collect();
        let places = places((self.name, TableForm::Parquet), &names, intake)?;
        let mut jobs: Vec<Option<ColumnToRead>> = intake.schema().columns().iter().map(|_| None).collect();
        for (field, place) in places.into_iter().enumerate() {
            let Some(place) = place else { continue };
            let name = &names[field];
            let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == field);
            let column = leaf.map(|leaf| schema.column(leaf));
            let (Some(leaf), Some(column)) = (leaf, column) else {
                return Err(self.bad_column(name, format!("column '{name}' has nothing in it")));
            };
            if column.path().parts().len() > 1 || column.max_rep_level() > 0 || column.max_def_level() > 1 {
                Holds::Nested.check(self.name, name, intake)?;
            }
            let cells = match kind(&column) {
                Ok(cells) => cells,
                Err(what) => {
                    Holds::Other(what).check(self.name, name, intake)?;
                    continue;
                }
            };
            let declared = &intake.schema().columns()[place].kind;
            if matches!(cells, CellType::Days(_))
                && !matches!(declared, Kind::Number(number) if number.is_date())
                && intake.needs(place)
            {
                let what = "dates, and is not declared as type = \"date\" with min = \"2015-01-01\" and max = \"2024-12-31\"";
                return Err(self.bad_column(
                    name,
                    format!("column '{name}' holds {what}: declare it so, or as type = \"skip\""),
                ));
            }
            if cells == CellType::Real {
                Holds::Fractions.check(self.name, name, intake)?;
            }
            jobs[place] = Some(ColumnToRead { leaf, cells });
        }
        Ok(jobs)
    }

    fn group(
        &self,
        (metadata, group): (&ParquetMetaData, usize),
        jobs: &[Option<ColumnToRead>],
        intake: &Intake,
        done: &AtomicU64,
    ) -> Result<Piece, Error> {
        let mut columns = intake.columns();
        let outcomes: Vec<Result<(), Error>> = columns
            .par_iter_mut()
            .zip(jobs)
            .map(|(column, job)| match job {
                Some(job) => {
                    let bytes = self.column((metadata, group), job, column)?;
                    let before = done.fetch_add(bytes, Ordering::Relaxed);
                    (self.progress)((before + bytes).min(self.length), self.length);
                    Ok(())
                }
                None => Ok(()),
            })
            .collect();
        outcomes.into_iter().collect::<Result<(), _>>()?;
        intake.piece(columns)
    }

    /// Refuses what this build cannot unpack.
    fn check_packing(&self, name: &str, chunk: &ColumnChunkMetaData) -> Result<(), Error> {
        let packing = match chunk.compression() {
            Compression::BROTLI(_) => "Brotli",
            Compression::LZO => "LZO",
            _ => return Ok(()),
        };
        Err(self.bad_column(
            name,
            format!("column '{name}' is packed with {packing}, which is not read; write the file with zstd, snappy, lz4 or gzip"),
        ))
    }

    /// Decodes one column of one row group; how many bytes it takes in the file.
    fn column(
        &self,
        (metadata, group): (&ParquetMetaData, usize),
        job: &ColumnToRead,
        column: &mut ColumnBuilder<'_>,
    ) -> Result<u64, Error> {
        let group_data = metadata.row_group(group);
        let name = metadata
            .file_metadata()
            .schema_descr()
            .column(job.leaf)
            .name()
            .to_owned();
        let damaged = |what: String| {
            self.bad_column(
                &name,
                format!("column '{name}' of row group {} is damaged: {what}", group + 1),
            )
        };
        let chunk = group_data
            .columns()
            .get(job.leaf)
            .ok_or_else(|| damaged("it is not there".into()))?;
        let rows = usize::try_from(group_data.num_rows())
            .map_err(|_| damaged("its number of rows is negative".into()))?;
        self.check_packing(&name, chunk)?;
        let (start, length) = quiet(|| chunk.byte_range()).map_err(damaged)?;
        let bytes = self.bytes(start, length)?;
        let decoded = quiet(|| -> Result<usize, ParquetError> {
            let chunk_bytes = Arc::new(Chunk { start, bytes });
            let pages = SerializedPageReader::new(chunk_bytes, chunk, rows, None)?;
            let descriptor = metadata.file_metadata().schema_descr().column(job.leaf);
            decode(
                get_column_reader(descriptor, Box::new(pages)),
                job.cells,
                rows,
                column,
            )
        });
        match decoded {
            Ok(Ok(found)) if found == rows => Ok(length),
            Ok(Ok(found)) => Err(damaged(format!("{found} of {rows} cells are there"))),
            Ok(Err(e)) => Err(damaged(plain(&e))),
            Err(e) => Err(damaged(e)),
        }
    }
}

/// The decoder's words without its prefix, on one line.
fn plain(error: &ParquetError) -> String {
    let text = match error {
        ParquetError::General(text) => text.clone(),
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}

/// What the cells of a column are, or what they are that cannot be read.
fn kind(column: &ColumnDescriptor) -> Result<CellType, String> {
    let decimal = |scale: i32| {
        u8::try_from(scale).map_or_else(
            |_| Err("decimals with an invalid scale".into()),
            |scale| Ok(CellType::Decimal(scale)),
        )
    };
    match (
        column.physical_type(),
        column.logical_type_ref(),
        column.converted_type(),
    ) {
        // Nothing but missing cells: that they are missing is what they say, and no error.
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Unknown), _) => Ok(CellType::Integer),
        (Physical::BYTE_ARRAY, Some(LogicalType::Unknown), _) => Ok(CellType::Text),
        (Physical::BOOLEAN, ..) => Ok(CellType::Flag),
        (Physical::FLOAT | Physical::DOUBLE, ..) => Ok(CellType::Real),
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Decimal(_)), _)
        | (Physical::INT32 | Physical::INT64, None, ConvertedType::DECIMAL) => decimal(column.type_scale()),
        (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(integer)), _) => {
            Ok(if integer.is_signed {
                CellType::Integer
            } else {
                CellType::Natural
            })
        }
        (Physical::INT32 | Physical::INT64, None, converted) => match converted {
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => Ok(CellType::Integer),
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Ok(CellType::Natural),
            ConvertedType::DATE => Ok(CellType::Days(1.0)),
            ConvertedType::TIMESTAMP_MILLIS => Ok(CellType::Days(DAY * 1e3)),
            ConvertedType::TIMESTAMP_MICROS => Ok(CellType::Days(DAY * 1e6)),
            _ => Err("times of day".into()),
        },
        (Physical::INT32, Some(LogicalType::Date), _) => Ok(CellType::Days(1.0)),
        (Physical::INT64, Some(LogicalType::Timestamp(stamp)), _) => Ok(CellType::Days(match stamp.unit {
            TimeUnit::MILLIS => DAY * 1e3,
            TimeUnit::MICROS => DAY * 1e6,
            TimeUnit::NANOS => DAY * 1e9,
        })),
        // Written by old programs: nanoseconds of a day, and the day.
        (Physical::INT96, ..) => Ok(CellType::Days(1.0)),
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Decimal(_)), _)
        | (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, _, ConvertedType::DECIMAL)
            if column.type_length() <= 16 =>
        {
            decimal(column.type_scale())
        }
        (
            Physical::BYTE_ARRAY,
            Some(LogicalType::String | LogicalType::Enum | LogicalType::Json) | None,
            converted,
        ) if converted != ConvertedType::DECIMAL => Ok(CellType::Text),
        (_, Some(LogicalType::Time(_)), _) => Err("times of day".into()),
        (_, Some(LogicalType::Decimal(_)), _) | (_, _, ConvertedType::DECIMAL) => {
            Err("decimals of more than 38 digits".into())
        }
        (_, Some(LogicalType::Float16), _) => Err("half-precision numbers".into()),
        (_, Some(LogicalType::Uuid), _) => Err("identifiers as bytes".into()),
        _ => Err("bytes".into()),
    }
}

/// Hands all cells to the builder; how many there were.
fn decode(
    reader: ColumnReader,
    cells: CellType,
    rows: usize,
    column: &mut ColumnBuilder<'_>,
) -> Result<usize, ParquetError> {
    use ColumnReader as C;
    match (reader, cells) {
        (C::BoolColumnReader(reader), _) => batches(reader, rows, |batch| {
            column.flags(batch.cells().map(|cell| cell.copied()));
        }),
        (C::Int32ColumnReader(reader), CellType::Decimal(scale)) => batches(reader, rows, |batch| {
            column.decimals(batch.cells().map(|cell| cell.map(|&x| i64::from(x))), scale);
        }),
        (C::Int64ColumnReader(reader), CellType::Decimal(scale)) => batches(reader, rows, |batch| {
            column.decimals(batch.cells().map(|cell| cell.copied()), scale);
        }),
        (C::ByteArrayColumnReader(reader), CellType::Decimal(scale)) => batches(reader, rows, |batch| {
            column.decimals(
                batch.cells().map(|cell| cell.and_then(|x| whole(x.data()))),
                scale,
            );
        }),
        (C::FixedLenByteArrayColumnReader(reader), CellType::Decimal(scale)) => {
            batches(reader, rows, |batch| {
                column.decimals(
                    batch.cells().map(|cell| cell.and_then(|x| whole(x.data()))),
                    scale,
                );
            })
        }
        (C::Int32ColumnReader(reader), CellType::Days(each)) => batches(reader, rows, |batch| {
            column.dates(batch.cells().map(|cell| cell.map(|&x| f64::from(x) / each)));
        }),
        (C::Int64ColumnReader(reader), CellType::Days(each)) => batches(reader, rows, |batch| {
            column.dates(batch.cells().map(|cell| cell.map(|&x| x as f64 / each)));
        }),
        (C::Int96ColumnReader(reader), CellType::Days(_)) => batches(reader, rows, |batch| {
            column.dates(batch.cells().map(|cell| cell.map(|x| julian(x.data()))));
        }),
        (C::Int32ColumnReader(reader), CellType::Natural) => batches(reader, rows, |batch| {
            column.integers(batch.cells().map(|cell| cell.map(|&x| i64::from(x as u32))));
        }),
        (C::Int32ColumnReader(reader), _) => batches(reader, rows, |batch| {
            column.integers(batch.cells().map(|cell| cell.map(|&x| i64::from(x))));
        }),
        (C::Int64ColumnReader(reader), CellType::Natural) => batches(reader, rows, |batch| {
            column.naturals(batch.cells().map(|cell| cell.map(|&x| x as u64)));
        }),
        (C::Int64ColumnReader(reader), _) => batches(reader, rows, |batch| {
            column.integers(batch.cells().map(|cell| cell.copied()));
        }),
        (C::FloatColumnReader(reader), _) => batches(reader, rows, |batch| {
            column.numbers(batch.cells().map(|cell| cell.map(|&x| f64::from(x))));
        }),
        (C::DoubleColumnReader(reader), _) => batches(reader, rows, |batch| match batch.levels {
            None => column.numbers(batch.values.iter().map(|&x| Some(x))),
            Some(_) => column.numbers(batch.cells().map(|cell| cell.copied())),
        }),
        (C::ByteArrayColumnReader(reader), _) => batches(reader, rows, |batch| {
            column.known_texts(batch.cells().map(|cell| cell.map(|text| text.data())));
        }),
        (C::Int96ColumnReader(_) | C::FixedLenByteArrayColumnReader(_), _) => {
            Err(ParquetError::General("it holds bytes".into()))
        }
    }
}

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// A whole number in bytes, the highest first, of at most 128 bits; a missing cell if it has more.
fn whole(bytes: &[u8]) -> Option<i128> {
    let sign = if bytes.first().is_some_and(|first| first & 0x80 != 0) {
        0xff
    } else {
        0
    };
    let mut all = [sign; 16];
    all.get_mut(16_usize.checked_sub(bytes.len())?..)?
        .copy_from_slice(bytes);
    Some(i128::from_be_bytes(all))
}

/// Nanoseconds of a day in two words, and the day by the Julian count.
fn julian(words: &[u32]) -> f64 {
    let [low, high, day] = [0, 1, 2].map(|place| words.get(place).copied().unwrap_or(0));
    let nanos = u64::from(high) << 32 | u64::from(low);
    f64::from(day as i32) - 2_440_588.0 + nanos as f64 / (DAY * 1e9)
}

/// Some cells of a column: the values that are there, and for each row whether one is.
struct Batch<'b, T> {
    values: &'b [T],
    levels: Option<&'b [i16]>,
    rows: usize,
}

impl<'b, T> Batch<'b, T> {
    fn cells(&self) -> impl Iterator<Item = Option<&'b T>> {
        let (mut values, levels) = (self.values.iter(), self.levels);
        (0..self.rows).map(move |row| match levels {
            Some(levels) if levels[row] == 0 => None,
            _ => values.next(),
        })
    }
}

fn batches<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    rows: usize,
    mut take: impl FnMut(Batch<'_, T::T>),
) -> Result<usize, ParquetError> {
    let (mut values, mut levels, mut found) = (Vec::new(), Vec::new(), 0);
    loop {
        values.clear();
        levels.clear();
        // One more than there should be, to see whether there are too many.
        let most = BATCH.min(rows + 1 - found);
        let (records, ..) = reader.read_records(most, Some(&mut levels), None, &mut values)?;
        found += records;
        if records == 0 || found > rows {
            return Ok(found);
        }
        let all = levels.is_empty() || values.len() == records;
        take(Batch {
            values: &values,
            levels: (!all).then_some(&levels),
            rows: records,
        });
    }
}

/// The bytes of one column, under their places in the file.
struct Chunk {
    start: u64,
    bytes: Bytes,
}

impl Chunk {
    fn from(&self, start: u64) -> Result<Bytes, ParquetError> {
        let place = start.checked_sub(self.start).map(|place| place as usize);
        match place {
            Some(place) if place <= self.bytes.len() => Ok(self.bytes.slice(place..)),
            _ => Err(ParquetError::EOF("a page lies outside its column".into())),
        }
    }
}

impl Length for Chunk {
    fn len(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl ChunkReader for Chunk {
    type T = Reader<Bytes>;

    fn get_read(&self, start: u64) -> Result<Self::T, ParquetError> {
        Ok(self.from(start)?.reader())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes, ParquetError> {
        let bytes = self.from(start)?;
        if length > bytes.len() {
            return Err(ParquetError::EOF("a page is cut short".into()));
        }
        Ok(bytes.slice(..length))
    }
}
