//! How fast a file becomes bins: `cargo bench -p privet-node --bench table`.
//!
//! Without arguments it writes a table of `PRIVET_ROWS` rows (200,000) and 30 columns and compares reading it into bins with
//! what it takes to read the bytes and count the lines, in alternating turns. With `--file FILE` it reads that file once
//! and prints seconds and peak memory as JSON: `bench/table.py` runs it so, beside polars.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use privet::data::schema::{label, number};
use privet::data::{Intake, Keep, Schema};
use privet::privacy::Unprotected;
use privet_node::table::read;

const COLUMNS: usize = 30;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(place) = arguments.iter().position(|argument| argument == "--file") {
        let path = Path::new(&arguments[place + 1]);
        let (seconds, rows) = ours(path);
        let usage = |name: &str| {
            let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
            let line = status
                .lines()
                .find(|line| line.starts_with(name))
                .map(str::to_owned);
            line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok())
                .unwrap_or(f64::NAN)
        };
        let peak = usage("VmHWM") / 1024.0;
        println!(
            "{{\"seconds\": {seconds}, \"cpu\": {}, \"peak\": {peak}, \"rows\": {rows}}}",
            cpu()
        );
        return;
    }
    let rows: usize = std::env::var("PRIVET_ROWS").map_or(200_000, |n| n.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    write(&path, rows);
    let (mut parsed, mut counted) = (Vec::new(), Vec::new());
    for turn in 0..10 {
        for side in [turn % 2, 1 - turn % 2] {
            if side == 0 {
                let (seconds, found) = ours(&path);
                assert_eq!(found, rows);
                parsed.push(seconds);
            } else {
                counted.push(lines(&path, rows));
            }
        }
    }
    let [parsed, counted] = [parsed, counted].map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    });
    let bytes = std::fs::metadata(&path).unwrap().len() as f64;
    println!("{rows} rows, {COLUMNS} columns, {:.0} MB", bytes / 1e6);
    println!("into bins         {:>8.0} MB/s", bytes / parsed / 1e6);
    println!("lines only        {:>8.0} MB/s", bytes / counted / 1e6);
    println!("ratio             {:>8.3}", counted / parsed);
}

/// User and system seconds of this process, where the system tells.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks: Vec<f64> = after
        .split_whitespace()
        .filter_map(|word| word.parse().ok())
        .collect();
    // Without the process's state, which is a letter: ten figures stand before the user's ticks, of which there are 100 a second.
    ticks
        .get(10..12)
        .map_or(f64::NAN, |two| (two[0] + two[1]) / 100.0)
}

fn schema() -> Arc<Schema> {
    let bound = |i: usize| 4.0 * [1.0, 10.0, 1000.0][i % 3];
    let numbers = (0..COLUMNS - 1).map(|i| number(format!("x{i}"), -bound(i)..=bound(i)));
    let schema = Schema::builder("bench").columns(numbers.chain([label("y", ["0", "1"])]));
    Arc::new(schema.build().unwrap())
}

fn ours(path: &Path) -> (f64, usize) {
    let schema = schema();
    let started = Instant::now();
    let intake = Intake::everything(Arc::clone(&schema), Keep::Bins);
    let table = read(path, &intake, &|_, _| {}).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let leave = Unprotected::unrecorded("bench", &schema.relation(), "made-up rows");
    (seconds, leave.reveal(table.into_cells()).rows())
}

fn lines(path: &Path, rows: usize) -> f64 {
    let started = Instant::now();
    let (mut file, mut buffer, mut count) = (File::open(path).unwrap(), vec![0; 1 << 20], 0);
    loop {
        let read = file.read(&mut buffer).unwrap();
        if read == 0 {
            break;
        }
        count += memchr::memchr_iter(b'\n', &buffer[..read]).count();
    }
    assert_eq!(count, rows + 1);
    started.elapsed().as_secs_f64()
}

fn write(path: &Path, rows: usize) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    let names: Vec<String> = (0..COLUMNS - 1).map(|i| format!("x{i}")).collect();
    writeln!(file, "{},y", names.join(",")).unwrap();
    let mut state = 19u64;
    let mut next = || {
        state = state
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (state >> 40) as f64 / (1u64 << 24) as f64
    };
    for _ in 0..rows {
        for i in 0..COLUMNS - 1 {
            let x = (next() + next() + next() + next() - 2.0) * 1.7;
            match i % 3 {
                0 => write!(file, "{x:.6},").unwrap(),
                1 => write!(file, "{:.5},", x * 10.0).unwrap(),
                _ => write!(file, "{:.3},", x * 1000.0).unwrap(),
            }
        }
        writeln!(file, "{}", u8::from(next() < 0.5)).unwrap();
    }
    file.flush().unwrap();
}
