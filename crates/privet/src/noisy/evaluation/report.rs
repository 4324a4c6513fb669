//! What an evaluation that was paid for says.

use std::fmt;

use serde::Serialize;

use crate::model::metrics::{Estimate, Figures};
use crate::privacy::{Delta, Epsilon, Relation};

/// How good a model is, from noisy counts: it may be published.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PaidReport {
    /// What it cost.
    pub epsilon: Epsilon,
    /// With what probability the promise may fail; zero if ε is pure.
    #[serde(skip_serializing_if = "is_pure")]
    pub delta: Delta,
    /// The change that it protects against.
    pub protects: Relation,
    /// How many rows were judged, about; the interval is that of the noise.
    pub rows: Estimate,
    /// The figures.
    pub figures: Figures,
    /// What else a reader should know.
    pub notes: Vec<String>,
}

impl fmt::Display for PaidReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Estimate { value, low, high } = self.rows;
        writeln!(
            f,
            "About {value:.0} rows ({low:.0} to {high:.0}), counted with noise for ε = {}{}",
            self.epsilon,
            match self.delta {
                Delta::ZERO => String::new(),
                delta => format!(" at δ = {delta}"),
            }
        )?;
        writeln!(f, "in case {}.", self.protects)?;
        write!(f, "{}", self.figures)?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{note}"))
    }
}

fn is_pure(delta: &Delta) -> bool {
    *delta == Delta::ZERO
}
