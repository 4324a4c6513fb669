//! How a number finds its bin.
//!
//! Cut points are single-precision numbers on the raw scale, fixed by the schema. A number is rounded to single precision
//! and its bin is how many cuts are at most it: `x < cut` goes left, as XGBoost and ONNX have it, so that an exported
//! model sees the same bins without the schema's transform.

use crate::Error;
use crate::data::schema::Transform;

/// The points between the bins of a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Cuts {
    points: Vec<f32>,
    /// For bins of equal width: where the first begins, and how many there are to one unit.
    even: Option<(f32, f32)>,
}

impl Cuts {
    const MOST: usize = 65_000;

    /// `bins` bins of equal width on the transformed scale.
    pub(super) fn equal_width(min: f64, max: f64, transform: Transform, bins: u16) -> Result<Self, Error> {
        if !(1..=Self::MOST as u16).contains(&bins) {
            return Err(Error::data(format!(
                "bins = {bins}: 1 to {} are possible",
                Self::MOST
            )));
        }
        let (low, high) = (transform.apply(min), transform.apply(max));
        let step = (high - low) / f64::from(bins);
        let points = (1..bins)
            .map(|i| transform.undo(low + step * f64::from(i)) as f32)
            .collect();
        let even = (transform == Transform::None).then_some((min as f32, (1.0 / step) as f32));
        Self::new(min, max, points, even).map_err(|_| {
            Error::data(format!(
                "{bins} bins between {min} and {max} are finer than single precision"
            ))
        })
    }

    /// At most `bins` bins: half of the points evenly spaced, half on the transformed scale.
    pub(super) fn mixed(
        min: f64,
        max: f64,
        transform: Transform,
        bins: u16,
        integer: bool,
    ) -> Result<Self, Error> {
        let half = (bins / 2).max(1);
        let scale = CutScale::of(min, max, transform);
        let (low, high) = (scale.apply(min), scale.apply(max));
        let mut points: Vec<f32> = (1..half)
            .flat_map(|i| {
                let share = f64::from(i) / f64::from(half);
                [min + share * (max - min), scale.undo(low + share * (high - low))]
            })
            // Between two whole numbers one point is enough.
            .map(|x| if integer { x.floor() + 0.5 } else { x } as f32)
            .filter(|&x| (min as f32) < x && x <= max as f32)
            .collect();
        points.sort_unstable_by(f32::total_cmp);
        points.dedup();
        Self::new(min, max, points, None)
            .map_err(|()| Error::data(format!("{bins} bins between {min} and {max} are not possible")))
    }

    /// One bin for each whole number.
    pub(super) fn between_integers(min: f64, max: f64) -> Result<Self, Error> {
        let count = (max - min) as usize;
        let points = (0..count).map(|i| (min + i as f64 + 0.5) as f32).collect();
        Self::new(min, max, points, Some(((min - 0.5) as f32, 1.0))).map_err(|_| {
            Error::data(format!(
                "whole numbers from {min} to {max} are finer than single precision"
            ))
        })
    }

    /// These cut points.
    pub(super) fn declared(min: f64, max: f64, points: &[f64]) -> Result<Self, Error> {
        if points.is_empty() || points.len() >= Self::MOST {
            return Err(Error::data(format!(
                "cuts: 1 to {} of them are possible",
                Self::MOST - 1
            )));
        }
        Self::new(min, max, points.iter().map(|&x| x as f32).collect(), None).map_err(|_| {
            Error::data(format!(
                "cuts must rise, and lie above min = {min} and at most at max = {max}"
            ))
        })
    }

    fn new(min: f64, max: f64, points: Vec<f32>, even: Option<(f32, f32)>) -> Result<Self, ()> {
        let rises = points.windows(2).all(|pair| pair[0] < pair[1]);
        let inside = points.first().is_none_or(|&x| (min as f32) < x)
            && points.last().is_none_or(|&x| x <= max as f32);
        if rises && inside {
            Ok(Self { points, even })
        } else {
            Err(())
        }
    }

    /// The points, rising.
    pub fn points(&self) -> &[f32] {
        &self.points
    }

    /// How many bins there are.
    pub fn bins(&self) -> usize {
        self.points.len() + 1
    }

    /// The bin of a number; what is not a number has none and counts as the first.
    #[inline]
    pub fn bin(&self, x: f32) -> u16 {
        let Some((origin, per_unit)) = self.even else {
            return self.points.partition_point(|&cut| cut <= x) as u16;
        };
        // A guess by division can be one off at the edges; the points decide.
        let points = &self.points[..];
        let last = points.len();
        // Signed and short: converting is a single instruction then.
        let mut bin = (((x - origin) * per_unit) as i32).clamp(0, last as i32) as usize;
        while bin < last && points[bin] <= x {
            bin += 1;
        }
        while bin > 0 && points[bin - 1] > x {
            bin -= 1;
        }
        bin as u16
    }
}

/// What a transform makes of numbers; where none is declared, a scale that is finer and finer towards zero.
#[derive(Debug, Clone)]
enum CutScale {
    Declared(Transform),
    /// Inverse hyperbolic sine, in units of a two-thousandth of the range: about linear below, logarithmic above.
    Asinh(f64),
}

impl CutScale {
    fn of(min: f64, max: f64, transform: Transform) -> Self {
        match transform {
            Transform::None => Self::Asinh((max - min) / 2000.0),
            declared => Self::Declared(declared),
        }
    }

    fn apply(&self, x: f64) -> f64 {
        match self {
            Self::Declared(transform) => transform.apply(x),
            Self::Asinh(unit) => (x / unit).asinh(),
        }
    }

    fn undo(&self, y: f64) -> f64 {
        match self {
            Self::Declared(transform) => transform.undo(y),
            Self::Asinh(unit) => unit * y.sinh(),
        }
    }
}

/// A place between two bounds: evenly from end to end, or evenly on the transformed scale.
pub(crate) fn place(min: f64, max: f64, transform: Transform, share: f64, transformed: bool) -> f64 {
    Places::new(min, max, transform).at(share, transformed)
}

/// The places between two bounds.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    bounds: [f64; 2],
    /// What the scale makes of the bounds.
    scaled: [f64; 2],
    scale: CutScale,
}

impl Places {
    pub(in crate::data) fn new(min: f64, max: f64, transform: Transform) -> Self {
        let (bounds, scale) = ([min, max], CutScale::of(min, max, transform));
        let scaled = bounds.map(|bound| scale.apply(bound));
        Self {
            bounds,
            scaled,
            scale,
        }
    }

    /// As [`place`].
    pub(crate) fn at(&self, share: f64, transformed: bool) -> f64 {
        let between = |[low, high]: [f64; 2]| low + share * (high - low);
        match transformed {
            false => between(self.bounds),
            true => self.scale.undo(between(self.scaled)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::Units;

    impl Cuts {
        /// Every cut with its neighbours, and the ends.
        pub(in crate::data) fn probes(&self) -> Vec<f32> {
            let near = |&point: &f32| [point, point.next_up(), point.next_down()];
            let ends = [f32::MIN, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, 0.0];
            ends.into_iter()
                .chain(self.points().iter().flat_map(near))
                .collect()
        }
    }

    /// The definition: how many cuts are at most x.
    fn slow(cuts: &Cuts, x: f32) -> u16 {
        cuts.points().iter().filter(|&&cut| cut <= x).count() as u16
    }

    #[test]
    fn the_guess_never_differs_from_the_definition() {
        let log1p = Transform::Log1p(Units::new(1000.0).ok());
        let all = [
            Cuts::equal_width(0.0, 1.0, Transform::None, 128),
            Cuts::equal_width(-3.7e5, 9.1e4, Transform::None, 255),
            Cuts::equal_width(1.0, 1e6, Transform::Log, 64),
            Cuts::equal_width(0.0, 10.0, Transform::Sqrt, 7),
            Cuts::equal_width(-1e4, 1.1e5, log1p, 128),
            Cuts::between_integers(17.0, 90.0),
            Cuts::declared(0.0, 100.0, &[1.0, 5.0, 99.5]),
            Cuts::mixed(-5e4, 5e5, Transform::None, 128, false),
            Cuts::mixed(0.0, 99_999.0, Transform::Log1p(None), 128, true),
        ];
        for cuts in all.map(|cuts| cuts.expect("cuts")) {
            for x in cuts.probes() {
                assert_eq!(cuts.bin(x), slow(&cuts, x), "{x} in {cuts:?}");
            }
        }
    }

    #[test]
    fn bins_finer_than_single_precision_are_refused() {
        assert!(Cuts::equal_width(1e9, 1e9 + 200.0, Transform::None, 128).is_err());
        assert!(Cuts::between_integers(1e9, 1e9 + 100.0).is_err());
        assert!(Cuts::declared(0.0, 1.0, &[0.5, 0.5]).is_err());
        assert!(Cuts::declared(0.0, 1.0, &[0.0]).is_err());
    }
}
