//! Which algorithm is best, by a rule that looks at public facts only: ε, the declared number of rows, and the schema.
//!
//! The rule was fixed on data sets that no acceptance table uses (`privet reproduce brc --table 3` and `--table 4`); it charges
//! nothing. It never chooses an algorithm whose models are void.

use super::params::private_features;
use super::{Algorithm, Central, HistogramBayes, MomentSelect, Select, Trees, trees};
use crate::Error;
use crate::data::Schema;
use crate::data::schema::{Kind, Label};
use crate::privacy::{Delta, Relation};

/// Below so many rows times ε for each column, one choice is all that can be paid for.
const FEW: f64 = 30.0;
/// From so many on, columns are worth counting whatever they hold.
const MANY: f64 = 300.0;
/// What a model needs besides one number for each column, counted in columns.
const BESIDES: f64 = 4.0;

impl Central {
    /// The same parameters with an algorithm chosen, if the rule is to choose one, and checked against the schema.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn resolve(&self, schema: &Schema, relation: &Relation) -> Result<Self, Error> {
        schema.has_features()?;
        self.check(schema, relation)?;
        if let Algorithm::Trees(trees) = &self.algorithm {
            let plan = trees::plan(trees, &self.budget, schema, relation)?;
            return Ok(Self {
                algorithm: Algorithm::Trees(trees.filled(&plan)),
                ..self.clone()
            });
        }
        if self.algorithm != Algorithm::Auto {
            return Ok(self.clone());
        }
        let two_classes = match schema.label() {
            Some((_, Label::Classes(declared))) => declared.values().len() == 2,
            _ => false,
        };
        let only_trees = match (self.budget.delta, two_classes) {
            (_, false) => Some("only trees learn numbers, or more than two classes"),
            (Delta::ZERO, true) => None,
            (_, true) => Some("delta allows Gaussian noise, which trees make the most of"),
        };
        if let Some(because) = only_trees {
            let trees = Self {
                algorithm: Algorithm::Trees(Trees::default()),
                because: Some(because.into()),
                ..self.clone()
            };
            return trees.resolve(schema, relation);
        }
        let columns = private_features(schema, relation).count() as f64;
        let listed = private_features(schema, relation).filter(|(_, column)| match &column.kind {
            Kind::Category(declared) | Kind::Ordinal(declared) => declared.values().len() > 2,
            _ => false,
        });
        let lists = listed.count() as f64 >= columns / 4.0;
        // Under add-remove a person moves half as much, which is worth twice the ε.
        let epsilon = 2.0 * self.budget.epsilon.to_f64() / relation.steps() as f64;
        let strength = epsilon * self.budget.rows as f64 / (columns + BESIDES);
        let (algorithm, why) = if strength < FEW {
            let why = format!("below {FEW}: one choice among planes is all that can be paid for");
            (Algorithm::Select(Select::default()), why)
        } else if strength < MANY && !lists {
            let why = format!("{FEW} to {MANY}, and most columns are numbers: a direction can be paid for");
            (Algorithm::MomentSelect(MomentSelect::default()), why)
        } else {
            let why = match lists {
                true => format!("at least {FEW}, and many columns are lists of values: they can be counted"),
                false => format!("at least {MANY}: every column can be counted"),
            };
            (Algorithm::HistogramBayes(HistogramBayes::default()), why)
        };
        let because = format!("{strength:.0} rows times ε for each column, {why}");
        Ok(Self {
            algorithm,
            because: Some(because),
            ..self.clone()
        })
    }
}
