//! Some cells of each column, as text.

use std::io::{Read, Seek};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::serialized_reader::SerializedPageReader;
use privet::Error;

use super::super::peek::{ColumnPreview, ROWS};
use super::super::quiet::quiet;
use super::{CellType, Chunk, ParquetSource, kind};

impl<R: Read + Seek + Send> ParquetSource<'_, R> {
    pub(in super::super) fn look(&self) -> Result<Vec<ColumnPreview>, Error> {
        let metadata = self.metadata()?;
        let schema = metadata.file_metadata().schema_descr();
        let fields = schema.root_schema().get_fields().iter().enumerate();
        fields
            .map(|(field, shape)| {
                let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == field);
                let cells = match leaf {
                    Some(leaf) if shape.is_primitive() => self.sample(&metadata, leaf)?,
                    _ => Vec::new(),
                };
                Ok((shape.name().to_owned(), cells))
            })
            .collect()
    }

    fn sample(&self, metadata: &ParquetMetaData, leaf: usize) -> Result<Vec<Vec<u8>>, Error> {
        let descriptor = metadata.file_metadata().schema_descr().column(leaf);
        let (Ok(cells), Some(group)) = (kind(&descriptor), metadata.row_groups().first()) else {
            return Ok(Vec::new());
        };
        let damaged = |what: String| self.bad(format!("column '{}' is damaged: {what}", descriptor.name()));
        let chunk = group
            .columns()
            .get(leaf)
            .ok_or_else(|| damaged("it is not there".into()))?;
        let (start, length) = quiet(|| chunk.byte_range()).map_err(damaged)?;
        let bytes = self.bytes(start, length)?;
        let found = quiet(|| -> Result<_, ParquetError> {
            let rows = usize::try_from(group.num_rows()).unwrap_or(0);
            let pages = SerializedPageReader::new(Arc::new(Chunk { start, bytes }), chunk, rows, None)?;
            show(get_column_reader(Arc::clone(&descriptor), Box::new(pages)), cells)
        });
        found.map_err(damaged)?.map_err(|e| damaged(e.to_string()))
    }
}

fn show(reader: ColumnReader, cells: CellType) -> Result<Vec<Vec<u8>>, ParquetError> {
    use ColumnReader as C;
    let whole = |x: i64| match cells {
        CellType::Decimal(scale) => privet::data::decimal(x, scale).into_bytes(),
        _ => x.to_string().into_bytes(),
    };
    match reader {
        C::BoolColumnReader(reader) => first(reader, |x| x.to_string().into_bytes()),
        C::Int32ColumnReader(reader) if cells == CellType::Natural => {
            first(reader, |&x| (x as u32).to_string().into_bytes())
        }
        C::Int32ColumnReader(reader) => first(reader, |&x| whole(x.into())),
        C::Int64ColumnReader(reader) if cells == CellType::Natural => {
            first(reader, |&x| (x as u64).to_string().into_bytes())
        }
        C::Int64ColumnReader(reader) => first(reader, |&x| whole(x)),
        C::FloatColumnReader(reader) => first(reader, |x| x.to_string().into_bytes()),
        C::DoubleColumnReader(reader) => first(reader, |x| x.to_string().into_bytes()),
        C::ByteArrayColumnReader(reader) => first(reader, |x| x.data().to_vec()),
        C::Int96ColumnReader(_) | C::FixedLenByteArrayColumnReader(_) => Ok(Vec::new()),
    }
}

/// Cells that are there, among the first rows.
fn first<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    show: impl Fn(&T::T) -> Vec<u8>,
) -> Result<Vec<Vec<u8>>, ParquetError> {
    let (mut values, mut levels) = (Vec::new(), Vec::new());
    reader.read_records(ROWS, Some(&mut levels), None, &mut values)?;
    Ok(values.iter().map(show).collect())
}
