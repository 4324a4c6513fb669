//! Lines 3 to 12: candidates, questions by the exponential mechanism, leaves.

use privet::learner::Coordinate;
use privet::privacy::Coins;

use super::{Correction, InPrivate, PrintedLoss, PrintedNode, gain};

/// Without noise, no leaf of classes says more: where every row is wrong and sure, equation 8 divides by nothing.
const MOST: f64 = 4.0;

/// What line 4 lists of one column: averages of three neighbouring values if it is continuous, all values if it is not.
pub(super) fn feasible(column: &[f32], continuous: bool) -> Vec<f32> {
    let mut values = column.to_vec();
    values.sort_unstable_by(f32::total_cmp);
    values.dedup();
    if !continuous {
        return values;
    }
    let average = |three: &[f32]| three.iter().sum::<f32>() / three.len() as f32;
    values.chunks(3).map(average).collect()
}

/// Into how many parts the scale of a number is cut.
const PARTS: u8 = 32;

/// Candidates that the schema gives: borders of equal parts of a number's scale, or places between the codes of a list.
pub(super) fn declared(own: &Coordinate) -> Vec<f32> {
    let parts = match own.shape.number {
        true => f32::from(PARTS),
        false => own.values.saturating_sub(1) as f32,
    };
    // Codes lie at the ends of such parts, so cuts between them lie in the middle.
    let first = if own.shape.number { 1.0 } else { 0.5 };
    let cut = |place: f32| (first + place) / parts * 2.0 - 1.0;
    let cuts = (0..u16::MAX).map(f32::from).map(cut);
    cuts.take_while(|cut| *cut < 1.0).collect()
}

pub(super) struct PrintedGrower<'a> {
    pub(super) params: &'a InPrivate,
    pub(super) loss: PrintedLoss,
    /// By column, in their order.
    pub(super) candidates: Vec<Vec<f32>>,
    pub(super) columns: &'a [Vec<f32>],
    pub(super) residuals: &'a [f64],
}

impl PrintedGrower<'_> {
    /// All rows, for each column in the order of its values; at least once, where there are no columns.
    pub(super) fn sorted(&self) -> Vec<Vec<u32>> {
        let all: Vec<u32> = (0..self.residuals.len() as u32).collect();
        let order = |column: &Vec<f32>| {
            let mut order = all.clone();
            order.sort_by(|&a, &b| column[a as usize].total_cmp(&column[b as usize]));
            order
        };
        if self.columns.is_empty() {
            return vec![all];
        }
        self.columns.iter().map(order).collect()
    }

    pub(super) fn node(&self, orders: &[Vec<u32>], levels: u32, coins: &mut Coins) -> PrintedNode {
        let chosen = if levels > 0 {
            self.choose(orders, coins)
        } else {
            None
        };
        let Some((column, below)) = chosen else {
            return PrintedNode::Leaf(self.value(&orders[0], coins));
        };
        let is_left = |row: &u32| self.columns[column][*row as usize] < below;
        let (left, right): (Vec<Vec<u32>>, Vec<Vec<u32>>) = orders
            .iter()
            .map(|order| order.iter().copied().partition(is_left))
            .unzip();
        let sides = [left, right].map(|orders| self.node(&orders, levels - 1, coins));
        PrintedNode::Question {
            column,
            below,
            sides: Box::new(sides),
        }
    }

    /// Lines 6 to 10.
    fn choose(&self, orders: &[Vec<u32>], coins: &mut Coins) -> Option<(usize, f32)> {
        let mut gains = Vec::new();
        for (column, candidates) in self.candidates.iter().enumerate() {
            let total: f64 = orders[column]
                .iter()
                .map(|&row| self.residuals[row as usize])
                .sum();
            let mut rows = orders[column].iter().peekable();
            let mut left = (0.0, 0.0);
            for &below in candidates {
                while let Some(&row) = rows.next_if(|row| self.columns[column][**row as usize] < below) {
                    left = (left.0 + self.residuals[row as usize], left.1 + 1.0);
                }
                let right = (total - left.0, orders[column].len() as f64 - left.1);
                gains.push((gain(left, right), (column, below)));
            }
        }
        let (best, at_best) = gains.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0))?;
        let Some(sharpness) = self.params.sharpness(self.loss) else {
            return Some(at_best);
        };
        let weight = |gain: f64| (sharpness * (gain - best)).exp();
        let total: f64 = gains.iter().map(|(gain, _)| weight(*gain)).sum();
        let mut drawn = coins.unit() * total;
        let chosen = gains.iter().find(|(gain, _)| {
            drawn -= weight(*gain);
            drawn < 0.0
        });
        Some(chosen.map_or(at_best, |(_, chosen)| *chosen))
    }

    /// Line 12: one noisy sum over another, as printed whatever the other is.
    fn value(&self, rows: &[u32], coins: &mut Coins) -> f64 {
        let residuals: Vec<f64> = rows.iter().map(|&row| self.residuals[row as usize]).collect();
        let [upper, lower] = self.params.leaf(self.loss, &residuals, coins);
        let value = match (self.params.corrected, self.params.epsilon, self.loss) {
            (Some(Correction { ridge }), _, loss) => {
                (upper / (lower.max(0.0) + ridge)).clamp(-loss.bound(), loss.bound())
            }
            (None, Some(_), _) => upper / lower,
            (None, None, _) if residuals.is_empty() => 0.0,
            (None, None, PrintedLoss::Classes) => (upper / lower).clamp(-MOST, MOST),
            (None, None, PrintedLoss::Numbers) => upper / lower,
        };
        self.params.learning_rate * value
    }
}
