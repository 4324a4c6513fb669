//! What a column can hold, and the public facts that must be known about it.

use super::Transform;
use crate::Error;
use crate::data::cuts::{Cuts, Places};
use crate::privacy::getters;

/// What a column holds.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A real or whole number between public bounds.
    Number(Number),
    /// One of these values, in this order.
    Ordinal(Declared),
    /// One of these values, in no order.
    Category(Declared),
    /// No or yes: two values, in this order.
    Flag(Declared),
    /// Tells people or rows apart; never learnt from.
    Id,
    /// Not read.
    Skip,
    /// What is to be predicted.
    Label(Label),
    /// How much a row counts in training: a number from 0 to this. A row without one has a weight of zero.
    Weight(f64),
}

impl Kind {
    /// Whether a model may use it.
    pub fn is_feature(&self) -> bool {
        matches!(
            self,
            Self::Number(_) | Self::Ordinal(_) | Self::Category(_) | Self::Flag(_)
        )
    }

    /// How many slots a cell of it can go to: its bins or values, one for undeclared values, one for missing cells.
    pub fn slots(&self) -> usize {
        match self {
            Self::Number(number) => number.cuts().bins() + 1,
            Self::Ordinal(declared) | Self::Category(declared) | Self::Flag(declared) => {
                declared.values().len() + 2
            }
            Self::Id | Self::Skip | Self::Label(_) | Self::Weight(_) => 0,
        }
    }

    /// The name of the type in a schema.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Number(number) if number.is_date() => "date",
            Self::Number(number) if number.is_integer() => "integer",
            Self::Number(_) => "number",
            Self::Ordinal(_) => "ordinal",
            Self::Category(_) => "category",
            Self::Flag(_) => "flag",
            Self::Id => "id",
            Self::Skip => "skip",
            Self::Label(_) => "label",
            Self::Weight(_) => "weight",
        }
    }
}

/// What is to be predicted.
#[derive(Debug, Clone, PartialEq)]
pub enum Label {
    /// One of two or more classes. A row whose label is missing or undeclared counts as the first.
    Classes(Declared),
    /// A number between public bounds. A row without one counts as the middle.
    Number {
        /// The smallest.
        min: f64,
        /// The largest.
        max: f64,
    },
}

/// A list of declared values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    values: Vec<String>,
    fill: Option<u16>,
}

impl Declared {
    /// These values; a missing cell counts as `fill`, or has a slot of its own.
    ///
    /// # Errors
    /// [`Error::Data`] if there are fewer than two, too many, two alike, or one that cannot be a cell.
    pub fn new(values: Vec<String>, fill: Option<&str>) -> Result<Self, Error> {
        if values.len() < 2 {
            return Err(Error::data("at least two values are needed"));
        }
        if values.len() > 65_000 {
            return Err(Error::data(format!(
                "{} values: at most 65000 are possible",
                values.len()
            )));
        }
        let mut seen = std::collections::BTreeSet::new();
        for value in &values {
            if value.trim() != value {
                return Err(Error::data(format!(
                    "{value:?} begins or ends with a space: cells are trimmed"
                )));
            }
            if value.chars().any(char::is_control) {
                return Err(Error::data(format!(
                    "{value:?} has control characters; it could not be shown"
                )));
            }
            if !seen.insert(value) {
                return Err(Error::data(format!("{value:?} is declared twice")));
            }
        }
        let fill = match fill {
            None => None,
            Some(text) => match values.iter().position(|value| value == text) {
                Some(place) => Some(place as u16),
                None => return Err(Error::data(format!("fill = {text:?} is not one of the values"))),
            },
        };
        Ok(Self { values, fill })
    }

    getters! {
        /// The values.
        pub values(&values) -> &[String];
        /// What a missing cell counts as, if it has no slot of its own.
        pub fill(fill) -> Option<u16>;
    }

    /// The slot of undeclared values.
    pub fn other(&self) -> u16 {
        self.values.len() as u16
    }

    /// The slot of missing cells.
    pub fn missing(&self) -> u16 {
        self.fill.unwrap_or(self.other() + 1)
    }
}

/// The spacing of the cut points between a number's bins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Evenly on the transformed scale.
    #[default]
    Even,
    /// Half of them evenly, half on the transformed scale; without a transform, closer and closer towards zero. For numbers of
    /// unknown distribution.
    Mixed,
}

impl Spacing {
    /// All of them, with their names in a schema.
    pub const NAMES: [(&str, Self); 2] = [("even", Self::Even), ("mixed", Self::Mixed)];
}

/// Why two numbers cannot be bounds. Bins are single-precision numbers: the bounds must differ as such, too.
pub(super) fn bounds(min: f64, max: f64) -> Result<(), String> {
    let (low, high) = (min as f32, max as f32);
    if !min.is_finite() || !max.is_finite() || !low.is_finite() || !high.is_finite() {
        return Err(format!(
            "min = {min:?} and max = {max:?} must be finite numbers below 3e38"
        ));
    }
    if low >= high {
        return Err(format!("min = {min} must be below max = {max}"));
    }
    Ok(())
}

/// A number between public bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Number {
    min: f64,
    max: f64,
    /// Without cuts: they are below.
    extras: Extras,
    declared_cuts: bool,
    cuts: Cuts,
}

/// What may be said about a number besides its bounds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extras {
    /// Whether it is whole.
    pub integer: bool,
    /// Whether it is a date, which counts as days since 1970-01-01.
    pub date: bool,
    /// The scale on which bins have equal width.
    pub transform: Transform,
    /// How many bins of equal width, if not the default.
    pub bins: Option<u16>,
    /// Where the points between bins lie.
    pub spacing: Spacing,
    /// Cut points, instead of bins of equal width.
    pub cuts: Option<Vec<f64>>,
    /// What a missing cell counts as, if it has no slot of its own.
    pub fill: Option<f64>,
}

impl Number {
    /// Bins of a number if its schema says nothing: halves, quarters and eighths of it are whole, so that a setting can
    /// take coarser bins. A saved model counts on it: to change it is to change the format of models.
    pub const BINS: u16 = 128;
    /// How much finer bins are in which spikes are looked for, and from how many usual ones on they are.
    const FINER: u16 = 16;
    const MANY: usize = 100;

    /// A number from `min` to `max`.
    ///
    /// # Errors
    /// [`Error::Data`] for invalid bounds, bins or cuts.
    pub fn new(min: f64, max: f64, mut extras: Extras) -> Result<Self, Error> {
        let bad = |why: String| Err(Error::data(why));
        bounds(min, max).map_err(Error::data)?;
        let given = extras.cuts.take();
        let Extras {
            integer,
            date,
            transform,
            bins,
            spacing,
            fill,
            ..
        } = extras;
        if date && (integer || fill.is_some() || transform != Transform::None || spacing != Spacing::Even) {
            return bad("a date has no transform, spacing or fill, and is no integer".into());
        }
        transform.fits(min).map_err(Error::data)?;
        if integer && (min.fract() != 0.0 || max.fract() != 0.0) {
            return bad(format!("min = {min} and max = {max} of an integer must be whole"));
        }
        if let Some(fill) = fill
            && !(min..=max).contains(&fill)
        {
            return bad(format!(
                "fill = {fill} must lie between min = {min} and max = {max}"
            ));
        }
        let declared_cuts = given.is_some();
        let cuts = match (given, bins) {
            (Some(_), Some(_)) => return bad("either bins or cuts can be declared, not both".into()),
            (Some(_), None) if spacing != Spacing::Even => {
                return bad("either spacing or cuts can be declared, not both".into());
            }
            (Some(points), None) => Cuts::declared(min, max, &points)?,
            (None, None) if integer && max - min < f64::from(Self::BINS) => Cuts::between_integers(min, max)?,
            (None, bins) => {
                let bins = bins.unwrap_or(Self::BINS);
                match spacing {
                    Spacing::Even => Cuts::equal_width(min, max, transform, bins)?,
                    Spacing::Mixed => Cuts::mixed(min, max, transform, bins, integer)?,
                }
            }
        };
        Ok(Self {
            min,
            max,
            extras,
            declared_cuts,
            cuts,
        })
    }

    getters! {
        /// The smallest; what lies below counts as it.
        pub min(min) -> f64;
        /// The largest; what lies above counts as it.
        pub max(max) -> f64;
        /// Whether it is whole.
        pub is_integer(extras.integer) -> bool;
        /// Whether it is a date, in days since 1970-01-01.
        pub is_date(extras.date) -> bool;
        /// The scale on which it is learnt from.
        pub transform(extras.transform) -> Transform;
        /// How many bins were asked for, if any number was.
        pub bins(extras.bins) -> Option<u16>;
        /// Where the points between its bins lie.
        pub spacing(extras.spacing) -> Spacing;
        /// Whether the cut points were declared one by one.
        pub has_declared_cuts(declared_cuts) -> bool;
        /// The points between its bins.
        pub cuts(&cuts) -> &Cuts;
        /// What a missing cell counts as, if it has no slot of its own.
        pub fill(extras.fill) -> Option<f64>;
    }

    /// Whether its schema declares no bins, so that the algorithm chooses them.
    pub fn leaves_bins_open(&self) -> bool {
        self.extras.bins.is_none() && !self.declared_cuts && self.extras.spacing == Spacing::Even
    }

    fn name_of_type(&self) -> (bool, bool) {
        (self.is_integer(), self.is_date())
    }

    /// Whether it equals `other` except for bins, which its schema does not declare.
    pub(super) fn is_up_to_bins(&self, other: &Self) -> bool {
        let but_for_bins = |it: &Self| (it.min, it.max, it.name_of_type(), it.transform(), it.fill());
        self.leaves_bins_open() && but_for_bins(self) == but_for_bins(other)
    }

    /// The same number with bins for an unknown distribution, if its schema declares no bins.
    pub fn spread(&self) -> Self {
        // Dates have no zero to be finer at.
        if !self.leaves_bins_open() || self.is_date() {
            return self.clone();
        }
        let extras = Extras {
            spacing: Spacing::Mixed,
            ..self.extras.clone()
        };
        Self::new(self.min, self.max, extras).unwrap_or_else(|_| self.clone())
    }

    /// The same number in bins sixteen times as fine as those of [`spread`](Self::spread), between all of whose points it has points too; if its schema
    /// declares no bins, and it has more values than usual bins, which are many.
    pub(crate) fn finer(&self) -> Option<Self> {
        let spread = self.spread();
        // Whole numbers that all have a bin of their own have no finer ones.
        let has_all = self.extras.integer && spread.cuts.bins() as f64 > self.max - self.min;
        if !self.leaves_bins_open() || self.is_date() || has_all || spread.cuts.bins() <= Self::MANY {
            return None;
        }
        let extras = Extras {
            bins: Some(Self::FINER * Self::BINS),
            ..spread.extras.clone()
        };
        let fine = Self::new(self.min, self.max, extras).ok()?;
        let holds = |point: &f32| {
            fine.cuts
                .points()
                .binary_search_by(|own| own.total_cmp(point))
                .is_ok()
        };
        let nested = spread.cuts.points().iter().all(holds);
        nested.then_some(fine)
    }

    /// The number of whose usual bins [`finer`](Self::finer) made these.
    pub(crate) fn coarser(&self) -> Option<Self> {
        let extras = Extras {
            bins: None,
            ..self.extras.clone()
        };
        let is_fine = self.extras.bins == Some(Self::FINER * Self::BINS) && !self.declared_cuts;
        is_fine
            .then(|| Self::new(self.min, self.max, extras).ok())
            .flatten()
    }

    /// The same number in at most `bins` bins, if its schema declares no bins.
    pub fn coarse(&self, bins: u16) -> Self {
        let values = if self.extras.integer {
            self.max - self.min + 1.0
        } else {
            f64::INFINITY
        };
        if self.extras.bins.is_some() || self.declared_cuts || values <= f64::from(bins) {
            return self.clone();
        }
        let extras = Extras {
            bins: Some(bins),
            ..self.extras.clone()
        };
        Self::new(self.min, self.max, extras).unwrap_or_else(|_| self.clone())
    }

    /// The same number with so many bins more below and above, as wide as its bins are on average: for values that were changed
    /// and may lie outside. Every number between the bounds keeps its bin, counted from the first of the old ones.
    ///
    /// # Errors
    /// [`Error::Data`] if the bounds cannot be that far apart.
    pub(crate) fn wider(&self, below: usize, above: usize) -> Result<Self, Error> {
        if below == 0 && above == 0 {
            return Ok(self.clone());
        }
        let width = (self.max - self.min) / self.cuts.bins() as f64;
        let outside = |edge: f64, step: f64, count| (0..count).map(move |i| edge + step * (i as f64 + 0.5));
        let mut points: Vec<f64> = outside(self.min, -width, below).collect();
        points.reverse();
        points.extend(self.cuts.points().iter().map(|&point| f64::from(point)));
        points.extend(outside(self.max, width, above));
        let extras = Extras {
            cuts: Some(points),
            ..Extras::default()
        };
        let (min, max) = (
            self.min - width * (below as f64 + 1.0),
            self.max + width * (above as f64 + 1.0),
        );
        Self::new(min, max, extras)
    }

    /// A place in the range: evenly from end to end, or evenly as [`Spacing::Mixed`] reads the transformed scale.
    pub fn place(&self, share: f64, transformed: bool) -> f64 {
        self.places().at(share, transformed)
    }

    /// All places in the range.
    pub(crate) fn places(&self) -> Places {
        Places::new(self.min, self.max, self.extras.transform)
    }

    /// The slot of missing cells that have one.
    pub fn missing(&self) -> u16 {
        self.cuts.bins() as u16
    }

    /// Where a number lies between the bounds on the transformed scale, from -1 to 1.
    pub fn scaled(&self, x: f64) -> f64 {
        let at = |x: f64| self.extras.transform.apply(x);
        let (low, high) = (at(self.min), at(self.max));
        2.0 * (at(x.clamp(self.min, self.max)) - low) / (high - low) - 1.0
    }
}
