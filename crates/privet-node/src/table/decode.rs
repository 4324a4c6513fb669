//! What foreign bytes may do to the readers: nothing but an error. The body of the fuzz target `table`.

use std::io::Cursor;
use std::sync::Arc;

use privet::data::{Intake, Keep, Schema};

use super::{Csv, Extra, read_parquet};

const SCHEMA: &str = r##"
dataset = "fuzz"
unit = "who"
[file]
comment = "#"
[columns]
who = { type = "id" }
age = { type = "number", min = 0, max = 120 }
blood = { type = "category", values = ["A", "B", "0"] }
outcome = { type = "label", values = ["no", "yes"] }
"##;

/// Reads `bytes` as a table of a fixed schema, as Parquet if they begin so, else as text in blocks of several sizes,
/// which must agree.
pub fn decode(bytes: &[u8]) {
    // Unwrap safety: the schema is ours, and a test reads with it.
    let schema = Schema::from_toml("schema", SCHEMA).expect("a schema");
    let intake = Intake::everything(Arc::new(schema), Keep::Values);
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
