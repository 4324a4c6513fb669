//! What the oracle adds to the licences of the workspace above: nobody who uses Privet meets it.

use privet_testkit::licences::{Agreement, packages};

const WORDS: &str = "Permission is hereby granted, free of charge, to any person obtaining a copy";

#[test]
fn every_dependency_of_the_oracle_has_an_agreed_licence() {
    let agreed = Agreement {
        licences: &["MIT", "Apache-2.0", "BSD-3-Clause", "Unicode-3.0"],
        read: &[("opendp", "MIT", WORDS), ("opendp_derive", "MIT", WORDS)],
    };
    agreed.expect_of(&packages(env!("CARGO_MANIFEST_DIR")));
}
