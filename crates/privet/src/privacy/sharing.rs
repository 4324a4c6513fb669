//! Who adds noise to joint sums, and what is assumed of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::getters;
use crate::Error;

/// The owners of joint sums, to which each adds its share of the noise: how many they are, how many may be absent from a sum, and how many
/// may collude. A price that was paid for joint sums holds under this assumption only.
///
/// # Privacy
/// `docs/proofs/shares.md#joint-sums`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Numbers", into = "Numbers")]
pub struct Sharing {
    owners: u32,
    absent: u32,
    colluding: u32,
}

/// What is written down of it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    owners: u32,
    absent: u32,
    colluding: u32,
}

impl Sharing {
    /// Joint sums of `owners` owners, of which at most `absent` are absent from a sum and at most `colluding` collude. An owner that
    /// looks at the results alone counts as one that colludes, and so does a miner that is an owner.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there are fewer than three owners, or no more than twice those that may be absent and those that may
    /// collude: two sums over different owners could then be opened for one draw, whatever the protocol. A secure sum may need more owners,
    /// and refuses to begin with fewer.
    pub fn new(owners: u32, absent: u32, colluding: u32) -> Result<Self, Error> {
        if owners < 3 {
            let why = format!(
                "a joint sum of {owners} owners: with fewer than three, one owner learns another's numbers from the sum and its own"
            );
            return Err(Error::parameter("owners", why));
        }
        let least = 2 * u64::from(absent) + u64::from(colluding);
        if u64::from(owners) <= least {
            let why = format!(
                "{owners} owners of which {absent} may be absent and {colluding} may collude: there must be more than \
                 2 x {absent} + {colluding} = {least} owners"
            );
            return Err(Error::parameter("owners", why));
        }
        Ok(Self {
            owners,
            absent,
            colluding,
        })
    }

    getters! {
        /// How many owners there are.
        pub owners(owners) -> u32;
        /// How many of them may be absent from a sum.
        pub absent(absent) -> u32;
        /// How many of them may collude.
        pub colluding(colluding) -> u32;
    }

    /// How many honest owners' shares of noise are in every sum, at least: those that are neither absent nor collude.
    pub fn honest(&self) -> u32 {
        self.owners - self.absent - self.colluding
    }
}

impl TryFrom<Numbers> for Sharing {
    type Error = Error;

    fn try_from(numbers: Numbers) -> Result<Self, Error> {
        Self::new(numbers.owners, numbers.absent, numbers.colluding)
    }
}

impl From<Sharing> for Numbers {
    fn from(sharing: Sharing) -> Self {
        Self {
            owners: sharing.owners,
            absent: sharing.absent,
            colluding: sharing.colluding,
        }
    }
}

impl fmt::Display for Sharing {
    /// The assumption, as a clause that follows "provided that".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colluding = match self.colluding {
            0 => "none".to_owned(),
            some => format!("at most {some}"),
        };
        let collude = if self.colluding < 2 { "colludes" } else { "collude" };
        let absent = match self.absent {
            0 => "none is".to_owned(),
            1 => "at most 1 is".to_owned(),
            some => format!("at most {some} are"),
        };
        write!(
            f,
            "the cryptography of the joint sums is not broken, {colluding} of the {} owners {collude} (one that looks at the results alone \
             counts as one), and {absent} absent from a sum",
            self.owners
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every owner answers once, and those that collude answer for any sum. A sum must open when as many are absent as may be, so it cannot
    /// need more answers than the others give. Tried for every way in which the honest owners answer for one sum or for another.
    #[test]
    fn owners_are_refused_that_could_open_two_sums_of_one_draw_and_no_others() {
        for owners in 3..9 {
            for absent in 0..owners {
                for colluding in 0..=owners {
                    let (honest, needed) = (owners - colluding, owners - absent);
                    let both_open = |answers: u32| {
                        let one = answers.count_ones() + colluding;
                        let other = honest - answers.count_ones() + colluding;
                        one >= needed && other >= needed
                    };
                    let two_sums = (0..1 << honest).any(both_open);
                    let refused = Sharing::new(owners, absent, colluding).is_err();
                    assert_eq!(refused, two_sums, "{owners}, {absent}, {colluding}");
                }
            }
        }
    }

    #[test]
    fn few_owners_are_refused_and_the_honest_are_counted() {
        for (owners, absent, colluding) in [(2, 0, 0), (u32::MAX, u32::MAX, 1)] {
            let refused = Sharing::new(owners, absent, colluding);
            assert!(matches!(refused, Err(Error::Parameter(_))), "{refused:?}");
        }
        let sharing = Sharing::new(20, 2, 2).expect("three kinds of owners");
        assert_eq!(sharing.honest(), 16);
        assert_eq!(Sharing::new(3, 1, 0).map(|s| s.honest()).ok(), Some(2));
    }

    #[test]
    fn what_is_assumed_reads_well_whatever_the_numbers() {
        let words = |absent, colluding| Sharing::new(9, absent, colluding).expect("owners").to_string();
        let none = words(0, 0);
        assert!(
            none.contains("none of the 9 owners colludes (")
                && none.ends_with("and none is absent from a sum")
        );
        let one = words(1, 1);
        assert!(
            one.contains("at most 1 of the 9 owners colludes (")
                && one.ends_with("and at most 1 is absent from a sum")
        );
        let two = words(2, 2);
        assert!(
            two.contains("at most 2 of the 9 owners collude (")
                && two.ends_with("and at most 2 are absent from a sum")
        );
    }

    #[test]
    fn what_is_written_down_is_checked_when_it_is_read() {
        let sharing = Sharing::new(20, 2, 2).expect("owners");
        let text = serde_json::to_string(&sharing).expect("numbers");
        assert_eq!(text, r#"{"owners":20,"absent":2,"colluding":2}"#);
        assert_eq!(serde_json::from_str::<Sharing>(&text).ok(), Some(sharing));
        for text in [
            r#"{"owners":20,"absent":10,"colluding":2}"#,
            r#"{"owners":20,"absent":2,"colluding":2,"more":1}"#,
            r#"{"owners":20,"absent":2}"#,
        ] {
            assert!(serde_json::from_str::<Sharing>(text).is_err(), "{text}");
        }
    }
}
