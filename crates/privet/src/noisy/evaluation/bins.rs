//! Public bins of scores, labels and errors, and what a loss can be inside each.

/// Points between bins, in order. A bin has its upper edge and not its lower one.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Edges {
    low: f64,
    inner: Vec<f64>,
    high: f64,
}

impl Edges {
    /// Probabilities: bins of 1/32, the outermost halved down to 1/1024. All edges are exact, one half is one of them.
    pub(super) fn of_scores() -> Self {
        let fine = [1024.0, 512.0, 256.0, 128.0, 64.0].map(|n: f64| 1.0 / n);
        let middle = (1..32).map(|i| f64::from(i) / 32.0);
        let top = fine.iter().rev().map(|x| 1.0 - x);
        let inner = fine.iter().copied().chain(middle).chain(top).collect();
        Self {
            low: 0.0,
            inner,
            high: 1.0,
        }
    }

    /// Labels: 64 bins of equal width.
    pub(super) fn of_labels(min: f64, max: f64) -> Self {
        let at = |i: i32| min + (max - min) * f64::from(i) / 64.0;
        Self {
            low: min,
            inner: (1..64).map(at).collect(),
            high: max,
        }
    }

    /// Absolute errors within a range: the first bin is a thousandth of it, each next edge the fourth root of two higher.
    pub(super) fn of_errors(range: f64) -> Self {
        let at = |i: i32| range * (-f64::from(i) / 4.0).exp2();
        Self {
            low: 0.0,
            inner: (1..=40).rev().map(at).collect(),
            high: range,
        }
    }

    pub(super) fn bins(&self) -> usize {
        self.inner.len() + 1
    }

    /// The bin of a number; what is not a number goes to the last.
    pub(super) fn bin(&self, x: f64) -> usize {
        if x.is_nan() {
            return self.inner.len();
        }
        self.inner.partition_point(|edge| *edge < x)
    }

    /// Where each bin begins and ends.
    pub(super) fn bounds(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let from = std::iter::once(self.low).chain(self.inner.iter().copied());
        let to = self.inner.iter().copied().chain(std::iter::once(self.high));
        from.zip(to)
    }
}

/// What a loss is taken to be in a bin, and how far it can be from that for any row of the bin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Typical {
    pub(super) value: f64,
    pub(super) off: f64,
}

impl Typical {
    fn between(value: f64, low: f64, high: f64) -> Self {
        // Rounding must not take the value out of the bin.
        let value = value.clamp(low, high);
        Self {
            value,
            off: (high - value).max(value - low),
        }
    }

    /// The logarithmic loss of a probability between two clipped ones: its mean over the bin.
    pub(super) fn log_loss((from, to): (f64, f64)) -> Self {
        const CLIP: f64 = 1.0 / 1024.0;
        let [from, to] = [from, to].map(|p| p.clamp(CLIP, 1.0 - CLIP));
        let mean = if to > from {
            1.0 - (to * to.ln() - from * from.ln()) / (to - from)
        } else {
            -from.ln()
        };
        Self::between(mean, -to.ln(), -from.ln())
    }

    /// The number itself: the middle of the bin.
    pub(super) fn number((from, to): (f64, f64)) -> Self {
        Self::between((from + to) / 2.0, from, to)
    }

    /// The square of a number above zero: its mean over the bin.
    pub(super) fn square((from, to): (f64, f64)) -> Self {
        Self::between((from * from + from * to + to * to) / 3.0, from * from, to * to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_half_is_an_edge_and_belongs_below() {
        let scores = Edges::of_scores();
        assert_eq!(scores.bins(), 42);
        let above = f64::from(0.5f32.next_up());
        assert_eq!(scores.bin(above), scores.bin(0.5) + 1);
        assert_eq!(scores.bin(0.5), 20);
        assert_eq!([0.0, -3.0, 1.0, 7.0].map(|x| scores.bin(x)), [0, 0, 41, 41]);
        assert_eq!(scores.bin(f64::NAN), 41);
    }

    #[test]
    fn edges_rise_and_numbers_lie_in_their_bins() {
        for edges in [
            Edges::of_scores(),
            Edges::of_labels(-3.0, 8.5),
            Edges::of_errors(11.5),
        ] {
            for (bin, (from, to)) in edges.bounds().enumerate() {
                assert!(from < to);
                assert_eq!(edges.bin(to), bin);
                assert_eq!(edges.bin((from + to) / 2.0), bin);
            }
        }
        assert_eq!(Edges::of_labels(0.0, 1.0).bins(), 64);
        assert_eq!(Edges::of_errors(1.0).bins(), 41);
    }

    #[test]
    fn no_row_of_a_bin_is_further_off_than_said() {
        let check = |edges: &Edges, typical: fn((f64, f64)) -> Typical, loss: fn(f64) -> f64| {
            for (from, to) in edges.bounds() {
                let Typical { value, off } = typical((from, to));
                let mut furthest: f64 = 0.0;
                for step in 0..=100 {
                    let x = from + (to - from) * f64::from(step) / 100.0;
                    furthest = furthest.max((loss(x) - value).abs());
                }
                assert!(
                    (furthest - off).abs() < 1e-12,
                    "{from} to {to}: {furthest}, {off}"
                );
            }
        };
        let clipped = |p: f64| -p.clamp(1.0 / 1024.0, 1023.0 / 1024.0).ln();
        check(&Edges::of_scores(), Typical::log_loss, clipped);
        check(&Edges::of_errors(7.0), Typical::number, |x| x);
        check(&Edges::of_errors(7.0), Typical::square, |x| x * x);
    }
}
