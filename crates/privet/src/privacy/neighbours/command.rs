//! The command that sets a budget, for messages.

use super::Relation;
use crate::privacy::{Delta, Epsilon};

/// How large a budget is to be and where it is kept, as far as whoever asks for it knows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BudgetToSet {
    /// Its ε.
    pub epsilon: Option<Epsilon>,
    /// Its δ; zero for a budget of pure ε.
    pub delta: Delta,
    /// The ledger, if it is not the one that the command finds by itself.
    pub ledger: Option<String>,
}

impl BudgetToSet {
    /// A budget of this size.
    pub fn of(epsilon: Epsilon, delta: Delta) -> Self {
        Self {
            epsilon: Some(epsilon),
            delta,
            ledger: None,
        }
    }
}

impl Relation {
    /// The command that sets a budget for this relation.
    pub fn limit_command(&self, dataset: &str, budget: &BudgetToSet) -> String {
        let epsilon = budget
            .epsilon
            .map_or_else(|| "E".to_owned(), |epsilon| epsilon.to_string());
        let mut command = format!("privet ledger limit {} --epsilon {epsilon}", quoted(dataset));
        let delta = (budget.delta != Delta::ZERO).then(|| budget.delta.scientific());
        let change = match self {
            Self::AddRemove { .. } => None,
            Self::Replace { .. } => Some("replace"),
            Self::ReplacePrivate { .. } => Some("replace-private"),
            Self::Owner => Some("owner"),
        };
        let columns = self.private().map(|columns| {
            let names: Vec<&str> = columns.iter().map(String::as_str).collect();
            names.join(",")
        });
        let limited = !matches!(self, Self::Owner) && self.rows().get() > 1;
        let rows = limited.then(|| self.rows().to_string());
        for (flag, value) in [
            ("--delta", delta.as_deref()),
            ("--change", change),
            ("--columns", columns.as_deref()),
            ("--unit", self.unit()),
            ("--rows-per-unit", rows.as_deref()),
            ("--ledger", budget.ledger.as_deref()),
        ] {
            if let Some(value) = value {
                // A value that begins like a flag must hang on to its own.
                let between = if value.starts_with('-') { '=' } else { ' ' };
                command += &format!(" {flag}{between}{}", quoted(value));
            }
        }
        command
    }
}

/// The text as one word of a shell command.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.,/".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
