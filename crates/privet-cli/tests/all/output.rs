//! Output for machines, and for readers who have seen enough.

use std::fs;
use std::process::Stdio;

use crate::home::Home;
use privet::privacy::Certificate;
use privet::privacy::journal::{Entry, Head};
use serde_json::Value;

#[test]
fn machine_output_parses_and_is_exact() {
    let home = Home::new();
    home.save("model.json", &home.spend("0.123456789").unwrap());
    let json = |arguments: &[&str]| -> Value {
        let output = home.privet(arguments).arg("--json").output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{arguments:?}"
        );
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let shown = json(&["ledger", "show"]);
    assert_eq!(shown["datasets"][0]["budgets"][0]["spent"]["pure"], "0.123456789");
    assert_eq!(shown["datasets"][0]["budgets"][0]["left"]["pure"], "0.876543211");
    assert_eq!(
        json(&["ledger", "verify", "--against", "model.json"])["verified"],
        true
    );
    assert_eq!(
        json(&["ledger", "limit", "staff", "--epsilon", "1"])["created"],
        false
    );
    assert_eq!(
        json(&["ledger", "adopt", "crew", "--of", "staff"])["shares"],
        "staff"
    );
    assert_eq!(json(&["ledger", "export", "--out", "x.jsonl"])["entries"], 5);
    assert_eq!(json(&["completions", "zsh"])["shell"], "zsh");
    let demo = json(&["demo"]);
    let steps = demo["steps"].as_array().unwrap();
    let exits: Vec<_> = steps.iter().map(|step| step["exit"].as_u64().unwrap()).collect();
    assert_eq!(exits, [0, 0, 0, 0, 0, 0, 0, 2, 3, 0, 0, 0, 0, 0, 0, 0]);
    let paid: Certificate = serde_json::from_value(steps[2]["answer"]["certificate"].clone()).unwrap();
    assert!(paid.to_string().contains("ε = 0.8 at δ = 0.000001"), "{paid}");
    let mut head = Head::empty();
    for line in fs::read_to_string(home.path("x.jsonl")).unwrap().lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let entry = Entry::parse(
            row["text"].as_str().unwrap().into(),
            row["hash"].as_str().unwrap().into(),
        )
        .unwrap();
        assert!(entry.follows(&head), "an export can be checked alone");
        head = entry.head();
    }
}

#[test]
fn a_reader_who_has_seen_enough_is_no_error() {
    let home = Home::new();
    for arguments in [&["completions", "bash"][..], &["ledger", "show"], &["--help"]] {
        let mut child = home
            .privet(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success() && output.stderr.is_empty(),
            "{arguments:?}: {output:?}"
        );
    }
}
