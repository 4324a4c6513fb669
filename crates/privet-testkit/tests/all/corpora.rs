//! The fuzz corpora on stable: every file, cut short and with bytes changed, meets its decoder. `PRIVET_FULL=1` cuts and changes
//! at some five hundred places of each file, otherwise at some fifty.

use std::fs;
use std::path::Path;

use privet_testkit::decoders::TARGETS;

#[test]
fn every_corpus_is_decoded_without_a_panic() {
    let full = std::env::var_os("PRIVET_FULL").is_some_and(|v| v != "0");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let places = if full { 500 } else { 50 };
    // A thread for each decoder.
    std::thread::scope(|threads| {
        for (name, decode) in TARGETS {
            let folder = root.join(name);
            threads.spawn(move || replay(name, &folder, decode, places));
        }
    });
}

fn replay(name: &str, folder: &Path, decode: fn(&[u8]), places: usize) {
    let files: Vec<_> = fs::read_dir(folder).expect("a corpus").collect();
    assert!(
        files.len() >= 3,
        "the corpus of {name} is too small to mean anything"
    );
    for file in files {
        let bytes = fs::read(file.expect("an entry").path()).expect("a file");
        decode(&bytes);
        for place in (0..bytes.len()).step_by(bytes.len() / places + 1) {
            decode(&bytes[..place]);
            for change in [1, 0x20, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                decode(&changed);
            }
            // Digits and quotes are where grammars break.
            for byte in *b"09-\"{[,e" {
                let mut changed = bytes.clone();
                changed[place] = byte;
                decode(&changed);
            }
        }
    }
}

#[test]
fn every_target_has_its_fuzzer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut found: Vec<String> = fs::read_dir(folder)
        .expect("the targets")
        .map(|file| {
            file.expect("an entry")
                .path()
                .file_stem()
                .expect("a name")
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    found.sort();
    let mut listed = TARGETS.map(|(name, _)| name.to_owned()).to_vec();
    // Their decoders are in privet-node and privet-mpc, whose tests replay them.
    listed.extend(["table", "job", "psi"].map(String::from));
    listed.sort();
    assert_eq!(found, listed);
}
