//! Tables II to IV, and figures 2, 3, 6 and 9: how far one round is from the truth, and what its learner reaches.

use privet::Error;
use privet_node::progress::Progress;

use super::mechanisms::{Duchi, Exact, Floating, LaplaceSplit, Piecewise};
use super::printed::{Weak, best_thresholds, differences, local_logistic, purest, purities, shares};
use super::rows::{Points, Set, order};
use super::sets::set;
use super::{ACCURACY, EPSILONS};
use crate::{Data, Measured, NamedFigures, coins, compared};

type Named = (&'static str, &'static dyn Floating);

/// The mechanisms that the paper compares.
const COMPARED: [Named; 3] = [
    ("Laplace", &LaplaceSplit),
    ("Duchi", &Duchi),
    ("Piecewise", &Piecewise),
];

/// Runs the mechanisms that the paper compares at each ε, and one without noise.
fn each_mechanism(
    metrics: &[&'static str],
    runs: (u32, &Progress),
    figures: impl Fn(&dyn Floating, f64, u32) -> NamedFigures + Sync,
) -> Result<Vec<Measured>, Error> {
    let mut methods: Vec<(&str, &dyn Floating, &[f64])> = COMPARED
        .iter()
        .map(|(name, mechanism)| (*name, *mechanism, EPSILONS))
        .collect();
    methods.push(("without noise", &Exact, &[]));
    compared(&methods, metrics, runs, |mechanism, epsilon, run| {
        Ok(figures(*mechanism, epsilon.unwrap_or(1.0), run))
    })
}

/// Owners in a round of nearest centroids, and rows of each.
pub(super) fn centroid_owners(dataset: &str) -> (usize, usize) {
    if dataset == "synthetic-19" {
        (2000, 4)
    } else {
        (1000, 4)
    }
}

/// Owners in a round of stumps, and rows of each.
pub(super) fn stump_owners(dataset: &str) -> (usize, usize) {
    if dataset == "synthetic-19" {
        (1000, 80)
    } else {
        (200, 20)
    }
}

/// The first centroids: how far they lie from those without noise, and how often their classifier is right.
fn first_centroids(
    set: &Set,
    (owners, each): (usize, usize),
    (mechanism, epsilon): (&dyn Floating, f64),
    run: u32,
) -> (f64, f64) {
    let mut coins = coins(0x1000 + u64::from(run));
    let rows = &order(set.owners.len(), &mut coins)[..owners * each];
    let sample = set.owners.take(rows);
    let mut sums = [vec![0.0; sample.width], vec![0.0; sample.width]];
    let mut counts = [0.0; 2];
    for row in 0..sample.len() {
        let x: Vec<f64> = sample.point(row).iter().map(|x| f64::from(*x)).collect();
        let class = usize::from(sample.classes[row]);
        mechanism.add(&x, epsilon / each as f64, 1.0, &mut sums[class], &mut coins);
        counts[class] += 1.0;
    }
    let mut distance = 0.0;
    for (class, (sum, count)) in sums.iter_mut().zip(counts).enumerate() {
        sum.iter_mut().for_each(|x| *x /= count);
        let truth = sample.mean(Some(class as u8));
        let square: f64 = sum.iter().zip(truth).map(|(a, b)| (a - b).powi(2)).sum();
        distance += square.sqrt() / 2.0;
    }
    (distance, 1.0 - Weak::nearer(&sums).error(&set.test))
}

/// Table II (l_p) and figure 2 (accuracy).
pub(super) fn centroids(
    data: &Data,
    dataset: &'static str,
    metric: &'static str,
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    let set = set(data, dataset)?;
    let mut found = each_mechanism(&[metric], runs, |mechanism, epsilon, run| {
        let owners = centroid_owners(dataset);
        let (distance, accuracy) = first_centroids(&set, owners, (mechanism, epsilon), run);
        vec![("l_p", distance), (ACCURACY, accuracy)]
    })?;
    let centroids = [0, 1].map(|class| set.owners.mean(Some(class)));
    let between: f64 = centroids[0]
        .iter()
        .zip(&centroids[1])
        .map(|(a, b)| (a - b).powi(2))
        .sum();
    found.push(Measured::new(
        "between the true centroids",
        None,
        "l_b",
        [between.sqrt()],
    ));
    Ok(found)
}

/// Figure 3: the same at ε = 5 by the number of owners.
pub(super) fn by_owners(data: &Data, runs: (u32, &Progress)) -> Result<Vec<Measured>, Error> {
    const OWNERS: [(usize, &str, &str); 4] = [
        (100, "l_p, 100 owners", "accuracy, 100 owners"),
        (250, "l_p, 250 owners", "accuracy, 250 owners"),
        (500, "l_p, 500 owners", "accuracy, 500 owners"),
        (1000, "l_p, 1000 owners", "accuracy, 1000 owners"),
    ];
    let set = set(data, "mnist")?;
    let metrics: Vec<&str> = OWNERS.iter().flat_map(|(_, a, b)| [*a, *b]).collect();
    let methods: Vec<(&str, &dyn Floating, &[f64])> = COMPARED[1..]
        .iter()
        .map(|(name, mechanism)| (*name, *mechanism, &[5.0][..]))
        .collect();
    compared(&methods, &metrics, runs, |mechanism, epsilon, run| {
        let each = OWNERS.iter().flat_map(|(owners, distance, accuracy)| {
            let with = (*mechanism, epsilon.unwrap_or(5.0));
            let (far, right) = first_centroids(&set, (*owners, 4), with, run);
            [(*distance, far), (*accuracy, right)]
        });
        Ok(each.collect())
    })
}

/// Thresholds: the mean of the data user's rows for the synthetic set, else its best of nine quantiles.
pub(super) fn thresholds(dataset: &str, own: &Points) -> Vec<f64> {
    match dataset {
        "synthetic-19" => own.mean(None),
        _ => best_thresholds(own),
    }
}

/// Table III (Δ_pim, squared as printed and not squared as defined) and figure 6 (accuracy of the first stump).
pub(super) fn stumps(
    data: &Data,
    dataset: &'static str,
    metrics: &[&'static str],
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    let set = set(data, dataset)?;
    let thresholds = thresholds(dataset, &set.own);
    let (owners, each) = stump_owners(dataset);
    let tables = |run: u32, add: &mut dyn FnMut(&[f64], &mut privet::privacy::Coins)| {
        let mut coins = coins(0x2000 + u64::from(run));
        let rows = order(set.owners.len(), &mut coins);
        for rows in rows[..owners * each].chunks_exact(each) {
            let weights = shares(&set.owners, rows, &[]);
            add(&differences(&set.owners, rows, &weights, &thresholds), &mut coins);
        }
    };
    let width = 2 * set.width();
    let mut found = each_mechanism(metrics, runs, |mechanism, epsilon, run| {
        let (mut exact, mut noisy) = (vec![0.0; width], vec![0.0; width]);
        let weight = 1.0 / owners as f64;
        tables(run, &mut |table, coins| {
            exact
                .iter_mut()
                .zip(table)
                .for_each(|(sum, x)| *sum += weight * x);
            mechanism.add(table, epsilon, weight, &mut noisy, coins);
        });
        let (before, after) = (purities(&exact), purities(&noisy));
        let mean = |of: fn(f64) -> f64| {
            let all = before.iter().zip(&after).map(|(a, b)| of(a - b));
            all.sum::<f64>() / before.len() as f64
        };
        vec![
            ("squared difference", mean(|off| off * off)),
            ("difference", mean(f64::abs)),
            (ACCURACY, 1.0 - purest(&noisy, &thresholds).error(&set.test)),
        ]
    })?;
    let mut exact = vec![0.0; width];
    tables(0, &mut |table, _| {
        exact
            .iter_mut()
            .zip(table)
            .for_each(|(sum, x)| *sum += x / owners as f64)
    });
    let purities = purities(&exact);
    let pairs = (0..purities.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let between = pairs.map(|(i, j)| (purities[i] - purities[j]).abs()).sum::<f64>();
    let pairs = purities.len() * (purities.len() - 1) / 2;
    found.push(Measured::new(
        "between two features",
        None,
        "Δ_im",
        [between / pairs as f64],
    ));
    Ok(found)
}

/// Owners in a round of logistic regressions, and rows of each.
const LOGISTIC_OWNERS: (usize, usize) = (100, 40);
/// The owners' ridge.
pub(super) const RIDGE: f64 = 0.01;

/// Table IV (the mean squared error of θ) and figure 9 (accuracy), as scaled and centred by the data user's mean.
pub(super) fn logistic(
    data: &Data,
    dataset: &'static str,
    metrics: &[&'static str],
    runs: (u32, &Progress),
) -> Result<Vec<Measured>, Error> {
    let set = set(data, dataset)?;
    let (owners, each) = match dataset {
        "adult" => (1000, 40),
        _ => LOGISTIC_OWNERS,
    };
    let mean = set.own.mean(None);
    let zero = vec![0.0; mean.len()];
    let kinds: [(&[f64], [&'static str; 3]); 2] = [
        (&zero, ["squared error", ACCURACY, "θ"]),
        (
            &mean,
            ["squared error, centred", "accuracy, centred", "θ, centred"],
        ),
    ];
    each_mechanism(metrics, runs, |mechanism, epsilon, run| {
        let mut all = Vec::new();
        for (by, names) in kinds {
            let mut coins = coins(0x3000 + u64::from(run));
            // Adult has fewer rows than owners need: they are drawn with repetition.
            let rows: Vec<usize> = match dataset {
                "adult" => (0..owners * each)
                    .map(|_| coins.below(set.owners.len() as u64) as usize)
                    .collect(),
                _ => order(set.owners.len(), &mut coins)[..owners * each].to_vec(),
            };
            let sample = set.owners.take(&rows).moved(by);
            let (mut exact, mut noisy) = (vec![0.0; sample.width], vec![0.0; sample.width]);
            let weight = 1.0 / owners as f64;
            let places: Vec<usize> = (0..sample.len()).collect();
            for rows in places.chunks_exact(each) {
                let mut theta = local_logistic(&sample, rows, &vec![1.0 / each as f64; each], RIDGE);
                exact
                    .iter_mut()
                    .zip(&theta)
                    .for_each(|(sum, x)| *sum += weight * x);
                theta.iter_mut().for_each(|x| *x = x.clamp(-1.0, 1.0));
                mechanism.add(&theta, epsilon, weight, &mut noisy, &mut coins);
            }
            let square: f64 = exact.iter().zip(&noisy).map(|(a, b)| (a - b).powi(2)).sum();
            let size: f64 = exact.iter().map(|x| x.abs()).sum();
            let plane = Weak::Plane {
                weights: noisy,
                bound: 0.0,
            };
            let wrong = plane.error(&set.test.clone().moved(by));
            let width = sample.width as f64;
            all.extend(names.into_iter().zip([square / width, 1.0 - wrong, size / width]));
        }
        all
    })
}
