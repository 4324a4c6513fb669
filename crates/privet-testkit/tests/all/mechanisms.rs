//! Every mechanism against its own claim: from samples on the worst pair of neighbours, a bound on what an observer learns must
//! stay below the price. Then the same with half the noise, and with nine tenths of the sensitivity: both must be caught.
//!
//! Each bound is wrong with probability at most 1e-9, so the whole file raises a false alarm less than once in 10⁷ runs. `PRIVET_FULL=1` draws twice
//! as many samples, so that a smaller part of a claim is missed.

use std::fs;
use std::path::Path;

use privet::privacy::account::{Caps, MuSquared, Price, Rho};
use privet::privacy::joint::{residue, signed};
use privet::privacy::mechanism::{
    Exponential, Gaussian, Laplace, Mechanism, PermuteAndFlip, SharedGaussian, SharedLaplace, SharedMechanism,
};
use privet::privacy::{
    AddRemove, Anchor, Epsilon, Ledger, Norm, Private, Query, Randomness, Ratio, Sensitivity, Sharing,
};
use privet_testkit::epsilon::{delta_lower_bound, lower_bound};
use privet_testkit::interval::{Tally, at_least, at_most};
use privet_testkit::skipped::full;

const MISS: f64 = 1e-9;
/// How far the answers of the two neighbours lie apart.
const APART: i64 = 10;

/// A mechanism with its noise multiplied by `noise`, and the norm that its claim is made for.
struct Registered {
    name: &'static str,
    /// The part of the claim that samples on the worst pair show: above one means caught.
    shown: fn(noise: u64, claimed: u64) -> f64,
}

/// Noise in tenths of an honest mechanism's, claims in units of which `APART` is honest.
const HONEST: (u64, u64) = (10, APART as u64);
const HALF_NOISE: (u64, u64) = (5, APART as u64);
const NINE_TENTHS: (u64, u64) = (10, APART as u64 * 9 / 10);

/// Every mechanism there is; `the_list_is_complete` compares it with the source.
const MECHANISMS: [Registered; 6] = [
    Registered {
        name: "Laplace",
        shown: laplace,
    },
    Registered {
        name: "Gaussian",
        shown: gaussian,
    },
    Registered {
        name: "PermuteAndFlip",
        shown: permute_and_flip,
    },
    Registered {
        name: "Exponential",
        shown: exponential,
    },
    Registered {
        name: "SharedGaussian",
        shown: shared_gaussian,
    },
    Registered {
        name: "SharedLaplace",
        shown: shared_laplace,
    },
];

#[test]
fn honest_mechanisms_stay_within_their_claim() {
    for mechanism in MECHANISMS {
        let shown = (mechanism.shown)(HONEST.0, HONEST.1);
        assert!(shown <= 1.0, "{} shows {shown} of its claim", mechanism.name);
        // Nine tenths of a sensitivity are nine tenths of a price in ε: an audit that shows less than that would miss them.
        assert!(
            shown > 0.9,
            "{} shows {shown} only: too weak an audit",
            mechanism.name
        );
    }
}

#[test]
fn half_the_noise_is_caught() {
    for mechanism in MECHANISMS {
        let shown = (mechanism.shown)(HALF_NOISE.0, HALF_NOISE.1);
        assert!(
            shown > 1.0,
            "{} at half its noise passes with {shown}",
            mechanism.name
        );
    }
}

#[test]
fn a_claim_at_nine_tenths_is_caught() {
    for mechanism in MECHANISMS {
        let shown = (mechanism.shown)(NINE_TENTHS.0, NINE_TENTHS.1);
        assert!(
            shown > 1.0,
            "{} at nine tenths of its sensitivity passes with {shown}",
            mechanism.name
        );
    }
}

#[test]
fn the_list_is_complete() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../privet/src/privacy/mechanism");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the mechanisms") {
        let path = entry.expect("an entry").path();
        if !path.is_file() {
            continue;
        }
        let source = fs::read_to_string(path).expect("a source file");
        let names = source.lines().filter_map(|line| {
            line.strip_prefix("impl Mechanism for ")
                .or(line.strip_prefix("impl SharedMechanism for "))
        });
        found.extend(names.map(|rest| rest.trim_end_matches(" {").to_owned()));
    }
    found.sort();
    let mut listed = MECHANISMS.map(|mechanism| mechanism.name.to_owned());
    listed.sort();
    assert_eq!(found, listed, "every mechanism is audited");
}

/// What draws without being a `Mechanism`, and the audit that takes the place of the above: samples of reals in many dimensions show
/// too little of a claim, so densities are compared.
const ELSEWHERE: [(&str, &str, &str); 1] = [(
    "objective.rs",
    "all/objective/ratio.rs",
    "fn mutants_are_caught_by_the_same_search()",
)];

#[test]
fn what_draws_otherwise_is_audited_elsewhere() {
    let privet = Path::new(env!("CARGO_MANIFEST_DIR")).join("../privet");
    let mut found = Vec::new();
    for entry in fs::read_dir(privet.join("src/privacy/mechanism")).expect("the mechanisms") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !path.is_file() || name == "mod.rs" {
            continue;
        }
        let source = fs::read_to_string(&path).expect("a source file");
        let listed =
            ["\nimpl Mechanism for ", "\nimpl SharedMechanism for "].map(|line| source.contains(line));
        if source.contains("aid: Paid") && listed == [false; 2] {
            found.push(name);
        }
    }
    assert_eq!(found, ELSEWHERE.map(|(file, ..)| file.to_owned()));
    for (_, audit, test) in ELSEWHERE {
        let audit = fs::read_to_string(privet.join("tests").join(audit)).expect("its audit");
        assert!(audit.contains(test), "{test}");
    }
}

fn ratio(numerator: u64, denominator: u64) -> Ratio {
    Ratio::new(numerator, denominator).expect("positive")
}

/// A ledger that pays for everything, so that draws are the mechanism's own.
fn rich() -> Ledger<AddRemove> {
    let caps = Caps {
        pure: Epsilon::from_billionths(u64::MAX),
        rho: Rho::from_units(u128::MAX),
        mu_squared: MuSquared::from_units(u128::MAX),
    };
    let random = Randomness::from_os().expect("randomness");
    Ledger::volatile(AddRemove::row(), caps, "1e-6".parse().expect("a delta"), random).expect("opens")
}

fn query(norm: Norm, answer: Vec<i64>) -> Query<'static, AddRemove> {
    let claim =
        Sensitivity::claim(&AddRemove::row(), norm, Anchor::new("laplace#integer-vectors")).expect("a claim");
    Query::new(answer.len(), claim, || Private::new(answer))
}

/// How many numbers or choices are drawn of each neighbour.
fn samples(most: usize) -> usize {
    if full() { most } else { most / 2 }
}

/// Independent coordinates of one long vector are independent draws.
fn numbers<M: Mechanism<Output = Vec<i64>>>(mechanism: &M, norm: Norm, answer: i64) -> Vec<i64> {
    rich()
        .release(
            "samples",
            mechanism,
            query(norm, vec![answer; samples(2_000_000)]),
        )
        .expect("paid")
        .into_inner()
}

fn choices<M: Mechanism<Output = usize>>(mechanism: &M, scores: [i64; 2]) -> Vec<usize> {
    let samples = samples(400_000) as u64;
    let price = mechanism
        .price(Norm::Width(1))
        .expect("a price")
        .times(samples)
        .expect("small");
    let mut ledger = rich();
    let mut reserved = ledger.reserve("samples", price, samples).expect("paid");
    let mut draw = || {
        reserved
            .release(mechanism, query(Norm::Width(1), scores.to_vec()))
            .expect("paid")
            .into_inner()
    };
    (0..samples).map(|_| draw()).collect()
}

/// Three owners, one of which colludes: what it knows of a sum is the sum of the other two.
fn sharing() -> Sharing {
    Sharing::new(3, 0, 1).expect("owners")
}

/// The sum that is opened, without the share of the owner that colludes. The other owner's numbers are zero.
fn sums<M: SharedMechanism>(mechanism: &M, norm: Norm, answer: i64) -> Vec<i64> {
    let samples = samples(2_000_000);
    let price = mechanism.price(norm).expect("a price");
    let [here, there] = [answer, 0].map(|answer| {
        let mut ledger = rich();
        let allowance = ledger
            .share_allowance("samples", price, 1, sharing())
            .expect("paid");
        let query = query(norm, vec![answer; samples]);
        ledger
            .share(&allowance, 0, mechanism, query)
            .expect("paid")
            .into_residues()
    });
    let add = |(a, b): (&u64, &u64)| signed(residue(i128::from(*a) + i128::from(*b)));
    here.iter().zip(there.iter()).map(add).collect()
}

fn shared_laplace(noise: u64, claimed: u64) -> f64 {
    let norm = Norm::L1(claimed);
    let price = SharedLaplace::new(ratio(10, 1), sharing())
        .and_then(|m| m.price(norm))
        .expect("a price");
    let mechanism = SharedLaplace::new(ratio(noise, 1), sharing()).expect("a mechanism");
    let [here, there] = [0, APART].map(|answer| sums(&mechanism, norm, answer));
    lower_bound(&here, &there, MISS).bound / pure(price)
}

/// On a finer grid, where two shares have about the noise of one in `gaussian`.
fn shared_gaussian(noise: u64, claimed: u64) -> f64 {
    const GRID: i64 = 14;
    let norm = Norm::L2Squared(u128::from(claimed * GRID as u64).pow(2));
    let price = SharedGaussian::new(ratio(100, 1), sharing())
        .and_then(|m| m.price(norm))
        .expect("a price");
    let mechanism = SharedGaussian::new(ratio(10 * noise, 1), sharing()).expect("a mechanism");
    let [here, there] = [0, GRID * APART].map(|answer| sums(&mechanism, norm, answer));
    let one = Epsilon::new(1.0).expect("an epsilon");
    delta_lower_bound(1.0, &here, &there, MISS).bound / Caps::from(price).delta(one).to_f64()
}

fn pure(price: Price) -> f64 {
    match price {
        Price::Pure(epsilon) => epsilon.to_f64(),
        other => panic!("{other}"),
    }
}

fn laplace(noise: u64, claimed: u64) -> f64 {
    let norm = Norm::L1(claimed);
    let price = Laplace::new(ratio(10, 1))
        .and_then(|m| m.price(norm))
        .expect("a price");
    let mechanism = Laplace::new(ratio(noise, 1)).expect("a mechanism");
    let [here, there] = [0, APART].map(|answer| numbers(&mechanism, norm, answer));
    lower_bound(&here, &there, MISS).bound / pure(price)
}

fn gaussian(noise: u64, claimed: u64) -> f64 {
    let norm = Norm::L2Squared(u128::from(claimed).pow(2));
    let price = Gaussian::new(ratio(10, 1))
        .and_then(|m| m.price(norm))
        .expect("a price");
    let mechanism = Gaussian::new(ratio(noise, 1)).expect("a mechanism");
    let [here, there] = [0, APART].map(|answer| numbers(&mechanism, norm, answer));
    let one = Epsilon::new(1.0).expect("an epsilon");
    delta_lower_bound(1.0, &here, &there, MISS).bound / Caps::from(price).delta(one).to_f64()
}

fn permute_and_flip(noise: u64, claimed: u64) -> f64 {
    let price = PermuteAndFlip::new(ratio(1, 10))
        .and_then(|m| m.price(Norm::Width(claimed)))
        .expect("a price");
    let mechanism = PermuteAndFlip::new(ratio(1, noise)).expect("a mechanism");
    // The second candidate wins half of the time here, and e^(−rate·10) times that there.
    let [here, there] = [[0, 0], [0, -APART]].map(|scores| choices(&mechanism, scores));
    lower_bound(&here, &there, MISS).bound / pure(price)
}

/// The exponential mechanism's claim is a *range*: how far the log-ratios of two outputs lie apart.
fn exponential(noise: u64, claimed: u64) -> f64 {
    let price = Exponential::pure(ratio(1, 10))
        .and_then(|m| m.price(Norm::Width(claimed)))
        .expect("a price");
    let mechanism = Exponential::pure(ratio(1, noise)).expect("a mechanism");
    let [here, there] = [[0, 0], [0, -APART]].map(|scores| choices(&mechanism, scores));
    let tally = |samples: &[usize], which| {
        Tally::new(
            samples.iter().filter(|x| **x == which).count() as u64,
            samples.len() as u64,
        )
    };
    let (low, high) = (|t| at_least(t, MISS / 4.0), |t| at_most(t, MISS / 4.0));
    let range = (low(tally(&here, 1)) / high(tally(&there, 1))).ln()
        + (low(tally(&there, 0)) / high(tally(&here, 0))).ln();
    range / pure(price)
}
