//! A schema in code: everything that `schema.toml` can say, with the same checks and the same sentences.

use std::num::NonZeroU32;

use super::read::{MOST_SLOTS, hidden_dataset, rows_per_unit, too_many_slots};
use super::spec::ColumnSpec;
use super::{Column, Layout, Schema, Unit};
use crate::Error;
use crate::error::{DataError, Finding};

/// A column that is declared here, or one of another schema as it is.
#[derive(Debug, Clone)]
pub enum AnyColumn {
    /// To be checked.
    New(ColumnSpec),
    /// As another schema has it.
    Known(Column),
}

impl From<ColumnSpec> for AnyColumn {
    fn from(column: ColumnSpec) -> Self {
        Self::New(column)
    }
}

impl From<Column> for AnyColumn {
    fn from(column: Column) -> Self {
        Self::Known(column)
    }
}

/// A schema that is being written in code, from [`Schema::builder`].
#[derive(Debug, Clone)]
#[must_use]
pub struct SchemaBuilder {
    dataset: String,
    unit: Option<String>,
    rows: u32,
    layout: Layout,
    missing: Vec<String>,
    columns: Vec<AnyColumn>,
    /// Whether the data set's name was accepted before.
    known: bool,
}

impl Schema {
    /// A schema in code. `dataset` is the name under which a ledger keeps the budget.
    ///
    /// ```
    /// use privet::data::Schema;
    /// use privet::data::schema::{category, flag, id, label, number};
    ///
    /// let schema = Schema::builder("clinic")
    ///     .columns([
    ///         id("patient"),
    ///         number("age", 0..=120),
    ///         category("ward", ["surgery", "cardiology"]).private(false),
    ///         flag("smokes"),
    ///         label("ill", ["no", "yes"]),
    ///     ])
    ///     .unit("patient")
    ///     .rows_per_unit(3)
    ///     .build()?;
    /// assert_eq!(Schema::from_toml("schema.toml", &schema.to_toml())?, schema);
    /// # Ok::<(), privet::Error>(())
    /// ```
    pub fn builder(dataset: impl Into<String>) -> SchemaBuilder {
        SchemaBuilder {
            dataset: dataset.into(),
            unit: None,
            rows: 1,
            layout: Layout::default(),
            missing: Self::MISSING.map(String::from).to_vec(),
            columns: Vec::new(),
            known: false,
        }
    }

    /// The same schema with other columns.
    ///
    /// # Errors
    /// As [`SchemaBuilder::build`].
    pub fn with_columns(&self, columns: impl IntoIterator<Item = Column>) -> Result<Self, Error> {
        let mut builder = Self::builder(&self.dataset)
            .layout(self.layout)
            .missing(self.missing.iter().cloned())
            .columns(columns)
            .rows_per_unit(self.unit.rows.get());
        builder.unit.clone_from(&self.unit.column);
        builder.known = true;
        builder.build()
    }
}

impl SchemaBuilder {
    /// Adds columns. A table without names has them in this order.
    pub fn columns<C: Into<AnyColumn>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.columns.extend(columns.into_iter().map(Into::into));
        self
    }

    /// The unit column, which identifies people; without one, each row is a person.
    pub fn unit(mut self, column: impl Into<String>) -> Self {
        self.unit = Some(column.into());
        self
    }

    /// How many rows of one person are kept, at most: the first ones.
    pub fn rows_per_unit(mut self, rows: u32) -> Self {
        self.rows = rows;
        self
    }

    /// The texts that mean "missing", instead of [`Schema::MISSING`].
    pub fn missing<T: Into<String>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        self.missing = texts.into_iter().map(Into::into).collect();
        self
    }

    /// How the table is written as text.
    pub fn layout(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// The schema.
    ///
    /// # Errors
    /// [`Error::Data`] with everything that is wrong.
    pub fn build(self) -> Result<Schema, Error> {
        let mut faults = Vec::new();
        if !self.known {
            faults.extend(hidden_dataset(&self.dataset));
        }
        let rows = rows_per_unit(self.rows.into()).unwrap_or_else(|why| {
            faults.push(why);
            NonZeroU32::MIN
        });
        let (mut columns, mut slots) = (Vec::with_capacity(self.columns.len()), 0);
        for column in self.columns {
            if let Some(why) = too_many_slots(slots, MOST_SLOTS) {
                faults.push(why);
                break;
            }
            match column {
                AnyColumn::Known(column) => columns.push(column),
                AnyColumn::New(spec) => match spec.column() {
                    Ok(column) => columns.push(column),
                    Err(why) => {
                        faults.extend(why);
                        continue;
                    }
                },
            }
            slots += columns.last().map_or(0, |column| column.kind.slots());
        }
        let unit = Unit {
            column: self.unit,
            rows,
        };
        let whole = faults.is_empty();
        let schema = Schema {
            dataset: self.dataset,
            unit,
            layout: self.layout,
            missing: self.missing,
            columns,
        };
        // A column that could not be made may be the one that is wanted.
        let found = schema.faults().into_iter();
        let found = found.filter(|(place, _)| whole || !place.wants_a_column());
        faults.extend(found.map(|(_, why)| why));
        match faults.len() {
            0 => Ok(schema),
            1 => Err(Error::data(faults.remove(0))),
            _ => {
                let findings = faults.into_iter().map(Finding::somewhere).collect();
                Err(Error::Data(DataError::all("the schema", findings)))
            }
        }
    }
}
