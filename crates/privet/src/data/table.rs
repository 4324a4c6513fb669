//! Tables: rows as private columns.

use std::collections::HashMap;
use std::sync::Arc;

use super::column::{CellRule, ColumnBuilder, Taken};
use super::feature::{Feature, Names, Target, pick};
use super::fingerprint::{ColumnHash, Fingerprint, Points};
use super::schema::{Column, Kind, Schema};
use super::tally::{Tally, TallyRule};
use crate::Error;
use crate::error::Subject;
use crate::privacy::{Private, getters};

/// A table: its schema, which is public, and its cells, which are private. The number of rows is private, too.
#[derive(Clone)]
pub struct Table {
    schema: Arc<Schema>,
    cells: Private<Cells>,
    read: Read,
    fingerprint: Option<Fingerprint>,
    tallies: Option<Private<Vec<Tally>>>,
}

/// How a table was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Read {
    keep: Keep,
    /// Labels, and the column that tells people apart.
    with_label: bool,
    /// Ids, by which rows are matched.
    with_ids: bool,
    /// By one intake alone.
    alone: bool,
}

impl Table {
    /// The table whose pieces were read one after another.
    ///
    /// Of each unit the first rows are kept, as many as the schema says: a rule that looks at that unit's rows only.
    pub fn new(intake: &Intake, pieces: Vec<Piece>) -> Self {
        let schema = Arc::clone(&intake.schema);
        let rows_per_unit = schema.unit().rows.get();
        let hashed = intake.rules.iter().any(|rule| matches!(rule, CellRule::Hash(_)));
        let fingerprint = hashed.then(|| Fingerprint::of(joined_hashes(&pieces)));
        let read = Read {
            keep: intake.keep,
            with_label: intake.with_label,
            with_ids: intake.ids.is_some(),
            alone: pieces.iter().all(|piece| Arc::ptr_eq(&piece.mark, &intake.mark)),
        };
        let tallied = intake.rules.iter().any(|rule| matches!(rule, CellRule::Tally(_)));
        let tallies = tallied.then(|| Private::new(joined_tallies(&pieces)));
        let cells = Private::new(pieces).map(|pieces| Cells::join(pieces, rows_per_unit));
        Self {
            schema,
            cells,
            read,
            fingerprint,
            tallies,
        }
    }

    /// Other rows of such a table, or other columns of its rows.
    pub(super) fn with(&self, schema: Arc<Schema>, cells: Private<Cells>) -> Self {
        Self {
            schema,
            cells,
            read: self.read,
            fingerprint: None,
            tallies: None,
        }
    }

    /// Whether it was read with the ids of its rows.
    pub(crate) fn has_ids(&self) -> bool {
        self.read.with_ids
    }

    pub(super) fn keeps_values(&self) -> bool {
        self.read.keep == Keep::Values
    }

    /// Checks that it was read with a plan's schema; `reads` says how to do so.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it was not.
    pub(crate) fn is_of(&self, schema: &Schema, reads: &str) -> Result<(), Error> {
        if self.schema() == schema {
            return Ok(());
        }
        let why = "the table was read with another schema than the plan's: read it with";
        Err(Error::misuse(format!("{why} {reads}")))
    }

    /// Checks that it was read whole, by one intake: with labels, with the unit column (without it a person would keep more rows
    /// than the schema says), and with the values of numbers, if `keep` asks for them.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it was not.
    pub(crate) fn is_whole(&self, keep: Keep) -> Result<(), Error> {
        let Read {
            keep: kept,
            with_label,
            alone,
            ..
        } = self.read;
        let hashed = self.fingerprint.is_some() || self.tallies.is_some();
        if with_label && alone && !hashed && (keep == Keep::Bins || kept == Keep::Values) {
            return Ok(());
        }
        Err(Error::misuse(
            "the table was not read with all that is asked for: read it with what the plan's `reads` gives",
        ))
    }

    getters! {
        /// Its fingerprint, if it was read by [`Intake::recognising`].
        pub fingerprint(fingerprint.as_ref()) -> Option<&Fingerprint>;
        /// Its public description.
        pub schema(&schema) -> &Schema;
        pub(super) shared_schema(&schema) -> &Arc<Schema>;
        /// Its cells.
        pub cells(&cells) -> &Private<Cells>;
    }

    /// How many cells of each column that is read fit the schema, in its order, if the table was read by [`Intake::tallying`].
    pub fn into_tallies(self) -> Option<Private<Vec<Tally>>> {
        self.tallies
    }

    /// Its cells, by value.
    pub fn into_cells(self) -> Private<Cells> {
        self.cells
    }
}

/// The hashes of each column, joined in the order of the pieces.
fn joined_hashes(pieces: &[Piece]) -> impl Iterator<Item = ColumnHash> {
    let columns = pieces.first().map_or(0, |piece| piece.hashes.len());
    (0..columns).filter_map(|place| {
        let mut parts = pieces.iter().map(|piece| &piece.hashes[place]);
        let first = parts.next()?.clone();
        Some(parts.fold(first, ColumnHash::then))
    })
}

/// The counts of each column over all pieces.
fn joined_tallies(pieces: &[Piece]) -> Vec<Tally> {
    let columns = pieces.first().map_or(0, |piece| piece.tallies.len());
    let mut all = vec![Tally::default(); columns];
    for piece in pieces {
        all.iter_mut()
            .zip(&piece.tallies)
            .for_each(|(sum, part)| sum.append(part));
    }
    all
}

/// The cells of a table, column by column.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Cells {
    pub(super) rows: usize,
    pub(super) features: Vec<Feature>,
    pub(super) target: Option<Target>,
    /// How much each row counts, if the schema has a column of weights.
    pub(super) weights: Option<Vec<f32>>,
    /// The unit of each row, if the schema has a unit column.
    pub(super) units: Option<Vec<u32>>,
    /// The id of each row, if rows are to be matched with another party's.
    pub(super) ids: Option<Names>,
}

impl Cells {
    getters! {
        /// How many rows there are.
        pub rows(rows) -> usize;
        /// The features, in the schema's order.
        pub features(&features) -> &[Feature];
        /// The labels, if they were read.
        pub target(target.as_ref()) -> Option<&Target>;
        /// How much each row counts in training, if the schema has a column of weights and they were read.
        pub weights(weights.as_deref()) -> Option<&[f32]>;
        /// The unit of each row, if the schema has a unit column.
        pub units(units.as_deref()) -> Option<&[u32]>;
        /// The id of each row, if [`Intake::aligned_by`] asked for them.
        pub ids(ids.as_ref()) -> Option<&Names>;
    }

    /// Rows that were put together from columns of different origin.
    ///
    /// # Errors
    /// [`Error::Internal`] if columns have different lengths.
    pub(crate) fn joined(rows: usize, features: Vec<Feature>, target: Option<Target>) -> Result<Self, Error> {
        let lengths = features.iter().map(|feature| feature.bins.len());
        if lengths
            .chain(target.as_ref().map(Target::len))
            .any(|length| length != rows)
        {
            return Err(Error::internal("all joined columns have the same number of rows"));
        }
        Ok(Self {
            rows,
            features,
            target,
            ..Self::default()
        })
    }

    /// The rows of all, one after another, without their ids; no unit is in two parts.
    pub(super) fn appended(parts: &[&Self]) -> Self {
        let rows = parts.iter().map(|part| part.rows).sum();
        let features = parts.first().map_or(0, |part| part.features.len());
        let feature = |place: usize| parts.iter().map(move |part| part.features[place].clone());
        let mut next = 0;
        let units = parts.iter().map(|part| {
            let first = next;
            next += part.units.iter().flatten().max().map_or(0, |last| last + 1);
            let units = part.units.as_ref()?;
            Some(units.iter().map(|unit| first + unit).collect::<Vec<u32>>())
        });
        let units: Option<Vec<Vec<u32>>> = units.collect();
        Self {
            rows,
            features: (0..features)
                .map(|place| Feature::join(rows, feature(place)))
                .collect(),
            target: Target::join(rows, parts.iter().map(|part| part.target.clone())),
            weights: parts
                .iter()
                .map(|part| part.weights.clone())
                .collect::<Option<Vec<_>>>()
                .map(|weights| weights.concat()),
            units: units.map(|units| units.concat()),
            ids: None,
        }
    }

    /// These rows, in this order.
    pub(crate) fn take(&self, rows: &[u32]) -> Self {
        Self {
            rows: rows.len(),
            features: self
                .features
                .iter()
                .map(|feature| Feature {
                    bins: feature.bins.take(rows),
                    scaled: feature.scaled.as_ref().map(|scaled| pick(scaled, rows)),
                })
                .collect(),
            target: self.target.as_ref().map(|target| match target {
                Target::Classes(classes) => Target::Classes(pick(classes, rows)),
                Target::Numbers(numbers) => Target::Numbers(pick(numbers, rows)),
            }),
            weights: self.weights.as_ref().map(|weights| pick(weights, rows)),
            units: self.units.as_ref().map(|units| pick(units, rows)),
            ids: self.ids.as_ref().map(|ids| ids.take(rows)),
        }
    }

    /// The same rows with other labels, where these are numbers.
    pub(crate) fn with_labels(&self, label: impl Fn(f64) -> f64) -> Self {
        let mut cells = self.clone();
        if let Some(Target::Numbers(numbers)) = &mut cells.target {
            numbers
                .iter_mut()
                .for_each(|number| *number = label(f64::from(*number)) as f32);
        }
        cells
    }

    /// Unprotected rows, which the caller provided and asks about.
    pub(crate) fn in_the_clear(pieces: Vec<Piece>) -> Self {
        Self::join(pieces, u32::MAX)
    }

    /// The id of each row; none where they were not asked for.
    pub(super) fn into_ids(self) -> Names {
        self.ids.unwrap_or_default()
    }

    /// Puts pieces together column by column, so that only one column at a time is there twice.
    fn join(mut pieces: Vec<Piece>, rows_per_unit: u32) -> Self {
        let rows = pieces.iter().map(|piece| piece.cells.rows).sum();
        let mut cells = Self {
            rows,
            ..Self::default()
        };
        let features = pieces.first().map_or(0, |piece| piece.cells.features.len());
        for place in 0..features {
            let parts = pieces
                .iter_mut()
                .map(|piece| std::mem::take(&mut piece.cells.features[place]));
            cells.features.push(Feature::join(rows, parts));
        }
        cells.target = Target::join(rows, pieces.iter_mut().map(|piece| piece.cells.target.take()));
        let weights = pieces.iter_mut().map(|piece| piece.cells.weights.take());
        let weights: Option<Vec<Vec<f32>>> = weights.collect();
        cells.weights = weights.filter(|all| !all.is_empty()).map(|all| all.concat());
        let ids: Option<Vec<Names>> = pieces.iter_mut().map(|piece| piece.ids.take()).collect();
        cells.ids = ids.filter(|ids| !ids.is_empty()).map(|ids| {
            let mut all = Names::default();
            ids.iter().for_each(|names| all.extend(names.iter()));
            all
        });
        let units: Option<Vec<Names>> = pieces.into_iter().map(|piece| piece.units).collect();
        match units.filter(|units| !units.is_empty()) {
            Some(units) => cells.first_rows(&units, rows_per_unit),
            None => cells,
        }
    }

    /// Numbers the units in the order in which they come, and keeps the first rows of each. Rows without an id are
    /// dropped: if they were one unit, adding a person could remove another's row.
    fn first_rows(mut self, units: &[Names], rows_per_unit: u32) -> Self {
        let mut known: HashMap<&[u8], (u32, u32)> = HashMap::new();
        let (mut kept, mut numbers) = (Vec::new(), Vec::with_capacity(self.rows));
        for (row, unit) in units.iter().flat_map(Names::iter).enumerate() {
            if unit.is_empty() {
                numbers.push(0);
                continue;
            }
            let next = known.len() as u32;
            let (number, seen) = known.entry(unit).or_insert((next, 0));
            *seen = seen.saturating_add(1);
            if *seen <= rows_per_unit {
                kept.push(row as u32);
            }
            numbers.push(*number);
        }
        self.units = Some(numbers);
        if kept.len() < self.rows {
            self.take(&kept)
        } else {
            self
        }
    }
}

/// What is kept of numbers besides their bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Keep {
    /// Bins only: all that trees need.
    #[default]
    Bins,
    /// Also where each number lies between its bounds: for learners that weigh and add.
    Values,
}

/// How the cells of a schema are read: prepared once, shared by threads.
pub struct Intake {
    schema: Arc<Schema>,
    rules: Vec<CellRule>,
    keep: Keep,
    with_label: bool,
    /// The index of the column by which rows are matched with another party's.
    ids: Option<usize>,
    /// The index of a column that was asked for by name, and is not the schema's.
    asked: Option<usize>,
    /// Tells its pieces from those of others.
    mark: Arc<()>,
}

impl Intake {
    /// Reads everything that a schema declares, in the bins that it declares: to show or compare tables. Rows to train on are
    /// read by what their plan asks for (its method `reads`), which knows better bins where a schema says nothing about them.
    pub fn everything(schema: Arc<Schema>, keep: Keep) -> Self {
        Self::with(schema, keep, true)
    }

    /// Reads features only: to predict, neither label nor unit need be there.
    pub fn features_only(schema: Arc<Schema>, keep: Keep) -> Self {
        Self::with(schema, keep, false)
    }

    /// The same without weights of rows, which need not be there then: every row counts alike.
    #[must_use]
    pub fn without_weights(mut self) -> Self {
        for (rule, column) in self.rules.iter_mut().zip(self.schema.columns()) {
            if matches!(column.kind, Kind::Weight(_)) {
                *rule = CellRule::Ignore;
            }
        }
        self
    }

    fn with(schema: Arc<Schema>, keep: Keep, with_label: bool) -> Self {
        let rules = schema
            .columns()
            .iter()
            .map(
                |column| match CellRule::of(&schema, column, keep == Keep::Values) {
                    CellRule::Class(_) | CellRule::Target { .. } | CellRule::Ids(_) if !with_label => {
                        CellRule::Ignore
                    }
                    rule => rule,
                },
            )
            .collect();
        Self {
            schema,
            rules,
            keep,
            with_label,
            ids: None,
            asked: None,
            mark: Arc::new(()),
        }
    }

    /// Keeps nothing, and hashes the columns that [`Intake::everything`] would read, as far as they are there, to recognise the table by. What is
    /// read this way is a table without cells: [`Table::fingerprint`].
    pub fn recognising(schema: Arc<Schema>, points: Points) -> Self {
        let mut intake = Self::everything(schema, Keep::Bins);
        for rule in &mut intake.rules {
            if !matches!(rule, CellRule::Ignore) {
                *rule = CellRule::Hash(points);
            }
        }
        intake
    }

    /// Keeps nothing, and counts the cells of every column that [`Intake::everything`] would read by what becomes of them: for the owner
    /// alone, who may want to know before training. What is read this way is a table without cells: [`Table::into_tallies`].
    pub fn tallying(schema: Arc<Schema>) -> Self {
        let mut intake = Self::everything(schema, Keep::Bins);
        for (rule, column) in intake.rules.iter_mut().zip(intake.schema.columns()) {
            if !matches!(rule, CellRule::Ignore) {
                *rule = CellRule::Tally(Box::new(TallyRule::of(&intake.schema, column)));
            }
        }
        intake
    }

    /// Reads the cells of one column as they are written, and nothing else: to copy them beside what is computed for each row. The column
    /// need not be declared, if the table has names.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is not declared and tables of this schema have no names.
    pub(super) fn texts_of(schema: &Schema, column: &str) -> Result<Self, Error> {
        let declared = schema.columns().iter().position(|c| c.name == column);
        if declared.is_none() && !schema.layout().header {
            let why = format!(
                "the table has no line with names, and the schema declares no column '{column}': name one that it declares"
            );
            return Err(Error::parameter(Subject::Schema, why));
        }
        let mut columns = schema.columns().to_vec();
        if declared.is_none() {
            columns.push(Column {
                name: column.to_owned(),
                kind: Kind::Id,
                private: false,
                measure: None,
            });
        }
        let place = declared.unwrap_or(columns.len() - 1);
        let mut intake = Self::features_only(Arc::new(schema.with_columns(columns)?), Keep::Bins);
        intake.rules.fill(CellRule::Ignore);
        intake.rules[place] = CellRule::Ids(Vec::new());
        intake.ids = Some(place);
        intake.asked = declared.is_none().then_some(place);
        Ok(intake)
    }

    /// Keeps the ids of the rows, too, to match them with another party's.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema has no such column, or it is not of type `id`.
    pub fn aligned_by(mut self, column: &str) -> Result<Self, Error> {
        let place = self.schema.columns().iter().position(|c| c.name == column);
        let place = place.filter(|place| self.schema.columns()[*place].kind == Kind::Id);
        let Some(place) = place else {
            let why = format!(
                "the schema has no column '{column}' of type id to match rows by: add {column} = {{ type = \"id\" }} to its [columns]"
            );
            return Err(Error::parameter(Subject::Schema, why));
        };
        self.rules[place] = CellRule::ids(&self.schema);
        self.ids = Some(place);
        Ok(self)
    }

    getters! {
        /// The schema.
        pub schema(&schema) -> &Schema;
        /// Whether labels are read.
        pub reads_labels(with_label) -> bool;
    }

    /// Whether the cells of the schema's column at `place` are looked at.
    pub fn reads(&self, place: usize) -> bool {
        self.rules
            .get(place)
            .is_some_and(|rule| !matches!(rule, CellRule::Ignore))
    }

    /// Whether a table must have this column.
    pub fn needs(&self, place: usize) -> bool {
        self.reads(place) && !matches!(self.rules[place], CellRule::Hash(_))
    }

    /// The column that the schema does not declare, and that was asked for by name.
    pub(super) fn asked(&self) -> Option<usize> {
        self.asked
    }

    /// Takes the cells of some rows: one builder for each column of the schema, in its order.
    pub fn columns(&self) -> Vec<ColumnBuilder<'_>> {
        self.rules.iter().map(ColumnBuilder::new).collect()
    }

    /// The rows that the builders took.
    ///
    /// # Errors
    /// [`Error::Misuse`] if they took different numbers of cells.
    pub fn piece(&self, columns: Vec<ColumnBuilder<'_>>) -> Result<Piece, Error> {
        let mut lengths = columns.iter().filter_map(ColumnBuilder::rows);
        let rows = lengths.next().unwrap_or(0);
        if columns.len() != self.rules.len() || lengths.any(|length| length != rows) {
            return Err(Error::misuse("every column of a table takes as many cells"));
        }
        let own = |(column, rule): (&ColumnBuilder<'_>, &CellRule)| std::ptr::eq(column.rule, rule);
        if !columns.iter().zip(&self.rules).all(own) {
            return Err(Error::misuse("the columns were made by another intake"));
        }
        let mut piece = Piece {
            mark: Arc::clone(&self.mark),
            cells: Cells {
                rows,
                ..Cells::default()
            },
            units: None,
            ids: None,
            hashes: Vec::new(),
            tallies: Vec::new(),
        };
        for (place, column) in columns.into_iter().enumerate() {
            match column.taken {
                Taken::Feature(feature) => piece.cells.features.push(feature),
                Taken::Classes(classes) => piece.cells.target = Some(Target::Classes(classes)),
                Taken::Weights(weights) => piece.cells.weights = Some(weights),
                Taken::Numbers(numbers) => piece.cells.target = Some(Target::Numbers(numbers)),
                Taken::Ids(ids) => {
                    let is_unit =
                        self.schema.unit().column.as_ref() == Some(&self.schema.columns()[place].name);
                    let meets = self.ids == Some(place);
                    piece.ids = meets.then(|| ids.clone()).or(piece.ids);
                    piece.units = (is_unit && self.with_label).then_some(ids).or(piece.units);
                }
                Taken::Hash(hash) => piece.hashes.push(hash),
                Taken::Tally(tally) => piece.tallies.push(tally),
                Taken::Hashes(_) | Taken::Tallies(_) | Taken::Nothing => {}
            }
        }
        Ok(piece)
    }
}

/// Some rows of a table that is being read. No `Debug`: they are private.
pub struct Piece {
    mark: Arc<()>,
    cells: Cells,
    units: Option<Names>,
    ids: Option<Names>,
    hashes: Vec<ColumnHash>,
    tallies: Vec<Tally>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(text: &str) -> Cells {
        let schema = Schema::from_toml(
            "s",
            "dataset = \"d\"\nunit = \"who\"\nmissing = [\"\", \"NA\"]\n[columns]\nwho = { type = \"id\" }\n\
             x = { type = \"integer\", min = 0, max = 9 }\n",
        );
        let intake = Intake::everything(Arc::new(schema.expect("a schema")), Keep::Bins);
        let mut columns = intake.columns();
        for row in text.split(' ') {
            for (cell, column) in row.split(',').zip(&mut columns) {
                column.text(cell.as_bytes());
            }
        }
        Cells::join(vec![intake.piece(columns).expect("a piece")], 1)
    }

    /// The first row of each person; a person without an id is nobody, and comes and goes without touching others.
    #[test]
    fn one_person_more_moves_nobody_else() {
        let kept = |text| cells(text).features[0].bins.iter().collect::<Vec<_>>();
        assert_eq!(kept("a,1 b,2 a,3"), [1, 2]);
        assert_eq!(kept(",5 a,1 b,2 a,3"), [1, 2]);
        assert_eq!(kept("NA,5 a,1 ,6 b,2 NA,7"), [1, 2]);
        assert_eq!(cells("NA,5 a,1 b,2 a,4").units(), Some(&[0, 1][..]));
        assert_eq!(cells("NA,5").rows(), 0);
    }
}
