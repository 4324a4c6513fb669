//! What a model says about rows, beside their labels.

use super::Evaluation;
use crate::data::{Cells, Target};
use crate::model::Model;
use crate::model::metrics::Judged;

impl Evaluation {
    /// Labels and predictions of rows that were read by the model's columns. Each prediction follows from its row and the
    /// model alone. Rows without labels, or that cannot be predicted, are not judged.
    pub fn judge(&self, model: &Model, cells: &Cells) -> Judged {
        let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect();
        let predictions = model.predict_cells(cells).ok();
        match cells.target() {
            Some(Target::Numbers(labels)) => Judged::Numbers {
                labels: labels.clone(),
                values: predictions
                    .as_ref()
                    .and_then(|p| p.values())
                    .map_or_else(Vec::new, narrow),
            },
            Some(Target::Classes(labels)) => Judged::Classes {
                labels: labels.clone(),
                probabilities: predictions
                    .and_then(|p| p.probabilities())
                    .as_deref()
                    .map_or_else(Vec::new, narrow),
            },
            None => Judged::Classes {
                labels: Vec::new(),
                probabilities: Vec::new(),
            },
        }
    }
}
