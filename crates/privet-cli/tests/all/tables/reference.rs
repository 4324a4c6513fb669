//! The same cells as a reader that somebody else wrote, wherever blocks are cut.

use std::io::Write;
use std::sync::Arc;

use privet::data::schema::{Layout, category, id, number};
use privet::data::{Cells, Intake, Keep, Schema, Table};
use privet_node::table::{Csv, read, read_csv};
use privet_testkit::skipped::data;

use super::schemas::{cells, intake, patients, schema};

/// Reads with the `csv` crate, one cell after another.
fn reference(bytes: &[u8], intake: &Intake) -> Cells {
    let layout = intake.schema().layout();
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(layout.delimiter)
        .quote(layout.quote)
        .comment(layout.comment)
        .terminator(csv::Terminator::Any(b'\n'))
        .from_reader(bytes);
    let mut columns = intake.columns();
    let mut header = layout.header;
    let mut places: Vec<usize> = (0..columns.len()).collect();
    for record in reader.byte_records() {
        let record = record.unwrap();
        // That crate sees an empty record in a comment without a line feed, and none but line feeds as ends.
        if record.len() == 1 && record[0].trim_ascii().is_empty() {
            continue;
        }
        if header {
            let names = record
                .iter()
                .map(|name| std::str::from_utf8(name.trim_ascii()).unwrap());
            let place = |name: &str| {
                intake
                    .schema()
                    .columns()
                    .iter()
                    .position(|c| c.name == name)
                    .unwrap()
            };
            places = names.map(place).collect();
            header = false;
            continue;
        }
        assert_eq!(
            record.len(),
            places.len(),
            "{record:?} in {:?}",
            String::from_utf8_lossy(bytes)
        );
        for (cell, &place) in record.iter().zip(&places) {
            columns[place].text(cell);
        }
    }
    cells(Table::new(intake, vec![intake.piece(columns).unwrap()]))
}

/// A small generator: what it makes must not change from run to run.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    pub(crate) fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }

    fn one<'a>(&mut self, of: &[&'a [u8]]) -> &'a [u8] {
        of[self.below(of.len())]
    }
}

fn messy(dice: &mut Dice, quotes: bool) -> Vec<u8> {
    let plain: [&[u8]; 16] = [
        b"A",
        b" B ",
        b"0",
        b"",
        b"17",
        b"64.5",
        b"-3e2",
        b"1e400",
        b"NA",
        b"yes",
        b"no",
        b"\xff\xfe",
        b"a\rb",
        b"+.5",
        b"#",
        b"  ",
    ];
    let quoted: [&[u8]; 12] = [
        b"\"A\"",
        b"\"17\"",
        b"\"\"",
        b"\"a,b\"",
        b"\"a\nb\"",
        b"\"\n\"",
        b"\"say \"\"no\"\"\"",
        b"\"\"\"\"",
        b"\"1\"2",
        b"5\"",
        b"x\"y\"z",
        b"\"a\"b\"c\"",
    ];
    let mut text = Vec::new();
    if dice.below(2) == 0 {
        text.extend(b"\xef\xbb\xbf");
    }
    text.extend(b"blood, age ,outcome\r\n");
    for _ in 0..dice.below(30) {
        match dice.below(12) {
            0 => text.extend(b"\n"),
            1 => text.extend(b"\r\n"),
            2 => text.extend(b"# a comment, \"open\n"),
            3 => text.extend(b"#\n#\"\n"),
            _ => {
                for cell in 0..3 {
                    if cell > 0 {
                        text.push(b',');
                    }
                    let mut next = if quotes && dice.below(2) == 0 {
                        dice.one(&quoted)
                    } else {
                        dice.one(&plain)
                    };
                    // That would begin a comment.
                    if cell == 0 && next.starts_with(b"#") {
                        next = b"A";
                    }
                    text.extend(next);
                }
                let end: &[u8] = if dice.below(3) == 0 { b"\r\n" } else { b"\n" };
                text.extend(end);
            }
        }
    }
    if dice.below(3) == 0 && text.ends_with(b"\n") {
        text.pop();
    }
    text
}

fn in_pool<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(job)
}

#[test]
fn messy_files_read_alike_wherever_they_are_cut() {
    let layout = Layout {
        comment: Some(b'#'),
        ..Layout::default()
    };
    let intake = intake(&patients(layout));
    let mut dice = Dice(42);
    for turn in 0..400 {
        let text = messy(&mut dice, turn % 4 != 0);
        let expected = reference(&text, &intake);
        for block in [1, 2, 3, 5, 8, 13, 31, 64, 1 << 20] {
            let csv = Csv {
                block,
                ..Csv::new("messy.csv")
            };
            let table = in_pool(1 + turn % 4, || csv.read(&text[..], &intake, &|| {}).unwrap());
            assert_eq!(
                cells(table),
                expected,
                "block {block}: {:?}",
                String::from_utf8_lossy(&text)
            );
        }
    }
}

#[test]
fn the_first_fault_is_told_whatever_the_threads_and_blocks() {
    let intake = intake(&patients(Layout::default()));
    let mut dice = Dice(7);
    for _ in 0..200 {
        let mut lines: Vec<String> = (0..40).map(|i| format!("{i},\"A\nB\",yes")).collect();
        let first = dice.below(30);
        lines[first] = "1,2".into();
        lines[first + 1 + dice.below(5)] = "1,2,3,4,5".into();
        lines[38] = "9,\"open,yes".into();
        let text = format!("age,blood,outcome\n{}\n", lines.join("\n"));
        let expected = format!(
            "p.csv, line {}: 2 cells where the first line has 3; is a cell missing, or a line broken?",
            2 + 2 * first
        );
        for (block, threads) in [(7, 3), (20, 1), (100, 2), (1 << 16, 4)] {
            let csv = Csv {
                block,
                ..Csv::new("p.csv")
            };
            let error = in_pool(threads, || {
                csv.read(text.as_bytes(), &intake, &|| {}).err().unwrap()
            });
            assert_eq!(error.to_string(), expected);
        }
    }
}

#[test]
fn gzip_reads_as_what_is_inside() {
    let intake = intake(&patients(Layout::default()));
    let folder = tempfile::tempdir().unwrap();
    let text: String = (0..50_000)
        .map(|i| format!("{},{},{}\n", i % 130, ["A", "B", "C"][i % 3], i % 2))
        .collect();
    let text = format!("age,blood,outcome\n{text}");
    let path = folder.path().join("p.csv");
    std::fs::write(&path, &text).unwrap();
    let mut packed = Vec::new();
    // Two members, as `cat a.gz b.gz` makes them.
    for part in [&text[..1000], &text[1000..]] {
        let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::fast());
        encoder.write_all(part.as_bytes()).unwrap();
        encoder.finish().unwrap();
    }
    let gz = folder.path().join("p.csv.gz");
    std::fs::write(&gz, &packed).unwrap();
    let seen = std::sync::atomic::AtomicU64::new(0);
    let progress = |done: u64, total: u64| {
        assert!(done <= total && total == packed.len() as u64);
        seen.store(done, std::sync::atomic::Ordering::Relaxed);
    };
    let table = read(&gz, &intake, &progress).unwrap();
    assert_eq!(seen.into_inner(), packed.len() as u64);
    assert_eq!(cells(table), cells(read(&path, &intake, &|_, _| {}).unwrap()));
}

#[test]
fn a_file_with_names_and_nothing_else_has_no_rows() {
    let intake = intake(&patients(Layout::default()));
    for text in ["age,blood,outcome", "\n\nage,blood,outcome\r\n\n"] {
        let found = cells(read_csv("p.csv", text.as_bytes(), &intake).unwrap());
        assert_eq!(found.rows(), 0);
        assert_eq!(found.features().len(), 2);
        assert!(found.target().is_some());
    }
    let headless = super::schemas::intake(&patients(Layout {
        header: false,
        ..Layout::default()
    }));
    let found = cells(read_csv("p.csv", &b"\n"[..], &headless).unwrap());
    assert_eq!((found.rows(), found.features().len()), (0, 2));
}

#[test]
fn to_predict_a_file_may_have_more_columns_and_no_label() {
    let schema = patients(Layout::default());
    let intake = Intake::features_only(Arc::clone(&schema), Keep::Bins);
    let read = |text: &str| cells(read_csv("p.csv", text.as_bytes(), &intake).unwrap());
    let lean = read("blood,age\nA,3\nB,4\n");
    assert_eq!(lean, read("room,age,outcome,blood\n1,3,yes,A\n2,4,no,B\n"));
    assert!(lean.target().is_none());
    let headless = patients(Layout {
        header: false,
        ..Layout::default()
    });
    let intake = Intake::features_only(headless, Keep::Bins);
    let read = |text: &str| cells(read_csv("p.csv", text.as_bytes(), &intake).unwrap());
    assert_eq!(read("3,A,yes\n4,B,no"), lean);
    assert_eq!(read("3,A\n4,B"), lean);
}

/// Bins of numbers, and any text as an undeclared category: enough to tell columns and rows apart.
fn plain_schema(layout: Layout, names: &[&str], numbers: &[&str]) -> Arc<Schema> {
    let columns = names.iter().map(|&name| {
        if numbers.contains(&name) {
            number(name, -1000.0..=500_000.0).bins(4000)
        } else {
            category(name, ["yes", "no", "Male", "Private", "married"])
        }
    });
    schema(layout, columns)
}

#[test]
fn real_tables_read_alike() {
    let adult = [
        "age", "work", "weight", "school", "years", "married", "job", "role", "race", "sex", "gain", "loss",
        "hours", "from", "income",
    ];
    let layout = Layout {
        header: false,
        comment: Some(b'|'),
        ..Layout::default()
    };
    let numbers = ["age", "weight", "years", "gain", "loss", "hours"];
    for file in ["adult/adult.data", "adult/adult.test"] {
        let Some(path) = data(file) else { continue };
        let intake = intake(&plain_schema(layout, &adult, &numbers));
        let table = cells(read(&path, &intake, &|_, _| {}).unwrap());
        assert!(table.rows() > 16_000);
        assert_eq!(table, reference(&std::fs::read(&path).unwrap(), &intake));
    }
    let bank = [
        "age",
        "job",
        "marital",
        "education",
        "default",
        "balance",
        "housing",
        "loan",
        "contact",
        "day",
        "month",
        "duration",
        "campaign",
        "pdays",
        "previous",
        "poutcome",
        "y",
    ];
    let layout = Layout {
        delimiter: b';',
        ..Layout::default()
    };
    let numbers = [
        "age", "balance", "day", "duration", "campaign", "pdays", "previous",
    ];
    if let Some(path) = data("bank/bank-full.csv") {
        let intake = intake(&plain_schema(layout, &bank, &numbers));
        let table = cells(read(&path, &intake, &|_, _| {}).unwrap());
        assert_eq!(table.rows(), 45_211);
        assert_eq!(table, reference(&std::fs::read(&path).unwrap(), &intake));
    }
}

#[test]
fn of_each_person_the_first_rows_are_kept_across_blocks() {
    let schema = Schema::builder("visits").columns([id("who"), number("x", 0.0..=100.0)]);
    let schema = schema.unit("who").rows_per_unit(2).build().unwrap();
    let intake = Intake::everything(Arc::new(schema), Keep::Bins);
    let text: String = (0..3000)
        .map(|i| format!("{},p{}\n", i % 100, i % 7 % 5))
        .collect();
    let text = format!("x,who\n{text}");
    let small = Csv {
        block: 50,
        ..Csv::new("v.csv")
    };
    let found = cells(small.read(text.as_bytes(), &intake, &|| {}).unwrap());
    assert_eq!(found.rows(), 10);
    assert_eq!(found.units().unwrap(), [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
    assert_eq!(found, reference(text.as_bytes(), &intake));
}

/// In a table of one column an empty line is a row whose cell is missing, with and without quotes in the file.
#[test]
fn an_empty_line_of_a_table_of_one_column_is_a_row() {
    let schema = Schema::from_toml(
        "s",
        "dataset = \"d\"\n[columns]\nx = { type = \"integer\", min = 0, max = 9 }\n",
    )
    .unwrap();
    let intake = Intake::everything(Arc::new(schema), Keep::Bins);
    for text in ["x\n1\n\n9\n", "x\n\"1\"\n\n9\n", "x\n1\n\"\"\n9"] {
        let table = read_csv("t.csv", text.as_bytes(), &intake).unwrap();
        let found = cells(table);
        assert_eq!(
            found.features()[0].bins.iter().collect::<Vec<_>>(),
            [1, 10, 9],
            "{text:?}"
        );
    }
}
