//! Leave to use rows without protection: given by the schema, or by their owner and then recorded.

use std::fs::File;
use std::io::{IsTerminal, Read};
use std::path::Path;

use privet::data::Schema;
use privet::model::Model;
use privet::privacy::Unprotected;

use super::exit::{Exit, Failure};
use super::request::Where;
use crate::job::Source;
use crate::ledger::{Recognisable, Store, belongs_to, folder_of};
use crate::record::is_record;

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

/// Refuses to write a result where something stands that cannot be made again for nothing: the ledger, a model, or columns that
/// have left.
pub(super) fn spare(ledger: &Where, out: &Path) -> Result<(), Failure> {
    spare_ledger(ledger, out)?;
    spare_paid(out)
}

/// The same without a look for the ledger.
pub(super) fn spare_paid(out: &Path) -> Result<(), Failure> {
    let what = match opening(out) {
        begins if Model::is_begun(&begins) => "a model",
        begins if is_record(&begins) => "a record of columns that have left",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!(
        "{} is {what}, and would be overwritten: choose another name. Nothing was read.",
        out.display()
    )))
}

/// The same for columns that leave: a record of them is what is looked for.
pub(super) fn spare_kept(ledger: &Where, kept: &Path) -> Result<(), Failure> {
    match is_record(&opening(kept)) {
        true => Ok(()),
        false => spare(ledger, kept),
    }
}

fn spare_ledger(ledger: &Where, out: &Path) -> Result<(), Failure> {
    match ledger.path() {
        Ok(path) if belongs_to(path, out) => Err(Failure::usage(format!(
            "{} is the ledger's own file: choose another name. Nothing was read.",
            out.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses to write a model where it would be lost, or would take the place of another one: what was paid for a model is spent,
/// and nobody gives it back.
pub(super) fn spare_model(ledger: &Where, out: &Path, overwrite: bool) -> Result<(), Failure> {
    let is_model = Model::is_begun(&opening(out));
    if is_model && !overwrite {
        return Err(Failure::usage(format!(
            "{} is a model already, and what was paid for it is spent: write the new one elsewhere with --out FILE, or add \
             --overwrite to replace it. Nothing was read.",
            out.display()
        )));
    }
    if !is_model {
        spare(ledger, out)?;
    }
    writable(out)
}

/// Where a model goes, and whether one is there.
pub(super) fn place(out: &Path) -> String {
    match Model::is_begun(&opening(out)) {
        true => format!(
            "{}, where a model is already: `privet train` will refuse without --overwrite",
            out.display()
        ),
        false => out.display().to_string(),
    }
}

/// That a file can be written there, asked before it is paid for.
pub(super) fn writable(out: &Path) -> Result<(), Failure> {
    match tempfile::NamedTempFile::new_in(folder_of(out)) {
        Ok(_) => Ok(()),
        Err(e) => Err(Failure::input(format!(
            "{} cannot be written: {e}. Nothing was read.",
            out.display()
        ))),
    }
}

/// The first bytes of a file; none if there is no such file. Opening anything else, such as a pipe, might wait for ever.
fn opening(path: &Path) -> Vec<u8> {
    let mut begins = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(64).read_to_end(&mut begins);
    }
    begins
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

/// Writes down that private rows are used without protection, before they can be. It comes last of all that can be refused:
/// what is written here stands for ever.
pub(super) fn take(rows: &Source, because: &str, ledger: &Where) -> Result<Unprotected, Failure> {
    let mut leaves = take_all(&[rows], because, ledger)?;
    leaves.pop().ok_or_else(|| Failure::usage("there are no rows"))
}

/// The same for several tables: none is written about unless all may be used.
pub(super) fn take_all(all: &[&Source], because: &str, ledger: &Where) -> Result<Vec<Unprotected>, Failure> {
    let (private, open): (Vec<&Source>, Vec<_>) = all.iter().partition(|rows| rows.schema.is_private());
    for rows in open {
        public(rows, ledger)?;
    }
    let mut store = match private.is_empty() {
        true => None,
        false => Some(self::open(ledger.path()?)?),
    };
    if let Some(store) = &mut store {
        recognise(store, &private)?;
    }
    let leave = |rows: &&Source| match &mut store {
        Some(store) if rows.schema.is_private() => take_in(store, rows, because),
        _ => {
            let because = format!("{because}; nothing in its table is declared private");
            let (dataset, relation) = (rows.schema.dataset(), rows.schema.relation());
            Ok(Unprotected::unrecorded(dataset, &relation, &because))
        }
    };
    all.iter().map(leave).collect()
}

/// The same for private rows that were recognised, in a ledger that is open already.
pub(super) fn take_in(store: &mut Store, rows: &Source, because: &str) -> Result<Unprotected, Failure> {
    let (dataset, relation) = (rows.schema.dataset(), rows.schema.relation());
    Ok(Unprotected::recorded(dataset, &relation, because, store)?)
}

/// A schema that declares everything public is not believed against the ledger.
pub(super) fn public(rows: &Source, ledger: &Where) -> Result<(), Failure> {
    let Some(path) = ledger.path().ok().filter(|path| path.exists()) else {
        return Ok(());
    };
    let mut store = Store::read_only(path)?;
    let dataset = rows.schema.dataset();
    let name = match store.book()?.account(dataset) {
        Some(_) => Some(dataset.to_owned()),
        None => store.known_as(rows)?,
    };
    match name {
        None => Ok(()),
        Some(name) => Err(Failure::new(
            Exit::Budget,
            format!(
                "refused: the schema declares nothing private, and the ledger {} keeps '{name}' as private. Use the schema that \
                 says so. Nothing was shown.",
                store.path().display()
            ),
        )),
    }
}

/// The ledger, made if there is none.
pub(super) fn open(path: &Path) -> Result<Store, Failure> {
    Ok(match std::fs::symlink_metadata(path) {
        Err(_) => Store::create(path)?,
        Ok(_) => Store::open(path)?,
    })
}

/// Stops a known table under a new name, and remembers all of these, or none if one is stopped. It comes after everything else
/// that can be refused: a table that was not used is not remembered.
pub(super) fn recognise(store: &mut Store, all: &[&Source]) -> Result<(), Failure> {
    let tables: Vec<(&str, &dyn Recognisable)> = all
        .iter()
        .map(|source| (source.schema.dataset(), *source as &dyn Recognisable))
        .collect();
    Ok(store.recognise(&tables)?)
}
