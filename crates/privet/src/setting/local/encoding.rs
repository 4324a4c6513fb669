//! How an owner's rows become what it sends: a vector, or a cell for each column.
//!
//! Everything that this needs stands in the campaign's file, and so is public: the schema with its bounds, columns, cuts, axes, weights of
//! earlier learners. Whatever the rows are, what comes out is clipped by the mechanism: a file that says nonsense makes useless
//! messages, and never less private ones (`docs/proofs/local.md`).

mod features;
mod learners;
mod map;
mod statistic;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use features::Features;
use features::numbers;
pub use learners::{Learner, row_weights};
pub use map::{Axis, Map};
pub use statistic::{Rows, Statistic, contrasts};

use crate::Error;
use crate::data::document::{Found, Section, number, quoted};
use crate::data::schema::{Kind, Label, Schema};
use crate::data::{Cells, Document, Intake, Keep, Table, Target};
use crate::privacy::{Private, getters};

/// From a schema's rows to what is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    schema: Arc<Schema>,
    features: Features,
    statistic: Statistic,
    learners: Vec<Learner>,
    classes: usize,
}

const STATISTICS: [(&str, Statistic); 9] = [
    ("mean", Statistic::Mean),
    ("signed-mean", Statistic::SignedMean),
    ("class-means", Statistic::ClassMeans),
    ("cross-table", Statistic::CrossTable),
    ("second-moments", Statistic::SecondMoments),
    ("gradient", Statistic::Gradient { at: Vec::new() }),
    ("classifier", Statistic::Classifier { ridge: 0.0 }),
    ("errors", Statistic::Errors { scores: Vec::new() }),
    ("cell", Statistic::Cell),
];

impl Encoding {
    /// The rows of a schema as this statistic of their features.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema lacks what the statistic needs.
    pub fn new(schema: Schema, features: Features, statistic: Statistic) -> Result<Self, Error> {
        schema.has_features()?;
        schema.has_no_weights("setting = \"local\"")?;
        let classes = match schema.label() {
            Some((_, Label::Classes(declared))) => declared.values().len(),
            _ => 0,
        };
        let bad = |why: String| Err(Error::parameter("statistic", why));
        if classes == 0 && statistic.needs_labels() {
            let example = "ill = { type = \"label\", values = [\"no\", \"yes\"] }";
            return bad(format!(
                "this statistic needs a label with classes: declare one in the schema, such as {example}"
            ));
        }
        let weights = contrasts(classes).len() * features.dimension();
        match &statistic {
            Statistic::Gradient { at } if at.len() != weights => {
                return bad(format!(
                    "at has {} weights, and there are {weights} coordinates and contrasts: write one for each",
                    at.len()
                ));
            }
            Statistic::Classifier { ridge } if ridge.is_nan() || *ridge <= 0.0 => {
                return bad("ridge must be above zero".into());
            }
            Statistic::Errors { scores } if scores.len() != classes * features.dimension() => {
                return bad(format!(
                    "scores has {} numbers, and there are {} classes and coordinates: write one for each",
                    scores.len(),
                    classes * features.dimension()
                ));
            }
            Statistic::Cell if *features.map() != Map::identity(features.map().base()) => {
                return bad("a cell has columns only: no cuts, axes, products or constant".into());
            }
            _ => {}
        }
        Ok(Self {
            schema: Arc::new(schema),
            features,
            statistic,
            learners: Vec::new(),
            classes,
        })
    }

    /// The same for a round after these learners.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a learner has not a weight for each class and coordinate, or labels are not read.
    pub fn after(mut self, learners: Vec<Learner>) -> Result<Self, Error> {
        let wanted = self.classes * self.features.dimension();
        for learner in &learners {
            let found = learner.scores.len();
            if found != wanted {
                let why = format!(
                    "a learner has {found} scores, and there are {wanted} classes and coordinates: write one for each"
                );
                return Err(Error::parameter("learner", why));
            }
        }
        if !learners.is_empty() && (!self.statistic.needs_labels() || self.statistic == Statistic::Cell) {
            let why = "only statistics of vectors with labels are weighted by learners";
            return Err(Error::parameter("learner", why));
        }
        self.learners = learners;
        Ok(self)
    }

    getters! {
        /// What is declared about rows.
        pub schema(&schema) -> &Arc<Schema>;
        /// How a row becomes numbers.
        pub features(&features) -> &Features;
        /// What is computed from them.
        pub statistic(&statistic) -> &Statistic;
        /// What earlier rounds found.
        pub learners(&learners) -> &[Learner];
        /// How many classes the label has; zero without one.
        pub classes(classes) -> usize;
    }

    /// How long the vector is; zero if a cell is sent.
    pub fn width(&self) -> usize {
        self.statistic.width(self.features.dimension(), self.classes)
    }

    /// How many columns a cell is one of, and how many categories the largest of them has together with the label; none for vectors.
    pub fn cells(&self) -> Option<(usize, usize)> {
        let bins = self
            .features
            .places()
            .map(|(feature, _)| self.bins(feature))
            .max();
        let cells = (self.features.names().count(), bins? * self.classes);
        (self.statistic == Statistic::Cell).then_some(cells)
    }

    /// Bins or values of one of the schema's features, without slots for what is missing or not declared.
    pub fn bins(&self, feature: usize) -> usize {
        match self.schema.features().nth(feature).map(|column| &column.kind) {
            Some(Kind::Number(number)) => number.cuts().bins(),
            Some(Kind::Ordinal(it) | Kind::Category(it) | Kind::Flag(it)) => it.values().len(),
            _ => 1,
        }
    }

    /// How rows are read: with the values of numbers, and labels if they are part of what is sent.
    pub fn reads(&self) -> Intake {
        let schema = Arc::clone(&self.schema);
        match self.statistic.needs_labels() {
            true => Intake::everything(schema, Keep::Values),
            false => Intake::features_only(schema, Keep::Values),
        }
    }

    /// That a table was read by [`reads`](Self::reads).
    ///
    /// # Errors
    /// [`Error::Misuse`] if it was not.
    pub(super) fn check(&self, table: &Table) -> Result<(), Error> {
        table.is_of(&self.schema, "what the campaign's `encoding().reads()` gives")?;
        match self.statistic.needs_labels() {
            true => table.is_whole(Keep::Values),
            false => Ok(()),
        }
    }

    /// The vector of a table.
    pub(super) fn vector_of(&self, table: &Table) -> Private<Vec<f64>> {
        table.cells().as_ref().map(|cells| self.vector(cells))
    }

    /// The cell of each column, of the row that `draw` chooses: a uniform number.
    pub(super) fn cells_of(&self, table: &Table, draw: u64) -> Private<Vec<usize>> {
        table.cells().as_ref().map(|cells| self.cells_of_row(cells, draw))
    }

    /// φ of all rows, one after another, and their labels.
    pub fn rows(&self, cells: &Cells) -> (Vec<f64>, Vec<u16>) {
        let mut values = Vec::with_capacity(cells.rows() * self.features.dimension());
        for row in 0..cells.rows() {
            self.features.row(cells, row, &mut values);
        }
        let labels = match cells.target() {
            Some(Target::Classes(classes)) => classes.clone(),
            _ => Vec::new(),
        };
        (values, labels)
    }

    /// The vector of all rows.
    pub fn vector(&self, cells: &Cells) -> Vec<f64> {
        let (values, labels) = self.rows(cells);
        let share = 1.0 / cells.rows().max(1) as f64;
        let even = vec![share; cells.rows()];
        let rows = Rows {
            dimension: self.features.dimension(),
            values: &values,
            labels: &labels,
            weights: &even,
            classes: self.classes,
        };
        if self.learners.is_empty() {
            return self.statistic.vector(&rows);
        }
        let weights = row_weights(&self.learners, &rows);
        self.statistic.vector(&Rows {
            weights: &weights,
            ..rows
        })
    }

    /// (bin, label) for each column of one row, as bin · classes + label. What is missing or not declared counts as the middle bin of
    /// a number and as the first value of anything else. Without rows, any category is as good as another.
    fn cells_of_row(&self, cells: &Cells, draw: u64) -> Vec<usize> {
        let (_, categories) = self.cells().unwrap_or((0, 1));
        let rows = cells.rows();
        if rows == 0 {
            let any = below(draw, categories);
            return vec![any; self.features.names().count()];
        }
        self.cells_at(cells, below(draw, rows))
    }

    /// The same of one row.
    pub(super) fn cells_at(&self, cells: &Cells, row: usize) -> Vec<usize> {
        let label = match cells.target() {
            Some(Target::Classes(classes)) => usize::from(classes[row]),
            _ => 0,
        };
        let cell = |feature: usize| {
            let bins = self.bins(feature);
            let slot = usize::from(cells.features()[feature].bins.get(row));
            let is_number = matches!(
                self.schema.features().nth(feature).map(|column| &column.kind),
                Some(Kind::Number(_))
            );
            let bin = match slot {
                slot if slot < bins => slot,
                _ if is_number => bins / 2,
                _ => 0,
            };
            bin * self.classes + label
        };
        self.features.places().map(|(feature, _)| cell(feature)).collect()
    }

    /// Reads `[schema]`, `[encoding]` and `[[learner]]` of a campaign's file.
    pub(super) fn read(document: &Document, root: &Section<'_>) -> Option<Self> {
        let schema = root.required_section("schema", "dataset = \"steps\"");
        let section = root.section("encoding")?;
        let chosen = section.required_choice("statistic", &STATISTICS);
        let before = root.findings();
        let schema = Schema::in_document(document, schema?);
        if root.findings() > before {
            return None;
        }
        let features = Features::read(&section, &schema);
        let statistic = match chosen?.value {
            Statistic::Gradient { .. } => Statistic::Gradient {
                at: section.numbers("at").map_or_else(Vec::new, |at| at.value),
            },
            Statistic::Classifier { .. } => Statistic::Classifier {
                ridge: section.required_number("ridge", "0.1")?.value,
            },
            Statistic::Errors { .. } => Statistic::Errors {
                scores: section
                    .numbers("scores")
                    .map_or_else(Vec::new, |scores| scores.value),
            },
            other => other,
        };
        let learner = |section: Section<'_>| {
            let alpha = section.required_number("alpha", "0.7");
            let scores = section.numbers("scores");
            if scores.is_none() {
                section.finding("scores is missing; add one for each class and coordinate");
            }
            Some(Learner {
                alpha: alpha?.value,
                scores: scores.map(|Found { value, .. }| value)?,
            })
        };
        let learners: Option<Vec<Learner>> = root.list("learner").into_iter().map(learner).collect();
        let (features, learners) = (features?, learners?);
        let made = Self::new(schema, features, statistic).and_then(|made| made.after(learners));
        made.inspect_err(|e| section.finding(e.to_string())).ok()
    }

    /// The sections of a campaign's file from which the same is read.
    pub(super) fn write(&self) -> String {
        let is_same = |(_, other): &&(&str, Statistic)| {
            std::mem::discriminant(other) == std::mem::discriminant(&self.statistic)
        };
        let name = STATISTICS.iter().find(is_same).map_or("", |(name, _)| name);
        let (mut keys, mut sections) = (
            format!("\n[encoding]\nstatistic = {}\n", quoted(name)),
            String::new(),
        );
        match &self.statistic {
            Statistic::Gradient { at } => keys += &format!("at = {}\n", numbers(at)),
            Statistic::Classifier { ridge } => keys += &format!("ridge = {}\n", number(*ridge)),
            Statistic::Errors { scores } => keys += &format!("scores = {}\n", numbers(scores)),
            _ => {}
        }
        self.features.write(&mut keys, &mut sections);
        for Learner { alpha, scores } in &self.learners {
            let (alpha, scores) = (number(*alpha), numbers(scores));
            sections += &format!("\n[[learner]]\nalpha = {alpha}\nscores = {scores}\n");
        }
        format!("\n[schema]\n{}{keys}{sections}", nested(&self.schema.to_toml()))
    }
}

/// A schema's text within `[schema]`.
fn nested(text: &str) -> String {
    text.replace("\n[file]", "\n[schema.file]")
        .replace("\n[columns]", "\n[schema.columns]")
}

/// A number below `n` from a uniform one.
fn below(draw: u64, n: usize) -> usize {
    ((u128::from(draw) * n as u128) >> 64) as usize
}
