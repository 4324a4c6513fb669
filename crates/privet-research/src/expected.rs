//! What is published and what is expected, read from the data files.

use privet::Error;
use serde::Deserialize;

use super::{Experiment, Measured};

macro_rules! files {
    ($($key:literal),*) => {[$(($key, include_str!(concat!("../reproduce/expected/", $key, ".json")))),*]};
}

const FILES: [(&str, &str); 8] = files![
    "plain",
    "brc",
    "inprivate-tree",
    "inprivate",
    "dp-trees",
    "opboost",
    "maboost",
    "localboost"
];

/// Which way from what is expected a figure may lie as far as it likes. Only what the project's own learners reach has one: a paper's
/// algorithm must match both ways, for a figure that is too good may lack its noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// As of an accuracy.
    Higher,
    /// As of an error.
    Lower,
}

/// One figure to compare with.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    item: String,
    dataset: String,
    method: String,
    #[serde(default)]
    epsilon: Option<f64>,
    pub(super) metric: String,
    /// What the paper says.
    #[serde(default)]
    pub published: Option<f64>,
    /// What a correct implementation reaches.
    #[serde(default)]
    pub expected: Option<f64>,
    /// How far from it the mean may lie.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// Which way is better, if either is.
    #[serde(default)]
    pub better: Option<Better>,
    /// Where the figure comes from.
    pub source: String,
}

impl Expected {
    /// All figures under a key.
    ///
    /// # Errors
    /// [`Error::Internal`] if the file that came with this program does not parse; a test reads them all.
    pub fn of(key: &str) -> Result<Vec<Self>, Error> {
        let Some((_, text)) = FILES.iter().find(|(name, _)| *name == key) else {
            return Ok(Vec::new());
        };
        serde_json::from_str(text)
            .map_err(|e| Error::internal(format!("reproduce/expected/{key}.json can be read ({e})")))
    }

    pub(super) fn is_of(&self, experiment: &Experiment) -> bool {
        self.item == experiment.item && self.dataset == experiment.dataset
    }

    pub(super) fn is_about(&self, experiment: &Experiment, measured: &Measured) -> bool {
        self.is_of(experiment)
            && self.method == measured.method
            && self.metric == measured.metric
            && self.epsilon == measured.epsilon
    }
}
