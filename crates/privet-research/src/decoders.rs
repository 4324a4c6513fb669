//! What foreign bytes may do to readers of files: nothing but an error. The bodies of the fuzz targets `table`,
//! `job` and `network`.

use std::io::Cursor;
use std::path::Path;
use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema};
use privet_node::job::{Job, JobFiles, Setting};
use privet_node::table::{Csv, read_parquet};

const TABLE: &str = r##"
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
pub fn table(bytes: &[u8]) {
    // Unwrap safety: the schema is ours, and a test reads with it.
    let schema = Schema::from_toml("schema", TABLE).expect("a schema");
    let schema = Arc::new(schema);
    // Columns that are not declared are refused by the first, and passed over by the second.
    table_by(bytes, &Intake::everything(Arc::clone(&schema), Keep::Values));
    table_by(bytes, &Intake::features_only(schema, Keep::Values));
}

fn table_by(bytes: &[u8], intake: &Intake) {
    if bytes.starts_with(b"PAR1") {
        let _ = read_parquet("t", Cursor::new(bytes), intake, &|_, _| {});
        return;
    }
    let read = |block: usize| {
        let csv = Csv {
            block,
            ..Csv::new("t")
        };
        csv.read(bytes, intake, &|| {}).map(|_| ())
    };
    let whole = read(1 << 20);
    for block in [1, 7, 64] {
        assert_eq!(read(block), whole, "blocks of {block}");
    }
}

/// What a connection brings: see [`privet_node::net::decode`].
pub fn network(bytes: &[u8]) {
    privet_node::net::decode(bytes);
}

/// Reads `bytes` as a job, with a fixed schema for each kind of party: what is accepted is whole.
pub fn job(bytes: &[u8]) {
    const SCHEMA: &str = "dataset = \"d\"\n[columns]\nx = { type = \"flag\" }\ny = { type = \"label\", values = [\"a\", \"b\"] }\n";
    const OTHER: &str = "dataset = \"e\"\n[columns]\nwho = { type = \"id\" }\nz = { type = \"integer\", min = 0, max = 99 }\n";
    let text = String::from_utf8_lossy(bytes);
    let schema = |path: &Path| {
        let other = path.to_string_lossy().contains("other");
        Schema::from_toml("schema", if other { OTHER } else { SCHEMA })
    };
    let files = JobFiles {
        schema: &schema,
        model: &|_| Err(Error::data("there is no model")),
    };
    let job = Job::parse("job", &text, Path::new(""), files);
    if let Ok(job) = job {
        let (Setting::Plain(_, source) | Setting::Central(_, source)) = &job.setting else {
            return;
        };
        assert!(source.data != job.output && source.schema.label().is_some());
    }
}
