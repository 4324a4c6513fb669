//! What a run of the tests leaves out, said in one line at the end of `cargo test`.
//!
//! A test that cannot run here passes, and what it prints is captured. So what is left out is noted in a folder beside the test
//! programs, and `tests/skipped.rs`, the last program that `cargo test` runs, reads the notes. Whatever runs takes back the note
//! that an earlier run may have left.

use std::fs;
use std::path::{Path, PathBuf};

/// Whether `PRIVET_FULL` asks for the long tests.
pub fn full() -> bool {
    let asked = std::env::var_os("PRIVET_FULL").is_some_and(|value| value != "0");
    runs(
        "long statistics, kills and corpora (PRIVET_FULL=1 runs them)",
        asked,
    )
}

/// A file of the folder of data sets, if it is there.
pub fn data(file: &str) -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let path = std::env::var_os("PRIVET_DATA")
        .map_or_else(beside, PathBuf::from)
        .join(file);
    let what = format!("what needs {file} (PRIVET_DATA names the folder)");
    runs(&what, path.exists()).then_some(path)
}

/// Notes that something is left out, unless it runs; says whether it does.
pub fn runs(what: &str, it_does: bool) -> bool {
    note_in(&folder(), what, it_does);
    it_does
}

/// Everything that was noted, in one line; the notes are gone afterwards.
pub fn summary() -> String {
    summary_of(&folder())
}

fn note_in(folder: &Path, what: &str, it_does: bool) {
    let note = folder.join(what.replace(|c: char| !c.is_alphanumeric(), "-"));
    if it_does {
        // Most often there is none.
        let _ = fs::remove_file(note);
    } else {
        fs::create_dir_all(folder).expect("the build folder can be written");
        fs::write(note, what).expect("the build folder can be written");
    }
}

fn summary_of(folder: &Path) -> String {
    let notes = fs::read_dir(folder).into_iter().flatten();
    let mut skipped: Vec<String> = notes
        .filter_map(|note| fs::read_to_string(note.ok()?.path()).ok())
        .collect();
    skipped.sort();
    // Nothing to remove if nothing was noted.
    let _ = fs::remove_dir_all(folder);
    match skipped.as_slice() {
        [] => "Nothing was skipped.".into(),
        skipped => format!("Skipped: {}.", skipped.join("; ")),
    }
}

/// Below the folder of the profile: every test program of a build lies in its `deps`.
fn folder() -> PathBuf {
    let program = std::env::current_exe().expect("a program knows where it lies");
    let profile = program.ancestors().nth(2).expect("it lies in `deps`");
    profile.join("skipped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_out_is_said_once_and_what_runs_takes_it_back() {
        let folder = std::env::temp_dir().join(format!("privet-skipped-{}", std::process::id()));
        assert_eq!(summary_of(&folder), "Nothing was skipped.");
        for _ in 0..2 {
            note_in(&folder, "what needs b/c (d)", false);
            note_in(&folder, "a", false);
        }
        note_in(&folder, "e", false);
        note_in(&folder, "e", true);
        assert_eq!(summary_of(&folder), "Skipped: a; what needs b/c (d).");
        assert_eq!(summary_of(&folder), "Nothing was skipped.");
    }
}
