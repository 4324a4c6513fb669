//! Gradient-boosted trees.

use super::plan::{Algorithm, Resolved, Task, Train};
use crate::Error;
use crate::boost::Ensemble;
use crate::boost::gradient::{Gradient, LabelledRows, Training, Trees};
use crate::data::{Keep, Schema};
use crate::learner::Progress;

impl Algorithm for Trees {
    fn resolve(&self, schema: &Schema) -> Result<Resolved, Error> {
        let gradient = self.gradient(schema)?;
        Ok(Resolved::new(&self.filled(), Keep::Bins, gradient))
    }
}

impl Train for Gradient {
    fn train(&self, task: &Task<'_>, progress: Progress<'_>) -> Result<Ensemble, Error> {
        if task.cells.rows() == 0 {
            // Of nobody, trees say what a constant says.
            return Ok(task.goal.constant(&[]));
        }
        let training = Training {
            schema: task.schema,
            rows: LabelledRows {
                cells: task.cells,
                weights: task.cells.weights(),
            },
            validation: None,
            start: None,
        };
        let boosted = self.fit(&training, &mut |round| {
            progress(round.done as u64, round.rounds as u64)
        })?;
        Ok(boosted.into_ensemble())
    }
}
