//! Quantities of privacy as whole units, read and written as decimal text.
//!
//! A budget is money: `0.1 + 0.2` must be `0.3`, and what was written to a journal must read back as the same number.
//! So every quantity is a whole number of a tiny unit, and its text is exact in both directions. Nothing is rounded
//! on the way in: a text with more decimals than the unit has is refused.

use dashu_base::DivEuclid;
use dashu_int::IBig;
use dashu_ratio::RBig;

/// Reads `digits[.digits][e[±]digits]` as a whole number of `10^-places`, or says what is wrong with it.
pub(crate) fn parse(text: &str, places: usize) -> Result<u128, String> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i16>().ok()),
        None => (text, Some(0)),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let exponent = exponent.filter(|_| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()));
    let Some(exponent) = exponent else {
        return Err("write a plain decimal number, such as 0.5".into());
    };
    let significant = digits.trim_start_matches('0').trim_end_matches('0');
    if significant.is_empty() {
        return Ok(0);
    }
    let trailing = digits.len() - digits.trim_end_matches('0').len();
    let shift = places as i64 + i64::from(exponent) - fraction.len() as i64 + trailing as i64;
    let Ok(shift) = u32::try_from(shift) else {
        return Err(format!("at most {places} decimals can be kept exactly"));
    };
    significant
        .parse::<u128>()
        .ok()
        .zip(10u128.checked_pow(shift))
        .and_then(|(digits, unit)| digits.checked_mul(unit))
        .ok_or_else(|| "it is too large".into())
}

/// The shortest decimal text of a whole number of `10^-places`.
pub(crate) fn write(f: &mut std::fmt::Formatter<'_>, units: u128, places: usize) -> std::fmt::Result {
    let one = 10u128.pow(places as u32);
    let fraction = format!("{:0places$}", units % one);
    let text = format!("{}.{}", units / one, fraction);
    f.pad(text.trim_end_matches('0').trim_end_matches('.'))
}

/// The smallest whole number of `10^-places` that is not below `value`.
pub(crate) fn ratio_up(value: &RBig, places: usize) -> Option<u128> {
    let scaled = value.numerator().clone() * IBig::from(10u128.pow(places as u32));
    let denominator = IBig::from(value.denominator().clone());
    u128::try_from(-((-scaled).div_euclid(&denominator))).ok()
}

/// The shared code of the four quantities: exact text, checked arithmetic, rounding against us.
macro_rules! quantity {
    ($name:ident, $int:ty, $places:expr, $article:literal $key:literal, $max:expr) => {
        impl $name {
            /// Nothing.
            pub const ZERO: Self = Self(0);
            /// The largest that can be written.
            pub const MAX: Self = Self($max);

            /// The nearest `f64`, for display and planning only.
            pub fn to_f64(self) -> f64 {
                self.0 as f64 / 10f64.powi($places as i32)
            }

            /// The exact sum, if it can be written.
            pub fn checked_add(self, other: Self) -> Option<Self> {
                self.0
                    .checked_add(other.0)
                    .filter(|sum| *sum <= $max)
                    .map(Self)
            }

            /// The exact difference, if it is not negative.
            pub fn checked_sub(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).map(Self)
            }

            /// The exact multiple, if it can be written.
            pub fn checked_mul(self, times: u64) -> Option<Self> {
                self.0
                    .checked_mul(<$int>::from(times))
                    .filter(|product| *product <= $max)
                    .map(Self)
            }

            /// Through the shortest decimal text of the number, so that `0.1` means one tenth.
            ///
            /// # Errors
            /// [`Error::Parameter`](crate::Error::Parameter) if the number is negative, not finite, too large, or has
            /// more decimals than the unit.
            pub fn new(value: f64) -> Result<Self, crate::Error> {
                if !value.is_finite() || value.is_sign_negative() && value != 0.0 {
                    let why = format!(
                        "{value} cannot be {} {}: it must be a number that is not negative",
                        $article, $key
                    );
                    return Err(crate::Error::parameter($key, why));
                }
                value.abs().to_string().parse()
            }

            /// The smallest quantity that is not below `value`.
            #[allow(dead_code, reason = "each quantity has it, not every one is asked")]
            pub(crate) fn from_ratio_up(value: &dashu_ratio::RBig) -> Result<Self, crate::Error> {
                $crate::privacy::decimal::ratio_up(value, $places)
                    .and_then(|units| <$int>::try_from(units).ok())
                    .filter(|units| *units <= $max)
                    .map(Self)
                    .ok_or_else(|| {
                        crate::Error::parameter(
                            $key,
                            format!(
                                "{value} is too large, or negative, to be {} {}",
                                $article, $key
                            ),
                        )
                    })
            }

            /// The quantity itself, as a rational.
            #[allow(dead_code, reason = "each quantity has it, not every one is asked")]
            pub(crate) fn to_ratio(self) -> dashu_ratio::RBig {
                dashu_ratio::RBig::from_parts(self.0.into(), dashu_int::UBig::from(10u8).pow($places))
            }
        }

        impl std::str::FromStr for $name {
            type Err = crate::Error;

            fn from_str(text: &str) -> Result<Self, crate::Error> {
                $crate::privacy::decimal::parse(text, $places)
                    .and_then(|units| {
                        let units = <$int>::try_from(units).ok().filter(|units| *units <= $max);
                        units.ok_or_else(|| format!("it must be at most {}", Self::MAX))
                    })
                    .map(Self)
                    .map_err(|why| {
                        crate::Error::parameter(
                            $key,
                            format!("{text:?} cannot be {} {}: {why}", $article, $key),
                        )
                    })
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::privacy::decimal::write(f, self.0.into(), $places)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <String as serde::Deserialize>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use quantity;
