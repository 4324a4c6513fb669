//! Who is protected, how far, and what is not protected: the same words before a run, from its plan, and after it, from a certificate.

use std::fmt::Write;

use privet::data::Schema;
use privet::data::schema::Kind;
use privet::privacy::account::{Caps, Price};
use privet::privacy::{Certificate, Delta, Epsilon, Guarantee, Observer, Relation, Sharing};
use serde_json::{Value, json};

use super::words;

/// The guarantee for the rows of a schema.
pub(super) struct Protection<'a> {
    pub(super) schema: &'a Schema,
    pub(super) relation: &'a Relation,
    pub(super) epsilon: Epsilon,
    pub(super) delta: Delta,
    /// What was or will be charged for it.
    pub(super) caps: Caps,
    /// What it assumes of the owners of joint sums.
    pub(super) provided: Vec<Sharing>,
}

impl<'a> Protection<'a> {
    /// The differential-privacy guarantee of a certificate, if it has one; of a party without rows, what all owners guarantee alike.
    pub(super) fn of(schema: &'a Schema, certificate: &'a Certificate) -> Option<Self> {
        if certificate.claims.is_empty() {
            let mut owners = certificate.parties.iter();
            let first = &owners.next()?.certificate;
            let is_alike = owners.all(|other| other.certificate.claims == first.claims);
            return Self::of(schema, first).filter(|_| is_alike);
        }
        certificate.claims.iter().find_map(|claim| {
            let (epsilon, delta, caps) = match &claim.guarantee {
                Guarantee::Pure { epsilon } => (*epsilon, Delta::ZERO, Price::Pure(*epsilon).into()),
                Guarantee::Approximate { epsilon, delta, caps } => (*epsilon, *delta, *caps),
                _ => return None,
            };
            Some(Self {
                schema,
                relation: &claim.protects,
                epsilon,
                delta,
                caps,
                provided: match &claim.from {
                    Observer::Provided(all) => all.clone(),
                    _ => Vec::new(),
                },
            })
        })
    }

    /// The paragraphs, each under its heading.
    pub(super) fn text(&self) -> String {
        let mut text = format!("WHO IS PROTECTED\n  {}\n", self.who());
        let _ = writeln!(text, "\nWHAT {} MEANS", words::promise(self.epsilon, self.delta));
        for line in self.meaning() {
            let _ = writeln!(text, "  {line}");
        }
        let _ = writeln!(text, "\nWHAT IS NOT PROTECTED");
        for line in self.exceptions() {
            let _ = writeln!(text, "  -  {line}");
        }
        text
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "who": self.who(),
            "change": self.relation,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "chance_beyond": self.caps.chance_beyond(self.epsilon),
            "meaning": self.meaning(),
            "not_protected": self.exceptions(),
        })
    }

    pub(super) fn who(&self) -> String {
        let unit = match (self.relation.unit(), self.relation.rows().get()) {
            (None, 1) => "every person in it, if a person has one row".to_owned(),
            (None, k) => format!("every person in it with at most {k} rows"),
            (Some(column), 1) => {
                format!("every person in it (rows with the same '{column}'; one row of each is used)")
            }
            (Some(column), k) => {
                format!("every person in it (rows with the same '{column}'; the first {k} of each are used)")
            }
        };
        let what = match self.relation {
            Relation::AddRemove { .. } => "everything about them, also that they are in it",
            Relation::Replace { .. } => "everything about them but that somebody is in it",
            Relation::ReplacePrivate { .. } => "their private columns",
            Relation::Owner => "everything about an owner",
        };
        let provided: Vec<String> = self
            .provided
            .iter()
            .map(|sharing| format!(", provided that {sharing}"))
            .collect();
        format!(
            "'{}': {unit}. Protected is {what}, from anybody who sees the model, whatever else they know{}.",
            self.schema.dataset(),
            provided.concat()
        )
    }

    pub(super) fn meaning(&self) -> Vec<String> {
        let factor = self.epsilon.to_f64().exp();
        let sure = |p: f64| {
            let after = 100.0 * p * factor / (p * factor + 1.0 - p);
            if after > 99.9 {
                "more than 99.9%".to_owned()
            } else {
                format!("{:.1}%", (after * 10.0).ceil() / 10.0)
            }
        };
        let of = match self.relation {
            Relation::AddRemove { .. } => "that a person is in the table",
            Relation::Replace { .. } => "of one thing rather than another about a person",
            Relation::ReplacePrivate { .. } => {
                "of one thing rather than another about a person's private columns"
            }
            Relation::Owner => "of one thing rather than another about an owner",
        };
        let mut lines = vec![
            format!(
                "Whoever sees the model can change their odds {of} by a factor of at most {}{}.",
                words::odds(self.epsilon),
                self.beyond(1)
            ),
            format!(
                "Who is 50% sure of it can become {} sure at most; who is 10% sure, {}; who is 1% sure, {}{}.",
                sure(0.5),
                sure(0.1),
                sure(0.01),
                match self.beyond(1).as_str() {
                    "" => "",
                    _ => "; more only with that probability",
                }
            ),
        ];
        // One row out, another in.
        if let (Relation::AddRemove { .. }, Some(twice)) = (self.relation, self.epsilon.checked_mul(2)) {
            lines.push(format!(
                "Between two things that the person's row could say, the factor is at most {}{}.",
                words::odds(twice),
                self.beyond(2)
            ));
        }
        // By what matters more to a person: what their row says, not that it is there.
        let steps = if matches!(self.relation, Relation::AddRemove { .. }) {
            2.0
        } else {
            1.0
        };
        lines.push(match steps * self.epsilon.to_f64() {
            e if e <= 0.1 => "That is very little.".into(),
            e if e <= 1.0 => "That is little.".into(),
            e if e <= 3.0 => {
                "That is noticeable: fit for data whose disclosure would be unpleasant, not harmful.".into()
            }
            e if e <= 10.0 => {
                "That is a weak promise: a determined attacker can learn much about one person.".into()
            }
            _ => "That promises next to nothing about one person.".into(),
        });
        lines
    }

    /// How likely larger factors are, about so many people together.
    fn beyond(&self, people: u64) -> String {
        words::beyond(self.epsilon, &self.caps, people)
    }

    pub(super) fn exceptions(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Relation::ReplacePrivate { columns, .. } = self.relation {
            let public: Vec<&str> = self
                .schema
                .columns()
                .iter()
                .filter(|column| !columns.contains(&column.name) && column.kind != Kind::Skip)
                .map(|column| column.name.as_str())
                .collect();
            lines.push(format!(
                "Public columns: {}. They are used as they are, and what can be guessed from them about private ones is not hidden.",
                public.join(", ")
            ));
            lines.push("That a person is in the table, and how many rows there are.".into());
        }
        if let Relation::Replace { .. } = self.relation {
            lines.push("That a person is in the table, and how many people are.".into());
        }
        lines.push("What the model says about people in general, which may hold for somebody who is in no table at all.".into());
        lines.push(match self.beyond(2).as_str() {
            "" => "Groups: about two people together the factor is squared, about three cubed, and so on.".into(),
            two => format!(
                "Groups: about two people together the factor is squared{two}; about three it is cubed{}; and so on.",
                self.beyond(3)
            ),
        });
        lines.push("Anything from whoever holds the table, the ledger or the memory of this machine.".into());
        lines
    }
}
