//! Noisy trees: whole runs by record and replay, and what a model holds.

use crate::central::curator::{Builder, Central};
use privet::Error;
use privet::boost::Ensemble;
use privet::data::schema::{Domain, category, label, number};
use privet::data::{Keep, Schema, Table};
use privet::learner::Learner;
use privet::learner::tree::Tree;
use privet::privacy::{AddRemove, Delta, Ledger, Neighbours, Replace, ReplacePrivate};
use privet::setting::central::{Places, Splits};
use privet_testkit::replay::{Report, search};

use crate::central::replaying::records;
use crate::central::tables::{Lines, Open, Row, built, corners, others, rows, start};
use crate::central::window::{Script, run};
use crate::home::{self, schema};

pub(crate) fn delta() -> Delta {
    "1e-6".parse().expect("a delta")
}

/// Both kinds of noise.
pub(crate) fn both(start: &dyn Fn() -> Builder) -> [Central; 2] {
    [start(), start().delta(delta())].map(built)
}

/// Everything a tree can be.
fn trees(price: &str) -> Vec<Central> {
    let start = || start("trees", price, 50).trees(3);
    let options: [&dyn Fn() -> Builder; 6] = [
        &|| start().leaves(3),
        &|| start().splits(Splits::Mixed).gradient_clip(1.0),
        &|| start().splits(Splits::Pairs).trees(5),
        &|| start().splits(Splits::Random).depth(2).gradient_clip(0.75),
        &|| start().splits(Splits::NoisyGreedy).depth(2),
        &|| start().places(Places::PrivateQuantiles),
    ];
    options.iter().flat_map(|option| both(*option)).collect()
}

fn replayed<N: Neighbours, R: Clone>(
    central: &Central,
    relation: &N,
    pairs: &[[R; 2]],
    read: impl Fn(&R) -> Table,
) -> Report {
    let report = search(
        &relation.relation(),
        pairs,
        &records(),
        |rows, ledger: &mut Ledger| -> Result<Vec<u8>, Error> {
            let ensemble = central.train(read(rows), ledger, privet::learner::SILENT)?;
            Ok(serde_json::to_vec(&ensemble).expect("JSON"))
        },
    );
    let report = report
        .unwrap_or_else(|(pair, found)| panic!("{central:?} under {relation:?}: {found:?} on pair {pair}"));
    assert!(report.queries > 0, "{central:?} asked nothing");
    report
}

#[test]
fn trees_replay() {
    // A table of which no row was read may have no columns either.
    let table = |open: Open| {
        move |lines: &Lines| match lines.is_empty() {
            true => home::unread(open.schema(), Keep::Bins),
            false => crate::central::tables::read(open, lines),
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
    let with = |of: Domain| {
        let columns = [
            number("x", -1.0..=1.0),
            category("colour", ["red", "green", "blue"]),
            label("y", of),
        ];
        schema(columns.map(|column| {
            let is_private = private.contains(&column.name());
            column.private(is_private)
        }))
    };
    [
        (with(Domain::from(["a", "b", "c"])), ["a", "b", "c", "?"]),
        (with(Domain::from(0.0..=10.0)), ["0", "10", "1e9", ""]),
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
            if central.says("gradient_clip") && labels[0] == "a" {
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
