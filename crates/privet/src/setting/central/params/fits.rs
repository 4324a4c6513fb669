//! Whether parameters fit a schema.

use super::super::{Brc, Planes, trees};
use super::{Algorithm, Central, is_public, private_features};
use crate::Error;
use crate::data::schema::{Label, Schema};
use crate::error::Subject;
use crate::privacy::Relation;

impl Central {
    /// That the parameters fit a schema, under the relation that will be paid for.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not; the message begins with the parameter's name.
    pub fn check(&self, schema: &Schema, relation: &Relation) -> Result<(), Error> {
        let bad = |why: String| Err(Error::parameter(Subject::Algorithm, why));
        let name = self.algorithm.name();
        match schema.label() {
            Some(_) if matches!(self.algorithm, Algorithm::Trees(_) | Algorithm::Auto) => {}
            Some((_, Label::Classes(declared))) if declared.values().len() == 2 => {}
            Some((column, _)) => {
                return bad(format!(
                    "name = \"{name}\" tells two classes apart; the label '{}' has more, or is a number",
                    column.name
                ));
            }
            None => {
                return bad(
                    "name: the schema declares no label, which is what a model learns to predict".into(),
                );
            }
        }
        let public_label = schema
            .label()
            .is_some_and(|(label, _)| is_public(label, relation));
        let public_features = schema
            .features()
            .filter(|column| is_public(column, relation))
            .count();
        if let Algorithm::Trees(trees) = &self.algorithm {
            if self.balanced {
                return bad(
                    "balance = true is for other algorithms: trees learn from all rows. Leave it out".into(),
                );
            }
            trees::plan(trees, &self.budget, schema, relation)?;
        }
        if self.balanced && !public_label {
            return bad(
                "balance = true picks rows by their label, which is private here: one changed label would change which other rows \
                 are learnt from. Leave it out"
                    .into(),
            );
        }
        if let Algorithm::Brc(Brc {
            planes: Planes::PaidPublic,
            ..
        }) = self.algorithm
            && (public_label || public_features == 0)
        {
            return bad(format!(
                "planes = \"paid-public\" is for public columns beside a private label: {}. Leave it out",
                if public_label {
                    "here the label is public too, and they are learnt from without charge"
                } else {
                    "here no column is public"
                }
            ));
        }
        if self.algorithm == Algorithm::Public {
            if !public_label || public_features == 0 {
                return bad("name = \"public\" learns from public columns alone: the schema declares no public feature, or its label is private".into());
            }
            return Ok(());
        }
        let private = private_features(schema, relation).count();
        if private == 0 {
            return bad(format!(
                "name = \"{name}\" is for private columns, and the schema declares none: use setting = \"plain\""
            ));
        }
        // One number about one column, with all of ε: if even that drowns, nothing can be learnt.
        let noise = relation.steps() as f64 / self.budget.epsilon.to_f64();
        if self.budget.rows as f64 <= noise {
            return bad(format!(
                "rows_about = {} is too few: at epsilon = {} noise weighs as much as {:.0} rows, so nothing could be learnt. Raise epsilon, or \
                 do without private columns",
                self.budget.rows, self.budget.epsilon, noise
            ));
        }
        Ok(())
    }
}
