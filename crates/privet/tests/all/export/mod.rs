//! Models for other programs, read back by small readers of their formats and compared with the model itself.

mod onnx;
mod readers;
mod reading;
mod xgboost;

use std::ops::ControlFlow;

use crate::engine::table::{self, Labels, MIXED, Of};
use privet::boost::gradient::{Boosted, Gradient, LabelledRows, Training};
use privet::boost::{Ensemble, Link, Member};
use privet::data::schema::Kind;
use privet::data::{Cells, Schema};
use privet::learner::tree::Growth;
use privet::learner::{Learner, Linear, Stump, StumpRule, Term};
use privet::model::{Format, Model, Settings};
use privet::privacy::{Coins, Unprotected};

fn model(schema: &Schema, ensemble: Ensemble) -> Model {
    let leave = Unprotected::unrecorded("test", &schema.relation(), "made up for a test");
    Model::new(
        schema.clone(),
        ensemble,
        leave.certificate(),
        Settings::new(Vec::new()),
    )
    .unwrap()
}

/// Raw cells; one in five is missing or undeclared.
fn raw(rows: usize, seed: u8) -> Vec<Vec<String>> {
    let mut coins = Coins::from_seed([seed; 32]);
    let row = |coins: &mut Coins| {
        MIXED
            .iter()
            .map(|of| {
                let (Of::Number(count) | Of::Category(count) | Of::Ordinal(count)) = *of;
                match (coins.below(10), of) {
                    (0, _) => "?".into(),
                    (1, Of::Number(_)) => format!("{}", coins.unit() * 1e3 - 500.0),
                    (1, _) => "undeclared".into(),
                    (2, Of::Number(_)) => format!("{}", coins.below(u64::from(count)) as f64 - 0.5),
                    _ => coins.below(u64::from(count)).to_string(),
                }
            })
            .collect()
    };
    (0..rows).map(|_| row(&mut coins)).collect()
}

/// The numbers that another program is given for raw cells, by the side file.
fn coded(features: &str, row: &[String]) -> Vec<f32> {
    let file: serde_json::Value = serde_json::from_str(features).unwrap();
    let missing = file["missing"].as_array().unwrap();
    let features = file["features"].as_array().unwrap();
    row.iter()
        .zip(features)
        .map(|(cell, feature)| {
            let code = feature.get("codes").and_then(|codes| codes.get(cell));
            match (code, feature.get("undeclared")) {
                (Some(code), _) => code.as_u64().unwrap() as f32,
                _ if missing.iter().any(|text| text == cell) => f32::NAN,
                (None, Some(code)) => code.as_u64().unwrap() as f32,
                (None, None) => cell.parse::<f64>().map_or(f32::NAN, |x| x as f32),
            }
        })
        .collect()
}

fn boosted(labels: Labels) -> (Schema, Boosted) {
    let (schema, cells) = table::random(&MIXED, labels, 2000, 3);
    let training = Training {
        schema: &schema,
        rows: LabelledRows {
            cells: &cells,
            weights: None,
        },
        validation: None,
        start: None,
    };
    let gradient = Gradient::builder().rounds(8).growth(Growth::Levels(4));
    let boosted = gradient
        .build()
        .unwrap()
        .fit(&training, &mut |_| ControlFlow::Continue(()))
        .unwrap();
    (schema, boosted)
}

fn trees(schema: &Schema, boosted: &Boosted, link: Link) -> Model {
    let outputs = boosted.base.len();
    let members = boosted.trees.iter().enumerate().map(|(place, tree)| Member {
        weight: 1.0,
        output: place % outputs,
        learner: Learner::Tree(tree.clone()),
    });
    let ensemble = Ensemble::new(
        link,
        boosted.base.iter().copied().map(f64::from).collect(),
        members.collect(),
    );
    model(schema, ensemble)
}

/// The model's own scores of raw rows.
fn scores(model: &Model, rows: &[Vec<String>]) -> Vec<f64> {
    let cells: Cells = table::cells(model.schema(), &with_labels(rows));
    model.predict_cells(&cells).unwrap().scores().to_vec()
}

fn with_labels(rows: &[Vec<String>]) -> Vec<Vec<String>> {
    let row = |row: &Vec<String>| row.iter().cloned().chain(["0".into()]).collect();
    rows.iter().map(row).collect()
}

/// Stumps of every kind of rule, on votes.
fn stumps() -> Model {
    let schema = table::schema(&MIXED, Labels::Classes(2));
    let rules = [
        (
            0,
            StumpRule::AtMost {
                slot: 7,
                besides: vec![20],
            },
        ),
        (
            0,
            StumpRule::AtMost {
                slot: 19,
                besides: vec![],
            },
        ),
        (2, StumpRule::OneOf(vec![3, 4, 5, 100, 300])),
        (1, StumpRule::OneOf(vec![0, 2, 5])),
        (1, StumpRule::OneOf(vec![1, 3, 4, 6])),
        (
            3,
            StumpRule::AtMost {
                slot: 1,
                besides: vec![4],
            },
        ),
        (5, StumpRule::OneOf(vec![2, 3, 4, 5, 9, 13])),
        (4, StumpRule::All),
    ];
    let members = rules
        .into_iter()
        .enumerate()
        .map(|(place, (feature, rule))| Member {
            weight: 0.5 + place as f64 / 7.0,
            output: 0,
            learner: Learner::Stump(Stump {
                feature,
                rule,
                left: -1.0,
                right: 0.75,
            }),
        });
    let ensemble = Ensemble::new(Link::Vote, vec![0.125], members.collect());
    model(&schema, ensemble)
}

/// A stump on each cut of a column with a declared scale, saved and read again; and rows around every cut.
fn stretched() -> (Model, Vec<Vec<String>>) {
    let column =
        "c = { type = 'number', min = -5000, max = 1e5, transform = 'log1p', scale = 1000, bins = 12 }";
    let label = "label = { type = 'label', values = ['0', '1'] }";
    let text = format!("dataset = 'd'\nmissing = ['?']\n[columns]\n{column}\n{label}\n");
    let schema = Schema::from_toml("s", &text).unwrap();
    let Kind::Number(number) = &schema.columns()[0].kind else {
        panic!("a number");
    };
    let cuts = number.cuts().points();
    let around = |&cut: &f32| [cut.next_down(), cut, cut.next_up()];
    let rows = cuts.iter().flat_map(around).map(|x| vec![x.to_string()]);
    let rows = rows.chain([vec!["-1e9".into()], vec!["?".into()]]).collect();
    let members = (0..cuts.len() as u16).map(|slot| Member {
        weight: 1.0 + f64::from(slot),
        output: 0,
        learner: Learner::Stump(Stump {
            feature: 0,
            rule: StumpRule::AtMost {
                slot,
                besides: vec![],
            },
            left: -1.0,
            right: 0.5,
        }),
    });
    let ensemble = Ensemble::new(Link::Vote, vec![0.0], members.collect());
    let model = model(&schema, ensemble);
    let again = Model::from_bytes(&model.to_bytes()).unwrap();
    assert_eq!(again.schema(), &schema);
    (again, rows)
}

#[test]
fn the_same_model_gives_the_same_bytes() {
    for format in [Format::XgboostJson, Format::XgboostUbj, Format::Onnx] {
        assert_eq!(stumps().export(format).unwrap(), stumps().export(format).unwrap());
    }
}

#[test]
fn a_weighted_sum_is_refused_by_name() {
    let schema = table::schema(&[Of::Category(3)], Labels::Classes(2));
    let linear = Linear {
        intercept: 0.0,
        terms: vec![Term::Slots(vec![0.0; 5])],
    };
    let ensemble = Ensemble::new(
        Link::Logistic,
        vec![0.0],
        vec![Member {
            weight: 1.0,
            output: 0,
            learner: Learner::Linear(linear),
        }],
    );
    let error = model(&schema, ensemble).export(Format::Onnx).unwrap_err();
    assert!(
        error.to_string().contains("member 0 is a weighted sum"),
        "{error}"
    );
}
