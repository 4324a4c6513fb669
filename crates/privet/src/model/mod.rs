//! What is saved and shown: a model, its file, its predictions.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `explain` | what each column does to the scores, with the band by which noise moves it, and drawings of that |
//! | `export` | the model for other programs: XGBoost and ONNX |
//! | `file` | one file, with a version, a checksum and a signature; invalid files are refused |
//! | `predict` | scores, probabilities, classes and values of rows |
//! | `metrics` | how good predictions are, exactly |
//!
//! A model holds its schema, so that raw rows can be given to it; its ensemble; its certificate; and the settings it was
//! made with. It holds no counts, gains, second derivatives or anything else of the rows that its setting did not release.

pub mod explain;
mod export;
mod file;
pub mod metrics;
mod predict;

pub use export::{Exported, Format};
pub use file::Origin;
pub use predict::Predictions;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::boost::{Ensemble, Signal};
use crate::data::{Keep, Schema};
use crate::learner::tree::Column;
use crate::privacy::{Certificate, getters};

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    schema: Schema,
    ensemble: Ensemble,
    certificate: Certificate,
    settings: Settings,
}

impl Model {
    /// A model from its parts.
    ///
    /// # Errors
    /// [`Error::Data`] if the ensemble does not fit the schema.
    pub fn new(
        schema: Schema,
        ensemble: Ensemble,
        certificate: Certificate,
        settings: Settings,
    ) -> Result<Self, Error> {
        ensemble.check(&schema)?;
        Ok(Self {
            schema,
            ensemble,
            certificate,
            settings,
        })
    }

    /// The same model, with other settings written on it.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }

    getters! {
        /// The schema of the rows it was trained on and can predict.
        pub schema(&schema) -> &Schema;
        /// Its ensemble.
        pub ensemble(&ensemble) -> &Ensemble;
        /// The certificate of its training.
        pub certificate(&certificate) -> &Certificate;
        /// The settings it was trained with.
        pub settings(&settings) -> &Settings;
        /// What must be kept of a table's numbers to predict.
        pub keep(ensemble.keep()) -> Keep;
    }

    /// The signal of each feature, compared with noise; none where no noisy tree splits on it.
    pub fn signals(&self) -> Vec<Option<Signal>> {
        self.ensemble.signals(&Column::of(&self.schema))
    }
}

/// The settings of a model, as in its job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    version: String,
    job: Vec<(String, String)>,
}

impl Settings {
    /// The job's names and values, in order; the version is this library's.
    pub fn new(job: Vec<(String, String)>) -> Self {
        Self {
            version: env!("CARGO_PKG_VERSION").into(),
            job,
        }
    }

    getters! {
        /// The version of the library that made the model.
        pub version(&version) -> &str;
        /// Names and values, in the job's order.
        pub job(&job) -> &[(String, String)];
    }
}
