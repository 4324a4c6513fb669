//! Every folder in `tests/cases` is one story and one test: files to start with, and `case.txt` with commands and what they
//! print. `cargo test -p privet-cli --test all story::bad_jobs` runs `tests/cases/bad-jobs`.
//!
//! `$ privet …` is run in a copy of the folder. Then come the lines of standard output, with `[..]` for any text and
//! `...` for any lines; lines that begin with `! ` are standard error; `? N` is the exit code. All else is prose.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::home::{case, copy};

struct StoryStep {
    command: String,
    out: Vec<String>,
    err: Vec<String>,
    exit: i32,
}

fn steps(text: &str) -> Vec<StoryStep> {
    let mut steps = Vec::new();
    let mut open: Option<StoryStep> = None;
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ privet ") {
            assert!(open.is_none(), "no exit code before: {line}");
            open = Some(StoryStep {
                command: command.into(),
                out: Vec::new(),
                err: Vec::new(),
                exit: 0,
            });
        } else if let Some(mut step) = open.take() {
            if let Some(exit) = line.strip_prefix("? ") {
                step.exit = exit.parse().unwrap();
                steps.push(step);
                continue;
            }
            match line.strip_prefix("! ") {
                Some(err) => step.err.push(err.into()),
                // After the first line of standard error `...` goes on there.
                None if line == "..." && !step.err.is_empty() => step.err.push(line.into()),
                None => step.out.push(line.into()),
            }
            open = Some(step);
        }
    }
    assert!(
        open.is_none() && !steps.is_empty(),
        "the case does not end with an exit code"
    );
    steps
}

fn line_matches(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let first = parts.next().unwrap();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    true
}

fn lines_match(patterns: &[String], lines: &[&str]) -> bool {
    match patterns.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == "..." => (0..=lines.len()).any(|skip| lines_match(rest, &lines[skip..])),
        Some((pattern, rest)) => lines
            .split_first()
            .is_some_and(|(line, more)| line_matches(pattern, line) && lines_match(rest, more)),
    }
}

fn run(case: &Path) {
    let folder = tempfile::tempdir().unwrap();
    copy(case, folder.path());
    for step in steps(&fs::read_to_string(case.join("case.txt")).unwrap()) {
        let output = Command::new(env!("CARGO_BIN_EXE_privet"))
            .args(step.command.split_whitespace())
            .current_dir(folder.path())
            .env_remove("XDG_DATA_HOME")
            .env("HOME", folder.path())
            .env("PRIVET_LEDGER", "ledger.db")
            .output()
            .unwrap();
        let texts = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap());
        let [out, err] = texts.each_ref().map(|text| text.lines().collect::<Vec<_>>());
        let fits = lines_match(&step.out, &out) && lines_match(&step.err, &err);
        assert!(
            fits && output.status.code() == Some(step.exit),
            "{}: privet {}\nexit {:?}, expected {}\n--- out\n{}--- err\n{}",
            case.display(),
            step.command,
            output.status.code(),
            step.exit,
            texts[0],
            texts[1]
        );
    }
}

/// One test for each folder, under its name with `_` for `-`.
macro_rules! stories {
    ($($name:ident)*) => {
        mod story {
            $(
                #[test]
                fn $name() {
                    super::run(&super::folder(stringify!($name)));
                }
            )*
        }

        const STORIES: &[&str] = &[$(stringify!($name)),*];
    };
}

stories! {
    adopt
    assumption
    bad_jobs
    bad_models
    central
    delta
    demo
    desensitise
    drafts
    export
    first_limit
    headless
    help
    horizontal
    horizontal_bad
    learners
    local_learning
    newcomer
    no_ledger
    open_bins
    overwrite
    prediction
    prediction_bad
    rehearsal
    second_budget
    secure
    secure_classes
    silly_values
    tables
    trees
    units
    vertical
    vertical_bad
    weights
    whose_rows
    wrong_files
}

fn folder(story: &str) -> PathBuf {
    case(&story.replace('_', "-"))
}

#[test]
fn every_story_is_listed() {
    let mut found: Vec<PathBuf> = fs::read_dir(folder(""))
        .unwrap()
        .map(|case| case.unwrap().path())
        .collect();
    found.sort();
    let mut listed: Vec<PathBuf> = STORIES.iter().map(|story| folder(story)).collect();
    listed.sort();
    assert_eq!(found, listed, "`stories!` lists every folder of `tests/cases`");
}

#[test]
fn the_matcher_can_fail() {
    let patterns = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(lines_match(&patterns("a\n...\nb [..] c"), &["a", "x", "b 1 2 c"]));
    assert!(!lines_match(
        &patterns("a\n...\nb [..] c"),
        &["a", "x", "b 1 2 d"]
    ));
    assert!(!lines_match(&patterns("a"), &["a", "b"]));
    assert!(!lines_match(&patterns("a\nb"), &["a"]));
    assert!(!lines_match(&patterns(""), &["a"]));
}
