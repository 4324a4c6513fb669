//! Names that say nothing, work left undone, examples nobody compiles.

use proc_macro2::{TokenStream, TokenTree};

use crate::paths::{attribute, punct, word};

const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "manager", "misc"];

/// The part of a path that says nothing, if any.
pub(crate) fn empty_name(path: &str) -> Option<&str> {
    path.split('/').find(|part| {
        let stem = part.split('.').next().unwrap_or(part).to_lowercase();
        EMPTY_NAMES.contains(&stem.as_str())
    })
}

/// Lines of a source file with work left undone, or with an example that is not compiled.
pub(crate) fn undone(tokens: TokenStream) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    collect(&Vec::from_iter(tokens), &mut found);
    found
}

fn collect(tokens: &[TokenTree], found: &mut Vec<(usize, String)>) {
    for (at, token) in tokens.iter().enumerate() {
        let line = token.span().start().line;
        if let Some(name @ ("todo" | "unimplemented")) = word(Some(token)).as_deref()
            && punct(tokens.get(at + 1)) == Some('!')
        {
            found.push((line, format!("{name}!")));
        }
        if let Some((content, _)) = attribute(&tokens[at..])
            && word(content.first()).as_deref() == Some("doc")
            && let Some(text) = content
                .last()
                .and_then(|t| syn::parse_str::<syn::LitStr>(&t.to_string()).ok())
        {
            found.extend(ignored(&text.value()).map(|(offset, why)| (line + offset, why)));
        }
        if let TokenTree::Group(inner) = token {
            collect(&Vec::from_iter(inner.stream()), found);
        }
    }
}

/// Code fences marked `ignore`: an example that is shown but never compiled.
pub(crate) fn ignored(prose: &str) -> impl Iterator<Item = (usize, String)> {
    prose.lines().enumerate().filter_map(|(offset, line)| {
        // Block comments keep their stars, quotes and lists their signs.
        let line = line.trim_start_matches([' ', '*', '>', '-', '\t']);
        let info = line.strip_prefix("```").or(line.strip_prefix("~~~"))?;
        let words = info.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'));
        let is_ignored = words
            .into_iter()
            .any(|word| word == "ignore" || word.starts_with("ignore-"));
        is_ignored.then(|| (offset, "an example marked `ignore`".to_string()))
    })
}

/// Whether a crate root forbids unsafe code, with no condition attached.
pub(crate) fn forbids_unsafe(root: &str) -> bool {
    let file = syn::parse_file(root).expect("the root is Rust");
    file.attrs.iter().any(|attribute| {
        attribute.path().is_ident("forbid")
            && attribute.meta.require_list().is_ok_and(|list| {
                list.tokens
                    .clone()
                    .into_iter()
                    .any(|t| t.to_string() == "unsafe_code")
            })
    })
}

#[cfg(test)]
mod self_tests {
    use super::*;

    fn count(code: &str) -> usize {
        undone(code.parse().expect("tokens")).len()
    }

    #[test]
    fn empty_names_are_found_in_any_part_of_a_path() {
        for path in [
            "crates/a/src/utils.rs",
            "crates/a/src/Common/mod.rs",
            "docs/misc.md",
            "x/manager.rs",
        ] {
            assert!(empty_name(path).is_some(), "{path}");
        }
        assert_eq!(empty_name("crates/a/src/commonplace.rs"), None);
    }

    #[test]
    fn unfinished_work_is_found_in_code_and_not_in_text() {
        assert_eq!(count("fn f() { todo!() }"), 1);
        assert_eq!(count("fn f() { x.map(|_| std::unimplemented!(\"later\")) }"), 1);
        assert_eq!(count("fn f() { \"todo!()\"; } // todo!()"), 0);
        let lines = undone("\n\nfn f() {\n todo!() }".parse().expect("tokens"));
        assert_eq!(lines[0].0, 4);
    }

    #[test]
    fn ignored_examples_are_found_in_every_kind_of_comment() {
        assert_eq!(count("/// ```ignore\n/// x\n/// ```\nfn f() {}"), 1);
        assert_eq!(count("//! ```rust,ignore\n//! ```\nfn f() {}"), 1);
        assert_eq!(count("/** ```ignore\n * x\n * ``` */ fn f() {}"), 1);
        assert_eq!(count("mod m { #![doc = \"```{.ignore}\"] }"), 1);
        assert_eq!(count("/// ```ignore-windows\nfn f() {}"), 1);
        assert_eq!(count("/// ```no_run\n/// // ignore\n/// ```\nfn f() {}"), 0);
        assert_eq!(ignored("# Title\n```rust,ignore\n```\n").count(), 1);
    }

    #[test]
    fn a_weaker_attribute_does_not_forbid() {
        assert!(forbids_unsafe("#![forbid(unsafe_code)]"));
        assert!(forbids_unsafe("#![forbid(missing_docs, unsafe_code)]"));
        assert!(!forbids_unsafe("#![deny(unsafe_code)]"));
        assert!(!forbids_unsafe("#![cfg_attr(test, forbid(unsafe_code))]"));
        assert!(!forbids_unsafe("// #![forbid(unsafe_code)]"));
    }
}
