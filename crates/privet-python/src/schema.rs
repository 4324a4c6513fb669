//! Schemas.

use std::sync::Arc;

use privet::data::schema::Label;
use pyo3::prelude::*;

use crate::raise;

/// The public description of a table.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Schema {
    pub(crate) schema: Arc<privet::data::Schema>,
}

#[pymethods]
impl Schema {
    /// A schema as its file says it; `name` is the file's, for errors.
    #[new]
    fn new(text: &str, name: &str) -> PyResult<Self> {
        let schema = privet::data::Schema::from_toml(name, text).map_err(raise::error)?;
        Ok(Self {
            schema: Arc::new(schema),
        })
    }

    /// As its file says it.
    fn to_toml(&self) -> String {
        self.schema.to_toml()
    }

    /// In plain words.
    fn explain(&self) -> String {
        self.schema.explain()
    }

    #[getter]
    fn dataset(&self) -> String {
        self.schema.dataset().to_owned()
    }

    #[getter]
    fn features(&self) -> Vec<String> {
        self.schema.features().map(|column| column.name.clone()).collect()
    }

    #[getter]
    fn label(&self) -> Option<String> {
        self.schema.label().map(|(column, _)| column.name.clone())
    }

    /// The label's classes; nothing if it is a number.
    #[getter]
    fn classes(&self) -> Option<Vec<String>> {
        match self.schema.label() {
            Some((_, Label::Classes(declared))) => Some(declared.values().to_vec()),
            _ => None,
        }
    }

    #[getter]
    fn is_private(&self) -> bool {
        self.schema.is_private()
    }

    /// Which change is protected, in words.
    #[getter]
    fn protects(&self) -> String {
        self.schema.relation().to_string()
    }
}
