//! The Python package `privet`: conversions between Python and `privet-node`, and nothing else.
//!
//! | file | what it converts |
//! | --- | --- |
//! | `rows` | frames: Arrow streams without a copy, buffers, lists of cells |
//! | `schema`, `ledger`, `plan`, `model`, `explanation` | values of the libraries, as classes |
//! | `party` | one party of a run over a network, and its keys |
//! | `verbs` | training, desensitising, simulating, and the command |
//! | `raise` | errors |
//!
//! What people see is written in Python, beside this crate. No statistic is computed here and no policy decided: what may be read, paid and shown
//! is `privet-node`'s. The interpreter is free for others while Rust works.
#![forbid(unsafe_code)]

mod explanation;
mod ledger;
mod model;
mod party;
mod plan;
mod raise;
mod rows;
mod schema;
mod verbs;

use pyo3::prelude::*;

#[pymodule]
fn _privet(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<schema::Schema>()?;
    module.add_class::<rows::Rows>()?;
    module.add_class::<ledger::LedgerFile>()?;
    module.add_class::<ledger::Unrecorded>()?;
    module.add_class::<plan::Plan>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<explanation::Explanation>()?;
    module.add_class::<party::Party>()?;
    module.add_class::<party::Keys>()?;
    module.add_function(wrap_pyfunction!(verbs::train, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::desensitise, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::simulate, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::write, module)?)?;
    module.add_function(wrap_pyfunction!(verbs::main, module)?)?;
    Ok(())
}
