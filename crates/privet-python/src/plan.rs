//! Plans.

use std::path::PathBuf;
use std::sync::Arc;

use privet::data::Table;
use privet::setting::central;
use privet_node::{job, verb};
use pyo3::prelude::*;

use crate::ledger::{LedgerFile, Said, said};
use crate::raise;
use crate::rows::Rows;
use crate::schema::Schema;

/// Everything about a run that is fixed before rows are read.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Plan {
    pub(crate) plan: central::Plan,
}

#[pymethods]
impl Plan {
    /// `[algorithm]` and `[privacy]` of a job, as text.
    #[new]
    fn new(schema: &Schema, parameters: &str) -> PyResult<Self> {
        let plan = job::central_plan(parameters, &schema.schema).map_err(raise::parameters)?;
        Ok(Self { plan })
    }

    /// What it does and costs, and what that leaves of a budget.
    fn answer(&self, py: Python<'_>, ledger: Option<&LedgerFile>) -> PyResult<Said> {
        let ledger = ledger.map(LedgerFile::file);
        said(py.detach(|| verb::central_plan(&self.plan, None, ledger.as_ref())))
    }

    /// Reads rows as training would, and forgets them: for benchmarks.
    fn read(&self, py: Python<'_>, rows: &Rows) -> PyResult<()> {
        let read = py.detach(|| Table::read(&self.plan.reads(), rows).map(drop));
        read.map_err(raise::error)
    }

    /// The same from a file.
    fn read_file(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let source = job::Source {
            schema: Arc::clone(self.plan.schema()),
            data: path,
        };
        let read = py.detach(|| source.read(&self.plan.reads()).map(drop));
        read.map_err(raise::error)
    }

    /// The most that is charged: ε, and δ.
    #[getter]
    fn price(&self) -> (f64, f64) {
        (self.plan.epsilon().to_f64(), self.plan.delta().to_f64())
    }

    #[getter]
    fn settings(&self) -> Vec<(String, String)> {
        self.plan.settings()
    }

    #[getter]
    fn noise(&self) -> Vec<String> {
        self.plan.noise().to_vec()
    }
}
