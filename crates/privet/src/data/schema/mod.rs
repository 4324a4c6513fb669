//! What the owner of a table declares about it, from public knowledge.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `kind` | what a column can hold |
//! | `alike` | what schemas of several parties must say alike |
//! | `build`, `spec` | a schema in code, and its columns |
//! | `check` | what does not fit together |
//! | `read`, `column`, `write` | `schema.toml`, from text and to text |
//! | `draft` | a schema to be filled in, from names and types only |
//! | `codebook` | what is publicly known of columns, by name or pattern |
//! | `explain` | a schema in plain words |
//!
//! It takes nothing from rows: a bound that is not declared is an error, never a guess.

pub(crate) mod alike;
mod build;
mod check;
mod codebook;
mod column;
mod draft;
mod explain;
mod kind;
mod read;
mod spec;
mod transform;
mod write;

use std::num::NonZeroU32;

pub use build::{AnyColumn, SchemaBuilder};
pub use codebook::CodeBook;
pub use draft::{ColumnGuess, DraftColumn, draft, line_to_add};
pub use kind::{Declared, Extras, Kind, Label, Number, Spacing};
pub(crate) use read::MOST_SLOTS_OF_PEER;
pub use spec::{
    Bound, ColumnSpec, Domain, Fill, category, date, flag, id, label, number, ordinal, skip, weight,
};
pub use transform::{Transform, Units};

use crate::Error;
use crate::data::document;
use crate::error::Subject;
use crate::privacy::{Relation, getters};

/// The public description of a table: its name, its columns, and who is protected.
///
/// It can be published: nothing in it may come from the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Schema {
    dataset: String,
    unit: Unit,
    layout: Layout,
    missing: Vec<String>,
    columns: Vec<Column>,
}

/// Who is one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The unit column, which identifies people; without one, each row is a person.
    pub column: Option<String>,
    /// How many rows of one person are kept, at most: the first ones in the file.
    pub rows: NonZeroU32,
}

impl Default for Unit {
    fn default() -> Self {
        Self {
            column: None,
            rows: NonZeroU32::MIN,
        }
    }
}

/// How the table is written as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Whether the first line has the columns' names. Without it, columns come in the schema's order.
    pub header: bool,
    /// What stands between cells.
    pub delimiter: u8,
    /// What goes around cells that contain delimiters.
    pub quote: u8,
    /// What begins a line that is not read.
    pub comment: Option<u8>,
    /// What stands before the fraction of a number: a point or a comma.
    pub decimal: u8,
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            header: true,
            delimiter: b',',
            quote: b'"',
            comment: None,
            decimal: b'.',
        }
    }
}

/// One declared column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its name, as in the file's first line.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// Whether what it says about a person is to be protected.
    pub private: bool,
    /// The unit of measure, for people.
    pub measure: Option<String>,
}

impl Column {
    /// Whether it is public under a budget.
    pub(crate) fn is_public(&self, relation: &Relation) -> bool {
        match relation {
            Relation::ReplacePrivate { columns, .. } => !self.private && !columns.contains(&self.name),
            Relation::AddRemove { .. } | Relation::Replace { .. } | Relation::Owner => false,
        }
    }
}

impl Schema {
    /// Texts that mean "missing" if the schema names none.
    pub const MISSING: [&str; 6] = ["", "?", "NA", "NaN", "nan", "null"];

    getters! {
        /// The data set's name: the ledger keeps its budget under it.
        pub dataset(&dataset) -> &str;
        /// Who is one person.
        pub unit(&unit) -> &Unit;
        /// How the table is written as text.
        pub layout(layout) -> Layout;
        /// Texts that mean "missing".
        pub missing(&missing) -> &[String];
        /// All columns, in the order in which they are declared.
        pub columns(&columns) -> &[Column];
    }

    /// The columns that a model may use, in order: a feature's number is its place here.
    pub fn features(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().filter(|column| column.kind.is_feature())
    }

    /// Checks that there is a column to learn from.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is none.
    pub(crate) fn has_features(&self) -> Result<(), Error> {
        match self.features().next() {
            Some(_) => Ok(()),
            None => Err(Error::parameter(
                Subject::Schema,
                "the schema declares no column to learn from: add one to its [columns], such as age = { type = \"integer\", min = 0, \
                 max = 120 }",
            )),
        }
    }

    /// What is to be predicted, and its column's name.
    pub fn label(&self) -> Option<(&Column, &Label)> {
        self.columns.iter().find_map(|column| match &column.kind {
            Kind::Label(label) => Some((column, label)),
            _ => None,
        })
    }

    /// The column that says how much a row counts in training, and the largest weight.
    pub fn weight(&self) -> Option<(&Column, f64)> {
        self.columns.iter().find_map(|column| match column.kind {
            Kind::Weight(max) => Some((column, max)),
            _ => None,
        })
    }

    /// Checks that rows have no weights, for what does not weigh them.
    ///
    /// # Errors
    /// [`Error::Parameter`] if a column declares some.
    pub(crate) fn has_no_weights(&self, what: &str) -> Result<(), Error> {
        let Some((column, _)) = self.weight() else {
            return Ok(());
        };
        let why = format!(
            "column '{}' declares weights of rows, and {what} counts every row alike: weights are for algorithm = \"trees\" of setting = \
             \"central\", and for setting = \"plain\". Use one of these, or write {} = {{ type = \"skip\" }}",
            column.name,
            document::key(&column.name)
        );
        Err(Error::parameter(Subject::Schema, why))
    }

    /// Whom the schema protects: a person as a whole if every column that is read is private, else the private columns.
    pub fn relation(&self) -> Relation {
        let Unit { column: unit, rows } = self.unit.clone();
        let mut read = self
            .columns
            .iter()
            .filter(|c| !matches!(c.kind, Kind::Id | Kind::Skip));
        if read.all(|column| column.private) {
            return Relation::AddRemove { rows, unit };
        }
        let private = self.columns.iter().filter(|column| column.private);
        let columns = private.map(|column| column.name.clone()).collect();
        Relation::ReplacePrivate { rows, unit, columns }
    }

    /// The relation where rows are matched one by one, so that their number is public: a unit is then replaced, not added or removed.
    pub fn replaced(&self) -> Relation {
        match self.relation() {
            Relation::AddRemove { rows, unit } => Relation::Replace { rows, unit },
            other => other,
        }
    }

    /// Why rows of this schema cannot be given to a model of `other`, if they cannot: features and label must be declared alike,
    /// in the same order. Who is protected, and how the file is written, may differ.
    pub fn differs(&self, other: &Self) -> Option<String> {
        let mine = self.features().chain(self.label().map(|(column, _)| column));
        let mut theirs = other.features().chain(other.label().map(|(column, _)| column));
        for column in mine {
            match theirs.next() {
                Some(there) if there.name == column.name && there.kind == column.kind => {}
                Some(there) if there.name == column.name => {
                    return Some(format!(
                        "column '{}' is declared otherwise than in the model",
                        column.name
                    ));
                }
                Some(there) => {
                    return Some(format!(
                        "column '{}' stands where the model has '{}'",
                        column.name, there.name
                    ));
                }
                None => return Some(format!("the model does not know the column '{}'", column.name)),
            }
        }
        theirs
            .next()
            .map(|column| format!("column '{}' of the model is not declared", column.name))
    }

    /// The same schema for a data set of another name.
    #[must_use]
    pub fn of_dataset(&self, dataset: &str) -> Self {
        Self {
            dataset: dataset.to_owned(),
            ..self.clone()
        }
    }

    /// The same schema with a model's bins for numbers of which it says nothing about bins: rows are given to a model in the bins
    /// that it was trained with.
    #[must_use]
    pub fn with_bins_of(&self, model: &Self) -> Self {
        let mut read = self.clone();
        for column in &mut read.columns {
            let there = model.features().find(|there| there.name == column.name);
            if let (Kind::Number(number), Some(Kind::Number(theirs))) =
                (&mut column.kind, there.map(|there| &there.kind))
                && number.is_up_to_bins(theirs)
            {
                *number = theirs.clone();
            }
        }
        read
    }

    /// The same schema with bins for numbers of unknown distribution, where it declares none.
    #[must_use]
    pub fn spread(&self) -> Self {
        self.with_numbers(Number::spread)
    }

    /// The same, and finer where single values of a number may matter.
    pub(crate) fn finer(&self) -> Self {
        self.with_numbers(|number| number.finer().unwrap_or_else(|| number.spread()))
    }

    fn with_numbers(&self, cut: impl Fn(&Number) -> Number) -> Self {
        let mut schema = self.clone();
        for column in &mut schema.columns {
            if let Kind::Number(number) = &mut column.kind {
                *number = cut(number);
            }
        }
        schema
    }

    /// The same schema with at most `bins` bins for each number without declared bins.
    #[must_use]
    pub fn coarse(&self, bins: u16) -> Self {
        self.with_numbers(|number| number.coarse(bins))
    }

    /// Whether a budget protects everybody whom the schema names: no fewer columns, no smaller units, the same people.
    ///
    /// # Errors
    /// [`Error::Misuse`] if it does not.
    pub fn covered_by(&self, relation: &Relation) -> Result<(), Error> {
        let wanted = self.relation();
        let columns = match (&wanted, relation) {
            (
                Relation::ReplacePrivate { columns: wanted, .. },
                Relation::ReplacePrivate { columns: given, .. },
            ) => wanted.is_subset(given),
            (_, Relation::ReplacePrivate { .. }) => false,
            _ => true,
        };
        // Whoever could change the column that tells people apart would change which rows are kept.
        let apart = match (relation, relation.unit()) {
            (Relation::ReplacePrivate { columns, .. }, Some(unit)) => !columns.contains(unit),
            _ => true,
        };
        if columns && apart && relation.rows() >= wanted.rows() && relation.unit() == wanted.unit() {
            return Ok(());
        }
        Err(Error::misuse(format!(
            "the schema protects the case that {wanted}, the budget is for the case that {relation}"
        )))
    }

    /// Whether any column is private.
    pub fn is_private(&self) -> bool {
        self.columns.iter().any(|column| column.private)
    }

    /// The same columns without anything that tells people apart: what a party sends of them.
    pub(crate) fn alone(&self) -> Self {
        let columns = self.columns.iter().filter(|column| column.kind.is_feature());
        Self {
            unit: Unit::default(),
            columns: columns.cloned().collect(),
            ..self.clone()
        }
    }

    /// The part of it with the columns that `keep` names; a party of a simulation may have the label and nothing else.
    pub(crate) fn select(&self, keep: impl Fn(&Column) -> bool) -> Result<Self, Error> {
        let columns: Vec<Column> = self
            .columns
            .iter()
            .filter(|column| keep(column))
            .cloned()
            .collect();
        if !columns
            .iter()
            .any(|column| column.kind.is_feature() || matches!(column.kind, Kind::Label(_)))
        {
            return Err(Error::parameter(
                Subject::Schema,
                "a party must have a feature or the label",
            ));
        }
        Ok(Self {
            columns,
            ..self.clone()
        })
    }
}
