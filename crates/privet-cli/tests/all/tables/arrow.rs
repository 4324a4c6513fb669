//! The same rows as Arrow batches, as Parquet and as text give the same cells.

use std::sync::Arc;

use arrow_array::types::{Int8Type, UInt64Type};
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, BooleanArray, Date32Array, Decimal32Array, Decimal64Array,
    Decimal128Array, Decimal256Array, DictionaryArray, DurationSecondArray, FixedSizeBinaryArray,
    Float16Array, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Int64Array,
    LargeBinaryArray, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray,
    TimestampMillisecondArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use privet::data::schema::{ColumnSpec, category, id, number};
use privet::data::{Cells, Frame, Intake, Keep, Schema, Table};
use privet_node::table::read_csv;

use super::parquet::{csv_of, everything, from_parquet, plainly, rows};
use super::reference::Dice;
use super::schemas::{cells, intake};

fn read(batches: &[RecordBatch], intake: &Intake) -> Result<Cells, privet::Error> {
    let frames: Vec<Frame<'_>> = batches.iter().map(Frame::from).collect();
    Table::read(intake, &frames[..]).map(cells)
}

/// The rows of the Parquet tests, in the types that its files have.
fn batch(rows: &[[String; 10]]) -> RecordBatch {
    fn parsed<T: std::str::FromStr>(rows: &[[String; 10]], place: usize) -> Vec<Option<T>> {
        let digits = |row: &[String; 10]| {
            if place == 5 {
                row[5].replace('.', "")
            } else {
                row[place].clone()
            }
        };
        rows.iter().map(|row| digits(row).parse().ok()).collect()
    }
    let texts = |place: usize| {
        rows.iter()
            .map(move |row| Some(row[place].as_str()).filter(|t| !t.is_empty()))
    };
    let blood: DictionaryArray<Int8Type> = texts(7).collect();
    let columns: [(&str, ArrayRef); 10] = [
        ("dose", Arc::new(Float64Array::from(parsed::<f64>(rows, 0)))),
        ("mass", Arc::new(Float32Array::from(parsed::<f32>(rows, 1)))),
        ("age", Arc::new(Int32Array::from(parsed::<i32>(rows, 2)))),
        ("big", Arc::new(Int64Array::from(parsed::<i64>(rows, 3)))),
        ("small", Arc::new(UInt8Array::from(parsed::<u8>(rows, 4)))),
        (
            "cost",
            Arc::new(
                Decimal64Array::from(parsed::<i64>(rows, 5))
                    .with_precision_and_scale(18, 2)
                    .unwrap(),
            ),
        ),
        ("ill", Arc::new(BooleanArray::from(parsed::<bool>(rows, 6)))),
        ("blood", Arc::new(blood)),
        ("level", Arc::new(Int16Array::from(parsed::<i16>(rows, 8)))),
        ("outcome", Arc::new(StringViewArray::from_iter(texts(9)))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn arrow_parquet_and_text_give_the_same_cells() {
    let mut dice = Dice(99);
    for keep in [Keep::Bins, Keep::Values] {
        let intake = Intake::everything(everything(), keep);
        for count in [0, 1, 17, 999, 70_000] {
            let rows = rows(&mut dice, count);
            let text = csv_of(&rows);
            let expected = cells(read_csv("t.csv", text.as_bytes(), &intake).unwrap());
            let whole = batch(&rows);
            assert!(
                read(std::slice::from_ref(&whole), &intake).unwrap() == expected,
                "{count} rows"
            );
            let cut = count / 3;
            // A slice begins within its buffers and within a byte of missing cells.
            let parts = [whole.slice(0, cut), whole.slice(cut, count - cut)];
            assert!(
                read(&parts, &intake).unwrap() == expected,
                "{count} rows in two batches"
            );
            assert!(
                from_parquet(&plainly(&rows), &intake).unwrap() == expected,
                "{count} rows in Parquet"
            );
        }
    }
    assert!(read(&[], &intake(&everything())).unwrap().rows() == 0);
}

/// One column of one type, as text: what each of its cells is.
fn of_type(column: ColumnSpec, array: ArrayRef, texts: &[&str]) {
    let schema = Schema::builder("d").columns([column]).build().unwrap();
    for keep in [Keep::Bins, Keep::Values] {
        let intake = Intake::everything(Arc::new(schema.clone()), keep);
        let text = format!("x\n{}\n", texts.join("\n"));
        let expected = cells(read_csv("t.csv", text.as_bytes(), &intake).unwrap());
        let batch = RecordBatch::try_from_iter_with_nullable([("x", Arc::clone(&array), true)]).unwrap();
        assert_eq!(
            read(&[batch], &intake).unwrap(),
            expected,
            "{}",
            array.data_type()
        );
    }
}

#[test]
fn every_type_that_parquet_reads_is_read() {
    let real = || number("x", -100.0..=100.0);
    let word = || category("x", ["a", "b", "3", "18446744073709551615", "-1.50"]);
    let whole = ["3", "", "200"];
    of_type(
        real(),
        Arc::new(Int8Array::from(vec![Some(3), None, Some(100)])),
        &["3", "", "100"],
    );
    of_type(
        real(),
        Arc::new(Int16Array::from(vec![Some(3), None, Some(200)])),
        &whole,
    );
    of_type(
        real(),
        Arc::new(UInt16Array::from(vec![Some(3), None, Some(200)])),
        &whole,
    );
    of_type(
        real(),
        Arc::new(UInt32Array::from(vec![Some(3), None, Some(200)])),
        &whole,
    );
    let most = [Some(3), None, Some(u64::MAX)];
    of_type(
        real(),
        Arc::new(UInt64Array::from(most.to_vec())),
        &["3", "", "18446744073709551615"],
    );
    of_type(
        word(),
        Arc::new(UInt64Array::from(most.to_vec())),
        &["3", "", "18446744073709551615"],
    );
    of_type(
        word(),
        Arc::new(Float64Array::from(vec![3.0, f64::NAN, -0.0])),
        &["3", "", "-0"],
    );
    let words = [Some("a"), None, Some(" b "), Some("c")];
    let said = ["a", "", "b", "c"];
    of_type(word(), Arc::new(StringArray::from(words.to_vec())), &said);
    of_type(word(), Arc::new(LargeStringArray::from(words.to_vec())), &said);
    of_type(word(), Arc::new(StringViewArray::from(words.to_vec())), &said);
    let bytes = words.map(|word| word.map(str::as_bytes)).to_vec();
    of_type(word(), Arc::new(BinaryArray::from(bytes.clone())), &said);
    of_type(word(), Arc::new(LargeBinaryArray::from(bytes.clone())), &said);
    of_type(word(), Arc::new(BinaryViewArray::from(bytes)), &said);
    // Values that are missing in the dictionary, and places that are missing; and a dictionary of nothing.
    let keys = UInt64Array::from(vec![Some(1), None, Some(0), Some(2)]);
    let values = StringArray::from(vec![Some("b"), Some("a"), None]);
    let coded = DictionaryArray::<UInt64Type>::new(keys, Arc::new(values));
    of_type(word(), Arc::new(coded), &["a", "", "b", ""]);
    let numbers = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![1, 0, 1]),
        Arc::new(Int32Array::from(vec![7, -500])),
    );
    of_type(real(), Arc::new(numbers), &["-500", "7", "-500"]);
    let nothing = DictionaryArray::<Int8Type>::new(
        Int8Array::from(vec![None, None]),
        Arc::new(StringArray::from(Vec::<&str>::new())),
    );
    of_type(word(), Arc::new(nothing), &["", ""]);
    of_type(word(), Arc::new(NullArray::new(2)), &["", ""]);
    let of_cents = ["-1.50", "0.03", ""];
    let small = Decimal32Array::from(vec![Some(-150), Some(3), None]);
    of_type(
        word(),
        Arc::new(small.with_precision_and_scale(9, 2).unwrap()),
        &of_cents,
    );
    let long = Decimal128Array::from(vec![Some(-150), Some(3), None]);
    of_type(
        real(),
        Arc::new(long.with_precision_and_scale(18, 2).unwrap()),
        &of_cents,
    );
}

#[test]
fn what_parquet_refuses_is_refused_in_the_same_words() {
    let schema = Schema::builder("d")
        .columns([number("x", 0..=9)])
        .build()
        .unwrap();
    let whole = Intake::everything(Arc::new(schema), Keep::Bins);
    let said = |array: ArrayRef| {
        let batch = RecordBatch::try_from_iter([("x", array)]).unwrap();
        read(&[batch], &whole).unwrap_err().to_string()
    };
    let decimals = Decimal128Array::from(vec![1]);
    let kinds: [(ArrayRef, &str); 8] = [
        (Arc::new(Date32Array::from(vec![1])), "dates"),
        (Arc::new(TimestampMillisecondArray::from(vec![1])), "times"),
        (Arc::new(DurationSecondArray::from(vec![1])), "times"),
        (Arc::new(Float16Array::new_null(1)), "half-precision numbers"),
        (
            Arc::new(decimals.clone().with_precision_and_scale(19, 2).unwrap()),
            "decimals as bytes",
        ),
        (Arc::new(Decimal256Array::new_null(1)), "decimals as bytes"),
        (
            Arc::new(decimals.with_precision_and_scale(9, -2).unwrap()),
            "decimals with an invalid scale",
        ),
        (Arc::new(FixedSizeBinaryArray::new_null(2, 1)), "bytes"),
    ];
    for (array, what) in kinds {
        let mend = "make it a number, a truth value or text before, or say type = \"skip\"";
        assert_eq!(said(array), format!("the frame: column 'x' holds {what}; {mend}"));
    }
    let nested = StructArray::from(
        RecordBatch::try_from_iter([("y", Arc::new(Int8Array::from(vec![1])) as ArrayRef)]).unwrap(),
    );
    assert_eq!(
        said(Arc::new(nested)),
        "the frame: column 'x' is nested; give each of its parts a column of its own"
    );
    // Whoever skips a column may have anything in it.
    let skipped = Schema::builder("d").columns([number("y", 0..=9), privet::data::schema::skip("x")]);
    let skipped = Intake::everything(Arc::new(skipped.build().unwrap()), Keep::Bins);
    let y: ArrayRef = Arc::new(Int8Array::from(vec![1]));
    let dates: ArrayRef = Arc::new(Date32Array::from(vec![1]));
    let batch = RecordBatch::try_from_iter([("x", dates), ("y", y)]).unwrap();
    assert_eq!(read(&[batch], &skipped).unwrap().rows(), 1);
    // Ids with fractions.
    let people = Schema::builder("d")
        .columns([id("x"), number("y", 0..=9)])
        .unit("x")
        .build()
        .unwrap();
    let people = Intake::everything(Arc::new(people), Keep::Bins);
    let reals: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    let batch = RecordBatch::try_from_iter([("x", Arc::clone(&reals)), ("y", reals)]).unwrap();
    assert_eq!(
        read(&[batch], &people).unwrap_err().to_string(),
        "the frame: column 'x' tells people apart and holds numbers with fractions; make them whole numbers or text before"
    );
}
