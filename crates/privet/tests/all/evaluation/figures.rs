//! Figures from noisy counts beside those without noise, and their error bars against simulation.

use std::num::NonZeroU32;

use privet::Error;
use privet::data::schema::{Schema, flag, label};
use privet::model::metrics::{Judged, Metric, Report};
use privet::noisy::evaluation::{Evaluation, PaidReport};
use privet::privacy::account::Caps;
use privet::privacy::{
    AddRemove, Coins, Delta, Epsilon, Ledger, Neighbours, Private, Randomness, Unprotected,
};
use privet_testkit::interval::{Tally, at_most};
use privet_testkit::skipped::full;

use super::tables::{TASKS, Task};

pub(super) fn normal(coins: &mut Coins) -> f64 {
    (0..12).map(|_| coins.unit()).sum::<f64>() - 6.0
}

/// Rows of a world in which the model has some skill.
fn draw(coins: &mut Coins, task: Task, rows: usize) -> Judged {
    let (mut labels, mut probabilities) = (Vec::new(), Vec::new());
    match task {
        Task::Number => {
            let labels: Vec<f32> = (0..rows)
                .map(|_| (5.0 + 1.5 * normal(coins)).clamp(0.0, 10.0) as f32)
                .collect();
            let value = |label: &f32| (label + 0.8 * normal(coins) as f32).clamp(0.0, 10.0);
            let values = labels.iter().map(value).collect();
            return Judged::Numbers { labels, values };
        }
        Task::Binary => {
            for _ in 0..rows {
                let label = coins.unit() < 0.3;
                let z = 1.2 * normal(coins) + if label { 0.6 } else { -0.9 };
                let p = (1.0 / (1.0 + (-z).exp())) as f32;
                labels.push(u16::from(label));
                probabilities.extend([1.0 - p, p]);
            }
        }
        Task::Several => {
            for _ in 0..rows {
                let label = (coins.unit() * coins.unit() * 3.0) as usize;
                let weight = |class| (normal(coins) + if class == label { 1.0 } else { 0.0 }).exp() as f32;
                let weights = [0, 1, 2].map(weight);
                let sum: f32 = weights.iter().sum();
                labels.push(label as u16);
                probabilities.extend(weights.map(|weight| weight / sum));
            }
        }
    }
    Judged::Classes {
        labels,
        probabilities,
    }
}

fn paid(task: Task, judged: Judged, epsilon: &str) -> PaidReport {
    paid_as(&Evaluation::of(&task.schema(1)).unwrap(), judged, epsilon)
}

pub(super) fn paid_as(evaluation: &Evaluation, judged: Judged, epsilon: &str) -> PaidReport {
    let epsilon: Epsilon = epsilon.parse().unwrap();
    let caps = Caps {
        pure: epsilon,
        ..Caps::ZERO
    };
    let random = Randomness::from_os().unwrap();
    let mut ledger = Ledger::volatile(AddRemove::row(), caps, Delta::ZERO, random).unwrap();
    let report = evaluation
        .paid_as_judged(Private::new(judged), &mut ledger, epsilon)
        .unwrap();
    assert_eq!(ledger.remaining().pure, Epsilon::ZERO, "all of it is charged");
    report
}

fn open(task: Task, judged: Judged) -> Report {
    open_as(&Evaluation::of(&task.schema(1)).unwrap(), judged)
}

pub(super) fn open_as(evaluation: &Evaluation, judged: Judged) -> Report {
    let leave = Unprotected::unrecorded("judged", &AddRemove::row().relation(), "a test");
    evaluation.open(Private::new(judged), &leave)
}

/// With next to no noise only the bins are between the two.
#[test]
fn figures_from_counts_are_those_of_the_rows_up_to_the_bins() {
    for task in TASKS {
        let judged = draw(&mut Coins::from_seed([7; 32]), task, 20_000);
        let [noisy, exact] = [
            paid(task, judged.clone(), "1000").figures,
            open(task, judged).figures,
        ];
        for figure in noisy.iter() {
            let exact = exact.get(figure.metric).unwrap();
            let (found, truth) = (figure.estimate.unwrap(), exact.estimate.unwrap());
            let (off, constants) = (
                (found.value - truth.value).abs(),
                (figure.constant.unwrap() - exact.constant.unwrap()).abs(),
            );
            let [tolerance, of_constant] = match figure.metric {
                Metric::Accuracy | Metric::F1 | Metric::MacroF1 => [1e-9, 1e-9],
                Metric::Auc => [0.002, 1e-9],
                Metric::LogLoss => [0.002, 1e-9],
                Metric::Mae | Metric::Rmse => [0.01, 0.01],
                Metric::R2 => [0.01, 1e-9],
            };
            assert!(off < tolerance, "{:?}: {found:?} for {truth:?}", figure.metric);
            assert!(constants < of_constant, "{:?}: {constants}", figure.metric);
            // The bars hold the bins' worst case besides, so they are wider than those of the rows.
            assert!(found.high - found.low > 0.98 * (truth.high - truth.low));
        }
        assert_eq!(
            noisy.iter().count(),
            if task == Task::Number {
                3
            } else {
                noisy.iter().count()
            }
        );
    }
}

/// Intervals of 1500 rows, three hundred times with fresh noise, must hold the figure of half a million rows. One
/// whose true coverage is 92 % or more is refused with probability below 10⁻⁶ a figure. The same figures in intervals
/// that leave out the noise (those of the rows alone) must be refused, so ε is small enough for the noise to matter.
/// Measured over 2000 runs they cover 71 % at the most, so that they pass with probability below 10⁻⁶ each; all in
/// all the test raises a false alarm less than once in 10⁴ runs.
#[test]
fn error_bars_include_the_noise() {
    const RUNS: u64 = 300;
    for task in TASKS.into_iter().take(if full() { TASKS.len() } else { 1 }) {
        let epsilon = match task {
            Task::Binary => "0.2",
            Task::Several => "0.15",
            Task::Number => "0.5",
        };
        let mut coins = Coins::from_seed([task as u8 + 40; 32]);
        let truth = open(task, draw(&mut coins, task, 500_000)).figures;
        let metrics: Vec<Metric> = paid(task, draw(&mut coins, task, 1500), "1")
            .figures
            .iter()
            .map(|figure| figure.metric)
            .collect();
        let mut covered = vec![[0, 0]; metrics.len()];
        for _ in 0..RUNS {
            let judged = draw(&mut coins, task, 1500);
            let alone = open(task, judged.clone()).figures;
            let noisy = paid(task, judged, epsilon).figures;
            for (tally, metric) in covered.iter_mut().zip(&metrics) {
                let truth = truth.get(*metric).unwrap().estimate.unwrap().value;
                let Some(found) = noisy.get(*metric).unwrap().estimate else {
                    continue;
                };
                let without = alone.get(*metric).unwrap().estimate.unwrap();
                let reach = (without.high - without.low) / 2.0;
                tally[0] += u64::from((found.low..=found.high).contains(&truth));
                tally[1] += u64::from((found.value - truth).abs() <= reach);
            }
        }
        for (metric, [whole, without]) in metrics.iter().zip(covered) {
            println!(
                "{}: {whole} of {RUNS}, {without} without the noise",
                metric.name()
            );
            let shown = |covered| at_most(Tally::new(covered, RUNS), 1e-6);
            assert!(shown(whole) >= 0.92, "{metric:?} covers {whole} of {RUNS}");
            assert!(
                shown(without) < 0.92,
                "{metric:?} covers {without} of {RUNS} without the noise"
            );
        }
    }
}

#[test]
fn no_rows_and_few_rows_give_a_report_all_the_same() {
    for task in TASKS {
        for rows in [0, 1, 3] {
            let report = paid(task, draw(&mut Coins::from_seed([1; 32]), task, rows), "0.01");
            let text = format!("{report} {}", serde_json::to_string(&report).unwrap());
            assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
            // Five standard deviations of the noise: about one in two million for each figure.
            assert!(report.to_string().contains("not defined"), "{report}");
        }
    }
}

#[test]
fn what_does_not_fit_together_counts_nowhere_and_raises_nothing() {
    let odd = [
        Judged::Numbers {
            labels: vec![1.0],
            values: vec![1.0],
        },
        Judged::Classes {
            labels: vec![0, 1, 900],
            probabilities: vec![0.5, f32::NAN, 0.1],
        },
        Judged::Classes {
            labels: vec![],
            probabilities: vec![0.5; 100],
        },
        Judged::Numbers {
            labels: vec![f32::NAN, f32::INFINITY, -1e30],
            values: vec![f32::NAN, f32::NEG_INFINITY],
        },
    ];
    for task in TASKS {
        for judged in odd.clone() {
            paid(task, judged.clone(), "1");
            open(task, judged);
        }
    }
}

#[test]
fn public_facts_decide_errors() {
    // No label.
    let schema = Schema::builder("d").columns([flag("x")]).build().unwrap();
    assert!(matches!(Evaluation::of(&schema), Err(Error::Data(_))));
    // Too many classes to count their pairs, whatever the rows; without protection there is no such limit.
    let names: Vec<String> = (0..300).map(|i| i.to_string()).collect();
    let wide = Schema::builder("d")
        .columns([flag("x"), label("y", names)])
        .build()
        .unwrap();
    let wide = Evaluation::of(&wide).unwrap();
    let judged = Private::new(Judged::Classes {
        labels: vec![299, 0],
        probabilities: vec![1.0 / 300.0; 600],
    });
    let caps = Caps {
        pure: Epsilon::new(1.0).unwrap(),
        ..Caps::ZERO
    };
    let mut ledger = Ledger::volatile(
        AddRemove::row(),
        caps,
        Delta::ZERO,
        Randomness::from_os().unwrap(),
    )
    .unwrap();
    let refused = wide.paid_as_judged(judged.clone(), &mut ledger, Epsilon::new(1.0).unwrap());
    assert!(matches!(refused, Err(Error::Parameter(_))));
    assert_eq!(ledger.remaining(), caps);
    let leave = Unprotected::unrecorded("d", &AddRemove::row().relation(), "a test");
    assert_eq!(wide.open(judged, &leave).rows, 2);
    // No ε, or more than there is.
    let evaluation = Evaluation::of(&Task::Binary.schema(1)).unwrap();
    let unit = AddRemove::unit(NonZeroU32::MIN);
    let mut ledger = Ledger::volatile(unit, caps, Delta::ZERO, Randomness::from_os().unwrap()).unwrap();
    let mut ask = |epsilon: &str| {
        let judged = draw(&mut Coins::from_seed([1; 32]), Task::Binary, 10);
        evaluation.paid_as_judged(Private::new(judged), &mut ledger, epsilon.parse().unwrap())
    };
    assert!(matches!(ask("0"), Err(Error::Parameter(_))));
    assert!(matches!(ask("1.5"), Err(Error::Budget(_))));
    assert!(ask("0.6").is_ok());
    assert!(matches!(ask("0.6"), Err(Error::Budget(_))));
}

#[test]
fn a_report_reads_well() {
    let judged = draw(&mut Coins::from_seed([3; 32]), Task::Binary, 5000);
    let report = paid(Task::Binary, judged, "1");
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(
        lines[0].starts_with("About ") && lines[0].ends_with("counted with noise for ε = 1"),
        "{text}"
    );
    assert_eq!(lines[1], "in case one row is added or removed.");
    assert!(lines[2].starts_with("metric    value   95 % interval"), "{text}");
    assert_eq!(lines.len(), 10, "{text}");
    let json: serde_json::Value = serde_json::from_str(&serde_json::to_string(&report).unwrap()).unwrap();
    assert_eq!(json["epsilon"], "1");
    assert!(json["figures"][1]["estimate"]["value"].as_f64().unwrap() > 0.5);
}
