//! Many numbers into bins at once.

use super::schema::Number;

/// Pieces of the range between the first and the last cut.
const PIECES: usize = 1024;
/// Numbers that are searched for side by side.
const LANES: usize = 16;
/// With this many cuts or fewer, each is compared.
const FEW: usize = 4;

/// Finds the slots of a number with at most 255 bins, many at a time.
///
/// A table says where the search begins for each piece of the range, and then every number takes the same few steps,
/// without a branch to guess, so that several searches run side by side.
#[derive(Debug, Clone)]
pub struct Finder {
    /// The cuts, padded with a value that no number reaches.
    cuts: Box<[f32; 512]>,
    /// How many cuts lie in pieces before each piece.
    begins: Box<[u8; PIECES]>,
    /// Where the pieces begin, and how many there are to one unit.
    scale: [f32; 2],
    /// How many steps suffice in every piece.
    steps: u32,
    few: bool,
    missing: u8,
}

impl Finder {
    /// The finder of a number, unless it has more bins than that.
    pub fn new(number: &Number) -> Option<Self> {
        let points = number.cuts().points();
        if points.len() > 254 {
            return None;
        }
        let mut cuts = Box::new([f32::NAN; 512]);
        cuts[..points.len()].copy_from_slice(points);
        let missing = number
            .fill()
            .map_or(number.missing(), |fill| number.cuts().bin(fill as f32));
        let scale = match points {
            [first, .., last] => {
                let per_unit = PIECES as f32 / (last - first);
                [*first, if per_unit.is_finite() { per_unit } else { 0.0 }]
            }
            _ => [0.0, 0.0],
        };
        let mut finder = Self {
            cuts,
            begins: Box::new([0; PIECES]),
            scale,
            steps: 0,
            few: points.len() <= FEW,
            missing: missing as u8,
        };
        let mut counts = [0u32; PIECES];
        for &point in points {
            counts[finder.piece(point)] += 1;
        }
        let mut before = 0;
        for (begin, count) in finder.begins.iter_mut().zip(counts) {
            *begin = before as u8;
            before += count;
        }
        // n steps tell 2ⁿ - 1 cuts apart.
        let most = counts.iter().copied().max().unwrap_or(0);
        finder.steps = u32::BITS - most.leading_zeros();
        Some(finder)
    }

    /// The piece of a number. It never falls where the number rises: so cuts in pieces before are smaller, and cuts in
    /// pieces behind are larger.
    #[inline]
    fn piece(&self, x: f32) -> usize {
        const ROUND: f32 = 8_388_608.0;
        let [origin, per_unit] = self.scale;
        let at = (x - origin) * per_unit;
        let last = (PIECES - 1) as f32;
        // What is not a number (infinity times nothing) goes to the first piece, where all are if the scale is nothing.
        let at = if at > 0.0 { at } else { 0.0 };
        let at = if at < last { at } else { last };
        // Adding this leaves no room for a fraction; the low bits are the nearest whole number.
        (at + ROUND).to_bits() as usize % PIECES
    }

    /// The slot of each number, by its place; what is not a number is missing.
    pub fn fill(&self, out: &mut [u8], number: impl Fn(usize) -> f32) {
        match self.steps {
            _ if self.few => self.count(out, number),
            0 | 1 => self.search::<1>(out, number),
            2 => self.search::<2>(out, number),
            3 => self.search::<3>(out, number),
            4 => self.search::<4>(out, number),
            5 => self.search::<5>(out, number),
            6 => self.search::<6>(out, number),
            _ => self.search::<8>(out, number),
        }
    }

    /// With a few cuts, each is compared.
    fn count(&self, out: &mut [u8], number: impl Fn(usize) -> f32) {
        let cuts: [f32; FEW] = std::array::from_fn(|place| self.cuts[place]);
        for (place, slot) in out.iter_mut().enumerate() {
            let x = number(place);
            let count: u8 = cuts.iter().map(|&cut| u8::from(cut <= x)).sum();
            *slot = if x.is_nan() { self.missing } else { count };
        }
    }

    fn search<const STEPS: usize>(&self, out: &mut [u8], number: impl Fn(usize) -> f32) {
        for (begin, out) in out.chunks_mut(LANES).enumerate() {
            let mut lanes = [0.0f32; LANES];
            for (lane, place) in lanes.iter_mut().zip(begin * LANES..begin * LANES + out.len()) {
                *lane = number(place);
            }
            // Loops: mapped arrays became calls.
            let mut at = [0; LANES];
            for (at, &x) in at.iter_mut().zip(&lanes) {
                *at = self.piece(x);
            }
            for at in &mut at {
                *at = usize::from(self.begins[*at]);
            }
            for step in (0..STEPS).rev() {
                for (at, &x) in at.iter_mut().zip(&lanes) {
                    let cut = self.cuts[(*at + (1 << step) - 1) % 512];
                    *at = at.wrapping_add(usize::from(cut <= x) << step);
                }
            }
            for ((slot, at), x) in out.iter_mut().zip(at).zip(lanes) {
                *slot = if x.is_nan() { self.missing } else { at as u8 };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::Extras;

    fn found(number: &Number, probes: &[f32]) -> Vec<u8> {
        let mut out = vec![0; probes.len()];
        let finder = Finder::new(number).expect("few bins");
        finder.fill(&mut out, |place| probes[place]);
        out
    }

    fn missing(number: &Number) -> u16 {
        found(number, &[f32::NAN])[0].into()
    }

    fn finds_what_cuts_find(number: &Number) {
        let probes = number.cuts().probes();
        for (x, slot) in probes.iter().zip(found(number, &probes)) {
            assert_eq!(u16::from(slot), number.cuts().bin(*x), "{x} in {number:?}");
        }
    }

    #[test]
    fn many_at_once_find_what_each_finds_alone() {
        for bins in [2u16, 3, 5, 6, 8, 100, 254, 255] {
            let extras = Extras {
                bins: Some(bins),
                ..Extras::default()
            };
            let number = Number::new(-3.0, 7.0, extras).expect("a number");
            finds_what_cuts_find(&number);
            assert_eq!(missing(&number), number.missing());
        }
    }

    #[test]
    fn uneven_cuts_take_more_steps_but_find_the_same() {
        // Many cuts in one piece of the range, and some that single precision can just tell apart.
        let mut close: Vec<f64> = (0..200)
            .map(|i| 1.0 + f64::from(i) * f64::from(f32::EPSILON))
            .collect();
        close.push(1e30);
        let spread: Vec<f64> = (0..200).map(|i| 1.1f64.powi(i) - 50.0).collect();
        for cuts in [close, spread, vec![0.0], vec![-3e38, 3e38], vec![0.0, 1e-40]] {
            let extras = Extras {
                cuts: Some(cuts),
                ..Extras::default()
            };
            finds_what_cuts_find(&Number::new(-3.1e38, 3.1e38, extras).expect("a number"));
        }
    }

    #[test]
    fn a_declared_fill_takes_the_place_of_missing_numbers() {
        let extras = Extras {
            fill: Some(5.0),
            ..Extras::default()
        };
        let number = Number::new(0.0, 10.0, extras).expect("a number");
        assert_eq!(missing(&number), number.cuts().bin(5.0));
    }
}
