//! A model's file that came from somebody: it is refused, or it predicts.
//!
//! A fuzzer never guesses a checksum, so bytes are tried twice: as a whole file, and as the rest of a body behind a
//! known schema, sealed as a writer would.

use std::sync::LazyLock;

use privet::boost::{Ensemble, Link};
use privet::data::schema::{Label, category, label, number, ordinal};
use privet::data::{Frame, Schema};
use privet::model::{Model, Predictions, Settings};
use privet::privacy::Unprotected;
use privet::privacy::signature::SigningKey;
use sha2::{Digest, Sha256};

/// A whole file; or `{"ensemble": …, "certificate": …, "settings": …}`, to which the schema is added.
pub fn model(bytes: &[u8]) {
    if let Ok(model) = Model::from_bytes(bytes) {
        used(&model);
    }
    let Some(rest) = std::str::from_utf8(bytes)
        .ok()
        .and_then(|text| text.strip_prefix('{'))
    else {
        return;
    };
    for schema in &*SCHEMAS {
        for version in VERSIONS {
            if let Ok(model) = Model::from_bytes(&sealed(version, schema, rest)) {
                used(&model);
            }
        }
    }
}

/// The formats that are read.
const VERSIONS: [u64; 2] = [1, 2];

/// Schemas as they stand in a body: a number to predict, two classes, three.
static SCHEMAS: LazyLock<[String; 3]> = LazyLock::new(|| [0, 2, 3].map(|classes| text(&schema(classes))));

/// What decodes is written and read again, scores a few rows, and is looked at.
fn used(model: &Model) {
    let again = Model::from_bytes(&model.to_bytes()).expect("what was written is read");
    assert_eq!(&again, model);
    let key = SigningKey::from_bytes(&[7; SigningKey::LENGTH]);
    let (again, origin) = Model::from_file(&model.to_signed_bytes(&key)).expect("what was signed is read");
    assert_eq!((&again, origin.signer), (model, Some(key.public())));
    let features = model.schema().features().count();
    let (signals, reach) = (model.signals(), model.ensemble().reach(features));
    assert_eq!((signals.len(), reach.len()), (features, features));
    assert!(signals.iter().flatten().all(|signal| !signal.deviations.is_nan()));
    let predictions = few(model).expect("rows by the model's schema");
    assert_eq!(predictions.rows(), FEW.len());
    if let Some(count) = predictions.class_count() {
        let classes = predictions.classes().expect("classes");
        assert!(classes.iter().all(|&class| usize::from(class) < count));
        let likely = predictions.probabilities().expect("probabilities");
        assert_eq!(likely.len(), FEW.len() * count);
    }
}

/// What each column of a few rows says.
const FEW: [&str; 6] = ["", "0.5", "-1e30", "red", "high", "true"];

/// What a model says of a few rows.
fn few(model: &Model) -> Result<Predictions, privet::Error> {
    let features = model.schema().features();
    model.predict(&features.fold(Frame::new(), |frame, column| frame.column(&column.name, FEW)))
}

/// A number, a category, an ordinal, and so many classes; a number for none.
fn schema(classes: usize) -> Schema {
    let of = match classes {
        0 => label("label", -5.0..=5.0),
        _ => label("label", ["a", "b", "c"][..classes].to_vec()),
    };
    let columns = [
        number("size", -2.0..=2.0),
        category("colour", ["red", "green", "blue"]),
        ordinal("slope", ["low", "middle", "high"]),
        of,
    ];
    Schema::builder("test")
        .columns(columns)
        .build()
        .expect("a schema")
}

/// A schema as a model's body has it.
fn text(schema: &Schema) -> String {
    let (link, outputs) = match schema.label() {
        Some((_, Label::Classes(declared))) if declared.values().len() > 2 => {
            (Link::Softmax, declared.values().len())
        }
        Some((_, Label::Classes(_))) => (Link::Logistic, 1),
        _ => (Link::Identity, 1),
    };
    let constant = Ensemble::new(link, vec![0.0; outputs], Vec::new());
    let leave = Unprotected::unrecorded("test", &schema.relation(), "a test");
    let settings = Settings::new(Vec::new());
    let model = Model::new(schema.clone(), constant, leave.certificate(), settings);
    let file: serde_json::Value =
        serde_json::from_slice(&model.expect("a model").to_bytes()).expect("a model's file is JSON");
    file["body"]["schema"].to_string()
}

/// A file whose body has this schema and this rest.
fn sealed(version: u64, schema: &str, rest: &str) -> Vec<u8> {
    let body = format!("{{\"schema\":{schema},{rest}");
    let checksum: String = Sha256::digest(&body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{{\"privet-model\":{version},\"sha256\":\"{checksum}\",\"body\":{body}}}\n").into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The corpus would say nothing if its seeds were refused.
    #[test]
    fn every_seed_of_the_corpus_is_a_model() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/model");
        let mut decoded = 0;
        for file in std::fs::read_dir(folder).expect("a corpus") {
            let path = file.expect("an entry").path();
            let text = std::fs::read_to_string(&path).expect("a file");
            let rest = text.strip_prefix('{').expect("an object");
            let fits = SCHEMAS
                .each_ref()
                .map(|schema| Model::from_bytes(&sealed(2, schema, rest)).is_ok());
            if path.file_name().is_some_and(|name| name == "refused") {
                assert_eq!(fits, [false; 3]);
            } else {
                assert_eq!(fits.iter().filter(|fits| **fits).count(), 1, "{}", path.display());
                decoded += 1;
            }
        }
        assert!(decoded >= 6);
    }
}
