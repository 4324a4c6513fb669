//! One tree at a time.

use std::sync::atomic::Ordering;

use privet::data::Cells;
use privet::learner::tree::{
    Categories, Child, Engine, Greedy, Grid, Growth, Lane, Matrix, Missing, Order, Packed, Pair, Plan, Rule,
    Side, Tree,
};
use privet::privacy::Coins;

use crate::engine::brute::{Brute, sum};
use crate::engine::table::{Labels, MIXED, Of, cells, random, schema};

pub(crate) fn plan<'a, L>(lanes: &'a [L], used: &'a [bool], growth: Growth) -> Plan<'a, L> {
    Plan {
        lanes,
        grid: Grid::UNIT,
        rows: None,
        used,
        growth,
        rate: 1.0,
    }
}

/// Random gradients that lean on the label, and random hessians; integers, so that sums are exact.
pub(crate) fn lanes(rows: usize, seed: u8) -> Vec<Packed> {
    let mut coins = Coins::from_seed([seed; 32]);
    (0..rows)
        .map(|_| Packed::new(coins.below(2001) as i32 - 1000, coins.below(500) as i32 + 1))
        .collect()
}

#[test]
fn a_tiny_tree_is_as_computed_by_hand() {
    // Four rows; the gradients are -1, -1, 2, 2 and the hessians 1: with lambda = 1 the leaves are 2/3 and -4/3.
    let schema = schema(&[Of::Number(4)], Labels::Classes(2));
    let rows: Vec<Vec<String>> = ["0", "1", "2", "3"]
        .iter()
        .map(|x| vec![x.to_string(), "0".into()])
        .collect();
    let cells = cells(&schema, &rows);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let lanes: Vec<Packed> = [-1, -1, 2, 2].map(|g| Packed::new(g, 1)).to_vec();
    let policy = Greedy {
        lambda: 1.0,
        ..Greedy::default()
    };
    let mut engine = Engine::new(&matrix);
    let tree = engine.grow(&plan(&lanes, &[true], Growth::Levels(1)), &policy);
    assert_eq!(tree.nodes.len(), 1);
    assert_eq!(
        tree.nodes[0].rule,
        Rule::UpTo {
            slot: 1,
            others: Side::Right
        }
    );
    assert_eq!(tree.leaves, [2.0 / 3.0, -4.0 / 3.0]);
    let leaf_of: Vec<u16> = engine
        .leaf_of()
        .iter()
        .map(|leaf| leaf.load(Ordering::Relaxed))
        .collect();
    assert_eq!(leaf_of, [0, 0, 1, 1]);
    // The split is worth (4/3 + 16/3 - 4/5) / 2 = 2.933...
    let dear = Greedy {
        gamma: 2.94,
        ..policy.clone()
    };
    assert_eq!(
        engine.grow(&plan(&lanes, &[true], Growth::Levels(1)), &dear),
        Tree::constant(-0.4)
    );
    let cheap = Greedy {
        gamma: 2.93,
        ..policy.clone()
    };
    assert_eq!(
        engine.grow(&plan(&lanes, &[true], Growth::Levels(1)), &cheap),
        tree
    );
    // Nobody may be alone: three and a half rows a side are not to be had.
    let heavy = Greedy {
        min_child_weight: 3.5,
        ..policy
    };
    assert_eq!(
        engine
            .grow(&plan(&lanes, &[true], Growth::Levels(1)), &heavy)
            .nodes,
        []
    );
}

/// Every node's split is worth as much as the best that plain code finds, every end has none, every leaf its value.
fn check_against_brute_force(cells: &Cells, tree: &Tree, brute: &Brute<'_>, depth: usize) {
    let root = if tree.nodes.is_empty() {
        Child::Leaf(0)
    } else {
        Child::Node(0)
    };
    let mut todo = vec![(root, (0..cells.rows()).collect::<Vec<usize>>(), 0)];
    while let Some((child, rows, level)) = todo.pop() {
        let best = if level < depth {
            brute.best(&rows)
        } else {
            f64::NEG_INFINITY
        };
        match child {
            Child::Node(node) => {
                let node = &tree.nodes[node as usize];
                let gain = brute.gain(node.feature as usize, &node.rule, &rows);
                assert!(
                    (gain - best).abs() <= 1e-9 * best.abs(),
                    "{gain} at {node:?}, {best} is possible"
                );
                let [left, right] = brute.part(node.feature as usize, &node.rule, &rows);
                todo.push((node.left, left, level + 1));
                todo.push((node.right, right, level + 1));
            }
            Child::Leaf(leaf) => {
                let [g, h] = sum(brute.pairs, &rows);
                let value = (-g / (h + brute.policy.lambda)) as f32;
                assert_eq!(tree.leaves[leaf as usize], value);
                assert!(best <= 1e-6 * (g * g / h), "a split worth {best} was left");
            }
        }
    }
}

fn policies() -> Vec<Greedy> {
    let plain = Greedy {
        lambda: 1.0,
        min_child_weight: 1.0,
        ..Greedy::default()
    };
    vec![
        plain.clone(),
        Greedy {
            lambda: 0.0,
            ..plain.clone()
        },
        Greedy {
            lambda: 300.0,
            gamma: 2000.0,
            min_child_weight: 5000.0,
            ..plain.clone()
        },
        Greedy {
            missing: Missing::To(Side::Left),
            ..plain.clone()
        },
        Greedy {
            missing: Missing::To(Side::Right),
            ..plain.clone()
        },
        Greedy {
            categories: Categories::OneVsRest,
            ..plain.clone()
        },
        Greedy {
            order: Order::First,
            lambda: 0.0,
            ..plain
        },
    ]
}

#[test]
fn no_rule_is_better_than_the_one_that_was_chosen() {
    for (seed, policy) in policies().into_iter().enumerate() {
        let seed = seed as u8;
        let (schema, cells) = random(&MIXED, Labels::Classes(2), 400, seed);
        let matrix = Matrix::new(&cells, &schema).unwrap();
        let lanes = lanes(cells.rows(), seed + 100);
        let pairs: Vec<[f64; 2]> = lanes.iter().map(|lane| lane.pair()).collect();
        let brute = Brute {
            cells: &cells,
            columns: matrix.columns(),
            pairs: &pairs,
            policy: &policy,
        };
        for growth in [
            Growth::Levels(3),
            Growth::Best {
                leaves: 1000,
                depth: 3,
            },
        ] {
            let tree = Engine::new(&matrix).grow(&plan(&lanes, &[true; 6], growth), &policy);
            tree.check(matrix.columns()).unwrap();
            assert!(tree.nodes.len() > 2, "{policy:?} grew {tree:?}");
            check_against_brute_force(&cells, &tree, &brute, 3);
        }
    }
}

#[test]
fn one_split_under_a_monotone_rule_is_the_best_that_obeys() {
    for (seed, direction) in [(1, 1), (2, -1), (3, 1), (4, -1)] {
        let columns = [Of::Number(20), Of::Number(9)];
        let (schema, cells) = random(&columns, Labels::Classes(2), 300, seed);
        let policy = Greedy {
            lambda: 1.0,
            monotone: vec![direction, -direction],
            ..Greedy::default()
        };
        let matrix = Matrix::new(&cells, &schema).unwrap();
        let lanes = lanes(cells.rows(), seed);
        let pairs: Vec<[f64; 2]> = lanes.iter().map(|lane| lane.pair()).collect();
        let brute = Brute {
            cells: &cells,
            columns: matrix.columns(),
            pairs: &pairs,
            policy: &policy,
        };
        let tree = Engine::new(&matrix).grow(&plan(&lanes, &[true; 2], Growth::Levels(1)), &policy);
        check_against_brute_force(&cells, &tree, &brute, 1);
    }
}

#[test]
fn a_monotone_feature_moves_scores_one_way() {
    let columns = [Of::Number(20), Of::Number(9), Of::Category(4)];
    let (schema, cells) = random(&columns, Labels::Classes(2), 3000, 9);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let lanes = lanes(cells.rows(), 9);
    let slots = |row: usize, feature: usize| cells.features()[feature].bins.get(row);
    let breaks = |direction: i8| {
        let policy = Greedy {
            lambda: 1.0,
            monotone: vec![direction, 0, 0],
            ..Greedy::default()
        };
        let tree = Engine::new(&matrix).grow(&plan(&lanes, &[true; 3], Growth::Levels(6)), &policy);
        assert!(tree.nodes.len() > 10);
        let value = |row: usize, slot: u16| {
            tree.leaves[tree.leaf(matrix.columns(), |f| if f == 0 { slot } else { slots(row, f) })]
        };
        let sign = if direction == 0 { 1.0 } else { f32::from(direction) };
        (0..300).any(|row| (1..20).any(|slot| sign * value(row, slot) < sign * value(row, slot - 1)))
    };
    assert!(!breaks(1) && !breaks(-1));
    assert!(breaks(0), "without a rule these gradients break it");
}

#[test]
fn the_best_leaf_grows_first_and_no_further_than_it_may() {
    let (schema, cells) = random(&MIXED, Labels::Classes(2), 2000, 13);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let lanes = lanes(cells.rows(), 14);
    let policy = Greedy {
        lambda: 1.0,
        ..Greedy::default()
    };
    let mut engine = Engine::new(&matrix);
    let mut grow =
        |leaves, depth| engine.grow(&plan(&lanes, &[true; 6], Growth::Best { leaves, depth }), &policy);
    for leaves in [2, 3, 7, 20] {
        let tree = grow(leaves, 100);
        assert_eq!(tree.leaves.len(), leaves);
        // One leaf more asks one question more, and the same ones before it.
        let next = grow(leaves + 1, 100);
        let asked = |tree: &Tree| {
            tree.nodes
                .iter()
                .map(|node| (node.feature, node.rule.clone()))
                .collect::<Vec<_>>()
        };
        assert_eq!(asked(&next)[..leaves - 1], asked(&tree)[..]);
    }
    assert!(grow(100, 3).depth() <= 3);
    assert!(grow(64, 100).depth() > 6);
}

#[test]
fn rows_that_do_not_count_find_their_leaves_all_the_same() {
    let (schema, cells) = random(&MIXED, Labels::Classes(2), 1000, 15);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let lanes = lanes(cells.rows(), 16);
    let odd: Vec<u32> = (0..1000).filter(|row| row % 2 == 1).collect();
    let policy = Greedy {
        lambda: 1.0,
        ..Greedy::default()
    };
    let mut engine = Engine::new(&matrix);
    let used = [true, false, true, false, true, true];
    let tree = engine.grow(
        &Plan {
            rows: Some(&odd),
            ..plan(&lanes, &used, Growth::Levels(4))
        },
        &policy,
    );
    assert!(tree.nodes.iter().all(|node| used[node.feature as usize]));
    let mut sums = vec![[0.0; 2]; tree.leaves.len()];
    for (row, lane) in lanes.iter().enumerate() {
        let leaf = tree.leaf(matrix.columns(), |feature| {
            cells.features()[feature].bins.get(row)
        });
        assert_eq!(usize::from(engine.leaf_of()[row].load(Ordering::Relaxed)), leaf);
        if row % 2 == 1 {
            let [g, h] = lane.pair();
            sums[leaf] = [sums[leaf][0] + g, sums[leaf][1] + h];
        }
    }
    for (leaf, [g, h]) in tree.leaves.iter().zip(sums) {
        assert_eq!(*leaf, (-g / (h + 1.0)) as f32);
    }
}

#[test]
fn floats_grow_the_same_tree_as_integers_that_fit_them() {
    let (schema, cells) = random(&MIXED, Labels::Classes(2), 3000, 17);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let packed = lanes(cells.rows(), 18);
    // Sums of these are below 2²⁴: exact in single precision, too.
    let pairs: Vec<Pair> = packed
        .iter()
        .map(|lane| Pair(lane.pair().map(|x| x as f32)))
        .collect();
    let policy = Greedy {
        lambda: 1.0,
        ..Greedy::default()
    };
    let mut engine = Engine::new(&matrix);
    let integers = engine.grow(&plan(&packed, &[true; 6], Growth::Levels(5)), &policy);
    let floats = engine.grow(&plan(&pairs, &[true; 6], Growth::Levels(5)), &policy);
    assert_eq!(integers, floats);
}

#[test]
fn extreme_lanes_do_not_overflow() {
    // As many rows as a chunk takes and more, all at the edge of the grid.
    let schema = schema(&[Of::Number(2)], Labels::Classes(2));
    let rows: Vec<Vec<String>> = (0..70_000)
        .map(|i| vec![(i % 2).to_string(), "0".into()])
        .collect();
    let cells = cells(&schema, &rows);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let lanes: Vec<Packed> = (0..70_000)
        .map(|i| Packed::new(if i % 2 == 0 { -99_999 } else { 99_999 }, 99_999))
        .collect();
    let tree = Engine::new(&matrix).grow(&plan(&lanes, &[true], Growth::Levels(1)), &Greedy::default());
    let edge = f64::from(Packed::GRADIENT) / f64::from(Packed::HESSIAN);
    assert_eq!(tree.leaves, [edge as f32, -edge as f32]);
}
