//! The door without protection is named in few files, under its own name.

use proc_macro2::{TokenStream, TokenTree};

use crate::paths::word;

/// Files, or folders that end in a slash, that may name it.
const ALLOWED: &[&str] = &[
    "crates/privet/src/privacy/unprotected.rs",
    "crates/privet/src/privacy/mod.rs",
    // Splits that are for simulation only.
    "crates/privet/src/data/split.rs",
    "crates/privet/src/setting/plain/",
    "crates/privet/src/noisy/evaluation/",
    // A label holder's own rows, which train the model as they are.
    "crates/privet/src/setting/vertical/label_holder.rs",
    "crates/privet/src/setting/vertical/own.rs",
    "crates/privet/src/setting/vertical/rehearsal.rs",
    // A data user's own rows, of which campaigns show axes, lengths and α.
    "crates/privet/src/setting/local/own.rs",
    // Made-up people of its tests.
    "crates/privet/src/setting/local/course/tests.rs",
    // Permission that an owner gave, rows of the owner's own, and public data sets.
    "crates/privet-node/src/verb/diagnostics.rs",
    "crates/privet-node/src/verb/permission.rs",
    "crates/privet-node/src/verb/simulate/",
    "crates/privet-research/src/",
    // Bodies of tests, which no release holds.
    "crates/privet-testkit/src/",
];

/// Files that may take the public part of a private value.
const PUBLIC: &[&str] = &[
    "crates/privet/src/privacy/private.rs",
    "crates/privet/src/data/public.rs",
];

/// Files that may make rows of a table that is kept in another form.
const ROWS: &[&str] = &[
    "crates/privet/src/privacy/partition.rs",
    "crates/privet/src/noisy/trees/growth.rs",
];

/// What stands at a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Found {
    /// The door.
    Door(usize),
    /// The door under another name.
    Alias(usize),
    /// The door for what a relation keeps public.
    Public(usize),
    /// Rows of a table that is kept in another form.
    Rows(usize),
}

/// Where a file names the door, or goes through it.
pub(crate) fn named(tokens: TokenStream) -> Vec<Found> {
    let mut found = Vec::new();
    collect(&Vec::from_iter(tokens), &mut found);
    found
}

fn collect(tokens: &[TokenTree], found: &mut Vec<Found>) {
    for (at, token) in tokens.iter().enumerate() {
        if let Some("Unprotected" | "reveal") = word(Some(token)).as_deref() {
            let line = token.span().start().line;
            found.push(match word(tokens.get(at + 1)).as_deref() {
                Some("as") => Found::Alias(line),
                _ => Found::Door(line),
            });
        }
        if let Some("declared_public" | "declared_public_count") = word(Some(token)).as_deref() {
            found.push(Found::Public(token.span().start().line));
        }
        if word(Some(token)).as_deref() == Some("row_by_row") {
            found.push(Found::Rows(token.span().start().line));
        }
        if let TokenTree::Group(inner) = token {
            collect(&Vec::from_iter(inner.stream()), found);
        }
    }
}

/// Files that name it and may not.
pub(crate) fn faults(files: &[(String, Vec<Found>)]) -> Vec<String> {
    let mut faults = Vec::new();
    for (file, found) in files {
        let allowed = ALLOWED
            .iter()
            .any(|path| file == path || path.ends_with('/') && file.starts_with(path));
        for found in found {
            match found {
                Found::Alias(line) => faults.push(format!("{file}:{line}: `Unprotected` under another name")),
                Found::Door(line) if !allowed => {
                    faults.push(format!("{file}:{line}: may not name `Unprotected` or `reveal`"));
                }
                Found::Public(line) if !PUBLIC.contains(&file.as_str()) => {
                    faults.push(format!("{file}:{line}: may not name `declared_public`"));
                }
                Found::Rows(line) if !ROWS.contains(&file.as_str()) => {
                    faults.push(format!("{file}:{line}: may not name `row_by_row`"));
                }
                Found::Door(_) | Found::Public(_) | Found::Rows(_) => {}
            }
        }
    }
    faults
}

#[cfg(test)]
mod self_tests {
    use super::*;

    fn count(file: &str, code: &str) -> usize {
        faults(&[(file.into(), named(code.parse().expect("tokens")))]).len()
    }

    #[test]
    fn the_door_is_found_wherever_it_stands() {
        let elsewhere = "crates/privet/src/setting/central/mod.rs";
        assert_eq!(count(elsewhere, "use crate::privacy::{Private, Unprotected};"), 1);
        assert_eq!(
            count(elsewhere, "fn f() { m!(privacy::Unprotected::unrecorded()) }"),
            1
        );
        assert_eq!(
            count(
                elsewhere,
                "fn f(permission: &impl Door) { permission.reveal(rows) }"
            ),
            1
        );
        assert_eq!(count(elsewhere, "/// `Unprotected` is for others.\nfn f() {}"), 0);
        assert_eq!(count("crates/privet/src/boost/samme.rs", "use Unprotected;"), 1);
    }

    #[test]
    fn only_tables_tell_what_is_public() {
        let code = "fn f() { cells.declared_public(relation, |cells, _| cells.clone()) }";
        assert_eq!(count("crates/privet/src/setting/plain/plan.rs", code), 1);
        assert_eq!(count("crates/privet/src/data/public.rs", code), 0);
        let code = "fn f() { table.row_by_row(|t| t.len(), |t, row| t[row]) }";
        assert_eq!(count("crates/privet/src/setting/plain/plan.rs", code), 1);
        assert_eq!(count("crates/privet/src/noisy/trees/growth.rs", code), 0);
    }

    #[test]
    fn allowed_files_may_name_it_and_nobody_may_rename_it() {
        for file in [
            "crates/privet/src/setting/plain/plan.rs",
            "crates/privet-research/src/as_published.rs",
            "crates/privet/src/privacy/mod.rs",
        ] {
            assert_eq!(count(file, "use super::Unprotected;"), 0, "{file}");
            assert_eq!(count(file, "pub use super::Unprotected as Door;"), 1, "{file}");
        }
        assert_eq!(
            count("crates/privet/src/setting/plain.rs", "use super::Unprotected;"),
            1
        );
    }
}
