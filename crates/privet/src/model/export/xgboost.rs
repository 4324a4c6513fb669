//! The trees as XGBoost writes them.
//!
//! A question whose answer changes once is `x < threshold`. A set of codes is one of XGBoost's own categorical questions:
//! as nested thresholds, each change would need a copy of what is below. XGBoost sends members of the set to the right.
//! A set of bins of a number, which no learner here asks about, is copied out.

use std::collections::VecDeque;

use super::super::Model;
use super::forest::{Ask, Flat, FlatNode, Forest};
use super::value::Value;
use crate::Error;
use crate::boost::{Link, Scale};
use crate::learner::tree::Side;

/// Nodes of one tree, at most.
const MOST: usize = 1 << 22;

/// The whole document.
pub(super) fn document(model: &Model, forest: &Forest) -> Result<Value, Error> {
    if let Some(Scale(transform)) = model.ensemble().scale {
        let why = format!(
            "the model cannot be exported to XGBoost: its label was learnt with transform = \"{}\", which XGBoost's files cannot undo. \
             Export it to ONNX, which can: --format onnx.",
            transform.name()
        );
        return Err(Error::parameter("format", why));
    }
    let trees: Vec<Value> = forest
        .trees
        .iter()
        .enumerate()
        .map(|(id, flat)| Ok(Nodes::of(flat, forest)?.tree(id, forest.coded.len())))
        .collect::<Result<_, Error>>()?;
    let (rounds, outputs) = (trees.len() / forest.outputs, forest.outputs);
    let count = trees.len().to_string();
    let parameters = Value::texts([("num_parallel_tree", "1"), ("num_trees", &count)]);
    let begins = Value::wholes((0..=rounds).map(|round| round * outputs));
    let of_output = Value::wholes((0..trees.len()).map(|tree| tree % outputs));
    let trees = Value::Map(vec![
        ("gbtree_model_param", parameters),
        ("iteration_indptr", begins),
        ("tree_info", of_output),
        ("trees", Value::List(trees)),
    ]);
    let (names, types) = columns(model, forest);
    let (objective, classes, base) = match model.ensemble().link {
        Link::Identity => ("reg:squarederror", 0, "0E0"),
        // A probability: the trees begin at log-odds of nothing.
        Link::Logistic | Link::Vote => ("binary:logistic", 0, "5E-1"),
        Link::Softmax => ("multi:softprob", outputs, "0E0"),
    };
    let (class_count, feature_count) = (classes.to_string(), forest.coded.len().to_string());
    let loss = match classes {
        0 => ("reg_loss_param", Value::texts([("scale_pos_weight", "1")])),
        _ => (
            "softmax_multiclass_param",
            Value::texts([("num_class", &class_count)]),
        ),
    };
    let booster = Value::Map(vec![("model", trees), ("name", Value::text("gbtree"))]);
    let objective = Value::Map(vec![("name", Value::text(objective)), loss]);
    let parameters = Value::texts([
        ("base_score", base),
        ("boost_from_average", "0"),
        ("num_class", &class_count),
        ("num_feature", &feature_count),
        ("num_target", "1"),
    ]);
    let learner = Value::Map(vec![
        ("attributes", Value::Map(Vec::new())),
        ("feature_names", Value::List(names)),
        ("feature_types", Value::List(types)),
        ("gradient_booster", booster),
        ("learner_model_param", parameters),
        ("objective", objective),
    ]);
    Ok(Value::Map(vec![
        ("learner", learner),
        ("version", Value::wholes([2, 1, 0])),
    ]))
}

/// Names and types of the features. XGBoost compares names with those of the rows, so that no two columns are exchanged;
/// names that it does not allow are left out, all of them.
fn columns(model: &Model, forest: &Forest) -> (Vec<Value>, Vec<Value>) {
    let names: Vec<&str> = model
        .schema()
        .features()
        .map(|column| column.name.as_str())
        .collect();
    if names.iter().any(|name| name.contains(['[', ']', '<'])) {
        return (Vec::new(), Vec::new());
    }
    let types = forest
        .coded
        .iter()
        .map(|coded| if *coded { "c" } else { "float" });
    (
        names.into_iter().map(Value::text).collect(),
        types.map(Value::text).collect(),
    )
}

/// A node still to be written, from one of its changes on.
#[derive(Clone, Copy)]
struct PendingNode {
    step: usize,
    from: usize,
}

impl From<usize> for PendingNode {
    fn from(step: usize) -> Self {
        Self { step, from: 0 }
    }
}

/// The lists of a tree, by node.
#[derive(Default)]
struct Nodes {
    left: Vec<i32>,
    right: Vec<i32>,
    parents: Vec<i32>,
    features: Vec<i32>,
    /// Thresholds, and the values of leaves.
    conditions: Vec<f32>,
    default_left: Vec<u8>,
    is_set: Vec<u8>,
    sets: Sets,
}

#[derive(Default)]
struct Sets {
    codes: Vec<i32>,
    nodes: Vec<i32>,
    begins: Vec<i64>,
    sizes: Vec<i64>,
}

impl Nodes {
    fn of(flat: &Flat, forest: &Forest) -> Result<Self, Error> {
        let mut nodes = Self::default();
        // The root has no parent, which XGBoost writes so.
        let mut todo = VecDeque::from([(nodes.add(i32::MAX), PendingNode::from(0))]);
        // First in, first out: sets must come in the order of nodes.
        while let Some((place, part)) = todo.pop_front() {
            let ask = match &flat.0[part.step] {
                FlatNode::Leaf(value) => {
                    nodes.conditions[place] = *value;
                    continue;
                }
                FlatNode::Ask(ask) => ask,
            };
            let children = match ask.changes.len() {
                0 => nodes.missing(place, ask),
                2.. if forest.coded[ask.feature] => nodes.set(place, ask),
                _ => nodes.below(place, ask, part),
            };
            nodes.features[place] = ask.feature as i32;
            if nodes.left.len() + 2 > MOST {
                return Err(Error::parameter(
                    "model",
                    "the model cannot be exported to XGBoost: one of its trees asks about sets of bins, and would have more than four million nodes",
                ));
            }
            let added = children.map(|_| nodes.add(place as i32));
            nodes.left[place] = added[0] as i32;
            nodes.right[place] = added[1] as i32;
            todo.extend(added.into_iter().zip(children));
        }
        Ok(nodes)
    }

    fn add(&mut self, parent: i32) -> usize {
        self.left.push(-1);
        self.right.push(-1);
        self.parents.push(parent);
        self.features.push(0);
        self.conditions.push(0.0);
        self.default_left.push(0);
        self.is_set.push(0);
        self.left.len() - 1
    }

    /// Whether the cell is missing. XGBoost takes no infinite numbers, so no number lies below this.
    fn missing(&mut self, place: usize, ask: &Ask) -> [PendingNode; 2] {
        self.conditions[place] = f32::MIN;
        self.default_left[place] = 1;
        [ask.next(ask.missing).into(), ask.next(ask.first).into()]
    }

    /// Whether the number lies below a change; if not, what comes behind it is asked.
    fn below(&mut self, place: usize, ask: &Ask, part: PendingNode) -> [PendingNode; 2] {
        let (change, next) = (part.from, part.from + 1);
        self.conditions[place] = ask.changes[change];
        self.default_left[place] = u8::from(ask.missing == ask.side(change));
        let above = match next < ask.changes.len() {
            true => PendingNode {
                step: part.step,
                from: next,
            },
            false => ask.next(ask.side(next)).into(),
        };
        [ask.next(ask.side(change)).into(), above]
    }

    /// Whether the code is in a set: those that go right.
    fn set(&mut self, place: usize, ask: &Ask) -> [PendingNode; 2] {
        self.is_set[place] = 1;
        self.default_left[place] = u8::from(ask.missing == Side::Left);
        let begin = self.sets.codes.len();
        // Codes change half-way between two of them. Codes behind the last change are those up to the last one declared
        // or not, which the set names one by one.
        let mut from = 0;
        for (change, end) in ask.changes.iter().map(|point| point.ceil() as i32).enumerate() {
            if ask.side(change) == Side::Right {
                self.sets.codes.extend(from..end);
            }
            from = end;
        }
        if ask.side(ask.changes.len()) == Side::Right {
            self.sets.codes.extend(from..=ask.last);
        }
        self.sets.nodes.push(place as i32);
        self.sets.begins.push(begin as i64);
        self.sets.sizes.push((self.sets.codes.len() - begin) as i64);
        [ask.left.into(), ask.right.into()]
    }

    fn tree(self, id: usize, features: usize) -> Value {
        let count = self.left.len();
        let zeros = || Value::Floats(vec![0.0; count]);
        let parameters = Value::texts([
            ("num_deleted", "0"),
            ("num_feature", &features.to_string()),
            ("num_nodes", &count.to_string()),
            ("size_leaf_vector", "1"),
        ]);
        Value::Map(vec![
            ("base_weights", zeros()),
            ("categories", Value::Ints(self.sets.codes)),
            ("categories_nodes", Value::Ints(self.sets.nodes)),
            ("categories_segments", Value::Longs(self.sets.begins)),
            ("categories_sizes", Value::Longs(self.sets.sizes)),
            ("default_left", Value::Bytes(self.default_left)),
            ("id", Value::Whole(id as i64)),
            ("left_children", Value::Ints(self.left)),
            ("loss_changes", zeros()),
            ("parents", Value::Ints(self.parents)),
            ("right_children", Value::Ints(self.right)),
            ("split_conditions", Value::Floats(self.conditions)),
            ("split_indices", Value::Ints(self.features)),
            ("split_type", Value::Bytes(self.is_set)),
            ("sum_hessian", zeros()),
            ("tree_param", parameters),
        ])
    }
}
