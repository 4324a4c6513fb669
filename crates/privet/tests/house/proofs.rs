//! No claim without a proof: anchors in the code lead to sections in `docs/proofs`, and each section is whole.
//!
//! `Anchor::new("laplace#integer-vectors")` and `anchor!("laplace#integer-vectors")` mean the heading
//! `## integer-vectors` in `docs/proofs/laplace.md`. `README.md` there is an index and proves nothing.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::paths::{attribute, group, punct, word};

const PARTS: &[&str] = &[
    "Statement",
    "Neighbours",
    "Sensitivity",
    "Proof",
    "Assumptions",
    "Audit",
];

/// An anchor in the code, or why it cannot be read, and its line.
pub(crate) type Anchor = (usize, Result<String, String>);

/// Every anchor of a file.
pub(crate) fn anchors(tokens: TokenStream) -> Vec<Anchor> {
    let mut found = Vec::new();
    collect_anchors(&Vec::from_iter(tokens), &mut found);
    found
}

fn collect_anchors(tokens: &[TokenTree], found: &mut Vec<Anchor>) {
    for (at, token) in tokens.iter().enumerate() {
        if let TokenTree::Group(inner) = token {
            collect_anchors(&Vec::from_iter(inner.stream()), found);
        }
        let follows = |names: &[&str]| {
            names
                .iter()
                .enumerate()
                .all(|(i, name)| tokens.get(at + i).is_some_and(|t| t.to_string() == *name))
        };
        let skip = match () {
            () if follows(&["Anchor", ":", ":", "new"]) => 4,
            () if follows(&["anchor", "!"]) => 2,
            () => continue,
        };
        let argument = group(tokens.get(at + skip), Delimiter::Parenthesis).unwrap_or_default();
        // Inside a macro's own definition the argument is still a variable; the call has the literal.
        if punct(argument.first()) == Some('$') {
            continue;
        }
        let text = argument
            .first()
            .and_then(|t| syn::parse_str::<syn::LitStr>(&t.to_string()).ok());
        let anchor = text
            .map(|t| t.value())
            .ok_or_else(|| "an anchor that is not a literal".to_string());
        found.push((token.span().start().line, anchor));
    }
}

/// The names of the test functions of a file, also of those that a macro writes.
pub(crate) fn tests(tokens: TokenStream) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    collect_tests(&Vec::from_iter(tokens), &mut found);
    found
}

fn collect_tests(tokens: &[TokenTree], found: &mut BTreeSet<String>) {
    let mut marked = false;
    for (at, token) in tokens.iter().enumerate() {
        if let Some((content, _)) = attribute(&tokens[at..]) {
            // `#[test]` or `#[runtime::test]`, but not `#[cfg(test)]`.
            marked |= word(content.last()).as_deref() == Some("test");
        }
        match word(Some(token)).as_deref() {
            Some("fn") if marked => found.extend(word(tokens.get(at + 1))),
            Some("fn" | "mod" | "impl" | "struct") => {}
            _ => {
                if let TokenTree::Group(inner) = token {
                    collect_tests(&Vec::from_iter(inner.stream()), found);
                }
                continue;
            }
        }
        marked = false;
    }
}

/// The sections of a page by slug, each with the text of its parts.
type Sections<'a> = BTreeMap<String, BTreeMap<&'a str, String>>;

fn sections<'a>(page: &str, text: &'a str, faults: &mut Vec<String>) -> Sections<'a> {
    let mut sections = Sections::new();
    let (mut section, mut part, mut fenced) = (None::<String>, None::<&str>, false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if let Some(heading) = line.strip_prefix("## ").filter(|_| !fenced) {
            let slug = slug(heading);
            if sections.insert(slug.clone(), BTreeMap::new()).is_some() {
                faults.push(format!("{page}#{slug}: two sections of this name"));
            }
            (section, part) = (Some(slug), None);
        } else if let Some(heading) = line.strip_prefix("### ").filter(|_| !fenced) {
            part = Some(heading.trim());
            if let Some(open) = section.as_ref().and_then(|slug| sections.get_mut(slug)) {
                open.entry(heading.trim()).or_default();
            }
        } else if let Some(open) = section.as_ref().and_then(|slug| sections.get_mut(slug))
            && let Some(body) = part.and_then(|part| open.get_mut(part))
        {
            body.push_str(line);
            body.push('\n');
        }
    }
    sections
}

/// As a link would spell it: lower case, words joined by hyphens, no punctuation.
fn slug(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// Everything wrong with the proof pages, and with the anchors that lead there.
///
/// `pages` by name without extension; `anchors` with the place they stand at.
pub(crate) fn faults(
    pages: &BTreeMap<String, String>,
    anchors: &[(String, String)],
    tests: &BTreeSet<String>,
) -> Vec<String> {
    let mut faults = Vec::new();
    let mut known = BTreeSet::new();
    for (page, text) in pages {
        let sections = sections(page, text, &mut faults);
        if sections.is_empty() {
            faults.push(format!("{page}: proves nothing"));
        }
        for (slug, parts) in sections {
            let here = format!("{page}#{slug}");
            for part in PARTS {
                match parts.get(part) {
                    None => faults.push(format!("{here}: no `### {part}`")),
                    Some(body) if body.trim().is_empty() => {
                        faults.push(format!("{here}: `### {part}` is empty"))
                    }
                    Some(_) => {}
                }
            }
            let audit = parts.get("Audit").map(String::as_str).unwrap_or_default();
            if !audit.trim().is_empty() && named(audit).next().is_none() {
                faults.push(format!("{here}: its audit names no test"));
            }
            for missing in named(audit).filter(|name| !tests.contains(*name)) {
                faults.push(format!("{here}: its audit names `{missing}`, which is no test"));
            }
            known.insert(here);
        }
    }
    for (place, anchor) in anchors.iter().filter(|(_, anchor)| !known.contains(anchor)) {
        faults.push(format!(
            "{place}: `{anchor}` is not proved: no such section in docs/proofs"
        ));
    }
    faults
}

/// What stands in backticks, reduced to a function's name: `` `tests::half_scale()` `` is `half_scale`.
pub(crate) fn named(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted
        .map(|name| name.trim_end_matches("()"))
        .map(|name| name.rsplit("::").next().unwrap_or(name))
}

#[cfg(test)]
mod self_tests {
    use super::*;

    const WHOLE: &str = "# Laplace\n\n## integer-vectors\n### Statement\ns\n### Neighbours\nn\n### Sensitivity\ns\n\
        ### Proof\n```\n## not a heading\n```\np\n### Assumptions\na\n### Audit\n`laplace::half_scale` refuses\n";

    fn check(text: &str, anchor: &str) -> Vec<String> {
        let pages = BTreeMap::from([("laplace".to_string(), text.to_string())]);
        let tests = BTreeSet::from(["half_scale".to_string()]);
        faults(&pages, &[("a.rs:1".into(), anchor.into())], &tests)
    }

    #[test]
    fn a_whole_proof_passes() {
        assert_eq!(check(WHOLE, "laplace#integer-vectors"), [""; 0]);
        let titled = WHOLE.replace("## integer-vectors", "## Integer vectors");
        assert_eq!(check(&titled, "laplace#integer-vectors"), [""; 0]);
    }

    #[test]
    fn a_missing_page_or_heading_is_a_fault() {
        for anchor in ["laplace#other", "gaussian#integer-vectors", "laplace", ""] {
            assert_eq!(check(WHOLE, anchor).len(), 1, "{anchor}");
        }
    }

    #[test]
    fn a_missing_or_empty_part_is_a_fault() {
        for part in PARTS {
            let without = WHOLE.replace(&format!("### {part}\n"), "");
            assert_eq!(check(&without, "laplace#integer-vectors").len(), 1, "{part}");
        }
        assert_eq!(
            check(&WHOLE.replace("\nn\n", "\n\n"), "laplace#integer-vectors").len(),
            1
        );
        assert_eq!(check("# Laplace\n", "laplace#integer-vectors").len(), 2);
        assert_eq!(
            check(&format!("{WHOLE}{WHOLE}"), "laplace#integer-vectors").len(),
            1
        );
    }

    #[test]
    fn an_audit_without_a_test_is_a_fault() {
        for audit in ["half_scale refuses", "`whole_scale` refuses", "`half_scale_too`"] {
            let text = WHOLE.replace("`laplace::half_scale` refuses", audit);
            assert_eq!(check(&text, "laplace#integer-vectors").len(), 1, "{audit}");
        }
    }

    #[test]
    fn anchors_and_tests_are_found_wherever_they_stand() {
        let tokens = |text: &str| text.parse::<TokenStream>().expect("tokens");
        let code = "fn f() { g(Anchor::new(\"a#b\")); }\nconst C: A = m![anchor!(\"c#d\")];\n\
            macro_rules! anchor { ($a:literal) => { Anchor::new($a) } }\nfn h(s: &str) { privacy::Anchor::new(s) }";
        let found = anchors(tokens(code));
        assert_eq!(found[0], (1, Ok("a#b".into())));
        assert_eq!(found[1], (2, Ok("c#d".into())));
        assert!(found[2].1.is_err() && found.len() == 3, "{found:?}");
        let code =
            "#[cfg(test)] mod t { fn a() {} #[test] #[should_panic] fn b() {} m! { #[test] fn c() {} } }";
        assert_eq!(
            tests(tokens(code)),
            BTreeSet::from(["b".to_string(), "c".to_string()])
        );
    }
}
