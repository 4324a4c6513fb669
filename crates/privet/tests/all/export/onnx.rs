//! The ONNX graph: its operators, and what its trees say about raw rows.

use std::collections::BTreeMap;

use privet::boost::Link;
use privet::model::{Format, Model};

use super::readers::{Field, floats, message, wholes};
use super::{boosted, coded, raw, scores, stretched, stumps, trees};
use crate::engine::table::Labels;

/// The tree operator's lists.
pub(super) struct Trees {
    ints: BTreeMap<String, Vec<usize>>,
    floats: BTreeMap<String, Vec<f32>>,
    modes: Vec<String>,
    nodes: BTreeMap<(usize, usize), usize>,
    leaves: BTreeMap<(usize, usize), usize>,
    outputs: usize,
    operators: Vec<String>,
}

fn read(file: &[u8]) -> Trees {
    let file = message(file);
    assert_eq!(file[&8].len(), 2, "two sets of operators");
    let graph = message(file[&7][0].bytes());
    let operators = graph[&1]
        .iter()
        .map(|node| message(node.bytes())[&4][0].text().to_owned());
    let mut trees = Trees {
        ints: BTreeMap::new(),
        floats: BTreeMap::new(),
        modes: Vec::new(),
        nodes: BTreeMap::new(),
        leaves: BTreeMap::new(),
        outputs: 0,
        operators: operators.collect(),
    };
    for attribute in &message(graph[&1][0].bytes())[&5] {
        let attribute = message(attribute.bytes());
        let name = attribute[&1][0].text().to_owned();
        match attribute[&20][0].whole() {
            2 => trees.outputs = attribute[&3][0].whole() as usize,
            3 => assert!(["NONE", "SUM"].contains(&attribute[&4][0].text())),
            6 => drop(trees.floats.insert(name, floats(attribute[&7][0].bytes()))),
            7 => drop(trees.ints.insert(name, wholes(attribute[&8][0].bytes()))),
            8 => {
                trees.modes = attribute[&9]
                    .iter()
                    .map(|mode: &Field<'_>| mode.text().to_owned())
                    .collect()
            }
            other => panic!("no such attribute: {other}"),
        }
    }
    let pairs = |of: &str| {
        let (trees, ids) = (format!("{of}_treeids"), format!("{of}_nodeids"));
        (trees, ids)
    };
    let places = |(tree, id): (String, String)| -> BTreeMap<(usize, usize), usize> {
        let pairs = trees.ints[&tree]
            .iter()
            .copied()
            .zip(trees.ints[&id].iter().copied());
        pairs.zip(0..).collect()
    };
    let (nodes, leaves) = (places(pairs("nodes")), places(pairs("target")));
    Trees {
        nodes,
        leaves,
        ..trees
    }
}

impl Trees {
    pub(super) fn sums(&self, row: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.outputs];
        let count = self.ints["nodes_treeids"].iter().max().unwrap() + 1;
        for tree in 0..count {
            let mut id = 0;
            let leaf = loop {
                let node = self.nodes[&(tree, id)];
                if self.modes[node] == "LEAF" {
                    break self.leaves[&(tree, id)];
                }
                assert_eq!(self.modes[node], "BRANCH_LT");
                let x = row[self.ints["nodes_featureids"][node]];
                let missing = self.ints["nodes_missing_value_tracks_true"][node] == 1;
                let below = x < self.floats["nodes_values"][node] || x.is_nan() && missing;
                let next = if below {
                    "nodes_truenodeids"
                } else {
                    "nodes_falsenodeids"
                };
                id = self.ints[next][node];
            };
            sums[self.ints["target_ids"][leaf]] += self.floats["target_weights"][leaf];
        }
        sums
    }
}

pub(super) fn exported(model: &Model) -> (Trees, String) {
    let exported = model.export(Format::Onnx).unwrap();
    (read(&exported.model), exported.features)
}

#[test]
fn every_list_has_the_right_length_and_no_false_branch_is_shared() {
    let (trees, _) = exported(&stumps());
    let expected = ["TreeEnsembleRegressor", "Neg", "Sigmoid", "Sigmoid", "Concat"];
    assert_eq!(trees.operators, expected);
    let count = trees.modes.len();
    for (name, list) in &trees.ints {
        let leaves = trees.ints["target_ids"].len();
        assert_eq!(
            list.len(),
            if name.starts_with("nodes") { count } else { leaves },
            "{name}"
        );
    }
    assert!(trees.floats["nodes_hitrates"].iter().all(|&x| x == 0.0));
    // onnxruntime lays the false branch right behind its node: no two nodes can have the same.
    let falses = (0..count)
        .filter(|&node| trees.modes[node] != "LEAF")
        .map(|node| {
            (
                trees.ints["nodes_treeids"][node],
                trees.ints["nodes_falsenodeids"][node],
            )
        });
    let mut seen = std::collections::BTreeSet::new();
    assert!(falses.into_iter().all(|pair| seen.insert(pair)));
}

#[test]
fn stumps_say_the_same_about_raw_rows() {
    let model = stumps();
    let (trees, features) = exported(&model);
    let mut rows = raw(2000, 5);
    rows[0][0] = "-inf".into();
    rows[1][0] = "inf".into();
    for (row, score) in rows.iter().zip(scores(&model, &rows)) {
        let sum = trees.sums(&coded(&features, row))[0];
        assert!(
            (f64::from(sum) - 2.0 * score).abs() < 3e-6,
            "{sum} is not {score} for {row:?}"
        );
    }
}

#[test]
fn cuts_of_a_declared_scale_are_the_same() {
    let (model, rows) = stretched();
    let (trees, features) = exported(&model);
    for (row, score) in rows.iter().zip(scores(&model, &rows)) {
        let sum = trees.sums(&coded(&features, row))[0];
        assert!(
            (f64::from(sum) - 2.0 * score).abs() < 1e-4,
            "{sum} is not {score} for {row:?}"
        );
    }
}

#[test]
fn trees_say_the_same_about_raw_rows() {
    let kinds = [
        (Labels::Classes(2), Link::Logistic, "Concat"),
        (Labels::Classes(4), Link::Softmax, "Softmax"),
        (Labels::Number, Link::Identity, "Clip"),
    ];
    for (labels, link, last) in kinds {
        let (schema, boosted) = boosted(labels);
        let model = trees(&schema, &boosted, link);
        let (trees, features) = exported(&model);
        assert_eq!(trees.operators.last().unwrap(), last);
        let rows = raw(2000, 6);
        let expected = scores(&model, &rows);
        for (row, expected) in rows.iter().zip(expected.chunks(boosted.base.len())) {
            for (sum, expected) in trees.sums(&coded(&features, row)).iter().zip(expected) {
                assert!(
                    (f64::from(*sum) - expected).abs() < 1e-6,
                    "{sum} is not {expected} for {row:?}"
                );
            }
        }
    }
}
