//! Planted bugs. A copy of the boosting loop has one each, and replay must find it; claims at nine tenths must be found by
//! the same neighbours that reach them.

use std::ops::Range;

use crate::central::curator::Central;
use privet::Error;
use privet::data::{Keep, Schema};
use privet::privacy::account::MuSquared;
use privet::privacy::audit::Observed;
use privet::privacy::mechanism::{Gaussian, Laplace, PermuteAndFlip};
use privet::privacy::{
    AddRemove, Anchor, Epsilon, Ledger, Neighbours, Norm, Private, Query, Replace, Sensitivity,
};
use privet::setting::central::{Clip, Normaliser, Places, Planes, Splits};
use privet_testkit::replay::{Finding, Report, Transcript, search, transcripts};

use crate::central::tables::{Lines, Open, Row, built, corners, epsilon, others, start};
use crate::central::trees::both;
use crate::central::window::{Script, watch};
use crate::central::worst::{TREES, Task, ends};
use crate::home;

const ONE: i64 = 4096;
/// √2 and its inverse, in 4096ths.
const CLIPS: (i64, i64) = (2897, 5792);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Bug {
    None,
    /// Weights are divided by their sum, so that one row moves everybody's.
    Rescaled,
    /// The claim is nine tenths of the truth.
    Claim,
    /// The claim is for the largest weight there is, not for the largest there can be.
    BoundFromRows,
    /// As many rows of one class as of the other, though labels are private.
    Balanced,
    /// The coefficient comes from the error without noise.
    Unnoised,
}

type Pairs = Vec<(i64, bool)>;

/// Boosting with random thresholds, edges claimed as `central#edges` does with weights that are projected.
fn boost(rows: &Pairs, ledger: &mut Ledger<Replace>, bug: Bug) -> Result<Vec<u8>, Error> {
    let relation = Replace::row();
    let mut kept = rows.clone();
    if bug == Bug::Balanced {
        let of = |label: bool| rows.iter().filter(move |row| row.1 == label).copied();
        let least = of(true).count().min(of(false).count());
        kept = of(false).take(least).chain(of(true).take(least)).collect();
    }
    let table = Private::new(kept.clone());
    let mut weights = vec![ONE; kept.len()];
    let (mut most, mut model) = (ONE, Vec::new());
    let mut coins = ledger.coins()?;
    for _ in 0..4 {
        let threshold = coins.below(21) as i64 - 10;
        let right = |(x, y): &(i64, bool)| (*x >= threshold) == *y;
        if bug == Bug::BoundFromRows {
            most = weights.iter().copied().max().unwrap_or(ONE);
        }
        let honest = relation.steps() * most as u64;
        let claimed = if bug == Bug::Claim {
            honest * 9 / 10
        } else {
            honest
        };
        let anchor = Anchor::new("central#edges");
        let claim = Sensitivity::claim(&relation, Norm::L1(claimed), anchor)?;
        let edge = |weights: &[i64], rows: &Pairs| -> i64 {
            let each = weights.iter().zip(rows);
            each.map(|(weight, row)| if right(row) { *weight } else { -weight })
                .sum()
        };
        let query = Query::new(1, claim, || {
            let weights = weights.clone();
            table.as_ref().map(move |rows| vec![edge(&weights, rows)])
        });
        let mechanism = Laplace::calibrated(epsilon("0.1"), claimed)?;
        let noisy = ledger.release("edge", &mechanism, query)?.into_inner()[0];
        let coefficient = noisy as f64 / (2 * ONE) as f64 / 5.0;
        let shown = match bug {
            Bug::Unnoised => edge(&weights, &kept) as f64,
            _ => coefficient,
        };
        model.extend(shown.to_le_bytes());
        let grown = |weight: i64| (weight as f64 * coefficient.exp()).round() as i64;
        for (weight, _) in weights.iter_mut().zip(&kept).filter(|(_, row)| !right(row)) {
            *weight = grown(*weight).clamp(CLIPS.0, CLIPS.1);
        }
        most = grown(most).max(most).min(CLIPS.1);
        if bug == Bug::Rescaled {
            let sum: i64 = weights.iter().sum();
            let target = ONE * weights.len() as i64;
            for weight in &mut weights {
                *weight = *weight * target / sum.max(1);
            }
        }
    }
    Ok(model)
}

fn audit(bug: Bug) -> Result<Report, (usize, Finding)> {
    // Alone, a row decides what is largest; among others, it moves them.
    let rests: [Pairs; 3] = [
        vec![],
        vec![(-9, false), (0, true), (5, true), (9, false)],
        (0..20).map(|i| (i % 21 - 10, i % 3 == 0)).collect(),
    ];
    let corners = [(-10, false), (-10, true), (10, false), (10, true), (0, true)];
    let mut pairs = Vec::new();
    for rest in rests {
        for (number, a) in corners.into_iter().enumerate() {
            for b in &corners[..number] {
                pairs.push([a, *b].map(|row| [vec![row], rest.clone()].concat()));
            }
        }
    }
    search(
        &Replace::row(),
        &pairs,
        &transcripts(5000)[1..5],
        |rows, ledger| boost(rows, ledger, bug),
    )
}

#[test]
fn planted_bugs_are_caught() {
    let honest = audit(Bug::None).expect("private on every pair");
    assert!(honest.attained > 0.99, "{honest:?}");
    let caught = |bug| audit(bug).expect_err(&format!("{bug:?} went unnoticed")).1;
    assert!(matches!(caught(Bug::Rescaled), Finding::Distance(_)));
    assert!(matches!(caught(Bug::Claim), Finding::Distance(_)));
    assert!(matches!(caught(Bug::BoundFromRows), Finding::Branch(_)));
    assert!(matches!(caught(Bug::Balanced), Finding::Distance(_)));
    assert!(matches!(caught(Bug::Unnoised), Finding::Output));
}

/// A question that runs ask, and where to look for it.
struct Asked<'a> {
    name: &'static str,
    central: Central,
    schema: Schema,
    /// Which questions of a run are meant.
    turns: Range<usize>,
    records: &'a [Script],
    /// How many cuts or planes the whole claim is tried on.
    coins: u8,
}

/// Releases what a real run was asked, with a claim of so many tenths.
fn claimed<N: Neighbours>(
    asked: &Asked<'_>,
    relation: &N,
    pair: &[Lines; 2],
    tenths: u64,
    (coins, script): (u8, &Script),
) -> Result<Report, (usize, Finding)> {
    let pair = std::slice::from_ref(pair);
    search(
        &relation.relation(),
        pair,
        &[Transcript::Drawn],
        |lines, ledger| {
            let table = home::table(asked.schema.clone(), Keep::Values, lines);
            let seen = watch(&asked.central, table, relation, (Some(coins), script))?.1;
            for question in &seen.asked[asked.turns.clone()] {
                release(question, &relation.relation(), tenths, ledger)?;
            }
            Ok(Vec::new())
        },
    )
}

/// Releases an answer with a claim of so many tenths.
fn release(
    question: &Observed,
    relation: &privet::privacy::Relation,
    tenths: u64,
    ledger: &mut Ledger,
) -> Result<(), Error> {
    let norm = match question.norm {
        Norm::Width(claim) => Norm::Width(claim * tenths / 10),
        Norm::L1(claim) => Norm::L1(claim * tenths / 10),
        Norm::L2Squared(claim) => Norm::L2Squared(claim * u128::from(tenths * tenths) / 100),
    };
    let claim = Sensitivity::claim(relation, norm, Anchor::new("central#edges"))?;
    let answer = Private::new(question.answer.clone());
    let query = Query::new(question.answer.len(), claim, || answer);
    let one = Epsilon::new(1.0)?;
    match norm {
        Norm::Width(_) => {
            ledger.release("a choice", &PermuteAndFlip::calibrated(one, 10)?, query)?;
        }
        Norm::L1(_) => {
            ledger.release("numbers", &Laplace::calibrated(one, 10)?, query)?;
        }
        Norm::L2Squared(_) => {
            let mechanism = Gaussian::calibrated(MuSquared::from_pure(one), 100)?;
            ledger.release("numbers", &mechanism, query)?;
        }
    }
    Ok(())
}

/// The whole claim holds on all of these neighbours, and nine tenths of it do not.
fn nine_tenths_are_caught<N: Neighbours>(asked: &Asked<'_>, relation: &N, pairs: &[[Lines; 2]]) {
    let search = |tenths: u64, coins: u8| {
        for coins in 0..coins {
            for script in asked.records {
                for pair in pairs {
                    claimed(asked, relation, pair, tenths, (coins, script))?;
                }
            }
        }
        Ok::<(), (usize, Finding)>(())
    };
    let name = format!("{} of {:?}", asked.name, asked.central);
    search(10, asked.coins).unwrap_or_else(|found| panic!("{name}: {found:?}"));
    let found = search(9, 12);
    assert!(
        matches!(found, Err((_, Finding::Distance(_)))),
        "{name}: {found:?}"
    );
}

/// Every row in the place of every other, alone and among others.
fn replaced(corners: &[Row], rests: &[Lines]) -> Vec<[Lines; 2]> {
    let mut pairs = Vec::new();
    for rest in rests {
        for (i, one) in corners.iter().enumerate() {
            for other in &corners[..i] {
                pairs.push([one, other].map(|row| [vec![*row], rest.clone()].concat()));
            }
        }
    }
    pairs
}

/// Every question of every algorithm, where weights are as large as they get.
#[test]
fn claims_at_nine_tenths_are_caught() {
    let brc = || {
        start("brc", "10", 1)
            .rounds(3)
            .clip(Clip::Project)
            .planes(Planes::Random)
    };
    let high = Script::Says(vec![20_000]);
    let up = Script::Says(vec![-(1 << 40)]);
    let few = |name| start(name, "1", 100).candidates(25);
    let cases = [
        ("edges", brc(), 2, high.clone()),
        (
            "quotients",
            brc().rows_about(8).normaliser(Normaliser::Weights),
            2,
            up,
        ),
        (
            "intercepts",
            brc().planes(Planes::ChosenIntercept),
            4,
            Script::Says(vec![7, 20_000, 72, 20_000]),
        ),
        ("hits", few("select"), 0, high.clone()),
        ("histograms", start("histogram-bayes", "1", 100), 0, high.clone()),
        (
            "scores",
            start("histogram-bayes", "1", 100).calibrate(true),
            1,
            high.clone(),
        ),
        (
            "forest",
            start("forest", "1", 100).trees(2).depth(2),
            0,
            high.clone(),
        ),
        (
            "forest with δ",
            start("forest", "1", 100)
                .trees(2)
                .depth(2)
                .delta(crate::central::trees::delta()),
            0,
            high.clone(),
        ),
        ("moments", few("moment-select"), 0, high.clone()),
        ("hits after moments", few("moment-select"), 1, high),
    ];
    let pairs = replaced(&corners(Open::Nothing)[..4], &[vec![], others()]);
    for (name, builder, turn, script) in cases {
        let asked = Asked {
            name,
            central: built(builder),
            schema: Open::Nothing.schema(),
            turns: turn..turn + 1,
            records: &[script],
            coins: 6,
        };
        nine_tenths_are_caught(&asked, &Replace::row(), &pairs);
    }
}

/// Every question that trees ask: sums of every kind of label, counts, and gains, with both kinds of noise.
#[test]
fn claims_of_trees_at_nine_tenths_are_caught() {
    let open = Open::Nothing;
    for task in Task::ALL {
        // One end, the other end, and a row that shares one column with the one and all others with the other.
        let three = [0, 2, 5].map(|number| ends(open)[number]);
        let pairs = replaced(&task.rows(&three), &[vec![]]);
        let schema = open.schema_of(task.label());
        for central in task.trees() {
            // Sums follow whatever was counted.
            let counted = match task {
                Task::Number if !central.says("splits") => 2,
                Task::Number => 1,
                _ => 0,
            };
            let records = task.records();
            let asked = |name: &'static str, turns: Range<usize>| Asked {
                name,
                central: central.clone(),
                schema: schema.clone(),
                turns,
                records: &records,
                coins: 1,
            };
            nine_tenths_are_caught(&asked("sums", counted..counted + TREES), &Replace::row(), &pairs);
            if counted > 0 {
                nine_tenths_are_caught(&asked("labels", 0..1), &Replace::row(), &pairs);
            }
        }
    }
    let pairs = replaced(&ends(open), &[vec![], others()]);
    let zero = [Script::Says(vec![0])];
    for central in both(&|| start("trees", "1", 50).trees(1).places(Places::PrivateQuantiles)) {
        let asked = Asked {
            name: "counts",
            central,
            schema: open.schema(),
            turns: 0..1,
            records: &zero,
            coins: 2,
        };
        nine_tenths_are_caught(&asked, &Replace::row(), &pairs);
    }
    // Gains are claimed for a row that comes or goes.
    let crowd: Lines = vec![["1", "1", "red", "high", "a"]; 100];
    let more = [crowd.clone(), vec![["1", "-1", "blue", "low", "b"]]].concat();
    let greedy = || {
        let trees = start("trees", "1", 50).trees(1).splits(Splits::NoisyGreedy);
        trees.depth(1).gradient_clip(0.5)
    };
    for central in both(&greedy) {
        let asked = Asked {
            name: "gains",
            central,
            schema: open.schema(),
            turns: 0..1,
            records: &zero,
            coins: 2,
        };
        nine_tenths_are_caught(&asked, &AddRemove::row(), &[[crowd.clone(), more.clone()]]);
    }
}
