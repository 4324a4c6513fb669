//! Walls hold: each program in `walls/` is refused by the compiler, with the error code its first line names.
//!
//! Codes, not texts: the wording of the compiler changes with every release, and a doc test marked `compile_fail` passes
//! for *any* error, a typo included (stable rustdoc ignores codes). The first line of a case is
//! `//! E0624: why this must not compile`, or `//! compiles: …` for a positive control. The set of codes must be exactly the
//! expected one.
//!
//! The cases are the programs of a throwaway package that depends on this crate as a user would (default features, the
//! workspace's lock file), checked once, without network, in a target directory of its own: the outer cargo may hold the
//! lock of the other. Only with `PRIVET_FULL=1`, as the project's own checks set it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use privet_testkit::skipped::full;
use serde_json::Value;

const CRATE: &str = env!("CARGO_MANIFEST_DIR");

/// A program and what the compiler should say.
struct Case {
    name: String,
    path: PathBuf,
    /// No code: it should compile.
    code: Option<String>,
}

/// What the compiler said about one program.
#[derive(Default)]
struct Outcome {
    built: bool,
    codes: BTreeSet<String>,
    texts: Vec<String>,
}

/// Reads the first line of a case: the expected code, or none for a control.
fn expectation(source: &str) -> Result<Option<String>, String> {
    let first = source.lines().next().unwrap_or_default();
    let (head, reason) = first
        .strip_prefix("//! ")
        .and_then(|rest| rest.split_once(": "))
        .ok_or_else(|| format!("the first line is not `//! E0000: reason` but `{first}`"))?;
    let is_code = head.len() == 5 && head.starts_with('E') && head[1..].bytes().all(|b| b.is_ascii_digit());
    match head {
        _ if reason.trim().is_empty() => Err(format!("`{first}` gives no reason")),
        "compiles" => Ok(None),
        _ if is_code => Ok(Some(head.into())),
        _ => Err(format!("`{head}` is no error code")),
    }
}

/// What is wrong with an outcome, if anything.
fn complaint(code: Option<&str>, outcome: &Outcome) -> Option<String> {
    let expected: BTreeSet<String> = code.map(String::from).into_iter().collect();
    let said = outcome.texts.join("\n");
    match code {
        None if outcome.built && outcome.codes.is_empty() => None,
        None => Some(format!("should compile, but: {:?}\n{said}", outcome.codes)),
        Some(code) if outcome.built => Some(format!("should fail with {code}, but compiles")),
        Some(_) if outcome.codes == expected => None,
        Some(code) => Some(format!(
            "should fail with {code} alone, but: {:?}\n{said}",
            outcome.codes
        )),
    }
}

fn cases() -> Vec<Case> {
    let entries = fs::read_dir(Path::new(CRATE).join("tests/walls")).expect("the folder of cases");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let case = |path: PathBuf| {
        assert_eq!(
            path.extension().and_then(|e| e.to_str()),
            Some("rs"),
            "{} is no case",
            path.display()
        );
        let source = fs::read_to_string(&path).expect("a readable case");
        let code = expectation(&source).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Case {
            name: path.file_stem().expect("a name").to_string_lossy().into(),
            path,
            code,
        }
    };
    paths.into_iter().map(case).collect()
}

/// The throwaway package: one program for each case.
fn package(cases: &[Case]) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("walls");
    fs::create_dir_all(&root).expect("a folder for the package");
    // A JSON string is a TOML basic string.
    let quote = |path: &Path| Value::from(path.to_string_lossy()).to_string();
    let mut manifest = format!(
        "[package]\nname = \"walls\"\nedition = \"2024\"\nautobins = false\n\n[workspace]\n\n\
         [dependencies]\nprivet = {{ path = {} }}\nserde = \"1\"\n",
        quote(Path::new(CRATE))
    );
    for case in cases {
        manifest += &format!(
            "\n[[bin]]\nname = \"{}\"\npath = {}\n",
            case.name,
            quote(&case.path)
        );
    }
    fs::write(root.join("Cargo.toml"), manifest).expect("a manifest");
    fs::copy(Path::new(CRATE).join("../../Cargo.lock"), root.join("Cargo.lock")).expect("the lock file");
    root
}

fn check(root: &Path) -> (BTreeMap<String, Outcome>, String) {
    let output = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
        .args([
            "check",
            "--offline",
            "--keep-going",
            "--bins",
            "--message-format=json",
            "--target-dir",
        ])
        .arg(root.join("target"))
        .current_dir(root)
        // A lint that the outer build turns into an error is not what a case is about.
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        .output()
        .expect("cargo runs");
    let mut outcomes = BTreeMap::<String, Outcome>::new();
    let lines = String::from_utf8(output.stdout).expect("cargo writes UTF-8");
    for line in lines.lines() {
        let event: Value = serde_json::from_str(line).expect("cargo writes JSON lines");
        let target = &event["target"];
        if target["kind"] != serde_json::json!(["bin"]) {
            continue;
        }
        let outcome = outcomes
            .entry(target["name"].as_str().expect("a target has a name").into())
            .or_default();
        let message = &event["message"];
        let text = message["message"].as_str().unwrap_or_default();
        if event["reason"] == "compiler-artifact" {
            outcome.built = true;
        } else if message["level"] == "error" && !text.starts_with("aborting due to") {
            // Syntax errors and missing macros have no code; they must not pass for a wall.
            outcome.codes.insert(
                message["code"]["code"]
                    .as_str()
                    .unwrap_or("an error without code")
                    .into(),
            );
            outcome
                .texts
                .push(message["rendered"].as_str().unwrap_or(text).into());
        }
    }
    (outcomes, String::from_utf8_lossy(&output.stderr).into_owned())
}

/// It checks the library once more, as a package of its own, which takes as long as half of all other tests here.
#[test]
fn every_wall_holds() {
    if !full() {
        return;
    }
    let cases = cases();
    assert!(
        cases.iter().any(|case| case.code.is_none()),
        "a positive control is needed"
    );
    let (outcomes, said) = check(&package(&cases));
    let nothing = Outcome::default();
    let complaints: Vec<String> = cases
        .iter()
        .filter_map(|case| {
            let outcome = outcomes.get(&case.name).unwrap_or(&nothing);
            complaint(case.code.as_deref(), outcome).map(|why| format!("{}: {why}", case.name))
        })
        .collect();
    assert!(
        complaints.is_empty(),
        "{}\n\ncargo said:\n{said}",
        complaints.join("\n")
    );
}

#[test]
fn the_first_line_is_read_strictly() {
    assert_eq!(
        expectation("//! E0624: private\nfn main() {}"),
        Ok(Some("E0624".into()))
    );
    assert_eq!(expectation("//! compiles: a control"), Ok(None));
    for wrong in [
        "",
        "fn main() {}",
        "//! E0624",
        "//! E0624: ",
        "//! E62: x",
        "//! fails: x",
        "// E0624: x",
    ] {
        assert!(expectation(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_wall_that_does_not_hold_is_noticed() {
    let outcome = |built, codes: &[&str]| Outcome {
        built,
        codes: codes.iter().map(|c| String::from(*c)).collect(),
        texts: Vec::new(),
    };
    assert!(complaint(Some("E0624"), &outcome(false, &["E0624"])).is_none());
    assert!(complaint(None, &outcome(true, &[])).is_none());
    // It compiles; it fails otherwise, or otherwise too; it was never reached because the library failed.
    assert!(complaint(Some("E0624"), &outcome(true, &[])).is_some());
    assert!(complaint(Some("E0624"), &outcome(false, &["E0599"])).is_some());
    assert!(
        complaint(
            Some("E0624"),
            &outcome(false, &["E0624", "an error without code"])
        )
        .is_some()
    );
    assert!(complaint(Some("E0624"), &outcome(false, &[])).is_some());
    assert!(complaint(None, &outcome(false, &[])).is_some());
    assert!(complaint(None, &outcome(false, &["E0433"])).is_some());
}
