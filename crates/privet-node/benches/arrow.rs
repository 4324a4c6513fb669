//! How fast Arrow batches become bins, beside Parquet: `cargo bench -p privet-node --features arrow --bench arrow`.
//!
//! Makes `PRIVET_ROWS` rows (1,000,000) of 30 columns, as batches in memory and as Parquet files in the page cache: plain pages
//! without compression, which are the fastest to read, and dictionaries with Snappy, as most programs write. Reads each into bins in
//! alternating turns and prints how many times as fast batches are.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{ArrayRef, Float64Array, Int32Array, RecordBatch};
use parquet::basic::Compression;
use parquet::column::writer::ColumnWriter;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use privet::data::schema::{label, number};
use privet::data::{Cells, Frame, Intake, Keep, Schema, Table};
use privet::privacy::Unprotected;
use privet_node::table::read;

const COLUMNS: usize = 29;
const BATCH: usize = 1 << 16;
const GROUP: usize = 1 << 17;

fn main() {
    let rows: usize = std::env::var("PRIVET_ROWS").map_or(1_000_000, |n| n.parse().unwrap());
    let columns: Vec<Vec<f64>> = (0..COLUMNS).map(|place| made(place, rows)).collect();
    let outcomes: Vec<i32> = columns[0].iter().map(|&x| i32::from(x > 0.0)).collect();
    let folder = tempfile::tempdir().unwrap();
    let plain = WriterProperties::builder().set_dictionary_enabled(false).build();
    let usual = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .build();
    let files = [("plain", plain), ("snappy", usual)].map(|(name, how)| {
        let path = folder.path().join(name).with_extension("parquet");
        write(&path, how, &columns, &outcomes);
        path
    });
    let batches = batches(&columns, &outcomes);
    let schema = schema();
    let intake = Intake::everything(Arc::clone(&schema), Keep::Bins);
    let sides: [&dyn Fn() -> Table; 3] = [
        &|| {
            let frames: Vec<Frame<'_>> = batches.iter().map(Frame::from).collect();
            Table::read(&intake, &frames[..]).unwrap()
        },
        &|| from_file(&files[0], &intake),
        &|| from_file(&files[1], &intake),
    ];
    let open = |table: Table| -> Cells {
        Unprotected::unrecorded("bench", &schema.relation(), "made-up rows").reveal(table.into_cells())
    };
    let first = open(sides[0]());
    assert_eq!(first.rows(), rows);
    assert!(
        sides[1..].iter().all(|side| open(side()) == first),
        "they read alike"
    );
    let mut times = [const { Vec::new() }; 3];
    for turn in 0..11 {
        for step in 0..3 {
            let side = (turn + step) % 3;
            let started = Instant::now();
            let table = sides[side]();
            times[side].push(started.elapsed().as_secs_f64());
            drop(table);
        }
    }
    let [arrow, plain, snappy] = times.map(|mut times: Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    println!("{rows} rows, {} columns into bins, median of 11", COLUMNS + 1);
    println!("Arrow batches           {:>8.1} ms", arrow * 1e3);
    for (name, seconds) in [("plain", plain), ("Snappy, dictionaries", snappy)] {
        println!(
            "Parquet, {name:<21} {:>6.1} ms, {:.2} times as long",
            seconds * 1e3,
            seconds / arrow
        );
    }
}

fn schema() -> Arc<Schema> {
    let bound = |place: usize| 4.0 * [1.0, 10.0, 1000.0][place % 3];
    let numbers = (0..COLUMNS).map(|place| number(format!("x{place}"), -bound(place)..=bound(place)));
    let columns = numbers.chain([label("y", ["0", "1"])]);
    Arc::new(Schema::builder("bench").columns(columns).build().unwrap())
}

fn made(place: usize, rows: usize) -> Vec<f64> {
    let mut state = 19 + place as u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    let scale = 1.7 * [1.0, 10.0, 1000.0][place % 3];
    (0..rows)
        .map(|_| (next() + next() + next() + next() - 2.0) * scale)
        .collect()
}

fn batches(columns: &[Vec<f64>], outcomes: &[i32]) -> Vec<RecordBatch> {
    let batch = |(at, outcomes): (usize, &[i32])| {
        let part = |column: &Vec<f64>| column[at * BATCH..][..outcomes.len()].to_vec();
        let numbers = columns.iter().enumerate().map(|(place, column)| {
            let array: ArrayRef = Arc::new(Float64Array::from(part(column)));
            (format!("x{place}"), array)
        });
        let y: ArrayRef = Arc::new(Int32Array::from(outcomes.to_vec()));
        RecordBatch::try_from_iter(numbers.chain([("y".to_owned(), y)])).unwrap()
    };
    outcomes.chunks(BATCH).enumerate().map(batch).collect()
}

fn write(path: &Path, how: WriterProperties, columns: &[Vec<f64>], outcomes: &[i32]) {
    let fields: String = (0..COLUMNS)
        .map(|place| format!("required double x{place};"))
        .collect();
    let message = parse_message_type(&format!("message m {{ {fields} required int32 y; }}")).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut file = SerializedFileWriter::new(file, Arc::new(message), Arc::new(how)).unwrap();
    for (at, outcomes) in outcomes.chunks(GROUP).enumerate() {
        let mut group = file.next_row_group().unwrap();
        let mut place = 0;
        while let Some(mut writer) = group.next_column().unwrap() {
            match writer.untyped() {
                ColumnWriter::DoubleColumnWriter(w) => {
                    w.write_batch(&columns[place][at * GROUP..][..outcomes.len()], None, None)
                }
                ColumnWriter::Int32ColumnWriter(w) => w.write_batch(outcomes, None, None),
                _ => unreachable!(),
            }
            .unwrap();
            writer.close().unwrap();
            place += 1;
        }
        group.close().unwrap();
    }
    file.close().unwrap();
}

fn from_file(path: &Path, intake: &Intake) -> Table {
    read(path, intake, &|_, _| {}).unwrap()
}
