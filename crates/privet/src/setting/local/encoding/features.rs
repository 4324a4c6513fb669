//! Rows as vectors of numbers, by public facts only.

mod members;

use super::map::{Axis, Map};
use crate::Error;
use crate::data::document::{number, quoted};
use crate::data::schema::{Kind, Schema};
use crate::data::{Cells, Section};
use crate::privacy::getters;

/// How the cells of a row become the coordinates of a vector φ.
///
/// First come those of the columns, in order: a number between its bounds as −1 … 1, an ordinal's place as −1 … 1; for a category or a flag
/// with k values, k − 1 coordinates that are 1 for their value and else 0. What is missing or not declared counts as zero. Then a published
/// [`Map`] leads from these to φ.
#[derive(Debug, Clone, PartialEq)]
pub struct Features {
    columns: Vec<Column>,
    map: Map,
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
    /// The place among so many ordered values.
    Place(u16),
    /// A flag for each of so many values but the first.
    Flags(u16),
}

impl Features {
    /// All features of a schema, as they are.
    pub fn of(schema: &Schema) -> Self {
        let columns = schema.features().enumerate().map(|(feature, column)| Column {
            name: column.name.clone(),
            feature,
            code: Code::of(&column.kind),
        });
        Self::with_columns(columns.collect())
    }

    /// These features of a schema, in this order, as they are.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are none, or the schema does not have one.
    pub fn of_columns(schema: &Schema, names: &[String]) -> Result<Self, Error> {
        let all = Self::of(schema).columns;
        let find = |name: &String| {
            let found = all.iter().find(|column| column.name == *name);
            found.cloned().ok_or_else(|| {
                let why = format!("the schema declares no column '{name}' to learn from");
                Error::parameter("columns", why)
            })
        };
        let columns: Vec<Column> = names.iter().map(find).collect::<Result<_, _>>()?;
        if columns.is_empty() {
            return Err(Error::parameter("columns", "at least one column is needed"));
        }
        Ok(Self::with_columns(columns))
    }

    fn with_columns(columns: Vec<Column>) -> Self {
        let base = columns.iter().map(|column| column.code.width()).sum();
        Self {
            columns,
            map: Map::identity(base),
        }
    }

    /// The same with another map.
    ///
    /// # Errors
    /// [`Error::Parameter`] if that is for another number of coordinates, or cuts flags.
    pub fn mapped(mut self, map: Map) -> Result<Self, Error> {
        if map.base() != self.map.base() {
            let why = format!(
                "the map is for {} coordinates, and the columns have {}",
                map.base(),
                self.map.base()
            );
            return Err(Error::parameter("map", why));
        }
        let codes = self.columns.iter();
        let mut codes = codes.flat_map(|column| std::iter::repeat_n(&column.code, column.code.width()));
        if map.cuts().iter().any(|cuts| {
            let is_flag = matches!(codes.next(), Some(Code::Flags(_)));
            is_flag && !cuts.is_empty()
        }) {
            return Err(Error::parameter("cuts", "only numbers and ordinals have cuts"));
        }
        self.map = map;
        Ok(self)
    }

    getters! {
        /// What leads from the columns' coordinates to φ.
        pub map(&map) -> &Map;
        /// How many coordinates φ has.
        pub dimension(map.dimension()) -> usize;
    }

    /// The names of the columns, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The places of the columns among the schema's features, and how many base coordinates each has.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        self.columns
            .iter()
            .map(|column| (column.feature, column.code.width()))
    }

    /// Appends the base coordinates of one row. Its cells must have been read with values ([`Keep::Values`](crate::data::Keep)) and the same
    /// schema.
    pub fn base(&self, cells: &Cells, row: usize, into: &mut Vec<f64>) {
        for column in &self.columns {
            let feature = &cells.features()[column.feature];
            let scaled = feature.scaled.as_ref().map_or(0.0, |scaled| scaled[row]);
            column.code.write(feature.bins.get(row), scaled, into);
        }
    }

    /// Appends φ of one row.
    pub fn row(&self, cells: &Cells, row: usize, into: &mut Vec<f64>) {
        let mut base = Vec::with_capacity(self.map.base());
        self.base(cells, row, &mut base);
        self.map.row(&base, into);
    }

    /// The base coordinate of a column that has only one.
    fn coordinate(&self, name: &str) -> Option<(usize, &Column)> {
        let mut start = 0;
        for column in &self.columns {
            if column.name == name {
                return (column.code != Code::Flags(2) && column.code.width() == 1)
                    .then_some((start, column));
            }
            start += column.code.width();
        }
        None
    }

    /// Reads what `[encoding]` says about rows.
    pub(super) fn read(section: &Section<'_>, schema: &Schema) -> Option<Self> {
        let features = match section.texts("columns") {
            Some(names) => {
                let made = Self::of_columns(schema, &names.value);
                made.inspect_err(|e| section.finding_at("columns", e.to_string()))
                    .ok()?
            }
            None => Self::of(schema),
        };
        let mut map = features.map.clone();
        for cuts in section.list("cuts") {
            let column = cuts.required_text("column", "\"age\"")?.value;
            let (at, scaled) = (cuts.numbers("at"), cuts.numbers("scaled"));
            let Some((coordinate, own)) = features.coordinate(&column) else {
                cuts.finding_at("column", format!("there is no number or ordinal '{column}' here"));
                return None;
            };
            let places = match (at, scaled) {
                (None, Some(scaled)) => scaled.value,
                (Some(at), None) => {
                    let kind = schema.features().nth(own.feature).map(|column| &column.kind);
                    let Some(Kind::Number(number)) = kind else {
                        cuts.finding_at(
                            "at",
                            "only numbers have cuts in their own units: write scaled = [0.0]",
                        );
                        return None;
                    };
                    let scaled = at.value.iter().map(|cut| number.scaled(*cut));
                    // As values are: in single precision.
                    scaled.map(|place| f64::from(place as f32)).collect()
                }
                _ => {
                    cuts.finding("either at or scaled is needed; add: at = [30.0, 50.0]");
                    return None;
                }
            };
            map = map
                .with_cuts(coordinate, places)
                .inspect_err(|e| cuts.finding(e.to_string()))
                .ok()?;
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
        let products = section.flag("products").is_some_and(|products| products.value);
        let constant = section.number("constant").map(|constant| constant.value);
        let map = map.with_axes(axes);
        let map = map
            .inspect_err(|e| section.finding_at("axes", e.to_string()))
            .ok()?;
        let map = map.with_products(products).with_constant(constant);
        features.mapped(map).ok()
    }

    /// As `[encoding]` says it, with sections of its own at the end.
    pub(super) fn write(&self, keys: &mut String, sections: &mut String) {
        let names: Vec<String> = self.names().map(quoted).collect();
        *keys += &format!("columns = [{}]\n", names.join(", "));
        if self.map.products() {
            *keys += "products = true\n";
        }
        if let Some(constant) = self.map.constant() {
            *keys += &format!("constant = {}\n", number(constant));
        }
        let mut start = 0;
        for column in &self.columns {
            if let [one, ..] = &self.map.cuts()[start..start + column.code.width()]
                && !one.is_empty()
            {
                let (column, at) = (quoted(&column.name), numbers(one));
                *sections += &format!("\n[[encoding.cuts]]\ncolumn = {column}\nscaled = {at}\n");
            }
            start += column.code.width();
        }
        for axis in self.map.axes() {
            let (offset, weights) = (number(axis.offset), numbers(&axis.weights));
            *sections += &format!("\n[[encoding.axes]]\noffset = {offset}\nweights = {weights}\n");
        }
    }
}

/// A list of numbers as TOML writes it.
pub(super) fn numbers(numbers: &[f64]) -> String {
    let texts: Vec<String> = numbers.iter().map(|x| number(*x)).collect();
    format!("[{}]", texts.join(", "))
}

impl Code {
    fn of(kind: &Kind) -> Self {
        match kind {
            Kind::Ordinal(declared) => Self::Place(declared.other()),
            Kind::Category(declared) | Kind::Flag(declared) => Self::Flags(declared.other()),
            Kind::Number(_) | Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => Self::Scaled,
        }
    }

    fn width(&self) -> usize {
        match self {
            Self::Scaled | Self::Place(_) => 1,
            Self::Flags(values) => usize::from(*values) - 1,
        }
    }

    fn write(&self, slot: u16, scaled: f32, into: &mut Vec<f64>) {
        match self {
            Self::Scaled => into.push(scaled.into()),
            Self::Place(values) if slot < *values => {
                into.push(2.0 * f64::from(slot) / f64::from(values - 1) - 1.0);
            }
            Self::Place(_) => into.push(0.0),
            Self::Flags(values) => into.extend((1..*values).map(|value| f64::from(u8::from(slot == value)))),
        }
    }
}
