//! `privet simulate --synthetic N`: a job on made-up rows, which follow from the schemas and a seed. No table is read and no budget touched.

use std::fs;
use std::path::Path;

use privet::data::schema::{Column, Kind, Label};
use privet::data::{Schema, date, document};

use super::Simulate;
use crate::job::{Job, Setting};
use crate::verb::exit::{Exit, Failure};
use crate::verb::request::LedgerFile;
use crate::verb::written;

/// What is said below the figures.
pub(super) const LAST: &str = "These rows are made up from the schemas alone: no table was read and no budget touched. Figures show what noise and \
                               protocol do to a law that was made up, and nothing about your rows.";

/// The job with made-up tables in `folder`, and the request to simulate it with a ledger `beside` them.
pub(super) fn prepared(
    mut job: Job,
    simulate: &Simulate,
    (folder, beside): (&Path, &Path),
    rows: usize,
) -> Result<(Job, Simulate), Failure> {
    // Parties with columns of the same people have the same people, others have rows of their own.
    let same = matches!(job.setting, Setting::Vertical(_));
    let unwritten = |e: std::io::Error| Failure::new(Exit::Unexpected, format!("{}: {e}", folder.display()));
    fs::create_dir_all(folder).map_err(unwritten)?;
    let sources = job.sources_mut();
    if sources.is_empty() {
        return Err(Failure::usage(
            "--synthetic is for jobs that train: a job for predicting needs the model's own people",
        ));
    }
    for (place, source) in sources.into_iter().enumerate() {
        let stream = if same { 0 } else { place as u64 };
        let text = table(&source.schema, rows, (simulate.seed, stream));
        let file = folder.join(format!("{}-{}.csv", place + 1, plain(source.schema.dataset())));
        if simulate.keep.is_some() && file.exists() {
            let why = format!(
                "{} exists already: choose another folder for --keep",
                file.display()
            );
            return Err(Failure::usage(why));
        }
        written(&file, text.as_bytes())?;
        source.data = file;
    }
    let ledger = beside.join("rehearsal.db");
    let simulate = Simulate {
        job: simulate.job.clone(),
        data: None,
        keep: simulate.keep.clone(),
        not_protected: true,
        ledger: LedgerFile::new(Some(ledger), &|_| None),
        ..*simulate
    };
    Ok((job, simulate))
}

/// A name that can be a file's.
fn plain(name: &str) -> String {
    let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// A table of made-up rows. Each row has a hidden number that some columns lean to, and the label too, so that there is something to learn.
fn table(schema: &Schema, rows: usize, (seed, stream): (u64, u64)) -> String {
    let layout = schema.layout();
    let delimiter = char::from(layout.delimiter);
    let line = |cells: Vec<String>| cells.join(&delimiter.to_string()) + "\n";
    let quoted = |text: &str| quoted(text, delimiter, char::from(layout.quote));
    let mut out = String::new();
    if layout.header {
        out += &line(
            schema
                .columns()
                .iter()
                .map(|column| quoted(&column.name))
                .collect(),
        );
    }
    for row in 0..rows {
        let mut hidden = Dice::new(seed, stream, row as u64, "hidden");
        let lean = hidden.share() + hidden.share() + hidden.share() - 1.5;
        let cell = |column: &Column| {
            let mut dice = Dice::new(seed, stream, row as u64, &column.name);
            let text = cell(schema, column, (row, lean), &mut dice);
            match layout.decimal {
                b',' if is_fraction(&column.kind) => quoted(&text.replace('.', ",")),
                _ => quoted(&text),
            }
        };
        out += &line(schema.columns().iter().map(cell).collect());
    }
    out
}

fn is_fraction(kind: &Kind) -> bool {
    matches!(kind, Kind::Number(number) if !number.is_date())
        || matches!(kind, Kind::Label(Label::Number { .. }) | Kind::Weight(_))
}

fn cell(schema: &Schema, column: &Column, (row, lean): (usize, f64), dice: &mut Dice) -> String {
    let of_column = Dice::new(0, 0, 0, &column.name).next();
    // Some columns have nothing to do with the label.
    let slope = [0.0, 0.35, -0.35, 0.35][of_column as usize % 4];
    let missing = schema.missing().first().filter(|_| dice.share() < 0.02);
    let place = (0.5 + slope * lean + 0.5 * (dice.share() - 0.5)).clamp(0.0, 0.999_999);
    let label = (0.5 + 0.4 * lean + 0.3 * (dice.share() - 0.5)).clamp(0.0, 0.999_999);
    let value = |values: &[String], place: f64| values[(place * values.len() as f64) as usize].clone();
    match &column.kind {
        Kind::Id if schema.unit().column.as_ref() == Some(&column.name) => {
            (row / schema.unit().rows.get() as usize + 1).to_string()
        }
        Kind::Id => (row + 1).to_string(),
        Kind::Skip => String::new(),
        Kind::Label(Label::Classes(declared)) => value(declared.values(), label),
        Kind::Label(Label::Number { min, max }) => document::number(min + label * (max - min)),
        Kind::Weight(max) => document::number(dice.share() * max),
        Kind::Number(_) | Kind::Ordinal(_) | Kind::Category(_) | Kind::Flag(_) if missing.is_some() => {
            missing.cloned().unwrap_or_default()
        }
        Kind::Number(number) => {
            let x = number.place(place, true);
            match (number.is_date(), number.is_integer()) {
                (true, _) => date(x.floor()),
                (_, true) => document::number(x.round()),
                _ => document::number(x),
            }
        }
        Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => {
            value(declared.values(), place)
        }
    }
}

fn quoted(text: &str, delimiter: char, quote: char) -> String {
    let odd = |c: char| c == delimiter || c == quote || c == '\n' || c == '\r';
    if !text.contains(odd) {
        return text.to_owned();
    }
    let twice = text.replace(quote, &format!("{quote}{quote}"));
    format!("{quote}{twice}{quote}")
}

/// Numbers that look random and follow from a few words: rows that nobody is behind need no more.
struct Dice(u64);

impl Dice {
    fn new(seed: u64, stream: u64, row: u64, word: &str) -> Self {
        let mut dice = Self(seed);
        for part in [stream, row].into_iter().chain(word.bytes().map(u64::from)) {
            dice.0 = dice.next() ^ part;
        }
        dice
    }

    /// Steele, Lea and Flood's SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use privet::data::{Intake, Table};

    use super::*;

    /// Every made-up cell fits the schema that it was made from, however that says a table is written.
    #[test]
    fn made_up_rows_fit_their_schema() {
        let text = "dataset = \"d\"\nunit = \"who\"\nrows_per_unit = 2\nmissing = [\"-\"]\n[file]\ndelimiter = \";\"\ndecimal = \",\"\n[columns]\n\
                    who = { type = \"id\" }\nx = { type = \"number\", min = -1.5, max = 2.5 }\n\"a;b\" = { type = \"integer\", min = 0, max = 9 }\n\
                    day = { type = \"date\", min = \"2020-01-01\", max = \"2020-12-31\" }\nc = { type = \"category\", values = [\"p;q\", \"r\\\"s\"] }\n\
                    y = { type = \"label\", min = 0, max = 7 }\nz = { type = \"skip\" }\n";
        let schema = Arc::new(Schema::from_toml("s", text).expect("a schema"));
        let text = table(&schema, 500, (1, 0));
        let intake = Intake::tallying(Arc::clone(&schema));
        let read = crate::table::read_csv("made", text.as_bytes(), &intake).expect("a table");
        let tallies = Table::into_tallies(read).expect("counts");
        let nobody = privet::privacy::Unprotected::unrecorded("d", &schema.relation(), "nobody's rows");
        for tally in nobody.reveal(tallies) {
            assert_eq!(
                (tally.cells, tally.undeclared, tally.below, tally.above),
                (500, 0, 0, 0)
            );
            assert!(tally.missing < 50);
        }
        assert_eq!(text, table(&schema, 500, (1, 0)), "the same seed, the same rows");
        assert_ne!(text, table(&schema, 500, (2, 0)));
    }
}
