//! Leave to use rows without protection: given by the schema, or by their owner and then recorded.

use std::fs::File;
use std::io::IsTerminal;
use std::path::Path;

use privet::data::Schema;
use privet::privacy::Unprotected;

use super::exit::{Exit, Failure};
use super::high::Where;
use crate::job::Source;
use crate::ledger::{Store, belongs_to};

/// Rows that something is to be done with, without protection.
pub(super) struct Rows<'a> {
    pub(super) schema: &'a Schema,
    pub(super) file: &'a Path,
}

impl<'a> Rows<'a> {
    pub(super) fn of(source: &'a Source) -> Self {
        Self {
            schema: &source.schema,
            file: &source.data,
        }
    }
}

/// The columns that are to be protected, a few by name.
pub(super) fn private_columns(schema: &Schema) -> String {
    let names: Vec<&str> = schema
        .columns()
        .iter()
        .filter(|c| c.private)
        .map(|c| c.name.as_str())
        .collect();
    match names.len() {
        0..=3 => names.join(", "),
        n => format!("{} and {} more columns", names[..2].join(", "), n - 2),
    }
}

/// Refuses to write a result over the ledger.
pub(super) fn spare(ledger: &Where, out: &Path) -> Result<(), Failure> {
    match ledger.path() {
        Ok(path) if belongs_to(path, out) => Err(Failure::usage(format!(
            "{} is the ledger's own file: choose another name. Nothing was read.",
            out.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses private rows unless their owner said otherwise; from job and schema alone, before the rows are opened.
pub(super) fn ask(schema: &Schema, what: &str, not_protected: bool) -> Result<(), Failure> {
    if !schema.is_private() || not_protected {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{what} protects nobody, and the schema of '{}' marks {} as private. If these are public knowledge, say so in the \
         schema (private = false). If the result is for your own eyes only, add --not-protected: the ledger will say that \
         '{}' was used without protection, for ever. Nothing was read.",
        schema.dataset(),
        private_columns(schema),
        schema.dataset()
    )))
}

/// Exact figures about private rows go to their owner's own terminal, never into a file, a pipe or JSON.
pub(super) fn own_terminal(schema: &Schema) -> Result<(), Failure> {
    if !schema.is_private() || std::io::stdout().is_terminal() {
        return Ok(());
    }
    Err(Failure::usage(
        "--not-protected is for your own terminal: its answer does not go into a file, a pipe or JSON. Nothing was read.",
    ))
}

/// Writes down that private rows are used without protection, before they can be.
pub(super) fn take(rows: &Rows<'_>, because: &str, ledger: &Where) -> Result<Unprotected, Failure> {
    let relation = rows.schema.relation();
    if !rows.schema.is_private() {
        public(rows, ledger)?;
        let because = format!("{because}; nothing in its table is declared private");
        return Ok(Unprotected::unrecorded(
            rows.schema.dataset(),
            &relation,
            &because,
        ));
    }
    take_in(&mut open(ledger.path()?)?, rows, because)
}

/// The same for private rows, in a ledger that is open already.
pub(super) fn take_in(store: &mut Store, rows: &Rows<'_>, because: &str) -> Result<Unprotected, Failure> {
    recognise(store, rows)?;
    let (dataset, relation) = (rows.schema.dataset(), rows.schema.relation());
    Ok(Unprotected::recorded(dataset, &relation, because, store)?)
}

/// A schema that declares everything public is not believed against the ledger.
fn public(rows: &Rows<'_>, ledger: &Where) -> Result<(), Failure> {
    let Some(path) = ledger.path().ok().filter(|path| path.exists()) else {
        return Ok(());
    };
    let mut store = Store::read_only(path)?;
    let dataset = rows.schema.dataset();
    let name = match store.book()?.account(dataset) {
        Some(_) => Some(dataset.to_owned()),
        None => store.known_as(file(rows)?)?,
    };
    match name {
        None => Ok(()),
        Some(name) => Err(Failure {
            exit: Exit::Budget,
            message: format!(
                "refused: the schema declares nothing private, and the ledger {} keeps '{name}' as private. Use the schema that \
                 says so. Nothing was shown.",
                store.path().display()
            ),
        }),
    }
}

fn file(rows: &Rows<'_>) -> Result<File, Failure> {
    File::open(rows.file)
        .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", rows.file.display())))
}

/// The ledger, made if there is none.
pub(super) fn open(path: &Path) -> Result<Store, Failure> {
    let store = if std::fs::symlink_metadata(path).is_err() {
        Store::create(path)?
    } else {
        Store::open(path)?
    };
    Ok(store)
}

/// Stops a known table under a new name.
pub(super) fn recognise(store: &mut Store, rows: &Rows<'_>) -> Result<(), Failure> {
    Ok(store.recognise(rows.schema.dataset(), file(rows)?)?)
}
