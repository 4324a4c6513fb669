//! Record and replay on a small boosting loop: an honest one passes and attains its claim, every planted bug is caught.

use privet::Error;
use privet::privacy::account::Price;
use privet::privacy::mechanism::ordered::{ClampedGeometric, Column, Desensitised};
use privet::privacy::mechanism::{Gaussian, Laplace, PermuteAndFlip};
use privet::privacy::{
    AddRemove, Anchor, Delta, Epsilon, Ledger, Neighbours, Norm, Partition, PerRow, Private, Query, Ratio,
    Replace, Sensitivity,
};
use privet_testkit::replay::{Finding, Report, replay, search, transcripts};

type Pairs = Vec<(i64, bool)>;

/// The largest weight of a row.
const CAP: i64 = 4;

/// What is wrong with the loop.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bug {
    None,
    /// The sensitivity is claimed at nine tenths of the truth.
    Claim,
    /// A round is skipped when the table looks easy.
    Branch,
    /// The true edge is written beside the noisy one.
    RawOutput,
    /// Weights are scaled by their sum, so one row moves everybody's.
    Normaliser,
    /// The price follows the data.
    Price,
    /// The number of rows decides the shape.
    Shape,
}

/// Four rounds of boosting with random thresholds: release the signed edge, lower the weights of rows it gets right.
fn boost(rows: &Pairs, ledger: &mut Ledger<Replace>, bug: Bug) -> Result<Vec<u8>, Error> {
    let relation = Replace::row();
    let table = Private::new(rows.clone());
    let mut weights = table.as_ref().map(|rows| vec![CAP * 5; rows.len()]);
    let mut coins = ledger.coins()?;
    let mut output = Vec::new();
    // Replacing a row moves Σ w·(±1) by at most twice the largest weight.
    let honest = 2 * CAP as u64 * 5;
    let claim = if bug == Bug::Claim {
        honest * 9 / 10
    } else {
        honest
    };
    for _ in 0..4 {
        if bug == Bug::Branch && rows.iter().filter(|(_, label)| *label).count() % 2 == 0 {
            continue;
        }
        let threshold = coins.below(21) as i64 - 10;
        let epsilon = if bug == Bug::Price {
            100_000_000 + rows[0].0.unsigned_abs()
        } else {
            100_000_000
        };
        let mechanism = Laplace::calibrated(Epsilon::from_billionths(epsilon), claim)?;
        let anchor = Anchor::new("laplace#integer-vectors");
        let edge = |weights: &Vec<i64>, rows: &Pairs| -> i64 {
            weights
                .iter()
                .zip(rows)
                .map(|(w, (x, y))| if (*x >= threshold) == *y { *w } else { -*w })
                .sum()
        };
        let dimension = if bug == Bug::Shape {
            rows.iter().filter(|(x, _)| *x > 0).count() + 1
        } else {
            1
        };
        let query = Query::new(
            dimension,
            Sensitivity::claim(&relation, Norm::L1(claim), anchor)?,
            || {
                weights
                    .as_ref()
                    .zip(table.as_ref(), |weights, rows| vec![edge(weights, rows)])
            },
        );
        let noisy = ledger.release("edge", &mechanism, query)?.into_inner()[0];
        output.extend(noisy.to_le_bytes());
        if bug == Bug::RawOutput {
            let raw: i64 = rows.iter().filter(|(x, y)| (*x >= threshold) == *y).count() as i64;
            output.extend(raw.to_le_bytes());
        }
        weights.update(table.as_ref(), |weights, rows| {
            for (weight, (x, y)) in weights.iter_mut().zip(rows) {
                let right = (*x >= threshold) == *y;
                let step = if right == (noisy > 0) { -5 } else { 5 };
                *weight = (*weight + step).clamp(5, CAP * 5);
            }
            if bug == Bug::Normaliser {
                let sum: i64 = weights.iter().sum();
                let target = CAP * 5 * rows.len() as i64;
                weights.iter_mut().for_each(|w| *w = *w * target / sum);
            }
        });
    }
    Ok(output)
}

/// Worst cases by construction: one row at a corner against another, among few and many others.
fn pairs() -> Vec<[Pairs; 2]> {
    let others: [Pairs; 3] = [
        vec![(-3, true)],
        vec![(-9, false), (0, true), (5, true), (9, false)],
        (0..20).map(|i| (i % 21 - 10, i % 3 == 0)).collect(),
    ];
    let corners = [(-10, false), (-10, true), (10, false), (10, true), (0, true)];
    let mut pairs = Vec::new();
    for rest in &others {
        for a in corners {
            for b in corners {
                let with = |row| [vec![row], rest.clone()].concat();
                pairs.push([with(a), with(b)]);
            }
        }
    }
    pairs
}

fn audit(bug: Bug) -> Result<Report, (usize, Finding)> {
    search(&Replace::row(), &pairs(), &transcripts(400), |rows, ledger| {
        boost(rows, ledger, bug)
    })
}

#[test]
fn an_honest_loop_passes_and_attains_its_claim() {
    let report = audit(Bug::None).expect("private on every pair");
    assert!(
        report.attained > 0.999,
        "the pairs must reach the claim, or a smaller one would pass: {report:?}"
    );
    assert!(report.queries > 1000);
}

#[test]
fn every_planted_bug_is_caught() {
    let caught = |bug| audit(bug).expect_err(&format!("{bug:?} went unnoticed")).1;
    assert!(matches!(caught(Bug::Claim), Finding::Distance(_)));
    assert!(matches!(caught(Bug::Branch), Finding::Branch(_)));
    assert!(matches!(caught(Bug::RawOutput), Finding::Output));
    assert!(matches!(caught(Bug::Normaliser), Finding::Distance(_)));
    assert!(matches!(caught(Bug::Price), Finding::Branch(_)));
    assert!(matches!(caught(Bug::Shape), Finding::Branch(_)));
}

/// Counts by part; `leaky` lets the number of rows decide a row's part, so one change moves them all.
fn by_parts<N: Neighbours>(rows: &[i64], ledger: &mut Ledger<N>, leaky: bool) -> Result<Vec<u8>, Error> {
    let shift = if leaky { rows.len() as i64 } else { 0 };
    let table = Private::rows(rows.to_vec());
    let parts = Partition::by(table, 3, |row| (row + shift).rem_euclid(3) as usize);
    let price = Price::Pure(Epsilon::from_billionths(100_000_000));
    let half = Epsilon::from_billionths(50_000_000);
    let counts = ledger.parallel("counts", price, 3, parts, |part| {
        let claim = |norm, anchor| Sensitivity::claim(&AddRemove::row(), norm, Anchor::new(anchor));
        let count = part.release(
            &Laplace::calibrated(half, 1)?,
            1,
            claim(Norm::L1(1), "laplace#integer-vectors")?,
            |rows| vec![rows.as_slice().len() as i64],
        )?;
        // A part is cut again: its own rows by their parity, at the price of one.
        let best = part.parallel(
            Price::Pure(half),
            1,
            2,
            |row| (row.rem_euclid(2)) as usize,
            |piece| {
                let claim = claim(Norm::Width(1), "selection#permute-and-flip")?;
                let scores = |rows: &PerRow<i64>| {
                    [0, 1]
                        .map(|bit| rows.as_slice().iter().filter(|r| **r / 3 % 2 == bit).count() as i64)
                        .to_vec()
                };
                piece.release(&PermuteAndFlip::calibrated(half, 1)?, 2, claim, scores)
            },
        )?;
        let best: usize = best.iter().map(|b| *b.value()).sum();
        Ok((count.into_inner()[0], best))
    })?;
    Ok(counts
        .iter()
        .flat_map(|(count, best)| [count.to_le_bytes(), best.to_le_bytes()].concat())
        .collect())
}

#[test]
fn parts_are_charged_for_the_rows_that_one_change_moves() {
    let rows: Vec<i64> = (0..12).collect();
    let [mut more, mut same, mut other] = [rows.clone(), rows.clone(), rows.clone()];
    more.push(1);
    same[0] = 3;
    other[0] = 1;
    for transcript in transcripts(20) {
        let report = replay(&AddRemove::row(), [&rows, &more], transcript, |rows, l| {
            by_parts(rows, l, false)
        })
        .expect("one row more in one part");
        assert_eq!(report.attained, 1.0);
        for replaced in [&same, &other] {
            let report = replay(&Replace::row(), [&rows, replaced], transcript, |rows, l| {
                by_parts(rows, l, false)
            })
            .expect("a replaced row, in one part or two");
            assert!(report.attained <= 1.0);
        }
    }
    // Uneven, so that a shift of all rows shows: the search for a pair is part of the audit.
    let uneven: Vec<i64> = (0..12).map(|i| 3 * i).collect();
    let more = [uneven.clone(), vec![0]].concat();
    let leaky = replay(
        &AddRemove::row(),
        [&uneven, &more],
        transcripts(20)[0],
        |rows, l| by_parts(rows, l, true),
    );
    assert!(matches!(leaky, Err(Finding::Distance(_))), "{leaky:?}");
}

/// Small algorithms that are not private in ways of their own.
#[test]
fn holes_of_the_harness_are_closed() {
    type Algorithm = fn(&Vec<i64>, &mut Ledger<AddRemove>) -> Result<Vec<u8>, Error>;
    let sum_after_a_failed_part: Algorithm = |rows, ledger| {
        let parts = Partition::by(Private::rows(rows.clone()), 2, |_| 0);
        let failed = ledger.parallel(
            "nothing",
            Price::Pure(Epsilon::from_billionths(1)),
            1,
            parts,
            |_| Err::<(), Error>(Error::misuse("on purpose")),
        );
        assert!(failed.is_err());
        let rows = Private::new(rows.clone());
        let claim = Sensitivity::claim(
            &AddRemove::row(),
            Norm::L1(1),
            Anchor::new("laplace#integer-vectors"),
        )?;
        let query = Query::new(1, claim, || rows.map(|rows| vec![rows.iter().sum()]));
        ledger.release(
            "a sum claimed as a count",
            &Laplace::calibrated(Epsilon::from_billionths(1), 1)?,
            query,
        )?;
        Ok(Vec::new())
    };
    let scale_from_the_data: Algorithm = |rows, ledger| {
        let scale = if rows.len() % 2 == 0 {
            10_000_000_000
        } else {
            20_000_000_000
        };
        let claim = Sensitivity::claim(
            &AddRemove::row(),
            Norm::L1(1),
            Anchor::new("laplace#integer-vectors"),
        )?;
        let query = Query::new(1, claim, || Private::new(vec![0]));
        ledger.release("noise", &Laplace::new(Ratio::new(scale, 1)?)?, query)?;
        Ok(Vec::new())
    };
    let data_in_a_label: Algorithm = |rows, ledger| {
        ledger.reserve(
            &format!("a run on {} rows", rows.len()),
            Price::Pure(Epsilon::from_billionths(1)),
            1,
        )?;
        Ok(Vec::new())
    };
    let data_in_the_draws: Algorithm = |rows, ledger| {
        ledger.reserve(
            "a run",
            Price::Pure(Epsilon::from_billionths(1)),
            rows.len() as u64,
        )?;
        Ok(Vec::new())
    };
    let data_in_a_promise: Algorithm = |rows, ledger| {
        ledger.promise(
            Price::Pure(Epsilon::from_billionths(rows.len() as u64)),
            Delta::ZERO,
        )?;
        Ok(Vec::new())
    };
    let beyond_all_integers: Algorithm = |rows, ledger| {
        let extreme = if rows.len() % 2 == 0 { i64::MIN } else { i64::MAX };
        let anchor = Anchor::new("gaussian#rounded-gaussian");
        let claim = Sensitivity::claim(&AddRemove::row(), Norm::L2Squared(u128::MAX), anchor)?;
        let query = Query::new(64, claim, || Private::new(vec![extreme; 64]));
        ledger.release("numbers", &Gaussian::new(Ratio::new(1 << 60, 1)?)?, query)?;
        Ok(Vec::new())
    };
    let rows: Vec<i64> = (0..12).collect();
    let more = [rows.clone(), vec![1_000]].concat();
    for (name, algorithm) in [
        ("a sum after a failed part", sum_after_a_failed_part),
        ("a scale from the data", scale_from_the_data),
        ("data in a label", data_in_a_label),
        ("data in the number of draws", data_in_the_draws),
        ("data in a promise", data_in_a_promise),
        ("a norm beyond all integers", beyond_all_integers),
    ] {
        let found = replay(&AddRemove::row(), [&rows, &more], transcripts(20)[0], algorithm);
        assert!(
            matches!(&found, Err(f) if !matches!(f, Finding::Failed(_))),
            "{name}: {found:?}"
        );
    }
    // A claim far above the truth is no finding, but it shows as one that is not attained.
    let timid: Algorithm = |rows, ledger| {
        let parts = Partition::by(Private::rows(rows.clone()), 2, |row| (row % 2) as usize);
        ledger.parallel(
            "counts",
            Price::Pure(Epsilon::from_billionths(1_000)),
            1,
            parts,
            |part| {
                let anchor = Anchor::new("laplace#integer-vectors");
                let claim = Sensitivity::claim(&AddRemove::row(), Norm::L1(1_000), anchor)?;
                let mechanism = Laplace::calibrated(Epsilon::from_billionths(1_000), 1_000)?;
                part.release(&mechanism, 1, claim, |rows| vec![rows.as_slice().len() as i64])
            },
        )?;
        Ok(Vec::new())
    };
    let report = replay(&AddRemove::row(), [&rows, &more], transcripts(20)[0], timid).expect("private");
    assert!(report.attained < 0.01, "{report:?}");
}

/// A column that leaves in slots of a public domain, and one whose domain is taken from its own values, as OpBoost's reference
/// implementation does: there one row moves everybody's slot.
#[test]
fn columns_are_replayed_and_bounds_from_the_data_are_caught() {
    let leave = |bounds: Option<(i64, i64)>| {
        move |rows: &Vec<i64>, ledger: &mut Ledger<Replace>| {
            let mechanism = ClampedGeometric::new(Epsilon::from_billionths(80_000_000), 10)?;
            let slots = Private::new(rows.clone()).map(|rows| {
                let ends = || (rows.iter().copied().min(), rows.iter().copied().max());
                let (low, high) = bounds.unwrap_or_else(|| (ends().0.unwrap_or(0), ends().1.unwrap_or(0)));
                let slot = |x: &i64| ((x.clamp(&low, &high) - low) * 9 / (high - low).max(1)) as u16;
                rows.iter().map(slot).collect()
            });
            let columns = vec![Column::slots("x", &mechanism, slots)];
            let left = ledger.desensitise("a partner", columns)?.into_inner();
            let [Desensitised::Slots(slots)] = left.as_slice() else {
                return Ok(Vec::new());
            };
            Ok(slots.iter().flat_map(|slot| slot.to_le_bytes()).collect())
        }
    };
    let table: Vec<i64> = (0..40).collect();
    let mut neighbour = table.clone();
    neighbour[7] = 1000;
    for transcript in transcripts(1) {
        let honest = replay(
            &Replace::row(),
            [&table, &neighbour],
            transcript,
            leave(Some((0, 39))),
        );
        let expected = Report {
            queries: 2,
            attained: 1.0,
            minima: [0.0; 2],
        };
        assert_eq!(honest, Ok(expected));
        let caught = replay(&Replace::row(), [&table, &neighbour], transcript, leave(None));
        assert!(matches!(caught, Err(Finding::Distance(_))), "{caught:?}");
    }
}
