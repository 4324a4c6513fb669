//! OpBoost end to end on a generated table of the shape of the paper's industrial one: the part of `bench/vertical.py` that is ours.
//!
//! `vertical make FILE [ROWS]` writes the table as others train on it: one line of JSON, then a byte for each slot or flag, row by row,
//! then labels as little-endian singles. `vertical run [ROWS]` runs the whole protocol between a label holder and a feature holder in one
//! process and prints one line of JSON with seconds and bytes.

use std::error::Error;
use std::io::Write;

use privet::setting::vertical::Mechanism;
use privet_research::industrial::{IndustrialRows, ROWS, run, vertical};

type Done<T> = Result<T, Box<dyn Error>>;

fn make(path: &str, rows: usize) -> Done<()> {
    let rows = IndustrialRows::made(rows, 3);
    let (flat, labels) = rows.flat();
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    let columns = flat.len() / labels.len().max(1);
    writeln!(out, "{{\"rows\":{},\"columns\":{columns}}}", labels.len())?;
    out.write_all(&flat)?;
    for label in labels {
        out.write_all(&label.to_le_bytes())?;
    }
    Ok(out.flush()?)
}

fn timed(rows: usize) -> Done<()> {
    let tables = IndustrialRows::made(rows, 3).tables()?;
    let run = run(&vertical(Mechanism::ClampedGeometric, 0.64)?, tables)?;
    let ([told, asked], peak) = (run.bytes, peak()?);
    let (seconds, trees) = (run.seconds, run.model.ensemble().members.len());
    println!("{{\"seconds\":{seconds},\"told\":{told},\"asked\":{asked},\"trees\":{trees},\"peak\":{peak}}}");
    Ok(())
}

/// The most memory that this process has had, in MB.
fn peak() -> Done<u64> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1));
    Ok(kilobytes.map_or(Ok(0), str::parse::<u64>)? / 1024)
}

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let rows = |at: usize| arguments.get(at).map_or(Ok(ROWS), |text| text.parse());
    match arguments.get(1).map(String::as_str) {
        Some("make") => make(arguments.get(2).ok_or("make FILE")?, rows(3)?),
        Some("run") => timed(rows(2)?),
        _ => Err("make FILE [ROWS], or run [ROWS]".into()),
    }
}
