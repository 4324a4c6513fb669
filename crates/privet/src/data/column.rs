//! Reading cells into columns: the slot of each text or number depends on the schema alone.

use std::fmt::{Display, Write};

use super::date::date;
use super::feature::{Bins, Feature, Names};
use super::finder::Finder;
use super::fingerprint::{ColumnHash, Points};
use super::lookup::Lookup;
use super::numeral::{Numeral, parse};
use super::schema::{Column, Kind, Label, Number, Schema};
use super::tally::{Tally, TallyRule};

/// How the cells of one column are read; prepared once, shared by threads.
#[derive(Clone)]
pub(super) enum CellRule {
    Number {
        number: Number,
        numeral: Numeral,
        missing: Vec<f64>,
        keep: bool,
        /// For many at once, where only bins are kept and there are few.
        finder: Option<Finder>,
    },
    Slots {
        lookup: Lookup,
        slots: usize,
    },
    Class(Lookup),
    /// A label that is a number, or the weight of a row.
    Target {
        min: f64,
        max: f64,
        /// What a missing cell counts as.
        fill: f64,
        numeral: Numeral,
        missing: Vec<f64>,
        is_weight: bool,
    },
    /// Ids; the texts that are none.
    Ids(Vec<Vec<u8>>),
    /// Nothing is kept: only the fingerprint is computed.
    Hash(Points),
    /// Nothing is kept: cells are counted by what becomes of them.
    Tally(Box<TallyRule>),
    Ignore,
}

impl CellRule {
    pub(super) fn of(schema: &Schema, column: &Column, keep: bool) -> Self {
        let Column { name, kind, .. } = column;
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
                numeral: Numeral::of(schema, column),
                missing: numbers(),
                keep,
                finder: Finder::new(number).filter(|_| !keep),
            },
            Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => Self::Slots {
                lookup: Lookup::new(declared, schema.missing()),
                slots: kind.slots(),
            },
            Kind::Label(Label::Classes(declared)) => Self::Class(Lookup::new(declared, schema.missing())),
            Kind::Label(Label::Number { min, max }) => Self::Target {
                min: *min,
                max: *max,
                fill: (min + max) / 2.0,
                numeral: Numeral::of(schema, column),
                missing: numbers(),
                is_weight: false,
            },
            Kind::Weight(max) => Self::Target {
                min: 0.0,
                max: *max,
                fill: 0.0,
                numeral: Numeral::of(schema, column),
                missing: numbers(),
                is_weight: true,
            },
            Kind::Id if schema.unit().column.as_ref() == Some(name) => Self::ids(schema),
            Kind::Id | Kind::Skip => Self::Ignore,
        }
    }

    /// Ids, whatever they are for.
    pub(super) fn ids(schema: &Schema) -> Self {
        let missing = schema.missing().iter();
        Self::Ids(missing.map(|text| text.clone().into_bytes()).collect())
    }
}

/// Collects the cells of one column. No `Debug`: it holds rows.
pub struct ColumnBuilder<'a> {
    pub(super) rule: &'a CellRule,
    pub(super) taken: Taken,
}

pub(super) enum Taken {
    Feature(Feature),
    Classes(Vec<u16>),
    Numbers(Vec<f32>),
    Weights(Vec<f32>),
    Ids(Names),
    Hash(ColumnHash),
    /// Of a dictionary: each value by itself.
    Hashes(Vec<ColumnHash>),
    Tally(Tally),
    /// Of a dictionary: each value by itself.
    Tallies(Vec<Tally>),
    Nothing,
}

impl<'a> ColumnBuilder<'a> {
    pub(super) fn new(rule: &'a CellRule) -> Self {
        let taken = match rule {
            CellRule::Number { number, keep, .. } => Taken::Feature(Feature {
                bins: Bins::with_slots(number.cuts().bins() + 1),
                scaled: keep.then(Vec::new),
            }),
            CellRule::Slots { slots, .. } => Taken::Feature(Feature {
                bins: Bins::with_slots(*slots),
                scaled: None,
            }),
            CellRule::Class(_) => Taken::Classes(Vec::new()),
            CellRule::Target { is_weight: true, .. } => Taken::Weights(Vec::new()),
            CellRule::Target { .. } => Taken::Numbers(Vec::new()),
            CellRule::Ids(_) => Taken::Ids(Names::default()),
            CellRule::Hash(points) => Taken::Hash(ColumnHash::new(*points)),
            CellRule::Tally(_) => Taken::Tally(Tally::default()),
            CellRule::Ignore => Taken::Nothing,
        };
        Self { rule, taken }
    }

    /// A cell as text; spaces around it do not count. A cell that cannot be read as its type goes to a fixed slot.
    #[inline]
    pub fn text(&mut self, cell: &[u8]) {
        self.texts(std::iter::once(cell));
    }

    /// Cells as text, one after another: faster than one by one.
    #[inline]
    pub fn texts<'c>(&mut self, cells: impl Iterator<Item = &'c [u8]>) {
        let cells = cells.map(<[u8]>::trim_ascii);
        match (self.rule, &mut self.taken) {
            (CellRule::Number { numeral, .. } | CellRule::Target { numeral, .. }, _) => {
                self.reals(cells.map(|cell| numeral.parse(cell)));
            }
            (CellRule::Slots { lookup, .. }, Taken::Feature(feature)) => {
                feature.bins.extend(cells.map(|cell| lookup.text(cell)));
            }
            (CellRule::Class(lookup), Taken::Classes(classes)) => {
                classes.extend(cells.map(|cell| class(lookup, lookup.text(cell))));
            }
            (CellRule::Ids(missing), Taken::Ids(ids)) => {
                let none = |cell: &[u8]| missing.iter().any(|text| text == cell);
                ids.extend(cells.map(|cell| if none(cell) { &[] } else { cell }));
            }
            (_, Taken::Hash(hash)) => cells.for_each(|cell| hash.text(cell)),
            (CellRule::Hash(points), Taken::Hashes(hashes)) => hashes.extend(cells.map(|cell| {
                let mut hash = ColumnHash::new(*points);
                hash.text(cell);
                hash
            })),
            (CellRule::Tally(rule), Taken::Tally(tally)) => cells.for_each(|cell| tally.text(rule, cell)),
            (CellRule::Tally(rule), Taken::Tallies(tallies)) => tallies.extend(cells.map(|cell| {
                let mut tally = Tally::default();
                tally.text(rule, cell);
                tally
            })),
            _ => {}
        }
    }

    /// A cell as a number.
    #[inline]
    pub fn number(&mut self, cell: f64) {
        self.numbers(std::iter::once(Some(cell)));
    }

    /// Cells as numbers, if they are not missing.
    #[inline]
    pub fn numbers(&mut self, cells: impl Iterator<Item = Option<f64>>) {
        if self.is_real() {
            self.reals(cells);
        } else {
            self.written(cells.map(|cell| cell.filter(|x| !x.is_nan())));
        }
    }

    /// This many cells as numbers, by their place, if they are not missing: as [`numbers`](Self::numbers), and faster.
    #[inline]
    pub fn numbers_at(&mut self, count: usize, cell: impl Fn(usize) -> Option<f64>) {
        if let CellRule::Number {
            finder: Some(finder),
            missing,
            ..
        } = self.rule
            && let Taken::Feature(feature) = &mut self.taken
            && let Bins::Narrow(bins) = &mut feature.bins
        {
            let begin = bins.len();
            bins.resize(begin + count, 0);
            // No number is what is not a number, for the finder.
            if missing.is_empty() {
                finder.fill(&mut bins[begin..], |at| cell(at).map_or(f32::NAN, |x| x as f32));
            } else {
                let known = |at| cell(at).filter(|x| is_known(*x, missing));
                finder.fill(&mut bins[begin..], |at| known(at).map_or(f32::NAN, |x| x as f32));
            }
            return;
        }
        self.numbers((0..count).map(cell));
    }

    /// A cell as a whole number.
    #[inline]
    pub fn integer(&mut self, cell: i64) {
        self.integers(std::iter::once(Some(cell)));
    }

    /// Cells as whole numbers, if they are not missing.
    #[inline]
    pub fn integers(&mut self, cells: impl Iterator<Item = Option<i64>>) {
        if self.is_real() {
            self.reals(cells.map(|cell| cell.map(|cell| cell as f64)));
        } else {
            self.written(cells);
        }
    }

    /// Cells as whole numbers without a sign, if they are not missing.
    #[inline]
    pub fn naturals(&mut self, cells: impl Iterator<Item = Option<u64>>) {
        if self.is_real() {
            self.reals(cells.map(|cell| cell.map(|cell| cell as f64)));
        } else {
            self.written(cells);
        }
    }

    /// This many whole numbers, by their place, if they are not missing.
    #[inline]
    pub fn integers_at(&mut self, count: usize, cell: impl Fn(usize) -> Option<i64>) {
        if self.is_real() {
            self.numbers_at(count, |at| cell(at).map(|x| x as f64));
        } else {
            self.whole(count, cell);
        }
    }

    /// This many whole numbers without a sign, by their place, if they are not missing.
    #[inline]
    pub fn naturals_at(&mut self, count: usize, cell: impl Fn(usize) -> Option<u64>) {
        if self.is_real() {
            self.numbers_at(count, |at| cell(at).map(|x| x as f64));
        } else {
            self.whole(count, cell);
        }
    }

    /// Cells as decimals of so many digits behind the point, if they are not missing.
    pub fn decimals<T: Into<i128>>(&mut self, cells: impl Iterator<Item = Option<T>>, scale: u8) {
        let is_real = self.is_real();
        for cell in cells {
            match cell {
                // A file that knows types writes no commas, whatever the schema says of text.
                Some(cell) if is_real => {
                    self.number(parse(decimal(cell, scale).as_bytes()).unwrap_or(f64::NAN))
                }
                Some(cell) => self.text(decimal(cell, scale).as_bytes()),
                None => self.missing(),
            }
        }
    }

    /// Cells as days since 1970-01-01, if they are not missing. A column of dates takes them as they are; what recognises a table takes
    /// them as text, as a file of text has them.
    pub fn dates(&mut self, cells: impl Iterator<Item = Option<f64>>) {
        if self.is_real() && !matches!(self.rule, CellRule::Hash(_)) {
            self.reals(cells);
        } else {
            self.written(cells.map(|cell| cell.map(date)));
        }
    }

    /// Cells as text, if they are not missing.
    #[inline]
    pub fn known_texts<'c>(&mut self, cells: impl Iterator<Item = Option<&'c [u8]>>) {
        for cell in cells {
            match cell {
                Some(cell) => self.text(cell),
                None => self.missing(),
            }
        }
    }

    /// Cells as truth values, if they are not missing: what each of the two is, is looked up once.
    #[inline]
    pub fn flags(&mut self, cells: impl Iterator<Item = Option<bool>>) {
        self.coded(cells.map(|cell| cell.map(usize::from)), |values| {
            values.flag(false);
            values.flag(true);
        });
    }

    /// Cells as places in a dictionary, which `values` gives: each of its values is looked up once. A cell without a place, or
    /// with one that the dictionary does not have, is missing.
    #[inline]
    pub fn coded(
        &mut self,
        codes: impl Iterator<Item = Option<usize>>,
        values: impl FnOnce(&mut ColumnBuilder<'_>),
    ) {
        let mut dictionary = ColumnBuilder::new(self.rule);
        if let Taken::Hash(_) = dictionary.taken {
            dictionary.taken = Taken::Hashes(Vec::new());
        }
        if let Taken::Tally(_) = dictionary.taken {
            dictionary.taken = Taken::Tallies(Vec::new());
        }
        values(&mut dictionary);
        let Some(missing) = dictionary.rows() else { return };
        dictionary.missing();
        let codes = codes.map(|code| code.map_or(missing, |code| code.min(missing)));
        match (&mut self.taken, &dictionary.taken) {
            (Taken::Feature(to), Taken::Feature(from)) => match (&mut to.scaled, &from.scaled) {
                (Some(scaled), Some(known)) => codes.for_each(|code| {
                    to.bins.push(from.bins.get(code));
                    scaled.push(known[code]);
                }),
                _ => to.bins.extend(codes.map(|code| from.bins.get(code))),
            },
            (Taken::Classes(to), Taken::Classes(from)) => to.extend(codes.map(|code| from[code])),
            (Taken::Numbers(to), Taken::Numbers(from)) | (Taken::Weights(to), Taken::Weights(from)) => {
                to.extend(codes.map(|code| from[code]))
            }
            (Taken::Hash(to), Taken::Hashes(from)) => codes.for_each(|code| to.append(&from[code])),
            (Taken::Tally(to), Taken::Tallies(from)) => codes.for_each(|code| to.append(&from[code])),
            (Taken::Ids(to), Taken::Ids(from)) => to.extend(codes.map(|code| from.get(code))),
            _ => {}
        }
    }

    /// A cell as a truth value.
    #[inline]
    pub fn flag(&mut self, cell: bool) {
        if self.is_real() {
            self.reals(std::iter::once(Some(f64::from(u8::from(cell)))));
        } else {
            self.text(if cell { b"true" } else { b"false" });
        }
    }

    /// A missing cell.
    #[inline]
    pub fn missing(&mut self) {
        match (self.rule, &mut self.taken) {
            (CellRule::Number { .. } | CellRule::Target { .. }, _) => self.reals(std::iter::once(None)),
            (CellRule::Slots { lookup, .. }, Taken::Feature(feature)) => feature.bins.push(lookup.missing),
            (CellRule::Class(lookup), Taken::Classes(classes)) => classes.push(class(lookup, lookup.missing)),
            (_, Taken::Ids(ids)) => ids.push(&[]),
            (CellRule::Hash(_) | CellRule::Tally(_), _) => self.reals(std::iter::once(None)),
            _ => {}
        }
    }

    /// Whether its cells are ids.
    pub(super) fn takes_ids(&self) -> bool {
        matches!(self.rule, CellRule::Ids(_))
    }

    fn is_real(&self) -> bool {
        let rule = match self.rule {
            CellRule::Tally(tally) => &tally.rule,
            rule => rule,
        };
        matches!(
            rule,
            CellRule::Number { .. } | CellRule::Target { .. } | CellRule::Hash(_)
        )
    }

    /// Whole numbers in a column that is not of numbers. Below 256, as the codes of most categories are, each is written and looked up once.
    fn whole<T: Display + TryInto<u8>>(&mut self, count: usize, cell: impl Fn(usize) -> Option<T>) {
        const SMALL: usize = 256;
        let small = |cell: T| cell.try_into().ok().map(usize::from);
        if count > SMALL && (0..count).all(|at| cell(at).is_none_or(|cell| small(cell).is_some())) {
            let codes = (0..count).map(|at| cell(at).and_then(small));
            self.coded(codes, |values| values.written((0..SMALL).map(Some)));
        } else {
            self.written((0..count).map(cell));
        }
    }

    /// Numbers in a column that is not of numbers: as text. Whole ones are written without a point.
    fn written<T: Display>(&mut self, cells: impl Iterator<Item = Option<T>>) {
        let mut text = String::new();
        for cell in cells {
            match cell {
                Some(cell) => {
                    text.clear();
                    // Writing to a string cannot fail.
                    let _ = write!(text, "{cell}");
                    self.text(text.as_bytes());
                }
                None => self.missing(),
            }
        }
    }

    #[inline]
    fn reals(&mut self, cells: impl Iterator<Item = Option<f64>>) {
        match (self.rule, &mut self.taken) {
            (CellRule::Number { number, missing, .. }, Taken::Feature(feature)) => {
                let (fill, none, cuts) = (number.fill(), number.missing(), number.cuts());
                let cells = cells.map(|cell| cell.filter(|x| is_known(*x, missing)).or(fill));
                let slot = |cell: Option<f64>| cell.map_or(none, |x| cuts.bin(x as f32));
                match &mut feature.scaled {
                    None => feature.bins.extend(cells.map(slot)),
                    Some(scaled) => {
                        for cell in cells {
                            feature.bins.push(slot(cell));
                            scaled.push(cell.map_or(0.0, |x| number.scaled(x) as f32));
                        }
                    }
                }
            }
            (
                CellRule::Target {
                    min,
                    max,
                    fill,
                    missing,
                    ..
                },
                Taken::Numbers(numbers) | Taken::Weights(numbers),
            ) => {
                numbers.extend(cells.map(|cell| {
                    let cell = cell.filter(|x| is_known(*x, missing));
                    cell.map_or(*fill, |x| x.clamp(*min, *max)) as f32
                }));
            }
            (_, Taken::Hash(hash)) => cells.for_each(|cell| hash.number(cell)),
            (CellRule::Hash(points), Taken::Hashes(hashes)) => hashes.extend(cells.map(|cell| {
                let mut hash = ColumnHash::new(*points);
                hash.number(cell);
                hash
            })),
            (CellRule::Tally(rule), Taken::Tally(tally)) => cells.for_each(|cell| tally.number(rule, cell)),
            (CellRule::Tally(rule), Taken::Tallies(tallies)) => tallies.extend(cells.map(|cell| {
                let mut tally = Tally::default();
                tally.number(rule, cell);
                tally
            })),
            _ => {}
        }
    }

    pub(super) fn rows(&self) -> Option<usize> {
        match &self.taken {
            Taken::Feature(feature) => Some(feature.bins.len()),
            Taken::Classes(classes) => Some(classes.len()),
            Taken::Numbers(numbers) | Taken::Weights(numbers) => Some(numbers.len()),
            Taken::Ids(ids) => Some(ids.len()),
            // A column that is not there is not missed.
            Taken::Hash(hash) => Some(hash.rows()).filter(|&rows| rows > 0),
            Taken::Hashes(hashes) => Some(hashes.len()),
            Taken::Tally(tally) => Some(tally.cells as usize),
            Taken::Tallies(tallies) => Some(tallies.len()),
            Taken::Nothing => None,
        }
    }
}

/// A whole number of the last of so many digits behind the point, as text.
pub fn decimal(cell: impl Into<i128>, scale: u8) -> String {
    let (cell, scale) = (cell.into(), usize::from(scale));
    let digits = format!("{:0width$}", cell.unsigned_abs(), width = scale + 1);
    let (whole, part) = digits.split_at(digits.len() - scale);
    let sign = if cell < 0 { "-" } else { "" };
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}")
}

#[inline]
fn is_known(x: f64, missing: &[f64]) -> bool {
    !x.is_nan() && !missing.contains(&x)
}

/// A label that is missing or undeclared counts as the first class, unless a fill was declared.
fn class(lookup: &Lookup, slot: u16) -> u16 {
    if slot < lookup.other { slot } else { 0 }
}
