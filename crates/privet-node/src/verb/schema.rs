//! `privet schema`

use std::fmt::Write;
use std::io::{BufReader, IsTerminal, Read};
use std::path::Path;
use std::sync::Arc;

use privet::data::schema::{self, CodeBook, ColumnGuess, DraftColumn, Kind, Label, Layout, Schema};
use privet::data::{Intake, Keep, common_unit, has_thousands};
use privet::privacy::texts::check_name;
use serde_json::json;

use super::exit::Failure;
use super::request::{Known, LedgerFile};
use super::{Answer, output, words};
use crate::job::Source;
use crate::place::same_file;
use crate::table::{self, ColumnPreview, ColumnSurvey, FilePreview};

/// What public files say of columns.
struct PublicFiles {
    like: Option<(Vec<(String, ColumnSurvey)>, String)>,
    book: Option<(CodeBook, String)>,
}

impl PublicFiles {
    fn open(file: &Path, known: &Known) -> Result<Self, Failure> {
        if let Some(like) = &known.like
            && (same_file(like, file) || same_bytes(like, file))
        {
            return Err(Failure::usage(format!(
                "--like {} is the table itself, or a copy of it: bounds that come from its rows tell about them. Name another file, which is public.",
                like.display()
            )));
        }
        let like = known
            .like
            .as_ref()
            .map(|file| Ok::<_, Failure>((table::survey(file)?, base(file))));
        let book = known.from.as_ref().map(|file| {
            let text = std::fs::read_to_string(file)
                .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", file.display())))?;
            Ok::<_, Failure>((
                CodeBook::from_toml(&file.display().to_string(), &text)?,
                base(file),
            ))
        });
        Ok(Self {
            like: like.transpose()?,
            book: book.transpose()?,
        })
    }

    /// What stands between the braces of this column, and the file that says so. A code book comes first: somebody wrote it.
    fn declared(&self, name: &str) -> Option<(String, String)> {
        let of_book = self
            .book
            .as_ref()
            .and_then(|(book, file)| Some((book.declared(name)?, file.clone())));
        of_book.or_else(|| {
            let (columns, file) = self.like.as_ref()?;
            let (_, survey) = columns.iter().find(|(other, _)| other == name)?;
            Some((survey.declared()?, file.clone()))
        })
    }
}

/// Whether one is a copy of the other. What cannot be read is reported by whoever reads it.
fn same_bytes(a: &Path, b: &Path) -> bool {
    let (Ok((a, length)), Ok((b, other))) = (table::opened(a), table::opened(b)) else {
        return false;
    };
    let mut bytes = BufReader::new(b).bytes();
    let same = |byte: std::io::Result<u8>| matches!((byte, bytes.next()), (Ok(a), Some(Ok(b))) if a == b);
    length == other && length > 0 && BufReader::new(a).bytes().all(same)
}

fn base(file: &Path) -> String {
    file.file_name()
        .map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn column(
    look: &FilePreview,
    place: usize,
    (name, cells): &ColumnPreview,
    public: &PublicFiles,
) -> DraftColumn {
    let texts = || cells.iter().map(Vec::as_slice);
    let seen = match look.layout.decimal {
        b',' => ColumnGuess::of_cells_with_comma(texts()),
        _ => ColumnGuess::of_cells(texts()),
    };
    let measure = (seen == ColumnGuess::Text)
        .then(|| common_unit(texts(), look.layout.decimal == b','))
        .flatten();
    let thousands = seen == ColumnGuess::Text && measure.is_none() && has_thousands(texts());
    let is_index = look.is_index(place);
    DraftColumn {
        name: name.clone(),
        guess: if measure.is_some() {
            ColumnGuess::Number
        } else {
            seen
        },
        measure,
        thousands,
        is_index,
        unread: look.unread.get(place).cloned().flatten(),
        known: public.declared(name).filter(|_| !is_index),
    }
}

pub(super) fn draft(
    file: &Path,
    out: Option<&Path>,
    dataset: Option<&str>,
    (known, ledger): (&Known, &LedgerFile),
) -> Result<Answer, Failure> {
    if let Some(out) = out {
        output::check_ledger(ledger, out)?;
    }
    let public = PublicFiles::open(file, known)?;
    let look = table::peek(file)?;
    let each = look.columns.iter().enumerate();
    let columns: Vec<DraftColumn> = each
        .map(|(place, preview)| column(&look, place, preview, &public))
        .collect();
    let named = file
        .file_name()
        .and_then(|name| name.to_str())
        .and_then(|name| name.split('.').next());
    let dataset = dataset
        .or(named)
        .filter(|name| check_name(name, 100).is_ok())
        .unwrap_or("table");
    let text = schema::draft(dataset, look.layout, &columns);
    let remarks = remarks(&look, &columns, &public);
    let json = json!({"schema": text, "out": out, "remarks": remarks});
    let Some(out) = out else {
        return Ok(Answer::new(text, json));
    };
    // Somebody's bounds are worth more than a draft.
    crate::ledger::write_new(out, text.as_bytes()).map_err(|e| {
        let why = match e.kind() {
            std::io::ErrorKind::AlreadyExists => "it exists already, and a draft would overwrite it".into(),
            _ => format!("it cannot be written: {e}"),
        };
        Failure::input(format!("{}: {why}", out.display()))
    })?;
    let mut said = format!("Wrote {}: {} columns.", out.display(), columns.len());
    for remark in remarks {
        let _ = write!(said, " {remark}");
    }
    let _ = write!(
        said,
        " Fill in the bounds and values from public knowledge, then run\n  privet schema check {}\n",
        out.display()
    );
    Ok(Answer::new(said, json))
}

/// What was recognised, in sentences.
fn remarks(look: &FilePreview, columns: &[DraftColumn], public: &PublicFiles) -> Vec<String> {
    let mut remarks: Vec<String> = look.nameless.iter().cloned().collect();
    if let Some(index) = columns.iter().find(|column| column.is_index) {
        remarks.push(match index.name.as_str() {
            "" => "The column without a name has row numbers, as pandas writes them, and is not read.".into(),
            name => format!("'{name}' has row numbers, as pandas writes them, and is not read."),
        });
    }
    if columns
        .iter()
        .any(|column| column.name.is_empty() && !column.is_index)
    {
        remarks.push("A column has no name, and is not read.".into());
    }
    if look.layout.decimal != Layout::default().decimal {
        remarks.push("Numbers have a decimal comma.".into());
    }
    for column in columns {
        if let Some(measure) = &column.measure {
            remarks.push(format!(
                "'{}' has its unit {measure:?} in every cell.",
                column.name
            ));
        }
    }
    if look.is_without_rows() {
        remarks.push("The file has no rows, so no type could be guessed: is it the right one?".into());
    }
    let known = columns.iter().filter(|column| column.known.is_some()).count();
    if known > 0 {
        remarks.push(format!(
            "{} declared as the public files say.",
            match known {
                1 => "1 is".to_owned(),
                known => format!("{known} are"),
            }
        ));
    }
    if let Some((book, file)) = &public.book {
        let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
        for name in book.unused(&names) {
            remarks.push(format!("'{name}' of {file} fits no column of the table."));
        }
    }
    remarks
}

pub(super) fn check(file: &Path, data: Option<&Path>, diagnostics: bool) -> Result<Answer, Failure> {
    if diagnostics && !std::io::stdout().is_terminal() {
        return Err(Failure::usage(
            "--private-diagnostics counts cells of private rows: it is for your own terminal, not for a file or a pipe",
        ));
    }
    let schema = Arc::new(open(file)?);
    let mut text = schema.explain();
    text += &wide_bounds(&schema);
    if let Some(data) = data {
        let source = Source {
            schema: Arc::clone(&schema),
            data: data.to_owned(),
        };
        source.read(&Intake::everything(Arc::clone(&schema), Keep::Bins))?;
        let _ = writeln!(
            text,
            "\n{} has these columns and reads to its end.",
            table::shown(data)
        );
        if diagnostics {
            let table = source.read(&Intake::tallying(Arc::clone(&schema)))?;
            let _ = writeln!(text, "\n{}", super::diagnostics::of(table));
        }
    }
    let json = json!({"schema": schema.to_toml(), "dataset": schema.dataset(), "data": data, "sound": true});
    Ok(Answer::new(words::wrapped(&text), json))
}

/// What bounds that are far too wide cost, where there are bounds: measured on a made-up law by a test of the command (`bounds`).
fn wide_bounds(schema: &Schema) -> String {
    let is_number = |kind: &Kind| matches!(kind, Kind::Number(_));
    let target = matches!(schema.label(), Some((_, Label::Number { .. })));
    if !target && !schema.columns().iter().any(|column| is_number(&column.kind)) {
        return String::new();
    }
    let mut text = String::from(
        "\nBounds that are far too wide leave few bins for the numbers that occur. Where the bounds of all columns were ten times too wide, the error of \
         private trees on a made-up law grew by about a quarter (ε = 1, 3000 rows), and by a few hundredths with bins = \"private-quantiles\" in [algorithm], \
         which finds bins by a part of the budget.",
    );
    if target {
        text += " The label's bounds did no harm there when they were ten times too wide: its scale is found by a small part of the budget.";
    }
    text + "\n"
}

/// Reads a schema.
pub(super) fn open(file: &Path) -> Result<Schema, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", file.display())))?;
    Ok(Schema::from_toml(&file.display().to_string(), &text)?)
}
