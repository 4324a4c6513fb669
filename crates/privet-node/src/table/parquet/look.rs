//! Some cells of each column, as text.

use std::io::{Read, Seek};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::TypePtr;
use privet::Error;
use privet::data::{date, decimal};

use super::super::peek::{ColumnPreview, Flag, ROWS};
use super::super::quiet::quiet;
use super::{CellType, Chunk, ParquetSource, kind};

impl<R: Read + Seek + Send> ParquetSource<'_, R> {
    /// At most so many cells of each row group; where these are few, of the first row group alone.
    pub(in super::super) fn look(&self, most: usize) -> Result<Vec<ColumnPreview>, Error> {
        let metadata = self.metadata()?;
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields().iter().enumerate();
        fields
            .map(|(field, shape)| {
                let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == field);
                let cells = match leaf {
                    Some(leaf) if shape.is_primitive() => {
                        let groups = if most <= ROWS {
                            1
                        } else {
                            metadata.num_row_groups()
                        };
                        let groups = metadata.row_groups().iter().take(groups);
                        let cells = groups.map(|group| self.sample(&metadata, group, (leaf, most)));
                        cells.collect::<Result<Vec<_>, _>>()?.concat()
                    }
                    _ => Vec::new(),
                };
                Ok((shape.name().to_owned(), cells))
            })
            .collect()
    }

    /// Shows these flags all their cells; for each column, what is in it if it is not read.
    pub(in super::super) fn watch(&self, flags: &mut [Flag]) -> Result<Vec<Option<String>>, Error> {
        let metadata = self.metadata()?;
        let schema = metadata.file_metadata().schema_descr();
        let leaf =
            |field: usize| (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == field);
        for flag in flags {
            let Some(leaf) = leaf(flag.place) else { continue };
            for group in metadata.row_groups() {
                let cells = self.sample(&metadata, group, (leaf, usize::MAX))?;
                cells.iter().for_each(|cell| flag.take(cell));
            }
        }
        let fields = schema.root_schema().get_fields().iter().enumerate();
        let unread = |(field, shape): (usize, &TypePtr)| match leaf(field) {
            Some(leaf) if shape.is_primitive() => kind(&schema.column(leaf)).err(),
            _ => Some("lists or records".into()),
        };
        Ok(fields.map(unread).collect())
    }

    fn sample(
        &self,
        metadata: &ParquetMetaData,
        group: &RowGroupMetaData,
        (leaf, most): (usize, usize),
    ) -> Result<Vec<Vec<u8>>, Error> {
        let descriptor = metadata.file_metadata().schema_descr().column(leaf);
        let Ok(cells) = kind(&descriptor) else {
            return Ok(Vec::new());
        };
        let damaged = |what: String| self.bad(format!("column '{}' is damaged: {what}", descriptor.name()));
        let chunk = group
            .columns()
            .get(leaf)
            .ok_or_else(|| damaged("it is not there".into()))?;
        self.check_packing(descriptor.name(), chunk)?;
        let (start, length) = quiet(|| chunk.byte_range()).map_err(damaged)?;
        let bytes = self.bytes(start, length)?;
        let found = quiet(|| -> Result<_, ParquetError> {
            let rows = usize::try_from(group.num_rows()).unwrap_or(0);
            let pages = SerializedPageReader::new(Arc::new(Chunk { start, bytes }), chunk, rows, None)?;
            let reader = get_column_reader(Arc::clone(&descriptor), Box::new(pages));
            show(reader, cells, most.min(rows))
        });
        found.map_err(damaged)?.map_err(|e| damaged(e.to_string()))
    }
}

fn show(reader: ColumnReader, cells: CellType, most: usize) -> Result<Vec<Vec<u8>>, ParquetError> {
    use ColumnReader as C;
    let whole = |x: i64| match cells {
        CellType::Decimal(scale) => decimal(x, scale).into_bytes(),
        CellType::Days(each) => date(x as f64 / each).into_bytes(),
        _ => x.to_string().into_bytes(),
    };
    let long = |bytes: &[u8]| match (cells, super::whole(bytes)) {
        (CellType::Decimal(scale), Some(x)) => decimal(x, scale).into_bytes(),
        (CellType::Decimal(_), None) => Vec::new(),
        _ => bytes.to_vec(),
    };
    match reader {
        C::BoolColumnReader(reader) => first(reader, |x| x.to_string().into_bytes(), most),
        C::Int32ColumnReader(reader) if cells == CellType::Natural => {
            first(reader, |&x| (x as u32).to_string().into_bytes(), most)
        }
        C::Int32ColumnReader(reader) => first(reader, |&x| whole(x.into()), most),
        C::Int64ColumnReader(reader) if cells == CellType::Natural => {
            first(reader, |&x| (x as u64).to_string().into_bytes(), most)
        }
        C::Int64ColumnReader(reader) => first(reader, |&x| whole(x), most),
        C::FloatColumnReader(reader) => first(reader, |x| x.to_string().into_bytes(), most),
        C::DoubleColumnReader(reader) => first(reader, |x| x.to_string().into_bytes(), most),
        C::ByteArrayColumnReader(reader) => first(reader, |x| long(x.data()), most),
        C::FixedLenByteArrayColumnReader(reader) => first(reader, |x| long(x.data()), most),
        C::Int96ColumnReader(reader) => first(reader, |x| date(super::julian(x.data())).into_bytes(), most),
    }
}

/// Cells that are there, among the first rows.
fn first<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    show: impl Fn(&T::T) -> Vec<u8>,
    most: usize,
) -> Result<Vec<Vec<u8>>, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    reader.read_records(most, Some(&mut levels), None, &mut values)?;
    Ok(values.iter().map(show).collect())
}
