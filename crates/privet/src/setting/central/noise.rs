//! How much error noise adds, in words: from parameters, schema and relation alone.

use super::Facts;
use crate::privacy::Epsilon;

/// The noise in each coefficient, counted in rows: one row moves a coefficient's gradient by one at most.
pub(super) fn coefficients(dimension: usize, off: f64) -> String {
    format!(
        "{dimension} coefficients are released at once; the noise in each equals about {} rows (one standard error).",
        whole(off)
    )
}

/// The expected loss of a choice by permute-and-flip is at most that of the exponential mechanism, ln K over the rate.
pub(super) fn choice(candidates: u32, epsilon: Epsilon, facts: &Facts) -> String {
    let rate = epsilon.to_f64() / facts.relation.steps() as f64;
    // Each may count twice, from either side.
    let lost = (2.0 * f64::from(candidates)).ln() / rate;
    format!(
        "One of {candidates} random planes is chosen; on average it gets at most {} rows fewer right than the best of them ({} of all rows).",
        whole(lost),
        points(lost / facts.budget.rows as f64)
    )
}

pub(super) fn points(share: f64) -> String {
    match 100.0 * share {
        points if points < 10.0 => format!("{points:.1} percentage points"),
        points => format!("{points:.0} percentage points"),
    }
}

pub(super) fn whole(rows: f64) -> String {
    format!("{:.0}", rows.ceil())
}
