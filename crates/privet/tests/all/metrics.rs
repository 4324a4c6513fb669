//! The figures of a model against scikit-learn's (`vectors/metrics/make.py`), and their intervals against simulation.

use std::collections::BTreeMap;

use privet::model::metrics::{Estimate, Metric, Report};
use privet::privacy::Coins;
use privet_testkit::interval::{Tally, at_most};
use privet_testkit::skipped::full;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// How many standard errors an interval reaches.
const Z: f64 = 1.959_963_984_540_054;

fn rows<T: DeserializeOwned>(text: &str) -> Vec<T> {
    #[derive(Deserialize)]
    struct File<T> {
        rows: Vec<T>,
    }
    let file: File<T> = serde_json::from_str(text).unwrap();
    assert!(!file.rows.is_empty());
    file.rows
}

macro_rules! vectors {
    ($name:literal) => {
        rows(include_str!(concat!(
            "../../../../vectors/metrics/",
            $name,
            ".json"
        )))
    };
}

#[derive(Deserialize)]
struct Expected {
    classes: Option<usize>,
    labels: Vec<f64>,
    #[serde(default)]
    probabilities: Vec<f32>,
    #[serde(default)]
    values: Vec<f32>,
    constant: BTreeMap<String, f64>,
    #[serde(flatten)]
    figures: BTreeMap<String, serde_json::Value>,
}

impl Expected {
    fn number(&self, name: &str) -> f64 {
        self.figures[name].as_f64().unwrap()
    }

    fn pair(&self, name: &str) -> [f64; 2] {
        serde_json::from_value(self.figures[name].clone()).unwrap()
    }

    fn report(&self) -> Report {
        if self.probabilities.is_empty() {
            let labels: Vec<f32> = self.labels.iter().map(|label| *label as f32).collect();
            return Report::of_numbers(&labels, &self.values);
        }
        let labels: Vec<u16> = self.labels.iter().map(|label| *label as u16).collect();
        Report::of_classes(&labels, &self.probabilities, self.classes.unwrap_or(2))
    }
}

fn estimate(report: &Report, metric: Metric) -> Estimate {
    report.figures.get(metric).unwrap().estimate.unwrap()
}

#[track_caller]
fn near(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "{found} for {expected}"
    );
}

/// Values, constants, and standard errors: exact ones to rounding, those from leaving out rows within `loose` of
/// themselves.
#[track_caller]
fn compare(expected: &Expected, report: &Report, metric: Metric, name: &str, loose: f64) {
    let found = estimate(report, metric);
    near(found.value, expected.number(name), 1e-9);
    if let Some(constant) = expected.constant.get(name) {
        near(
            report.figures.get(metric).unwrap().constant.unwrap(),
            *constant,
            1e-9,
        );
    }
    if let Some(error) = expected.figures.get(&format!("{name}_error")) {
        let reach = Z * error.as_f64().unwrap();
        let (least, most) = if metric == Metric::R2 {
            (f64::MIN, 1.0)
        } else {
            (0.0, if metric == Metric::Auc { 1.0 } else { f64::MAX })
        };
        let ends = [found.value - reach, found.value + reach].map(|end| end.clamp(least, most));
        for (end, expected) in [found.low, found.high].into_iter().zip(ends) {
            let off = (end - expected).abs();
            assert!(
                off <= loose * reach + 1e-9,
                "{name}: {end} for {expected}, reach {reach}"
            );
        }
    }
}

#[test]
fn figures_of_two_classes_are_scikit_learns() {
    for expected in vectors!("binary") {
        let expected: Expected = expected;
        let report = expected.report();
        compare(&expected, &report, Metric::Accuracy, "accuracy", 0.0);
        compare(&expected, &report, Metric::Auc, "auc", 1e-9);
        compare(&expected, &report, Metric::LogLoss, "log_loss", 1e-6);
        compare(&expected, &report, Metric::F1, "f1", 0.0);
        let [accuracy, f1] = [Metric::Accuracy, Metric::F1].map(|metric| estimate(&report, metric));
        let [low, high] = expected.pair("accuracy_interval");
        near(accuracy.low, low, 1e-9);
        near(accuracy.high, high, 1e-9);
        let [low, high] = expected.pair("f1_union_interval").map(|q| 2.0 * q / (1.0 + q));
        near(f1.low, low, 1e-9);
        near(f1.high, high, 1e-9);
    }
}

#[test]
fn figures_of_several_classes_are_scikit_learns() {
    for expected in vectors!("classes") {
        let expected: Expected = expected;
        let report = expected.report();
        compare(&expected, &report, Metric::Accuracy, "accuracy", 0.0);
        let [low, high] = expected.pair("accuracy_interval");
        near(estimate(&report, Metric::Accuracy).low, low, 1e-9);
        near(estimate(&report, Metric::Accuracy).high, high, 1e-9);
        compare(&expected, &report, Metric::Auc, "auc", 0.05);
        compare(&expected, &report, Metric::LogLoss, "log_loss", 1e-6);
        compare(&expected, &report, Metric::MacroF1, "macro_f1", 0.1);
    }
}

#[test]
fn figures_of_numbers_are_scikit_learns() {
    for expected in vectors!("numbers") {
        let expected: Expected = expected;
        let report = expected.report();
        compare(&expected, &report, Metric::Mae, "mae", 1e-6);
        compare(&expected, &report, Metric::Rmse, "rmse", 0.05);
        compare(&expected, &report, Metric::R2, "r2", 0.1);
    }
}

#[test]
fn what_has_no_meaning_is_not_defined() {
    let defined = |report: &Report| -> Vec<Metric> {
        let figures = report.figures.iter().filter(|figure| figure.estimate.is_some());
        figures.map(|figure| figure.metric).collect()
    };
    assert_eq!(defined(&Report::of_classes(&[], &[], 2)), []);
    assert_eq!(defined(&Report::of_classes(&[], &[], 5)), []);
    assert_eq!(defined(&Report::of_numbers(&[], &[])), []);
    // One class: no pairs to order. No positive one, none called positive: no F1.
    let zeros = Report::of_classes(&[0, 0], &[0.9, 0.1, 0.8, 0.2], 2);
    assert_eq!(defined(&zeros), [Metric::Accuracy, Metric::LogLoss]);
    assert_eq!(
        defined(&Report::of_numbers(&[0.1, 0.1, 0.1], &[0.0, 0.1, 0.3])),
        [Metric::Mae, Metric::Rmse]
    );
    assert_eq!(defined(&Report::of_numbers(&[1.0, 2.0], &[1.0, f32::NAN])), []);
    assert_eq!(defined(&Report::of_numbers(&[1.0], &[1.0])), []);
    // Nothing panics on what does not fit together, and no figure is other than a number.
    let odd = [
        Report::of_classes(&[0, 1, 9], &[f32::NAN, f32::INFINITY, 0.5, 0.5, -1.0, 2.0], 2),
        Report::of_classes(&[0, 1, 2], &[0.5, 0.5, 0.0, 1.0], 3),
        Report::of_classes(&[0, 7], &[1.0, 0.0], 1),
        Report::of_classes(&[0, 7], &[1.0, 0.0], 0),
        Report::of_numbers(&[f32::MAX, f32::MIN], &[f32::MIN, f32::MAX]),
    ];
    for report in odd {
        for figure in report.figures.iter() {
            let numbers = figure
                .estimate
                .map(|e| [e.value, e.low, e.high])
                .unwrap_or_default();
            assert!(
                numbers.iter().chain(&figure.constant).all(|x| x.is_finite()),
                "{figure:?}"
            );
        }
        assert!(!report.to_string().contains("NaN"));
    }
}

#[test]
fn certain_and_wrong_is_clipped_and_ties_count_half() {
    let report = Report::of_classes(&[0, 1], &[0.0, 1.0, 1.0, 0.0], 2);
    near(estimate(&report, Metric::LogLoss).value, -(1e-15f64.ln()), 1e-12);
    let tied = Report::of_classes(&[0, 1, 0, 1], &[0.5; 8], 2);
    assert_eq!(estimate(&tied, Metric::Auc).value, 0.5);
    // One half is not above one half: all are called the first class.
    assert_eq!(estimate(&tied, Metric::Accuracy).value, 0.5);
    assert_eq!(estimate(&tied, Metric::F1).value, 0.0);
    // All pairs in order, yet the interval does not pretend to be sure.
    let right = Report::of_classes(&[0, 0, 1, 1], &[0.9, 0.1, 0.8, 0.2, 0.2, 0.8, 0.1, 0.9], 2);
    let area = estimate(&right, Metric::Auc);
    assert!(area.value == 1.0 && area.high == 1.0 && area.low < 0.5);
}

/// A standard normal number, by the sum of twelve uniform ones: near enough, and its law is the same in both runs
/// below.
fn normal(coins: &mut Coins) -> f64 {
    (0..12).map(|_| coins.unit()).sum::<f64>() - 6.0
}

fn draw(coins: &mut Coins, task: usize, rows: usize) -> Report {
    match task {
        0 => {
            let (mut labels, mut probabilities) = (Vec::new(), Vec::new());
            for _ in 0..rows {
                let label = coins.unit() < 0.3;
                let z = normal(coins) + if label { 0.6 } else { -0.9 };
                let p = 1.0 / (1.0 + (-z).exp());
                labels.push(u16::from(label));
                probabilities.extend([1.0 - p as f32, p as f32]);
            }
            Report::of_classes(&labels, &probabilities, 2)
        }
        1 => {
            let (mut labels, mut probabilities) = (Vec::new(), Vec::new());
            for _ in 0..rows {
                let label = (coins.unit() * coins.unit() * 3.0) as usize;
                let mut weights = [0, 1, 2].map(|class| {
                    let z = normal(coins) + if class == label { 1.0 } else { 0.0 };
                    z.exp() as f32
                });
                let sum: f32 = weights.iter().sum();
                weights.iter_mut().for_each(|weight| *weight /= sum);
                labels.push(label as u16);
                probabilities.extend(weights);
            }
            Report::of_classes(&labels, &probabilities, 3)
        }
        _ => {
            let labels: Vec<f32> = (0..rows).map(|_| normal(coins) as f32).collect();
            let values: Vec<f32> = labels
                .iter()
                .map(|y| y * 0.8 + 0.5 * normal(coins) as f32)
                .collect();
            Report::of_numbers(&labels, &values)
        }
    }
}

/// Intervals of 400 rows, a thousand times, must hold the figure of a million rows about 95 times in a hundred. One
/// whose true coverage is 93 % or more would be refused with probability below 10⁻⁶ a figure with fresh coins; these
/// are fixed, so the verdict is the same in every run. Half the width must be refused.
#[test]
fn intervals_cover_what_they_should() {
    const RUNS: u64 = 1000;
    for task in 0..if full() { 3 } else { 1 } {
        let mut coins = Coins::from_seed([task as u8; 32]);
        let truth = draw(&mut coins, task, 1_000_000);
        let mut covered = vec![[0, 0]; truth.figures.iter().count()];
        for _ in 0..RUNS {
            let report = draw(&mut coins, task, 400);
            let figures = report.figures.iter().zip(truth.figures.iter());
            for (tally, (found, truth)) in covered.iter_mut().zip(figures) {
                let (found, truth) = (found.estimate.unwrap(), truth.estimate.unwrap().value);
                let within = |shrink: f64| {
                    let low = found.value - shrink * (found.value - found.low);
                    let high = found.value + shrink * (found.high - found.value);
                    (low..=high).contains(&truth)
                };
                tally[0] += u64::from(within(1.0));
                tally[1] += u64::from(within(0.5));
            }
        }
        for (figure, [whole, half]) in truth.figures.iter().zip(covered) {
            let shown = |covered| at_most(Tally::new(covered, RUNS), 1e-6);
            println!(
                "{}: {whole} of {RUNS}, {half} at half the width",
                figure.metric.name()
            );
            assert!(shown(whole) >= 0.93, "{:?} covers {whole}", figure.metric);
            assert!(
                shown(half) < 0.93,
                "{:?} covers {half} at half its width",
                figure.metric
            );
            // Nor are they so wide that they say nothing: 99 % would be a third too wide.
            assert!(whole < 985, "{:?} covers {whole}", figure.metric);
        }
    }
}
