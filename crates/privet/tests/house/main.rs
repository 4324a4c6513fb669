//! The house stands as planned: imports go down, claims have proofs, files are tidy.
//!
//! Each rule lives in a file of its own below `house/`, with tests that break it on purpose.

mod evasions;
mod glossary;
mod lessons;
mod mentions;
mod messages;
mod paths;
mod proofs;
mod readings;
mod rooms;
mod scopes;
mod tidiness;
mod unprotected;
mod walls;
mod workspace;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::TokenStream;
use workspace::{files, read, root};

/// Every Rust file of the workspace, with its path, as tokens.
fn sources() -> Vec<(String, TokenStream)> {
    let read = |path: &std::path::PathBuf| {
        let (file, text) = read(path);
        let tokens = text.parse().unwrap_or_else(|e| panic!("{file}: {e}"));
        (file, tokens)
    };
    files(&root(), "rs").iter().map(read).collect()
}

#[test]
fn imports_go_down_only() {
    let src = root().join("crates/privet/src");
    let sources: Vec<rooms::Source> = files(&src, "rs")
        .iter()
        .map(|path| {
            let file = path
                .strip_prefix(&src)
                .expect("below src")
                .to_string_lossy()
                .replace('\\', "/");
            rooms::Source::new(&file, &read(path).1)
        })
        .collect();
    assert!(
        sources
            .iter()
            .any(|source| source.module == ["privacy", "sampler"]),
        "the files were found"
    );
    let breaches = rooms::breaches(&sources);
    assert!(
        breaches.is_empty(),
        "in crates/privet/src:\n{}",
        breaches.join("\n")
    );
}

#[test]
fn every_claim_has_a_proof_and_every_proof_an_audit() {
    let (mut anchors, mut faults, mut tests) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (file, tokens) in sources() {
        tests.extend(proofs::tests(tokens.clone()));
        if file.starts_with("crates/") && file.contains("/src/") {
            for (line, anchor) in proofs::anchors(tokens) {
                match anchor {
                    Ok(anchor) => anchors.push((format!("{file}:{line}"), anchor)),
                    Err(why) => faults.push(format!("{file}:{line}: {why}")),
                }
            }
        }
    }
    let folder = root().join("docs/proofs");
    let pages: BTreeMap<String, String> = files(&folder, "md")
        .iter()
        .filter(|path| path.file_name().is_some_and(|name| name != "README.md"))
        .map(|path| {
            let name = path
                .strip_prefix(&folder)
                .expect("below docs/proofs")
                .with_extension("");
            (name.to_string_lossy().replace('\\', "/"), read(path).1)
        })
        .collect();
    faults.extend(proofs::faults(&pages, &anchors, &tests));
    assert!(
        tests.contains("every_claim_has_a_proof_and_every_proof_an_audit"),
        "tests were found"
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn names_in_proofs_are_names_of_the_sources() {
    let mut known = mentions::KnownNames::default();
    for (file, tokens) in sources() {
        let folder = file.strip_suffix("/mod.rs").or(file.strip_suffix("/src/lib.rs"));
        let stem = folder.unwrap_or(file.trim_end_matches(".rs"));
        let module = stem.rsplit('/').next().unwrap_or(stem).replace('-', "_");
        known.add(&module, tokens);
    }
    let pages = files(&root().join("docs/proofs"), "md");
    let pages: Vec<(String, String)> = pages.iter().map(|path| read(path)).collect();
    let found: usize = pages
        .iter()
        .map(|(_, page)| mentions::mentions(page).count())
        .sum();
    assert!(found > 100, "names were found");
    let faults: Vec<String> = pages
        .iter()
        .flat_map(|(file, page)| mentions::faults(file, page, &known))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_lesson_has_its_tests_or_a_reason() {
    let tests: BTreeSet<String> = sources()
        .into_iter()
        .flat_map(|(_, tokens)| proofs::tests(tokens))
        .collect();
    let (_, page) = read(&root().join("docs/lessons.md"));
    let faults = lessons::faults(&page, &tests);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_glossary_is_sorted_and_in_use_and_riddles_stay_away() {
    let (crates, docs) = (root().join("crates"), root().join("docs"));
    let mut all: Vec<(String, String)> = files(&crates, "rs").iter().map(|path| read(path)).collect();
    all.retain(|(file, _)| file.contains("/src/"));
    all.extend(files(&docs, "md").iter().map(|path| read(path)));
    all.extend(["README.md", "CONTRIBUTING.md"].map(|file| read(&root().join(file))));
    let is_glossary = |(file, _): &(String, String)| file == "docs/glossary.md";
    let (glossary, others): (Vec<_>, Vec<_>) = all.into_iter().partition(is_glossary);
    let text: String = others.iter().map(|(_, text)| text.to_lowercase()).collect();
    let mut faults = glossary::faults(&glossary[0].1, &text);
    for (file, text) in &others {
        let found = glossary::riddles(text).into_iter();
        faults
            .extend(found.map(|(line, riddle)| format!("{file}:{line}: \"{riddle}\" is hard to understand")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A decision that nobody finds is taken again.
#[test]
fn every_decision_is_listed_once_and_in_order() {
    let pages = files(&root().join("docs/decisions"), "md");
    let names = pages.iter().filter_map(|page| page.file_name()?.to_str());
    let mut names: Vec<&str> = names.filter(|name| *name != "README.md").collect();
    names.sort_unstable();
    let (_, list) = read(&root().join("docs/decisions/README.md"));
    let rows = list.lines().filter_map(|line| line.strip_prefix("| ["));
    let linked: Vec<&str> = rows
        .filter_map(|row| Some(row.split_once("](")?.1.split_once(')')?.0))
        .collect();
    assert_eq!(linked, names);
}

#[test]
fn what_is_not_protected_is_named_in_few_files() {
    let named: Vec<(String, Vec<unprotected::Found>)> = sources()
        .into_iter()
        .filter(|(file, _)| file.starts_with("crates/") && file.contains("/src/"))
        .map(|(file, tokens)| (file, unprotected::named(tokens)))
        .collect();
    assert!(
        named
            .iter()
            .any(|(file, found)| file.ends_with("setting/plain/plan.rs") && !found.is_empty()),
        "the door was found where it is used"
    );
    let faults = unprotected::faults(&named);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn no_code_reads_the_words_of_an_error() {
    let all: Vec<(String, String)> = files(&root().join("crates"), "rs")
        .iter()
        .map(|path| read(path))
        .filter(|(file, _)| {
            file.contains("/src/") && !file.ends_with("tests.rs") && !file.contains("/tests/")
        })
        .collect();
    assert!(
        all.iter().any(|(file, _)| file.ends_with("verb/parties.rs")),
        "the files were found"
    );
    let allowed = |fault: &str| {
        let mut files = messages::ALLOWED.iter();
        files.any(|(file, _)| fault.starts_with(&format!("{file}:")))
    };
    let (expected, faults): (Vec<String>, Vec<String>) = messages::faults(&all)
        .into_iter()
        .partition(|fault| allowed(fault));
    for (file, _) in messages::ALLOWED {
        assert!(
            expected.iter().any(|fault| fault.starts_with(file)),
            "{file} needs no exception any more"
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn names_say_something() {
    let all: Vec<String> = files(&root(), "")
        .iter()
        .map(|path| {
            path.strip_prefix(root())
                .expect("below the root")
                .to_string_lossy()
                .replace('\\', "/")
        })
        .collect();
    let empty: Vec<&String> = all
        .iter()
        .filter(|path| tidiness::empty_name(path).is_some())
        .collect();
    assert!(empty.is_empty(), "{empty:?}");
}

#[test]
fn nothing_is_left_undone_and_every_example_compiles() {
    let mut found = Vec::new();
    for (file, tokens) in sources() {
        found.extend(
            tidiness::undone(tokens)
                .iter()
                .map(|(line, what)| format!("{file}:{line}: {what}")),
        );
    }
    for path in files(&root(), "md") {
        let (file, text) = read(&path);
        found.extend(tidiness::ignored(&text).map(|(line, what)| format!("{file}:{}: {what}", line + 1)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_libraries_have_no_unsafe_code() {
    for library in ["privet", "privet-mpc"] {
        let (_, text) = read(&root().join(format!("crates/{library}/src/lib.rs")));
        assert!(tidiness::forbids_unsafe(&text), "{library}");
    }
}
