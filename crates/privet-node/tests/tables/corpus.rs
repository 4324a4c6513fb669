//! The fuzz corpus of tables on stable, cut short and with bytes changed; `PRIVET_FULL=1` at every byte.

use std::path::Path;

use privet_node::table::decode;

#[test]
fn the_corpus_is_decoded_without_a_panic() {
    let full = std::env::var_os("PRIVET_FULL").is_some_and(|v| v != "0");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/table");
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(files.len() >= 5);
    for file in files {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        decode(&bytes);
        let step = if full { 1 } else { bytes.len() / 50 + 1 };
        for place in (0..bytes.len()).step_by(step) {
            decode(&bytes[..place]);
            for byte in [bytes[place] ^ 1, bytes[place] ^ 0x80, b'"', b',', b'\n', b'#'] {
                let mut changed = bytes.clone();
                changed[place] = byte;
                decode(&changed);
            }
        }
    }
}
