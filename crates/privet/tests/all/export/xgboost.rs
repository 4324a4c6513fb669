//! XGBoost's formats: their structure, and what the trees say about raw rows.

use privet::boost::Link;
use privet::model::{Format, Model};
use serde_json::Value;

use super::readers::ubj;
use super::{boosted, coded, raw, scores, stretched, stumps, trees};
use crate::engine::table::Labels;

pub(super) fn json(model: &Model) -> (Value, String) {
    let exported = model.export(Format::XgboostJson).unwrap();
    (
        serde_json::from_slice(&exported.model).unwrap(),
        exported.features,
    )
}

fn whole(value: &Value) -> i64 {
    value.as_i64().unwrap()
}

/// The leaf of a row, as XGBoost finds it.
fn leaf(tree: &Value, row: &[f32]) -> f32 {
    let at = |list: &str, node: usize| &tree[list][node];
    let mut node = 0;
    while whole(at("left_children", node)) >= 0 {
        let x = row[whole(at("split_indices", node)) as usize];
        let left = if x.is_nan() {
            whole(at("default_left", node)) == 1
        } else if whole(at("split_type", node)) == 1 {
            let nodes = tree["categories_nodes"].as_array().unwrap();
            let place = nodes.iter().position(|n| whole(n) == node as i64).unwrap();
            let begin = whole(&tree["categories_segments"][place]) as usize;
            let size = whole(&tree["categories_sizes"][place]) as usize;
            let set = &tree["categories"].as_array().unwrap()[begin..begin + size];
            !set.iter().any(|code| whole(code) as f32 == x)
        } else {
            x < at("split_conditions", node).as_f64().unwrap() as f32
        };
        let side = if left { "left_children" } else { "right_children" };
        node = whole(at(side, node)) as usize;
    }
    at("split_conditions", node).as_f64().unwrap() as f32
}

pub(super) fn sums(document: &Value, outputs: usize, row: &[f32]) -> Vec<f32> {
    let model = &document["learner"]["gradient_booster"]["model"];
    let mut sums = vec![0.0; outputs];
    for (tree, output) in model["trees"]
        .as_array()
        .unwrap()
        .iter()
        .zip(model["tree_info"].as_array().unwrap())
    {
        sums[whole(output) as usize] += leaf(tree, row);
    }
    sums
}

#[test]
fn every_tree_has_all_lists_of_the_right_length() {
    let (document, _) = json(&stumps());
    let model = &document["learner"]["gradient_booster"]["model"];
    let trees = model["trees"].as_array().unwrap();
    assert_eq!(trees.len(), 8);
    assert_eq!(model["gbtree_model_param"]["num_trees"], "8");
    assert_eq!(model["iteration_indptr"].as_array().unwrap().len(), 9);
    for tree in trees {
        let nodes: usize = tree["tree_param"]["num_nodes"].as_str().unwrap().parse().unwrap();
        for list in [
            "base_weights",
            "default_left",
            "left_children",
            "loss_changes",
            "parents",
            "right_children",
            "split_conditions",
            "split_indices",
            "split_type",
            "sum_hessian",
        ] {
            assert_eq!(tree[list].as_array().unwrap().len(), nodes, "{list}");
        }
        for list in ["base_weights", "loss_changes", "sum_hessian"] {
            assert!(
                tree[list]
                    .as_array()
                    .unwrap()
                    .iter()
                    .all(|x| x.as_f64() == Some(0.0))
            );
        }
        let sets = tree["categories_nodes"].as_array().unwrap();
        assert!(
            sets.is_sorted_by_key(whole),
            "XGBoost reads sets in the order of nodes"
        );
        assert_eq!(tree["categories_sizes"].as_array().unwrap().len(), sets.len());
    }
}

#[test]
fn binary_json_says_the_same() {
    let (schema, boosted) = boosted(Labels::Classes(4));
    for model in [stumps(), trees(&schema, &boosted, Link::Softmax)] {
        let binary = model.export(Format::XgboostUbj).unwrap().model;
        assert_eq!(ubj(&binary), json(&model).0);
    }
}

#[test]
fn stumps_say_the_same_about_raw_rows() {
    let model = stumps();
    let (document, features) = json(&model);
    let rows = raw(2000, 9);
    for (row, score) in rows.iter().zip(scores(&model, &rows)) {
        let sum = sums(&document, 1, &coded(&features, row))[0];
        // Log-odds are twice the margin.
        assert!(
            (f64::from(sum) - 2.0 * score).abs() < 3e-6,
            "{sum} is not {score} for {row:?}"
        );
    }
}

#[test]
fn cuts_of_a_declared_scale_are_the_same() {
    let (model, rows) = stretched();
    let (document, features) = json(&model);
    for (row, score) in rows.iter().zip(scores(&model, &rows)) {
        let sum = sums(&document, 1, &coded(&features, row))[0];
        assert!(
            (f64::from(sum) - 2.0 * score).abs() < 1e-4,
            "{sum} is not {score} for {row:?}"
        );
    }
}

#[test]
fn trees_say_the_same_about_raw_rows() {
    let kinds = [
        (Labels::Classes(2), Link::Logistic),
        (Labels::Classes(4), Link::Softmax),
        (Labels::Number, Link::Identity),
    ];
    for (labels, link) in kinds {
        let (schema, boosted) = boosted(labels);
        let model = trees(&schema, &boosted, link);
        let (document, features) = json(&model);
        let rows = raw(2000, 4);
        let expected = scores(&model, &rows);
        let outputs = boosted.base.len();
        let mut sets = 0;
        for tree in document["learner"]["gradient_booster"]["model"]["trees"]
            .as_array()
            .unwrap()
        {
            sets += tree["categories_nodes"].as_array().unwrap().len();
        }
        assert!(sets > 0, "no set was asked about: the test would miss them");
        for (row, expected) in rows.iter().zip(expected.chunks(outputs)) {
            let sums = sums(&document, outputs, &coded(&features, row));
            for (sum, expected) in sums.iter().zip(expected) {
                assert!(
                    (f64::from(*sum) - expected).abs() < 1e-6,
                    "{sum} is not {expected} for {row:?}"
                );
            }
        }
    }
}
