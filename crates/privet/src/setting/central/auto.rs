//! Which algorithm is best, by a rule that looks at public facts only: ε, the declared number of rows, and the schema.
//!
//! The numbers of the rule for two classes are those of decisions 0044 and 0069; it charges nothing. It never chooses
//! an algorithm whose models are void.

use super::{Algorithm, Balance, Facts, Forest, HistogramBayes, MomentSelect, Resolved, Select, Trees};
use crate::Error;
use crate::data::schema::Kind;
use crate::parameters::parameters;
use crate::privacy::Delta;

/// Below so many rows times ε for each column, one choice is all that can be paid for where columns are numbers.
const FEW: f64 = 20.0;
/// From so many on, trees are worth growing where most columns are numbers, and where many columns have few values; below, values are counted.
const MANY: [f64; 2] = [300.0, 2000.0];
/// A number with at most so many bins has few values.
const FEW_VALUES: usize = 16;
/// The same two numbers where labels are public: what public columns say is known, and a direction beside it can be paid for in between.
const PUBLIC: [f64; 2] = [30.0, 300.0];
/// Below so many rows times ε, more than two classes are counted in the leaves of random trees; from there on, boosted trees are worth their price.
const FOREST: f64 = 200_000.0;
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

    fn weighs_rows(&self) -> bool {
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
    if facts.schema.weight().is_some() {
        let because = "rows have weights, and trees alone weigh rows";
        return Ok((because.into(), Trees::default().resolve(facts)?));
    }
    // Under add-remove a person moves half as much, which is worth twice the ε.
    let epsilon = facts.budget.epsilon.to_f64() / facts.relation.steps() as f64;
    let many = facts.budget.delta == Delta::ZERO && facts.has_many_classes() && !facts.has_public_label();
    if many && epsilon * (facts.budget.rows as f64) < FOREST {
        let because = format!(
            "{} rows times ε, divided by the rows that one change moves, are {:.0}: below {FOREST}, more than two classes are counted in random trees, at once",
            facts.budget.rows,
            epsilon * facts.budget.rows as f64
        );
        return Ok((because, Forest::default().resolve(facts)?));
    }
    let only_trees = match (facts.budget.delta, facts.two_classes()) {
        (_, false) => Some("trees learn numbers, and make the most of many rows of more than two classes"),
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
    let few_values = facts.private_features().filter(|(_, column)| match &column.kind {
        Kind::Number(number) => number.cuts().bins() <= FEW_VALUES,
        _ => true,
    });
    let are_counted = lists || few_values.count() as f64 >= columns / 2.0;
    let strength = 2.0 * epsilon * facts.budget.rows as f64 / (columns + BESIDES);
    let (resolved, why) = if facts.has_public_label() {
        beside_public(facts, strength, lists)?
    } else if strength < FEW && !are_counted {
        let why = format!(
            "below {FEW}, and most columns are numbers: one choice among planes is all that can be paid for"
        );
        (Select::default().resolve(facts)?, why)
    } else {
        let (many, columns) = match are_counted {
            true => (MANY[1], "many columns have few values"),
            false => (MANY[0], "most columns are numbers"),
        };
        if strength < many {
            let why = format!("below {many}, and {columns}: every column can be counted");
            (HistogramBayes::default().resolve(facts)?, why)
        } else {
            let why = format!("at least {many}, and {columns}: trees can be grown");
            (Trees::default().resolve(facts)?, why)
        }
    };
    Ok((
        format!("{strength:.0} rows times ε for each column, {why}"),
        resolved,
    ))
}

/// The rule where labels are public. It was fixed on data sets that no acceptance table uses (`privet reproduce brc --table 3` and `--table 4`).
fn beside_public(facts: &Facts, strength: f64, lists: bool) -> Result<(Resolved, String), Error> {
    let [few, many] = PUBLIC;
    if strength < few {
        let why = format!("below {few}: one choice among planes is all that can be paid for");
        Ok((Select::default().resolve(facts)?, why))
    } else if strength < many && !lists {
        let why = format!("{few} to {many}, and most columns are numbers: a direction can be paid for");
        Ok((MomentSelect::default().resolve(facts)?, why))
    } else {
        let why = match lists {
            true => format!("at least {few}, and many columns are lists of values: they can be counted"),
            false => format!("at least {many}: every column can be counted"),
        };
        Ok((HistogramBayes::default().resolve(facts)?, why))
    }
}
