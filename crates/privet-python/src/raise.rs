//! Errors as the exceptions of `privet.errors`.

use privet::Error;
use privet::error::{JournalFault, Refusal};
use privet::privacy::Delta;
use privet::privacy::account::{Caps, Price};
use privet_node::verb::{Exit, Failure};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// An exception of `privet.errors`.
fn exception(name: &str, arguments: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<PyErr>) -> PyErr {
    Python::attach(|py| {
        let class = py.import("privet.errors").and_then(|module| module.getattr(name));
        class.and_then(|class| arguments(&class)).unwrap_or_else(|e| e)
    })
}

fn plain(name: &str, text: String) -> PyErr {
    exception(name, |class| Ok(PyErr::from_value(class.call1((text,))?)))
}

fn budget(text: String, needed: Option<f64>, left: Option<f64>) -> PyErr {
    exception("BudgetError", |class| {
        Ok(PyErr::from_value(class.call1((text, needed, left))?))
    })
}

/// Whatever went wrong in the library.
pub(crate) fn error(e: Error) -> PyErr {
    failure(Failure::from(e))
}

/// What is wrong with parameters that were written down as a job has them: they have no lines for whoever called a function.
pub(crate) fn parameters(e: Error) -> PyErr {
    match e {
        Error::Data(e) => {
            let texts: Vec<&str> = e.findings().iter().map(|found| found.text.as_str()).collect();
            plain("ParameterError", texts.join("\n"))
        }
        other => error(other),
    }
}

/// Whatever went wrong in a verb.
pub(crate) fn failure(failure: Failure) -> PyErr {
    let Failure { exit, message, cause } = failure;
    match cause.map(|cause| *cause) {
        Some(Error::Budget(refusal)) => refused(&refusal, message),
        Some(Error::Journal(e)) if e.fault() == JournalFault::Missing => budget(
            format!(
                "{message}. Set a budget first: ledger.limit(schema, epsilon=1), with the ε that may be spent in all. Nothing was charged."
            ),
            None,
            Some(0.0),
        ),
        Some(Error::Data(_)) => plain("DeclarationError", message),
        Some(Error::Peer(e)) => exception("PeerError", |class| {
            Ok(PyErr::from_value(class.call1((message, e.parties))?))
        }),
        Some(Error::Stopped) => PyKeyboardInterrupt::new_err(message),
        Some(Error::Internal(_) | Error::Misuse(_)) => PyRuntimeError::new_err(message),
        _ => match exit {
            Exit::Usage => plain("ParameterError", message),
            Exit::Budget => budget(message, None, None),
            Exit::Ledger => plain("LedgerError", message),
            Exit::Input => plain("DeclarationError", message),
            Exit::Peer => plain("PeerError", message),
            Exit::Stopped => PyKeyboardInterrupt::new_err(message),
            _ => plain("PrivetError", message),
        },
    }
}

/// A run that another thread stopped.
pub(crate) fn stopped(failure: Failure) -> PyErr {
    plain("PrivetError", failure.message)
}

fn refused(refusal: &Refusal, message: String) -> PyErr {
    let epsilon = |caps: Caps, delta: Delta| caps.epsilon(delta).to_f64();
    let of = |price: &Price| Caps::from(*price);
    match refusal {
        Refusal::NoBudget {
            dataset,
            relation,
            other,
        } => {
            let other = other
                .as_ref()
                .map(|other| format!(" It has one for the case that {other}."));
            let text = format!(
                "there is no budget for '{dataset}' yet when {relation}.{} Set one: ledger.limit(schema, epsilon=1), with the ε that may be spent in \
                 all, and delta=1e-6 if a plan has one. Nothing was charged.",
                other.unwrap_or_default()
            );
            budget(text, None, Some(0.0))
        }
        Refusal::NoRoom {
            needed,
            remaining,
            delta,
            ..
        } => budget(
            message,
            Some(epsilon(of(needed), *delta)),
            Some(epsilon(*remaining, *delta)),
        ),
        Refusal::OverPromise { needed, remaining } => budget(
            message,
            Some(epsilon(of(needed), Delta::ZERO)),
            Some(epsilon(*remaining, Delta::ZERO)),
        ),
        _ => budget(message, None, None),
    }
}
