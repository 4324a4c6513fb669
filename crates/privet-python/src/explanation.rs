//! What each column of a model does.

use privet::model::explain;
use privet_node::verb;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde_json::json;

use crate::raise;
use crate::rows::Rows;

/// What the columns of a model do to its scores.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Explanation {
    pub(crate) explanation: explain::Explanation,
}

#[pymethods]
impl Explanation {
    /// Everything but drawings, as JSON.
    fn json(&self) -> String {
        let own = &self.explanation;
        json!({
            "outputs": own.outputs(),
            "base": own.base(),
            "terms": own.terms(),
            "importance": own.importance(),
        })
        .to_string()
    }

    /// The drawing of a term.
    fn svg(&self, term: usize) -> Option<String> {
        let term = self.explanation.terms().get(term)?;
        Some(self.explanation.svg(term))
    }

    /// All drawings, as part of a page.
    fn html(&self) -> String {
        verb::drawings(&self.explanation)
    }

    /// What each term adds to the score of each row, as doubles in the order of rows and then of terms.
    fn contributions<'py>(&self, py: Python<'py>, rows: &Rows) -> PyResult<(usize, Bound<'py, PyBytes>)> {
        let found = py.detach(|| self.explanation.contributions(rows));
        let found = found.map_err(raise::error)?;
        Ok((found.rows(), doubles(py, found.values())))
    }
}

/// Numbers as numpy reads them.
pub(crate) fn doubles<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}
