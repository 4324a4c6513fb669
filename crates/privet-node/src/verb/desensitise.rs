//! `privet desensitise`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::schema::{Column, Declared, Kind, Label};
use privet::data::{Intake, Keep, Schema, Table};
use privet::privacy::{Certificate, Epsilon};
use privet::setting::vertical::{Budget, Categories, Desensitisation, Release};
use serde_json::json;

use super::exit::{Exit, Failure};
use super::parties::{Leaving, open};
use super::predict::{quoted, separate};
use super::request::Desensitise;
use super::{Answer, leave, schema, words};
use crate::job::Source;
use crate::ledger::write_whole;

pub(super) fn run(given: &Desensitise) -> Result<Answer, Failure> {
    let certificate_file = beside(&given.out, ".certificate.json");
    let labels_file = beside(&given.file, ".labels");
    spare(given, [&certificate_file, &labels_file])?;
    let declared = schema::open(&given.schema)?;
    let columns = Leaves {
        how: given.desensitisation.clone(),
        source: Source {
            schema: Arc::new(declared.coarse(given.desensitisation.bins)),
            data: given.file.clone(),
        },
        kept: given.kept.clone(),
    };
    let labels = given
        .label_epsilon
        .map(|epsilon| labels(&declared, epsilon, given, labels_file));
    let labels = labels.transpose()?;
    // What cannot be is said before the ledger is asked, and what the ledger lacks before rows are read.
    for leaves in [&columns].into_iter().chain(&labels) {
        leaves.how.changes(&leaves.source.schema)?;
    }
    let shared = open(given.ledger.path()?, &[(&declared, declared.replaced())])?;
    let key = shared.store().signing_key()?;
    let tables = [&columns]
        .into_iter()
        .chain(&labels)
        .map(Leaves::table)
        .collect::<Result<Vec<_>, _>>()?;
    let leaving: Vec<Leaving<'_>> = [&columns]
        .into_iter()
        .chain(&labels)
        .zip(&tables)
        .map(|(leaves, table)| leaves.leaving(&declared, table))
        .collect();
    // Whatever is refused is so before the first column leaves.
    for leaving in &leaving {
        leaving.check(&shared)?;
    }
    leave::recognise(&mut shared.store(), &[&columns.source])?;
    let releases = leaving
        .iter()
        .map(|leaving| leaving.release(&shared))
        .collect::<Result<Vec<_>, _>>()?;

    let certificate = certificate(&releases);
    let written = |file: &Path, bytes: &[u8]| {
        write_whole(file, bytes).map_err(|e| Failure {
            exit: Exit::Unexpected,
            message: format!("{} cannot be written: {e}", file.display()),
        })
    };
    let csv = csv(&releases)?;
    written(&certificate_file, certificate.to_signed_json(&key).as_bytes())?;
    written(&given.out, &csv)?;

    let count: usize = releases.iter().map(|release| release.names().len()).sum();
    let rows = releases.first().map_or(0, Release::rows);
    let text = format!(
        "{certificate}\n\nWrote {} of {} to {}, and the above to {}\nKept in {}: the same command writes the same file again\n",
        words::count(rows as u64, "row", "rows"),
        words::count(count as u64, "column", "columns"),
        given.out.display(),
        certificate_file.display(),
        given.kept.display(),
    );
    let json = json!({
        "rows": rows,
        "columns": releases.iter().flat_map(Release::names).collect::<Vec<_>>(),
        "out": given.out,
        "kept": given.kept,
        "certificate": certificate,
    });
    Ok(Answer::new(words::wrapped(&text), json))
}

/// No result takes the place of what it is made from, nor of the ledger.
fn spare(given: &Desensitise, made: [&PathBuf; 2]) -> Result<(), Failure> {
    let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let sources = [&given.file, &given.schema].map(|path| real(path));
    let made = [&given.out, &given.kept, made[0], made[1]];
    for (i, file) in made.iter().enumerate() {
        if sources.contains(&real(file)) || made[..i].iter().any(|other| real(other) == real(file)) {
            return Err(Failure::usage(format!(
                "{} would be overwritten: choose another name for --out or --kept",
                file.display()
            )));
        }
    }
    for (i, file) in made.iter().enumerate() {
        match i {
            // What is kept there is looked for.
            1 | 3 => leave::spare_kept(&given.ledger, file)?,
            _ => leave::spare(&given.ledger, file)?,
        }
        leave::writable(file)?;
    }
    Ok(())
}

/// Columns that are to leave.
struct Leaves {
    how: Desensitisation,
    source: Source,
    kept: PathBuf,
}

impl Leaves {
    fn table(&self) -> Result<Table, Error> {
        self.source
            .read(&Intake::everything(Arc::clone(&self.source.schema), Keep::Bins))
    }

    fn leaving<'a>(&'a self, declared: &Schema, table: &'a Table) -> Leaving<'a> {
        Leaving {
            desensitisation: &self.how,
            source: &self.source,
            table,
            kept: &self.kept,
            relation: declared.replaced(),
            meets: false,
        }
    }
}

/// The label as a column of its own.
fn labels(schema: &Schema, epsilon: Epsilon, given: &Desensitise, kept: PathBuf) -> Result<Leaves, Failure> {
    let Some((label, Label::Classes(declared))) = schema.label() else {
        return Err(Failure::usage(
            "--label-epsilon changes a label with classes, and the schema declares none: leave it out",
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
    let schema = schema.with_columns(columns)?;
    Ok(Leaves {
        how: Desensitisation {
            budget: Budget::Full,
            categories: Categories::Response,
            ..Desensitisation::new(epsilon)
        },
        source: Source {
            schema: Arc::new(schema),
            data: given.file.clone(),
        },
        kept,
    })
}

/// What is promised about all that is written.
fn certificate(releases: &[Release]) -> Certificate {
    let all = releases.iter().map(|release| release.certificate().clone());
    // Unwrap safety: the columns themselves are always there.
    all.reduce(Certificate::and).expect("columns leave")
}

fn csv(releases: &[Release]) -> Result<Vec<u8>, Failure> {
    let mut text = Vec::new();
    let names = releases.iter().flat_map(Release::names);
    for (i, name) in names.enumerate() {
        separate(&mut text, i);
        quoted(&mut text, &name);
    }
    text.push(b'\n');
    let cells = releases
        .iter()
        .map(Release::texts)
        .collect::<Result<Vec<_>, _>>()?;
    for row in 0..releases.first().map_or(0, Release::rows) {
        for (i, cell) in cells.iter().flat_map(|texts| texts.row(row)).enumerate() {
            separate(&mut text, i);
            quoted(&mut text, cell);
        }
        text.push(b'\n');
    }
    Ok(text)
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.to_owned().into_os_string();
    name.push(ending);
    name.into()
}
