//! Labelled points of a box, and the sets of them that experiments use.

use privet::privacy::Coins;

/// Labelled points: coordinates in [−1, 1], classes 0 and 1.
#[derive(Debug, Clone, Default)]
pub(super) struct Points {
    /// How many coordinates a point has.
    pub(super) width: usize,
    /// Point after point.
    pub(super) values: Vec<f32>,
    /// The class of each.
    pub(super) classes: Vec<u8>,
}

impl Points {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    pub(super) fn point(&self, row: usize) -> &[f32] {
        &self.values[row * self.width..][..self.width]
    }

    pub(super) fn push(&mut self, point: &[f32], class: u8) {
        self.values.extend_from_slice(point);
        self.classes.push(class);
    }

    /// Some of the points, in this order.
    pub(super) fn take(&self, rows: &[usize]) -> Self {
        let mut taken = Self::new(self.width);
        for &row in rows {
            taken.push(self.point(row), self.classes[row]);
        }
        taken
    }

    /// The first so many.
    pub(super) fn head(&self, rows: usize) -> Self {
        let rows = rows.min(self.len());
        Self {
            width: self.width,
            values: self.values[..rows * self.width].to_vec(),
            classes: self.classes[..rows].to_vec(),
        }
    }

    /// Every point linearly, so that the bounds of a coordinate become −1 and 1; what lies outside is clipped.
    pub(super) fn scaled(mut self, low: &[f32], high: &[f32]) -> Self {
        for point in self.values.chunks_exact_mut(self.width.max(1)) {
            for ((x, low), high) in point.iter_mut().zip(low).zip(high) {
                *x = (2.0 * (*x - low) / (high - low) - 1.0).clamp(-1.0, 1.0);
            }
        }
        self
    }

    /// The least and the largest value of each coordinate.
    pub(super) fn bounds(&self) -> (Vec<f32>, Vec<f32>) {
        let mut low = vec![f32::INFINITY; self.width];
        let mut high = vec![f32::NEG_INFINITY; self.width];
        for point in self.values.chunks_exact(self.width.max(1)) {
            for ((x, low), high) in point.iter().zip(&mut low).zip(&mut high) {
                *low = low.min(*x);
                *high = high.max(*x);
            }
        }
        (low, high)
    }

    /// The mean of each coordinate, over all points or those of a class.
    pub(super) fn mean(&self, class: Option<u8>) -> Vec<f64> {
        let mut sums = vec![0.0; self.width];
        let mut count = 0.0;
        for row in 0..self.len() {
            if class.is_none_or(|class| class == self.classes[row]) {
                count += 1.0;
                for (sum, x) in sums.iter_mut().zip(self.point(row)) {
                    *sum += f64::from(*x);
                }
            }
        }
        sums.iter().map(|sum| sum / f64::max(count, 1.0)).collect()
    }

    /// All of them moved by −`by`, and not clipped.
    pub(super) fn moved(mut self, by: &[f64]) -> Self {
        for point in self.values.chunks_exact_mut(self.width.max(1)) {
            for (x, by) in point.iter_mut().zip(by) {
                *x -= *by as f32;
            }
        }
        self
    }

    /// The values of one coordinate in rising order.
    pub(super) fn sorted(&self, coordinate: usize) -> Vec<f32> {
        let mut column: Vec<f32> = (0..self.len()).map(|row| self.point(row)[coordinate]).collect();
        column.sort_unstable_by(f32::total_cmp);
        column
    }

    /// The value of a coordinate below which a share of the points lies, between two neighbours by their distance.
    pub(super) fn quantile(sorted: &[f32], share: f64) -> f64 {
        let place = share * (sorted.len().max(1) - 1) as f64;
        let (low, rest) = (place.floor() as usize, place.fract());
        let [a, b] = [low, (low + 1).min(sorted.len().max(1) - 1)]
            .map(|i| f64::from(sorted.get(i).copied().unwrap_or(0.0)));
        a + rest * (b - a)
    }
}

/// The rows of one data set: the owners', the data user's, and those to test on.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) owners: Points,
    pub(super) own: Points,
    pub(super) test: Points,
}

impl Set {
    pub(super) fn width(&self) -> usize {
        self.own.width
    }
}

/// A random order of so many rows.
pub(super) fn order(rows: usize, coins: &mut Coins) -> Vec<usize> {
    let mut order: Vec<usize> = (0..rows).collect();
    shuffle(&mut order, coins);
    order
}

pub(super) fn shuffle(rows: &mut [usize], coins: &mut Coins) {
    for i in (1..rows.len()).rev() {
        rows.swap(i, coins.below(i as u64 + 1) as usize);
    }
}

/// A standard normal number.
pub(super) fn normal(coins: &mut Coins) -> f64 {
    let (u, v) = (1.0 - coins.unit(), coins.unit());
    (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
}
