//! Which algorithm is best, by a rule that looks at public facts only.
//!
//! The rule was fixed on data sets that no acceptance table uses (`docs/papers.md`); it charges nothing.

use super::params::private_features;
use super::{Algorithm, Central, HistogramBayes, Select};
use crate::Error;
use crate::data::Schema;
use crate::privacy::Relation;

/// Below so many rows times ε, for each private column, one choice is all that can be paid for.
const FEW: f64 = 30.0;

impl Central {
    /// The same parameters with an algorithm chosen, if the rule is to choose one, and checked against the schema.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn resolve(&self, schema: &Schema, relation: &Relation) -> Result<Self, Error> {
        self.check(schema, relation)?;
        if self.algorithm != Algorithm::Auto {
            return Ok(self.clone());
        }
        let columns = private_features(schema, relation).count();
        let strength = 2.0 / relation.steps() as f64 * self.budget.epsilon.to_f64() * self.budget.rows as f64
            / columns as f64;
        let (algorithm, why) = if strength < FEW {
            (
                Algorithm::Select(Select::default()),
                format!("fewer than {FEW}: one choice among planes is all that can be paid for"),
            )
        } else {
            (
                Algorithm::HistogramBayes(HistogramBayes::default()),
                format!("at least {FEW}: every column can be counted"),
            )
        };
        let because = format!("ε times rows is {strength:.1} for each of {columns} private columns, {why}");
        Ok(Self {
            algorithm,
            because: Some(because),
            ..self.clone()
        })
    }
}
