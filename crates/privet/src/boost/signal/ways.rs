//! The way to each leaf of a tree: which slots of which features lead there.
//!
//! Trees come from files that anybody may have written, and may be as deep as they have nodes. So nothing here calls itself, and a step down
//! remembers only the slots that it takes away.

use crate::learner::tree::{Child, Column, Tree};

/// Neighbouring slots of a feature are taken together, so that there are no more than this.
const GROUPS: usize = 32;

/// How many groups so many slots are.
pub(super) fn groups(slots: usize) -> usize {
    slots.min(GROUPS)
}

/// The slots of one feature that lead to a leaf.
pub(super) struct FeatureSlots {
    pub(super) feature: usize,
    inside: Vec<bool>,
    /// How many slots each group has, and how many of them are inside.
    counts: Vec<[u32; 2]>,
}

impl FeatureSlots {
    /// All slots.
    fn new(feature: usize, slots: usize) -> Self {
        let mut counts = vec![[0; 2]; groups(slots)];
        for slot in 0..slots {
            counts[slot * groups(slots) / slots] =
                counts[slot * groups(slots) / slots].map(|count| count + 1);
        }
        Self {
            feature,
            inside: vec![true; slots],
            counts,
        }
    }

    /// Which part of each group of slots is inside.
    pub(super) fn by_group(&self) -> Vec<f64> {
        let part = |[all, inside]: &[u32; 2]| f64::from(*inside) / f64::from(*all);
        self.counts.iter().map(part).collect()
    }

    fn put(&mut self, slot: usize, inside: bool) {
        let slots = self.inside.len();
        let count = &mut self.counts[slot * groups(slots) / slots][1];
        match inside {
            true => *count += 1,
            false => *count -= 1,
        }
        self.inside[slot] = inside;
    }
}

/// One step of the traversal that is still to be done.
enum Visit {
    /// To go out of a node on one side.
    Down { node: usize, left: bool },
    /// To go back to where so many features were asked about and so many slots were taken away.
    Back { asked: usize, taken: usize },
}

/// Calls `tell` for each leaf with the slots that lead to it, of the features on its path.
pub(super) fn each_leaf(tree: &Tree, columns: &[Column], tell: &mut dyn FnMut(usize, &[FeatureSlots])) {
    if tree.nodes.is_empty() {
        return tell(0, &[]);
    }
    let mut asked: Vec<FeatureSlots> = Vec::new();
    // Slots that were taken away on the way here, each with its feature's place among `asked`. No slot is there twice.
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let out_of = |node: usize| [false, true].map(|left| Visit::Down { node, left });
    let mut steps = Vec::from(out_of(0));
    while let Some(step) = steps.pop() {
        let (place, left) = match step {
            Visit::Down { node, left } => (node, left),
            Visit::Back {
                asked: few,
                taken: less,
            } => {
                for (place, slot) in taken.drain(less..) {
                    asked[place].put(slot, true);
                }
                asked.truncate(few);
                continue;
            }
        };
        steps.push(Visit::Back {
            asked: asked.len(),
            taken: taken.len(),
        });
        let node = &tree.nodes[place];
        let (feature, column) = (node.feature as usize, &columns[node.feature as usize]);
        let known = asked.iter().position(|own| own.feature == feature);
        let own = known.unwrap_or(asked.len());
        if known.is_none() {
            asked.push(FeatureSlots::new(feature, column.slots));
        }
        for slot in 0..column.slots {
            if asked[own].inside[slot] && node.rule.goes_left(slot as u16, column) != left {
                asked[own].put(slot, false);
                taken.push((own, slot));
            }
        }
        match if left { node.left } else { node.right } {
            Child::Leaf(leaf) => tell(leaf as usize, &asked),
            Child::Node(next) => steps.extend(out_of(next as usize)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learner::tree::{Node, Rule, Side};

    /// Every row of every cell goes to the one leaf whose way has room for it.
    #[test]
    fn ways_lead_where_rows_go() {
        let column = |slots, ordinary, ordered| Column {
            slots,
            ordinary,
            ordered,
        };
        let columns = [column(70, 68, true), column(3, 2, false)];
        let up_to = |slot, others| Rule::UpTo { slot, others };
        let node = |feature, rule, left, right| Node {
            feature,
            rule,
            left,
            right,
        };
        use Child::{Leaf, Node as Next};
        let nodes = vec![
            node(0, up_to(40, Side::Right), Next(1), Next(2)),
            node(1, Rule::one_of(3, [0, 2]), Next(3), Leaf(0)),
            node(0, up_to(50, Side::Right), Leaf(1), Next(4)),
            node(0, up_to(9, Side::Left), Leaf(2), Leaf(3)),
            node(1, Rule::one_of(3, [1]), Leaf(4), Leaf(5)),
        ];
        let tree = Tree::new(nodes, vec![0.0; 6]);
        tree.check(&columns).expect("a tree");
        let mut rooms = vec![Vec::new(); 6];
        each_leaf(&tree, &columns, &mut |leaf, asked| {
            for own in asked {
                let counted =
                    |at: usize| -> usize { own.counts.iter().map(|count| count[at] as usize).sum() };
                let inside = own.inside.iter().filter(|inside| **inside).count();
                assert_eq!([counted(0), counted(1)], [columns[own.feature].slots, inside]);
            }
            rooms[leaf].push(
                asked
                    .iter()
                    .map(|own| (own.feature, own.inside.clone()))
                    .collect::<Vec<_>>(),
            );
        });
        assert!(rooms.iter().all(|ways| ways.len() == 1), "each leaf once");
        for first in 0..70 {
            for second in 0..3 {
                let row = [first, second];
                let own = tree.leaf(&columns, |feature| row[feature]);
                for (leaf, ways) in rooms.iter().enumerate() {
                    let has_room = ways[0]
                        .iter()
                        .all(|(feature, inside)| inside[usize::from(row[*feature])]);
                    assert_eq!(has_room, leaf == own, "{row:?} {leaf}");
                }
            }
        }
    }
}
