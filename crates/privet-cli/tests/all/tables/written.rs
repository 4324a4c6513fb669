//! Tables that Privet writes: what it and others read back.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use crate::home::{Home, told};
use privet::data::Schema;
use privet_node::table::read;
use privet_testkit::skipped::runs;

use super::schemas::{cells, intake};

const TRICKY: [&str; 9] = [
    "=1+1",
    "+cmd",
    "-",
    "@sum",
    "-1",
    "a,b",
    "say \"x\"",
    "＝d",
    "' quoted",
];

fn schema(columns: &str) -> String {
    format!("dataset = \"shop\"\n[columns]\n{columns}\n")
}

fn tricky() -> String {
    let values = TRICKY.map(|value| format!("{value:?}")).join(", ");
    schema(&format!(
        "\"=town\" = {{ type = \"category\", values = [{values}] }}"
    ))
}

/// Writes the columns of this table with so much ε that no value changes.
fn desensitised(schema: &str, table: &str) -> (Home, i32, String) {
    desensitised_with(schema, table, "")
}

fn desensitised_with(schema: &str, table: &str, more: &str) -> (Home, i32, String) {
    let home = Home::new();
    fs::write(home.path("shop.toml"), schema).unwrap();
    fs::write(home.path("shop.csv"), table).unwrap();
    let limit = ["ledger", "limit", "shop", "--epsilon", "0", "--change", "replace"];
    assert_eq!(told(home.privet(&limit)).0, 0);
    let arguments = format!("desensitise shop.csv --schema shop.toml --epsilon 600 --out out.csv {more}");
    let (exit, text) = told(home.privet(&arguments.split_whitespace().collect::<Vec<_>>()));
    (home, exit, text)
}

/// One column, a value in each row, and rows without a value.
fn one_column() -> String {
    let row = |value: &str| match value.contains([',', '"']) {
        true => format!("\"{}\"\n", value.replace('"', "\"\"")),
        false => format!("{value}\n"),
    };
    let rows = TRICKY.map(|value| row(value) + "\"\"\n");
    format!("=town\n{}", rows.concat())
}

#[test]
fn what_is_written_is_read_back_as_the_same_table() {
    let (home, exit, text) = desensitised(&tricky(), &one_column());
    assert_eq!(exit, 0, "{text}");
    let written = fs::read_to_string(home.path("out.csv")).unwrap();
    for cell in [
        "'=town", "'=1+1", "'+cmd", "'-", "'@sum", "-1", "'＝d", "' quoted",
    ] {
        assert!(written.lines().any(|line| line == cell), "{cell}: {written}");
    }
    assert!(
        written.lines().all(|line| !line.is_empty()),
        "an empty line is no row to most readers: {written}"
    );
    let schema = Arc::new(Schema::from_toml("shop.toml", &tricky()).unwrap());
    let of = |name: &str| cells(read(&home.path(name), &intake(&schema), &|_, _| {}).unwrap());
    assert!(of("out.csv") == of("shop.csv"));
    assert_eq!(of("out.csv").rows(), 2 * TRICKY.len());
}

/// As Python's `csv` module reads it: as many rows, each of one cell, and the documented guard.
#[test]
fn python_reads_as_many_rows() {
    let script = "import csv, json, sys\nrows = [r for r in csv.reader(open(sys.argv[1], encoding='utf-8', newline=''))]\nprint(json.dumps(rows))";
    let found = Command::new("python3").arg("--version").output();
    if !runs(
        "what Python reads (python3)",
        found.is_ok_and(|out| out.status.success()),
    ) {
        return;
    }
    let (home, exit, text) = desensitised(&tricky(), &one_column());
    assert_eq!(exit, 0, "{text}");
    let output = Command::new("python3")
        .args(["-c", script])
        .arg(home.path("out.csv"))
        .output()
        .unwrap();
    let rows: Vec<Vec<String>> = serde_json::from_slice(&output.stdout).unwrap();
    let cell = |value: &str| match value {
        "=1+1" | "+cmd" | "-" | "@sum" | "＝d" => format!("'{value}"),
        value => value.into(),
    };
    let expected = TRICKY
        .iter()
        .flat_map(|value| [vec![cell(value)], vec![String::new()]]);
    assert_eq!(rows[0], ["'=town"]);
    assert_eq!(rows[1..], expected.collect::<Vec<_>>());
}

#[test]
fn values_that_could_not_be_told_apart_are_refused_before_anything_is_drawn() {
    for columns in [
        "town = { type = \"category\", values = [\"=a\", \"'=a\", \"b\"] }",
        "\"=a\" = { type = \"flag\" }\n\"'=a\" = { type = \"flag\" }",
    ] {
        let (home, exit, text) = desensitised(&schema(columns), "town,=a,'=a\nb,1,0\n");
        assert_eq!(exit, 2, "{text}");
        assert!(text.contains("spreadsheet programs would run"), "{text}");
        assert!(!home.path("out.csv").exists());
    }
    // A label goes to the same file.
    let columns = "\"=a\" = { type = \"flag\" }\n\"'=a\" = { type = \"label\", values = [\"no\", \"yes\"] }";
    let (home, exit, text) = desensitised_with(&schema(columns), "=a,'=a\n1,no\n", "--label-epsilon 1");
    assert_eq!(exit, 2, "{text}");
    assert!(text.contains("spreadsheet programs would run"), "{text}");
    assert!(!home.path("out.csv").exists());
}
