//! What `privet predict` writes: which row is meant stands first.

use std::fs;

use crate::home::{Home, case, copy, told};
use serde_json::Value;

/// A model of public rows with the classes "=no" and "yes", and a column "row" that it does not know.
fn home(label: &str) -> Home {
    let home = Home::new();
    let schema = format!(
        "dataset = \"shop\"\n[columns]\nspent = {{ type = \"number\", min = 0, max = 100, private = false }}\n{label} = {{ type = \"label\", \
         values = [\"=no\", \"yes\"], private = false }}\nclient = {{ type = \"id\" }}\n"
    );
    fs::write(home.path("shop.toml"), schema).unwrap();
    let rows: String = (0..60)
        .map(|i| format!("{i},{},c{i}\n", ["=no", "yes"][usize::from(i > 30)]))
        .collect();
    fs::write(home.path("shop.csv"), format!("spent,{label},client\n{rows}")).unwrap();
    let job = "setting = \"plain\"\nschema = \"shop.toml\"\ndata = \"shop.csv\"\noutput = \"model.privet\"\n[algorithm]\nname = \"stumps\"\n";
    fs::write(home.path("job.toml"), job).unwrap();
    let (exit, text) = told(home.privet(&["train", "job.toml"]));
    assert_eq!(exit, 0, "{text}");
    fs::write(
        home.path("new.csv"),
        "spent,client,note\n90,?,=x\n\n5,\"a,b\",-3\n",
    )
    .unwrap();
    home
}

fn predicted(home: &Home, more: &[&str]) -> (i32, String) {
    told(home.privet(&[&["predict", "model.privet", "--data", "new.csv"], more].concat()))
}

#[test]
fn rows_are_numbered_or_carry_a_column_of_the_file() {
    let home = home("paid");
    let labels = ["--what", "labels"];
    let text = |more: &[&str]| {
        let (exit, text) = predicted(&home, &[&labels[..], more].concat());
        assert_eq!(exit, 0, "{text}");
        text
    };
    assert_eq!(text(&[]), "row,paid\n1,yes\n2,'=no\n");
    // As it is written, also where a schema would call it missing.
    assert_eq!(text(&["--id", "client"]), "client,paid\n?,yes\n\"a,b\",'=no\n");
    assert_eq!(text(&["--id", "note"]), "note,paid\n'=x,yes\n-3,'=no\n");
    assert_eq!(text(&["--id", "spent"]), "spent,paid\n90,yes\n5,'=no\n");
}

#[test]
fn json_has_the_same_columns() {
    let home = home("paid");
    let json = |more: &[&str]| -> Value {
        let (exit, text) = predicted(&home, &[&["--what", "labels", "--json"], more].concat());
        assert_eq!(exit, 0, "{text}");
        serde_json::from_str(&text).unwrap()
    };
    let numbered = json(&[]);
    assert_eq!(numbered["columns"], serde_json::json!(["row", "paid"]));
    assert_eq!(numbered["rows"], serde_json::json!([[1, "yes"], [2, "=no"]]));
    let named = json(&["--id", "note"]);
    assert_eq!(named["columns"], serde_json::json!(["note", "paid"]));
    assert_eq!(named["rows"], serde_json::json!([["=x", "yes"], ["-3", "=no"]]));
}

#[test]
fn a_column_that_is_not_there_or_has_the_name_of_a_result_is_refused() {
    let home = home("row");
    let (exit, text) = predicted(&home, &["--id", "name", "--out", "out.csv"]);
    assert_eq!(exit, 5, "{text}");
    assert!(text.contains("'name'"), "{text}");
    assert!(!home.path("out.csv").exists());
    // Two columns of one name could not be read by name.
    let (exit, text) = predicted(&home, &["--what", "labels"]);
    assert_eq!((exit, text.lines().next()), (0, Some("row_,row")), "{text}");
    fs::write(home.path("new.csv"), "spent,row\n90,x\n").unwrap();
    let (exit, text) = predicted(&home, &["--id", "row"]);
    assert_eq!(exit, 2, "{text}");
    assert!(text.contains("choose another column"), "{text}");
}

/// Rows whose columns lie apart: both ways predict from the same kept columns, so they say the same, and nothing is drawn twice.
#[test]
fn columns_and_branches_predict_the_same_rows_alike() {
    let home = Home::new();
    copy(&case("prediction"), home.folder.path());
    let run = |arguments: &[&str]| {
        let (exit, text) = told(home.privet(arguments));
        assert_eq!(exit, 0, "{text}");
        text
    };
    for dataset in ["shop", "new-shop"] {
        run(&[
            "ledger",
            "limit",
            dataset,
            "--epsilon",
            "0",
            "--change",
            "replace",
        ]);
    }
    run(&["train", "job.toml", "--not-protected"]);
    run(&["predict", "predict.toml", "--not-protected"]);
    run(&[
        "predict",
        "branches.toml",
        "--not-protected",
        "--out",
        "numbered.csv",
    ]);
    run(&["predict", "branches.toml", "--not-protected", "--id", "customer"]);
    let read = |name: &str| fs::read_to_string(home.path(name)).unwrap();
    let columns = read("predictions.csv");
    assert_eq!(columns, read("numbered.csv"));
    // The first four of the bank's twenty people are unknown to the shop.
    let firsts = |text: &str| -> Vec<String> {
        let first = |line: &str| line.split(',').next().unwrap().to_owned();
        text.lines().map(first).collect()
    };
    let numbers = (5..=20).map(|row: u32| row.to_string());
    let expected: Vec<String> = ["row".to_owned()].into_iter().chain(numbers).collect();
    assert_eq!(firsts(&columns), expected);
    let ids = (4..20).map(|id| format!("q{id}"));
    let expected: Vec<String> = ["customer".to_owned()].into_iter().chain(ids).collect();
    assert_eq!(firsts(&read("branches.csv")), expected);
    let released = "3 columns desensitised for the label holder";
    assert_eq!(run(&["ledger", "show", "new-shop"]).matches(released).count(), 1);
}
