//! A summary of an ensemble, in a line and by columns.

use super::Ensemble;
use crate::learner::tree::{Child, Tree};
use crate::learner::{Learner, StumpRule, Term};

impl Ensemble {
    /// Its members, in a line.
    pub fn summary(&self) -> String {
        let count = |n: usize, one: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {one}s"),
        };
        let mut counts = [0; 5];
        for member in &self.members {
            counts[match member.learner {
                Learner::Stump(_) => 0,
                Learner::Linear(_) => 1,
                Learner::Plane(_) => 2,
                Learner::Region(_) => 3,
                Learner::Tree(_) => 4,
            }] += 1;
        }
        let parts: Vec<String> = counts
            .into_iter()
            .zip(["stump", "weighted sum", "plane", "region", "tree"])
            .filter(|(n, _)| *n > 0)
            .map(|(n, one)| count(n, one))
            .collect();
        match parts.is_empty() {
            true => "a constant".into(),
            false => parts.join(" and "),
        }
    }

    /// How many different questions its stumps and trees ask, and about how many features: what a reader of the model learns about where rows were cut.
    pub fn questions(&self) -> (usize, usize) {
        let mut asked = std::collections::BTreeSet::new();
        for member in &self.members {
            match &member.learner {
                Learner::Stump(stump) if stump.rule != StumpRule::All => {
                    asked.insert((stump.feature, format!("{:?}", stump.rule)));
                }
                Learner::Tree(tree) => {
                    let nodes = tree.nodes.iter();
                    asked.extend(nodes.map(|node| (node.feature as usize, format!("{:?}", node.rule))));
                }
                _ => {}
            }
        }
        let features: std::collections::BTreeSet<usize> = asked.iter().map(|(feature, _)| *feature).collect();
        (asked.len(), features.len())
    }

    /// How far each feature can move a row's scores: the largest difference between two of its cells, added up over the
    /// members. In a tree, a question counts with the difference between the mean of the leaves on its left and of those
    /// on its right, each leaf alike. It follows from the model alone.
    pub fn reach(&self, features: usize) -> Vec<f64> {
        let mut reach = vec![0.0; features];
        for member in &self.members {
            let mut add = |feature: usize, span: f64| {
                if let Some(sum) = reach.get_mut(feature) {
                    *sum += member.weight.abs() * span;
                }
            };
            match &member.learner {
                Learner::Stump(stump) => add(stump.feature, (stump.left - stump.right).abs()),
                Learner::Linear(linear) => {
                    for (feature, term) in linear.terms.iter().enumerate() {
                        add(feature, span(term));
                    }
                }
                // A plane can turn a vote round, a region can add or omit one; the features share it by how far each moves the sums.
                Learner::Plane(_) | Learner::Region(_) => {
                    let most = match member.learner {
                        Learner::Plane(_) => 2.0,
                        _ => 1.0,
                    };
                    let sums = member.learner.sums();
                    let spans = sums.iter().flat_map(|sum| sum.terms.iter().map(span).enumerate());
                    let all: f64 = spans.clone().map(|(_, span)| span).sum();
                    for (feature, own) in spans.filter(|_| all > 0.0) {
                        add(feature, most * own / all);
                    }
                }
                Learner::Tree(tree) => {
                    for (node, span) in tree.nodes.iter().zip(spans(tree)) {
                        add(node.feature as usize, span);
                    }
                }
            }
        }
        reach
    }
}

fn span(term: &Term) -> f64 {
    let width = |values: &mut dyn Iterator<Item = f64>| {
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        (high - low).max(0.0)
    };
    match term {
        Term::Number {
            slope, at_missing, ..
        } => width(&mut [*slope, -slope, *at_missing].into_iter()),
        Term::Slots(weights) => width(&mut weights.iter().copied()),
    }
}

/// For each question of a tree, how far the mean of the leaves on its left is from that on its right.
fn spans(tree: &Tree) -> Vec<f64> {
    // Sums and counts of the leaves below each node. Children come after their parents.
    let mut below = vec![[0.0; 2]; tree.nodes.len()];
    let mut spans = vec![0.0; tree.nodes.len()];
    for (place, node) in tree.nodes.iter().enumerate().rev() {
        let sum = |child: Child| match child {
            Child::Leaf(leaf) => [f64::from(tree.leaves[leaf as usize]), 1.0],
            Child::Node(next) => below[next as usize],
        };
        let ([left, lefts], [right, rights]) = (sum(node.left), sum(node.right));
        spans[place] = (left / lefts - right / rights).abs();
        below[place] = [left + right, lefts + rights];
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::boost::{Link, Member};
    use crate::learner::tree::{self, Node};
    use crate::learner::{Linear, Stump, StumpRule};

    #[test]
    fn reach_adds_up_what_each_feature_can_do() {
        let stump = |feature, left, right| {
            Learner::Stump(Stump {
                feature,
                rule: StumpRule::OneOf(vec![0]),
                left,
                right,
            })
        };
        let linear = Learner::Linear(Linear {
            intercept: 7.0,
            terms: vec![
                Term::Number {
                    slope: -0.5,
                    at_missing: 2.0,
                    missing: 9,
                },
                Term::Slots(vec![1.0, 4.0]),
            ],
        });
        let member = |weight, learner| Member::new(weight, 0, learner);
        let ensemble = Ensemble::new(
            Link::Logistic,
            vec![0.0],
            vec![member(2.0, stump(1, 1.0, -1.0)), member(-1.0, linear)],
        );
        assert_eq!(ensemble.reach(2), [2.5, 7.0]);
        assert_eq!(ensemble.summary(), "1 stump and 1 weighted sum");
        let node = |feature, left, right| Node {
            feature,
            rule: tree::Rule::one_of(2, [0]),
            left,
            right,
        };
        let tree = Learner::Tree(Tree::new(
            vec![
                node(0, Child::Leaf(0), Child::Node(1)),
                node(1, Child::Leaf(1), Child::Leaf(2)),
            ],
            vec![1.0, 4.0, 8.0],
        ));
        let trees = Ensemble {
            members: vec![member(-0.5, tree)],
            ..ensemble.clone()
        };
        assert_eq!(trees.reach(2), [2.5, 2.0]);
        assert_eq!(trees.summary(), "1 tree");
        assert_eq!(
            Ensemble {
                members: vec![],
                ..ensemble
            }
            .summary(),
            "a constant"
        );
    }
}
