//! Files that are not tables, each with all the words that its owner sees.

use std::io::Write;

use privet::data::schema::Layout;
use privet_node::table::read;

use super::schemas::{intake, patients};

/// What is said about a file called `p.csv` with these bytes.
fn said(bytes: &[u8], layout: Layout) -> String {
    said_of("p.csv", bytes, layout)
}

pub(crate) fn said_of(name: &str, bytes: &[u8], layout: Layout) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let error = read(&path, &intake(&patients(layout)), &|_, _| {});
    let Err(privet::Error::Data(text)) = error else {
        panic!("read: {:?}", String::from_utf8_lossy(bytes))
    };
    let folder = format!("{}{}", folder.path().display(), std::path::MAIN_SEPARATOR);
    text.to_string().replace(&folder, "")
}

#[test]
fn each_malformed_text_says_what_where_and_how_to_mend_it() {
    let header = "age,blood,outcome\n";
    let cases: &[(&str, &str)] = &[
        (
            "",
            "p.csv: the file is empty; its first line must have the columns' names",
        ),
        (
            "\n\r\n\n",
            "p.csv: the file is empty; its first line must have the columns' names",
        ),
        (
            "age,blood\n1,A\n",
            "p.csv: column 'outcome' is declared in the schema and not in the file; it has 'age', 'blood'",
        ),
        (
            "Age;blood;outcome\n1;A;no\n",
            "p.csv: columns 'age', 'blood', 'outcome' are declared in the schema and not in the file; it has \
             'Age;blood;outcome'; is another delimiter used? The schema says \",\"",
        ),
        (
            "44,Smith,44\n",
            "p.csv: columns 'age', 'blood', 'outcome' are declared in the schema, and the first line does not have the declared names. If it is a \
             row, write in the schema, below [file], header = false. If it has names, correct them, there or in the schema. The line is not \
             shown, since it may be somebody's row",
        ),
        (
            "age,blood,outcome,room\n",
            "p.csv: column 'room' is not declared in the schema; add a line such as\n  room = { type = \"skip\" }   # or another type, with its bounds or values",
        ),
        (
            "bed no,age,blood,outcome,room\n",
            "p.csv: columns 'bed no', 'room' are not declared in the schema; add lines such as\n  \
             \"bed no\" = { type = \"skip\" }   # or another type, with its bounds or values\n  room = { type = \"skip\" }   # or another type, with its bounds or values",
        ),
        (
            "age,blood,age,outcome\n",
            "p.csv: columns 1 and 3 are both called 'age'; rename one",
        ),
        (
            "age,blood,outcome,\n",
            "p.csv: column 4 has no name; give it one in the first line",
        ),
        (
            "{header}1,A,no\n2,B\n3,A\n",
            "p.csv, line 3: 2 cells where the first line has 3; is a cell missing, or a line broken?",
        ),
        (
            "{header}1,A,no\n\n2\n",
            "p.csv, line 4: 1 cell where the first line has 3; is a cell missing, or a line broken?",
        ),
        (
            "{header}1,5,A,no\n",
            "p.csv, line 2: 4 cells where the first line has 3; quote cells that contain the delimiter",
        ),
        (
            "{header}\"1\n\",A,no\n\"2\",B",
            "p.csv, line 4: 2 cells where the first line has 3; is a cell missing, or a line broken?",
        ),
        (
            "{header}1,A,no\n2,\"B,no\n3,A,no\n",
            "p.csv, line 3: a quote opens a cell here and is never closed; close it, or write two quotes for one inside a cell",
        ),
        (
            "age,\"blood,outcome\n1,A,no\n",
            "p.csv, line 1: a quote opens a cell here and is never closed; close it, or write two quotes for one inside a cell",
        ),
        (
            "{header}1,A,no\n2,\"\"\"B\"\",no\n3,\"x\ny\",no\n",
            "p.csv, line 3: 2 cells where the first line has 3; is a cell missing, or a line broken?",
        ),
        (
            "age,blood,outcome\r1,A,no\r2,B,yes\r",
            "p.csv, line 1: lines end with carriage returns alone; save the file with line feeds",
        ),
        (
            "age\0,blood,outcome\n",
            "p.csv, line 1: there is a zero byte; is this a table of text? If it is UTF-16, save it as UTF-8",
        ),
    ];
    for (text, expected) in cases {
        let text = text.replace("{header}", header);
        assert_eq!(said(text.as_bytes(), Layout::default()), *expected, "{text:?}");
    }
}

#[test]
fn a_file_without_names_must_have_the_schema_s_columns() {
    let headless = Layout {
        header: false,
        ..Layout::default()
    };
    assert_eq!(
        said(b"\n1,A\n", headless),
        "p.csv, line 2: 2 cells where the schema declares 3 columns; a file without names has them all, in the schema's order"
    );
    assert_eq!(
        said(b"1,A,no\n1,A,no,no\n", headless),
        "p.csv, line 2: 4 cells where the first line has 3; quote cells that contain the delimiter"
    );
}

#[test]
fn damaged_archives_are_refused() {
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    let rows: String = (0..20_000)
        .map(|i| format!("{},A,no\n", i * 7919 % 120))
        .collect();
    packed
        .write_all(format!("age,blood,outcome\n{rows}").as_bytes())
        .unwrap();
    let packed = packed.finish().unwrap();
    let short = &packed[..packed.len() / 2];
    assert_eq!(
        said_of("p.csv.gz", short, Layout::default()),
        "p.csv.gz: the file ends too early; was it copied whole?"
    );
    assert_eq!(
        said_of("p.csv.gz", &packed[..7], Layout::default()),
        "p.csv.gz: the file ends too early; was it copied whole?"
    );
    let mut damaged = packed.clone();
    let last = damaged.len() - 6;
    damaged[last] ^= 1;
    assert_eq!(
        said_of("p.csv.gz", &damaged, Layout::default()),
        "p.csv.gz: cannot be unpacked: corrupt gzip stream does not have a matching checksum"
    );
    // A malformed row before the damage comes first.
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed
        .write_all(format!("age,blood,outcome\n1,A\n{rows}").as_bytes())
        .unwrap();
    let packed = packed.finish().unwrap();
    assert_eq!(
        said_of("p.csv.gz", &packed[..packed.len() - 9], Layout::default()),
        "p.csv.gz, line 2: 2 cells where the first line has 3; is a cell missing, or a line broken?"
    );
}

#[test]
fn what_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("none.csv");
    let error = read(&path, &intake(&patients(Layout::default())), &|_, _| {});
    let text = error.err().unwrap().to_string();
    assert!(
        text.starts_with(&format!("{}: cannot be read: ", path.display())),
        "{text}"
    );
}
