//! Trees as they are saved, and scores of many rows.

use privet::learner::tree::{Child, Column, Matrix, Node, Rule, Side, Tree, Walker};
use privet::learner::tree::{Engine, Greedy, Grid, Growth, Packed, Plan};
use privet::privacy::Coins;

use crate::engine::table::{Labels, MIXED, Of, random, schema};

fn columns() -> Vec<Column> {
    Column::of(&schema(&[Of::Number(4), Of::Category(3)], Labels::Classes(2)))
}

fn good() -> Tree {
    let first = Node {
        feature: 0,
        rule: Rule::UpTo {
            slot: 1,
            others: Side::Left,
        },
        left: Child::Leaf(0),
        right: Child::Node(1),
    };
    let second = Node {
        feature: 1,
        rule: Rule::one_of(5, [0, 4]),
        left: Child::Leaf(1),
        right: Child::Leaf(2),
    };
    Tree::new(vec![first, second], vec![1.0, 2.0, 3.0])
}

#[test]
fn a_tree_that_makes_no_sense_is_refused() {
    let columns = columns();
    good().check(&columns).unwrap();
    Tree::constant(1.0).check(&columns).unwrap();
    let spoils: [fn(&mut Tree); 13] = [
        |tree| tree.nodes[1].left = Child::Node(0),
        |tree| tree.nodes[1].left = Child::Node(1),
        |tree| tree.nodes[0].right = Child::Node(2),
        |tree| tree.nodes[0].right = Child::Leaf(2),
        |tree| tree.nodes[1].left = Child::Leaf(0),
        |tree| tree.nodes[1].left = Child::Leaf(9),
        |tree| tree.nodes[0].feature = 2,
        |tree| {
            tree.nodes[0].rule = Rule::UpTo {
                slot: 4,
                others: Side::Left,
            }
        },
        |tree| {
            tree.nodes[1].rule = Rule::UpTo {
                slot: 1,
                others: Side::Left,
            }
        },
        |tree| tree.nodes[1].rule = Rule::OneOf { set: vec![1 << 5] },
        |tree| tree.nodes[1].rule = Rule::OneOf { set: vec![1, 0] },
        |tree| tree.leaves[1] = f32::NAN,
        |tree| tree.leaves.push(1.0),
    ];
    for (number, spoil) in spoils.iter().enumerate() {
        let mut tree = good();
        spoil(&mut tree);
        assert!(tree.check(&columns).is_err(), "spoil {number}");
        assert!(
            Walker::new(columns.clone(), &[0.0], &[tree]).is_err(),
            "spoil {number}"
        );
    }
    let empty = Tree::new(vec![], vec![]);
    assert!(empty.check(&columns).is_err());
    assert!(Walker::new(columns, &[], &[]).is_err());
}

#[test]
fn others_go_where_the_rule_says() {
    let columns = columns();
    let tree = good();
    let leaf = |slots: [u16; 2]| tree.leaf(&columns, |feature| slots[feature]);
    assert_eq!(
        [leaf([0, 0]), leaf([1, 0]), leaf([2, 0]), leaf([3, 1])],
        [0, 0, 1, 2]
    );
    assert_eq!(leaf([4, 1]), 0, "a missing number goes left");
    assert_eq!(
        [leaf([3, 3]), leaf([3, 4])],
        [2, 1],
        "undeclared and missing categories are in the set or not"
    );
}

#[test]
fn a_decoded_tree_is_the_encoded_one_and_unknown_fields_are_refused() {
    let text = serde_json::to_string(&good()).unwrap();
    assert_eq!(serde_json::from_str::<Tree>(&text).unwrap(), good());
    let more = text.replacen("\"nodes\"", "\"gain\":1,\"nodes\"", 1);
    assert!(serde_json::from_str::<Tree>(&more).is_err());
    let more = text.replacen("\"feature\"", "\"hessian\":1,\"feature\"", 1);
    assert!(serde_json::from_str::<Tree>(&more).is_err());
}

/// Trees of several shapes on a table with everything in it.
fn forest(columns: &[Of], growth: Growth, seed: u8) -> (Vec<Tree>, privet::data::Cells, Vec<Column>) {
    let (schema, cells) = random(columns, Labels::Classes(2), 1000, seed);
    let matrix = Matrix::new(&cells, &schema).unwrap();
    let mut engine = Engine::new(&matrix);
    let mut coins = Coins::from_seed([seed; 32]);
    let used = vec![true; columns.len()];
    let trees = (0..12)
        .map(|_| {
            let lane = |_| Packed::new(coins.below(2001) as i32 - 1000, coins.below(100) as i32 + 1);
            let lanes: Vec<Packed> = (0..1000).map(lane).collect();
            let plan = Plan {
                lanes: &lanes,
                grid: Grid::UNIT,
                rows: None,
                used: &used,
                growth,
                rate: 0.1,
            };
            engine.grow(
                &plan,
                &Greedy {
                    lambda: 1.0,
                    ..Greedy::default()
                },
            )
        })
        .collect();
    let columns = matrix.columns().to_vec();
    (trees, cells, columns)
}

#[test]
fn many_rows_at_once_get_the_scores_that_each_gets_alone() {
    let numbers = [Of::Number(20), Of::Number(255), Of::Ordinal(4)];
    let growths = [
        Growth::Levels(1),
        Growth::Levels(4),
        Growth::Levels(8),
        Growth::Levels(11),
    ];
    let best = Growth::Best {
        leaves: 40,
        depth: 30,
    };
    for (seed, growth) in growths.into_iter().chain([best]).enumerate() {
        for columns in [&numbers[..], &MIXED[..]] {
            let (trees, cells, columns) = forest(columns, growth, seed as u8);
            let base = [0.25, -1.0, 3.0];
            let scores = Walker::new(columns.clone(), &base, &trees)
                .unwrap()
                .scores(&cells);
            assert_eq!(scores.len(), 3000);
            for row in 0..1000 {
                let mut alone = base;
                for (number, tree) in trees.iter().enumerate() {
                    let leaf = tree.leaf(&columns, |feature| cells.features()[feature].bins.get(row));
                    alone[number % 3] += tree.leaves[leaf];
                }
                assert_eq!(scores[row * 3..row * 3 + 3], alone);
            }
        }
    }
}
