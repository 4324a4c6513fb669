//! Planted bugs. A copy of the boosting loop has one each, and replay must find it; claims at nine tenths must be found by
//! the same neighbours that reach them.

use privet::Error;
use privet::privacy::mechanism::{Laplace, PermuteAndFlip};
use privet::privacy::{Anchor, Epsilon, Ledger, Neighbours, Norm, Private, Query, Replace, Sensitivity};
use privet::setting::central::{Central, Clip, Normaliser, Planes};
use privet_testkit::replay::{Finding, Report, Transcript, search, transcripts};

use crate::tables::{Lines, Open, Row, built, corners, epsilon, others, start};
use crate::window::{Script, run};

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

/// Releases what a real run was asked at one turn, with a claim of so many tenths.
fn claimed<N: Neighbours>(
    (central, turn, script): (&Central, usize, &Script),
    relation: &N,
    pair: [Row; 2],
    tenths: u64,
    coins: u8,
) -> Result<Report, (usize, Finding)> {
    let rest = if coins.is_multiple_of(2) { vec![] } else { others() };
    let pair: [Lines; 2] = pair.map(|row| [vec![row], rest.clone()].concat());
    search(relation, &[pair], &[Transcript::Drawn], |lines, ledger| {
        let seen = run(central, (Open::Nothing, lines), relation, (Some(coins), script))?.1;
        let (answer, norm) = (seen.asked[turn].answer.clone(), seen.asked[turn].norm);
        let (length, answer) = (answer.len(), Private::new(answer));
        let anchor = Anchor::new("central#edges");
        let cut = |claim: u64| claim * tenths / 10;
        match norm {
            Norm::Width(claim) => {
                let claim = Sensitivity::claim(relation, Norm::Width(cut(claim)), anchor)?;
                let query = Query::new(length, claim, || answer);
                ledger.release(
                    "a choice",
                    &PermuteAndFlip::calibrated(Epsilon::new(1.0)?, 10)?,
                    query,
                )?;
            }
            Norm::L1(claim) => {
                let claim = Sensitivity::claim(relation, Norm::L1(cut(claim)), anchor)?;
                let query = Query::new(length, claim, || answer);
                ledger.release("numbers", &Laplace::calibrated(Epsilon::new(1.0)?, 10)?, query)?;
            }
            Norm::L2Squared(_) => panic!("nothing here is Gaussian"),
        }
        Ok(Vec::new())
    })
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
        ("edges", brc(), 2, &high),
        (
            "quotients",
            brc().rows_about(8).normaliser(Normaliser::Weights),
            2,
            &up,
        ),
        (
            "intercepts",
            brc().planes(Planes::ChosenIntercept),
            4,
            &Script::Says(vec![7, 20_000, 72, 20_000]),
        ),
        ("hits", few("select"), 0, &high),
        ("histograms", start("histogram-bayes", "1", 100), 0, &high),
        ("moments", few("moment-select"), 0, &high),
        ("hits after moments", few("moment-select"), 1, &high),
    ];
    let corners = corners(Open::Nothing);
    let relation = Replace::row();
    for (name, builder, turn, script) in cases {
        let central = built(builder);
        let search = |tenths: u64| {
            for coins in 0..12 {
                for (i, one) in corners[..4].iter().enumerate() {
                    for other in &corners[..i] {
                        claimed((&central, turn, script), &relation, [*one, *other], tenths, coins)?;
                    }
                }
            }
            Ok::<(), (usize, Finding)>(())
        };
        search(10).unwrap_or_else(|found| panic!("{name}: {found:?}"));
        let found = search(9);
        assert!(
            matches!(found, Err((_, Finding::Distance(_)))),
            "{name}: {found:?}"
        );
    }
}
