//! Recalibrations, scales and the noise of leaves in a model's file.

use privet::boost::{Calibration, Learner, Scale};
use privet::data::schema::Transform;
use privet::model::{Model, Settings};
use serde_json::{Value, json};

use super::{body, edited, leave, model, refusal, sealed};
use crate::home::{self, Kinds};

fn with(model: &Model, edit: impl Fn(&mut privet::boost::Ensemble)) -> Result<Model, privet::Error> {
    let mut ensemble = model.ensemble().clone();
    edit(&mut ensemble);
    Model::new(
        model.schema().clone(),
        ensemble,
        leave().certificate(),
        Settings::new(Vec::new()),
    )
}

#[test]
fn a_recalibration_changes_probabilities_by_its_formula() {
    for (kind, algorithm) in [
        (2, "stumps"),
        (2, "trees"),
        (2, "logistic"),
        (3, "trees"),
        (3, "logistic"),
    ] {
        let plain = model(Kinds::Classes(kind), algorithm);
        let outputs = plain.ensemble().outputs();
        let calibration = Calibration {
            slope: 0.7,
            intercepts: (0..outputs).map(|output| 0.25 + output as f64).collect(),
        };
        let own = with(&plain, |ensemble| {
            ensemble.calibration = Some(calibration.clone())
        })
        .unwrap();
        let again = Model::from_bytes(&own.to_bytes()).unwrap();
        assert_eq!(again.ensemble(), own.ensemble());
        let rows = leave().reveal(home::random(Kinds::Classes(kind), plain.keep(), 50).into_cells());
        let (before, after) = (
            plain.predict_cells(&rows).unwrap(),
            again.predict_cells(&rows).unwrap(),
        );
        for row in 0..rows.rows() {
            let scores: Vec<f64> = before
                .row(row)
                .iter()
                .zip(&calibration.intercepts)
                .map(|(s, a)| 0.7 * s + a)
                .collect();
            assert_eq!(after.row(row), scores);
            let likely = &after.probabilities().unwrap()[row * kind..][..kind];
            let expected = match scores.as_slice() {
                // Votes are half of log-odds.
                [score] => 1.0 / (1.0 + (-score * if algorithm == "stumps" { 2.0 } else { 1.0 }).exp()),
                several => several[1].exp() / several.iter().map(|s| s.exp()).sum::<f64>(),
            };
            assert!((likely[1] - expected).abs() < 1e-12);
        }
    }
}

#[test]
fn a_number_on_a_scale_is_brought_back_and_kept_between_its_bounds() {
    let plain = model(Kinds::Number, "trees");
    let own = with(&plain, |ensemble| {
        ensemble.scale = Some(Scale(Transform::Asinh(None)));
        ensemble.base[0] += 1.0;
    });
    let again = Model::from_bytes(&own.unwrap().to_bytes()).unwrap();
    let rows = leave().reveal(home::random(Kinds::Number, plain.keep(), 50).into_cells());
    let sums = again.ensemble().scores(again.schema(), &rows).unwrap();
    let values = again.predict_cells(&rows).unwrap();
    for (value, sum) in values.values().unwrap().iter().zip(sums) {
        assert_eq!(*value, sum.sinh().clamp(-5.0, 5.0));
    }
}

#[test]
fn readings_that_do_not_fit_are_refused() {
    let (two, number) = (model(Kinds::Classes(2), "trees"), model(Kinds::Number, "trees"));
    let calibration = |model: &Model, slope: Value, intercepts: Value| {
        edited(model, |body| {
            body["ensemble"]["calibration"] = json!({"slope": slope, "intercepts": intercepts});
        })
    };
    assert_eq!(
        calibration(&two, json!(0.0), json!([0.0])),
        "the model's calibration is invalid: its slope is 0, and must be above zero"
    );
    assert_eq!(
        calibration(&two, json!(1.0), json!([0.0, 0.0])),
        "the model's calibration is invalid: it has 2 intercepts where 1 are needed"
    );
    assert_eq!(
        calibration(&number, json!(1.0), json!([0.0])),
        "the model has a calibration, which is for classes, and its label is a number"
    );
    let scale = |model: &Model, scale: Value| edited(model, |body| body["ensemble"]["scale"] = scale.clone());
    assert_eq!(
        scale(&two, json!({"transform": "asinh"})),
        "the model has a scale for a number, and its label has classes"
    );
    for wrong in [
        json!({"transform": "cube"}),
        json!({"transform": "log", "scale": 2.0}),
        json!({"transform": "asinh", "scale": 0.0}),
    ] {
        let refused = scale(&number, wrong);
        assert!(refused.starts_with("the model's body is invalid: "), "{refused}");
    }
    for slope in [f64::NAN, f64::INFINITY, -1.0] {
        let calibration = Calibration {
            slope,
            intercepts: vec![0.0],
        };
        assert!(with(&two, |ensemble| ensemble.calibration = Some(calibration.clone())).is_err());
    }
}

#[test]
fn the_noise_of_leaves_is_one_number_or_one_for_each() {
    let trees = model(Kinds::Classes(2), "trees");
    let noise = |noise: Value| {
        let mut body = body(&trees);
        body["ensemble"]["members"][0]["learner"]["tree"]["noise"] = noise;
        sealed(&body.to_string())
    };
    let Learner::Tree(tree) = &trees.ensemble().members[0].learner else {
        panic!("a tree");
    };
    let leaves = tree.leaves.len();
    for good in [json!([0.5]), json!(vec![0.25; leaves]), json!([0.0])] {
        let model = Model::from_bytes(&noise(good)).unwrap();
        assert_eq!(Model::from_bytes(&model.to_bytes()).unwrap(), model);
    }
    let refused = |why: &str| format!("the model's member 0 does not fit: the tree is invalid: {why}");
    assert_eq!(
        refusal(&noise(json!([0.5, 0.5]))),
        refused("it has the noise of some leaves, but not of all")
    );
    assert_eq!(
        refusal(&noise(json!([-0.5]))),
        refused("a leaf's noise is not a finite number of at least zero")
    );
}
