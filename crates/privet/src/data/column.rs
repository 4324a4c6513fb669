//! Cells on their way into columns: each text or number finds its slot by the schema's rules alone.

use std::collections::HashMap;

use super::schema::{Declared, Kind, Label, Number, Schema};

/// Slot numbers of one column, as narrow as they fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bins {
    /// At most 256 slots.
    Narrow(Vec<u8>),
    /// More.
    Wide(Vec<u16>),
}

impl Bins {
    fn with_slots(slots: usize) -> Self {
        if slots <= 256 {
            Self::Narrow(Vec::new())
        } else {
            Self::Wide(Vec::new())
        }
    }

    #[inline]
    fn push(&mut self, slot: u16) {
        match self {
            Self::Narrow(bins) => bins.push(slot as u8),
            Self::Wide(bins) => bins.push(slot),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(bins) => bins.len(),
            Self::Wide(bins) => bins.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The slot of one row.
    #[inline]
    pub fn get(&self, row: usize) -> u16 {
        match self {
            Self::Narrow(bins) => u16::from(bins[row]),
            Self::Wide(bins) => bins[row],
        }
    }

    /// The slots of all rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        (0..self.len()).map(|row| self.get(row))
    }

    pub(super) fn append(&mut self, more: Self) {
        match (self, more) {
            (Self::Narrow(bins), Self::Narrow(more)) => bins.extend(more),
            (Self::Wide(bins), Self::Wide(more)) => bins.extend(more),
            (bins, more) => more.iter().for_each(|slot| bins.push(slot)),
        }
    }

    pub(super) fn take(&self, rows: &[u32]) -> Self {
        match self {
            Self::Narrow(bins) => Self::Narrow(pick(bins, rows)),
            Self::Wide(bins) => Self::Wide(pick(bins, rows)),
        }
    }
}

pub(super) fn pick<T: Copy>(values: &[T], rows: &[u32]) -> Vec<T> {
    rows.iter().map(|&row| values[row as usize]).collect()
}

/// One feature of all rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Feature {
    /// The slot of each row.
    pub bins: Bins,
    /// For numbers, if they were kept: where each lies between the bounds on the transformed scale, from -1 to 1, and 0 if
    /// it is missing.
    pub scaled: Option<Vec<f32>>,
}

/// The labels of all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// The number of each row's class.
    Classes(Vec<u16>),
    /// Each row's number.
    Numbers(Vec<f32>),
}

impl Target {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes(classes) => classes.len(),
            Self::Numbers(numbers) => numbers.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The slot of each text, prepared once for a column.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    slots: HashMap<Box<[u8]>, u16>,
    other: u16,
    missing: u16,
}

impl Lookup {
    fn new(declared: &Declared, missing: &[String]) -> Self {
        let mut slots: HashMap<Box<[u8]>, u16> = HashMap::new();
        for text in missing {
            slots.insert(text.as_bytes().into(), declared.missing());
        }
        if declared.values() == ["false", "true"] {
            for (slot, words) in [
                ["0", "no", "n", "f", "False", "FALSE"],
                ["1", "yes", "y", "t", "True", "TRUE"],
            ]
            .iter()
            .enumerate()
            {
                for word in words {
                    slots.insert(word.as_bytes().into(), slot as u16);
                }
            }
        }
        // A declared value is a value, whatever else it may mean.
        for (slot, value) in declared.values().iter().enumerate() {
            slots.insert(value.as_bytes().into(), slot as u16);
        }
        Self {
            slots,
            other: declared.other(),
            missing: declared.missing(),
        }
    }

    #[inline]
    fn text(&self, cell: &[u8]) -> u16 {
        self.slots.get(cell).copied().unwrap_or(self.other)
    }
}

/// How the cells of one column are read; prepared once, shared by threads.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    Number {
        number: Number,
        missing: Vec<f64>,
        keep: bool,
    },
    Slots {
        lookup: Lookup,
        slots: usize,
    },
    Class(Lookup),
    Target {
        min: f64,
        max: f64,
        missing: Vec<f64>,
    },
    Unit,
    Ignore,
}

impl Rule {
    pub(super) fn of(schema: &Schema, name: &str, kind: &Kind, keep: bool) -> Self {
        // A text such as -999 means "missing" as a number, too.
        let numbers = || {
            schema
                .missing()
                .iter()
                .filter_map(|text| parse(text.as_bytes()))
                .collect()
        };
        match kind {
            Kind::Number(number) => Self::Number {
                number: number.clone(),
                missing: numbers(),
                keep,
            },
            Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => Self::Slots {
                lookup: Lookup::new(declared, schema.missing()),
                slots: kind.slots(),
            },
            Kind::Label(Label::Classes(declared)) => Self::Class(Lookup::new(declared, schema.missing())),
            Kind::Label(Label::Number { min, max }) => Self::Target {
                min: *min,
                max: *max,
                missing: numbers(),
            },
            Kind::Id if schema.unit().column.as_deref() == Some(name) => Self::Unit,
            Kind::Id | Kind::Skip => Self::Ignore,
        }
    }
}

fn parse(cell: &[u8]) -> Option<f64> {
    fast_float2::parse(cell).ok().filter(|x: &f64| !x.is_nan())
}

/// Takes the cells of one column.
#[derive(Debug)]
pub struct ColumnBuilder<'a> {
    pub(super) rule: &'a Rule,
    pub(super) taken: Taken,
    /// Formats numbers that are declared as categories.
    buffer: String,
}

#[derive(Debug)]
pub(super) enum Taken {
    Feature(Feature),
    Classes(Vec<u16>),
    Numbers(Vec<f32>),
    Units(Vec<Box<[u8]>>),
    Nothing,
}

impl<'a> ColumnBuilder<'a> {
    pub(super) fn new(rule: &'a Rule) -> Self {
        let taken = match rule {
            Rule::Number { number, keep, .. } => Taken::Feature(Feature {
                bins: Bins::with_slots(number.cuts().bins() + 1),
                scaled: keep.then(Vec::new),
            }),
            Rule::Slots { slots, .. } => Taken::Feature(Feature {
                bins: Bins::with_slots(*slots),
                scaled: None,
            }),
            Rule::Class(_) => Taken::Classes(Vec::new()),
            Rule::Target { .. } => Taken::Numbers(Vec::new()),
            Rule::Unit => Taken::Units(Vec::new()),
            Rule::Ignore => Taken::Nothing,
        };
        Self {
            rule,
            taken,
            buffer: String::new(),
        }
    }

    /// Whether cells of this column are looked at.
    pub fn is_read(&self) -> bool {
        !matches!(self.rule, Rule::Ignore)
    }

    /// A cell as text; spaces around it do not count. What cannot be read as what was declared goes to its fixed slot.
    #[inline]
    pub fn text(&mut self, cell: &[u8]) {
        let cell = cell.trim_ascii();
        match (self.rule, &mut self.taken) {
            (Rule::Number { .. } | Rule::Target { .. }, _) => self.real(parse(cell)),
            (Rule::Slots { lookup, .. }, Taken::Feature(feature)) => feature.bins.push(lookup.text(cell)),
            (Rule::Class(lookup), Taken::Classes(classes)) => classes.push(class(lookup, lookup.text(cell))),
            (_, Taken::Units(units)) => units.push(cell.into()),
            _ => {}
        }
    }

    /// A cell as a number.
    #[inline]
    pub fn number(&mut self, cell: f64) {
        if matches!(self.rule, Rule::Number { .. } | Rule::Target { .. }) {
            self.real(Some(cell));
            return;
        }
        use std::fmt::Write;
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        // Writing to a string cannot fail; whole numbers are written without a point.
        let _ = write!(text, "{cell}");
        self.text(text.as_bytes());
        self.buffer = text;
    }

    /// A cell as a whole number.
    #[inline]
    pub fn integer(&mut self, cell: i64) {
        if matches!(self.rule, Rule::Number { .. } | Rule::Target { .. }) {
            self.real(Some(cell as f64));
            return;
        }
        use std::fmt::Write;
        let mut text = std::mem::take(&mut self.buffer);
        text.clear();
        let _ = write!(text, "{cell}");
        self.text(text.as_bytes());
        self.buffer = text;
    }

    /// A cell as a truth value.
    #[inline]
    pub fn flag(&mut self, cell: bool) {
        match self.rule {
            Rule::Number { .. } | Rule::Target { .. } => self.real(Some(f64::from(u8::from(cell)))),
            _ => self.text(if cell { b"true" } else { b"false" }),
        }
    }

    /// A missing cell.
    #[inline]
    pub fn missing(&mut self) {
        match (self.rule, &mut self.taken) {
            (Rule::Number { .. } | Rule::Target { .. }, _) => self.real(None),
            (Rule::Slots { lookup, .. }, Taken::Feature(feature)) => feature.bins.push(lookup.missing),
            (Rule::Class(lookup), Taken::Classes(classes)) => classes.push(class(lookup, lookup.missing)),
            (_, Taken::Units(units)) => units.push([].into()),
            _ => {}
        }
    }

    #[inline]
    fn real(&mut self, cell: Option<f64>) {
        match (self.rule, &mut self.taken) {
            (Rule::Number { number, missing, .. }, Taken::Feature(feature)) => {
                let cell = cell
                    .filter(|x| !x.is_nan() && !missing.contains(x))
                    .or(number.fill());
                match cell {
                    Some(x) => feature.bins.push(number.cuts().bin(x as f32)),
                    None => feature.bins.push(number.missing()),
                }
                if let Some(scaled) = &mut feature.scaled {
                    scaled.push(cell.map_or(0.0, |x| number.scaled(x) as f32));
                }
            }
            (Rule::Target { min, max, missing }, Taken::Numbers(numbers)) => {
                let cell = cell.filter(|x| !x.is_nan() && !missing.contains(x));
                numbers.push(cell.map_or((min + max) / 2.0, |x| x.clamp(*min, *max)) as f32);
            }
            _ => {}
        }
    }

    pub(super) fn rows(&self) -> Option<usize> {
        match &self.taken {
            Taken::Feature(feature) => Some(feature.bins.len()),
            Taken::Classes(classes) => Some(classes.len()),
            Taken::Numbers(numbers) => Some(numbers.len()),
            Taken::Units(units) => Some(units.len()),
            Taken::Nothing => None,
        }
    }
}

/// A label that is missing or undeclared counts as the first class, unless a fill was declared.
fn class(lookup: &Lookup, slot: u16) -> u16 {
    if slot < lookup.other { slot } else { 0 }
}
