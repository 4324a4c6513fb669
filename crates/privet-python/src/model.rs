//! Models.

use std::sync::Arc;

use privet::model::{Format, Origin};
use privet_node::job::FrameRows;
use privet_node::verb::{self, Account, Consent, LedgerFile as File};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::explanation::{Explanation, doubles};
use crate::ledger::{LedgerFile, Said, Unrecorded, epsilon, said};
use crate::raise;
use crate::rows::Rows;
use crate::schema::Schema;

/// A trained model, and its file.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Model {
    model: privet::model::Model,
    origin: Origin,
    bytes: Vec<u8>,
}

impl Model {
    pub(crate) fn from_file(bytes: Vec<u8>) -> Result<Self, privet::Error> {
        let (model, origin) = privet::model::Model::from_file(&bytes)?;
        Ok(Self { model, origin, bytes })
    }
}

#[pymethods]
impl Model {
    /// A model from the bytes of its file.
    #[new]
    fn new(py: Python<'_>, bytes: Vec<u8>) -> PyResult<Self> {
        py.detach(|| Self::from_file(bytes)).map_err(raise::error)
    }

    /// The bytes of its file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }

    /// The scores of rows, as doubles: their kind, how many a row has, the numbers.
    fn scores<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<(usize, Bound<'py, PyBytes>)> {
        let found = py.detach(|| self.model.predict(rows)).map_err(raise::error)?;
        Ok((found.outputs(), doubles(py, found.scores())))
    }

    /// The probability of each class, as doubles, row after row; nothing for numbers.
    fn probabilities<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = py.detach(|| Ok(self.model.predict(rows)?.probabilities()));
        let found: Option<Vec<f64>> = found.map_err(raise::error)?;
        Ok(found.map(|all| doubles(py, &all)))
    }

    /// The number of each row's class, as whole numbers of 2 bytes; nothing for numbers.
    fn class_numbers<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let found = py.detach(|| Ok(self.model.predict(rows)?.classes()));
        let found: Option<Vec<u16>> = found.map_err(raise::error)?;
        Ok(found.map(|all| {
            let bytes: Vec<u8> = all.iter().flat_map(|class| class.to_ne_bytes()).collect();
            PyBytes::new(py, &bytes)
        }))
    }

    #[getter]
    fn schema(&self) -> Schema {
        Schema {
            schema: Arc::new(self.model.schema().clone()),
        }
    }

    /// The certificate, in words and as JSON, and whether it is void.
    #[getter]
    fn certificate(&self) -> (String, String, bool) {
        let certificate = self.model.certificate();
        (
            certificate.to_string(),
            certificate.to_json(),
            certificate.is_void(),
        )
    }

    #[getter]
    fn summary(&self) -> String {
        self.model.ensemble().summary()
    }

    /// Names and values as a job says them, and the version that made the model.
    #[getter]
    fn settings(&self) -> (Vec<(String, String)>, String) {
        let settings = self.model.settings();
        (settings.job().to_vec(), settings.version().to_owned())
    }

    /// What the model is made of, as its file has it.
    fn ensemble(&self) -> String {
        json!(self.model.ensemble()).to_string()
    }

    fn explain(&self) -> PyResult<Explanation> {
        let explanation = self.model.explain().map_err(raise::error)?;
        Ok(Explanation { explanation })
    }

    /// A page about it: the bytes that `privet inspect --report` writes.
    fn page(&self, py: Python<'_>, ledger: &LedgerFile) -> PyResult<String> {
        let file = ledger.file();
        let signed = verb::signed_words(&self.model, &self.origin);
        py.detach(|| verb::page(&self.model, &signed, &file))
            .map_err(raise::failure)
    }

    /// The file for another program, and the description of its features.
    fn export<'py>(&self, py: Python<'py>, format: &str) -> PyResult<(Bound<'py, PyBytes>, String)> {
        let format = match format {
            "xgboost-json" => Format::XgboostJson,
            "xgboost-ubj" => Format::XgboostUbj,
            _ => Format::Onnx,
        };
        let exported = py.detach(|| self.model.export(format)).map_err(raise::error)?;
        Ok((PyBytes::new(py, &exported.model), exported.features))
    }

    /// How good it is on labelled rows: with noise, for an ε; or exactly, on rows that are public.
    fn evaluate(
        &self,
        py: Python<'_>,
        rows: &Rows,
        schema: Option<&Schema>,
        spend: Option<f64>,
        file: Option<&LedgerFile>,
        memory: Option<&Unrecorded>,
    ) -> PyResult<Said> {
        let declared = match schema {
            Some(schema) => schema.schema.with_bins_of(self.model.schema()),
            None => self.model.schema().clone(),
        };
        if let Some(why) = declared.differs(self.model.schema()) {
            let why = format!("{why}, so the model cannot read these rows");
            return Err(raise::error(privet::Error::data(why)));
        }
        let rows = FrameRows {
            schema: Arc::new(declared),
            rows,
        };
        let consent = match spend {
            Some(spend) => Consent::Spend(epsilon(spend)?),
            None => Consent::Nothing,
        };
        let file: Option<File> = file.map(LedgerFile::file);
        let account = account(file.as_ref(), memory)?;
        said(py.detach(|| verb::evaluated(&self.model, &rows, consent, &account)))
    }
}

/// Where a run pays: one of the two is given.
pub(crate) fn account<'a>(file: Option<&'a File>, memory: Option<&'a Unrecorded>) -> PyResult<Account<'a>> {
    match (file, memory) {
        (_, Some(memory)) => Ok(Account::Memory(&memory.budget)),
        (Some(file), None) => Ok(Account::File(file)),
        (None, None) => Err(raise::failure(verb::Failure::usage("no ledger was given"))),
    }
}
