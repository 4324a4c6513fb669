//! How good a model is, from labels and predictions.
//!
//! Everything here is plain arithmetic on plain slices: no protection, no randomness. Private rows are
//! used here only with permission to use them without protection; figures that are paid for are made by `noisy::evaluation`.
//!
//! Each figure has a 95 % interval for what it would be on very many such rows. Intervals take rows as independent:
//! where one person has several rows that are alike, they are too narrow. Beside each figure stands the *constant*:
//! what the best single answer for all of these rows would score. It is chosen on the very rows it is scored on, so
//! it is a little better than a constant that was learnt elsewhere.
//!
//! | figure | interval | constant |
//! | --- | --- | --- |
//! | accuracy | Wilson's | the most frequent class |
//! | AUC, a tie counting half; several classes: each against the rest, averaged | DeLong's | one half |
//! | log loss, probabilities clipped at 10⁻¹⁵ | normal | the classes' shares as probabilities |
//! | F1 of the second class | Wilson's, for the share of right ones among rows that are or are called positive | always the second class |
//! | macro F1, over classes that occur as label or prediction | normal, by influences | the most frequent class |
//! | MAE | normal | the median |
//! | RMSE, R² | normal, by influences | the mean |
//!
//! A figure that has no meaning on the rows at hand (no rows, one class only) is not defined, and said to be so; so
//! is a mean of a single row, which has no interval.

mod auc;
mod classes;
pub(crate) mod interval;
mod numbers;
mod table;

pub(crate) use classes::entropy;
use serde::Serialize;
pub(crate) use table::shown;

/// Labels and predictions of the same rows, in the same order.
#[derive(Debug, Clone, PartialEq)]
pub enum Judged {
    /// Classes and their predicted probabilities.
    Classes {
        /// The number of each row's class.
        labels: Vec<u16>,
        /// Row by row, one for each class.
        probabilities: Vec<f32>,
    },
    /// Numbers.
    Numbers {
        /// Each row's number.
        labels: Vec<f32>,
        /// The predicted numbers.
        values: Vec<f32>,
    },
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// The share of rows whose most probable class is the right one; of two equally probable classes, the first counts.
    Accuracy,
    /// How often a row of the second class is given a higher probability of it than a row of the first.
    Auc,
    /// The mean of the negative logarithm of the right class's probability.
    LogLoss,
    /// The harmonic mean of precision and recall of the second class.
    F1,
    /// The mean of all classes' F1.
    MacroF1,
    /// The mean absolute error.
    Mae,
    /// The root of the mean squared error.
    Rmse,
    /// The share of the labels' variance that is explained.
    R2,
}

impl Metric {
    /// Its name for people.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
            Self::Auc => "AUC",
            Self::LogLoss => "log loss",
            Self::F1 => "F1",
            Self::MacroF1 => "macro F1",
            Self::Mae => "MAE",
            Self::Rmse => "RMSE",
            Self::R2 => "R²",
        }
    }

    /// The smallest and the largest value that it can have.
    pub(crate) fn range(self) -> (f64, f64) {
        match self {
            Self::Accuracy | Self::Auc | Self::F1 | Self::MacroF1 => (0.0, 1.0),
            Self::LogLoss | Self::Mae | Self::Rmse => (0.0, f64::MAX),
            Self::R2 => (f64::MIN, 1.0),
        }
    }
}

/// A value, and where it would lie on very many such rows: 95 % of such intervals are right.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    /// The value on these rows.
    pub value: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

impl Estimate {
    /// What lies within `error` standard errors' reach of a value, inside the metric's range.
    pub(crate) fn normal(metric: Metric, value: f64, error: f64) -> Option<Self> {
        let reach = interval::Z * error;
        Self::within(metric, value, (value - reach, value + reach))
    }

    /// An interval cut to the metric's range; nothing if anything is not a number.
    pub(crate) fn within(metric: Metric, value: f64, (low, high): (f64, f64)) -> Option<Self> {
        let (least, most) = metric.range();
        let all = [value, low, high];
        let [value, low, high] = all.map(|x| x.clamp(least, most));
        all.iter()
            .all(|x| x.is_finite())
            .then_some(Self { value, low, high })
    }
}

/// One figure of a report.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// What is measured.
    pub metric: Metric,
    /// Its value and interval; nothing if it is not defined on these rows.
    pub estimate: Option<Estimate>,
    /// What the best single answer for all of these rows scores; nothing if that is not defined.
    pub constant: Option<f64>,
}

impl Figure {
    pub(crate) fn new(metric: Metric, estimate: Option<Estimate>, constant: Option<f64>) -> Self {
        let constant = constant.filter(|value| value.is_finite());
        Self {
            metric,
            estimate,
            constant,
        }
    }
}

/// The figures of a report. They are shown as a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Figures(Vec<Figure>);

impl Figures {
    /// These, in this order.
    pub fn new(figures: Vec<Figure>) -> Self {
        Self(figures)
    }

    /// The figure of a metric, if the report has one.
    pub fn get(&self, metric: Metric) -> Option<&Figure> {
        self.0.iter().find(|figure| figure.metric == metric)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Figure> {
        self.0.iter()
    }

    /// Their values by their metrics' names; not a number where one is not defined.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let value = |figure: &Figure| figure.estimate.map_or(f64::NAN, |estimate| estimate.value);
        let named = |figure: &Figure| (figure.metric.name(), value(figure));
        self.iter().map(named).collect()
    }
}

/// How good a model is on some rows, without noise: as private as the rows are.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// How many rows were judged.
    pub rows: usize,
    /// The figures.
    pub figures: Figures,
}

impl Report {
    /// The figures by their metrics' names; not a number where one is not defined.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        self.figures.named()
    }

    /// Of predicted classes: `probabilities` has one entry for each of the `classes` classes, row by row. A label
    /// beyond the last class counts as the last. Rows that lack a label or a probability are not judged.
    pub fn of_classes(labels: &[u16], probabilities: &[f32], classes: usize) -> Self {
        if classes == 2 {
            classes::binary(labels, probabilities)
        } else {
            classes::several(labels, probabilities, classes)
        }
    }

    /// Of predicted numbers. Rows without a label or a value are ignored; with an infinite one nothing is defined.
    pub fn of_numbers(labels: &[f32], values: &[f32]) -> Self {
        numbers::numbers(labels, values)
    }

    /// Of labels and predictions; `classes` is how many classes there are, if they are classes.
    pub fn of(judged: &Judged, classes: usize) -> Self {
        match judged {
            Judged::Classes {
                labels,
                probabilities,
            } => Self::of_classes(labels, probabilities, classes),
            Judged::Numbers { labels, values } => Self::of_numbers(labels, values),
        }
    }
}

/// The most probable class, the first of several: what is not a number is never more probable. Of two classes it is the
/// second if its probability is above one half, so that one number decides.
pub(crate) fn most_probable(probabilities: &[f32]) -> usize {
    if let [_, second] = probabilities {
        return usize::from(*second > 0.5);
    }
    let mut best = (0, f32::NEG_INFINITY);
    for (class, &probability) in probabilities.iter().enumerate() {
        if probability > best.1 {
            best = (class, probability);
        }
    }
    best.0
}

/// Mean and standard deviation (with n - 1; zero for fewer than two).
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n.max(1.0);
    let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
    let sd = if values.len() < 2 {
        0.0
    } else {
        (squares / (n - 1.0)).sqrt()
    };
    (mean, sd)
}
