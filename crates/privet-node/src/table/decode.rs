//! What foreign bytes may do to the readers: nothing but an error. The body of the fuzz target `table`.

use std::io::Cursor;
use std::num::NonZeroU32;
use std::sync::Arc;

use privet::data::schema::{Column, Declared, Extras, Kind, Label, Layout, Number, Unit};
use privet::data::{Intake, Keep, Schema};

use super::{Csv, Extra, read_parquet};

/// Reads `bytes` as a table of a fixed schema, as Parquet if they begin so, else as text in blocks of several sizes,
/// which must agree.
pub fn decode(bytes: &[u8]) {
    let Ok(schema) = schema() else { return };
    let intake = Intake::new(Arc::new(schema), Keep::Values);
    if bytes.starts_with(b"PAR1") {
        let _ = read_parquet("t", Cursor::new(bytes), &intake, (Extra::Ignore, &|_, _| {}));
        return;
    }
    let read = |block: usize| {
        let csv = Csv {
            block,
            ..Csv::new("t", Extra::Ignore)
        };
        csv.read(bytes, &intake, &|| {}).map(|_| ())
    };
    let whole = read(1 << 20);
    for block in [1, 7, 64] {
        assert_eq!(read(block), whole, "blocks of {block}");
    }
}

fn schema() -> Result<Schema, privet::Error> {
    let values = |words: &[&str]| Declared::new(words.iter().map(|&word| word.into()).collect(), None);
    let columns = [
        ("who", Kind::Id),
        ("age", Kind::Number(Number::new(0.0, 120.0, Extras::default())?)),
        ("blood", Kind::Category(values(&["A", "B", "0"])?)),
        ("outcome", Kind::Label(Label::Classes(values(&["no", "yes"])?))),
    ];
    let columns = columns.map(|(name, kind)| Column {
        name: name.into(),
        kind,
        private: true,
        measure: None,
    });
    let unit = Unit {
        column: Some("who".into()),
        rows: NonZeroU32::MIN,
    };
    let layout = Layout {
        comment: Some(b'#'),
        ..Layout::default()
    };
    let missing = Schema::MISSING.map(String::from).to_vec();
    Schema::new("fuzz", unit, layout, missing, columns.into())
}
