//! Fits gradient-boosted trees to a plain file and scores another: the part of `bench/engine.py` that is ours.
//!
//! `engine TRAIN TEST SCORES [key=value ...]`. A file is one line of JSON, then numbers as little-endian singles: the
//! features row by row, then the labels. It prints one line of JSON with times in seconds.

use std::error::Error;
use std::io::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use privet::boost::gradient::{Gradient, LabelledRows, Sums, Training};
use privet::data::schema::{Kind, category, label, number};
use privet::data::{Cells, Finder, Intake, Keep, Piece, Schema, Table};
use privet::learner::tree::{Categories, Growth, Order, SlotSource};
use privet::privacy::Unprotected;
use rayon::prelude::*;
use serde::Deserialize;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// The first line of a file.
#[derive(Deserialize)]
struct Head {
    rows: usize,
    /// Classes of the label; 0 for a number.
    classes: usize,
    features: Vec<Feature>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Feature {
    Cuts(Vec<f64>),
    Categories(usize),
}

/// Raw numbers, row by row.
struct Raw {
    head: Head,
    numbers: Vec<f32>,
    labels: Vec<f32>,
}

fn read(path: &str) -> Outcome<Raw> {
    let bytes = std::fs::read(path)?;
    let end = bytes
        .iter()
        .position(|&byte| byte == b'\n')
        .ok_or("there is no first line")?;
    let head: Head = serde_json::from_slice(&bytes[..end])?;
    let (singles, _) = bytes[end + 1..].as_chunks::<4>();
    let count = head.rows * head.features.len();
    let single = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    let numbers = singles[..count].iter().map(single).collect();
    let labels = singles[count..].iter().map(single).collect();
    Ok(Raw {
        head,
        numbers,
        labels,
    })
}

fn schema(head: &Head) -> Outcome<Schema> {
    let names = |count: usize| (0..count).map(|i| i.to_string()).collect::<Vec<_>>();
    let columns = head
        .features
        .iter()
        .enumerate()
        .map(|(i, feature)| match feature {
            Feature::Cuts(cuts) => {
                let (first, last) = (cuts[0], cuts[cuts.len() - 1]);
                let (min, max) = (first - first.abs().max(1.0), last + last.abs().max(1.0));
                number(format!("f{i}"), min..=max).cuts(cuts.clone())
            }
            Feature::Categories(count) => category(format!("f{i}"), names(*count)),
        });
    let of = match head.classes {
        0 => label("label", -1e6..=1e6),
        classes => label("label", names(classes)),
    };
    let columns = columns.chain([of]).map(|column| column.private(false));
    Ok(Schema::builder("bench")
        .columns(columns)
        .missing::<&str>([])
        .build()?)
}

fn cells(schema: &Arc<Schema>, raw: &Raw) -> Outcome<Cells> {
    const BLOCK: usize = 8192;
    let intake = Intake::everything(Arc::clone(schema), Keep::Bins);
    let width = raw.head.features.len();
    let pieces: Result<Vec<Piece>, privet::Error> = raw
        .numbers
        .par_chunks(BLOCK * width)
        .zip(raw.labels.par_chunks(BLOCK))
        .map(|(numbers, labels)| {
            let mut columns = intake.columns();
            for (i, column) in columns.iter_mut().enumerate() {
                match &raw.head.features.get(i) {
                    Some(Feature::Cuts(_)) => {
                        column.numbers_at(labels.len(), |row| Some(numbers[row * width + i].into()))
                    }
                    Some(Feature::Categories(_)) => {
                        let numbers = numbers.iter().skip(i).step_by(width);
                        numbers.for_each(|&x| {
                            if x.is_nan() {
                                column.missing()
                            } else {
                                column.number(x.into())
                            }
                        });
                    }
                    None => labels.iter().for_each(|&x| column.number(x.into())),
                }
            }
            intake.piece(columns)
        })
        .collect();
    let table = Table::new(&intake, pieces?);
    let leave = Unprotected::unrecorded(
        "bench",
        &schema.relation(),
        "generated or public rows, to measure time",
    );
    Ok(leave.reveal(table.into_cells()))
}

/// Raw numbers that are put into bins block by block.
struct Binned<'a> {
    raw: &'a Raw,
    finders: Vec<Option<Finder>>,
}

impl<'a> Binned<'a> {
    fn new(raw: &'a Raw, schema: &Schema) -> Self {
        let finder = |kind: &Kind| match kind {
            Kind::Number(number) => Finder::new(number),
            _ => None,
        };
        Self {
            raw,
            finders: schema.features().map(|column| finder(&column.kind)).collect(),
        }
    }
}

impl SlotSource for Binned<'_> {
    fn rows(&self) -> usize {
        self.raw.head.rows
    }

    fn slots(&self, feature: usize, begin: usize, out: &mut [u16]) {
        let mut narrow = vec![0; out.len()];
        self.narrow(feature, begin, &mut narrow);
        out.iter_mut()
            .zip(narrow)
            .for_each(|(out, slot)| *out = slot.into());
    }

    fn narrow(&self, feature: usize, begin: usize, out: &mut [u8]) {
        let width = self.raw.head.features.len();
        let numbers = &self.raw.numbers[begin * width..];
        let number = |row: usize| numbers[row * width + feature];
        match (&self.finders[feature], &self.raw.head.features[feature]) {
            (Some(finder), _) => finder.fill(out, number),
            (None, Feature::Categories(count)) => {
                let slot = |x: f32| if x.is_nan() { count + 1 } else { x as usize };
                out.iter_mut()
                    .enumerate()
                    .for_each(|(row, out)| *out = slot(number(row)) as u8);
            }
            (None, Feature::Cuts(_)) => out.fill(0),
        }
    }
}

fn settings(arguments: &[String]) -> Outcome<Gradient> {
    let mut gradient = Gradient::builder();
    let (mut leaves, mut depth) = (None, 6);
    for argument in arguments {
        let (key, value) = argument.split_once('=').ok_or("settings are key=value")?;
        match key {
            "rounds" => gradient = gradient.rounds(value.parse()?),
            "rate" => gradient = gradient.rate(value.parse()?),
            "depth" => depth = value.parse()?,
            "leaves" => leaves = Some(value.parse()?),
            "lambda" => gradient = gradient.lambda(value.parse()?),
            "weight" => gradient = gradient.min_child_weight(value.parse()?),
            "rows" => gradient = gradient.rows(value.parse()?),
            "columns" => gradient = gradient.columns(value.parse()?),
            "floats" => gradient = gradient.sums(Sums::Floats),
            "first" => gradient = gradient.order(Order::First),
            "single" => gradient = gradient.categories(Categories::OneVsRest),
            _ => return Err(format!("{key} is no setting").into()),
        }
    }
    let growth = match leaves {
        Some(leaves) => Growth::Best { leaves, depth },
        None => Growth::Levels(depth),
    };
    Ok(gradient.growth(growth).build()?)
}

/// Processor seconds so far, where the system says so.
fn processor() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = text
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .skip(11)
        .take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The most memory that this process has had, in MB, where the system says so.
fn peak() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    number.unwrap_or(f64::NAN) / 1024.0
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [train, test, out, rest @ ..] = arguments.as_slice() else {
        return Err("engine TRAIN TEST SCORES [key=value ...]".into());
    };
    let gradient = settings(rest)?;
    let raw = read(train)?;
    let (start, used) = (Instant::now(), processor());
    let schema = Arc::new(schema(&raw.head)?);
    let cells = cells(&schema, &raw)?;
    let binning = start.elapsed().as_secs_f64();
    let rows = LabelledRows {
        cells: &cells,
        weights: None,
    };
    let training = Training {
        schema: &schema,
        rows,
        validation: None,
        start: None,
    };
    let model = gradient.fit(&training, &mut |_| ControlFlow::Continue(()))?;
    let (fit, cpu) = (start.elapsed().as_secs_f64(), processor() - used);
    let test = read(test)?;
    let (mut predict, mut scores) = (f64::INFINITY, Vec::new());
    for _ in 0..3 {
        let start = Instant::now();
        scores = model.walker(&schema)?.scores(&Binned::new(&test, &schema));
        predict = predict.min(start.elapsed().as_secs_f64());
    }
    let bytes: Vec<u8> = scores.iter().flat_map(|score| score.to_le_bytes()).collect();
    std::fs::File::create(out)?.write_all(&bytes)?;
    let leaves: usize = model.trees.iter().map(|tree| tree.leaves.len()).sum();
    println!(
        r#"{{"fit": {fit}, "cpu": {cpu}, "binning": {binning}, "predict": {predict}, "leaves": {leaves}, "peak": {}, "threads": {}}}"#,
        peak(),
        rayon::current_num_threads()
    );
    Ok(())
}
