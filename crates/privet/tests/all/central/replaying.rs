//! Whole runs of every algorithm by record and replay: equal releases, equal questions, equal models.

use crate::central::curator::{Central, NAMES};
use privet::Error;
use privet::data::Keep;
use privet::privacy::{AddRemove, Ledger, Neighbours, Replace};
use privet::setting::central::Clip;
use privet_testkit::replay::{Report, Transcript, search};
use privet_testkit::skipped::full;

use crate::central::tables::{
    Lines, Open, Row, algorithms, built, corners, every_boosting, others, paid_public, read, start,
};
use crate::home;

/// Of every size: as drawn, about as far off as noise is, and far beyond all clips.
pub(crate) fn records() -> [Transcript; 4] {
    let far = 1 << 42;
    [
        Transcript::Drawn,
        Transcript::Alternating(10_000),
        Transcript::Above(far),
        Transcript::Below(far),
    ]
}

fn trained(central: &Central, open: Open, lines: &Lines, ledger: &mut Ledger) -> Result<Vec<u8>, Error> {
    // A table without rows may be without columns as well.
    let table = if lines.is_empty() {
        home::unread(open.schema(), Keep::Values)
    } else {
        read(open, lines)
    };
    let ensemble = central.train(table, ledger, privet::learner::SILENT)?;
    Ok(serde_json::to_vec(&ensemble).expect("JSON"))
}

fn replayed<N: Neighbours>(central: &Central, open: Open, relation: &N, pairs: &[[Lines; 2]]) -> Report {
    let report = search(&relation.relation(), pairs, &records(), |lines, ledger| {
        trained(central, open, lines, ledger)
    });
    report.unwrap_or_else(|(pair, found)| {
        panic!("{central:?} under {relation:?}: {found:?} on {:?}", pairs[pair])
    })
}

fn among(row: Option<Row>) -> Lines {
    [row.into_iter().collect(), others()].concat()
}

/// Pairs of corners that agree in what is public: the first that is found for every other corner, so that ends, missing
/// cells, undeclared ones and labels all change.
fn pairs(open: Open, agree: impl Fn(&Row, &Row) -> bool) -> Vec<[Lines; 2]> {
    let corners = corners(open);
    let found = (1..corners.len()).step_by(2).filter_map(|number| {
        let other = corners[..number]
            .iter()
            .find(|other| agree(&corners[number], other))?;
        Some([corners[number], *other].map(|row| among(Some(row))))
    });
    found.collect()
}

/// Whether the claim of its first question is for a weight of one row, so that corners reach it.
fn reaches(central: &Central) -> bool {
    match central.name() {
        "brc" => !central.says("normaliser"),
        // Sums of trees and slopes of losses are reached in tests of their own.
        "objective" | "dp-logistic" | "people" | "trees" => false,
        _ => true,
    }
}

#[test]
fn runs_replay_where_everything_is_private() {
    let open = Open::Nothing;
    let corners = corners(open);
    let mut comes: Vec<[Lines; 2]> = corners
        .iter()
        .map(|row| [among(Some(*row)), among(None)])
        .collect();
    comes.truncate(3);
    comes.push([vec![], vec![corners[0]]]);
    let replaced = pairs(open, |_, _| true);
    for central in algorithms("1", 5) {
        let report = replayed(&central, open, &AddRemove::row(), &comes);
        assert!(
            report.attained > 0.99 || !reaches(&central),
            "{central:?}: {report:?}"
        );
        let report = replayed(&central, open, &Replace::row(), &replaced);
        assert!(
            report.attained > 0.99 || !reaches(&central),
            "{central:?}: {report:?}"
        );
    }
    for central in every_boosting("1", 5) {
        replayed(&central, open, &Replace::row(), &replaced[..2]);
    }
}

#[test]
fn runs_replay_where_some_columns_are_private() {
    let ways = [Open::Feature, Open::LabelAndFeature, Open::Features, Open::Label];
    for open in ways.into_iter().take(if full() { 4 } else { 2 }) {
        let pairs = pairs(open, |one, other| open.agree(one, other));
        assert!(!pairs.is_empty());
        for central in algorithms("1", 5) {
            replayed(&central, open, &open.relation(1), &pairs);
        }
    }
}

/// A public classifier that is chosen by private labels is the same where the choice was.
#[test]
fn runs_with_paid_public_classifiers_replay() {
    for open in [Open::Feature, Open::Features] {
        let pairs = pairs(open, |one, other| open.agree(one, other));
        for central in paid_public("1", 5) {
            let report = replayed(&central, open, &open.relation(1), &pairs);
            assert!(report.attained > 0.99, "{central:?}: {report:?}");
        }
    }
}

/// Which rows are kept follows from public labels and public coins.
#[test]
fn balanced_runs_replay() {
    for open in [Open::Label, Open::LabelAndFeature] {
        let pairs = pairs(open, |one, other| open.agree(one, other));
        for name in NAMES {
            // Trees of both kinds learn from all rows, and floating-point minima are void.
            if name == "public" && open == Open::Label || ["trees", "forest", "dp-logistic"].contains(&name) {
                continue;
            }
            let central = built(start(name, "1", 5).balance(true));
            replayed(&central, open, &open.relation(1), &pairs);
        }
    }
    let brc = start("brc", "1", 5).rounds(6).clip(Clip::Project).balance(true);
    let open = Open::LabelAndFeature;
    let pairs = pairs(open, |one, other| open.agree(one, other));
    replayed(&built(brc), open, &open.relation(1), &pairs);
}

/// Only private columns differ: a model of public ones is the same to the letter.
#[test]
fn public_columns_alone_replay() {
    let open = Open::LabelAndFeature;
    let pairs = pairs(open, |one, other| open.agree(one, other));
    let report = replayed(&built(start("public", "1", 5)), open, &open.relation(1), &pairs);
    assert_eq!(report.queries, 0);
}
