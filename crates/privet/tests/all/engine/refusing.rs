//! What is refused, and what is not because rows alone would tell.

use std::ops::ControlFlow;

use privet::boost::gradient::{Base, Gradient, LabelledRows, Training};
use privet::learner::tree::{Growth, Order};

use crate::engine::boosting::{fit, training};
use crate::engine::table::{Labels, MIXED, cells, random, schema};

#[test]
fn tables_of_nobody_and_of_one_kind_make_models() {
    for labels in [Labels::Classes(2), Labels::Classes(3), Labels::Number] {
        for rows in [0, 1, 50] {
            let schema = schema(&MIXED, labels);
            let row = || {
                vec![
                    "?".to_string(),
                    "?".into(),
                    "?".into(),
                    "?".into(),
                    "?".into(),
                    "?".into(),
                    "0".into(),
                ]
            };
            let cells = cells(&schema, &(0..rows).map(|_| row()).collect::<Vec<_>>());
            for order in [Order::First, Order::Second] {
                let settings = Gradient::builder().rounds(2).order(order).rows(0.5);
                let model = fit(&settings, &training(&schema, &cells));
                model.check(&schema).unwrap();
                assert!(model.trees.iter().all(|tree| tree.nodes.is_empty()));
            }
        }
    }
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let (schema, cells) = random(&MIXED, Labels::Classes(2), 20, 10);
    let usual = Gradient::builder;
    let refused = [
        usual().rate(0.0),
        usual().rate(f64::NAN),
        usual().lambda(-1.0),
        usual().rows(0.0),
        usual().columns(1.5),
        usual().growth(Growth::Levels(0)),
        usual().growth(Growth::Levels(17)),
        usual().growth(Growth::Best { leaves: 1, depth: 5 }),
        usual().growth(Growth::Best {
            leaves: 70_000,
            depth: 5,
        }),
        usual().order(Order::First).monotone(vec![1]),
        usual().monotone(vec![0; 7]),
        usual().base(Base::Given(vec![0.0, 0.0])),
    ];
    for settings in refused {
        let outcome = settings.clone().build().and_then(|settings| {
            settings.fit(&training(&schema, &cells), &mut |_| ControlFlow::Continue(()))
        });
        assert!(
            matches!(outcome, Err(privet::Error::Parameter(_))),
            "{settings:?}"
        );
    }
    let rows = LabelledRows {
        cells: &cells,
        weights: Some(&[1.0]),
    };
    let outcome = usual().build().unwrap().fit(
        &Training {
            rows,
            ..training(&schema, &cells)
        },
        &mut |_| ControlFlow::Continue(()),
    );
    assert!(matches!(outcome, Err(privet::Error::Misuse(_))));
}
