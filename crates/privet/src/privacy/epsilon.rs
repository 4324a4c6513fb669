//! ε and δ, in whole units.
//!
//! [`Epsilon`] bounds the log of how much one unit of privacy can change the odds of anything; [`Delta`] is the
//! probability with which that bound may fail. Both are exact: shares of a budget add up to the budget. What they
//! promise, and how they compose, is said in [`account`](super::account).

use std::num::NonZeroU64;

use super::decimal::quantity;

const EPSILON_PLACES: usize = 9;
const DELTA_PLACES: usize = 18;
const DELTA_MAX: u64 = 1_000_000_000_000_000_000 - 1;

/// A privacy loss ε in whole billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Epsilon(u64);

quantity!(Epsilon, u64, EPSILON_PLACES, "an" "epsilon", u64::MAX);

impl Epsilon {
    /// A quantity in billionths.
    pub const fn from_billionths(billionths: u64) -> Self {
        Self(billionths)
    }

    /// How many billionths it is.
    pub const fn billionths(self) -> u64 {
        self.0
    }

    /// `n` shares that add up to the whole exactly and differ by at most one billionth, the larger ones first.
    pub fn shares(self, n: NonZeroU64) -> impl Iterator<Item = Self> {
        let (share, rest) = (self.0 / n, self.0 % n);
        (0..n.get()).map(move |i| Self(share + u64::from(i < rest)))
    }
}

/// A probability δ in units of 10⁻¹⁸, below one.
///
/// [`Delta::MAX`] is the last unit below one: as a bound it promises nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Delta(u64);

quantity!(Delta, u64, DELTA_PLACES, "a" "delta", DELTA_MAX);

impl Delta {
    /// A quantity of `units` times 10⁻¹⁸; none above [`Delta::MAX`].
    pub const fn from_units(units: u64) -> Option<Self> {
        if units <= DELTA_MAX {
            Some(Self(units))
        } else {
            None
        }
    }

    /// As 1e-6 rather than 0.000001.
    pub fn scientific(self) -> String {
        let units = self.0.to_string();
        let digits = units.trim_end_matches('0');
        if digits.is_empty() {
            return "0".into();
        }
        let exponent = units.len() as i32 - 1 - 18;
        let (first, rest) = digits.split_at(1);
        let dot = if rest.is_empty() { "" } else { "." };
        format!("{first}{dot}{rest}e{exponent}")
    }

    /// How many units of 10⁻¹⁸ it is.
    pub const fn units(self) -> u64 {
        self.0
    }

    /// The bound for a probability of so many units, one or more counting as the last unit below one.
    pub(crate) fn saturating(units: u128) -> Self {
        u64::try_from(units).map_or(Self::MAX, |units| Self(units.min(DELTA_MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn text_is_exact_both_ways() {
        for (text, billionths, shown) in [
            ("0.5", 500_000_000, "0.5"),
            ("1", 1_000_000_000, "1"),
            ("10.000000001", 10_000_000_001, "10.000000001"),
            ("0.50000000000000", 500_000_000, "0.5"),
            (".25", 250_000_000, "0.25"),
            ("3.", 3_000_000_000, "3"),
            ("1e-9", 1, "0.000000001"),
            ("0", 0, "0"),
            ("0.000", 0, "0"),
            ("100", 100_000_000_000, "100"),
        ] {
            let epsilon: Epsilon = text.parse().expect(text);
            assert_eq!(epsilon.billionths(), billionths, "{text}");
            assert_eq!(epsilon.to_string(), shown);
            let json = serde_json::to_string(&epsilon).expect("serializes");
            assert_eq!(json, format!("{shown:?}"));
            assert_eq!(
                serde_json::from_str::<Epsilon>(&json).expect("reads back"),
                epsilon
            );
        }
        assert_eq!(Epsilon::MAX.to_string().parse(), Ok(Epsilon::MAX));
        assert_eq!(
            "1e-6".parse(),
            Ok(Delta::from_units(1_000_000_000_000).expect("in range"))
        );
        assert_eq!(
            "1e-18".parse::<Delta>().expect("one unit").to_string(),
            "0.000000000000000001"
        );
    }

    #[test]
    fn what_cannot_be_kept_is_refused() {
        for text in [
            "",
            ".",
            "-1",
            "+1",
            "1,5",
            "0x1",
            "nan",
            "inf",
            "1e",
            "e5",
            "1e-10",
            "0.0000000001",
            "18446744073.8",
            "1e30",
            "1e32767",
            "1e-32768",
            "1e99999",
            "1_000",
            " 1",
            "1.2.3",
        ] {
            assert!(
                matches!(text.parse::<Epsilon>(), Err(Error::Parameter(_))),
                "{text:?}"
            );
        }
        for text in ["1", "1.0", "2", "1e-19", "-0.1"] {
            assert!(text.parse::<Delta>().is_err(), "{text:?}");
        }
        for value in [f64::NAN, f64::INFINITY, -1.0, 0.1 + 0.2, 1e-10, 1e300] {
            assert!(matches!(Epsilon::new(value), Err(Error::Parameter(_))), "{value}");
        }
        assert!(
            serde_json::from_str::<Epsilon>("0.5").is_err(),
            "only text is exact"
        );
    }

    #[test]
    fn floats_mean_their_decimals() {
        assert_eq!(Epsilon::new(0.1), Ok(Epsilon::from_billionths(100_000_000)));
        assert_eq!(Epsilon::new(-0.0), Ok(Epsilon::ZERO));
        assert_eq!(Epsilon::new(1e-9), Ok(Epsilon::from_billionths(1)));
        assert_eq!(Delta::new(1e-6).map(Delta::units), Ok(1_000_000_000_000));
        assert_eq!(Epsilon::from_billionths(1_500_000_000).to_f64(), 1.5);
    }

    #[test]
    fn arithmetic_is_checked() {
        let [one, two] = [1, 2].map(Epsilon::from_billionths);
        assert_eq!(one.checked_add(one), Some(two));
        assert_eq!(one.checked_mul(2), Some(two));
        assert_eq!(one.checked_sub(two), None);
        assert_eq!(Epsilon::MAX.checked_add(one), None);
        assert_eq!(Epsilon::MAX.checked_mul(2), None);
        assert_eq!(Delta::MAX.checked_add(Delta(1)), None);
        assert_eq!(Delta::from_units(DELTA_MAX + 1), None);
    }

    #[test]
    fn shares_add_up_exactly() {
        for total in [0, 1, 7, 1_000_000_000, u64::MAX] {
            for n in [1, 2, 3, 7, 1000] {
                let n = NonZeroU64::new(n).expect("not zero");
                let shares: Vec<u64> = Epsilon(total).shares(n).map(Epsilon::billionths).collect();
                assert_eq!(shares.len() as u64, n.get());
                assert_eq!(shares.iter().map(|s| u128::from(*s)).sum::<u128>(), total.into());
                let [least, most] = [shares.iter().min(), shares.iter().max()].map(Option::unwrap);
                assert!(most - least <= 1);
            }
        }
    }

    #[test]
    fn ratios_round_up() {
        use dashu_ratio::RBig;
        let third = RBig::from_parts(1.into(), 3u8.into());
        assert_eq!(Epsilon::from_ratio_up(&third), Ok(Epsilon(333_333_334)));
        assert_eq!(
            Epsilon::from_ratio_up(&Epsilon(333_333_334).to_ratio()),
            Ok(Epsilon(333_333_334))
        );
        assert_eq!(Epsilon::from_ratio_up(&RBig::ZERO), Ok(Epsilon::ZERO));
        assert!(Epsilon::from_ratio_up(&-third).is_err());
        assert!(Epsilon::from_ratio_up(&RBig::from(u64::MAX)).is_err());
    }
}
