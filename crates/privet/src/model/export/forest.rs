//! The members as trees that ask about raw numbers and codes.
//!
//! A number is asked about as it is: its slot is how many cut points are at most it, so "slot at most t" is "below the cut
//! point t". Other features are asked about as codes: the place of a declared value, and behind the last one the code of
//! undeclared values. What is missing is not a number (NaN), and each question says where that goes.

use super::super::Model;
use crate::Error;
use crate::boost::{Link, Member};
use crate::data::schema::{Kind, Schema};
use crate::learner::Learner;
use crate::learner::tree::{Child, Column, Side, Tree};

/// Trees that add up to scores.
pub(super) struct Forest {
    /// The trees; the i-th adds to output i modulo the number of outputs, as many for each.
    pub(super) trees: Vec<Flat>,
    pub(super) outputs: usize,
    /// For each feature, whether it is given as a code.
    pub(super) coded: Vec<bool>,
}

/// A tree as a list; the first step is the root, and children come behind their parents.
pub(super) struct Flat(pub(super) Vec<FlatNode>);

pub(super) enum FlatNode {
    Leaf(f32),
    Ask(Ask),
}

/// A question with two answers. Numbers below the first change go one way, those up to the next the other, and so on.
pub(super) struct Ask {
    pub(super) feature: usize,
    /// Where the answer changes, rising.
    pub(super) changes: Vec<f32>,
    /// Where the smallest numbers go.
    pub(super) first: Side,
    /// Where missing cells go.
    pub(super) missing: Side,
    /// How many changes there could be: for a code, the last one.
    pub(super) last: i32,
    pub(super) left: usize,
    pub(super) right: usize,
}

impl Ask {
    /// Where the numbers before this change go, or behind all.
    pub(super) fn side(&self, change: usize) -> Side {
        match (change.is_multiple_of(2), self.first) {
            (true, first) => first,
            (false, Side::Left) => Side::Right,
            (false, Side::Right) => Side::Left,
        }
    }

    /// The step on a side.
    pub(super) fn next(&self, side: Side) -> usize {
        match side {
            Side::Left => self.left,
            Side::Right => self.right,
        }
    }
}

/// How a feature looks from outside: the slot of a number is how many points are at most it.
struct Axis {
    points: Vec<f32>,
    missing: u16,
}

impl Axis {
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Number(number) => Self {
                points: number.cuts().points().to_vec(),
                missing: number
                    .fill()
                    .map_or(number.missing(), |fill| number.cuts().bin(fill as f32)),
            },
            Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => Self {
                points: (0..declared.other()).map(|code| f32::from(code) + 0.5).collect(),
                missing: declared.missing(),
            },
            Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => Self {
                points: Vec::new(),
                missing: 0,
            },
        }
    }

    /// The changes, the first side and the side of missing cells.
    fn ask(&self, is_left: impl Fn(u16) -> bool) -> (Vec<f32>, Side, Side) {
        let side = |slot: u16| if is_left(slot) { Side::Left } else { Side::Right };
        let first = side(0);
        let (mut changes, mut last) = (Vec::new(), first);
        for (slot, &point) in (1..).zip(&self.points) {
            let next = side(slot);
            if next != last {
                changes.push(point);
                last = next;
            }
        }
        (changes, first, side(self.missing))
    }
}

/// The scaling of a leaf's value: multiplied, and for the first tree of an output added to its base.
#[derive(Clone, Copy)]
struct LeafScale {
    by: f64,
    base: f64,
}

impl LeafScale {
    fn leaf(self, value: f64) -> Result<FlatNode, Error> {
        let value = (self.base + self.by * value) as f32;
        if value.is_finite() {
            return Ok(FlatNode::Leaf(value));
        }
        Err(Error::parameter(
            "model",
            "the model cannot be exported: a score is beyond single precision, which the other formats count in",
        ))
    }
}

impl Forest {
    /// The members of a model, as trees.
    pub(super) fn of(model: &Model) -> Result<Self, Error> {
        let (schema, ensemble) = (model.schema(), model.ensemble());
        let flattener = Flattener::new(schema);
        // The others count in log-odds, of which a margin is half.
        let times = if ensemble.link == Link::Vote { 2.0 } else { 1.0 };
        let outputs = ensemble.outputs();
        // A recalibration is a factor of all leaves, and what the first tree of an output begins at.
        let calibration = ensemble.calibration.as_ref();
        let factor = times * calibration.map_or(1.0, |calibration| calibration.slope);
        let begin = |output: usize| {
            let base = ensemble.base[output];
            times * calibration.map_or(base, |calibration| calibration.apply(output, base))
        };
        let mut by_output: Vec<Vec<Flat>> = Vec::new();
        by_output.resize_with(outputs, Vec::new);
        for (number, member) in ensemble.members.iter().enumerate() {
            let own = &mut by_output[member.output];
            let scale = LeafScale {
                by: factor * member.weight,
                base: if own.is_empty() { begin(member.output) } else { 0.0 },
            };
            own.push(flattener.member(number, member, scale)?);
        }
        let rounds = by_output.iter().map(Vec::len).max().unwrap_or(0).max(1);
        let mut lines: Vec<_> = by_output.into_iter().map(Vec::into_iter).collect();
        let mut trees = Vec::with_capacity(rounds * outputs);
        for round in 0..rounds {
            for (output, line) in lines.iter_mut().enumerate() {
                let base = if round == 0 { begin(output) } else { 0.0 };
                trees.push(match line.next() {
                    Some(tree) => tree,
                    None => Flat(vec![LeafScale { by: 0.0, base }.leaf(0.0)?]),
                });
            }
        }
        let coded = schema
            .features()
            .map(|column| !matches!(column.kind, Kind::Number(_)));
        Ok(Self {
            trees,
            outputs,
            coded: coded.collect(),
        })
    }
}

struct Flattener {
    axes: Vec<Axis>,
    columns: Vec<Column>,
}

impl Flattener {
    fn new(schema: &Schema) -> Self {
        Self {
            axes: schema.features().map(|column| Axis::of(&column.kind)).collect(),
            columns: Column::of(schema),
        }
    }

    fn member(&self, number: usize, member: &Member, scale: LeafScale) -> Result<Flat, Error> {
        match &member.learner {
            Learner::Tree(tree) => self.tree(tree, scale),
            // A place is on the transformed scale, and rounding there need not be rounding here.
            Learner::Stump(stump) if stump.rule.needs_values() => Err(Error::parameter(
                "model",
                format!(
                    "the model cannot be exported: its member {number} is a stump with an exact threshold, and only those on bins \
                 can be. Train with thresholds = \"bins\"."
                ),
            )),
            Learner::Stump(stump) => {
                let (left, right) = (scale.leaf(stump.left)?, scale.leaf(stump.right)?);
                let (changes, first, missing) = self.axes[stump.feature].ask(|slot| stump.rule.is_left(slot));
                if changes.is_empty() && first == missing {
                    return Ok(Flat(vec![if first == Side::Left { left } else { right }]));
                }
                let ask = Ask {
                    feature: stump.feature,
                    changes,
                    first,
                    missing,
                    last: self.axes[stump.feature].points.len() as i32,
                    left: 1,
                    right: 2,
                };
                Ok(Flat(vec![FlatNode::Ask(ask), left, right]))
            }
            Learner::Linear(_) | Learner::Plane(_) | Learner::Region(_) => Err(Error::parameter(
                "model",
                format!(
                    "the model cannot be exported: its member {number} is a weighted sum over columns (linear), and only trees and stumps can be. Train with name = \"trees\" or \"stumps\"."
                ),
            )),
        }
    }

    fn tree(&self, tree: &Tree, scale: LeafScale) -> Result<Flat, Error> {
        let root = match tree.nodes.is_empty() {
            true => Child::Leaf(0),
            false => Child::Node(0),
        };
        let mut steps = vec![FlatNode::Leaf(0.0)];
        let mut todo = vec![(root, 0)];
        while let Some((child, place)) = todo.pop() {
            let mut child = child;
            // A question that all answer alike is left out.
            steps[place] = loop {
                let node = match child {
                    Child::Leaf(leaf) => break scale.leaf(tree.leaves[leaf as usize].into())?,
                    Child::Node(node) => &tree.nodes[node as usize],
                };
                let feature = node.feature as usize;
                let column = &self.columns[feature];
                let (changes, first, missing) =
                    self.axes[feature].ask(|slot| node.rule.goes_left(slot, column));
                if changes.is_empty() && first == missing {
                    child = if first == Side::Left {
                        node.left
                    } else {
                        node.right
                    };
                    continue;
                }
                let left = steps.len();
                steps.extend([FlatNode::Leaf(0.0), FlatNode::Leaf(0.0)]);
                todo.extend([(node.left, left), (node.right, left + 1)]);
                break FlatNode::Ask(Ask {
                    feature,
                    changes,
                    first,
                    missing,
                    last: self.axes[feature].points.len() as i32,
                    left,
                    right: left + 1,
                });
            };
        }
        Ok(Flat(steps))
    }
}
