//! The scales on which a number's bins have equal width, and on which it is learnt from.

use crate::Error;
use crate::data::document::number;

/// A scale on which a number's bins have equal width.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Transform {
    /// As it is.
    #[default]
    None,
    /// Natural logarithm; the smallest value must be above zero.
    Log,
    /// Logarithm of one more; the smallest value must be above minus one. In units s it is sign(x)·ln(1 + |x|/s), and the
    /// smallest value may be any: the two are one where no value is below zero and s is 1.
    Log1p(Option<Units>),
    /// Square root; the smallest value must be at least zero.
    Sqrt,
    /// Inverse hyperbolic sine, of x/s in units s: like a logarithm far from zero, for numbers of either sign.
    Asinh(Option<Units>),
}

/// The size around which a transform turns from even to logarithmic: a declared number above zero.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Units(f64);

impl Units {
    /// What lies beyond could not tell two bounds apart.
    const RANGE: std::ops::RangeInclusive<f64> = 1e-38..=1e38;

    /// These units.
    ///
    /// # Errors
    /// [`Error::Data`] for zero, what is below or no number, and what single precision cannot hold.
    pub fn new(size: f64) -> Result<Self, Error> {
        if Self::RANGE.contains(&size) {
            Ok(Self(size))
        } else {
            Err(Error::data(format!(
                "scale = {} must be above zero, from 1e-38 to 1e38",
                number(size)
            )))
        }
    }

    /// Their size.
    pub fn size(self) -> f64 {
        self.0
    }
}

impl Transform {
    /// All of them, with their names in a schema.
    pub const NAMES: [(&str, Self); 5] = [
        ("none", Self::None),
        ("log", Self::Log),
        ("log1p", Self::Log1p(None)),
        ("sqrt", Self::Sqrt),
        ("asinh", Self::Asinh(None)),
    ];

    /// The name in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Log => "log",
            Self::Log1p(_) => "log1p",
            Self::Sqrt => "sqrt",
            Self::Asinh(_) => "asinh",
        }
    }

    /// The units that were declared, if any were.
    pub fn units(self) -> Option<Units> {
        match self {
            Self::Log1p(units) | Self::Asinh(units) => units,
            Self::None | Self::Log | Self::Sqrt => None,
        }
    }

    /// The same in these units.
    ///
    /// # Errors
    /// [`Error::Data`] if it has none.
    pub fn in_units(self, units: Units) -> Result<Self, Error> {
        match self {
            Self::Log1p(_) => Ok(Self::Log1p(Some(units))),
            Self::Asinh(_) => Ok(Self::Asinh(Some(units))),
            Self::None | Self::Log | Self::Sqrt => Err(Error::data(
                "scale is for transform = \"log1p\" or \"asinh\": remove it, or add one of them",
            )),
        }
    }

    /// Why a column with this smallest value cannot have it.
    pub(super) fn fits(self, min: f64) -> Result<(), String> {
        match self {
            Self::Log if min <= 0.0 => Err(format!("transform = \"log\" needs min above 0, not {min}")),
            Self::Log1p(None) if min <= -1.0 => Err(format!(
                "transform = \"log1p\" needs min above -1, not {min}; with a scale, such as scale = 1, it takes any"
            )),
            Self::Sqrt if min < 0.0 => {
                Err(format!("transform = \"sqrt\" needs min of at least 0, not {min}"))
            }
            _ => Ok(()),
        }
    }

    /// The transformed value.
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Self::None => x,
            Self::Log => x.ln(),
            Self::Log1p(None) => x.ln_1p(),
            Self::Log1p(Some(Units(size))) => (x.abs() / size).ln_1p().copysign(x),
            Self::Sqrt => x.sqrt(),
            Self::Asinh(None) => x.asinh(),
            Self::Asinh(Some(Units(size))) => (x / size).asinh(),
        }
    }

    /// The value that is transformed to `y`.
    pub fn undo(self, y: f64) -> f64 {
        match self {
            Self::None => y,
            Self::Log => y.exp(),
            Self::Log1p(None) => y.exp_m1(),
            Self::Log1p(Some(Units(size))) => size * y.abs().exp_m1().copysign(y),
            Self::Sqrt => y * y,
            Self::Asinh(None) => y.sinh(),
            Self::Asinh(Some(Units(size))) => size * y.sinh(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_units(transform: Transform, size: f64) -> Transform {
        transform
            .in_units(Units::new(size).expect("units"))
            .expect("it has some")
    }

    /// The definitions, written out once more.
    #[test]
    fn units_stretch_and_signs_stay() {
        let (log, asinh) = (Transform::Log1p(None), Transform::Asinh(None));
        for size in [1e-3, 1.0, 100.0, 4e7] {
            for x in [0.0, 1e-9, 0.5, 3.0, 5000.0, 1e12] {
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs();
                for (transform, expected) in [
                    (in_units(log, size), (x / size).ln_1p()),
                    (in_units(asinh, size), (x / size).asinh()),
                ] {
                    let y = transform.apply(x);
                    assert!(near(y, expected), "{transform:?} {x}");
                    assert_eq!(transform.apply(-x), -y, "{transform:?} {x}");
                    assert!(near(transform.undo(y), x), "{transform:?} {x}");
                    assert_eq!(transform.undo(-y), -transform.undo(y));
                }
            }
        }
    }

    #[test]
    fn a_scale_of_one_changes_no_number_that_had_a_place() {
        for x in [0.0, 1e-9, 0.3, 7.0, 1e9] {
            for transform in [Transform::Log1p(None), Transform::Asinh(None)] {
                assert_eq!(in_units(transform, 1.0).apply(x), transform.apply(x), "{x}");
            }
        }
        // Without one, old schemas keep their bins below zero.
        assert_eq!(Transform::Log1p(None).apply(-0.5), 0.5_f64.ln());
        assert_eq!(in_units(Transform::Log1p(None), 1.0).apply(-0.5), -(1.5_f64.ln()));
    }

    #[test]
    fn bounds_that_differ_in_single_precision_differ_in_any_units() {
        for size in [1e-38, 1e-3, 1e38] {
            for min in [1e-30_f32, 1.0, 1e9, 1e38] {
                let (min, max) = (f64::from(min), f64::from(min.next_up()));
                for transform in [Transform::Log1p(None), Transform::Asinh(None)] {
                    let transform = in_units(transform, size);
                    let (low, high) = (transform.apply(min), transform.apply(max));
                    assert!(low < high && high.is_finite(), "{transform:?} {min}");
                }
            }
        }
    }

    #[test]
    fn units_are_above_zero() {
        for size in [0.0, -0.0, -1.0, f64::NAN, f64::INFINITY, 1e-39, 1e39] {
            assert!(Units::new(size).is_err(), "{size}");
        }
        for transform in [Transform::None, Transform::Log, Transform::Sqrt] {
            assert!(transform.in_units(Units(1.0)).is_err(), "{transform:?}");
        }
    }
}
