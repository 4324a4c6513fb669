//! Which numbers make sense, and to which algorithm a parameter belongs.

use super::super::{HistogramBayes, MomentSelect, People, Select};
use super::{Algorithm, Central};
use crate::Error;
use crate::error::Subject;

impl Central {
    /// That every number lies where it makes sense.
    pub(super) fn ranges(&self) -> Result<(), Error> {
        let bad = |why: String| Err(Error::parameter(Subject::Algorithm, why));
        match &self.algorithm {
            Algorithm::Brc(brc) | Algorithm::People(People { boosting: brc }) => {
                for (key, clip) in [("lower", brc.lower), ("upper", brc.upper)] {
                    if !(1.0..=100.0).contains(&clip) {
                        return bad(format!("{key} = {clip}: it must lie between 1 and 100"));
                    }
                }
                match brc.rounds {
                    Some(rounds) if !(1..=10_000).contains(&rounds) => {
                        bad(format!("rounds = {rounds}: it must lie between 1 and 10000"))
                    }
                    _ => {
                        let draws = match &self.algorithm {
                            Algorithm::People(people) => people.draws(&self.budget),
                            _ => brc.draws(&self.budget),
                        };
                        self.budget.share(draws).map(drop)
                    }
                }
            }
            Algorithm::Select(Select { candidates })
            | Algorithm::MomentSelect(MomentSelect { candidates })
                if !(1..=100_000).contains(candidates) =>
            {
                bad(format!(
                    "candidates = {candidates}: it must lie between 1 and 100000"
                ))
            }
            Algorithm::HistogramBayes(HistogramBayes { bins }) if !(1..=1000).contains(bins) => {
                bad(format!("bins = {bins}: it must lie between 1 and 1000"))
            }
            _ => Ok(()),
        }
    }
}

/// The algorithms that have a parameter.
pub(super) fn owners(parameter: &str) -> &'static [&'static str] {
    match parameter {
        "candidates" => &["select", "moment-select"],
        "bins" => &["histogram-bayes", "trees"],
        "delta" => &["trees", "auto"],
        "splits" | "trees" | "leaves" | "depth" | "learning_rate" | "gradient_clip" | "ridge"
        | "shrinkage" | "calibrate" => &["trees"],
        "encoding" => &["objective"],
        "planes" => &["brc"],
        _ => &["brc", "people"],
    }
}
