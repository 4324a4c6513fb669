//! A column in code: everything that a column of `schema.toml` can say.

use std::ops::RangeInclusive;

use super::column::{NO_FILL, Type, default_privacy, scaled};
use super::{Column, Declared, Extras, Kind, Label, Number, Spacing, Transform};
use crate::Error;
use crate::data::document::wrong_fill;
use crate::privacy::texts;

/// A column to declare, from [`number`], [`category`] and the other functions here; [`SchemaBuilder::columns`](super::SchemaBuilder::columns) takes it.
///
/// What does not fit together is found by [`SchemaBuilder::build`](super::SchemaBuilder::build).
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

/// A date between public bounds, such as `["2015-01-01", "2024-12-31"]`. It counts as days since 1970-01-01; a bound that is no date is found
/// when the schema is built.
pub fn date(name: impl Into<String>, [min, max]: [&str; 2]) -> ColumnSpec {
    let days = |text: &str| crate::data::days(text.as_bytes()).unwrap_or(f64::NAN);
    ColumnSpec::new(name, Type::Date, Domain::Range(days(min), days(max)))
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

/// Tells people or rows apart; never learnt from. [`SchemaBuilder::unit`](super::SchemaBuilder::unit) says whether it names people.
pub fn id(name: impl Into<String>) -> ColumnSpec {
    ColumnSpec::new(name, Type::Id, Domain::Nothing)
}

/// How much a row counts in training: a number from 0 to a public maximum. A row without one has a weight of zero.
pub fn weight(name: impl Into<String>, max: f64) -> ColumnSpec {
    ColumnSpec::new(name, Type::Weight, Domain::Range(0.0, max))
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

    pub(super) fn column(self) -> Result<Column, Vec<String>> {
        let faults: Vec<String> = self
            .set
            .iter()
            .filter_map(|key| self.kind.refuses(key, &self.name))
            .collect();
        let faults: Vec<String> = faults.into_iter().chain(self.hidden()).collect();
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

    /// Names and values that have a character that cannot be seen. A program gets them from somewhere, and nobody may have looked.
    fn hidden(&self) -> Vec<String> {
        let values = match &self.domain {
            Domain::Values(values) => values.as_slice(),
            _ => &[],
        };
        let texts = [("its name", &self.name)].into_iter();
        let texts = texts.chain(self.measure.iter().map(|measure| ("its measure", measure)));
        let texts = texts.chain(values.iter().map(|value| ("a value", value)));
        let wrong = texts.filter_map(|(what, text)| {
            // Control characters are refused in every schema.
            let hidden = texts::hidden(text).filter(|hidden| !hidden.character.is_control())?;
            Some(format!(
                "column '{}': {what}, '{}', has {hidden}, which cannot be seen: remove that character; if the table really has it, read the \
                 schema from TOML, which writes {}",
                texts::shown(&self.name),
                texts::shown(text),
                hidden.escaped()
            ))
        });
        wrong.collect()
    }

    /// What it holds, or what is wrong with it.
    fn kind(self) -> Result<Kind, String> {
        let name = self.name;
        let of_column = |e: Error| format!("column '{name}': {e}");
        match (self.kind, self.domain) {
            (Type::Number | Type::Integer | Type::Date, Domain::Range(min, max)) => {
                let fill = match self.fill {
                    None => None,
                    Some(Fill::Number(fill)) => Some(fill),
                    Some(Fill::Value(text)) => return Err(wrong_fill(text)),
                };
                let extras = Extras {
                    integer: self.kind == Type::Integer,
                    date: self.kind == Type::Date,
                    transform: scaled(self.extras.transform, self.scale).map_err(of_column)?,
                    fill,
                    ..self.extras
                };
                Number::new(min, max, extras).map(Kind::Number).map_err(of_column)
            }
            (Type::Label, Domain::Range(..)) if self.fill.is_some() => Err(NO_FILL.into()),
            (Type::Label, Domain::Range(min, max)) => Ok(Kind::Label(Label::Number { min, max })),
            (Type::Weight, Domain::Range(_, max)) => Ok(Kind::Weight(max)),
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
