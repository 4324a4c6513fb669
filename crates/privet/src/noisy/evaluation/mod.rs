//! How good a model is, on rows that are private.
//!
//! **Who.** One curator has labelled rows and a model that is fixed: trained before, on other rows or on rows whose
//! use was paid for, and public. Nobody else takes part.
//!
//! **What is released.** One vector of counts with discrete Laplace noise, in one release, for the ε that is named:
//!
//! | label | counts | a row adds to |
//! | --- | --- | --- |
//! | two classes | (class, bin of the second class's probability): 2 × 42 | one |
//! | K classes | (class, predicted class): K², then bins of the right class's probability: 42 | two |
//! | a number | bins of the label: 64, then bins of the absolute error: 41 | two |
//!
//! All bins come from the schema. Scores have bins of 1/32, the first and the last halved five times more, down to
//! 1/1024; one half is an edge. Errors have bins that grow by the fourth root of two up to the label's whole range.
//! Predictions of a number are first clamped to the label's bounds.
//!
//! **What it guarantees.** ε-differential privacy for a unit under the ledger's relation;
//! `docs/proofs/evaluation.md`. The number of rows is private like everything else: only its noisy estimate is used,
//! under every relation.
//!
//! **What follows from the counts** costs nothing more: every figure is a smooth function of the noisy counts.
//! Negative counts stay as they are, since sums of them are then right on average; a figure is cut to its range at
//! the very end, and is not defined where the noise hides the counts that it divides by.
//!
//! **Error bars** are for what the figure would be on very many such rows, and have three parts. With g the figure's
//! slope in a count c and s² the variance of the noise, *sampling* and *noise* together have variance Σ g²(c + s²);
//! accuracy and F1 use Wilson's interval with the noise's variance added, R² adds up the standard errors of its two
//! histograms, whose rows it cannot match. To both ends is added the largest error that the *bins* can cause:
//! half the share of pairs in the same bin for AUC, the widest change of the loss or the error inside each bin, times
//! its share, for the others.
//!
//! Large errors weigh most and are rare, so that noise in empty bins would drown MAE and RMSE. The last bins of the
//! errors are *quiet* as long as their sum is less than three times its noise. They add to the value what their counts
//! say, if that is above zero, and to the upper end of the interval (to the lower one of R²) what may hide there. The constant's
//! errors are the labels' distances from their median or mean, and are treated alike; a note gives its
//! intervals, and it has no value where noise adds more to it than the rows that are seen.
//!
//! Macro F1 is a mean over classes, and of rare ones the noise hides even how often they occur. They are not left out:
//! the interval allows each of them to be absent, or to have any F1 that its counts do not rule out, and the value takes
//! the F1 of their rows together. A note says of how many classes that is so.
//!
//! **What it does not do.** AUC of more than two classes, calibration, figures for groups. Log loss is that of
//! probabilities clipped at 1/1024: one certain and wrong prediction counts as 6.9, not as 34.5.

mod bins;
mod classes;
mod macro_f1;
mod numbers;
mod report;
mod slopes;

use crate::Error;
use crate::boost::Ensemble;
use crate::data::schema::{Label, Schema};
use crate::data::{Cells, Table, Target};
use crate::error::Subject;
use crate::model::metrics::{Figures, Judged, Report};
use crate::model::{Model, Predictions};
use crate::noisy::trees::Law;
use crate::privacy::account::Price;
use crate::privacy::mechanism::{Laplace, Mechanism};
use crate::privacy::{
    Anchor, Delta, Epsilon, Ledger, Neighbours, Norm, Private, Query, Relation, Sensitivity, Unprotected,
};

pub use report::PaidReport;
use slopes::Noisy;

/// With more classes, the counts of all pairs of classes would be smaller than their noise.
const MOST_CLASSES: usize = 256;

/// The kind of label, which the schema tells.
#[derive(Debug, Clone, PartialEq)]
enum Task {
    Binary(classes::Binary),
    Several(classes::Several),
    Numbers(numbers::Numbers),
}

/// Judges models on tables of one schema.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    task: Task,
    /// How many classes there are, if they are classes.
    classes: usize,
    /// How many rows of one person are kept.
    rows_per_unit: u32,
}

impl Evaluation {
    /// For tables of this schema.
    ///
    /// # Errors
    /// [`Error::Data`] if it declares no label.
    pub fn of(schema: &Schema) -> Result<Self, Error> {
        let Some((_, label)) = schema.label() else {
            return Err(Error::data(
                "no label is declared, so there is nothing to compare predictions with: \
                 declare the column that is predicted with type = \"label\"",
            ));
        };
        let (task, classes) = match label {
            Label::Classes(declared) if declared.values().len() == 2 => {
                (Task::Binary(classes::Binary::new()), 2)
            }
            Label::Classes(declared) => {
                let classes = declared.values().len();
                (Task::Several(classes::Several::new(classes)), classes)
            }
            Label::Number { min, max } => (Task::Numbers(numbers::Numbers::new(*min, *max)), 0),
        };
        Ok(Self {
            task,
            classes,
            rows_per_unit: schema.unit().rows.get(),
        })
    }

    /// That rows of `schema` can be evaluated for `epsilon` from a budget under `relation`: what can be asked before they
    /// are read.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the schema is another than this evaluation is for, or the budget does not protect everybody
    /// whom it names; [`Error::Parameter`] for ε = 0 or too many classes.
    pub fn check(&self, schema: &Schema, relation: &Relation, epsilon: Epsilon) -> Result<(), Error> {
        // How many rows of a person there are is the schema's to say.
        if Self::of(schema)? != *self {
            return Err(Error::misuse(
                "the table is not of the schema that this evaluation is for",
            ));
        }
        schema.covered_by(relation)?;
        self.mechanism(relation, epsilon).map(drop)
    }

    /// The noise, and the sensitivity that it is for.
    fn mechanism(&self, relation: &Relation, epsilon: Epsilon) -> Result<(Laplace, u64), Error> {
        self.few_classes()?;
        let l1 = relation.steps() * self.entries();
        Ok((Laplace::calibrated(epsilon, l1)?, l1))
    }

    fn few_classes(&self) -> Result<(), Error> {
        if self.classes <= MOST_CLASSES {
            return Ok(());
        }
        let why = format!(
            "{} classes: an evaluation that is paid for counts pairs of at most {MOST_CLASSES}",
            self.classes
        );
        Err(Error::parameter(Subject::Schema, why))
    }

    /// Releases noisy counts of how `model` does on `table` for `epsilon`, and computes every figure from them. The
    /// model is fixed and public. Rows that lack a label or a prediction count nowhere.
    ///
    /// # Privacy
    /// Pure ε; proof in `docs/proofs/evaluation.md#counts`.
    ///
    /// # Errors
    /// Decided before the rows are looked at: those of [`check`](Self::check), and all errors of [`Ledger::release`].
    pub fn paid<N: Neighbours>(
        &self,
        model: &Model,
        table: Table,
        ledger: &mut Ledger<N>,
        epsilon: Epsilon,
    ) -> Result<PaidReport, Error> {
        self.check(table.schema(), &ledger.relation().relation(), epsilon)?;
        table.is_whole(model.keep())?;
        let judged = table.into_cells().map(|cells| self.judge(model, &cells));
        self.counted(judged, ledger, epsilon)
    }

    /// As [`paid`](Self::paid), from labels and predictions: for audits.
    ///
    /// # Errors
    /// As [`paid`](Self::paid).
    #[cfg(feature = "audit")]
    pub fn paid_as_judged<N: Neighbours>(
        &self,
        judged: Private<Judged>,
        ledger: &mut Ledger<N>,
        epsilon: Epsilon,
    ) -> Result<PaidReport, Error> {
        self.counted(judged, ledger, epsilon)
    }

    /// `judged` has one entry for each row that the schema's rule keeps; each was computed from that row and the model
    /// alone. Its L1 sensitivity is `Neighbours::steps` times the entries of one row. Predictions of another kind than
    /// the schema's label count nowhere.
    fn counted<N: Neighbours>(
        &self,
        judged: Private<Judged>,
        ledger: &mut Ledger<N>,
        epsilon: Epsilon,
    ) -> Result<PaidReport, Error> {
        let relation = ledger.relation().clone();
        if relation.relation().rows().get() < self.rows_per_unit {
            return Err(Error::misuse(format!(
                "the schema keeps up to {} rows of one person, the budget is for the case that {}",
                self.rows_per_unit,
                relation.relation()
            )));
        }
        let (mechanism, l1) = self.mechanism(&relation.relation(), epsilon)?;
        let claim =
            Sensitivity::claim(&relation, Norm::L1(l1), Anchor::new("evaluation#counts"))?.also_added();
        let query = Query::new(self.dimension(), claim, move || {
            judged.map(|judged| self.counts(&judged))
        });
        let counts = ledger.release("evaluation of a model", &mechanism, query)?;
        let spent = (epsilon, Delta::ZERO);
        Ok(self.report(counts.value(), mechanism.variance(), spent, &relation.relation()))
    }

    /// What one change moves the counts of rows by, and what they may cost, in ε or in μ².
    ///
    /// # Privacy
    /// `docs/proofs/evaluation.md#counts`.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(crate) fn law(&self, schema: &Schema, relation: &Relation, price: Price) -> Result<Law, Error> {
        self.few_classes()?;
        schema.covered_by(relation)?;
        Law::of_counts(
            relation,
            price,
            (self.entries(), 1),
            Anchor::new("evaluation#counts"),
        )
    }

    /// The counts of how an ensemble of this schema does on rows, without noise.
    pub(crate) fn counts_of(
        &self,
        ensemble: &Ensemble,
        schema: &Schema,
        cells: &Private<Cells>,
    ) -> Private<Vec<i64>> {
        cells.as_ref().map(|cells| {
            let predictions = Predictions::of(ensemble, schema, cells);
            self.counts(&self.judge_predictions(predictions.ok().as_ref(), cells))
        })
    }

    /// Every figure that follows from noisy counts.
    pub(crate) fn report(
        &self,
        counts: &[i64],
        variance: f64,
        (epsilon, delta): (Epsilon, Delta),
        relation: &Relation,
    ) -> PaidReport {
        let noisy = Noisy::new(counts, variance);
        let (rows, figures) = match &self.task {
            Task::Binary(task) => (task.rows(&noisy), task.figures(&noisy)),
            Task::Several(task) => (task.rows(&noisy), task.figures(&noisy)),
            Task::Numbers(task) => (task.rows(&noisy), task.figures(&noisy)),
        };
        PaidReport {
            epsilon,
            delta,
            protects: relation.clone(),
            rows,
            figures: Figures::new(figures),
            notes: self.notes(&noisy),
        }
    }

    /// Labels and predictions of rows that were read by the model's columns. Each prediction follows from its row and the
    /// model alone. Rows without labels, or that cannot be predicted, are not judged.
    pub fn judge(&self, model: &Model, cells: &Cells) -> Judged {
        self.judge_predictions(model.predict_cells(cells).ok().as_ref(), cells)
    }

    /// The same for predictions of these rows that were made elsewhere, such as from columns that others had changed.
    pub fn judge_predictions(&self, predictions: Option<&Predictions>, cells: &Cells) -> Judged {
        let narrow = |values: &[f64]| values.iter().map(|&x| x as f32).collect();
        match cells.target() {
            Some(Target::Numbers(labels)) => Judged::Numbers {
                labels: labels.clone(),
                values: predictions.and_then(|p| p.values()).map_or_else(Vec::new, narrow),
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

    /// The figures without noise, for whoever has permission to see them.
    pub fn open(&self, judged: Private<Judged>, permission: &Unprotected) -> Report {
        permission.reveal(judged.map(|judged| Report::of(&judged, self.classes)))
    }

    /// The counts of all rows: a sum of integer vectors, one of each row, whatever their order.
    fn counts(&self, judged: &Judged) -> Vec<i64> {
        let mut counts = vec![0; self.dimension()];
        let mut add = |cells: &[usize]| cells.iter().for_each(|cell| counts[*cell] += 1);
        match (&self.task, judged) {
            (Task::Numbers(task), Judged::Numbers { labels, values }) => {
                let rows = labels.iter().zip(values);
                rows.for_each(|(label, value)| add(&task.cells(*label, *value)));
            }
            (
                task @ (Task::Binary(_) | Task::Several(_)),
                Judged::Classes {
                    labels,
                    probabilities,
                },
            ) => {
                for (label, row) in labels.iter().zip(probabilities.chunks_exact(self.classes)) {
                    match task {
                        Task::Binary(task) => add(&[task.cell(*label, row)]),
                        Task::Several(task) => add(&task.cells(*label, row)),
                        Task::Numbers(_) => {}
                    }
                }
            }
            _ => {}
        }
        counts
    }

    /// How many counts there are.
    pub(crate) fn dimension(&self) -> usize {
        match &self.task {
            Task::Binary(task) => task.dimension(),
            Task::Several(task) => task.dimension(),
            Task::Numbers(task) => task.dimension(),
        }
    }

    /// To how many counts one row adds one.
    fn entries(&self) -> u64 {
        match self.task {
            Task::Binary(_) => 1,
            Task::Several(_) | Task::Numbers(_) => 2,
        }
    }

    fn notes(&self, noisy: &Noisy) -> Vec<String> {
        let bins = match self.task {
            Task::Binary(_) => {
                "Scores were counted in 42 bins; log loss is that of probabilities clipped at 1/1024."
            }
            Task::Several(_) => {
                "Probabilities were counted in 42 bins; log loss is that of probabilities clipped at 1/1024."
            }
            Task::Numbers(_) => {
                "Labels and errors were counted in bins; predictions were clamped to the label's bounds."
            }
        };
        let mut notes = vec![
            bins.into(),
            "Intervals include the noise, and the largest error that the bins can cause.".into(),
        ];
        notes.extend(match &self.task {
            Task::Binary(_) => None,
            Task::Several(task) => task.note(noisy),
            Task::Numbers(task) => task.note(noisy),
        });
        notes
    }
}
