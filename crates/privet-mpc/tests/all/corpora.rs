//! The fuzz corpus as it is: the test kit cuts it short and changes bytes.

use std::path::Path;

use privet_mpc::psi;

/// Otherwise nobody would see that changes no longer come anywhere.
#[test]
fn what_is_right_in_the_corpus_is_taken() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/psi");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let wrong = path.ends_with("answer-long");
        let bytes = std::fs::read(&path).unwrap();
        assert_ne!(psi::decode(&bytes), wrong, "{}", path.display());
    }
}
