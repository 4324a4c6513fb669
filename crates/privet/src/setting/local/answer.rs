//! What a campaign has found: debiased means, and how far noise can have moved them.

use super::campaign::{Campaign, Message};
use crate::Error;
use crate::privacy::mechanism::local::SampledCells;

/// What all messages of a campaign say together.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// The estimated mean of each coordinate, in the owners' own units; for cells, the frequencies within each column, column after column.
    pub means: Vec<f64>,
    /// The deviation of the noise in each of them, about; infinite for the cells of a column that no message is of.
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

    /// The answers of owners of different ε together: each mean weighted by the inverse of its variance, which the mechanisms tell beforehand. If
    /// the owners who choose one ε differ from those who choose another, it is a mean that is weighted likewise.
    ///
    /// # Errors
    /// [`Error::Data`] if there are none, or they are of different lengths.
    pub fn pooled(answers: &[Self]) -> Result<Self, Error> {
        let first = match answers {
            [] => return Err(Error::data("there is no answer")),
            [one] => return Ok(one.clone()),
            [first, ..] => first,
        };
        let width = first.means.len();
        if answers
            .iter()
            .any(|answer| answer.means.len() != width || answer.deviations.len() != width)
        {
            return Err(Error::data(
                "answers of different lengths: they are of different rounds",
            ));
        }
        // Nobody's answer says nothing, whatever its deviation would be.
        let some: Vec<&Self> = answers.iter().filter(|answer| answer.messages > 0).collect();
        let weight = |answer: &Self, place: usize| match answer.deviations[place] {
            // Without noise every message counts alike.
            0.0 => answer.messages as f64,
            // That of an infinite deviation is zero.
            deviation => deviation.powi(-2),
        };
        let (mut means, mut deviations) = (vec![0.0; width], vec![0.0; width]);
        for place in 0..width {
            let all: f64 = some.iter().map(|answer| weight(answer, place)).sum();
            if all == 0.0 {
                // Nobody said anything about it.
                deviations[place] = f64::INFINITY;
                continue;
            }
            for answer in some.iter().filter(|answer| weight(answer, place) > 0.0) {
                let share = weight(answer, place) / all;
                means[place] += share * answer.means[place];
                deviations[place] += (share * answer.deviations[place]).powi(2);
            }
        }
        deviations.iter_mut().for_each(|square| *square = square.sqrt());
        Ok(Self {
            means,
            deviations,
            messages: answers.iter().map(|answer| answer.messages).sum(),
        })
    }
}

fn of_cells(cells: &SampledCells, sums: &[i64]) -> Vec<f64> {
    let categories = cells.oracle().categories();
    // Most cells are rare.
    let variance = cells.oracle().variance_of_absent();
    // Division by no messages is meant: their mean of zero says nothing.
    let column = |messages: u64| vec![(variance / messages as f64).sqrt(); categories];
    cells.messages(sums).into_iter().flat_map(column).collect()
}
