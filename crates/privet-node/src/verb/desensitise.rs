//! `privet desensitise`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::schema::{Column, Declared, Kind, Label};
use privet::data::{RawRows, Schema, guarded, is_formula};
use privet::privacy::{Certificate, Epsilon, Ledger, Randomness};
use privet::setting::vertical::{Budget, ColumnsPlan, Desensitisation, Release};
use serde_json::json;

use super::exit::Failure;
use super::parties::{Outgoing, open};
use super::request::{Desensitise, LedgerFile};
use super::{Answer, output, permission, schema, words, written};
use crate::job::{FrameRows, Rows, Source};
use crate::ledger::beside;
use crate::table::CsvWriter;

pub(super) fn run(given: &Desensitise) -> Result<Answer, Failure> {
    let certificate_file = beside(&given.out, ".certificate.json");
    let labels_file = beside(&given.file, ".labels");
    spare(given, [&certificate_file, &labels_file])?;
    let declared = schema::open(&given.schema)?;
    let mut parts = vec![ColumnGroup::new(
        &given.desensitisation,
        &declared,
        &given.file,
        given.kept.clone(),
    )?];
    if let Some(epsilon) = given.label_epsilon {
        let (labels, alone) = labels(&declared, epsilon)?;
        parts.push(ColumnGroup::new(&labels, &alone, &given.file, labels_file)?);
    }
    let schemas: Vec<&Schema> = parts.iter().map(|part| &**part.plan.schema()).collect();
    check_guards(&schemas)?;
    // Invalid requests are refused before the ledger is opened, and missing ledger lines before rows are read.
    let relation = declared.replaced();
    let shared = open(&given.ledger, &[(&declared, &relation)])?;
    let key = shared.store().signing_key()?;
    output::check_set_back(&mut shared.store(), &key, &certificate_file)?;
    let tables = parts
        .iter()
        .map(|part| part.source.read(&part.plan.reads()))
        .collect::<Result<Vec<_>, _>>()?;
    let parts = parts
        .iter()
        .zip(&tables)
        .map(|(ColumnGroup { plan, source, kept }, table)| {
            Ok((Outgoing::new(source, kept, &relation, &shared)?, plan, table))
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    // Whatever is refused is so before the first column is released.
    for (outgoing, plan, table) in &parts {
        outgoing.check(
            |ledger| Release::check_keep(plan, table, ledger),
            |ledger, earlier| Release::import(plan, table, ledger, earlier, false),
        )?;
    }
    permission::recognise(&mut shared.store(), &[parts[0].0.source])?;
    let releases = parts
        .iter()
        .map(|(outgoing, plan, table)| {
            outgoing.release(
                |ledger| Release::keep(plan, table, ledger),
                |ledger, earlier| Release::import(plan, table, ledger, earlier, true),
            )
        })
        .collect::<Result<Vec<_>, _>>()?;

    let certificate = certificate(&releases);
    let csv = csv(&releases)?;
    written(&certificate_file, certificate.to_signed_json(&key).as_bytes())?;
    written(&given.out, &csv)?;

    let count: usize = releases.iter().map(|release| release.names().len()).sum();
    let rows = releases.first().map_or(0, Release::rows);
    let ledger = given.ledger.path()?;
    let text = format!(
        "{certificate}\n\nWrote {} of {} to {}, and the above to {}\nKept in the ledger {}: the same command writes the same file again\n",
        words::count(rows as u64, "row", "rows"),
        words::count(count as u64, "column", "columns"),
        given.out.display(),
        certificate_file.display(),
        ledger.display(),
    );
    let json = json!({
        "rows": rows,
        "columns": releases.iter().flat_map(Release::names).collect::<Vec<_>>(),
        "out": given.out,
        "kept": ledger,
        "certificate": certificate,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// Columns that were changed value by value, from rows in memory.
pub struct Desensitised {
    /// Their names.
    pub names: Vec<String>,
    /// Their cells as texts, column by column.
    pub columns: Vec<Vec<String>>,
    /// What they guarantee.
    pub certificate: Certificate,
}

/// Changes the columns of rows in memory, once: asked again, it gives the same.
///
/// # Errors
/// A [`Failure`] if the ledger does not allow it, or the rows do not fit the schema.
pub fn desensitised(
    rows: &(dyn RawRows + Sync),
    (declared, how): (&Schema, &Desensitisation),
    ledger: &LedgerFile,
) -> Result<Desensitised, Failure> {
    let plan = how.plan(declared)?;
    let rows = FrameRows {
        schema: Arc::clone(plan.schema()),
        rows,
    };
    let relation = declared.replaced();
    let shared = open(ledger, &[(declared, &relation)])?;
    let table = rows.read(&plan.reads())?;
    let mark = shared.store().mark_table(&rows)?;
    let own = || -> Result<Ledger, Error> {
        let random = Randomness::from_os()?;
        let ledger = Ledger::open(declared.dataset(), relation.clone(), shared.clone(), random)?;
        Ok(ledger.of_table(&mark))
    };
    // Whatever is refused is so before the first column is released.
    Release::check_keep(&plan, &table, own()?)?;
    permission::recognise(&mut shared.store(), &[&rows])?;
    let release = Release::keep(&plan, &table, own()?)?;
    let texts = release.texts()?;
    let names = release.names();
    let mut columns = vec![Vec::with_capacity(release.rows()); names.len()];
    for row in 0..release.rows() {
        for (column, cell) in columns.iter_mut().zip(texts.row(row)) {
            column.push(cell.to_string());
        }
    }
    Ok(Desensitised {
        names,
        columns,
        certificate: release.certificate().clone(),
    })
}

/// Refuses to overwrite the files that the result is made from, or the ledger.
fn spare(given: &Desensitise, made: [&PathBuf; 2]) -> Result<(), Failure> {
    let made = [&given.out, &given.kept, made[0], made[1]].map(PathBuf::as_path);
    if let Some(file) = output::clash(&made, &[&given.file, &given.schema]) {
        return Err(Failure::usage(format!(
            "{} would be overwritten: choose another name for --out or --kept",
            file.display()
        )));
    }
    for (i, file) in made.iter().enumerate() {
        match i {
            // What is kept there is looked for.
            1 | 3 => output::check_record(&given.ledger, file)?,
            _ => output::check(&given.ledger, file)?,
        }
        output::check_writable(file)?;
    }
    Ok(())
}

/// Columns that are released together.
struct ColumnGroup {
    plan: ColumnsPlan,
    source: Source,
    kept: PathBuf,
}

impl ColumnGroup {
    fn new(how: &Desensitisation, schema: &Schema, file: &Path, kept: PathBuf) -> Result<Self, Error> {
        let plan = how.plan(schema)?;
        let source = Source {
            schema: Arc::clone(plan.schema()),
            data: file.to_owned(),
        };
        Ok(Self { plan, source, kept })
    }
}

/// How the label is changed as a column of its own, and the schema of that column.
fn labels(schema: &Schema, epsilon: Epsilon) -> Result<(Desensitisation, Schema), Failure> {
    let Some((label, Label::Classes(declared))) = schema.label() else {
        return Err(Failure::usage(
            "--label-epsilon changes a label with classes, and the schema declares none: remove it",
        ));
    };
    let column = |column: &Column| -> Result<Column, Error> {
        let kind = if column.name == label.name {
            let values = declared.values().to_vec();
            // What is missing counts as the first class, as it does in training.
            let declared = Declared::new(values.clone(), values.first().map(String::as_str))?;
            match values.len() {
                2 => Kind::Flag(declared),
                _ => Kind::Category(declared),
            }
        } else if column.kind == Kind::Id {
            Kind::Id
        } else {
            Kind::Skip
        };
        Ok(Column {
            kind,
            ..column.clone()
        })
    };
    let columns = schema
        .columns()
        .iter()
        .map(column)
        .collect::<Result<Vec<_>, _>>()?;
    let how = Desensitisation::builder().epsilon(epsilon).budget(Budget::Full);
    Ok((how.build()?, schema.with_columns(columns)?))
}

/// The certificate of everything that is written.
fn certificate(releases: &[Release]) -> Certificate {
    let all = releases.iter().map(|release| release.certificate().clone());
    // Unwrap safety: the columns themselves are always there.
    all.reduce(Certificate::and).expect("columns are released")
}

fn csv(releases: &[Release]) -> Result<Vec<u8>, Failure> {
    let names: Vec<String> = releases.iter().flat_map(Release::names).collect();
    let mut writer = CsvWriter::with_names(names.iter().map(String::as_str));
    let cells = releases
        .iter()
        .map(Release::texts)
        .collect::<Result<Vec<_>, _>>()?;
    for row in 0..releases.first().map_or(0, Release::rows) {
        for cell in cells.iter().flat_map(|texts| texts.row(row)) {
            writer.text(cell.as_bytes());
        }
        writer.end_row();
    }
    Ok(writer.into_bytes())
}

/// Refuses columns that could not be read back: one name or value that begins like a formula, and another that looks like its guarded form. All of
/// them go to one file.
fn check_guards(schemas: &[&Schema]) -> Result<(), Failure> {
    let alike = |texts: &[&str], others: &[&str]| {
        let written = |text: &&str| String::from_utf8_lossy(&guarded(text.as_bytes())).into_owned();
        let formulas = texts.iter().filter(|text| is_formula(text.as_bytes()));
        let mut pairs = formulas.map(|text| (text.to_string(), written(text)));
        pairs.find(|(_, written)| others.contains(&written.as_str()))
    };
    let features = || {
        schemas
            .iter()
            .flat_map(|schema| schema.features().map(move |column| (schema, column)))
    };
    let columns: Vec<&str> = features().map(|(_, column)| column.name.as_str()).collect();
    let mut found = alike(&columns, &columns).map(|pair| ("the schema".to_owned(), pair));
    for (schema, column) in features() {
        let (Kind::Category(declared) | Kind::Ordinal(declared) | Kind::Flag(declared)) = &column.kind else {
            continue;
        };
        let values: Vec<&str> = declared.values().iter().map(String::as_str).collect();
        let missing = schema.missing().iter().map(String::as_str);
        let others: Vec<&str> = values.iter().copied().chain(missing).collect();
        let pair = alike(&values, &others);
        found = found.or_else(|| pair.map(|pair| (format!("the column '{}'", column.name), pair)));
    }
    match found {
        None => Ok(()),
        Some((of, (text, written))) => Err(Failure::usage(format!(
            "{of} declares both {text:?} and {written:?}: the first is written to a CSV file as the second, because spreadsheet programs would run \
             it as a formula. Rename one of them in the table and its schema. Nothing was read."
        ))),
    }
}
