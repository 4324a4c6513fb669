//! Exchanges that another implementation computed, byte for byte (`vectors/psi`).

use std::path::Path;

use privet_mpc::psi::{self, Ids, Key, Run};
use serde_json::Value;

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[test]
fn exchanges_are_what_another_implementation_makes_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/psi/transcript.json");
    let vectors: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let exchanges = vectors["rows"].as_array().unwrap();
    assert!(exchanges.len() >= 4);
    for exchange in exchanges {
        let run = Run::new(hex(&exchange["run"]).try_into().unwrap());
        let party = |role: &str| {
            let party = &exchange[role];
            let ids = party["ids"].as_array().unwrap().iter().map(hex);
            let key = Key::new(&hex(&party["key"]).try_into().unwrap());
            let rows = party["rows"].as_array().unwrap().iter();
            let rows: Vec<usize> = rows.map(|row| row.as_u64().unwrap() as usize).collect();
            (key, Ids::new(ids).unwrap(), rows)
        };
        let (label, bank, rows) = party("label_holder");
        let (feature, shop, their_rows) = party("feature_holder");

        let (expect_answer, offer) = psi::offer(&label, run, &bank).unwrap();
        assert_eq!(offer, hex(&exchange["offer"]));
        let (expect_common, answer) = psi::answer(&feature, run, &shop, &offer).unwrap();
        assert_eq!(answer, hex(&exchange["answer"]));
        let settled = psi::settle(vec![expect_answer.receive(&answer).unwrap()]).unwrap();
        assert_eq!(settled, (rows, vec![hex(&exchange["common"])]));
        assert_eq!(expect_common.receive(&settled.1[0]).unwrap(), their_rows);
    }
}
