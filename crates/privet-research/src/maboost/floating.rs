//! The same algorithm written apart, in floating point and for numbers only, and two mutants of it.

use privet::data::{Cells, Target};

use super::super::coins;
use super::percent;

/// What is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mutant {
    /// Nothing.
    None,
    /// The weight update as figure 1 prints it, brought to a sum of one.
    PrintedUpdate,
    /// Every stump calls different classes on its two sides.
    NoConstants,
}

/// Values by attribute, classes as signs.
struct Rows {
    values: Vec<Vec<f32>>,
    signs: Vec<f64>,
}

impl Rows {
    /// One class against all others.
    fn new(cells: &Cells, positive: u16) -> Self {
        let values = cells.features().iter();
        let signs = match cells.target() {
            Some(Target::Classes(classes)) => classes
                .iter()
                .map(|class| if *class == positive { 1.0 } else { -1.0 })
                .collect(),
            _ => Vec::new(),
        };
        Self {
            values: values
                .map(|feature| feature.scaled.clone().unwrap_or_default())
                .collect(),
            signs,
        }
    }
}

/// Sign above or at a place, the opposite below.
#[derive(Clone, Copy)]
struct Cut {
    place: f64,
    sign: f64,
}

impl Cut {
    fn vote(&self, value: f32) -> f64 {
        if f64::from(value) > self.place {
            self.sign
        } else {
            -self.sign
        }
    }
}

pub(super) struct Floating {
    parties: [Rows; 2],
    /// Rows by value, for each attribute.
    orders: [Vec<Vec<usize>>; 2],
    mutant: Mutant,
    positive: u16,
}

impl Floating {
    pub(super) fn new(parties: &[Cells; 2], mutant: Mutant) -> Self {
        Self {
            mutant,
            ..Self::of_class(parties, 1)
        }
    }

    /// For one class against all others.
    pub(super) fn of_class(parties: &[Cells; 2], positive: u16) -> Self {
        let parties = parties.each_ref().map(|cells| Rows::new(cells, positive));
        let orders = parties.each_ref().map(|rows| {
            let order = |values: &Vec<f32>| {
                let mut order: Vec<usize> = (0..values.len()).collect();
                order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
                order
            };
            rows.values.iter().map(order).collect()
        });
        Self {
            parties,
            orders,
            mutant: Mutant::None,
            positive,
        }
    }

    /// The stump about an attribute with the least error.
    fn best(&self, party: usize, attribute: usize, weights: &[f64]) -> Cut {
        let rows = &self.parties[party];
        let (values, order) = (&rows.values[attribute], &self.orders[party][attribute]);
        // Everything is above the place: the edge of calling all rows positive.
        let mut edge: f64 = rows
            .signs
            .iter()
            .zip(weights)
            .map(|(sign, weight)| sign * weight)
            .sum();
        let mut best = match self.mutant {
            Mutant::NoConstants => (
                -1.0,
                Cut {
                    place: 2.0,
                    sign: 1.0,
                },
            ),
            _ => (
                edge.abs(),
                Cut {
                    place: -2.0,
                    sign: if edge >= 0.0 { 1.0 } else { -1.0 },
                },
            ),
        };
        for pair in order.windows(2) {
            let (row, next) = (pair[0], pair[1]);
            edge -= 2.0 * rows.signs[row] * weights[row];
            if values[row] < values[next] && edge.abs() > best.0 {
                let place = (f64::from(values[row]) + f64::from(values[next])) / 2.0;
                let sign = if edge >= 0.0 { 1.0 } else { -1.0 };
                best = (edge.abs(), Cut { place, sign });
            }
        }
        best.1
    }

    /// The error on other rows after so many rounds about random attributes.
    pub(super) fn test_error(&self, rounds: u32, test: &Cells, run: u32) -> f64 {
        let scores = self.scores(rounds, test, run);
        let signs = Rows::new(test, self.positive).signs;
        let wrong = scores
            .iter()
            .zip(&signs)
            .filter(|(score, sign)| *score * *sign <= 0.0);
        percent(wrong.count(), scores.len())
    }

    /// The sum of coefficients for each other row.
    pub(super) fn scores(&self, rounds: u32, test: &Cells, run: u32) -> Vec<f64> {
        let test = Rows::new(test, self.positive);
        let attributes = test.values.len();
        let mut coins = coins(u64::from(run) ^ 0x666c_6f61);
        let mut weights = self
            .parties
            .each_ref()
            .map(|rows| vec![0.5 / rows.signs.len() as f64; rows.signs.len()]);
        let rows: usize = self.parties.iter().map(|rows| rows.signs.len()).sum();
        let smoothing = 0.5 / rows as f64;
        let mut scores = vec![0.0; test.signs.len()];
        for _ in 0..rounds {
            let attribute = coins.below(attributes as u64) as usize;
            let cuts = [0, 1].map(|party| self.best(party, attribute, &weights[party]));
            let vote = |value: f32| (cuts[0].vote(value) + cuts[1].vote(value)) / 2.0;
            let [mut right, mut wrong, mut silent] = [0.0; 3];
            for (rows, weights) in self.parties.iter().zip(&weights) {
                for (row, weight) in weights.iter().enumerate() {
                    match rows.signs[row] * vote(rows.values[attribute][row]) {
                        margin if margin > 0.0 => right += weight,
                        margin if margin < 0.0 => wrong += weight,
                        _ => silent += weight,
                    }
                }
            }
            let (plus, minus) = (right + smoothing, wrong + smoothing);
            let alpha = (plus / minus).ln() / 2.0;
            for (row, score) in scores.iter_mut().enumerate() {
                *score += alpha * vote(test.values[attribute][row]);
            }
            let factor = |margin: f64| match self.mutant {
                Mutant::PrintedUpdate if margin < 0.0 => (minus / plus).sqrt() / (2.0 * plus + silent),
                Mutant::PrintedUpdate => 1.0 / (silent + 2.0 * (plus / minus).sqrt()),
                _ => (-alpha * margin).exp(),
            };
            for (rows, weights) in self.parties.iter().zip(&mut weights) {
                for (row, weight) in weights.iter_mut().enumerate() {
                    *weight *= factor(rows.signs[row] * vote(rows.values[attribute][row]));
                }
            }
            let total: f64 = weights.iter().flatten().sum();
            weights.iter_mut().flatten().for_each(|weight| *weight /= total);
        }
        scores
    }
}
