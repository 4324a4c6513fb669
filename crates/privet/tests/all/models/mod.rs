//! Models as files: what is written is read again, and whatever else is refused with a reason.

mod exact;
mod explained;
mod old;
mod reading;
mod trees;

use crate::home::{self, Kinds, Plain, mixed, schema, table};
use privet::boost::{Ensemble, Link};
use privet::data::schema::{label, number};
use privet::model::{Model, Settings};
use privet::privacy::signature::SigningKey;
use privet::privacy::{AddRemove, Neighbours, Unprotected};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

fn leave() -> Unprotected {
    Unprotected::unrecorded("test", &AddRemove::row().relation(), "a test")
}

fn model(kind: Kinds, algorithm: &str) -> Model {
    let plain = Plain::named(algorithm, "");
    plain
        .fit(home::random(kind, plain.keep(), 500), &leave())
        .unwrap()
}

/// A file with the right checksum around any body.
fn sealed(body: &str) -> Vec<u8> {
    sealed_in(2, body)
}

fn sealed_in(version: u64, body: &str) -> Vec<u8> {
    let checksum: String = Sha256::digest(body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{{\"privet-model\":{version},\"sha256\":\"{checksum}\",\"body\":{body}}}\n").into_bytes()
}

fn body(model: &Model) -> Value {
    let mut file: Value = serde_json::from_slice(&model.to_bytes()).unwrap();
    file["body"].take()
}

fn refusal(bytes: &[u8]) -> String {
    match Model::from_bytes(bytes) {
        Err(privet::Error::Data(why)) => why.to_string(),
        other => panic!("{other:?}"),
    }
}

/// The refusal of a model whose body was changed and sealed again.
fn edited(model: &Model, edit: impl Fn(&mut Value)) -> String {
    let mut body = body(model);
    edit(&mut body);
    refusal(&sealed(&body.to_string()))
}

#[test]
fn what_is_written_is_read_again() {
    for kind in [Kinds::Classes(2), Kinds::Classes(3), Kinds::Number] {
        for algorithm in ["logistic", "centroid", "stumps", "trees", "constant"] {
            if algorithm == "centroid" && kind == Kinds::Number {
                continue;
            }
            let model = model(kind, algorithm);
            let bytes = model.to_bytes();
            let again = Model::from_bytes(&bytes).unwrap();
            assert_eq!(model, again);
            assert_eq!(bytes, again.to_bytes());
            assert_eq!(bytes, sealed_as_written(&bytes));
            let job = again.settings().job();
            assert_eq!(job[0], ("setting".into(), "plain".into()));
            assert_eq!(job[1], ("algorithm".into(), algorithm.into()));
            assert_eq!(again.settings().version(), env!("CARGO_PKG_VERSION"));
        }
    }
}

/// The file is JSON, and anybody can check its checksum: over the text of the body.
fn sealed_as_written(bytes: &[u8]) -> Vec<u8> {
    let text = std::str::from_utf8(bytes).unwrap();
    let body = text.split_once("\"body\":").unwrap().1;
    sealed(body.strip_suffix("}\n").unwrap())
}

#[test]
fn extreme_numbers_survive() {
    let ensemble = Ensemble::new(
        Link::Softmax,
        vec![f64::MIN_POSITIVE, -f64::MAX, 0.1 + 0.2],
        Vec::new(),
    );
    let model = Model::new(
        mixed(Kinds::Classes(3)),
        ensemble.clone(),
        leave().certificate(),
        Settings::new(Vec::new()),
    );
    let again = Model::from_bytes(&model.unwrap().to_bytes()).unwrap();
    assert_eq!(again.ensemble(), &ensemble);
}

const NO_MODEL: &str = "this is not a model file: one begins with {\"privet-model\":";
const CHANGED: &str = "the model was changed after it was written: its checksum does not match; use the file as privet wrote it";

#[test]
fn files_that_are_no_model() {
    assert_eq!(refusal(b""), "the model's file is empty");
    assert_eq!(refusal(b"39, State-gov, 77516\n"), NO_MODEL);
    assert_eq!(refusal(b"[1, 2]"), NO_MODEL);
    assert_eq!(refusal(b"{\"version\": 1}"), NO_MODEL);
    assert_eq!(refusal(b"{\"privet-model\":0}"), NO_MODEL);
    assert_eq!(refusal(b"\x89PNG\r\n"), NO_MODEL);
    let deep = "[".repeat(100_000);
    assert_eq!(refusal(deep.as_bytes()), NO_MODEL);
    assert_eq!(
        refusal(b"{\"privet-model\":1,\"sha256\":\"00\"}"),
        "this is not a model file written by privet: missing field `body` at line 1 column 32"
    );
    assert_eq!(
        refusal(b"{\"privet-model\":1,\"sha256\":\"00\",\"body\":{},\"notes\":\"\"}"),
        "this is not a model file written by privet: unknown field `notes`, expected one of `privet-model`, `sha256`, `signature`, `body` \
         at line 1 column 49"
    );
}

#[test]
fn files_of_the_first_format() {
    let model = model(Kinds::Classes(2), "stumps");
    let older = sealed_in(1, &body(&model).to_string());
    let (again, origin) = Model::from_file(&older).unwrap();
    assert_eq!(again, model);
    assert!(origin.is_older() && origin.signer.is_none());
    let (_, origin) = Model::from_file(&model.to_bytes()).unwrap();
    assert!(!origin.is_older() && origin.signer.is_none());
}

#[test]
fn files_that_are_signed() {
    let model = model(Kinds::Classes(2), "stumps");
    let key = |byte| SigningKey::from_bytes(&[byte; SigningKey::LENGTH]);
    let bytes = model.to_signed_bytes(&key(7));
    let (again, origin) = Model::from_file(&bytes).unwrap();
    assert_eq!((&again, origin.signer), (&model, Some(key(7).public())));
    assert_eq!(bytes, again.to_signed_bytes(&key(7)), "the same bytes every time");

    let text = String::from_utf8(bytes).unwrap();
    let other = String::from_utf8(
        model
            .clone()
            .with_settings(Settings::new(vec![]))
            .to_signed_bytes(&key(7)),
    );
    let other: Value = serde_json::from_str(&other.unwrap()).unwrap();
    let own: Value = serde_json::from_str(&text).unwrap();
    for (part, why) in [("ed25519", "of another file"), ("key", "by another key")] {
        let theirs = match part {
            "key" => key(8).public().to_string(),
            _ => other["signature"][part].as_str().unwrap().to_owned(),
        };
        let changed = text.replace(own["signature"][part].as_str().unwrap(), &theirs);
        assert_ne!(changed, text);
        let refused = refusal(changed.as_bytes());
        assert!(refused.contains("its signature is bad"), "{why}: {refused}");
    }
    let older = text.replace("{\"privet-model\":2", "{\"privet-model\":1");
    assert!(refusal(older.as_bytes()).contains("format 1 has no signature"));
}

#[test]
fn files_of_the_future() {
    let newer =
        "the model was written by a newer privet (format 3; this one reads 2): update privet to read it";
    assert_eq!(refusal(b"{\"privet-model\":3}"), newer);
    // Whatever else it may hold.
    assert_eq!(
        refusal(b"{\"privet-model\":3,\"sha512\":\"\",\"body\":[null]}"),
        newer
    );
}

#[test]
fn files_that_were_cut_off() {
    let bytes = model(Kinds::Classes(2), "stumps").to_bytes();
    // The line break at the end may go; one byte more is missed.
    assert!(Model::from_bytes(&bytes[..bytes.len() - 1]).is_ok());
    for length in [1, 10, bytes.len() / 2, bytes.len() - 2] {
        assert_eq!(
            refusal(&bytes[..length]),
            format!(
                "the model's file is cut off: it ends in the middle, after {length} bytes; copy it again"
            )
        );
    }
}

#[test]
fn files_that_were_changed() {
    let text = String::from_utf8(model(Kinds::Classes(2), "stumps").to_bytes()).unwrap();
    let weight = text.find("\"weight\":").unwrap() + 9;
    let mut changed = text.clone();
    let digit = if &text[weight..=weight] == "1" { "2" } else { "1" };
    changed.replace_range(weight..=weight, digit);
    assert_eq!(refusal(changed.as_bytes()), CHANGED);
    // Not even a space can be put in.
    assert_eq!(
        refusal(text.replace("\"weight\":", "\"weight\": ").as_bytes()),
        CHANGED
    );
    assert_eq!(
        refusal((text.clone() + "more").as_bytes()),
        format!(
            "the model was changed after it was written: trailing characters at line 2 column 1; use the file as privet wrote it"
        )
    );
    let mut checksum = text.clone();
    let place = text.find("\"sha256\":\"").unwrap() + 10;
    checksum.replace_range(
        place..place + 1,
        if &text[place..=place] == "0" { "1" } else { "0" },
    );
    assert_eq!(refusal(checksum.as_bytes()), CHANGED);
}

#[test]
fn bodies_that_make_no_sense() {
    let stumps = model(Kinds::Classes(2), "stumps");
    let unknown = edited(&stumps, |body| body["counts"] = json!([1, 2]));
    assert!(
        unknown.starts_with(
            "the model's body is invalid: unknown field `counts`, expected one of `schema`, `ensemble`, `certificate`, \
             `settings` at line 1"
        ),
        "{unknown}"
    );
    let gain = edited(&stumps, |body| {
        body["ensemble"]["members"][0]["gain"] = json!(0.5)
    });
    assert!(
        gain.starts_with(
            "the model's body is invalid: unknown field `gain`, expected one of `weight`, `output`, `learner` at line 1"
        ),
        "{gain}"
    );
    let missing = edited(&stumps, |body| body["ensemble"]["base"] = json!([null]));
    assert!(
        missing.starts_with("the model's body is invalid: invalid type: null, expected f64 at line 1"),
        "{missing}"
    );
    let kind = edited(&stumps, |body| {
        body["ensemble"]["members"][0]["learner"] = json!({"oracle": 1});
    });
    assert!(
        kind.starts_with(
            "the model's body is invalid: unknown variant `oracle`, expected one of `stump`, `linear`, `plane`, `region`, `tree` at line 1"
        ),
        "{kind}"
    );
    let text = body(&stumps).to_string();
    let huge = text.replacen("\"weight\":", "\"weight\":1e999,\"was\":", 1);
    let huge = refusal(&sealed(&huge));
    assert!(
        huge.starts_with("the model's body is invalid: number out of range at line 1"),
        "{huge}"
    );
}

#[test]
fn learners_that_do_not_fit_their_schema() {
    let stumps = model(Kinds::Classes(2), "stumps");
    let stump = |field: &'static str, value: Value| {
        edited(&stumps, |body| {
            body["ensemble"]["members"][0]["learner"]["stump"][field] = value.clone();
        })
    };
    assert_eq!(
        stump("feature", json!(3)),
        "the model's member 0 does not fit: a stump asks for feature 3 of 3"
    );
    assert_eq!(
        stump("rule", json!({"at-most": {"slot": 129, "besides": []}})),
        "the model's member 0 does not fit: a stump asks for slot 129 of the 5 of feature 2"
    );
    assert_eq!(
        stump("rule", json!({"one-of": [3, 3]})),
        "the model's member 0 does not fit: the slots of feature 2 are not in rising order"
    );
    assert_eq!(
        edited(&stumps, |body| body["ensemble"]["members"][1]["output"] =
            json!(1)),
        "the model's member 1 does not fit: it adds to score 1 of 1"
    );
    assert_eq!(
        edited(&stumps, |body| body["ensemble"]["base"] = json!([0.0, 0.0])),
        "the model has 2 scores for a row where its label needs 1"
    );
    assert_eq!(
        edited(&stumps, |body| body["ensemble"]["link"] = json!("identity")),
        "the model's scores are of the kind 'identity', which does not fit its label"
    );

    let logistic = model(Kinds::Classes(2), "logistic");
    let linear = |edit: &dyn Fn(&mut Value)| {
        edited(&logistic, |body| {
            edit(&mut body["ensemble"]["members"][0]["learner"]["linear"]["terms"]);
        })
    };
    assert_eq!(
        linear(&|terms| drop(terms.as_array_mut().unwrap().pop())),
        "the model's member 0 does not fit: a sum has 2 terms for 3 features"
    );
    assert_eq!(
        linear(&|terms| terms[1]["slots"] = json!([0.5])),
        "the model's member 0 does not fit: 1 weights for the 5 slots of feature 1"
    );
    assert_eq!(
        linear(&|terms| terms[1] = terms[0].clone()),
        "the model's member 0 does not fit: a slope for feature 1, which is not a number"
    );
    assert_eq!(
        linear(&|terms| terms[0]["number"]["missing"] = json!(7)),
        "the model's member 0 does not fit: feature 0 is missing in slot 128, not 7"
    );
}

#[test]
fn models_that_cannot_be_made() {
    let make = |ensemble: Ensemble, schema| {
        Model::new(schema, ensemble, leave().certificate(), Settings::new(Vec::new()))
            .unwrap_err()
            .to_string()
    };
    let constant = |x: f64| Ensemble::new(Link::Identity, vec![x], Vec::new());
    assert_eq!(
        make(constant(f64::NAN), mixed(Kinds::Number)),
        "the model's base: NaN is not a finite number"
    );
    assert_eq!(
        make(constant(0.0), schema([number("x", 0.0..=1.0)])),
        "the model's schema has no label"
    );
}

/// Cells that were read otherwise are refused, and never a panic.
#[test]
fn cells_of_another_schema_are_refused() {
    let model = model(Kinds::Classes(2), "logistic");
    let other = schema([number("x", 0.0..=1.0), label("label", ["a", "b"])]);
    let cells = |table: privet::data::Table| leave().reveal(table.into_cells());
    let refused = |cells| model.predict_cells(&cells).unwrap_err();
    assert_eq!(
        refused(cells(table(other, model.keep(), &[["1", "a"]]))),
        privet::Error::misuse("the cells were not read for this model's schema")
    );
    let bins = home::random(Kinds::Classes(2), privet::data::Keep::Bins, 10);
    assert_eq!(
        refused(cells(bins)),
        privet::Error::misuse("the model weighs numbers, and the cells were read without them")
    );
}
