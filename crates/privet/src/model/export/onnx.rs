//! The trees as a graph of ONNX operators.
//!
//! `features` [rows, columns] of single-precision numbers goes through `TreeEnsembleRegressor` (ai.onnx.ml 3), and comes
//! out as `scores`; for classes `Sigmoid` or `Softmax` makes `probabilities` of them, a column for each class. They are
//! operators of their own: run-times have returned raw scores where the regressor was asked to do it. A number that was learnt
//! on a scale is brought back from it, and kept between its label's bounds by `Clip`.
//!
//! A question whose answer changes several times is a chain of thresholds whose true branches meet in the same node, as
//! converters of LightGBM write sets: nothing is copied.

use super::super::Model;
use super::forest::{Ask, Flat, FlatNode, Forest};
use super::protobuf::Message;
use crate::boost::{Link, Scale};
use crate::data::schema::{Label, Transform};

const FLOAT: i64 = 1;

/// The whole file.
pub(super) fn encode(model: &Model, forest: &Forest) -> Vec<u8> {
    let opset = |domain: &str, version| Message::default().bytes(1, domain).int(2, version);
    Message::default()
        .int(1, 8)
        .bytes(2, "privet")
        .bytes(3, env!("CARGO_PKG_VERSION"))
        .message(7, graph(model, forest))
        .message(8, opset("", 13))
        .message(8, opset("ai.onnx.ml", 3))
        .into_bytes()
}

fn graph(model: &Model, forest: &Forest) -> Message {
    let link = model.ensemble().link;
    let mut graph = Message::default();
    let bounds = match model.schema().label() {
        Some((_, Label::Number { min, max })) => Some([*min as f32, *max as f32]),
        _ => None,
    };
    let sums = if bounds.is_some() { "sums" } else { "scores" };
    graph = graph.message(1, regressor(forest, sums));
    let mut classes = forest.outputs;
    let mut constants: Vec<(&str, f32)> = Vec::new();
    match link {
        Link::Identity => {
            if let Some([min, max]) = bounds {
                let (operators, units) = inverse(model.ensemble().scale);
                let label = if operators.is_empty() { "sums" } else { "label" };
                for (operator, inputs, output) in operators {
                    graph = graph.message(1, node(operator, inputs, output));
                }
                graph = graph.message(1, node("Clip", &[label, "min", "max"], "scores"));
                let needed = |name: &str| operators.iter().any(|(_, inputs, _)| inputs.contains(&name));
                constants.extend(
                    [("one", 1.0), ("units", units)]
                        .into_iter()
                        .filter(|(name, _)| needed(name)),
                );
                constants.extend([("min", min), ("max", max)]);
            }
        }
        // Neither is a difference from one, so neither is rounded away.
        Link::Logistic | Link::Vote => {
            classes = 2;
            let parts = node("Concat", &["first", "second"], "probabilities");
            graph = graph
                .message(1, node("Neg", &["scores"], "against"))
                .message(1, node("Sigmoid", &["against"], "first"))
                .message(1, node("Sigmoid", &["scores"], "second"))
                .message(1, parts.message(5, int("axis", 1)));
        }
        Link::Softmax => {
            let softmax = node("Softmax", &["scores"], "probabilities");
            graph = graph.message(1, softmax.message(5, int("axis", 1)));
        }
    }
    graph = graph.bytes(2, "privet");
    for (name, value) in constants {
        let tensor = Message::default()
            .int(2, FLOAT)
            .floats(4, &[value])
            .bytes(8, name);
        graph = graph.message(5, tensor);
    }
    graph = graph
        .message(11, matrix("features", forest.coded.len()))
        .message(12, matrix("scores", forest.outputs));
    match link {
        Link::Identity => graph,
        _ => graph.message(12, matrix("probabilities", classes)),
    }
}

/// The operators that make a `label` of `sums`, each with its inputs and its output; none where they are the same.
type Operators = &'static [(&'static str, &'static [&'static str], &'static str)];

/// These, and the units that they may need.
fn inverse(scale: Option<Scale>) -> (Operators, f32) {
    let transform = scale.map_or(Transform::None, |Scale(transform)| transform);
    let operators: Operators = match transform {
        Transform::None => &[],
        Transform::Log => &[("Exp", &["sums"], "label")],
        Transform::Log1p(None) => &[("Exp", &["sums"], "power"), ("Sub", &["power", "one"], "label")],
        Transform::Log1p(_) => &[
            ("Abs", &["sums"], "size"),
            ("Exp", &["size"], "power"),
            ("Sub", &["power", "one"], "distance"),
            ("Sign", &["sums"], "sign"),
            ("Mul", &["distance", "sign"], "signed"),
            ("Mul", &["signed", "units"], "label"),
        ],
        Transform::Sqrt => &[("Relu", &["sums"], "root"), ("Mul", &["root", "root"], "label")],
        Transform::Asinh(_) => &[
            ("Sinh", &["sums"], "ratio"),
            ("Mul", &["ratio", "units"], "label"),
        ],
    };
    (
        operators,
        transform.units().map_or(1.0, |units| units.size() as f32),
    )
}

/// A matrix of any number of rows.
fn matrix(name: &str, columns: usize) -> Message {
    let shape = Message::default()
        .message(1, Message::default().bytes(2, "rows"))
        .message(1, Message::default().int(1, columns as i64));
    let tensor = Message::default().int(1, FLOAT).message(2, shape);
    Message::default()
        .bytes(1, name)
        .message(2, Message::default().message(1, tensor))
}

fn node(operator: &str, inputs: &[&str], output: &str) -> Message {
    inputs
        .iter()
        .fold(Message::default(), |node, input| node.bytes(1, input))
        .bytes(2, output)
        .bytes(3, output)
        .bytes(4, operator)
}

fn int(name: &str, value: i64) -> Message {
    Message::default().bytes(1, name).int(3, value).int(20, 2)
}

fn text(name: &str, value: &str) -> Message {
    Message::default().bytes(1, name).bytes(4, value).int(20, 3)
}

fn floats(name: &str, values: &[f32]) -> Message {
    Message::default().bytes(1, name).floats(7, values).int(20, 6)
}

fn ints(name: &str, values: &[i64]) -> Message {
    Message::default()
        .bytes(1, name)
        .ints(8, values.iter().copied())
        .int(20, 7)
}

fn texts(name: &str, values: &[&str]) -> Message {
    values
        .iter()
        .fold(Message::default().bytes(1, name), |message, value| {
            message.bytes(9, value)
        })
        .int(20, 8)
}

fn regressor(forest: &Forest, output: &str) -> Message {
    let mut lists = Lists::default();
    for (number, flat) in forest.trees.iter().enumerate() {
        lists.tree(number, number % forest.outputs, flat);
    }
    let zeros = vec![0.0; lists.nodes.len()];
    let of = |get: fn(&Node) -> i64| lists.nodes.iter().map(get).collect::<Vec<_>>();
    let leaves = |get: fn(&Leaf) -> i64| lists.leaves.iter().map(get).collect::<Vec<_>>();
    let modes: Vec<&str> = lists
        .nodes
        .iter()
        .map(|node| if node.is_leaf { "LEAF" } else { "BRANCH_LT" })
        .collect();
    let values: Vec<f32> = lists.nodes.iter().map(|node| node.value).collect();
    let weights: Vec<f32> = lists.leaves.iter().map(|leaf| leaf.weight).collect();
    [
        text("aggregate_function", "SUM"),
        int("n_targets", forest.outputs as i64),
        ints("nodes_falsenodeids", &of(|node| node.otherwise)),
        ints("nodes_featureids", &of(|node| node.feature)),
        floats("nodes_hitrates", &zeros),
        ints("nodes_missing_value_tracks_true", &of(|node| node.missing_below)),
        texts("nodes_modes", &modes),
        ints("nodes_nodeids", &of(|node| node.id)),
        ints("nodes_treeids", &of(|node| node.tree)),
        ints("nodes_truenodeids", &of(|node| node.below)),
        floats("nodes_values", &values),
        text("post_transform", "NONE"),
        ints("target_ids", &leaves(|leaf| leaf.output)),
        ints("target_nodeids", &leaves(|leaf| leaf.id)),
        ints("target_treeids", &leaves(|leaf| leaf.tree)),
        floats("target_weights", &weights),
    ]
    .into_iter()
    .fold(
        node("TreeEnsembleRegressor", &["features"], output),
        |node, attribute| node.message(5, attribute),
    )
    .bytes(7, "ai.onnx.ml")
}

#[derive(Default)]
struct Node {
    tree: i64,
    id: i64,
    is_leaf: bool,
    feature: i64,
    value: f32,
    /// Where numbers below the value go, and the others.
    below: i64,
    otherwise: i64,
    missing_below: i64,
}

struct Leaf {
    tree: i64,
    id: i64,
    output: i64,
    weight: f32,
}

#[derive(Default)]
struct Lists {
    nodes: Vec<Node>,
    leaves: Vec<Leaf>,
}

impl Lists {
    /// A step's node has the step's number; what else a chain needs comes behind all steps.
    fn tree(&mut self, tree: usize, output: usize, flat: &Flat) {
        let tree = tree as i64;
        let mut behind = Vec::new();
        for (step, id) in flat.0.iter().zip(0..) {
            match step {
                FlatNode::Leaf(weight) => {
                    self.leaves.push(Leaf {
                        tree,
                        id,
                        output: output as i64,
                        weight: *weight,
                    });
                    self.nodes.push(Node {
                        tree,
                        id,
                        is_leaf: true,
                        ..Node::default()
                    });
                }
                FlatNode::Ask(ask) => {
                    let free = (flat.0.len() + behind.len()) as i64;
                    let mut chain = chain(ask, tree, id, free).into_iter();
                    self.nodes.extend(chain.next());
                    behind.extend(chain);
                }
            }
        }
        self.nodes.append(&mut behind);
    }
}

/// The nodes of a question: the first has this number, the others those from `free` on.
fn chain(ask: &Ask, tree: i64, id: i64, free: i64) -> Vec<Node> {
    let next = |side| ask.next(side) as i64;
    let node = Node {
        tree,
        id,
        feature: ask.feature as i64,
        ..Node::default()
    };
    let count = ask.changes.len();
    if count == 0 {
        // Nothing is below this: only missing cells go there.
        return vec![Node {
            value: f32::NEG_INFINITY,
            below: next(ask.missing),
            otherwise: next(ask.first),
            missing_below: 1,
            ..node
        }];
    }
    ask.changes
        .iter()
        .enumerate()
        .map(|(change, &value)| Node {
            id: if change == 0 { id } else { free + change as i64 - 1 },
            value,
            below: next(ask.side(change)),
            otherwise: if change + 1 < count {
                free + change as i64
            } else {
                next(ask.side(count))
            },
            missing_below: i64::from(ask.missing == ask.side(change)),
            ..node
        })
        .collect()
}
