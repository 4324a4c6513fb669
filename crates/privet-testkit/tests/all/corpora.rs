//! The fuzz corpora on stable: every file, cut short and with bytes changed, meets its decoder.

use std::fs;
use std::path::Path;

use privet_mpc::{garble, psi, sum};
use privet_testkit::decoders::{TARGETS, Target, replay};

/// Every decoder that is in reach here; those of `privet-node` are replayed there.
fn targets() -> impl Iterator<Item = Target> {
    let psi: Target = ("psi", |bytes| {
        psi::decode(bytes);
    });
    let sum: Target = ("sum", |bytes| {
        sum::decode(bytes);
    });
    let garble: Target = ("garble", |bytes| {
        garble::decode(bytes);
    });
    TARGETS.into_iter().chain([psi, sum, garble])
}

#[test]
fn every_corpus_is_decoded_without_a_panic() {
    // A thread for each decoder.
    std::thread::scope(|threads| {
        for (name, decode) in targets() {
            threads.spawn(move || replay(name, decode));
        }
    });
}

#[test]
fn every_target_has_its_fuzzer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut found: Vec<String> = fs::read_dir(folder)
        .expect("the targets")
        .map(|file| {
            let path = file.expect("an entry").path();
            let text = fs::read_to_string(&path).expect("its text");
            assert!(text.contains("fuzz_target!("), "{path:?} is no target");
            path.file_stem().expect("a name").to_string_lossy().into_owned()
        })
        .collect();
    found.sort();
    let mut listed: Vec<String> = targets().map(|(name, _)| name.to_owned()).collect();
    listed.extend(["table", "job", "network", "handler"].map(String::from));
    listed.sort();
    assert_eq!(found, listed);
}
