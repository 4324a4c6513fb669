//! The model is judged on held-out rows of all owners: what is asked, what it costs, and how much noise is in it.

use privet::Error;
use privet::party::{Fault, Item, PartyId};
use privet::privacy::Norm;
use privet::privacy::account::Price;
use privet::privacy::audit::Observed;
use privet::privacy::journal::Event;
use privet::setting::horizontal::{HeldOut, Horizontal, Message, Outcome, PaidReport, Protocol};
use privet::wire::Wire;
use privet_testkit::faults::Faulty;
use privet_testkit::skipped::full;

use super::judges::{PROTOCOLS, dimension, held_out, judged, seen, world};
use super::protocols::rows;
use super::world::{Drawn, Labels, Noise, World, journal, lines, spending, trees};

fn reports(outcomes: Vec<Outcome>) -> Vec<PaidReport> {
    let report = |outcome| match outcome {
        Outcome::Trained { report, .. } => *report.unwrap(),
        Outcome::Contributed(_) => panic!("everybody gets the model"),
    };
    outcomes.into_iter().map(report).collect()
}

/// Every party has the same report. Without noise it is that of the held-out rows of all owners, some of the rows and not all of them.
#[test]
fn every_protocol_gives_everybody_the_same_report_of_the_held_out_rows() {
    for protocol in PROTOCOLS {
        for labels in [Labels::Two, Labels::Three, Labels::Number] {
            for delta in ["1e-6", "0"] {
                let world = world(protocol, labels, delta, rows(labels, 4, 60), Noise::Drawn);
                let seen = seen(4);
                let ended = judged(&world, &seen, dimension(labels), true, 1).run().unwrap();
                let reports = reports(ended.all().unwrap());
                assert_eq!(reports.len(), 5);
                assert!(reports.iter().all(|report| *report == reports[0]), "{protocol:?}");
                // Each row adds one to each histogram.
                let histograms = if labels == Labels::Two { 1 } else { 2 };
                let owners = seen.iter().map(|own| own.lock().unwrap().clone());
                let each = owners.map(|own| {
                    let [query] = own.as_slice() else {
                        panic!("one evaluation, not {}", own.len())
                    };
                    query.answer.iter().sum::<i64>() / histograms / finer(query, histograms)
                });
                let each: Vec<i64> = each.collect();
                // Twenty-four of sixty on average; these coins are seeded.
                assert!(each.iter().all(|rows| (8..=40).contains(rows)), "{each:?}");
                let judged = each.iter().sum::<i64>() as f64;
                assert_eq!(reports[0].rows.value, judged, "{protocol:?} {labels:?} {delta}");
                assert_eq!(reports[0].epsilon, "1".parse().unwrap());
                assert_eq!(reports[0].delta, delta.parse().unwrap());
            }
        }
    }
}

/// What counts were multiplied by, so that shares of noise could be drawn for them.
fn finer(query: &Observed, histograms: i64) -> i64 {
    match query.norm {
        Norm::L1(_) | Norm::Width(_) => 1,
        Norm::L2Squared(squared) => ((squared as f64 / histograms as f64).sqrt()).round() as i64,
    }
}

/// One more row moves the counts of its owner by as much as is claimed, or not at all if it is not held out; a claim of nine tenths of
/// that is exceeded.
#[test]
fn one_row_moves_the_counts_of_held_out_rows_by_their_claim_and_no_more() {
    for protocol in [Protocol::Aggregated, Protocol::Averaged] {
        for labels in [Labels::Two, Labels::Three, Labels::Number] {
            for delta in ["1e-6", "0"] {
                let before = world(protocol, labels, delta, rows(labels, 4, 20), Noise::Drawn);
                let extra = lines(labels, 8, 77);
                let counts = |more: usize| {
                    // The same plan and the same cuts, whatever the number of rows is.
                    let mut world = World {
                        plan: before.plan.clone(),
                        agreement: before.agreement.clone(),
                        rows: before.rows.clone(),
                        noise: Noise::Drawn,
                        journals: before.journals.iter().map(|_| journal(&before.plan)).collect(),
                        drawn: before.drawn.iter().map(|_| Drawn::default()).collect(),
                    };
                    world.rows[1].extend_from_slice(&extra[..more]);
                    let seen = seen(4);
                    let simulation = judged(&world, &seen, dimension(labels), true, 2);
                    simulation.run().unwrap().all().unwrap();
                    let each = seen.iter().map(|own| own.lock().unwrap()[0].clone());
                    each.collect::<Vec<Observed>>()
                };
                let runs: Vec<Vec<Observed>> = (0..=extra.len()).map(counts).collect();
                let (mut moved, mut stayed) = (0, 0);
                for pair in runs.windows(2) {
                    let [less, more] = [&pair[0], &pair[1]];
                    assert_eq!(less[0], more[0], "another owner's rows do not move");
                    let change = less[1].answer.iter().zip(&more[1].answer).map(|(a, b)| b - a);
                    let (l1, l2) = change.fold((0, 0), |(l1, l2), x| (l1 + x.unsigned_abs(), l2 + x * x));
                    let (found, claimed) = match more[1].norm {
                        Norm::L1(claimed) | Norm::Width(claimed) => (u128::from(l1), u128::from(claimed)),
                        Norm::L2Squared(claimed) => (l2 as u128, claimed),
                    };
                    match found {
                        0 => stayed += 1,
                        found => {
                            moved += 1;
                            assert_eq!(found, claimed, "{protocol:?} {labels:?} {delta}");
                        }
                    }
                }
                // Coins at two in five; these are seeded.
                assert!(moved > 0 && stayed > 0, "{moved} and {stayed}");
            }
        }
    }
}

/// Sums of squares of so many draws of a law, in units of its variance: its mean is the number of draws, and its variance is twice that for
/// a Gaussian. Five standard deviations are exceeded once in 1.7 million times.
fn fits(noise: &[f64], deviation: f64) -> bool {
    let draws = noise.len() as f64;
    let squares: f64 = noise.iter().map(|x| (x / deviation).powi(2)).sum();
    (squares - draws).abs() <= 5.0 * (2.0 * draws).sqrt()
}

/// The noise in the counts that are told, on the grid of the counts: the last owner is absent.
fn noise(protocol: Protocol) -> (Vec<f64>, f64) {
    let (labels, mut noise, mut deviation) = (Labels::Two, Vec::new(), 0.0);
    for seed in 0..30 {
        let world = world(protocol, labels, "1e-6", rows(labels, 5, 8), Noise::Drawn);
        let seen = seen(5);
        let simulation = judged(&world, &seen, dimension(labels), false, seed).without_checkpoints();
        let records = simulation.records();
        let ended = simulation.fault(0, Fault::Leave(PartyId(5))).run().unwrap();
        assert!(ended.outcomes[..5].iter().all(Result::is_ok));
        let told = records[1].items().into_iter().filter_map(|item| match item {
            Item::Received { message, .. } => Message::from_bytes(&message).ok(),
            _ => None,
        });
        let mut sums = told.flat_map(|message| match message {
            Message::Opened { sums, .. } => sums,
            Message::Report { sum, .. } => vec![sum],
            _ => Vec::new(),
        });
        let sum = sums.rfind(|sum| sum.values.len() == dimension(labels)).unwrap();
        assert_eq!(sum.contributions, 4);
        let owners: Vec<Observed> = seen[..4]
            .iter()
            .map(|own| own.lock().unwrap()[0].clone())
            .collect();
        let finer = finer(&owners[0], 1) as f64;
        for (place, value) in sum.values.iter().enumerate() {
            let exact: i64 = owners.iter().map(|own| own.answer[place]).sum();
            noise.push((value - exact) as f64 / finer);
        }
        deviation = world.plan.report_deviation(4).unwrap();
    }
    (noise, deviation)
}

/// In joint sums four shares are present, three of which were paid for; where each owner adds its own noise, four whole ones are. Half of
/// the variance is told apart.
#[test]
fn noise_in_a_report_is_what_was_paid_for_and_half_of_it_is_rejected() {
    let protocols = [Protocol::Aggregated, Protocol::Averaged];
    for protocol in protocols.into_iter().take(if full() { 2 } else { 1 }) {
        let (noise, deviation) = noise(protocol);
        assert_eq!(noise.len(), 30 * 84);
        assert!(fits(&noise, deviation), "{protocol:?}");
        let half: Vec<f64> = noise.iter().map(|x| x * 0.5_f64.sqrt()).collect();
        assert!(!fits(&half, deviation), "{protocol:?}: half the variance");
        let nine_tenths: Vec<f64> = noise.iter().map(|x| x * 0.9).collect();
        assert!(
            !fits(&nine_tenths, deviation),
            "{protocol:?}: noise for nine tenths of the sensitivity"
        );
    }
    // For μ² of one evaluation, one row and one count: three owners' shares make 1/μ.
    let world = world(
        Protocol::Aggregated,
        Labels::Two,
        "1e-6",
        rows(Labels::Two, 5, 8),
        Noise::Drawn,
    );
    let Price::Gaussian(both) = world.plan.price() else {
        panic!("with a δ, everything is paid for in μ²")
    };
    let Price::Gaussian(trees) = world.plan.training_price() else {
        panic!("with a δ, everything is paid for in μ²")
    };
    let paid = 1.0 / (both.to_f64() - trees.to_f64()).sqrt();
    let honest = world.plan.report_deviation(3).unwrap();
    assert!(
        honest >= paid * 0.9999 && honest < paid * 1.02,
        "{honest} and {paid}"
    );
}

/// The evaluation is promised with the trees and written down before the first draw; a budget for the trees alone pays for neither.
#[test]
fn an_evaluation_is_paid_for_before_anything_is_drawn_or_nothing_is() {
    for protocol in PROTOCOLS {
        let mut world = world(
            protocol,
            Labels::Two,
            "1e-6",
            rows(Labels::Two, 4, 20),
            Noise::Drawn,
        );
        world.simulation().run().unwrap().all().unwrap();
        for journal in &world.journals {
            let spent = payments(journal);
            assert!(
                spent.iter().any(|(what, _)| what.starts_with("evaluation")),
                "{spent:?}"
            );
            let sum = spent
                .iter()
                .map(|(_, price)| *price)
                .reduce(|a, b| a.checked_add(b).unwrap());
            let (Some(Price::Gaussian(sum)), Price::Gaussian(promised)) = (sum, world.plan.price()) else {
                panic!("everything is paid for in μ²")
            };
            assert!(sum <= promised && sum.to_f64() > promised.to_f64() * 0.999);
        }
        // A budget that pays for the trees only.
        let alone = Horizontal::builder().protocol(protocol).absent(1);
        let alone = alone.trees(trees(2).calibrate(false).build().unwrap());
        let alone = World::new(
            &alone.build().unwrap(),
            Labels::Two,
            spending("4", "1e-6"),
            rows(Labels::Two, 4, 20),
            Noise::Drawn,
        );
        assert_eq!(alone.plan.price(), world.plan.training_price());
        world.journals = alone.journals;
        let ended = world.simulation().run().unwrap();
        assert!(
            ended
                .outcomes
                .iter()
                .any(|outcome| matches!(outcome, Err(Error::Budget(_))))
        );
        for journal in &world.journals {
            assert_eq!(payments(journal).len(), 0);
        }
    }
}

fn payments(journal: &Faulty) -> Vec<(String, Price)> {
    let entries = journal.entries();
    let spent = entries.iter().filter_map(|entry| match entry.event() {
        Event::Spend { what, price, .. } => Some((what.clone(), *price)),
        _ => None,
    });
    spent.collect()
}

#[test]
fn plans_say_who_learns_the_report_and_what_it_costs() {
    for protocol in PROTOCOLS {
        let world = world(
            protocol,
            Labels::Two,
            "1e-6",
            rows(Labels::Two, 4, 50),
            Noise::Drawn,
        );
        let plan = &world.plan;
        let words = plan.owner(0).unwrap().to_string();
        for said in [
            "Each person is held out with a chance of 40 in 100",
            "What the miner and every owner learns: how good the model is on held-out rows",
            "The evaluation costs each owner",
            &format!("ε = {} at δ", plan.epsilon()),
        ] {
            assert!(words.contains(said), "{protocol:?} does not say {said}: {words}");
        }
        assert!(plan.epsilon() > "4".parse().unwrap());
        assert!(plan.epsilon() < "5".parse().unwrap());
        assert_eq!(plan.training_epsilon(), "4".parse().unwrap());
        let several = plan.person_at(1).unwrap();
        assert_eq!(several.epsilon, plan.epsilon());
    }
    let miner_only = Horizontal::builder()
        .protocol(Protocol::Averaged)
        .recipients(privet::setting::horizontal::Recipients::Miner)
        .evaluation(held_out("1", 20));
    assert!(matches!(miner_only.build(), Err(Error::Parameter(_))));
    assert!(HeldOut::builder().build().is_err(), "an ε has no default");
}
