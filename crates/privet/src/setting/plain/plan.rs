//! What a run will do, fixed before the first row is looked at.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::Error;
use crate::boost::{Ensemble, Link};
use crate::data::schema::{Label, Schema};
use crate::data::{Cells, Intake, Keep, Table, Target};
use crate::learner::{Classes, Progress, Sample, Shape};
use crate::model::{Model, Settings};
use crate::parameters::Parameters;
use crate::privacy::{Unprotected, getters};

/// Slots of all features times classes, at most.
const LARGEST: usize = 1 << 22;

/// The parameters of an algorithm without protection.
pub trait Algorithm: fmt::Debug + Send + Sync {
    /// Whether it looks at any feature.
    fn looks_at_features(&self) -> bool {
        true
    }

    /// What it will do on tables of a schema that has a label.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the parameter that does not fit the schema.
    fn resolve(&self, schema: &Schema) -> Result<Resolved, Error>;

    /// Checks the parameters against a schema, and fixes everything that can be known before the first row is looked at.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the parameter that does not fit, or if the schema has no label or too many slots.
    fn plan(&self, schema: &Schema) -> Result<Plan, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        if schema.label().is_none() {
            return Err(Error::parameter(
                "schema",
                "the schema has no label, so there is nothing to predict: add a line such as outcome = { type = \"label\", values = [\"no\", \"yes\"] } \
             to its [columns]",
            ));
        }
        if self.looks_at_features() {
            schema.has_features()?;
            check_size(schema)?;
        }
        Ok(Plan {
            schema: Arc::new(schema.clone()),
            resolved: self.resolve(schema)?,
        })
    }
}

/// How many classes the label has; none if it is a number.
pub(super) fn classes(schema: &Schema) -> usize {
    match schema.label() {
        Some((_, Label::Classes(declared))) => declared.values().len(),
        _ => 0,
    }
}

/// Sums by slot and class must fit into memory: known from the schema alone.
fn check_size(schema: &Schema) -> Result<(), Error> {
    let slots: usize = Shape::of(schema).iter().map(|shape| shape.slots).sum();
    let classes = classes(schema).max(1);
    if slots.saturating_mul(classes) > LARGEST {
        let why = format!(
            "the schema's {slots} bins and values times {classes} classes are too many to learn from: at most {LARGEST} \
             are possible; declare fewer"
        );
        return Err(Error::parameter("schema", why));
    }
    Ok(())
}

/// The resolved plan of an algorithm.
#[derive(Debug, Clone)]
pub struct Resolved {
    settings: Vec<(String, String)>,
    keep: Keep,
    train: Arc<dyn Train>,
}

impl Resolved {
    pub(super) fn new<P: Parameters>(parameters: &P, keep: Keep, train: impl Train + 'static) -> Self {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let own = [named("setting", "plain"), named("algorithm", P::NAME)];
        Self {
            settings: own.into_iter().chain(parameters.settings()).collect(),
            keep,
            train: Arc::new(train),
        }
    }
}

/// Training, as one algorithm does it.
pub(super) trait Train: fmt::Debug + Send + Sync {
    /// Trains an ensemble. It ends early if `progress` asks to stop.
    fn train(&self, task: &Task<'_>, progress: Progress<'_>) -> Result<Ensemble, Error>;
}

/// Rows, as they are.
pub(super) struct Task<'a> {
    pub(super) schema: &'a Schema,
    pub(super) cells: &'a Cells,
    pub(super) sample: Sample<'a>,
    pub(super) goal: Goal<'a>,
}

/// What is to be predicted.
#[derive(Clone, Copy)]
pub(super) enum Goal<'a> {
    /// One of several classes.
    Classes(Classes<'a>),
    /// A number.
    Numbers {
        /// The number of each row.
        of: &'a [f32],
        /// The prediction if there are no rows.
        middle: f64,
    },
}

impl Goal<'_> {
    fn is_nobody(&self) -> bool {
        matches!(self, Self::Numbers { of: [], .. })
    }

    /// The same of no rows.
    fn of_nobody(self) -> Self {
        match self {
            Self::Classes(classes) => Self::Classes(Classes { of: &[], ..classes }),
            Self::Numbers { middle, .. } => Self::Numbers { of: &[], middle },
        }
    }

    /// The mean, or the classes' shares, each counted half a row more than it has, so that none is zero.
    pub(super) fn constant(&self, weights: &[f64]) -> Ensemble {
        let (link, base) = match *self {
            Self::Numbers { of: [], middle } => (Link::Identity, vec![middle]),
            Self::Numbers { of, .. } => {
                let weighed = of.iter().zip(weights).map(|(&x, weight)| f64::from(x) * weight);
                (
                    Link::Identity,
                    vec![weighed.sum::<f64>() / weights.iter().sum::<f64>()],
                )
            }
            Self::Classes(classes) => {
                let mut counts: Vec<f64> = vec![0.5; classes.count];
                for (&class, weight) in classes.of.iter().zip(weights) {
                    counts[usize::from(class)] += weight;
                }
                match counts[..] {
                    [first, second] => (Link::Logistic, vec![(second / first).ln()]),
                    _ => {
                        let total: f64 = counts.iter().sum();
                        let shares = counts.iter().map(|count| (count / total).ln());
                        (Link::Softmax, shares.collect())
                    }
                }
            }
        };
        Ensemble::new(link, base, Vec::new())
    }
}

/// Everything that is fixed before the first row is looked at. Only a plan can train.
#[derive(Debug, Clone)]
pub struct Plan {
    schema: Arc<Schema>,
    resolved: Resolved,
}

impl Plan {
    getters! {
        /// The schema that tables are read with.
        pub schema(&schema) -> &Arc<Schema>;
        /// Whether a table's numbers are kept besides their bins.
        pub keep(resolved.keep) -> Keep;
        /// Names and values as a job says them, defaults included.
        pub settings(&resolved.settings) -> &[(String, String)];
    }

    /// The columns to read, and how.
    pub fn reads(&self) -> Intake {
        Intake::everything(Arc::clone(&self.schema), self.keep())
    }

    /// Trains a model on a table that was read with what [`reads`](Self::reads) asks for, or with more.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the table was read with another schema, or without labels or numbers; [`Error::Stopped`] if `progress` says
    /// so. What the rows say is never the reason.
    pub fn fit(
        &self,
        table: Table,
        permission: &Unprotected,
        progress: Progress<'_>,
    ) -> Result<Model, Error> {
        table.is_of(&self.schema, "Plan::reads")?;
        table.is_whole(self.keep())?;
        let cells = permission.reveal(table.into_cells());
        let stopped = AtomicBool::new(false);
        let ensemble = self.ensemble(&cells, &|done, of| {
            let next = progress(done, of);
            stopped.fetch_or(next.is_break(), Ordering::Relaxed);
            next
        })?;
        if stopped.into_inner() {
            return Err(Error::Stopped);
        }
        let settings = Settings::new(self.settings().to_vec());
        Model::new(
            (*self.schema).clone(),
            ensemble,
            permission.certificate(),
            settings,
        )
    }

    fn ensemble(&self, cells: &Cells, progress: Progress<'_>) -> Result<Ensemble, Error> {
        let schema = &*self.schema;
        let shapes = Shape::of(schema);
        let weights = match cells.weights() {
            Some(weights) => weights.iter().map(|&weight| weight.into()).collect(),
            None => vec![1.0; cells.rows()],
        };
        let sample = Sample::new(&shapes, cells, &weights)
            .ok_or_else(|| Error::misuse("the table was not read for its schema"))?;
        let none = match classes(schema) {
            0 => Target::Numbers(Vec::new()),
            _ => Target::Classes(Vec::new()),
        };
        // A table of which no row was read has no labels either.
        let target = match cells.target() {
            Some(target) => target,
            None if cells.rows() == 0 => &none,
            None => return Err(Error::misuse("the table was read without its labels")),
        };
        if self.keep() == Keep::Values && !sample.has_values() {
            return Err(Error::misuse("the table was read without its numbers"));
        }
        let goal = match (target, schema.label()) {
            (Target::Classes(of), Some((_, Label::Classes(declared)))) => {
                let count = declared.values().len();
                Goal::Classes(Classes { of, count })
            }
            (Target::Numbers(of), Some((_, Label::Number { min, max }))) => Goal::Numbers {
                of,
                middle: (min + max) / 2.0,
            },
            _ => return Err(Error::misuse("the table's labels are not what its schema says")),
        };
        if goal.is_nobody() || (cells.rows() > 0 && weights.iter().all(|weight| *weight == 0.0)) {
            return Ok(goal.of_nobody().constant(&[]));
        }
        let task = Task {
            schema,
            cells,
            sample,
            goal,
        };
        self.resolved.train.train(&task, progress)
    }
}
