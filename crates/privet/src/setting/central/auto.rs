//! Which algorithm is best, by a rule that looks at public facts only: ε, the declared number of rows, and the schema.
//!
//! The rule was fixed on data sets that no acceptance table uses (`privet reproduce brc --table 3` and `--table 4`); it charges
//! nothing. It never chooses an algorithm whose models are void.

use super::{Algorithm, Balance, Facts, HistogramBayes, MomentSelect, Resolved, Select, Trees};
use crate::Error;
use crate::data::schema::Kind;
use crate::parameters::parameters;
use crate::privacy::Delta;

/// Below so many rows times ε for each column, one choice is all that can be paid for.
const FEW: f64 = 30.0;
/// From so many on, columns are worth counting whatever they hold.
const MANY: f64 = 300.0;
/// What a model needs besides one number for each column, counted in columns.
const BESIDES: f64 = 4.0;

parameters! {
    /// Whichever algorithm is best by a public rule.
    pub struct Auto("auto") {
        /// Whether equally many rows of both classes are used; only where labels are public.
        balance: Balance = Balance(false);
    }
}

impl Algorithm for Auto {
    fn may_be_trees(&self) -> bool {
        true
    }

    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error> {
        let (because, resolved) = choose(facts)?;
        Ok(Resolved {
            because: Some(because),
            ..resolved
        })
    }
}

/// What the rule chooses, and why.
fn choose(facts: &Facts) -> Result<(String, Resolved), Error> {
    let only_trees = match (facts.budget.delta, facts.two_classes()) {
        (_, false) => Some("only trees learn numbers, or more than two classes"),
        (Delta::ZERO, true) => None,
        (_, true) => Some("delta allows Gaussian noise, which trees make the most of"),
    };
    if let Some(because) = only_trees {
        return Ok((because.into(), Trees::default().resolve(facts)?));
    }
    let columns = facts.private_features().count() as f64;
    let listed = facts.private_features().filter(|(_, column)| match &column.kind {
        Kind::Category(declared) | Kind::Ordinal(declared) => declared.values().len() > 2,
        _ => false,
    });
    let lists = listed.count() as f64 >= columns / 4.0;
    // Under add-remove a person moves half as much, which is worth twice the ε.
    let epsilon = 2.0 * facts.budget.epsilon.to_f64() / facts.relation.steps() as f64;
    let strength = epsilon * facts.budget.rows as f64 / (columns + BESIDES);
    let (resolved, why) = if strength < FEW {
        let why = format!("below {FEW}: one choice among planes is all that can be paid for");
        (Select::default().resolve(facts)?, why)
    } else if strength < MANY && !lists {
        let why = format!("{FEW} to {MANY}, and most columns are numbers: a direction can be paid for");
        (MomentSelect::default().resolve(facts)?, why)
    } else {
        let why = match lists {
            true => format!("at least {FEW}, and many columns are lists of values: they can be counted"),
            false => format!("at least {MANY}: every column can be counted"),
        };
        (HistogramBayes::default().resolve(facts)?, why)
    };
    Ok((
        format!("{strength:.0} rows times ε for each column, {why}"),
        resolved,
    ))
}
