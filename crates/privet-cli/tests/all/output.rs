//! Output for machines, and for readers who have seen enough.

use std::fs;
use std::process::Stdio;

use crate::home::Home;
use crate::signing::{clinic, fails, ok};
use privet::privacy::Certificate;
use privet::privacy::journal::{Entry, Head};
use privet_node::ledger::Store;
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

/// What was paid for is not lost because its reader's disk is full.
#[cfg(target_os = "linux")]
#[test]
fn a_paid_report_that_cannot_be_shown_is_kept() {
    let home = clinic();
    ok(&home, &["train", "job.toml"]);
    let evaluate = |more: &[&str]| {
        let arguments = ["evaluate", "model.privet", "--data", "clinic.csv"];
        home.privet(&[&arguments[..], more].concat())
    };
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let folder = home.path("kept");
    fs::create_dir(&folder).unwrap();
    let output = evaluate(&["--spend", "0.1"])
        .env("TMPDIR", &folder)
        .stdout(full)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("is spent, so it was written to "), "{said}");
    let kept = fs::read_dir(&folder).unwrap().next().unwrap().unwrap().path();
    assert!(said.contains(&*kept.to_string_lossy()), "{said}");
    assert!(
        fs::read_to_string(kept)
            .unwrap()
            .contains("counted with noise for ε = 0.1")
    );
    // Refused before it is paid: a place that cannot be written to, an input, and figures that are not for publishing.
    let entries = || Store::read_only(&home.ledger()).unwrap().rows().unwrap().len();
    let before = entries();
    fs::write(home.path("taken.json"), "{}").unwrap();
    let given = [
        "evaluate",
        "model.privet",
        "--data",
        "clinic.csv",
        "--spend",
        "0.1",
        "--out",
    ];
    for (out, exit) in [
        ("/dev/full", 2),
        ("clinic.csv", 2),
        ("model.privet", 2),
        ("taken.json", 2),
        ("no/x.json", 5),
    ] {
        fails(&home, exit, &[&given[..], &[out]].concat());
    }
    fails(
        &home,
        2,
        &[
            "evaluate",
            "model.privet",
            "--data",
            "clinic.csv",
            "--out",
            "x.json",
        ],
    );
    assert_eq!(entries(), before);
}
