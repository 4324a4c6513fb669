//! Permission to use rows without protection: given by the schema, or by their owner and then recorded.

use std::io::{IsTerminal, Read};

use privet::Error;
use privet::data::{Cells, Fingerprint, Points, Schema, Table};
use privet::privacy::Unprotected;
use privet::privacy::joint::Leak;

use super::exit::{Exit, Failure};
use super::request::LedgerFile;
use crate::job::{Rows, Source};
use crate::ledger::{Recognisable, Shared, Store};

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

/// Refuses private rows unless their owner said otherwise; from job and schema alone, before the rows are opened.
pub(super) fn ask(schema: &Schema, what: &str, not_protected: bool) -> Result<(), Failure> {
    if !schema.is_private() || not_protected {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{what} protects nobody, and the schema of '{}' marks {} as private. If these are public knowledge, say so in the \
         schema (private = false). If only you will see the result, add --not-protected: the ledger will record \
         permanently that '{}' was used without protection. Nothing was read.",
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
pub(super) fn take<R: Rows + ?Sized>(
    rows: &R,
    because: &str,
    ledger: &LedgerFile,
) -> Result<Unprotected, Failure> {
    let mut permissions = take_all(&[rows], because, ledger)?;
    permissions
        .pop()
        .ok_or_else(|| Failure::usage("there are no rows"))
}

/// The same for several tables: none is written about unless all may be used.
pub(super) fn take_all<R: Rows + ?Sized>(
    all: &[&R],
    because: &str,
    ledger: &LedgerFile,
) -> Result<Vec<Unprotected>, Failure> {
    let (private, open): (Vec<&R>, Vec<_>) = all.iter().partition(|rows| rows.schema().is_private());
    for rows in open {
        public(rows, ledger)?;
    }
    let mut store = match private.is_empty() {
        true => None,
        false => Some(ledger.open_or_create()?),
    };
    if let Some(store) = &mut store {
        recognise(store, &private)?;
    }
    let permission = |rows: &&R| match &mut store {
        Some(store) if rows.schema().is_private() => take_in(store, *rows, because),
        _ => {
            let because = format!("{because}; nothing in its table is declared private");
            let (dataset, relation) = (rows.schema().dataset(), rows.schema().relation());
            Ok(Unprotected::unrecorded(dataset, &relation, &because))
        }
    };
    all.iter().map(permission).collect()
}

/// The same for private rows that were recognised, in a ledger that is open already.
pub(super) fn take_in<R: Rows + ?Sized>(
    store: &mut Store,
    rows: &R,
    because: &str,
) -> Result<Unprotected, Failure> {
    let (dataset, relation) = (rows.schema().dataset(), rows.schema().relation());
    Ok(Unprotected::recorded(dataset, &relation, because, store)?)
}

/// Permission to use a party's own rows as they are in a run with others, which lists what these are shown. It comes last of all: what fails
/// before uses nobody's rows without protection. Private rows were recognised before.
pub(super) fn take_showing(
    rows: &Source,
    (leaks, because): (&[Leak], &str),
    shared: &Shared,
    ledger: &LedgerFile,
) -> Result<Unprotected, Failure> {
    if !rows.schema.is_private() {
        return take(rows, because, ledger);
    }
    let mut store = shared.store();
    let permission = take_in(&mut store, rows, because)?;
    Ok(permission.showing(leaks, &mut *store)?)
}

/// How many rows a table has, for its owner who gave permission.
pub(super) fn count_rows(permission: &Unprotected, table: &Table) -> usize {
    permission.reveal(table.cells().as_ref().map(Cells::rows))
}

/// A schema that declares everything public is not believed against the ledger.
pub(super) fn public<R: Rows + ?Sized>(rows: &R, ledger: &LedgerFile) -> Result<(), Failure> {
    let Some(path) = ledger.path().ok().filter(|path| path.exists()) else {
        return Ok(());
    };
    let mut store = Store::read_only(path)?;
    let dataset = rows.schema().dataset();
    let name = match store.book()?.account(dataset) {
        Some(_) => Some(dataset.to_owned()),
        None => store.known_as(&Recognised(rows))?,
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

/// Stops a known table under a new name, and remembers all of these, or none if one is stopped. It comes after everything else
/// that can be refused: a table that was not used is not remembered.
pub(super) fn recognise<R: Rows + ?Sized>(store: &mut Store, all: &[&R]) -> Result<(), Failure> {
    let all: Vec<(&str, Recognised<'_, R>)> = all
        .iter()
        .map(|rows| (rows.schema().dataset(), Recognised(*rows)))
        .collect();
    let tables: Vec<(&str, &dyn Recognisable)> = all
        .iter()
        .map(|(name, rows)| (*name, rows as &dyn Recognisable))
        .collect();
    Ok(store.recognise(&tables)?)
}

/// Rows of any kind, as something that can be recognised.
struct Recognised<'a, R: ?Sized>(&'a R);

impl<R: Rows + ?Sized> Recognisable for Recognised<'_, R> {
    fn fingerprint(&self, points: Points) -> Result<Fingerprint, Error> {
        self.0.fingerprint(points)
    }

    fn bytes(&self) -> Result<Option<Box<dyn Read + '_>>, Error> {
        self.0.bytes()
    }
}
