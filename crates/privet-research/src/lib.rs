//! The papers' experiments, repeated: where every setting registers what it can be compared with.
//!
//! An [`Experiment`] measures; what is published and what a correct implementation reaches stands in data files
//! (`reproduce/expected`), with their sources, which only this crate reads. The data sets are public, so nothing here is
//! charged, and every accuracy stands beside its baselines.
#![forbid(unsafe_code)]

mod as_published;
mod brc;
mod data;
pub mod decoders;
mod expected;
pub mod industrial;
mod inprivate;
mod localboost;
mod maboost;
pub mod opboost;
mod plain;
mod records;
mod trees;
mod verb;

use privet::Error;
use privet::data::{Schema, Table};
use privet::model::Model;
use privet::model::metrics::mean_and_deviation;
use privet::noisy::evaluation::Evaluation;
use privet::privacy::{Coins, Unprotected};
use rayon::prelude::*;
use serde::Serialize;

pub use data::Data;
use expected::Better;
pub use expected::Expected;
pub use records::Records;
pub use verb::{Reproduce, run};

use privet_node::progress::Progress;

/// Measures so many runs.
pub type Measure = Box<dyn Fn(&Data, u32, &Progress) -> Result<Vec<Measured>, Error>>;

/// One table or figure of a paper on one data set.
pub struct Experiment {
    /// The paper's key.
    pub paper: &'static str,
    /// "table 1", "figure 2".
    pub item: &'static str,
    /// The data set.
    pub dataset: &'static str,
    /// How many runs it takes by default.
    pub runs: u32,
    /// Measures.
    pub measure: Measure,
}

/// What one method reached, run by run.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The method's name.
    pub method: &'static str,
    /// The ε it spent, if it spends any.
    pub epsilon: Option<f64>,
    /// What was measured.
    pub metric: &'static str,
    /// One value a run.
    pub values: Vec<f64>,
}

impl Experiment {
    fn new(
        (paper, item, dataset): (&'static str, &'static str, &'static str),
        runs: u32,
        measure: impl Fn(&Data, u32, &Progress) -> Result<Vec<Measured>, Error> + 'static,
    ) -> Self {
        let measure = Box::new(measure);
        Self {
            paper,
            item,
            dataset,
            runs,
            measure,
        }
    }
}

impl Measured {
    fn new(
        method: &'static str,
        epsilon: Option<f64>,
        metric: &'static str,
        values: impl IntoIterator<Item = f64>,
    ) -> Self {
        let values = values.into_iter().collect();
        Self {
            method,
            epsilon,
            metric,
            values,
        }
    }
}

/// All experiments, in the order of the settings.
pub fn experiments() -> Vec<Experiment> {
    let mut all = plain::experiments();
    all.extend(brc::experiments());
    all.extend(inprivate::experiments());
    all.extend(trees::experiments());
    all.extend(opboost::experiments());
    all.extend(maboost::experiments());
    all.extend(localboost::experiments());
    all.extend(industrial::experiments());
    all
}

/// A method by its name, and the ε at which it runs: none for what spends none.
type NamedMethod<M> = (&'static str, M, &'static [f64]);

/// Figures by their metric's name.
type NamedFigures = Vec<(&'static str, f64)>;

/// Runs each method at each of its ε, run by run.
fn compared<M: Sync>(
    methods: &[NamedMethod<M>],
    metrics: &[&'static str],
    (runs, bar): (u32, &Progress),
    figures: impl Fn(&M, Option<f64>, u32) -> Result<NamedFigures, Error> + Sync,
) -> Result<Vec<Measured>, Error> {
    let cases = methods.iter().flat_map(|(name, method, epsilons)| {
        let free = epsilons.is_empty().then_some(None);
        let each = epsilons.iter().copied().map(Some).chain(free);
        each.map(move |epsilon| (*name, method, epsilon))
    });
    let cases: Vec<_> = cases.collect();
    let mut measured = Vec::new();
    for (done, (name, method, epsilon)) in cases.iter().enumerate() {
        bar.at(done as u64, cases.len() as u64);
        let found = each_run(runs, |run| figures(method, *epsilon, run))?;
        measured.extend(metrics.iter().map(|metric| {
            let values = found.iter().map(|run| figure(run, metric));
            Measured::new(name, *epsilon, metric, values)
        }));
    }
    Ok(measured)
}

/// What each run finds.
fn each_run<T: Send>(
    runs: u32,
    found: impl Fn(u32) -> Result<T, Error> + Sync + Send,
) -> Result<Vec<T>, Error> {
    (0..runs).into_par_iter().map(found).collect()
}

/// One figure; not a number if it was not found.
fn figure(figures: &[(&'static str, f64)], metric: &str) -> f64 {
    let found = |metric: &str| figures.iter().find(|(name, _)| *name == metric);
    match metric {
        "MSE" => found("RMSE").map_or(f64::NAN, |(_, root)| root * root),
        metric => found(metric).map_or(f64::NAN, |(_, value)| *value),
    }
}

/// How good a model is on rows that need no protection.
fn judged(model: &Model, test: &Table) -> Result<NamedFigures, Error> {
    let evaluation = Evaluation::of(test.schema())?;
    let judged = test.cells().as_ref().map(|cells| evaluation.judge(model, cells));
    Ok(evaluation.open(judged, &public(test.schema())).named())
}

/// The data sets are public; their rows only stand for private ones.
fn public(schema: &Schema) -> Unprotected {
    Unprotected::unrecorded(schema.dataset(), &schema.relation(), "a public data set")
}

/// Coins that everybody may know.
fn coins(number: u64) -> Coins {
    Coins::from_seed(seed(number))
}

fn seed(number: u64) -> [u8; 32] {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    seed
}

/// One line of the answer.
#[derive(Debug, Clone, Serialize)]
pub struct Line {
    /// The paper's key.
    pub paper: &'static str,
    /// The table or figure.
    pub item: &'static str,
    /// The data set.
    pub dataset: &'static str,
    /// The method.
    pub method: &'static str,
    /// The ε it spent.
    pub epsilon: Option<f64>,
    /// What was measured.
    pub metric: &'static str,
    /// The mean over the runs.
    pub mean: f64,
    /// The standard deviation over the runs.
    pub sd: f64,
    /// How many runs.
    pub runs: usize,
    /// What the paper says.
    pub published: Option<f64>,
    /// What a correct implementation reaches.
    pub expected: Option<f64>,
    /// How far from it the mean may lie.
    pub tolerance: Option<f64>,
    /// How the mean lies to all this.
    pub verdict: Verdict,
}

/// How a mean lies to what is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Within the tolerance, or nothing is expected.
    Within,
    /// Beyond the tolerance, on the better side of a figure that has one.
    Better,
    /// Beyond the tolerance.
    Outside,
}

impl Verdict {
    fn of(mean: f64, expected: Option<&Expected>) -> Self {
        let Some(found) = expected else {
            return Self::Within;
        };
        let (Some(expected), Some(tolerance)) = (found.expected, found.tolerance) else {
            return Self::Within;
        };
        match found.better {
            _ if (mean - expected).abs() <= tolerance => Self::Within,
            Some(Better::Higher) if mean > expected => Self::Better,
            Some(Better::Lower) if mean < expected => Self::Better,
            _ => Self::Outside,
        }
    }
}

/// Runs one experiment and sets its figures beside the expected ones.
///
/// # Errors
/// [`Error::Data`] if a data set is not there.
pub fn lines(
    experiment: &Experiment,
    expected: &[Expected],
    data: &Data,
    runs: Option<u32>,
    bar: &Progress,
) -> Result<Vec<Line>, Error> {
    let measured = (experiment.measure)(data, runs.unwrap_or(experiment.runs), bar)?;
    Ok(measured
        .into_iter()
        .map(|m| {
            let (mean, sd) = mean_and_deviation(&m.values);
            let found = expected.iter().find(|e| e.is_about(experiment, &m));
            Line {
                paper: experiment.paper,
                item: experiment.item,
                dataset: experiment.dataset,
                method: m.method,
                epsilon: m.epsilon,
                metric: m.metric,
                mean,
                sd,
                runs: m.values.len(),
                published: found.and_then(|e| e.published),
                expected: found.and_then(|e| e.expected),
                tolerance: found.and_then(|e| e.tolerance),
                verdict: Verdict::of(mean, found),
            }
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(better: &str) -> Expected {
        let text = format!(
            r#"{{"item": "table 1", "dataset": "d", "method": "m", "metric": "x", {better} "expected": 0.911, "tolerance": 0.004,
                 "source": "a test"}}"#
        );
        serde_json::from_str(&text).expect("a figure")
    }

    /// Adult at ε = 8 was called outside for being better.
    #[test]
    fn a_figure_outside_its_tolerance_is_outside_unless_it_is_better() {
        use Verdict::{Better, Outside, Within};
        let figures = ["", r#""better": "higher","#, r#""better": "lower","#].map(expected);
        for (mean, verdicts) in [
            (0.9151, [Outside, Better, Outside]),
            (0.9069, [Outside, Outside, Better]),
            (0.9149, [Within; 3]),
            (0.911, [Within; 3]),
            (0.9071, [Within; 3]),
            (f64::NAN, [Outside; 3]),
        ] {
            let found = figures.each_ref().map(|figure| Verdict::of(mean, Some(figure)));
            assert_eq!(found, verdicts, "{mean}");
        }
        assert_eq!(Verdict::of(0.5, None), Within);
    }

    /// An accuracy is better if it is higher, an error if it is lower; whatever else is measured must match.
    #[test]
    fn directions_go_with_their_metrics() {
        for key in [
            "plain",
            "brc",
            "inprivate-tree",
            "inprivate",
            "dp-trees",
            "opboost",
            "maboost",
            "localboost",
        ] {
            for figure in Expected::of(key).expect("the file parses") {
                let fits = match figure.better {
                    None => true,
                    Some(Better::Higher) => ["accuracy", "AUC"].contains(&&figure.metric[..]),
                    Some(Better::Lower) => ["MAE", "RMSE", "error"].contains(&&figure.metric[..]),
                };
                assert!(fits, "{key}: {figure:?}");
            }
        }
        let trees = Expected::of("dp-trees").expect("the file parses");
        assert!(trees.iter().all(|figure| figure.better.is_some()));
    }

    #[test]
    fn means_and_deviations() {
        let (mean, sd) = mean_and_deviation(&[1.0, 2.0, 3.0]);
        assert!((mean - 2.0).abs() < 1e-15 && (sd - 1.0).abs() < 1e-15);
        assert_eq!(mean_and_deviation(&[5.0]), (5.0, 0.0));
    }

    /// A figure that no experiment measures would never be compared.
    #[test]
    fn every_expected_figure_belongs_to_an_experiment() {
        let all = experiments();
        let keys: std::collections::BTreeSet<&str> = all.iter().map(|e| e.paper).collect();
        for key in keys {
            for expected in Expected::of(key).expect("the file parses") {
                assert!(
                    all.iter().any(|e| e.paper == key && expected.is_of(e)),
                    "{key}: {expected:?} belongs to no experiment"
                );
            }
        }
    }
}
