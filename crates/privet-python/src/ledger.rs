//! Ledgers.

use std::path::PathBuf;
use std::time::Duration;

use privet::privacy::{Delta, Epsilon};
use privet_node::verb::{self, Command, LedgerCommand, Limit, Limits};
use pyo3::prelude::*;

use crate::raise;
use crate::schema::Schema;

/// A ledger in a file.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct LedgerFile {
    path: Option<PathBuf>,
    wait: Duration,
}

impl LedgerFile {
    /// As a verb takes it.
    pub(crate) fn file(&self) -> verb::LedgerFile {
        let env = |name: &str| std::env::var_os(name);
        verb::LedgerFile::new(self.path.clone(), &env).waiting(self.wait)
    }

    fn run(&self, py: Python<'_>, verb: LedgerCommand) -> PyResult<Said> {
        let ledger = self.file();
        said(py.detach(|| verb::run(&Command::Ledger { ledger, verb })))
    }
}

/// Text and JSON of an answer, and whether it went well.
pub(crate) type Said = (String, String, bool);

pub(crate) fn said(answer: Result<verb::Answer, verb::Failure>) -> PyResult<Said> {
    let answer = answer.map_err(raise::failure)?;
    Ok((answer.text, answer.json, answer.exit == verb::Exit::Ok))
}

/// An ε from Python.
pub(crate) fn epsilon(epsilon: f64) -> PyResult<Epsilon> {
    Epsilon::new(epsilon).map_err(raise::error)
}

fn limit(
    schema: &privet::data::Schema,
    (relation, given): (privet::privacy::Relation, f64),
    delta: Option<f64>,
    second: bool,
) -> PyResult<Limit> {
    let limits = Limits {
        dataset: schema.dataset().to_owned(),
        relation,
        epsilon: Some(epsilon(given)?),
        delta: delta.map(Delta::new).transpose().map_err(raise::error)?,
        rho: None,
        mu_squared: None,
        second,
    };
    limits.checked().map_err(raise::failure)
}

#[pymethods]
impl LedgerFile {
    /// The ledger at a path, or the command's default one.
    #[new]
    fn new(path: Option<PathBuf>, wait: f64) -> PyResult<Self> {
        let wait = Duration::try_from_secs_f64(wait);
        let wait =
            wait.map_err(|_| raise::failure(verb::Failure::usage("wait must be a number of seconds")))?;
        // A relative path would be another ledger after a change of the folder.
        let path = path.map(std::path::absolute).transpose()?;
        let ledger = Self { path, wait };
        ledger.file().path().map_err(raise::failure)?;
        Ok(ledger)
    }

    #[getter]
    fn path(&self) -> PyResult<PathBuf> {
        let file = self.file();
        Ok(file.path().map_err(raise::failure)?.to_owned())
    }

    #[getter]
    fn wait(&self) -> f64 {
        self.wait.as_secs_f64()
    }

    /// Sets a limit. Where rows are replaced, not added or removed, `replace` says so.
    fn limit(
        &self,
        py: Python<'_>,
        schema: &Schema,
        epsilon: f64,
        delta: Option<f64>,
        replace: bool,
        second: bool,
    ) -> PyResult<Said> {
        let relation = match replace {
            true => schema.schema.replaced(),
            false => schema.schema.relation(),
        };
        let limit = limit(&schema.schema, (relation, epsilon), delta, second)?;
        self.run(py, LedgerCommand::Limit(limit))
    }

    fn show(&self, py: Python<'_>, dataset: Option<String>) -> PyResult<Said> {
        self.run(py, LedgerCommand::Show { dataset })
    }

    fn verify(&self, py: Python<'_>, against: Vec<PathBuf>) -> PyResult<Said> {
        self.run(py, LedgerCommand::Verify { against })
    }
}

/// A budget in memory.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Unrecorded {
    pub(crate) budget: verb::Unrecorded,
}

#[pymethods]
impl Unrecorded {
    /// With an ε for each data set; without, every run gets what it asks for.
    #[new]
    fn new(epsilon: Option<f64>, delta: Option<f64>) -> PyResult<Self> {
        let caps = match epsilon {
            None => None,
            Some(epsilon) => {
                // Any schema: caps and δ do not depend on it.
                let any = privet::data::Schema::builder("unrecorded")
                    .columns([privet::data::schema::flag("any")])
                    .build()
                    .map_err(raise::error)?;
                let limit = limit(&any, (any.relation(), epsilon), delta, false)?;
                Some((limit.caps, limit.delta))
            }
        };
        let budget = verb::Unrecorded::new(caps).map_err(raise::error)?;
        Ok(Self { budget })
    }

    fn show(&self) -> PyResult<Said> {
        said(verb::show_unrecorded(&self.budget))
    }
}
