//! Images as counts of visual words: histograms of oriented gradients (HOG), clustered by K-means.
//!
//! # Paper
//! LocalBoost, section V: "HOG descriptors … a bag of visual words … K-means". The paper gives no parameters; these are those of eight that were
//! tried whose unprotected nearest centroids are nearest to the published ones.

use privet::privacy::Coins;
use rayon::prelude::*;

use super::images::SIDE;

/// Pixels of a cell on each side.
const CELL: usize = 4;
/// Cells on each side.
const CELLS: usize = SIDE / CELL;
/// Directions of gradients, up to the sign.
const DIRECTIONS: usize = 9;
/// Blocks of two by two cells on each side.
const BLOCKS: usize = CELLS - 1;
/// Numbers of a descriptor.
pub(super) const DESCRIPTOR: usize = 4 * DIRECTIONS;
/// Descriptors of an image.
pub(super) const DESCRIPTORS: usize = BLOCKS * BLOCKS;

/// The descriptors of an image, one after another.
pub(super) fn descriptors(image: &[f32]) -> Vec<f32> {
    let mut cells = [0f32; CELLS * CELLS * DIRECTIONS];
    let at = |y: usize, x: usize| image[y * SIDE + x];
    for y in 0..SIDE {
        for x in 0..SIDE {
            // Gradients are zero on the border.
            let down = match y {
                0 | 27 => 0.0,
                _ => at(y + 1, x) - at(y - 1, x),
            };
            let right = match x {
                0 | 27 => 0.0,
                _ => at(y, x + 1) - at(y, x - 1),
            };
            let size = down.hypot(right);
            if size == 0.0 {
                continue;
            }
            let angle = down.atan2(right).rem_euclid(std::f32::consts::PI);
            let place = angle / std::f32::consts::PI * DIRECTIONS as f32;
            let (first, rest) = (place.floor() as usize % DIRECTIONS, place.fract());
            let cell = &mut cells[(y / CELL * CELLS + x / CELL) * DIRECTIONS..][..DIRECTIONS];
            cell[first] += size * (1.0 - rest);
            cell[(first + 1) % DIRECTIONS] += size * rest;
        }
    }
    let cell = |y: usize, x: usize| &cells[(y * CELLS + x) * DIRECTIONS..][..DIRECTIONS];
    let mut all = Vec::with_capacity(DESCRIPTORS * DESCRIPTOR);
    for y in 0..BLOCKS {
        for x in 0..BLOCKS {
            let block = [cell(y, x), cell(y, x + 1), cell(y + 1, x), cell(y + 1, x + 1)].concat();
            let square: f32 = block.iter().map(|h| h * h).sum();
            let length = (square + 0.01).sqrt();
            all.extend(block.iter().map(|h| h / length));
        }
    }
    all
}

/// A vocabulary: the centres of clusters of descriptors.
pub(super) struct Vocabulary {
    centres: Vec<f32>,
    /// Half the square of each centre's length.
    halves: Vec<f32>,
}

impl Vocabulary {
    /// By K-means on these descriptors: far centres first (k-means++), then Lloyd's steps.
    pub(super) fn new(descriptors: &[f32], words: usize, coins: &mut Coins) -> Self {
        let points = descriptors.len() / DESCRIPTOR;
        let point = |i: usize| &descriptors[i * DESCRIPTOR..][..DESCRIPTOR];
        let distance = |a: &[f32], b: &[f32]| -> f32 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
        let mut centres = point(coins.below(points as u64) as usize).to_vec();
        let mut nearest = vec![f32::INFINITY; points];
        while centres.len() < words * DESCRIPTOR {
            let last = centres[centres.len() - DESCRIPTOR..].to_vec();
            nearest
                .par_iter_mut()
                .enumerate()
                .for_each(|(i, near)| *near = near.min(distance(point(i), &last)));
            let total: f64 = nearest.iter().map(|near| f64::from(*near)).sum();
            let mut left = coins.unit() * total;
            let chosen = nearest.iter().position(|near| {
                left -= f64::from(*near);
                left < 0.0
            });
            centres.extend_from_slice(point(chosen.unwrap_or(0)));
        }
        let mut vocabulary = Self::of(centres);
        for _ in 0..40 {
            let words_of: Vec<usize> = (0..points)
                .into_par_iter()
                .map(|i| vocabulary.word(point(i)))
                .collect();
            let mut sums = vec![0f64; words * DESCRIPTOR];
            let mut counts = vec![0u32; words];
            for (i, word) in words_of.iter().enumerate() {
                counts[*word] += 1;
                let sum = &mut sums[word * DESCRIPTOR..][..DESCRIPTOR];
                sum.iter_mut()
                    .zip(point(i))
                    .for_each(|(s, x)| *s += f64::from(*x));
            }
            let mut centres = vocabulary.centres.clone();
            for (word, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                for i in word * DESCRIPTOR..(word + 1) * DESCRIPTOR {
                    centres[i] = (sums[i] / f64::from(*count)) as f32;
                }
            }
            vocabulary = Self::of(centres);
        }
        vocabulary
    }

    fn of(centres: Vec<f32>) -> Self {
        let half = |centre: &[f32]| centre.iter().map(|c| c * c).sum::<f32>() / 2.0;
        Self {
            halves: centres.chunks_exact(DESCRIPTOR).map(half).collect(),
            centres,
        }
    }

    /// The nearest centre.
    fn word(&self, descriptor: &[f32]) -> usize {
        let mut best = (f32::NEG_INFINITY, 0);
        let centres = self.centres.chunks_exact(DESCRIPTOR).zip(&self.halves);
        for (word, (centre, half)) in centres.enumerate() {
            let near = centre.iter().zip(descriptor).map(|(c, x)| c * x).sum::<f32>() - half;
            if near > best.0 {
                best = (near, word);
            }
        }
        best.1
    }

    /// How often each word is in an image.
    pub(super) fn counts(&self, image: &[f32]) -> Vec<f32> {
        let mut counts = vec![0.0; self.halves.len()];
        for descriptor in descriptors(image).chunks_exact(DESCRIPTOR) {
            counts[self.word(descriptor)] += 1.0;
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coins;
    use crate::localboost::images::PIXELS;

    /// An edge from dark to bright along x: all gradients point right, which is direction 0.
    #[test]
    fn an_upright_edge_has_one_direction() {
        let image: Vec<f32> = (0..PIXELS).map(|i| f32::from(u8::from(i % SIDE >= 14))).collect();
        let all = descriptors(&image);
        assert_eq!(all.len(), DESCRIPTORS * DESCRIPTOR);
        for block in all.chunks_exact(DESCRIPTOR) {
            let other = block.iter().enumerate().filter(|(i, _)| i % DIRECTIONS != 0);
            assert!(other.map(|(_, h)| *h).sum::<f32>() < 1e-6);
        }
        assert!(all.iter().sum::<f32>() > 1.0, "some blocks see the edge");
    }

    #[test]
    fn words_are_counted_once_each() {
        let image: Vec<f32> = (0..PIXELS).map(|i| (i % 7) as f32 / 7.0).collect();
        let other: Vec<f32> = (0..PIXELS).map(|i| (i / SIDE % 5) as f32 / 5.0).collect();
        let all = [descriptors(&image), descriptors(&other)].concat();
        let vocabulary = Vocabulary::new(&all, 3, &mut coins(1));
        let counts = vocabulary.counts(&image);
        assert_eq!(counts.iter().sum::<f32>(), DESCRIPTORS as f32);
        assert_ne!(counts, vocabulary.counts(&other));
    }
}
