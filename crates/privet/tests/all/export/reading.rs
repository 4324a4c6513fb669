//! Recalibrated probabilities, and numbers that were learnt on a scale, in both formats.

use std::collections::BTreeMap;

use privet::boost::{Calibration, Link, Scale};
use privet::data::schema::{Transform, Units};
use privet::model::{Format, Model};

use super::readers::{floats, message};
use super::{boosted, coded, model, onnx, raw, stumps, table, trees, with_labels, xgboost};
use crate::engine::table::Labels;

/// What the graph makes of the regressor's sums, operator by operator, as ONNX defines them.
fn run(file: &[u8], sums: Vec<f32>) -> BTreeMap<String, Vec<f32>> {
    let file = message(file);
    let graph = message(file[&7][0].bytes());
    let mut known = BTreeMap::new();
    for constant in graph.get(&5).into_iter().flatten() {
        let constant = message(constant.bytes());
        known.insert(constant[&8][0].text().to_owned(), floats(constant[&4][0].bytes()));
    }
    for (place, node) in graph[&1].iter().enumerate() {
        let node = message(node.bytes());
        let output = node[&2][0].text().to_owned();
        if place == 0 {
            known.insert(output, sums.clone());
            continue;
        }
        let inputs: Vec<&Vec<f32>> = node[&1].iter().map(|input| &known[input.text()]).collect();
        let each = |f: &dyn Fn(f32) -> f32| inputs[0].iter().map(|&x| f(x)).collect();
        let pairs = |f: &dyn Fn(f32, f32) -> f32| {
            let other = inputs[1].iter().cycle();
            inputs[0].iter().zip(other).map(|(&a, &b)| f(a, b)).collect()
        };
        let value: Vec<f32> = match node[&4][0].text() {
            "Neg" => each(&|x| -x),
            "Abs" => each(&f32::abs),
            "Exp" => each(&f32::exp),
            "Sinh" => each(&f32::sinh),
            "Relu" => each(&|x| x.max(0.0)),
            "Sign" => each(&|x| if x == 0.0 { 0.0 } else { x.signum() }),
            "Sigmoid" => each(&|x| 1.0 / (1.0 + (-x).exp())),
            "Sub" => pairs(&|a, b| a - b),
            "Mul" => pairs(&|a, b| a * b),
            "Clip" => each(&|x| x.max(inputs[1][0]).min(inputs[2][0])),
            "Concat" => inputs.iter().flat_map(|x| x.iter().copied()).collect(),
            "Softmax" => {
                let total: f32 = inputs[0].iter().map(|x| x.exp()).sum();
                each(&|x| x.exp() / total)
            }
            other => panic!("no such operator: {other}"),
        };
        known.insert(output, value);
    }
    known
}

fn calibrated(model: &Model, calibration: Calibration) -> Model {
    let mut ensemble = model.ensemble().clone();
    ensemble.calibration = Some(calibration);
    super::model(model.schema(), ensemble)
}

fn near(a: f32, b: f64, reach: f64) -> bool {
    (f64::from(a) - b).abs() <= reach * b.abs().max(1.0)
}

#[test]
fn recalibrated_probabilities_are_the_same_in_both_formats() {
    let kinds = [
        (Labels::Classes(2), Link::Logistic),
        (Labels::Classes(4), Link::Softmax),
    ];
    let plain = kinds.map(|(labels, link)| {
        let (schema, boosted) = boosted(labels);
        trees(&schema, &boosted, link)
    });
    for plain in plain.into_iter().chain([stumps()]) {
        let outputs = plain.ensemble().outputs();
        let intercepts: Vec<f64> = (0..outputs).map(|output| 0.3 - output as f64).collect();
        let own = calibrated(
            &plain,
            Calibration {
                slope: 0.6,
                intercepts,
            },
        );
        let rows = raw(300, 4);
        let cells = table::cells(own.schema(), &with_labels(&rows));
        let (said, before) = (
            own.predict_cells(&cells).unwrap(),
            plain.predict_cells(&cells).unwrap(),
        );
        let (likely, moved) = (said.probabilities().unwrap(), before.probabilities().unwrap());
        assert!(likely.iter().zip(&moved).any(|(a, b)| (a - b).abs() > 0.05));
        let (document, features) = xgboost::json(&own);
        let (onnx, onnx_features) = onnx::exported(&own);
        let file = own.export(Format::Onnx).unwrap().model;
        let times = if own.ensemble().link == Link::Vote {
            2.0
        } else {
            1.0
        };
        let classes = said.class_count().unwrap();
        for (row, raw) in rows.iter().enumerate() {
            let sums = xgboost::sums(&document, outputs, &coded(&features, raw));
            for (sum, score) in sums.iter().zip(said.row(row)) {
                assert!(
                    near(*sum, times * score, 5e-6),
                    "{sum} is not {score} for {raw:?}"
                );
            }
            let known = run(&file, onnx.sums(&coded(&onnx_features, raw)));
            for (a, b) in known["probabilities"].iter().zip(&likely[row * classes..]) {
                assert!(near(*a, *b, 5e-6), "{a} is not {b} for {raw:?}");
            }
        }
    }
}

#[test]
fn numbers_that_were_learnt_on_a_scale_come_back_in_onnx_only() {
    let (schema, boosted) = boosted(Labels::Number);
    let units = |transform: Transform, size: f64| transform.in_units(Units::new(size).unwrap()).unwrap();
    let (log, asinh) = (Transform::Log1p(None), Transform::Asinh(None));
    let all = [
        Transform::None,
        Transform::Log,
        log,
        Transform::Sqrt,
        asinh,
        units(log, 0.2),
        units(asinh, 0.2),
    ];
    for transform in all {
        let mut ensemble = trees(&schema, &boosted, Link::Identity).ensemble().clone();
        ensemble.scale = Some(Scale(transform));
        let own = model(&schema, ensemble.clone());
        assert_eq!(Model::from_bytes(&own.to_bytes()).unwrap(), own);
        for format in [Format::XgboostJson, Format::XgboostUbj] {
            let refused = own.export(format).unwrap_err().to_string();
            let (name, way) = (format!("transform = \"{}\"", transform.name()), "--format onnx");
            assert!(refused.contains(&name) && refused.contains(way), "{refused}");
        }
        let rows = raw(300, 6);
        let cells = table::cells(&schema, &with_labels(&rows));
        let (sums, said) = (
            ensemble.scores(&schema, &cells).unwrap(),
            own.predict_cells(&cells).unwrap(),
        );
        let (onnx, features) = onnx::exported(&own);
        let file = own.export(Format::Onnx).unwrap().model;
        for ((raw, sum), value) in rows.iter().zip(sums).zip(said.values().unwrap()) {
            let (min, max) = (-100.0, 100.0);
            let expected = Scale(transform).label(sum).max(min).min(max);
            assert_eq!(*value, expected);
            let known = run(&file, onnx.sums(&coded(&features, raw)));
            assert!(
                near(known["scores"][0], *value, 1e-5),
                "{:?} is not {value}: {transform:?}",
                known["scores"]
            );
        }
    }
}
