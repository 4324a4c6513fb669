//! The fuzz corpora as they are: the test kit cuts them short and changes bytes.

use std::path::Path;

use privet_mpc::{garble, psi, sum};

type Decoder = (&'static str, fn(&[u8]) -> bool);

/// Otherwise nobody would see that changes no longer come anywhere.
#[test]
fn what_is_right_in_the_corpus_is_taken() {
    let decoders: [Decoder; 3] = [
        ("garble", garble::decode),
        ("psi", psi::decode),
        ("sum", sum::decode),
    ];
    for (name, decode) in decoders {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
        for file in std::fs::read_dir(folder.join(name)).unwrap() {
            let path = file.unwrap().path();
            let wrong =
                path.to_string_lossy().ends_with("-long") || path.to_string_lossy().ends_with("-wrong");
            let bytes = std::fs::read(&path).unwrap();
            assert_ne!(decode(&bytes), wrong, "{}", path.display());
        }
    }
}
