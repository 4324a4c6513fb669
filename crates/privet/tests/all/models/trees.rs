//! Trees in models.

use std::thread;

use crate::home::Plain;
use privet::boost::{Ensemble, Learner, Link, Member};
use privet::learner::tree::{Child, Node, Rule, Tree};
use privet::model::{Model, Settings};
use serde_json::{Value, json};

use super::{edited, leave, model};
use crate::home::{self, Kinds};

/// Whatever a tree's file says, it ends everywhere and asks only what its schema can answer.
#[test]
fn trees_that_make_no_sense() {
    let trees = Plain::named("trees", "rounds = 2\ndepth = 2");
    let trees = trees
        .fit(home::random(Kinds::Classes(2), trees.keep(), 500), &leave())
        .unwrap();
    let tree = |edit: &dyn Fn(&mut Value)| {
        edited(&trees, |body| {
            edit(&mut body["ensemble"]["members"][0]["learner"]["tree"]);
        })
    };
    let refused = |why: &str| format!("the model's member 0 does not fit: the tree is invalid: {why}");
    let child = refused("a child comes before its parent, twice, or not at all");
    assert_eq!(tree(&|tree| tree["nodes"][0]["left"] = json!({"node": 9})), child);
    assert_eq!(
        tree(&|tree| tree["nodes"][0]["left"] = json!({"leaf": 99})),
        child
    );
    assert_eq!(tree(&|tree| tree["nodes"][0]["left"] = json!({"node": 0})), child);
    assert_eq!(tree(&|tree| tree["nodes"][2]["left"] = json!({"node": 1})), child);
    assert_eq!(
        tree(&|tree| tree["nodes"][0]["left"] = tree["nodes"][0]["right"].clone()),
        child
    );
    assert_eq!(
        tree(&|tree| tree["nodes"][0]["feature"] = json!(3)),
        refused("it asks about a feature that does not exist")
    );
    for leaf in [f32::NAN, f32::INFINITY] {
        let mut ensemble = trees.ensemble().clone();
        if let Learner::Tree(tree) = &mut ensemble.members[0].learner {
            tree.leaves[0] = leaf;
        }
        assert_eq!(
            ensemble.check(trees.schema()).unwrap_err().to_string(),
            refused("a leaf is not a finite number")
        );
    }
    let huge = tree(&|tree| tree["leaves"][0] = json!(1e39));
    assert!(
        huge.starts_with("the model's body is invalid: number out of range at line 1"),
        "{huge}"
    );
    assert_eq!(
        tree(&|tree| drop(tree["leaves"].as_array_mut().unwrap().pop())),
        refused("it must have one leaf more than nodes, and at most 65536")
    );
    let slots = refused("it asks about slots that its feature does not have");
    let rule = |feature: u32, rule: Value| {
        tree(&|tree| {
            tree["nodes"][0]["feature"] = json!(feature);
            tree["nodes"][0]["rule"] = rule.clone();
        })
    };
    assert_eq!(rule(0, json!({"up_to": {"slot": 128, "others": "left"}})), slots);
    assert_eq!(rule(1, json!({"up_to": {"slot": 0, "others": "left"}})), slots);
    assert_eq!(rule(1, json!({"one_of": {"set": []}})), slots);
    assert_eq!(rule(1, json!({"one_of": {"set": [32]}})), slots);
    let nothing = tree(&|tree| tree["leaves"][0] = json!(null));
    assert!(
        nothing.starts_with("the model's body is invalid: invalid type: null, expected f32 at line 1"),
        "{nothing}"
    );
    let gain = tree(&|tree| tree["nodes"][0]["gain"] = json!(0.5));
    assert!(
        gain.starts_with("the model's body is invalid: unknown field `gain`"),
        "{gain}"
    );
}

/// Trees beside other learners, with weights: each adds its part.
#[test]
fn trees_stand_beside_other_learners() {
    let [stumps, trees] = ["stumps", "trees"].map(|algorithm| model(Kinds::Number, algorithm));
    let mut both = stumps.ensemble().clone();
    both.members
        .extend(trees.ensemble().members.iter().cloned().map(|member| Member {
            weight: -0.5,
            ..member
        }));
    let cells = leave().reveal(home::random(Kinds::Number, privet::data::Keep::Bins, 300).into_cells());
    let scores = |ensemble: &Ensemble| ensemble.scores(stumps.schema(), &cells).unwrap();
    let base = trees.ensemble().base[0];
    let parts = scores(stumps.ensemble())
        .into_iter()
        .zip(scores(trees.ensemble()));
    for (both, (stumps, trees)) in scores(&both).into_iter().zip(parts) {
        assert!((both - (stumps - 0.5 * (trees - base))).abs() < 1e-5);
    }
    assert!(
        both.summary().ends_with(" stumps and 100 trees"),
        "{}",
        both.summary()
    );
}

/// A model of one noisy tree that is as deep as a file may have it, each question about the next feature.
fn chain() -> Model {
    let depth = Tree::LEAVES as u32 - 1;
    let schema = home::mixed(Kinds::Classes(2));
    let slots: Vec<usize> = schema.features().map(|column| column.kind.slots()).collect();
    let node = |place: u32| {
        let feature = place as usize % slots.len();
        Node {
            feature: feature as u32,
            rule: Rule::one_of(slots[feature], [place as usize / slots.len() % slots[feature]]),
            left: Child::Leaf(place),
            right: match place + 1 {
                next if next < depth => Child::Node(next),
                last => Child::Leaf(last),
            },
        }
    };
    let tree = Tree {
        nodes: (0..depth).map(node).collect(),
        leaves: (0..=depth).map(|leaf| (leaf % 7) as f32).collect(),
        noise: vec![0.5],
    };
    let member = Member {
        weight: 1.0,
        output: 0,
        learner: Learner::Tree(tree),
    };
    let ensemble = Ensemble::new(Link::Logistic, vec![0.0], vec![member]);
    Model::new(schema, ensemble, leave().certificate(), Settings::new(Vec::new())).unwrap()
}

/// Whoever looks at a model that somebody else wrote needs no more stack for a deep tree than for a flat one.
#[test]
fn the_deepest_tree_is_looked_at_with_a_small_stack() {
    let model = Model::from_bytes(&chain().to_bytes()).unwrap();
    let look = move || {
        (
            model.signals(),
            model.ensemble().reach(model.schema().features().count()),
        )
    };
    let small = thread::Builder::new().stack_size(256 * 1024);
    let (signals, reach) = small.spawn(look).unwrap().join().unwrap();
    assert!(signals.iter().all(Option::is_some), "{signals:?}");
    assert!(reach.iter().all(|reach| *reach > 0.0));
}
