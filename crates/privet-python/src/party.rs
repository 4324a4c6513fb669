//! One party of a run over a network, and its keys.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use privet_node::verb::{self, Command, KeysCommand, KeysFolder};
use pyo3::prelude::*;

use crate::ledger::{LedgerFile, Said, said};
use crate::raise;
use crate::verbs::interruptible;

fn folder(given: Option<PathBuf>) -> KeysFolder {
    KeysFolder::new(given, &|name| std::env::var_os(name))
}

/// One party of a job.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Party {
    asked: verb::Party,
    stop: Arc<AtomicBool>,
}

impl Party {
    fn take_part(&self, py: Python<'_>, asked: verb::Party) -> PyResult<Said> {
        self.stop.store(false, Ordering::Relaxed);
        said(Ok(interruptible(py, &self.stop, || {
            verb::run(&Command::Party(Box::new(asked)))
        })?))
    }
}

#[pymethods]
impl Party {
    /// The party that role and name say.
    #[new]
    #[expect(
        clippy::too_many_arguments,
        reason = "Python names them, and Rust takes them apart again"
    )]
    fn new(
        job: PathBuf,
        role: Option<String>,
        name: Option<String>,
        out: Option<PathBuf>,
        overwrite: bool,
        not_protected: bool,
        id: Option<String>,
        bind: Option<&str>,
        proxy: Option<&str>,
        keys: Option<PathBuf>,
        ledger: &LedgerFile,
    ) -> PyResult<Self> {
        let no_address = |_| {
            let why = "bind must be an address and a port, such as \"127.0.0.1:7443\"";
            raise::failure(verb::Failure::usage(why))
        };
        Ok(Self {
            asked: verb::Party {
                job,
                role,
                name,
                out,
                overwrite,
                not_protected,
                id,
                what: verb::OutputKind::All,
                yes: false,
                accepted: None,
                sign: None,
                abandon: false,
                bind: bind.map(str::parse).transpose().map_err(no_address)?,
                proxy: proxy.map(str::parse).transpose().map_err(raise::error)?,
                keys: folder(keys),
                ledger: ledger.file(),
            },
            stop: Arc::default(),
        })
    }

    /// What all will learn and this party spend.
    fn plan(&self, py: Python<'_>) -> PyResult<Said> {
        said(py.detach(|| verb::party_plan(&self.asked)))
    }

    /// Accepts the plan in a file.
    fn sign(&self, py: Python<'_>, file: PathBuf) -> PyResult<Said> {
        let sign = Some(file);
        let asked = verb::Party {
            sign,
            ..self.asked.clone()
        };
        self.take_part(py, asked)
    }

    /// Takes part. Ctrl-C or [`Party::stop`] ends it before its next step; the run can go on later.
    fn run(&self, py: Python<'_>, yes: bool, accepted: Option<PathBuf>) -> PyResult<Said> {
        let asked = verb::Party {
            yes,
            accepted,
            ..self.asked.clone()
        };
        self.take_part(py, asked)
    }

    /// Gives up the run that is not over.
    fn abandon(&self, py: Python<'_>) -> PyResult<Said> {
        let abandon = true;
        let asked = verb::Party {
            abandon,
            ..self.asked.clone()
        };
        self.take_part(py, asked)
    }

    /// Ends a run of this party that another thread is in, before its next step.
    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The key of this party, and those of others that it trusts.
#[pyclass(frozen, module = "privet._privet")]
pub(crate) struct Keys {
    folder: KeysFolder,
}

impl Keys {
    fn ask(&self, py: Python<'_>, verb: KeysCommand) -> PyResult<Said> {
        let keys = self.folder.clone();
        said(py.detach(|| verb::run(&Command::Keys { keys, verb })))
    }
}

#[pymethods]
impl Keys {
    #[new]
    fn new(path: Option<PathBuf>) -> Self {
        Self { folder: folder(path) }
    }

    #[getter]
    fn path(&self) -> PyResult<PathBuf> {
        Ok(self.folder.path().map_err(raise::failure)?.to_owned())
    }

    fn init(&self, py: Python<'_>) -> PyResult<Said> {
        self.ask(py, KeysCommand::Init)
    }

    fn show(&self, py: Python<'_>) -> PyResult<Said> {
        self.ask(py, KeysCommand::Show)
    }

    fn trust(
        &self,
        py: Python<'_>,
        name: String,
        fingerprint: &str,
        until: Option<String>,
    ) -> PyResult<Said> {
        let fingerprint = fingerprint.parse().map_err(raise::error)?;
        let verb = KeysCommand::Trust {
            name,
            fingerprint,
            until,
        };
        self.ask(py, verb)
    }

    fn revoke(&self, py: Python<'_>, name: String) -> PyResult<Said> {
        self.ask(py, KeysCommand::Revoke { name })
    }
}
