//! Figures 4, 5, 7 and 8: ten rounds of boosting as printed, beside messages without content and no noise at all.

use privet::Error;
use privet_node::progress::Progress;

use super::mechanisms::{Exact, Floating, Piecewise};
use super::printed::{
    Boosting, Curve, Negative, Weighting, averaged_logistic, centroids, noise_centroids, noise_stump, stump,
};
use super::rows::{Set, order};
use super::sets::set;
use super::tables::{RIDGE, centroid_owners, stump_owners, thresholds};
use super::{EPSILONS, Named};
use crate::{Data, Measured, NamedFigures, coins, compared};

const FIRST: &str = "error, 1 round";
const LAST: &str = "error, 10 rounds";
const REDRAWS: &str = "groups drawn again";
const EXHAUSTED: &str = "runs out of owners";
const ALPHAS: [&str; 10] = [
    "α 1", "α 2", "α 3", "α 4", "α 5", "α 6", "α 7", "α 8", "α 9", "α 10",
];
const ERRORS: [&str; 10] = [
    "err 1", "err 2", "err 3", "err 4", "err 5", "err 6", "err 7", "err 8", "err 9", "err 10",
];

/// What is boosted.
enum Learner {
    Centroids(Weighting),
    Stumps,
    Logistic,
}

enum Message {
    Piecewise,
    Exact,
    Noise,
}

type Case = (Learner, Message, usize);

fn curve(set: &Set, dataset: &str, case: &Case, epsilon: f64, run: u32) -> Curve {
    let (learner, message, labels) = case;
    let mut coins = coins(0x6000 + u64::from(run));
    let own = match *labels >= set.own.len() {
        true => set.own.clone(),
        false => set.own.take(&order(set.own.len(), &mut coins)[..*labels]),
    };
    let (owners, each) = match learner {
        Learner::Centroids(_) => centroid_owners(dataset),
        Learner::Stumps => stump_owners(dataset),
        Learner::Logistic => (100, 40),
    };
    let boosting = Boosting {
        rounds: 10,
        owners,
        each,
        negative: Negative::Redraw,
    };
    let mechanism: &dyn Floating = match message {
        Message::Exact => &Exact,
        _ => &Piecewise,
    };
    let cuts = thresholds(dataset, &own);
    // About as far as images and synthetic points lie from their mean.
    let spread = match dataset {
        "mnist" => 2.0,
        "fashion-mnist" => 4.0,
        _ => 0.5,
    };
    let with = (mechanism, epsilon);
    if let Learner::Logistic = learner {
        let mean = own.mean(None);
        let centred = Set {
            owners: set.owners.clone().moved(&mean),
            own: own.clone().moved(&mean),
            test: set.test.clone().moved(&mean),
        };
        return boosting.run(&centred, &centred.own, &mut coins, |group, past, coins| {
            averaged_logistic(&centred.owners, (group, each), past, with, RIDGE, coins)
        });
    }
    boosting.run(set, &own, &mut coins, |group, past, coins| {
        match (learner, message) {
            (Learner::Centroids(_), Message::Noise) => noise_centroids(&own, spread, coins),
            (_, Message::Noise) => noise_stump(&cuts, coins),
            (Learner::Centroids(weighting), _) => {
                centroids(&set.owners, (group, each), past, with, *weighting, coins)
            }
            _ => stump(&set.owners, (group, each), past, with, &cuts, coins),
        }
    })
}

fn measured(
    data: &Data,
    dataset: &'static str,
    cases: &[Named<Case>],
    metrics: &[&'static str],
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    let set = set(data, dataset)?;
    compared(cases, metrics, runs, |case, epsilon, run| {
        let curve = curve(&set, dataset, case, epsilon.unwrap_or(1.0), run);
        let mut found: NamedFigures = vec![
            (FIRST, curve.first()),
            (LAST, curve.last()),
            (REDRAWS, curve.redraws.into()),
            (EXHAUSTED, f64::from(u8::from(curve.exhausted))),
        ];
        found.extend(ALPHAS.into_iter().zip(curve.alphas));
        found.extend(ERRORS.into_iter().zip(curve.own_errors));
        Ok(found)
    })
}

const ALL: usize = usize::MAX;
const CURVE: [&str; 4] = [FIRST, LAST, REDRAWS, EXHAUSTED];

/// Figure 4.
pub(super) fn centroid_curves(
    data: &Data,
    dataset: &'static str,
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    use Learner::Centroids;
    use Weighting::{Literal, Mean};
    let cases = [
        (
            "weighted mean",
            (Centroids(Mean), Message::Piecewise, ALL),
            EPSILONS,
        ),
        (
            "as printed",
            (Centroids(Literal), Message::Piecewise, ALL),
            EPSILONS,
        ),
        ("without noise", (Centroids(Mean), Message::Exact, ALL), &[]),
        (
            "messages without content",
            (Centroids(Mean), Message::Noise, ALL),
            &[],
        ),
    ];
    measured(data, dataset, &cases, &CURVE, runs)
}

/// Figure 7.
pub(super) fn stump_curves(
    data: &Data,
    dataset: &'static str,
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    let cases = [
        ("stumps", (Learner::Stumps, Message::Piecewise, ALL), EPSILONS),
        ("without noise", (Learner::Stumps, Message::Exact, ALL), &[]),
        (
            "messages without content",
            (Learner::Stumps, Message::Noise, ALL),
            &[],
        ),
        (
            "messages without content, 100 labels",
            (Learner::Stumps, Message::Noise, 100),
            &[],
        ),
    ];
    measured(data, dataset, &cases, &CURVE, runs)
}

/// Boosted logistic regression, which the paper says does not help.
pub(super) fn logistic_curves(data: &Data, runs: (u32, &Progress)) -> Result<Vec<Measured>, Error> {
    let cases = [
        (
            "logistic, centred",
            (Learner::Logistic, Message::Piecewise, ALL),
            EPSILONS,
        ),
        ("without noise", (Learner::Logistic, Message::Exact, ALL), &[]),
    ];
    measured(data, "mnist", &cases, &[FIRST, LAST], runs)
}

/// Figures 5 and 8: α and the weighted error of each round at ε = 5.
pub(super) fn coefficients(
    data: &Data,
    dataset: &'static str,
    is_stumps: bool,
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    let learner = || match is_stumps {
        true => Learner::Stumps,
        false => Learner::Centroids(Weighting::Mean),
    };
    let cases: [Named<Case>; 2] = [
        ("Piecewise", (learner(), Message::Piecewise, ALL), &[5.0]),
        ("without noise", (learner(), Message::Exact, ALL), &[]),
    ];
    measured(data, dataset, &cases, &[ALPHAS, ERRORS].concat(), runs)
}
