//! A schema in code: everything that `schema.toml` can say, with the same checks and the same sentences.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use super::column::{Type, default_privacy, scaled};
use super::read::{rows_per_unit, too_many_slots};
use super::{Column, Declared, Extras, Kind, Label, Layout, Number, Schema, Spacing, Transform, Unit};
use crate::Error;
use crate::data::document::wrong_fill;
use crate::error::{DataError, Finding};

/// A column to declare, from [`number`], [`category`] and the other functions here; [`SchemaBuilder::columns`] takes it.
///
/// What does not fit together is found by [`SchemaBuilder::build`].
#[derive(Debug, Clone)]
pub struct ColumnSpec {
    name: String,
    kind: Type,
    domain: Domain,
    extras: Extras,
    scale: Option<f64>,
    fill: Option<Fill>,
    private: Option<bool>,
    measure: Option<String>,
    /// The keys that were set and that only some types have.
    set: Vec<&'static str>,
}

/// A real number (`0.0..=1.5`) or a whole number (`0..=120`) between public bounds. Smaller and larger cells count as the bound.
///
/// ```
/// use privet::data::schema::{Schema, Transform, label, number};
///
/// let schema = Schema::builder("people")
///     .columns([
///         number("age", 0..=120).measure("years").private(false),
///         number("income", 0.0..=1e6).transform(Transform::Log1p(None)).scale(100.0),
///         label("ill", ["no", "yes"]),
///     ])
///     .build()?;
/// assert_eq!(schema.columns()[0].kind.name(), "integer");
/// # Ok::<(), privet::Error>(())
/// ```
pub fn number<T: Bound>(name: impl Into<String>, range: RangeInclusive<T>) -> ColumnSpec {
    let kind = if T::WHOLE { Type::Integer } else { Type::Number };
    ColumnSpec::new(name, kind, Domain::from(range))
}

/// One of these values, in no order.
pub fn category<V: Into<String>>(name: impl Into<String>, values: impl IntoIterator<Item = V>) -> ColumnSpec {
    ColumnSpec::new(name, Type::Category, Domain::values(values))
}

/// One of these values, from the lowest to the highest.
pub fn ordinal<V: Into<String>>(name: impl Into<String>, values: impl IntoIterator<Item = V>) -> ColumnSpec {
    ColumnSpec::new(name, Type::Ordinal, Domain::values(values))
}

/// No or yes, written as false and true or in one of the usual ways; see [`ColumnSpec::values`] for other words.
pub fn flag(name: impl Into<String>) -> ColumnSpec {
    ColumnSpec::new(name, Type::Flag, Domain::values(["false", "true"]))
}

/// What is to be predicted: classes (`["no", "yes"]`) or a number between public bounds (`0.0..=500.0`).
pub fn label(name: impl Into<String>, domain: impl Into<Domain>) -> ColumnSpec {
    ColumnSpec::new(name, Type::Label, domain.into())
}

/// Tells people or rows apart; never learnt from. [`SchemaBuilder::unit`] says whether it names people.
pub fn id(name: impl Into<String>) -> ColumnSpec {
    ColumnSpec::new(name, Type::Id, Domain::Nothing)
}

/// A column of the table that is not read.
pub fn skip(name: impl Into<String>) -> ColumnSpec {
    ColumnSpec::new(name, Type::Skip, Domain::Nothing)
}

/// What a cell may be: one of some values, or a number between bounds.
#[derive(Debug, Clone, PartialEq)]
pub enum Domain {
    /// One of these.
    Values(Vec<String>),
    /// A number between these.
    Range(f64, f64),
    /// Anything: it is not learnt from.
    Nothing,
}

impl Domain {
    fn values<V: Into<String>>(values: impl IntoIterator<Item = V>) -> Self {
        Self::Values(values.into_iter().map(Into::into).collect())
    }
}

impl<T: Bound> From<RangeInclusive<T>> for Domain {
    fn from(range: RangeInclusive<T>) -> Self {
        let (min, max) = range.into_inner();
        Self::Range(min.real(), max.real())
    }
}

impl<V: Into<String>, const N: usize> From<[V; N]> for Domain {
    fn from(values: [V; N]) -> Self {
        Self::values(values)
    }
}

impl<V: Into<String>> From<Vec<V>> for Domain {
    fn from(values: Vec<V>) -> Self {
        Self::values(values)
    }
}

/// A type of numbers that bounds can be given in.
pub trait Bound: Copy {
    /// Whether it has whole numbers only.
    const WHOLE: bool;

    /// The number, rounded to double precision.
    fn real(self) -> f64;
}

macro_rules! bounds {
    ($whole:literal: $($type:ty)*) => {$(
        impl Bound for $type {
            const WHOLE: bool = $whole;

            fn real(self) -> f64 {
                self as f64
            }
        }
    )*};
}

bounds!(true: i8 i16 i32 i64 u8 u16 u32 u64);
bounds!(false: f32 f64);

/// What a missing cell counts as.
#[derive(Debug, Clone, PartialEq)]
pub enum Fill {
    /// This number.
    Number(f64),
    /// This value.
    Value(String),
}

impl<T: Bound> From<T> for Fill {
    fn from(number: T) -> Self {
        Self::Number(number.real())
    }
}

impl From<&str> for Fill {
    fn from(value: &str) -> Self {
        Self::Value(value.into())
    }
}

impl ColumnSpec {
    fn new(name: impl Into<String>, kind: Type, domain: Domain) -> Self {
        Self {
            name: name.into(),
            kind,
            domain,
            extras: Extras::default(),
            scale: None,
            fill: None,
            private: None,
            measure: None,
            set: Vec::new(),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether what it says about a person is to be protected. Without this, every column but ids and skipped ones is.
    #[must_use]
    pub fn private(mut self, private: bool) -> Self {
        self.private = Some(private);
        self
    }

    /// The unit of measure, for people.
    #[must_use]
    pub fn measure(mut self, measure: impl Into<String>) -> Self {
        self.measure = Some(measure.into());
        self
    }

    /// What a missing cell counts as; without this it has a slot of its own.
    #[must_use]
    pub fn fill(mut self, fill: impl Into<Fill>) -> Self {
        self.fill = Some(fill.into());
        self.sets("fill")
    }

    /// The two words of a flag, or other values than were given before.
    #[must_use]
    pub fn values<V: Into<String>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.domain = Domain::values(values);
        self.sets("values")
    }

    /// How many bins a number has, of equal width on its scale.
    #[must_use]
    pub fn bins(mut self, bins: u16) -> Self {
        self.extras.bins = Some(bins);
        self.sets("bins")
    }

    /// The points between a number's bins, one by one.
    #[must_use]
    pub fn cuts(mut self, cuts: impl Into<Vec<f64>>) -> Self {
        self.extras.cuts = Some(cuts.into());
        self.sets("cuts")
    }

    /// Where the points between a number's bins lie.
    #[must_use]
    pub fn spacing(mut self, spacing: Spacing) -> Self {
        self.extras.spacing = spacing;
        self.sets("spacing")
    }

    /// The scale on which a number's bins have equal width.
    #[must_use]
    pub fn transform(mut self, transform: Transform) -> Self {
        self.extras.transform = transform;
        self.sets("transform")
    }

    /// The size around which a transform turns from even to logarithmic.
    #[must_use]
    pub fn scale(mut self, scale: f64) -> Self {
        self.scale = Some(scale);
        self.sets("scale")
    }

    fn sets(mut self, key: &'static str) -> Self {
        self.set.push(key);
        self
    }

    fn column(self) -> Result<Column, Vec<String>> {
        let faults: Vec<String> = self
            .set
            .iter()
            .filter_map(|key| self.kind.refuses(key, &self.name))
            .collect();
        if !faults.is_empty() {
            return Err(faults);
        }
        let name = self.name.clone();
        let (private, measure) = (self.private, self.measure.clone());
        let kind = self.kind().map_err(|why| vec![why])?;
        Ok(Column {
            name,
            private: private.unwrap_or(default_privacy(&kind)),
            kind,
            measure,
        })
    }

    /// What it holds, or what is wrong with it.
    fn kind(self) -> Result<Kind, String> {
        let name = self.name;
        let of_column = |e: Error| format!("column '{name}': {e}");
        match (self.kind, self.domain) {
            (Type::Number | Type::Integer, Domain::Range(min, max)) => {
                let fill = match self.fill {
                    None => None,
                    Some(Fill::Number(fill)) => Some(fill),
                    Some(Fill::Value(text)) => return Err(wrong_fill(text)),
                };
                let extras = Extras {
                    integer: self.kind == Type::Integer,
                    transform: scaled(self.extras.transform, self.scale).map_err(of_column)?,
                    fill,
                    ..self.extras
                };
                Number::new(min, max, extras).map(Kind::Number).map_err(of_column)
            }
            (Type::Label, Domain::Range(..)) if self.fill.is_some() => Err(super::column::NO_FILL.into()),
            (Type::Label, Domain::Range(min, max)) => Ok(Kind::Label(Label::Number { min, max })),
            (kind, Domain::Values(values)) => {
                // A category may be called 3.
                let fill = self.fill.map(|fill| match fill {
                    Fill::Value(text) => text,
                    Fill::Number(x) => x.to_string(),
                });
                let declared = Declared::new(values, fill.as_deref()).map_err(of_column)?;
                Ok(match kind {
                    Type::Ordinal => Kind::Ordinal(declared),
                    Type::Flag => Kind::Flag(declared),
                    Type::Label => Kind::Label(Label::Classes(declared)),
                    _ => Kind::Category(declared),
                })
            }
            (Type::Id, _) => Ok(Kind::Id),
            _ => Ok(Kind::Skip),
        }
    }
}

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
        builder.build()
    }
}

impl SchemaBuilder {
    /// Adds columns. A table without names has them in this order.
    pub fn columns<C: Into<AnyColumn>>(mut self, columns: impl IntoIterator<Item = C>) -> Self {
        self.columns.extend(columns.into_iter().map(Into::into));
        self
    }

    /// The column that tells people apart; without one, each row is a person.
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
        let rows = rows_per_unit(self.rows.into()).unwrap_or_else(|why| {
            faults.push(why);
            NonZeroU32::MIN
        });
        let (mut columns, mut slots) = (Vec::with_capacity(self.columns.len()), 0);
        for column in self.columns {
            if let Some(why) = too_many_slots(slots) {
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
