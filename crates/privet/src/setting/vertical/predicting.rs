//! Whether a model can be given the columns of all parties, asked before anything is released.

use std::collections::BTreeMap;

use super::asking;
use super::joined::{Joining, OwnRows};
use super::label_holder::fits;
use super::{Categories, Plan};
use crate::Error;
use crate::data::Cells;
use crate::data::schema::Kind;
use crate::model::Model;

impl Plan {
    /// That a model can be given the columns of all parties; or, with `branches`, ask its questions about them. No rows are needed.
    ///
    /// # Errors
    /// [`Error::Data`] that names a column which is not the model's, is missing, or is declared otherwise; [`Error::Parameter`] if branches
    /// cannot be asked.
    pub fn check_model(&self, model: &Model, branches: bool) -> Result<(), Error> {
        let schema = self.label_holder.schema();
        let count = schema.features().count();
        let own = OwnRows {
            schema: (**schema).clone(),
            cells: Cells::joined(0, vec![Default::default(); count], None)?,
        };
        let label = model.schema().label().map(|(column, _)| column.clone());
        let mut joining = Joining::new(&own, label);
        for holder in &self.feature_holders {
            joining.announce(holder.columns())?;
        }
        fits(&joining.join()?.schema, model)?;
        if !branches {
            return Ok(());
        }
        for holder in &self.feature_holders {
            let mut features = holder.columns().schema().features();
            let category = features.find(|column| matches!(column.kind, Kind::Category(_)));
            if let Some(column) = category
                && holder.vertical.desensitisation.categories != Categories::Response
            {
                let why = format!(
                    "branches cannot be asked about '{}', which is released as a flag for each of its values: let columns be sent",
                    column.name
                );
                return Err(Error::parameter("predict", why));
            }
        }
        asking::questions(model, schema, self.feature_holders.len()).map(drop)
    }

    /// How many questions the model asks about each of the other parties' columns, if branches are asked for: this is what a feature holder sees of it.
    ///
    /// # Errors
    /// [`Error::Parameter`] if branches cannot be asked.
    pub fn questions(&self, model: &Model) -> Result<BTreeMap<String, usize>, Error> {
        let asked = asking::questions(model, self.label_holder.schema(), self.feature_holders.len())?;
        let mut counts = BTreeMap::new();
        for question in asked.into_iter().flatten() {
            *counts.entry(question.column).or_insert(0) += 1;
        }
        Ok(counts)
    }
}
