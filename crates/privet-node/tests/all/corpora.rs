//! The fuzz corpora of tables and jobs on stable, cut short and with bytes changed; `PRIVET_FULL=1` at every byte.

use std::path::Path;

use privet_node::{job, table};

#[test]
fn every_corpus_is_decoded_without_a_panic() {
    replay("table", table::decode);
    replay("job", job::decode);
}

fn replay(name: &str, decode: fn(&[u8])) {
    let full = std::env::var_os("PRIVET_FULL").is_some_and(|v| v != "0");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(name);
    let files: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
    assert!(files.len() >= 3);
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
