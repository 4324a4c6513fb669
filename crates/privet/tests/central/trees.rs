//! Noisy trees: how far sums, counts and gains move, whole runs by record and replay, samples, and what a model holds.

use privet::Error;
use privet::boost::Ensemble;
use privet::data::schema::{Kind, Label};
use privet::data::{Keep, Schema, Table};
use privet::learner::Learner;
use privet::learner::tree::Tree;
use privet::privacy::{AddRemove, Delta, Ledger, Neighbours, Replace, ReplacePrivate};
use privet::setting::central::{Algorithm, Builder, Central, Places, Splits, Trees};
use privet_testkit::epsilon::lower_bound;
use privet_testkit::replay::{Report, search};

use crate::home::{self, column, number, schema, values};
use crate::reach::{Case, Change, Reach, farthest, reach, units};
use crate::replaying::records;
use crate::tables::{Lines, Open, Row, built, corners, others, rows, start};
use crate::window::{Script, run, watch};

fn delta() -> Delta {
    "1e-6".parse().expect("a delta")
}

/// Both kinds of noise.
fn both(start: &dyn Fn() -> Builder) -> [Central; 2] {
    [start(), start().delta(delta())].map(built)
}

/// Everything a tree can be.
fn trees(price: &str) -> Vec<Central> {
    let start = || start("trees", price, 50).trees(3);
    let options: [&dyn Fn() -> Builder; 5] = [
        &|| start().leaves(3),
        &|| start().splits(Splits::Mixed).gradient_clip(1.0),
        &|| start().splits(Splits::Random).depth(2).gradient_clip(0.75),
        &|| start().splits(Splits::NoisyGreedy).depth(2),
        &|| start().places(Places::PrivateQuantiles),
    ];
    options.iter().flat_map(|option| both(*option)).collect()
}

const CHANGES: [(Change, Open); 5] = [
    (Change::Comes, Open::Nothing),
    (Change::Replaced, Open::Nothing),
    (Change::Columns, Open::Features),
    (Change::Columns, Open::Label),
    (Change::Columns, Open::LabelAndFeature),
];

fn farthest_of(central: &Central, (change, open): (Change, Open), k: u32) -> Vec<Reach> {
    let corners = corners(open);
    let corners = if k == 1 { &corners[..] } else { &corners[..4] };
    let mut all = Vec::new();
    // Scores of zero, and scores that are very sure: sums that were said push them there.
    for says in [
        vec![0],
        vec![-9_000_000, 0],
        vec![9_000_000, 0],
        vec![40_000, -40_000],
    ] {
        for coins in 0..6 {
            let case = Case {
                open,
                change,
                units: &units(corners, k as usize),
                rest: &if coins % 2 == 0 { vec![] } else { others() },
            };
            let script = Script::Says(says.clone());
            all.push(match change {
                Change::Comes => reach(central, &AddRemove::unit(rows(k)), &case, coins, &script),
                Change::Replaced => reach(central, &Replace::unit(rows(k)), &case, coins, &script),
                Change::Columns => reach(central, &open.relation(k), &case, coins, &script),
            });
        }
    }
    farthest(all)
}

/// No sum moves further than its claim. With clipped gradients a row of even odds is the one that moves it furthest, which the first tree's
/// rows are.
#[test]
fn sums_move_by_their_claim_and_no_more() {
    for k in [1, 2] {
        for change in CHANGES {
            for central in both(&|| start("trees", "1", 50).trees(3).leaves(3)) {
                let found = farthest_of(&central, change, k);
                // Where rows are replaced in one leaf, one must be sure and wrong: later trees have such rows.
                let part = found.iter().map(|reach| reach.part).fold(0.0, f64::max);
                let least = match (change, central.delta()) {
                    // Who changes the label alone stays in the leaf: the gradient turns round, the hessian stays.
                    ((_, Open::Features), _) => 0.66,
                    // Public columns come first, and leave no row at even odds.
                    ((_, Open::LabelAndFeature), _) => 0.5,
                    ((Change::Comes, _), _) | (_, Delta::ZERO) => 0.99,
                    // Even odds twice: 10/16 where 17/16 are claimed, and 10/16 of 10/16.
                    _ => 0.55,
                };
                assert!(part > least, "{central:?} {change:?}: {found:?}");
            }
        }
    }
}

#[test]
fn counts_move_by_their_claim_and_no_more() {
    for change in CHANGES.into_iter().filter(|(_, open)| *open != Open::Features) {
        for central in both(&|| start("trees", "1", 50).trees(1).places(Places::PrivateQuantiles)) {
            let found = farthest_of(&central, change, 1);
            // Corners differ in every column that may differ.
            assert!(found[0].part > 0.7, "{central:?} {change:?}: {found:?}");
        }
    }
}

/// Rows that agree, and one that does not: the width is all but reached, and never exceeded.
#[test]
fn gains_move_by_their_width_and_no_more() {
    let open = Open::Nothing;
    let greedy = || {
        start("trees", "1", 50)
            .trees(1)
            .splits(Splits::NoisyGreedy)
            .depth(1)
    };
    for central in both(&|| greedy().gradient_clip(0.5)) {
        let mut most = Reach::default();
        for others in [0, 1, 7, 400] {
            let rest: Vec<Row> = vec![["1", "1", "red", "high", "a"]; others];
            let case = Case {
                open,
                change: Change::Comes,
                units: &units(&corners(open), 1),
                rest: &rest,
            };
            let found = reach(&central, &AddRemove::row(), &case, 3, &Script::Says(vec![0]));
            if found[0].part > most.part {
                most = found[0];
            }
        }
        assert!(most.part > 0.99, "{most:?}");
    }
}

fn replayed<N: Neighbours, R: Clone>(
    central: &Central,
    relation: &N,
    pairs: &[[R; 2]],
    read: impl Fn(&R) -> Table,
) -> Report {
    let report = search(
        relation,
        pairs,
        &records(),
        |rows, ledger: &mut Ledger<N>| -> Result<Vec<u8>, Error> {
            let ensemble = central.train(read(rows), ledger, &|_, _| {})?;
            Ok(serde_json::to_vec(&ensemble).expect("JSON"))
        },
    );
    report.unwrap_or_else(|(pair, found)| panic!("{central:?} under {relation:?}: {found:?} on pair {pair}"))
}

#[test]
fn trees_replay() {
    // A table of which no row was read may have no columns either.
    let table = |open: Open| {
        move |lines: &Lines| match lines.is_empty() {
            true => home::unread(open.schema(), Keep::Bins),
            false => crate::tables::read(open, lines),
        }
    };
    let among = |row: Option<Row>| -> Lines { [row.into_iter().collect(), others()].concat() };
    for central in trees("1") {
        let open = Open::Nothing;
        let corners = corners(open);
        let mut comes: Vec<[Lines; 2]> = (0..3)
            .map(|i| [among(Some(corners[2 * i])), among(None)])
            .collect();
        comes.push([vec![corners[0]], vec![]]);
        replayed(&central, &AddRemove::row(), &comes, table(open));
        let replaced: Vec<[Lines; 2]> = (0..3)
            .map(|i| [among(Some(corners[2 * i])), among(Some(corners[2 * i + 1]))])
            .collect();
        replayed(&central, &Replace::row(), &replaced, table(open));
        let open = Open::LabelAndFeature;
        let columns = [[0, 2], [1, 3], [4, 5]].map(|pair| {
            pair.map(|number| {
                let [_, x, colour, slope, y] = corners[number];
                among(Some(["1", x, colour, slope, y]))
            })
        });
        replayed(&central, &open.relation(1), &columns, table(open));
    }
}

/// Three classes, and numbers: their labels at both ends, missing and far out.
fn other_labels(private: &[&str]) -> [(Schema, [&'static str; 4]); 2] {
    let with = |label: Label| {
        let mut columns = [
            column("x", number(-1.0, 1.0)),
            column("colour", Kind::Category(values(["red", "green", "blue"]))),
            column("y", Kind::Label(label)),
        ];
        for column in &mut columns {
            column.private = private.contains(&column.name.as_str());
        }
        schema(columns)
    };
    [
        (
            with(Label::Classes(values(["a", "b", "c"]))),
            ["a", "b", "c", "?"],
        ),
        (
            with(Label::Number { min: 0.0, max: 10.0 }),
            ["0", "10", "1e9", ""],
        ),
    ]
}

#[test]
fn trees_of_other_labels_replay() {
    for (schema, labels) in other_labels(&["x", "colour", "y"]) {
        let read = |lines: &Vec<[&str; 3]>| match lines.is_empty() {
            true => home::unread(schema.clone(), Keep::Bins),
            false => home::table(schema.clone(), Keep::Bins, lines),
        };
        let rest = [
            ["0.5", "red", labels[1]],
            ["-1", "", labels[2]],
            ["", "blue", labels[0]],
        ];
        let table = |row: Option<[&'static str; 3]>| [row.into_iter().collect(), rest.to_vec()].concat();
        let all = labels.map(|label| ["1", "green", label]);
        let comes: Vec<_> = all.iter().map(|row| [table(Some(*row)), table(None)]).collect();
        let replaced: Vec<_> = (1..4)
            .map(|i| [table(Some(all[i])), table(Some(all[i - 1]))])
            .collect();
        let comes = [comes, vec![[vec![all[0]], vec![]]]].concat();
        for central in trees("1") {
            // Clips of gradients are for two classes, and numbers.
            if matches!(central.algorithm(), Algorithm::Trees(Trees { clip: Some(_), .. }))
                && labels[0] == "a"
            {
                continue;
            }
            replayed(&central, &AddRemove::row(), &comes, read);
            replayed(&central, &Replace::row(), &replaced, read);
        }
    }
}

/// Public labels and a public column: plain trees on these come first.
#[test]
fn trees_of_other_labels_replay_from_a_public_start() {
    for (schema, labels) in other_labels(&["colour"]) {
        let relation = ReplacePrivate::unit(rows(1), ["colour"]);
        let read = |lines: &Vec<[&str; 3]>| home::table(schema.clone(), Keep::Bins, lines);
        let rest = [
            ["0.5", "red", labels[1]],
            ["-1", "", labels[2]],
            ["", "blue", labels[0]],
        ];
        let table = |colour: &'static str| [vec![["1", colour, labels[1]]], rest.to_vec()].concat();
        let pairs = [[table("red"), table("green")], [table(""), table("octarine")]];
        for central in both(&|| start("trees", "1", 50).trees(3)) {
            replayed(&central, &relation, &pairs, read);
        }
    }
}

/// One tree that asks nothing much: its first leaf's sums, for somebody who is there or is not.
#[test]
fn trees_keep_their_epsilon_and_half_their_noise_does_not() {
    let schema = schema([
        column("sex", Kind::Flag(values(["f", "m"]))),
        column("y", Kind::Label(Label::Classes(values(["a", "b"])))),
    ]);
    let tables = [vec![["f", "a"]; 3], vec![["f", "a"]; 2]]
        .map(|lines| home::table(schema.clone(), Keep::Bins, &lines));
    let samples = |price: &str| {
        let central = built(start("trees", price, 1000).trees(1).leaves(2));
        tables.each_ref().map(|table| {
            let once = |_| {
                let drawn = (Some(1), &Script::Drawn);
                let (_, seen, _) = watch(&central, table.clone(), &AddRemove::row(), drawn).expect("a run");
                // Where rows are: the gradient of each is 2048 there, the hessian 1024. Both high at once is what tells most.
                let sums = &seen.numbers[0];
                let most = (0..sums.len() / 2).max_by_key(|leaf| seen.asked[0].answer[2 * leaf]);
                let leaf = most.unwrap_or(0);
                (sums[2 * leaf] - 3 * 2048)
                    .min(sums[2 * leaf + 1] - 3 * 1024)
                    .div_euclid(64)
            };
            (0..5000).map(once).collect::<Vec<i64>>()
        })
    };
    let [one, other] = samples("2");
    let bound = lower_bound(&one, &other, 1e-6);
    assert!(bound.bound <= 2.0, "at its own noise: {bound:?}");
    let likely = lower_bound(&one, &other, 0.05);
    assert!(likely.bound > 1.0, "a pair that shows too little: {likely:?}");
    let [one, other] = samples("4");
    let bound = lower_bound(&one, &other, 1e-6);
    assert!(bound.bound > 2.0, "half the noise went through: {bound:?}");
}

fn shapes(ensemble: &Ensemble) -> Vec<Tree> {
    let trees = ensemble.members.iter().map(|member| match &member.learner {
        Learner::Tree(tree) => Tree::new(tree.nodes.clone(), vec![0.0; tree.leaves.len()]),
        other => panic!("{other:?} is no tree"),
    });
    trees.collect()
}

/// The same releases, the same model to the last byte; other releases, other values of leaves and nothing else.
#[test]
fn models_of_neighbours_differ_in_released_values_only() {
    let open = Open::Nothing;
    let tables = [vec![corners(open)[0]], vec![]].map(|row| [row, others()].concat());
    for central in both(&|| start("trees", "1", 50).trees(5)) {
        let [one, other] = tables.each_ref().map(|lines| {
            let said = (Some(7), &Script::Says(vec![5000, -70, 12]));
            run(&central, (open, lines), &AddRemove::row(), said)
                .expect("a run")
                .0
        });
        assert_eq!(one, other);
        let [one, other] = tables.each_ref().map(|lines| {
            let drawn = (Some(7), &Script::Drawn);
            run(&central, (open, lines), &AddRemove::row(), drawn)
                .expect("a run")
                .0
        });
        assert_ne!(one, other);
        assert_eq!(shapes(&one), shapes(&other));
        assert_eq!((&one.base, one.link), (&other.base, other.link));
        assert!(
            one.members
                .iter()
                .chain(&other.members)
                .all(|member| member.weight == 1.0)
        );
    }
}
