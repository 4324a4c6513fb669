//! The fuzz corpus on stable, cut short and with bytes changed; `PRIVET_FULL=1` at every byte.

use std::path::Path;

use privet_mpc::psi;

#[test]
fn every_corpus_is_decoded_without_a_panic() {
    let full = std::env::var_os("PRIVET_FULL").is_some_and(|v| v != "0");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/psi");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(files.len() >= 3);
    for file in files {
        let path = file.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        // What is right is taken: otherwise nobody would see that changes no longer come anywhere.
        let wrong = path.ends_with("answer-long");
        assert_ne!(psi::decode(&bytes), wrong, "{}", path.display());
        let step = if full { 1 } else { bytes.len() / 50 + 1 };
        for place in (0..bytes.len()).step_by(step) {
            psi::decode(&bytes[..place]);
            for change in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[place] ^= change;
                psi::decode(&changed);
            }
        }
    }
}
