//! Who can read what Privet writes: its owner alone, whatever the process would allow.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use crate::aliases::shop;
use crate::home::{Home, told};

/// Runs a command in a process that would let everybody read and write its files.
fn openly(home: &Home, arguments: &str) {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "umask 000; exec \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_privet"),
        ])
        .args(arguments.split(' '))
        .current_dir(home.folder.path())
        .env("PRIVET_LEDGER", home.ledger());
    let (exit, text) = told(command);
    assert_eq!(exit, 0, "{arguments}: {text}");
}

#[test]
fn every_file_is_its_owners_alone() {
    let home = shop();
    let job = "setting = \"plain\"\nschema = \"open.toml\"\ndata = \"open.csv\"\noutput = \"model.privet\"\n[algorithm]\nname = \"stumps\"\n";
    fs::write(home.path("job.toml"), job).unwrap();
    let schema = "dataset = \"open\"\n[columns]\nx = { type = \"number\", min = 0, max = 9, private = false }\n\
                  y = { type = \"label\", values = [\"no\", \"yes\"], private = false }\n";
    fs::write(home.path("open.toml"), schema).unwrap();
    let rows: String = (0..40)
        .map(|i| format!("{},{}\n", i % 10, ["no", "yes"][usize::from(i % 10 > 4)]))
        .collect();
    fs::write(home.path("open.csv"), format!("x,y\n{rows}")).unwrap();
    // A file that everybody could write is replaced by one that only its owner can.
    fs::write(home.path("predictions.csv"), "old").unwrap();
    fs::set_permissions(home.path("predictions.csv"), fs::Permissions::from_mode(0o666)).unwrap();
    for arguments in [
        "desensitise shop.csv --schema shop.toml --epsilon 1 --out out.csv",
        "train job.toml",
        "predict model.privet --data open.csv --out predictions.csv --overwrite",
        "export model.privet --format onnx --out model.onnx",
        "schema draft open.csv --out draft.toml",
        "ledger export --out entries.jsonl",
    ] {
        openly(&home, arguments);
    }
    for name in [
        "out.csv",
        "out.csv.certificate.json",
        "model.privet",
        "predictions.csv",
        "model.onnx",
        "model.onnx.features.json",
        "draft.toml",
        "entries.jsonl",
        "ledger.db",
        "ledger.db.key",
        "ledger.db.signing",
    ] {
        let mode = fs::metadata(home.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

/// A draft is written for the first time: what stands there, a link too, stays.
#[test]
fn a_draft_goes_through_no_link() {
    let home = shop();
    std::os::unix::fs::symlink("elsewhere.toml", home.path("draft.toml")).unwrap();
    let (exit, text) = told(home.privet(&["schema", "draft", "shop.csv", "--out", "draft.toml"]));
    assert_eq!(exit, 5, "{text}");
    assert!(!home.path("elsewhere.toml").exists());
}

/// A ledger that an earlier version, or a copy, left open to others is its owner's alone once it is written to.
#[test]
fn a_ledger_that_others_could_read_is_closed_to_them() {
    let home = Home::new();
    let mode = |name: &str| fs::metadata(home.path(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(home.ledger(), fs::Permissions::from_mode(0o664)).unwrap();
    let (exit, text) = told(home.privet(&["ledger", "verify"]));
    assert_eq!(exit, 0, "{text}");
    assert_eq!(mode("ledger.db"), 0o664, "whoever reads changes nothing");
    let store = privet_node::ledger::Store::open(&home.ledger()).unwrap();
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        assert_eq!(mode(name), 0o600, "{name}");
    }
    drop(store);
    // What is not a ledger is left as it is.
    let other = rusqlite::Connection::open(home.path("other.db")).unwrap();
    other.execute_batch("CREATE TABLE t(x)").unwrap();
    drop(other);
    fs::set_permissions(home.path("other.db"), fs::Permissions::from_mode(0o644)).unwrap();
    assert!(privet_node::ledger::Store::open(&home.path("other.db")).is_err());
    assert_eq!(mode("other.db"), 0o644);
}
