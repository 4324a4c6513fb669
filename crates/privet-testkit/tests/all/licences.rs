//! Every dependency, at any depth and for any platform, comes under a licence that was agreed to.
//!
//! Works without network once `cargo fetch --locked` has run: it reads the lock file and the local registry cache.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use spdx::{Expression, LicenseReq, Licensee, ParseMode};

/// What a user of Privet may be asked to comply with. Only what the tree needs stands here: adding a line is a decision.
const AGREED: &[&str] = &[
    "MIT",
    "Apache-2.0",
    "BSD-3-Clause",
    "CC0-1.0",
    "Unicode-3.0",
    "Zlib",
];

/// Packages that declare a file instead of an expression: the licence somebody read there, and words by which the file is
/// recognised, so that a changed file is read again.
const READ: &[(&str, &str, &str)] = &[
    (
        "opendp",
        "MIT",
        "Permission is hereby granted, free of charge, to any person obtaining a copy",
    ),
    (
        "opendp_derive",
        "MIT",
        "Permission is hereby granted, free of charge, to any person obtaining a copy",
    ),
];

fn agreed(requirement: &LicenseReq) -> bool {
    AGREED.iter().any(|name| {
        Licensee::parse(name)
            .expect("a licence's name")
            .satisfies(requirement)
    })
}

/// Why an expression cannot be complied with by agreed licences alone, if so.
fn objection(expression: &str) -> Option<String> {
    // Old manifests write "MIT/Apache-2.0"; anything else that is not SPDX is an objection by itself.
    let mode = ParseMode {
        allow_slash_as_or_operator: true,
        ..ParseMode::STRICT
    };
    match Expression::parse_mode(expression, mode) {
        Ok(parsed) if parsed.evaluate(agreed) => None,
        Ok(_) => Some(format!("{expression} is not agreed to")),
        Err(e) => Some(format!("{expression:?} is no licence expression: {}", e.reason)),
    }
}

fn object_to(package: &Value) -> Option<String> {
    let name = package["name"].as_str().expect("a package has a name");
    if let Some(expression) = package["license"].as_str() {
        return objection(expression);
    }
    let Some(file) = package["license_file"].as_str() else {
        return Some("no licence at all".into());
    };
    let Some((_, licence, words)) = READ.iter().find(|(read, ..)| *read == name) else {
        return Some(format!("a licence file that nobody has read: {file}"));
    };
    let manifest = Path::new(
        package["manifest_path"]
            .as_str()
            .expect("a package has a manifest"),
    );
    let text = std::fs::read_to_string(manifest.with_file_name(file)).unwrap_or_default();
    // Line breaks are not part of a licence.
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.contains(words) {
        objection(licence)
    } else {
        Some(format!("{file} no longer reads as {licence}"))
    }
}

/// All packages of the tree: for every platform where they have been fetched (as CI does), else for this one.
fn packages() -> Vec<Value> {
    let metadata = |arguments: &[&str]| {
        Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
            .args(["metadata", "--locked", "--offline", "--format-version", "1"])
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo runs")
    };
    let mut output = metadata(&[]);
    if !output.status.success() {
        output = metadata(&["--filter-platform", &host()]);
    }
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "run `cargo fetch --locked` first:\n{complaint}"
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    metadata["packages"]
        .as_array()
        .expect("a list of packages")
        .clone()
}

#[test]
fn every_dependency_has_an_agreed_licence() {
    let packages = packages();
    assert!(packages.len() > 50, "the whole tree, not only the workspace");
    let objections: Vec<String> = packages
        .iter()
        .filter_map(|package| object_to(package).map(|why| format!("{}: {why}", package["id"])))
        .collect();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}

#[test]
fn nothing_stands_in_the_tables_in_vain() {
    let packages = packages();
    for (name, ..) in READ {
        assert!(
            packages
                .iter()
                .any(|p| p["name"] == *name && p["license"].is_null()),
            "{name}"
        );
    }
    for name in AGREED {
        let without = |requirement: &LicenseReq| {
            let others = AGREED.iter().filter(|other| *other != name);
            others
                .map(|other| Licensee::parse(other).expect("a name"))
                .any(|l| l.satisfies(requirement))
        };
        let mode = ParseMode {
            allow_slash_as_or_operator: true,
            ..ParseMode::STRICT
        };
        let needed = |p: &Value| {
            let parsed = p["license"]
                .as_str()
                .and_then(|e| Expression::parse_mode(e, mode).ok());
            parsed.is_some_and(|e| !e.evaluate(without))
        };
        assert!(packages.iter().any(needed), "no package needs {name}");
    }
}

#[test]
fn what_is_not_agreed_to_is_refused() {
    let refused = [
        "GPL-3.0-only",
        "GPL-3.0",
        "AGPL-3.0-or-later",
        "MIT AND GPL-3.0-only",
        "GPL-3.0-only WITH Classpath-exception-2.0",
        "LicenseRef-Proprietary",
        "do what you like",
        "",
    ];
    for expression in refused {
        assert!(objection(expression).is_some(), "{expression}");
    }
    for expression in [
        "MIT OR GPL-3.0-only",
        "MIT/Apache-2.0",
        "(MIT OR GPL-2.0-only) AND Unicode-3.0",
    ] {
        assert_eq!(objection(expression), None);
    }
    let package = |licence: Value, file: Value| serde_json::json!({ "name": "unread", "license": licence, "license_file": file, "manifest_path": "Cargo.toml" });
    assert!(object_to(&package("GPL-3.0-only".into(), Value::Null)).is_some());
    assert!(object_to(&package(Value::Null, "LICENSE".into())).is_some());
    assert!(object_to(&package(Value::Null, Value::Null)).is_some());
    assert_eq!(object_to(&package("MIT".into(), Value::Null)), None);
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().expect("rustc runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.expect("rustc names its host").to_owned()
}
