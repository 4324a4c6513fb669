//! Stumps with exact thresholds in models.

use std::sync::Arc;

use crate::home::Plain;
use privet::Error;
use privet::data::{Intake, Keep, Table};
use privet::model::{Format, Model};
use serde_json::{Value, json};

use super::{edited, leave};
use crate::home::{self, Kinds};

fn stumps(kind: Kinds, abstain: bool) -> Model {
    let lines = format!("rounds = 20\nthresholds = \"exact\"\nabstain = {abstain}");
    let plain = Plain::named("stumps", &lines);
    assert_eq!(plain.keep(), Keep::Values);
    plain
        .fit(home::random(kind, Keep::Values, 500), &leave())
        .unwrap()
}

/// A file is all that is needed to predict raw rows, whatever bins say.
#[test]
fn what_is_read_again_predicts_raw_rows() {
    for (kind, abstain) in [
        (Kinds::Classes(2), false),
        (Kinds::Classes(2), true),
        (Kinds::Classes(3), false),
        (Kinds::Number, false),
    ] {
        let model = stumps(kind, abstain);
        assert!(model.ensemble().summary().ends_with(" stumps"));
        let again = Model::from_bytes(&model.to_bytes()).unwrap();
        assert_eq!(model, again);
        assert_eq!(again.keep(), Keep::Values);
        let job = again.settings().job();
        let said = |key: &str, value: &str| job.contains(&(key.to_owned(), value.to_owned()));
        assert!(said("thresholds", "exact") && said("abstain", &abstain.to_string()));

        let intake = Intake::features_only(Arc::new(again.schema().clone()), again.keep());
        let mut columns = intake.columns();
        for (size, colour, slope) in [("0.31", "red", "low"), ("", "", ""), ("7", "mauve", "high")] {
            for (column, cell) in columns.iter_mut().zip([size, colour, slope]) {
                column.text(cell.as_bytes());
            }
        }
        let piece = intake.piece(columns).unwrap();
        let cells = leave().reveal(Table::new(&intake, vec![piece]).into_cells());
        let predicted = again.predict_cells(&cells).unwrap();
        assert_eq!(predicted.rows(), 3);
        assert_eq!(predicted, model.predict_cells(&cells).unwrap());
    }
}

#[test]
fn cells_without_numbers_are_refused() {
    let model = stumps(Kinds::Classes(2), false);
    let cells = leave().reveal(home::random(Kinds::Classes(2), Keep::Bins, 10).into_cells());
    assert_eq!(
        model.predict_cells(&cells).unwrap_err(),
        Error::misuse("the model weighs numbers, and the cells were read without them")
    );
}

#[test]
fn exact_thresholds_are_not_exported() {
    let model = stumps(Kinds::Classes(2), false);
    for format in [Format::XgboostJson, Format::XgboostUbj, Format::Onnx] {
        let Err(Error::Parameter(why)) = model.export(format) else {
            panic!("an exact threshold was exported");
        };
        let why = why.to_string();
        assert!(
            why.starts_with("the model cannot be exported: its member ")
                && why.ends_with(
                    " is a stump with an exact threshold, and only those on bins can be. Train with thresholds = \"bins\"."
                ),
            "{why}"
        );
    }
}

#[test]
fn thresholds_that_make_no_sense() {
    let model = stumps(Kinds::Classes(2), false);
    let stump = |feature: u32, rule: Value| {
        edited(&model, |body| {
            let stump = &mut body["ensemble"]["members"][0]["learner"]["stump"];
            stump["feature"] = json!(feature);
            stump["rule"] = rule.clone();
        })
    };
    let rule = |missing: u32| json!({"up-to": {"place": 0.5, "missing": missing, "with_missing": true}});
    assert_eq!(
        stump(1, rule(4)),
        "the model's member 0 does not fit: a threshold on feature 1, which is not a number"
    );
    assert_eq!(
        stump(0, rule(5)),
        "the model's member 0 does not fit: feature 0 is missing in slot 128, not 5"
    );
    let more = stump(0, json!({"up-to": {"place": 0.5, "missing": 128}}));
    assert!(
        more.starts_with("the model's body is invalid: missing field `with_missing`"),
        "{more}"
    );
}
