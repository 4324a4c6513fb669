//! What is saved and shown: a model, its file, its predictions.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `export` | the model for other programs: XGBoost and ONNX |
//! | `file` | one file, with a version, a checksum and a signature; whatever does not fit is refused |
//! | `predict` | scores, probabilities, classes and values of rows |
//! | `metrics` | how good predictions are, exactly |
//!
//! A model holds its schema, so that raw rows can be given to it; its ensemble; its certificate; and the settings it was
//! made with. It holds no counts, gains, second derivatives or anything else of the rows that its setting did not release.

mod export;
mod file;
pub mod metrics;
mod predict;

use std::sync::Arc;

pub use export::{Exported, Format};
pub use file::Origin;
pub use predict::Predictions;
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::boost::{Ensemble, Signal};
use crate::data::{Keep, Reads, Schema};
use crate::learner::tree::Column;
use crate::privacy::Certificate;

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

    /// The public description of the rows that it was made from and can be given.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// What it learnt.
    pub fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// What its making guarantees, and to whom.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// What it was made with.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What each feature does to the scores beside what noise alone would do; nothing where no noisy tree asks about it.
    pub fn signals(&self) -> Vec<Option<Signal>> {
        self.ensemble.signals(&Column::of(&self.schema))
    }

    /// What must be kept of a table's numbers to predict.
    pub fn keep(&self) -> Keep {
        self.ensemble.keep()
    }
}

/// Rows are read in the bins that the model was trained with.
impl Reads for Model {
    fn reads(&self) -> Arc<Schema> {
        Arc::new(self.schema.clone())
    }

    fn keep(&self) -> Keep {
        self.ensemble.keep()
    }
}

/// What a model was made with, as its job said it.
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

    /// The version of the library that made the model.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Names and values, in the job's order.
    pub fn job(&self) -> &[(String, String)] {
        &self.job
    }
}
