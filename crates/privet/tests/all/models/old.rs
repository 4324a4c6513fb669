//! Models that were written in version 1 of the format, of every kind: each opens and predicts the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use privet::model::Model;

use super::leave;
use crate::home::{self, Kinds};

#[test]
fn models_of_version_one_open_and_predict_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/models/version-1");
    let said = fs::read(folder.join("scores.json")).unwrap();
    let said: BTreeMap<String, Vec<f64>> = serde_json::from_slice(&said).unwrap();
    assert_eq!(said.len(), 27);
    for (name, scores) in said {
        let bytes = fs::read(folder.join(format!("{name}.privet"))).unwrap();
        assert!(bytes.starts_with(b"{\"privet-model\":1,"), "{name}");
        let model = Model::from_bytes(&bytes).unwrap();
        let kind = match name.split('-').next() {
            Some("two") => Kinds::Classes(2),
            Some("three") => Kinds::Classes(3),
            _ => Kinds::Number,
        };
        let rows = leave().reveal(home::random(kind, model.keep(), 40).into_cells());
        assert_eq!(model.predict_cells(&rows).unwrap().scores(), scores, "{name}");
        // What it is written as now says the same.
        let again = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(again, model, "{name}");
        assert!(
            again.signals().iter().all(Option::is_none),
            "nothing is known of its noise"
        );
    }
}
