//! OpBoost end to end on a generated table of the shape of the paper's industrial one: the part of `bench/vertical.py` that is ours.
//!
//! `vertical make FILE [ROWS]` writes the same table as others train on it: one line of JSON, then a byte for each slot or flag, row by
//! row, then labels as little-endian singles. `vertical run [ROWS [MECHANISM]]` runs the whole protocol between a label holder and a
//! feature holder in one process and prints one line of JSON with seconds and bytes.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;
use std::time::Instant;

use privet::data::{Intake, Keep, Schema, Table};
use privet::party::PartyId;
use privet::privacy::{Coins, Relation, Unprotected};
use privet::setting::vertical::{Alignment, Budget, Categories, LABEL_HOLDER, Mechanism, Outcome, Vertical};

type Done<T> = Result<T, Box<dyn Error>>;

/// 38 numbers of ten slots, and categories that come to 262 flags: what is undeclared and what is missing has a flag, too.
const NUMBERS: usize = 38;
const FLAGS: [usize; 52] = {
    let mut flags = [5; 52];
    flags[0] = 6;
    flags[1] = 6;
    flags
};
const ROWS: usize = 293_600;

/// Rows of slots: numbers below ten, categories among those that are declared; and labels.
fn people(rows: usize) -> (Vec<u8>, Vec<f32>) {
    let mut coins = Coins::from_seed([3; 32]);
    let columns = NUMBERS + FLAGS.len();
    let mut slots = Vec::with_capacity(rows * columns);
    let mut labels = Vec::with_capacity(rows);
    for _ in 0..rows {
        let row = slots.len();
        // Columns hang together, as they do in life.
        let mood = coins.below(10);
        for column in 0..NUMBERS {
            let near = (mood + coins.below(4)).min(9);
            slots.push(if column % 2 == 0 { near } else { coins.below(10) } as u8);
        }
        for flags in FLAGS {
            let values = flags as u64 - 2;
            let near = mood % values;
            slots.push(if coins.below(2) == 0 {
                near
            } else {
                coins.below(values)
            } as u8);
        }
        let x = |column: usize| f64::from(slots[row + column]);
        let signal = x(0)
            + 0.5 * x(1) * f64::from(u8::from(x(2) > 4.0))
            + 2.0 * f64::from(u8::from(x(NUMBERS) == 1.0));
        let noise = (0..4).map(|_| coins.unit() - 0.5).sum::<f64>();
        labels.push((signal + 2.0 * noise) as f32);
    }
    (slots, labels)
}

fn make(path: &str, rows: usize) -> Done<()> {
    let (slots, labels) = people(rows);
    let mut out = std::io::BufWriter::new(std::fs::File::create(path)?);
    let columns = NUMBERS + FLAGS.iter().sum::<usize>();
    writeln!(out, "{{\"rows\":{rows},\"columns\":{columns}}}")?;
    for row in slots.chunks(NUMBERS + FLAGS.len()) {
        out.write_all(&row[..NUMBERS])?;
        for (slot, flags) in row[NUMBERS..].iter().zip(FLAGS) {
            for flag in 0..flags {
                out.write_all(&[u8::from(usize::from(*slot) == flag)])?;
            }
        }
    }
    for label in labels {
        out.write_all(&label.to_le_bytes())?;
    }
    Ok(())
}

fn tables(rows: usize, vertical: &Vertical) -> Done<[Table; 2]> {
    let (slots, labels) = people(rows);
    let own = "dataset = \"own\"\n[columns]\ny = { type = \"label\", min = -10, max = 30 }\n";
    let mut other = "dataset = \"other\"\n[columns]\n".to_owned();
    for column in 0..NUMBERS {
        other += &format!("n{column} = {{ type = \"integer\", min = 0, max = 9 }}\n");
    }
    for (column, flags) in FLAGS.iter().enumerate() {
        let values: Vec<String> = (0..flags - 2).map(|value| format!("\"{value}\"")).collect();
        other += &format!(
            "c{column} = {{ type = \"category\", values = [{}] }}\n",
            values.join(", ")
        );
    }
    let intake = |text: &str| -> Done<Intake> {
        let schema = Schema::from_toml("schema", text)?;
        Ok(Intake::new(
            Arc::new(vertical.desensitisation().reads(&schema)),
            Keep::Bins,
        ))
    };
    let (own, other) = (intake(own)?, intake(&other)?);
    let mut y = own.columns();
    y[0].numbers(labels.iter().map(|label| Some(f64::from(*label))));
    let mut x = other.columns();
    let width = x.len();
    for (place, column) in x.iter_mut().enumerate() {
        let cells = slots.iter().skip(place).step_by(width);
        column.integers(cells.map(|slot| Some(i64::from(*slot))));
    }
    let piece = own.piece(y)?;
    let own = Table::new(&own, vec![piece]);
    let piece = other.piece(x)?;
    Ok([own, Table::new(&other, vec![piece])])
}

fn run(rows: usize, mechanism: Mechanism) -> Done<()> {
    let vertical = Vertical::builder()
        .epsilon("0.64".parse()?)
        .budget(Budget::Full)
        .mechanism(mechanism)
        .categories(Categories::SymmetricUnary)
        .alignment(Alignment::Given)
        .build()?;
    let [own, other] = tables(rows, &vertical)?;
    let relation = Relation::Replace {
        rows: std::num::NonZeroU32::MIN,
        unit: None,
    };
    let leave = Unprotected::unrecorded("own", &relation, "generated rows");
    let start = Instant::now();
    let done = vertical.rehearsed(own, vec![other], &leave)?;
    let seconds = start.elapsed().as_secs_f64();
    let feature_holder = PartyId(1);
    let (told, asked) = (
        done.bytes(feature_holder, LABEL_HOLDER),
        done.bytes(LABEL_HOLDER, feature_holder),
    );
    let trained = done.all()?.into_iter().find_map(|outcome| match outcome {
        Outcome::Trained(model) => Some(model),
        _ => None,
    });
    let model = trained.ok_or("nothing was trained")?;
    println!(
        "{{\"seconds\":{seconds},\"told\":{told},\"asked\":{asked},\"trees\":{},\"peak\":{}}}",
        model.ensemble().members.len(),
        peak()?
    );
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
        Some("run") => {
            let mechanism = match arguments.get(3).map(String::as_str) {
                None | Some("clamped-geometric") => Mechanism::ClampedGeometric,
                Some("global-map") => Mechanism::GlobalMap(Default::default()),
                Some(other) => return Err(format!("{other} is not known here").into()),
            };
            run(rows(2)?, mechanism)
        }
        _ => Err("make FILE [ROWS], or run [ROWS [MECHANISM]]".into()),
    }
}
