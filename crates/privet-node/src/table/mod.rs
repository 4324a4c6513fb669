//! Tables in files: text, plain or gzipped, and Parquet.
//!
//! Whether a file can be read depends on its shape and the schema only. What a cell says is never an error: the
//! library gives it a slot. Nothing is half-read: the result is the whole table or the first error in the file.

mod blocks;
mod csv;
mod encoding;
#[cfg(feature = "parquet")]
mod parquet;
mod peek;
#[cfg(feature = "parquet")]
mod quiet;
mod rows;
mod survey;
mod write;

use std::fs::File;
use std::io::{Cursor, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

pub use csv::{Csv, ReadProgress, read_csv};
pub use peek::{ColumnPreview, FilePreview, peek};
use privet::Error;
use privet::data::{Intake, Piece, Table};
pub use survey::{ColumnSurvey, survey};
pub use write::CsvWriter;

use encoding::Text;

/// The name that stands for standard input where a file is asked for.
pub const STANDARD_INPUT: &str = "-";

/// Reads a table from a file, or from standard input if the path is `-`: Parquet if it is called or begins so, else text as the schema's
/// layout says, unpacked if it is gzipped.
///
/// `progress` is called with the bytes that were read so far, and all bytes.
///
/// # Errors
/// [`Error::Data`] for a file that cannot be read or is not the schema's table, with the line where that shows first.
pub fn read(path: &Path, intake: &Intake, progress: &ReadProgress<'_>) -> Result<Table, Error> {
    Ok(Table::new(intake, rows(path, intake, progress)?))
}

/// The same rows without the wrapper `Private`, as [`RawRows`](privet::data::RawRows), for a caller who may read the file anyway.
///
/// # Errors
/// As [`read`].
pub fn rows(path: &Path, intake: &Intake, progress: &ReadProgress<'_>) -> Result<Vec<Piece>, Error> {
    let name = shown(path);
    let (file, total, format) = open(path, &name)?;
    if format == Format::Parquet {
        return parquet_rows(&name, file, intake, progress);
    }
    let done = Arc::new(AtomicU64::new(0));
    let input = CountingReader {
        input: file,
        done: Arc::clone(&done),
    };
    let csv = Csv::new(&name);
    let progress = || progress(done.load(Ordering::Relaxed), total);
    if format == Format::Gzip {
        let input = flate2::read::MultiGzDecoder::new(std::io::BufReader::with_capacity(1 << 16, input));
        // What is wrong with packed bytes is said by whoever reads them.
        csv.rows(input, intake, &progress)
    } else {
        csv.rows(text(&name, input)?, intake, &progress)
    }
}

/// Its text in UTF-8.
fn text<R: Read>(name: &str, input: R) -> Result<Text<R>, Error> {
    Text::new(input).map_err(|e| Error::data_in(name, format!("cannot be read: {e}")))
}

/// A file of rows, or what standard input gave.
pub(crate) enum Opened {
    /// A file.
    File(File),
    /// Bytes in memory: rows that came through a pipe are never written to a disk.
    Memory(Cursor<Arc<[u8]>>),
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Memory(bytes) => bytes.read(buffer),
        }
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Memory(bytes) => bytes.seek(to),
        }
    }
}

/// Opens a file, or standard input, which is read once and kept: a table is read for its cells and to be recognised.
pub(crate) fn opened(path: &Path) -> std::io::Result<(Opened, u64)> {
    static PIPED: OnceLock<Result<Arc<[u8]>, std::io::ErrorKind>> = OnceLock::new();
    if path != Path::new(STANDARD_INPUT) {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        return Ok((Opened::File(file), length));
    }
    let piped = PIPED.get_or_init(|| {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|e| e.kind())?;
        Ok(bytes.into())
    });
    let bytes = piped.clone()?;
    let length = bytes.len() as u64;
    Ok((Opened::Memory(Cursor::new(bytes)), length))
}

/// What a file is called in messages.
pub(crate) fn shown(path: &Path) -> String {
    match path == Path::new(STANDARD_INPUT) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

/// A file, how long it is, and how it is to be read.
fn open(path: &Path, name: &str) -> Result<(Opened, u64, Format), Error> {
    let unreadable = |e: std::io::Error| Error::data_in(name, format!("cannot be read: {e}"));
    let (mut file, total) = opened(path).map_err(unreadable)?;
    let mut magic = Vec::new();
    (&mut file).take(4).read_to_end(&mut magic).map_err(unreadable)?;
    file.seek(SeekFrom::Start(0)).map_err(unreadable)?;
    Ok((file, total, Format::of(path, &magic)))
}

/// Reads a table from Parquet.
///
/// # Errors
/// [`Error::Data`] for a file that is not Parquet or not the schema's table, and in a build without the feature `parquet`.
pub fn read_parquet(
    name: &str,
    input: impl Read + Seek + Send,
    intake: &Intake,
    progress: &ReadProgress<'_>,
) -> Result<Table, Error> {
    Ok(Table::new(intake, parquet_rows(name, input, intake, progress)?))
}

fn parquet_rows(
    name: &str,
    input: impl Read + Seek + Send,
    intake: &Intake,
    progress: &ReadProgress<'_>,
) -> Result<Vec<Piece>, Error> {
    #[cfg(feature = "parquet")]
    return source(name, input, progress)?.read(intake);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (input, intake, progress);
        Err(without_parquet(name))
    }
}

/// The names of all columns, and the cells of the first rows, `most` of each row group.
fn peek_parquet(
    name: &str,
    input: impl Read + Seek + Send,
    most: usize,
) -> Result<Vec<ColumnPreview>, Error> {
    #[cfg(feature = "parquet")]
    return source(name, input, &|_, _| {})?.look(most);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (input, most);
        Err(without_parquet(name))
    }
}

/// Looks at all cells of what seems to be flags, and says of each column why it is not read, if it is not.
fn peek_flags(
    name: &str,
    input: impl Read + Seek + Send,
    flags: &mut [peek::Flag],
) -> Result<Vec<Option<String>>, Error> {
    #[cfg(feature = "parquet")]
    return source(name, input, &|_, _| {})?.watch(flags);
    #[cfg(not(feature = "parquet"))]
    {
        let _ = (input, flags);
        Err(without_parquet(name))
    }
}

#[cfg(feature = "parquet")]
fn source<'s, R: Seek>(
    name: &'s str,
    mut input: R,
    progress: &'s ReadProgress<'s>,
) -> Result<parquet::ParquetSource<'s, R>, Error> {
    let length = input
        .seek(SeekFrom::End(0))
        .map_err(|e| Error::data_in(name, format!("cannot be read: {e}")))?;
    Ok(parquet::ParquetSource {
        name,
        input: std::sync::Mutex::new(input),
        length,
        progress,
    })
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(name: &str) -> Error {
    let why =
        "this privet was built without Parquet; build it with --features parquet, or write the table as CSV";
    Error::data_in(name, why)
}

/// How a file is to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Text,
    Gzip,
    Parquet,
}

impl Format {
    fn of(path: &Path, begins: &[u8]) -> Self {
        let named = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
        if named || begins == b"PAR1" {
            Self::Parquet
        } else if begins.starts_with(&[0x1f, 0x8b]) {
            Self::Gzip
        } else {
            Self::Text
        }
    }
}

/// Counts what was read.
struct CountingReader<R> {
    input: R,
    done: Arc<AtomicU64>,
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.done.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
