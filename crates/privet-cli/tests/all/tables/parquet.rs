//! The same rows from Parquet and from text give the same cells; damaged files give errors.

use std::io::Cursor;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use privet::data::schema::{Layout, category, date, flag, label, number, ordinal};
use privet::data::{Cells, Intake, Points, Schema};
use privet_node::table::{Csv, read_csv, read_parquet};
use privet_testkit::skipped::full;

use super::malformed::said_of;
use super::reference::Dice;
use super::schemas::{cells, intake, schema};

const MESSAGE: &str = "message m {
    optional double dose;
    required float mass;
    optional int32 age;
    required int64 big;
    optional int32 small (integer(8, false));
    optional int64 cost (decimal(18, 2));
    optional boolean ill;
    optional binary blood (string);
    required int32 level;
    optional int32 outcome;
}";

pub(crate) fn everything() -> Arc<Schema> {
    schema(
        Layout::default(),
        [
            label("outcome", ["0", "1"]),
            number("dose", -5.0..=5.0),
            number("mass", 0.0..=100.0),
            number("age", 0.0..=120.0),
            number("big", -1e12..=1e12),
            number("small", 0.0..=255.0),
            number("cost", -100.0..=100.0),
            flag("ill"),
            category("blood", ["A", "B", "AB", "0"]),
            ordinal("level", ["1", "2", "3"]),
        ],
    )
}

/// One row: each cell as text, empty where it is missing.
pub(crate) fn rows(dice: &mut Dice, count: usize) -> Vec<[String; 10]> {
    let mut some = |n: usize, text: &dyn Fn(&mut Dice) -> String| {
        if n > 0 && dice.below(n) == 0 {
            String::new()
        } else {
            text(dice)
        }
    };
    (0..count)
        .map(|_| {
            [
                some(5, &|d| format!("{}", d.below(1 << 20) as f64 / 65536.0 - 8.0)),
                some(0, &|d| format!("{}", d.below(4096) as f32 / 32.0)),
                some(7, &|d| format!("{}", d.below(140) as i32 - 10)),
                some(0, &|d| format!("{}", d.below(1 << 42) as i64 - (1 << 41))),
                some(3, &|d| format!("{}", d.below(256))),
                some(4, &|d| {
                    let cents = d.below(30_000) as i64 - 15_000;
                    format!(
                        "{}{}.{:02}",
                        if cents < 0 { "-" } else { "" },
                        cents.abs() / 100,
                        cents.abs() % 100
                    )
                }),
                some(6, &|d| ["true", "false"][d.below(2)].into()),
                some(6, &|d| ["A", "B", "0", "unheard of", " AB "][d.below(5)].into()),
                some(0, &|d| ["1", "2", "3", "4"][d.below(4)].into()),
                some(9, &|d| format!("{}", d.below(2))),
            ]
        })
        .collect()
}

/// How a file is written.
#[derive(Clone, Copy, Debug)]
struct Written {
    compression: Compression,
    version: WriterVersion,
    dictionary: bool,
    group: usize,
}

fn parquet_of(rows: &[[String; 10]], how: Written) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(how.compression)
        .set_writer_version(how.version)
        .set_dictionary_enabled(how.dictionary)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_data_page_row_count_limit(100)
        .set_write_batch_size(50)
        .build();
    let message = Arc::new(parse_message_type(MESSAGE).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), message, Arc::new(properties)).unwrap();
    for rows in rows.chunks(how.group) {
        let mut group = file.next_row_group().unwrap();
        let mut place = 0;
        while let Some(mut writer) = group.next_column().unwrap() {
            let texts: Vec<&str> = rows.iter().map(|row| row[place].as_str()).collect();
            let levels: Vec<i16> = texts.iter().map(|text| i16::from(!text.is_empty())).collect();
            let there = || texts.iter().copied().filter(|text| !text.is_empty());
            let l = Some(&levels[..]);
            match writer.untyped() {
                ColumnWriter::DoubleColumnWriter(w) => {
                    w.write_batch(&there().map(|t| t.parse().unwrap()).collect::<Vec<_>>(), l, None)
                }
                ColumnWriter::FloatColumnWriter(w) => w.write_batch(
                    &there().map(|t| t.parse().unwrap()).collect::<Vec<_>>(),
                    None,
                    None,
                ),
                ColumnWriter::Int32ColumnWriter(w) => {
                    w.write_batch(&there().map(|t| t.parse().unwrap()).collect::<Vec<_>>(), l, None)
                }
                ColumnWriter::Int64ColumnWriter(w) => {
                    let whole = |t: &str| t.replace('.', "").parse::<i64>().unwrap();
                    w.write_batch(&there().map(whole).collect::<Vec<_>>(), l, None)
                }
                ColumnWriter::BoolColumnWriter(w) => {
                    w.write_batch(&there().map(|t| t.parse().unwrap()).collect::<Vec<_>>(), l, None)
                }
                ColumnWriter::ByteArrayColumnWriter(w) => {
                    w.write_batch(&there().map(ByteArray::from).collect::<Vec<_>>(), l, None)
                }
                _ => unreachable!(),
            }
            .unwrap();
            writer.close().unwrap();
            place += 1;
        }
        group.close().unwrap();
    }
    file.into_inner().unwrap()
}

pub(crate) fn csv_of(rows: &[[String; 10]]) -> String {
    let names = "dose,mass,age,big,small,cost,ill,blood,level,outcome";
    let rows: String = rows.iter().map(|row| format!("{}\n", row.join(","))).collect();
    format!("{names}\n{rows}")
}

pub(crate) fn from_parquet(bytes: &[u8], intake: &Intake) -> Result<Cells, privet::Error> {
    let table = read_parquet("t.parquet", Cursor::new(bytes), intake, &|_, _| {})?;
    Ok(cells(table))
}

#[test]
fn parquet_and_text_give_the_same_cells() {
    let intake = intake(&everything());
    let mut dice = Dice(99);
    let compressions = [
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::ZSTD(ZstdLevel::default()),
        Compression::GZIP(Default::default()),
        Compression::LZ4_RAW,
    ];
    for (turn, count) in [0, 1, 2, 17, 100, 999, 5000, 12_000].into_iter().enumerate() {
        let rows = rows(&mut dice, count);
        let expected = cells(read_csv("t.csv", csv_of(&rows).as_bytes(), &intake).unwrap());
        assert_eq!(expected.rows(), count);
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for dictionary in [false, true] {
                let how = Written {
                    compression: compressions[turn % compressions.len()],
                    version,
                    dictionary,
                    group: [1 << 20, 1000, 77][dice.below(3)],
                };
                assert_eq!(
                    from_parquet(&parquet_of(&rows, how), &intake).unwrap(),
                    expected,
                    "{how:?}"
                );
            }
        }
    }
}

/// A file of these rows as plain as it can be.
pub(crate) fn plainly(rows: &[[String; 10]]) -> Vec<u8> {
    let how = Written {
        compression: Compression::UNCOMPRESSED,
        version: WriterVersion::PARQUET_1_0,
        dictionary: false,
        group: 1 << 20,
    };
    parquet_of(rows, how)
}

/// One table has one fingerprint as text in any blocks and as Parquet in any row groups; a table with one cell changed has another.
#[test]
fn a_table_has_one_fingerprint_in_every_form() {
    let intake = Intake::recognising(everything(), Points::new(*b"sixteen  bytes !"));
    let rows = rows(&mut Dice(7), 3000);
    let of_text = |text: String, block| {
        let csv = Csv {
            block,
            ..Csv::new("t.csv")
        };
        let table = csv.read(text.as_bytes(), &intake, &|| {}).unwrap();
        table.fingerprint().unwrap().clone()
    };
    let expected = of_text(csv_of(&rows), 1 << 20);
    assert_eq!(expected.telling().count(), 10);
    assert!(of_text(csv_of(&rows).replace('\n', "\r\n"), 1000) == expected);
    for (group, dictionary) in [(1 << 20, true), (77, false)] {
        let how = Written {
            compression: Compression::SNAPPY,
            version: WriterVersion::PARQUET_2_0,
            dictionary,
            group,
        };
        let bytes = parquet_of(&rows, how);
        let read = read_parquet("t.parquet", Cursor::new(&bytes), &intake, &|_, _| {});
        assert!(*read.unwrap().fingerprint().unwrap() == expected, "{how:?}");
    }
    for place in 0..10 {
        let mut changed = rows.clone();
        changed[2999][place] = "77".into();
        assert!(of_text(csv_of(&changed), 1 << 20) != expected, "column {place}");
    }
    let reordered: String = csv_of(&rows)
        .lines()
        .map(|line| {
            let (first, rest) = line.split_once(',').unwrap();
            format!("{rest},{first}\n")
        })
        .collect();
    assert!(of_text(reordered, 1 << 20) == expected);
}

fn sample() -> Vec<u8> {
    let how = Written {
        compression: Compression::SNAPPY,
        version: WriterVersion::PARQUET_1_0,
        dictionary: true,
        group: 100,
    };
    parquet_of(&rows(&mut Dice(5), 250), how)
}

#[test]
fn a_changed_or_cut_file_is_an_error_or_a_table_and_never_a_panic() {
    let intake = intake(&everything());
    let whole = sample();
    for end in (0..whole.len()).step_by(7) {
        assert!(from_parquet(&whole[..end], &intake).is_err(), "cut at {end}");
    }
    let step = if full() { 1 } else { 11 };
    let (mut refused, mut tried) = (0, 0);
    for place in (0..whole.len()).step_by(step) {
        for change in [1, 0x80, 0xff] {
            let mut changed = whole.clone();
            changed[place] ^= change;
            tried += 1;
            refused += usize::from(from_parquet(&changed, &intake).is_err());
        }
    }
    assert!(refused > tried / 12, "{refused} of {tried}");
}

fn with_columns(message: &str) -> Vec<u8> {
    let message_is_long = message.contains("(20)");
    let message = Arc::new(parse_message_type(message).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), message, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    while let Some(mut writer) = group.next_column().unwrap() {
        match writer.untyped() {
            ColumnWriter::Int32ColumnWriter(w) => w.write_batch(&[1], Some(&[1]), Some(&[0])),
            ColumnWriter::Int64ColumnWriter(w) => w.write_batch(&[1], Some(&[1]), None),
            ColumnWriter::DoubleColumnWriter(w) => w.write_batch(&[1.0], Some(&[1]), None),
            ColumnWriter::Int96ColumnWriter(w) => w.write_batch(&[Int96::new()], Some(&[1]), None),
            ColumnWriter::ByteArrayColumnWriter(w) => {
                w.write_batch(&[ByteArray::from("A")], Some(&[1]), None)
            }
            ColumnWriter::FixedLenByteArrayColumnWriter(w) => w.write_batch(
                &[FixedLenByteArray::from(vec![
                    0;
                    if message_is_long { 20 } else { 2 }
                ])],
                Some(&[1]),
                None,
            ),
            _ => unreachable!(),
        }
        .unwrap();
        writer.close().unwrap();
    }
    group.close().unwrap();
    file.into_inner().unwrap()
}

#[test]
fn each_malformed_parquet_says_what_and_how_to_mend_it() {
    let said = |bytes: &[u8]| said_of("p.parquet", bytes, Layout::default());
    let typed = |age: &str| {
        with_columns(&format!(
            "message m {{ {age} optional binary blood (string); optional binary outcome (string); }}"
        ))
    };
    let mend = "make it a number, a truth value or text before, or say type = \"skip\"";
    assert_eq!(
        said(b"age,blood,outcome\n1,A,no\n"),
        "p.parquet: this is not a Parquet file; a table of text has another ending, such as .csv"
    );
    assert_eq!(
        said(b""),
        "p.parquet: this is not a Parquet file; a table of text has another ending, such as .csv"
    );
    let good = typed("optional int32 age;");
    assert_eq!(
        said(&good[..good.len() - 1]),
        "p.parquet: the file ends too early; was it copied whole?"
    );
    let mut damaged = good.clone();
    let place = damaged.len() - 8;
    damaged[place..place + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(
        said(&damaged),
        "p.parquet: the description at the file's end is damaged"
    );
    assert_eq!(
        said(&typed("optional int32 age (time(millis, true));")),
        format!("p.parquet: column 'age' holds times of day; {mend}")
    );
    for dates in [
        "optional int32 age (date);",
        "optional int64 age (timestamp(millis, true));",
        "optional int96 age;",
    ] {
        assert_eq!(
            said(&typed(dates)),
            "p.parquet: column 'age' holds dates, and is not declared as type = \"date\" with min = \"2015-01-01\" and max = \"2024-12-31\": \
             declare it so, or as type = \"skip\""
        );
    }
    assert_eq!(
        said(&typed("optional fixed_len_byte_array(2) age (float16);")),
        format!("p.parquet: column 'age' holds half-precision numbers; {mend}")
    );
    assert_eq!(
        said(&typed("optional fixed_len_byte_array(20) age (decimal(45, 1));")),
        format!("p.parquet: column 'age' holds decimals of more than 38 digits; {mend}")
    );
    for nested in [
        "repeated int32 age;",
        "required group age { optional int32 years; }",
    ] {
        assert_eq!(
            said(&typed(nested)),
            "p.parquet: column 'age' is nested; give each of its parts a column of its own"
        );
    }
    assert_eq!(
        said(&typed("optional int32 years;")),
        "p.parquet: column 'age' is declared in the schema and not in the file; it has 'years', 'blood', 'outcome'"
    );
    assert_eq!(
        said(&typed("optional int32 age; optional double room;")),
        "p.parquet: column 'room' is not declared in the schema; add a line such as\n  room = { type = \"skip\" }   # or another type, with its bounds or values"
    );
}

/// Decimals as bytes, dates and points in time are the same cells as the same rows in text.
#[test]
fn decimals_and_dates_are_read_as_from_text() {
    let message = "message m {
        optional fixed_len_byte_array(9) cost (decimal(20, 2));
        optional binary fee (decimal(20, 1));
        optional int32 day (date);
        optional int64 at (timestamp(micros, true));
        optional int96 old;
        optional int32 outcome;
    }";
    let message = Arc::new(parse_message_type(message).unwrap());
    let mut file = SerializedFileWriter::new(Vec::new(), message, Default::default()).unwrap();
    let mut group = file.next_row_group().unwrap();
    let wide = |x: i128| x.to_be_bytes()[7..].to_vec();
    let levels = [1, 1, 0];
    let mut stamp = Int96::new();
    // Noon of 2021-05-01, by the Julian count.
    let nanos: u64 = 43_200_000_000_000;
    stamp.set_data(nanos as u32, (nanos >> 32) as u32, 2_440_588 + 18_748);
    let mut place = 0;
    while let Some(mut writer) = group.next_column().unwrap() {
        let l = Some(&levels[..]);
        match writer.untyped() {
            ColumnWriter::FixedLenByteArrayColumnWriter(w) => {
                let cells = [12_345, -250].map(|x| FixedLenByteArray::from(wide(x)));
                w.write_batch(&cells, l, None)
            }
            ColumnWriter::ByteArrayColumnWriter(w) => w.write_batch(
                &[ByteArray::from(vec![0x7b]), ByteArray::from(vec![0xff])],
                l,
                None,
            ),
            ColumnWriter::Int32ColumnWriter(w) if place == 2 => w.write_batch(&[18_748, 18_000], l, None),
            ColumnWriter::Int32ColumnWriter(w) => w.write_batch(&[0, 1], l, None),
            ColumnWriter::Int64ColumnWriter(w) => {
                w.write_batch(&[18_748 * 86_400_000_000 + 21_600_000_000, 0], l, None)
            }
            ColumnWriter::Int96ColumnWriter(w) => w.write_batch(&[stamp, stamp], l, None),
            _ => unreachable!(),
        }
        .unwrap();
        writer.close().unwrap();
        place += 1;
    }
    group.close().unwrap();
    let bytes = file.into_inner().unwrap();
    let schema = schema(
        Layout::default(),
        [
            label("outcome", ["0", "1"]),
            number("cost", -200.0..=200.0),
            number("fee", -20.0..=20.0),
            date("day", ["2019-01-01", "2022-12-31"]),
            date("at", ["2019-01-01", "2022-12-31"]),
            date("old", ["2021-04-30", "2021-05-03"]),
        ],
    );
    let text = "cost,fee,day,at,old,outcome\n123.45,12.3,2021-05-01,2021-05-01 06:00:00,2021-05-01T12:00,0\n\
                -2.5,-0.1,2019-04-14,1970-01-01,2021-05-01T12:00Z,1\n,,,,,\n";
    let intake = intake(&schema);
    let from_text = cells(read_csv("t.csv", text.as_bytes(), &intake).unwrap());
    let from_file =
        cells(read_parquet("t.parquet", Cursor::new(bytes.clone()), &intake, &|_, _| {}).unwrap());
    assert_eq!(from_text, from_file);
    // Whatever fits no column gives other cells.
    let other = text.replace("2021-05-01,", "2020-05-01,");
    assert_ne!(
        cells(read_csv("t.csv", other.as_bytes(), &intake).unwrap()),
        from_file
    );
    let recognised = |text: &str| {
        let intake = Intake::recognising(Arc::clone(&schema), Points::new(*b"sixteen  bytes !"));
        read_csv("t.csv", text.as_bytes(), &intake)
            .unwrap()
            .fingerprint()
            .cloned()
    };
    let hashing = Intake::recognising(Arc::clone(&schema), Points::new(*b"sixteen  bytes !"));
    let known = read_parquet("t.parquet", Cursor::new(bytes), &hashing, &|_, _| {}).unwrap();
    let plain = text
        .replace("2021-05-01T12:00Z", "2021-05-01 12:00:00")
        .replace("2021-05-01T12:00", "2021-05-01 12:00:00");
    assert!(known.fingerprint().cloned() == recognised(&plain));
}
