//! Training, desensitising, simulating, and the command.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use privet::setting::vertical::Desensitisation;
use privet_node::job::FrameRows;
use privet_node::progress;
use privet_node::verb::{self, Command, Curator, Exit, Failure, Simulate};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::ledger::{LedgerFile, Said, Unrecorded, epsilon, said};
use crate::model::{Model, account};
use crate::plan::Plan;
use crate::raise;
use crate::rows::Rows;
use crate::schema::Schema;

/// Works on another thread while this one looks for Ctrl-C: only Python's main thread is told of it. `stop` ends the work before its next step.
pub(crate) fn interruptible<T: Send>(
    py: Python<'_>,
    stop: &Arc<AtomicBool>,
    work: impl FnOnce() -> Result<T, Failure> + Send,
) -> PyResult<T> {
    const LOOK: Duration = Duration::from_millis(50);
    let mut interrupted = None;
    let ended = py.detach(|| {
        thread::scope(|threads| {
            let (done, wait) = mpsc::channel();
            threads.spawn(move || done.send(progress::stoppable(stop, work)));
            loop {
                match wait.recv_timeout(LOOK) {
                    Ok(ended) => return Some(ended),
                    // It panicked, and the scope says so.
                    Err(RecvTimeoutError::Disconnected) => return None,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Err(e) = Python::attach(|py| py.check_signals()) {
                            stop.store(true, Ordering::Relaxed);
                            interrupted.get_or_insert(e);
                        }
                    }
                }
            }
        })
    });
    match (interrupted, ended) {
        (Some(e), _) => Err(e),
        (None, Some(Err(failure))) if failure.exit == Exit::Stopped => Err(raise::stopped(failure)),
        (None, Some(ended)) => ended.map_err(raise::failure),
        (None, None) => Err(raise::error(privet::Error::internal(
            "a thread that ends says how",
        ))),
    }
}

/// Trains by a plan. Ctrl-C stops it at the next tree; what was paid by then stays paid.
#[pyfunction]
pub(crate) fn train(
    py: Python<'_>,
    plan: &Plan,
    rows: &Rows,
    file: Option<&LedgerFile>,
    memory: Option<&Unrecorded>,
    seed: Option<u64>,
    void: Option<&str>,
) -> PyResult<Model> {
    let rows = FrameRows {
        schema: Arc::clone(plan.plan.schema()),
        rows,
    };
    let file = file.map(LedgerFile::file);
    let account = account(file.as_ref(), memory)?;
    let curator = Curator { seed, void };
    let watch = |_, _| match Python::attach(|py| py.check_signals()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    py.detach(|| {
        let (model, key) = curator.train(&plan.plan, &rows, &account, &watch)?;
        let bytes = key.map_or_else(|| model.to_bytes(), |key| model.to_signed_bytes(&key));
        Ok(Model::from_file(bytes)?)
    })
    .map_err(raise::failure)
}

/// Names, cells by column, the certificate in words and as JSON.
type Changed = (Vec<String>, Vec<Vec<String>>, String, String);

/// Changes every value of the columns, once.
#[pyfunction]
pub(crate) fn desensitise(
    py: Python<'_>,
    rows: &Rows,
    schema: &Schema,
    spend: f64,
    ledger: &LedgerFile,
) -> PyResult<Changed> {
    let how = Desensitisation::builder().epsilon(epsilon(spend)?).build();
    let how = how.map_err(raise::error)?;
    let ledger = ledger.file();
    let made = py
        .detach(|| verb::desensitised(rows, (&schema.schema, &how), &ledger))
        .map_err(raise::failure)?;
    let certificate = made.certificate;
    Ok((
        made.names,
        made.columns,
        certificate.to_string(),
        certificate.to_json(),
    ))
}

/// Trains by a job and judges on rows that are set aside, as the command does.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "Python names them, and Rust takes them apart again"
)]
pub(crate) fn simulate(
    py: Python<'_>,
    job: PathBuf,
    data: Option<PathBuf>,
    parties: usize,
    test: u8,
    seed: u64,
    runs: u32,
    not_protected: bool,
    ledger: &LedgerFile,
) -> PyResult<Said> {
    let simulate = Simulate {
        job,
        data,
        parties: NonZeroUsize::new(parties).unwrap_or(NonZeroUsize::MIN),
        test,
        seed,
        runs,
        not_protected,
        ledger: ledger.file(),
        synthetic: None,
        keep: None,
    };
    let ended = interruptible(py, &Arc::default(), || verb::run(&Command::Simulate(simulate)))?;
    said(Ok(ended))
}

/// Writes a file atomically: afterwards it has the new content, or is unchanged.
#[pyfunction]
pub(crate) fn write(path: PathBuf, bytes: &Bound<'_, PyBytes>) -> PyResult<()> {
    verb::written(&path, bytes.as_bytes()).map_err(raise::failure)
}

/// The `privet` command: its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| privet_cli::exit(arguments).code())
}
