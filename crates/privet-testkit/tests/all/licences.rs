//! What a user of Privet may be asked to comply with.

use privet_testkit::licences::{Agreement, packages};
use serde_json::{Value, json};

const AGREED: Agreement = Agreement {
    licences: &[
        "MIT",
        "Apache-2.0",
        "Apache-2.0 WITH LLVM-exception",
        "BSD-3-Clause",
        "CC0-1.0",
        "Unicode-3.0",
        "Zlib",
    ],
    read: &[],
};

#[test]
fn every_dependency_has_an_agreed_licence() {
    let packages = packages(env!("CARGO_MANIFEST_DIR"));
    assert!(packages.len() > 50, "the whole tree, not only the workspace");
    AGREED.expect_of(&packages);
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
        assert!(AGREED.objection(expression).is_some(), "{expression}");
    }
    for expression in [
        "MIT OR GPL-3.0-only",
        "MIT/Apache-2.0",
        "(MIT OR GPL-2.0-only) AND Unicode-3.0",
    ] {
        assert_eq!(AGREED.objection(expression), None);
    }
    let package = |licence: Value, file: Value| json!({ "name": "unread", "license": licence, "license_file": file, "manifest_path": "Cargo.toml" });
    for (licence, file) in [
        ("GPL-3.0-only".into(), Value::Null),
        (Value::Null, "LICENSE".into()),
        (Value::Null, Value::Null),
    ] {
        assert!(AGREED.object_to(&package(licence, file)).is_some());
    }
    assert_eq!(AGREED.object_to(&package("MIT".into(), Value::Null)), None);
}

/// An agreement with a licence that nobody needs, or a file that nobody has, or without one that somebody needs.
#[test]
fn nothing_stands_in_the_tables_in_vain() {
    let mit = json!({ "name": "a", "id": "a", "license": "MIT OR Zlib" });
    let complains = |licences: &'static [&'static str], read: &'static [(&str, &str, &str)]| {
        let agreement = Agreement { licences, read };
        let packages = [mit.clone()];
        std::panic::catch_unwind(|| agreement.expect_of(&packages)).is_err()
    };
    assert!(!complains(&["MIT"], &[]));
    assert!(complains(&["MIT", "Unicode-3.0"], &[]));
    assert!(complains(&["MIT"], &[("a", "MIT", "Permission")]));
    assert!(complains(&["Unicode-3.0"], &[]));
}
