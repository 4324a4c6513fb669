//! Many numbers into bins at once.

use super::Cuts;
use super::schema::Number;

/// Finds the slots of a number with at most 255 bins, many at a time.
///
/// The search takes the same eight steps for every number, without a branch to guess, so that several searches run side
/// by side.
#[derive(Debug, Clone)]
pub struct Finder {
    cuts: Box<[f32; 256]>,
    missing: u8,
}

impl Finder {
    /// The finder of a number, unless it has more bins than that.
    pub fn new(number: &Number) -> Option<Self> {
        let points = number.cuts().points();
        if points.len() > 254 {
            return None;
        }
        // What lies behind the last cut is never reached: no number is at least infinity but infinity itself.
        let mut cuts = Box::new([f32::NAN; 256]);
        cuts[..points.len()].copy_from_slice(points);
        let slot = |cuts: &Cuts, x: f64| cuts.bin(x as f32);
        let missing = number
            .fill()
            .map_or(number.missing(), |fill| slot(number.cuts(), fill));
        Some(Self {
            cuts,
            missing: missing as u8,
        })
    }

    /// The slot of each number; what is not a number is missing.
    pub fn fill(&self, numbers: impl Iterator<Item = f32>, out: &mut [u8]) {
        const LANES: usize = 8;
        let mut numbers = numbers;
        for out in out.chunks_mut(LANES) {
            let mut lanes = [0.0f32; LANES];
            for (lane, number) in lanes.iter_mut().zip(numbers.by_ref().take(out.len())) {
                *lane = number;
            }
            let mut at = [0u8; LANES];
            for half in [128u8, 64, 32, 16, 8, 4, 2, 1] {
                for (at, &x) in at.iter_mut().zip(&lanes) {
                    let cut = self.cuts[usize::from(at.wrapping_add(half - 1))];
                    *at = at.wrapping_add(if cut <= x { half } else { 0 });
                }
            }
            for ((slot, at), x) in out.iter_mut().zip(at).zip(lanes) {
                *slot = if x.is_nan() { self.missing } else { at };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::schema::Extras;

    #[test]
    fn many_at_once_find_what_each_finds_alone() {
        for bins in [2u16, 3, 8, 100, 254, 255] {
            let extras = Extras {
                bins: Some(bins),
                ..Extras::default()
            };
            let number = Number::new(-3.0, 7.0, extras).expect("a number");
            let finder = Finder::new(&number).expect("few bins");
            let mut probes = vec![f32::MIN, f32::MAX, f32::INFINITY, f32::NEG_INFINITY, 0.0];
            for &point in number.cuts().points() {
                probes.extend([point, point.next_up(), point.next_down()]);
            }
            let mut out = vec![0; probes.len()];
            finder.fill(probes.iter().copied(), &mut out);
            for (x, slot) in probes.iter().zip(out) {
                assert_eq!(u16::from(slot), number.cuts().bin(*x), "{x} in {bins} bins");
            }
            let mut out = [0];
            finder.fill([f32::NAN].into_iter(), &mut out);
            assert_eq!(u16::from(out[0]), number.missing());
        }
    }

    #[test]
    fn a_declared_fill_takes_the_place_of_missing_numbers() {
        let extras = Extras {
            fill: Some(5.0),
            ..Extras::default()
        };
        let number = Number::new(0.0, 10.0, extras).expect("a number");
        let mut out = [0];
        Finder::new(&number)
            .expect("few bins")
            .fill([f32::NAN].into_iter(), &mut out);
        assert_eq!(u16::from(out[0]), number.cuts().bin(5.0));
    }
}
