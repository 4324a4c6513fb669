//! The command that sets a budget, for messages.

use super::Relation;

impl Relation {
    /// The command that sets a budget for this relation, without the amount.
    pub fn limit_command(&self, dataset: &str) -> String {
        let mut command = format!("privet ledger limit {} --epsilon E", quoted(dataset));
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
            ("--change", change),
            ("--columns", columns.as_deref()),
            ("--unit", self.unit()),
            ("--rows-per-unit", rows.as_deref()),
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
    let plain = |c: char| c.is_alphanumeric() || "_-.,".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}
