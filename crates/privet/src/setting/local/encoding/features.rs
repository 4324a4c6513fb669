//! Rows as vectors of numbers, by public facts only.

mod members;

use crate::Error;
use crate::data::schema::{Kind, Number, Schema};
use crate::data::{Cells, Section};
use crate::privacy::getters;

/// How the cells of a row become the coordinates of a vector φ.
///
/// First come those of the columns, in order: a number between its bounds as −1 … 1, or a sign for each cut; an ordinal's place as −1 … 1; for
/// a category or a flag with k values, k − 1 coordinates that are 1 for their value and else 0. What is missing or not declared counts as
/// zero. Then, if there are axes, each of them gives an offset and a weighted sum of these instead; then the products of each two; then a constant.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    columns: Vec<Column>,
    axes: Vec<Axis>,
    products: bool,
    constant: Option<f64>,
}

/// A published direction: an offset, and a weight for each coordinate of the columns.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is added.
    pub offset: f64,
    /// One weight for each coordinate.
    pub weights: Vec<f64>,
}

/// One column: its place among the schema's features, and how it is written.
#[derive(Debug, Clone, PartialEq)]
struct Column {
    name: String,
    feature: usize,
    code: Code,
}

#[derive(Debug, Clone, PartialEq)]
enum Code {
    /// −1 and 1 at the bounds.
    Scaled,
    /// A sign for each cut: where it lies between −1 and 1, and as it was declared.
    Cuts {
        places: Vec<f32>,
        declared: Vec<f64>,
        missing: u16,
    },
    /// The place among so many ordered values.
    Place(u16),
    /// A flag for each of so many values but the first.
    Flags(u16),
}

impl Features {
    /// All features of a schema.
    pub fn of(schema: &Schema) -> Self {
        let columns = schema.features().enumerate().map(|(feature, column)| Column {
            name: column.name.clone(),
            feature,
            code: Code::of(&column.kind),
        });
        Self {
            columns: columns.collect(),
            axes: Vec::new(),
            products: false,
            constant: None,
        }
    }

    /// The same with these columns only, in this order.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the schema has no such feature.
    pub fn columns(mut self, names: &[String]) -> Result<Self, Error> {
        let find = |name: &String| {
            let found = self.columns.iter().find(|column| column.name == *name);
            found.cloned().ok_or_else(|| {
                let why = format!("the schema declares no column '{name}' to learn from");
                Error::parameter("columns", why)
            })
        };
        self.columns = names.iter().map(find).collect::<Result<_, _>>()?;
        if self.columns.is_empty() {
            return Err(Error::parameter("columns", "at least one column is needed"));
        }
        Ok(self)
    }

    /// The same with a sign for each cut of a number, in its own units, instead of the number.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the column is not there, is no number, or a cut lies outside its bounds.
    pub fn cuts(mut self, schema: &Schema, column: &str, cuts: &[f64]) -> Result<Self, Error> {
        let bad = |why: String| Err(Error::parameter("cuts", why));
        let Some(own) = self.columns.iter_mut().find(|own| own.name == column) else {
            return bad(format!("there is no column '{column}' here"));
        };
        let Some(Kind::Number(number)) = schema.features().nth(own.feature).map(|column| &column.kind) else {
            return bad(format!("'{column}' is no number: only numbers have cuts"));
        };
        let is_inside = |cut: &&f64| (number.min()..=number.max()).contains(*cut);
        if cuts.is_empty() || cuts.iter().filter(is_inside).count() < cuts.len() {
            let (min, max) = (number.min(), number.max());
            return bad(format!(
                "'{column}' needs at least one cut, and all of them from {min} to {max}"
            ));
        }
        own.code = Code::Cuts {
            places: cuts.iter().map(|cut| number.scaled(*cut) as f32).collect(),
            declared: cuts.to_vec(),
            missing: Number::missing(number),
        };
        Ok(self)
    }

    /// The same along published axes.
    ///
    /// # Errors
    /// [`Error::Parameter`] if an axis has not a weight for each coordinate of the columns.
    pub fn along(mut self, axes: Vec<Axis>) -> Result<Self, Error> {
        let width = self.base();
        if let Some(axis) = axes.iter().find(|axis| axis.weights.len() != width) {
            let why = format!(
                "an axis has {} weights, and the columns have {width} coordinates: write one for each",
                axis.weights.len()
            );
            return Err(Error::parameter("axes", why));
        }
        self.axes = axes;
        Ok(self)
    }

    /// The same with the products of each two coordinates, or not.
    #[must_use]
    pub fn products(mut self, products: bool) -> Self {
        self.products = products;
        self
    }

    /// The same with a last coordinate that has always this value.
    #[must_use]
    pub fn constant(mut self, constant: Option<f64>) -> Self {
        self.constant = constant;
        self
    }

    getters! {
        /// The directions, if rows are turned into others.
        pub axes(&axes) -> &[Axis];
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Whether rows are nothing but their columns.
    pub(super) fn is_plain(&self) -> bool {
        let has_cuts = |column: &Column| matches!(column.code, Code::Cuts { .. });
        self.axes.is_empty()
            && !self.products
            && self.constant.is_none()
            && !self.columns.iter().any(has_cuts)
    }

    /// The places of its columns among the schema's features.
    pub(super) fn places(&self) -> impl Iterator<Item = usize> {
        self.columns.iter().map(|column| column.feature)
    }

    /// How many coordinates the columns have, before axes.
    pub fn base(&self) -> usize {
        self.columns.iter().map(|column| column.code.width()).sum()
    }

    /// How many coordinates φ has.
    pub fn dimension(&self) -> usize {
        let directions = match self.axes.len() {
            0 => self.base(),
            axes => axes,
        };
        let products = match self.products {
            true => directions * (directions + 1) / 2,
            false => 0,
        };
        directions + products + usize::from(self.constant.is_some())
    }

    /// Appends φ of one row. Its cells must have been read with values ([`Keep::Values`](crate::data::Keep)) and the same schema.
    pub fn row(&self, cells: &Cells, row: usize, into: &mut Vec<f64>) {
        let start = into.len();
        for column in &self.columns {
            let feature = &cells.features()[column.feature];
            let slot = feature.bins.get(row);
            let scaled = feature.scaled.as_ref().map_or(0.0, |scaled| scaled[row]);
            column.code.write(slot, scaled, into);
        }
        if !self.axes.is_empty() {
            let base = into.split_off(start);
            into.extend(
                self.axes
                    .iter()
                    .map(|axis| axis.offset + dot(&axis.weights, &base)),
            );
        }
        if self.products {
            let end = into.len();
            for i in start..end {
                for j in i..end {
                    into.push(into[i] * into[j]);
                }
            }
        }
        into.extend(self.constant);
    }

    /// Reads what `[encoding]` says about rows.
    pub(super) fn read(section: &Section<'_>, schema: &Schema) -> Option<Self> {
        let mut features = Self::of(schema);
        let found = |result: Result<Self, Error>, key: &str| {
            result
                .inspect_err(|e| section.finding_at(key, e.to_string()))
                .ok()
        };
        if let Some(names) = section.texts("columns") {
            features = found(features.columns(&names.value), "columns")?;
        }
        for cuts in section.list("cuts") {
            let column = cuts.required_text("column", "\"age\"");
            if !cuts.has("at") {
                cuts.finding("at is missing; add: at = [30.0, 50.0]");
            }
            let at = cuts.numbers("at");
            let (column, at) = (column?, at?);
            let made = features.cuts(schema, &column.value, &at.value);
            features = made.inspect_err(|e| cuts.finding(e.to_string())).ok()?;
        }
        let mut axes = Vec::new();
        for axis in section.list("axes") {
            if !axis.has("weights") {
                axis.finding("weights is missing; add one for each coordinate: weights = [0.5, -1.0]");
            }
            let weights = axis.numbers("weights")?.value;
            let offset = axis.number("offset").map_or(0.0, |offset| offset.value);
            axes.push(Axis { offset, weights });
        }
        features = found(features.along(axes), "axes")?;
        let products = section.flag("products").is_some_and(|products| products.value);
        let constant = section.number("constant").map(|constant| constant.value);
        Some(features.products(products).constant(constant))
    }

    /// As `[encoding]` says it, with sections of its own at the end.
    pub(super) fn write(&self, keys: &mut String, sections: &mut String) {
        use crate::data::document::{number, quoted};
        let list = |numbers: &[f64]| {
            let texts: Vec<String> = numbers.iter().map(|x| number(*x)).collect();
            texts.join(", ")
        };
        let names: Vec<String> = self.names().map(quoted).collect();
        *keys += &format!("columns = [{}]\n", names.join(", "));
        if self.products {
            *keys += "products = true\n";
        }
        if let Some(constant) = self.constant {
            *keys += &format!("constant = {}\n", number(constant));
        }
        for column in &self.columns {
            if let Code::Cuts { declared, .. } = &column.code {
                let (column, at) = (quoted(&column.name), list(declared));
                *sections += &format!("\n[[encoding.cuts]]\ncolumn = {column}\nat = [{at}]\n");
            }
        }
        for axis in &self.axes {
            let (offset, weights) = (number(axis.offset), list(&axis.weights));
            *sections += &format!("\n[[encoding.axes]]\noffset = {offset}\nweights = [{weights}]\n");
        }
    }
}

impl Code {
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Ordinal(declared) => Self::Place(declared.other()),
            Kind::Category(declared) | Kind::Flag(declared) => Self::Flags(declared.other()),
            Kind::Number(_) | Kind::Id | Kind::Skip | Kind::Label(_) => Self::Scaled,
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Scaled | Self::Place(_) => 1,
            Self::Cuts { places, .. } => places.len(),
            Self::Flags(values) => usize::from(*values) - 1,
        }
    }

    fn write(&self, slot: u16, scaled: f32, into: &mut Vec<f64>) {
        match self {
            Self::Scaled => into.push(scaled.into()),
            Self::Cuts { places, missing, .. } => into.extend(places.iter().map(|place| match slot {
                slot if slot == *missing => 0.0,
                _ if scaled > *place => 1.0,
                _ => -1.0,
            })),
            Self::Place(values) if slot < *values => {
                into.push(2.0 * f64::from(slot) / f64::from(values - 1) - 1.0);
            }
            Self::Place(_) => into.push(0.0),
            Self::Flags(values) => into.extend((1..*values).map(|value| f64::from(u8::from(slot == value)))),
        }
    }
}

/// The product of two vectors.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
