//! What pays for the draws of a run that may be interrupted: an allowance, on all units or on one portion of them.

use super::greedy::GradientRow;
use crate::Error;
use crate::privacy::mechanism::{Exponential, Mechanism};
use crate::privacy::{Allowance, KeptOutput, Ledger, PartQuery, PerRow, PortionAllowance, Query, Released};

/// What pays for draws.
#[derive(Clone, Copy)]
pub(crate) enum PaidTrees<'a> {
    /// About all units.
    Whole(&'a Allowance),
    /// About one portion of them.
    Portion(&'a PortionAllowance, u32),
}

impl PaidTrees<'_> {
    /// One draw, known by its label.
    pub(super) fn draw<M: Mechanism<Output: KeptOutput>>(
        &self,
        ledger: &mut Ledger,
        label: &str,
        mechanism: &M,
        query: Query<'_>,
    ) -> Result<Released<M::Output>, Error> {
        match self {
            Self::Whole(paid) => ledger.draw(paid, label, mechanism, query),
            Self::Portion(paid, portion) => {
                let label = label_of(*portion, label);
                ledger.draw_of_portion(paid, (*portion, &label), mechanism, query)
            }
        }
    }

    /// One choice in each part, all known by one label.
    pub(super) fn choices(
        &self,
        ledger: &mut Ledger,
        label: &str,
        mechanism: &Exponential,
        asked: PartQuery<'_, PerRow<GradientRow>>,
    ) -> Result<Vec<usize>, Error> {
        let chosen = match self {
            Self::Whole(paid) => ledger.draw_parts(paid, label, mechanism, asked)?,
            Self::Portion(paid, portion) => {
                let label = label_of(*portion, label);
                ledger.draw_parts_of_portion(paid, (*portion, &label), mechanism, asked)?
            }
        };
        Ok(chosen.into_inner())
    }
}

fn label_of(portion: u32, label: &str) -> String {
    format!("round {}: {label}", portion + 1)
}
