//! What a campaign has found: debiased means, and how far noise can have moved them.

use super::campaign::{Campaign, Message};
use crate::privacy::mechanism::local::SampledCells;

/// What all messages of a campaign say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The estimated mean of each coordinate, in the owners' own units; for cells, the frequencies within each column, column after column.
    pub means: Vec<f64>,
    /// The deviation of the noise in each of them, about.
    pub deviations: Vec<f64>,
    /// How many messages it comes from.
    pub messages: u64,
}

impl Answer {
    /// The estimate from a collector's sums of so many messages.
    pub fn of(campaign: &Campaign, sums: &[i64], messages: u64) -> Self {
        let means = campaign.means(sums, messages);
        let radius = campaign.radius();
        let each = |variance: f64, messages: u64| radius * (variance / messages.max(1) as f64).sqrt();
        let deviations = match campaign.message() {
            Message::Vector(closest) => {
                let one = each(closest.variance(0.0) / closest.dimension() as f64, messages);
                vec![one; means.len()]
            }
            Message::Coordinates(piecewise) => vec![each(piecewise.variance(0), messages); means.len()],
            Message::Signs(signs) => vec![each(signs.variance(0), messages); means.len()],
            Message::Category(oracle) => {
                vec![each(oracle.variance() / oracle.categories() as f64, messages); means.len()]
            }
            Message::Cells(cells) => of_cells(cells, sums),
        };
        Self {
            means,
            deviations,
            messages,
        }
    }

    /// An answer without noise: for simulations.
    pub fn exact(means: Vec<f64>, messages: u64) -> Self {
        Self {
            deviations: vec![0.0; means.len()],
            means,
            messages,
        }
    }
}

fn of_cells(cells: &SampledCells, sums: &[i64]) -> Vec<f64> {
    let categories = cells.oracle().categories();
    // Most cells are rare.
    let variance = cells.oracle().variance_of_absent();
    let column = |messages: u64| vec![(variance / messages.max(1) as f64).sqrt(); categories];
    cells.messages(sums).into_iter().flat_map(column).collect()
}
