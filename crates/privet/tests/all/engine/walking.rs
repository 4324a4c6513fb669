//! Scores of many rows by made-up trees, against one row and one tree at a time.

use privet::learner::tree::{Child, Column, Node, Rule, Side, Tree, Walker};
use privet::privacy::Coins;

use crate::engine::table::{Labels, MIXED, Of, random};

/// A tree with this many questions about some features, any that the columns can answer. A lopsided one always asks on at the newest leaf.
fn tree(columns: &[Column], about: &[usize], nodes: usize, lopsided: bool, coins: &mut Coins) -> Tree {
    let mut tree = Tree::constant(coins.unit() as f32);
    // Where each leaf hangs: its parent, and whether to the right.
    let mut hangs: Vec<Option<(usize, bool)>> = vec![None];
    for number in 0..nodes {
        let leaf = match lopsided {
            true => number,
            false => coins.below(hangs.len() as u64) as usize,
        };
        if let Some((parent, right)) = hangs[leaf] {
            let parent: &mut Node = &mut tree.nodes[parent];
            *(if right {
                &mut parent.right
            } else {
                &mut parent.left
            }) = Child::Node(number as u32);
        }
        let feature = about[coins.below(about.len() as u64) as usize];
        let column = &columns[feature];
        let rule = match column.ordered && coins.below(4) > 0 {
            true => Rule::UpTo {
                slot: coins.below(column.ordinary as u64) as u16,
                others: [Side::Left, Side::Right][coins.below(2) as usize],
            },
            false => Rule::one_of(column.slots, (0..column.slots).filter(|_| coins.below(3) == 0)),
        };
        let new = tree.leaves.len();
        tree.leaves.push(coins.unit() as f32 - 0.5);
        tree.nodes.push(Node {
            feature: feature as u32,
            rule,
            left: Child::Leaf(leaf as u32),
            right: Child::Leaf(new as u32),
        });
        hangs[leaf] = Some((number, false));
        hangs.push(Some((number, true)));
    }
    tree
}

#[test]
fn made_up_trees_say_the_same_of_many_rows_as_of_each_alone() {
    let narrow = [
        Of::Number(255),
        Of::Category(100),
        Of::Number(2),
        Of::Ordinal(4),
        Of::Category(3),
    ];
    let mut coins = Coins::from_seed([7; 32]);
    let mut depths = Vec::new();
    for (case, rows) in [1, 63, 64, 65, 255, 256, 257, 1100, 3000].into_iter().enumerate() {
        for of in [&narrow[..], &MIXED[..]] {
            let (schema, cells) = random(of, Labels::Classes(2), rows, case as u8);
            let columns = Column::of(&schema);
            let trees: Vec<Tree> = (0..60)
                .map(|number| {
                    // One feature, two, or any.
                    let count = [1, 2, columns.len()][number % 3];
                    let first = coins.below(columns.len() as u64) as usize;
                    let about: Vec<usize> = (first..first + count).map(|x| x % columns.len()).collect();
                    let nodes = match number % 4 {
                        0 => coins.below(3),
                        1 => coins.below(11),
                        _ => coins.below(100),
                    };
                    tree(&columns, &about, nodes as usize, number % 4 == 1, &mut coins)
                })
                .collect();
            depths.extend(trees.iter().map(Tree::depth));
            let base: Vec<f32> = (0..=case % 4).map(|output| output as f32).collect();
            let scores = Walker::new(columns.clone(), &base, &trees)
                .unwrap()
                .scores(&cells);
            assert_eq!(scores.len(), rows * base.len());
            for (row, scores) in scores.chunks(base.len()).enumerate() {
                let mut alone = base.clone();
                for (number, tree) in trees.iter().enumerate() {
                    let leaf = tree.leaf(&columns, |feature| cells.features()[feature].bins.get(row));
                    alone[number % base.len()] += tree.leaves[leaf];
                }
                assert_eq!(scores, alone, "row {row} of {rows}");
            }
        }
    }
    for depth in 0..=12 {
        assert!(depths.contains(&depth), "no tree of depth {depth}");
    }
}
