//! Shares of noise, from what each owner pays to the sum that is opened.

use std::any::Any;
use std::sync::{Arc, Mutex};

use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::joint::{residue, signed};
use privet::privacy::mechanism::{SharedGaussian, SharedLaplace, SharedMechanism};
use privet::privacy::{Ratio, Sharing};
use privet_testkit::replay::{Finding, Transcript, replay};

use super::*;

const SUMS: Anchor = Anchor::new("shares#joint-sums");

fn sharing() -> Sharing {
    Sharing::new(5, 1, 1).expect("owners")
}

fn gaussian(share: u64) -> SharedGaussian {
    SharedGaussian::new(Ratio::new(share, 1).expect("positive"), sharing()).expect("a mechanism")
}

fn asked<N: Neighbours>(relation: &N, norm: Norm, answer: Vec<i64>) -> Query<'static, N> {
    let claim = Sensitivity::claim(relation, norm, SUMS).expect("a claim");
    Query::new(answer.len(), claim, || Private::new(answer))
}

fn rich() -> Ledger<AddRemove> {
    let caps = Caps {
        pure: epsilon("1000"),
        mu_squared: "1000".parse().expect("a μ²"),
        ..Caps::ZERO
    };
    ledger(&journal(&AddRemove::row(), caps, "1e-6"))
}

/// What an owner brings to the first of its joint sums.
fn contribution<M: SharedMechanism>(
    mut ledger: Ledger<AddRemove>,
    mechanism: &M,
    query: Query<'_, AddRemove>,
) -> Vec<u64> {
    let each = mechanism.price(query.sensitivity().norm()).expect("a price");
    let allowance = ledger
        .share_allowance("trees", each, 2, mechanism.sharing())
        .expect("paid");
    let share = ledger.share(&allowance, 0, mechanism, query).expect("drawn");
    share.into_residues().to_vec()
}

fn opened(contributions: &[Vec<u64>]) -> Vec<i64> {
    let sum = |place: usize| contributions.iter().map(|c| i128::from(c[place])).sum();
    (0..contributions[0].len())
        .map(|place| signed(residue(sum(place))))
        .collect()
}

/// 20,000 numbers: their mean square is off by 6 % with a probability below 1e-8 for normal noise. For shares of Laplace noise, whose sums
/// have a kurtosis below 6, 10 % are more than six standard deviations. False-alarm rate below 1e-6.
#[test]
fn a_joint_sum_opens_to_the_noise_of_all_its_shares() {
    const NUMBERS: usize = 20_000;
    fn mean_square<M: SharedMechanism>(mechanism: &M, norm: Norm, owners: usize) -> f64 {
        let brings = |owner: usize| {
            let query = asked(&AddRemove::row(), norm, vec![owner as i64 - 1_000; NUMBERS]);
            contribution(rich(), mechanism, query)
        };
        let contributions: Vec<Vec<u64>> = (0..owners).map(brings).collect();
        let truth: i64 = (0..owners as i64).map(|owner| owner - 1_000).sum();
        let square = |number: i64| ((number - truth) as f64).powi(2);
        opened(&contributions).into_iter().map(square).sum::<f64>() / NUMBERS as f64
    }
    let laplace = SharedLaplace::new(Ratio::new(20, 1).expect("positive"), sharing()).expect("a mechanism");
    for owners in [4usize, 5] {
        let present = owners as u32;
        for (found, expected, within) in [
            (
                mean_square(&gaussian(7), Norm::L2Squared(1), owners),
                gaussian(7).deviation(present),
                0.06,
            ),
            (
                mean_square(&laplace, Norm::L1(1), owners),
                laplace.deviation(present),
                0.10,
            ),
        ] {
            let part = found / expected.powi(2);
            assert!((part - 1.0).abs() < within, "{owners} owners: {part}");
            // One share less would be seen.
            let fewer = f64::from(present - 1) / f64::from(present);
            assert!(fewer * (1.0 + within) < 1.0 - within);
        }
    }
}

/// Answers every query with its answer, and notes what was asked.
#[derive(Clone, Default)]
struct Noiseless(Arc<Mutex<Vec<Observed>>>);

impl Noiseless {
    fn seen(&self) -> Vec<Observed> {
        self.0.lock().expect("one thread").clone()
    }
}

impl Auditor for Noiseless {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        let answer = query.answer.clone();
        self.0.lock().expect("one thread").push(query);
        Some(Box::new(answer))
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

#[test]
fn an_audited_joint_sum_opens_to_the_last_bit() {
    let auditor = Noiseless::default();
    let numbers = [[i64::MAX / 16, -3, 0], [5, i64::MIN / 16, 7], [-1, 1, -2]];
    let contributions = numbers.map(|numbers| {
        let ledger = rich().audited(Box::new(auditor.clone())).expect("void");
        contribution(
            ledger,
            &gaussian(100),
            asked(&AddRemove::row(), Norm::L2Squared(1), numbers.into()),
        )
    });
    let sums: Vec<i64> = (0..3)
        .map(|place| numbers.iter().map(|owner| owner[place]).sum())
        .collect();
    assert_eq!(opened(&contributions), sums);
    let seen = auditor.seen();
    assert_eq!((seen.len(), seen[1].norm), (3, Norm::L2Squared(1)));
    assert_eq!(seen[1].answer, numbers[1]);
    assert!(
        seen[1].mechanism.contains("in shares of σ 100"),
        "{}",
        seen[1].mechanism
    );
}

#[test]
fn queries_are_put_on_another_grid_with_their_claims() {
    let auditor = Noiseless::default();
    let ask = |query: Result<Query<'static, AddRemove>, Error>| {
        let ledger = rich().audited(Box::new(auditor.clone())).expect("void");
        contribution(ledger, &gaussian(1 << 20), query.expect("a grid"));
        let last = auditor.seen().pop().expect("asked");
        (last.answer, last.norm)
    };
    let query = |squared| {
        asked(
            &AddRemove::row(),
            Norm::L2Squared(squared),
            vec![-130, -1, 0, 64, i64::MAX],
        )
    };
    // Two numbers by up to ten in all, from which one step of 64 can be crossed twice.
    assert_eq!(
        ask(query(100).floored(64, 2)),
        (vec![-3, -1, 0, 1, i64::MAX / 64], Norm::L2Squared(2))
    );
    assert_eq!(
        ask(query(100).multiplied(8)),
        (vec![-1040, -8, 0, 512, i64::MAX], Norm::L2Squared(6400))
    );
    for refused in [
        query(100).floored(0, 2),
        query(100).floored(u64::MAX, 2),
        query(100).multiplied(0),
        query(u128::MAX).multiplied(2),
    ] {
        assert!(matches!(refused, Err(Error::Parameter(_))));
    }
}

/// A run that asks for two joint sums of counts, floored to a step of four, and shows what it was answered.
fn train(rows: &[i64], ledger: &mut Ledger<Replace>, claim: u64) -> Result<Vec<u8>, Error> {
    let mechanism = SharedLaplace::new(Ratio::new(50, 1)?, sharing())?;
    let sensitivity = Sensitivity::claim(&Replace::row(), Norm::L1(claim), SUMS)?;
    let norm = sensitivity.norm().floored(4, 2).expect("a step");
    let allowance = ledger.share_allowance("trees", mechanism.price(norm)?, 2, sharing())?;
    let mut shown = Vec::new();
    for draw in 0..2 {
        let rows = Private::new(rows.to_vec());
        let sums = rows.map(move |rows| {
            let side = |wanted: bool| rows.iter().filter(|x| (**x > draw as i64) == wanted).sum();
            vec![side(true), side(false)]
        });
        let query = Query::new(2, sensitivity.clone(), || sums).floored(4, 2)?;
        let share = ledger.share(&allowance, draw, &mechanism, query)?;
        shown.extend(share.into_residues().iter().flat_map(|x| x.to_le_bytes()));
    }
    Ok(shown)
}

#[test]
fn shares_are_replayed_and_a_small_claim_is_caught() {
    // The first row is replaced: eleven on one side before, minus nine on the other after.
    let pair = [vec![11, 3, 4], vec![-9, 3, 4]];
    let mut most = 0f64;
    for transcript in [
        Transcript::Drawn,
        Transcript::Above(2_000),
        Transcript::Alternating(100),
    ] {
        let run = |claim| {
            replay(
                &Replace::row(),
                [&pair[0], &pair[1]],
                transcript,
                move |rows: &Vec<i64>, ledger: &mut _| train(rows, ledger, claim),
            )
        };
        let report = run(20).expect("private");
        assert_eq!(report.queries, 4);
        most = most.max(report.attained);
        assert!(matches!(run(10), Err(Finding::Distance(_))), "half of the claim");
    }
    assert!(most > 0.8, "the claim is used: {most}");
}
