//! Ways around the import order, each of which must be caught.

use crate::rooms::{Source, breaches};

const ROOT: &str = "mod error; pub mod privacy; pub mod data; pub mod boost; pub mod model; pub mod wire; \
    pub mod setting; pub use error::Error; pub use setting::central::Curator; pub use boost as hedge;";

fn house(root: &str, files: &[(&str, &str)]) -> Vec<String> {
    let mut sources = vec![Source::new("lib.rs", root)];
    sources.extend(files.iter().map(|(file, text)| Source::new(file, text)));
    breaches(&sources)
}

#[track_caller]
fn caught(file: &str, text: &str) {
    let breaches = house(ROOT, &[(file, text)]);
    assert_eq!(breaches.len(), 1, "{text}: {breaches:?}");
    assert!(breaches[0].starts_with(file), "{breaches:?}");
}

#[track_caller]
fn allowed(file: &str, text: &str) {
    assert_eq!(house(ROOT, &[(file, text)]), [""; 0], "{text}");
}

#[test]
fn plain_imports_go_down_only() {
    allowed(
        "setting/central/mod.rs",
        "use crate::privacy::Ratio; use crate::{Error, wire, model::Model};",
    );
    allowed(
        "privacy/ledger.rs",
        "use super::Ratio; use crate::privacy::account::pure; use crate::Error;",
    );
    allowed(
        "privacy/ledger.rs",
        "use std::fmt; fn f(&self) -> u8 { self.x; Self::y() }",
    );
    caught("privacy/ledger.rs", "use crate::setting::central::Curator;");
    caught("data/table.rs", "fn f(x: &crate::boost::Ensemble) {}");
    caught("boost/mod.rs", "fn f() { crate::wire::encode() }");
    caught(
        "boost/mod.rs",
        "fn f(x: u8) { match x { crate::wire::FIRST => {} _ => {} } }",
    );
    caught("boost/mod.rs", "impl crate::wire::Encode for X {}");
    caught("boost/mod.rs", "type T = Vec<<crate::wire::A as B>::C>;");
}

#[test]
fn siblings_do_not_import_each_other_and_errors_import_the_ground_floor_only() {
    caught("wire/codec.rs", "use crate::model::Model;");
    caught("model/mod.rs", "use crate::wire::codec;");
    caught("error.rs", "use crate::data::Schema;");
    caught("error/data.rs", "use crate::wire::codec;");
    allowed(
        "error.rs",
        "use crate::privacy::Refusal; use std::fmt; fn f() -> crate::error::Error {}",
    );
}

#[test]
fn settings_do_not_import_each_other() {
    for evasion in [
        "use crate::setting::plain::Trees;",
        "use super::super::plain::Trees;",
        "use super::{super::plain};",
        "fn f() { crate::setting::plain::fit() }",
        "use crate::setting; fn f() { setting::plain::fit() }",
        "use crate::setting as all;",
        "use crate::setting::*;",
        "use super::super::*;",
        "use crate::setting::{central::Plan, plain::Trees};",
        // Whatever the room or the root lends under a name of its own.
        "use crate::setting::Trees;",
        "use crate::Curator;",
    ] {
        caught("setting/central/trees.rs", evasion);
    }
    caught("setting/central/mod.rs", "use super::plain::Trees;");
    caught(
        "setting/central/brc/asking.rs",
        "use super::super::super::plain::Trees;",
    );
    caught("setting/central.rs", "use super::plain::Trees;");
    allowed(
        "setting/central/trees.rs",
        "use super::plan::Plan; use crate::setting::central::Budget; use super::super::central::Budget;",
    );
    allowed("setting/central/brc/asking.rs", "use super::super::plain::Trees;");
    allowed(
        "setting/mod.rs",
        "pub use crate::setting::plain::Trees; pub use self::central::Plan;",
    );
}

#[test]
fn a_breach_names_file_line_and_path() {
    let breaches = house(
        ROOT,
        &[(
            "privacy/ledger.rs",
            "//! Docs.\n\nuse std::fmt;\nuse crate::setting::central;\n",
        )],
    );
    assert_eq!(
        breaches,
        ["privacy/ledger.rs:4: crate::setting::central: `privacy` may not use `setting`"]
    );
}

#[test]
fn super_and_self_are_resolved() {
    caught("privacy/ledger.rs", "use super::super::setting::X;");
    caught("privacy/mod.rs", "use super::setting::X;");
    caught(
        "privacy/account/pure.rs",
        "fn f() { super::super::super::setting::f() }",
    );
    caught("privacy/mod.rs", "fn f() { self::super::setting::f() }");
    caught("privacy/ledger.rs", "use super::{Ratio, super::setting};");
    allowed("privacy/ledger.rs", "use super::setting::X;");
    allowed("privacy/mod.rs", "mod setting; use self::setting::X;");
}

#[test]
fn groups_renames_and_nested_groups() {
    caught("privacy/a.rs", "use crate::{privacy::Ratio, setting::X};");
    caught(
        "privacy/a.rs",
        "use crate::{privacy::{Ratio, account::{pure}}, {setting::{X as Y}}};",
    );
    caught("privacy/a.rs", "use {std::fmt, crate::setting};");
    caught(
        "privacy/a.rs",
        "use crate::setting as lower; fn f() { lower::g() }",
    );
    caught("privacy/a.rs", "use crate::setting::{self};");
    caught("privacy/a.rs", "use crate::r#setting::X;");
}

#[test]
fn the_root_itself_is_no_alias() {
    caught(
        "privacy/a.rs",
        "use crate as house; fn f() { house::setting::g() }",
    );
    caught("privacy/a.rs", "use crate::{self as house};");
    caught("privacy/mod.rs", "use super::{self as house};");
    caught("privacy/a.rs", "extern crate self as house;");
    caught("privacy/a.rs", "use privet::setting::X;");
    caught("privacy/a.rs", "use ::privet::setting::X;");
}

#[test]
fn globs() {
    caught("privacy/a.rs", "use crate::setting::*;");
    caught("privacy/a.rs", "use crate::*;");
    caught("privacy/mod.rs", "use super::*;");
    caught("privacy/a.rs", "use crate::{privacy::*, setting::*};");
    allowed(
        "privacy/a.rs",
        "use super::*; mod tests { use super::*; use crate::privacy::*; }",
    );
}

#[test]
fn re_exports_are_followed() {
    caught("privacy/a.rs", "use crate::Curator;");
    caught("privacy/a.rs", "fn f(x: crate::Curator) {}");
    caught("privacy/a.rs", "use crate::hedge::Ensemble;");
    caught("privacy/a.rs", "use crate::Nobody;");
    let lent = |root: &str, text: &str| house(&format!("{ROOT} {root}"), &[("privacy/a.rs", text)]).len();
    assert_eq!(lent("pub use setting::*;", "use crate::Anything;"), 1);
    assert_eq!(lent("pub use privacy::*;", "use crate::Anything;"), 0);
    assert_eq!(
        lent("pub use crate::{hedge::Ensemble as Trees};", "use crate::Trees;"),
        1
    );
    // The order of the root's lines does not matter.
    assert_eq!(
        lent(
            "pub use first::X; use second as first; use setting as second;",
            "use crate::X;"
        ),
        1
    );
    assert_eq!(lent("pub use dashu_int::UBig;", "use crate::UBig;"), 0);
}

#[test]
fn macros_and_attributes() {
    caught(
        "privacy/a.rs",
        "fn f() { println!(\"{}\", crate::setting::NAME) }",
    );
    caught(
        "privacy/a.rs",
        "macro_rules! m { ($x:ident) => { $crate::setting::$x } }",
    );
    caught(
        "privacy/a.rs",
        "macro_rules! m { ($x:ident) => { $crate::$x::f() } }",
    );
    caught("privacy/a.rs", "fn f() { build!(crate, [setting]) }");
    caught("privacy/a.rs", "m! { use crate::{privacy::A, setting::B}; }");
    caught(
        "privacy/a.rs",
        "#[serde(with = \"crate::setting::codec\")] struct S;",
    );
    caught("privacy/a.rs", "#[derive(crate::setting::Derive)] struct S;");
    caught("privacy/a.rs", "include!(\"../setting/mod.rs\");");
    caught("privacy/a.rs", "#[path = \"../setting/mod.rs\"] mod x;");
    caught(
        "privacy/a.rs",
        "#[cfg_attr(all(), path = \"../setting/mod.rs\")] mod x;",
    );
    let exported = (
        "setting/mod.rs",
        "#[macro_export] macro_rules! settle { () => {} }",
    );
    let breaches = house(ROOT, &[exported, ("privacy/a.rs", "fn f() { crate::settle!() }")]);
    assert_eq!(breaches.len(), 1, "{breaches:?}");
    // Prose imports nothing.
    allowed(
        "privacy/a.rs",
        "//! See [crate::setting::X].\n/// Or `crate::setting`.\nfn f() { g!(\"crate::setting\") }",
    );
    allowed(
        "privacy/a.rs",
        "macro_rules! m { ($x:ident) => { $crate::privacy::$x } }",
    );
}

#[test]
fn inline_modules_and_nested_functions() {
    caught(
        "privacy/a.rs",
        "mod inner { use super::super::super::setting::X; }",
    );
    caught(
        "privacy/mod.rs",
        "mod inner { fn f() { super::super::setting::f() } }",
    );
    allowed("privacy/a.rs", "mod inner { use super::super::setting::X; }");
    caught("privacy/a.rs", "fn f() { fn g() { { use crate::setting::X; } } }");
    caught(
        "privacy/a.rs",
        "const X: u8 = { mod m { pub fn f() { super::super::super::wire::f() } } 0 };",
    );
    // Back outside, the module is the old one again.
    caught("privacy/mod.rs", "mod inner { fn f() {} } use super::setting::X;");
}

#[test]
fn visibility_is_no_import_but_a_field_after_pub_is() {
    allowed(
        "privacy/a.rs",
        "pub(crate) struct A; pub(super) fn f() {} pub(in crate::privacy) fn g() {}",
    );
    allowed(
        "data/a.rs",
        "pub(in crate::setting) fn g() {} m! { pub(crate) fn h() {} }",
    );
    caught("privacy/a.rs", "struct A(pub (crate::setting::X, u8));");
    caught("privacy/a.rs", "struct A(pub crate::setting::X);");
}

#[test]
fn unknown_rooms_and_code_at_the_root_are_refused() {
    assert_eq!(house("mod attic;", &[]).len(), 1);
    assert_eq!(house(ROOT, &[("attic/mod.rs", "")]).len(), 1);
    assert_eq!(house(ROOT, &[("main.rs", "")]).len(), 1);
    for code in [
        "pub mod prelude { pub use crate::setting::*; }",
        "pub type Lent = setting::central::Curator;",
        "macro_rules! m { () => { $crate::setting::f() } }",
        "#[macro_use] mod privacy;",
        "#[path = \"elsewhere.rs\"] mod privacy;",
        "use crate as house;",
        "extern crate self as house;",
    ] {
        assert_eq!(house(code, &[]).len(), 1, "{code}");
    }
    let page = "#[cfg(doctest)] #[doc = include_str!(\"../README.md\")] struct Readme;";
    assert_eq!(house(page, &[]), [""; 0]);
    assert_eq!(
        house(ROOT, &[("privacy/a.rs", "fn (")]).len(),
        1,
        "what cannot be read is not passed over"
    );
}
