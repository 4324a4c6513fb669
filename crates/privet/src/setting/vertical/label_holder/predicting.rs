//! Predictions: what a model says of rows whose columns lie apart.

use super::super::asking;
use super::super::joined::Joined;
use super::super::message::Question;
use super::super::{Outcome, Party};
use super::{Goal, Run};
use crate::Error;
use crate::data::Schema;
use crate::data::schema::Column;
use crate::model::Model;
use crate::party::TurnOutcome;

impl Run {
    /// What the model says of the rows that all parties have, in the order of the label holder's table.
    pub(super) fn predicted(self, joined: &Joined) -> Result<TurnOutcome<Party>, Error> {
        let Goal::Predict { model, branches } = &self.goal else {
            return Err(Error::internal("only predictions are made from a model"));
        };
        let predictions = if *branches {
            let asked: Vec<Question> = self.questions.values().flatten().cloned().collect();
            asking::rewritten(model, &self.own.schema, &asked, joined)?.predict_cells(&joined.cells)?
        } else {
            fits(&joined.schema, model)?;
            model.predict_cells(&joined.cells)?
        };
        let mut places: Vec<usize> = (0..self.rows.len()).collect();
        places.sort_unstable_by_key(|&place| self.rows[place]);
        Ok(TurnOutcome::Finished(Outcome::Predicted {
            rows: places.iter().map(|&place| self.rows[place]).collect(),
            predictions: Box::new(predictions.take(&places)),
        }))
    }
}

/// That the columns of all parties, together, are a model's.
pub(in crate::setting::vertical) fn fits(joined: &Schema, model: &Model) -> Result<(), Error> {
    let model = model.schema();
    let lacks = |schema: &Schema, column: &Column| schema.features().all(|other| other.name != column.name);
    let why = if let Some(column) = joined.features().find(|column| lacks(model, column)) {
        let name = &column.name;
        format!("it does not know the column '{name}': declare it as type = \"skip\"")
    } else if let Some(column) = model.features().find(|column| lacks(joined, column)) {
        format!("no party has the column '{}'", column.name)
    } else if let Some(why) = joined.differs(model) {
        why
    } else {
        return Ok(());
    };
    Err(Error::data(format!(
        "these are not the columns of the model: {why}"
    )))
}
