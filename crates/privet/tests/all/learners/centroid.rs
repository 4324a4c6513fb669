//! The nearest centroid, against distances that are written out.

use privet::data::{Cells, Keep};
use privet::learner::{Centroid, Classes, Learner, Sample, Shape};
use privet::privacy::Coins;

use super::cells;
use crate::home::{self, Kinds};

/// A row as a point: the number and whether it is missing, and a one for each slot.
fn point(shapes: &[Shape], cells: &Cells, row: usize) -> Vec<f64> {
    let mut point = Vec::new();
    for (shape, feature) in shapes.iter().zip(cells.features()) {
        let slot = feature.bins.get(row);
        if let Some(scaled) = &feature.scaled {
            let missing = slot == shape.missing;
            point.extend([f64::from(scaled[row]), f64::from(u8::from(missing))]);
        } else {
            point.extend((0..shape.slots).map(|own| f64::from(u8::from(own == usize::from(slot)))));
        }
    }
    point
}

#[test]
fn the_nearest_centroid_is_called() {
    for count in [2, 3] {
        let rows = 6000;
        let cells = cells(home::random(Kinds::Classes(count), Keep::Values, rows));
        let shapes = Shape::of(&home::mixed(Kinds::Classes(count)));
        let Some(privet::data::Target::Classes(of)) = cells.target() else {
            panic!("classes");
        };
        let mut coins = Coins::from_seed([8; 32]);
        let weights: Vec<f64> = (0..rows).map(|_| coins.below(4) as f64).collect();
        let sample = Sample::new(&shapes, &cells, &weights).unwrap();
        let fitted = Centroid.classes(&sample, Classes { of, count });
        assert_eq!(fitted.len(), if count == 2 { 1 } else { count });

        let points: Vec<Vec<f64>> = (0..rows).map(|row| point(&shapes, &cells, row)).collect();
        let centroids: Vec<Vec<f64>> = (0..count)
            .map(|class| {
                let own = (0..rows).filter(|&row| usize::from(of[row]) == class);
                let (mut sums, mut total) = (vec![0.0; points[0].len()], 0.0);
                for row in own {
                    total += weights[row];
                    sums.iter_mut()
                        .zip(&points[row])
                        .for_each(|(sum, x)| *sum += weights[row] * x);
                }
                sums.iter().map(|sum| sum / total).collect()
            })
            .collect();
        for (row, point) in points.iter().enumerate() {
            let distance = |class: usize| -> f64 {
                let squares = centroids[class].iter().zip(point).map(|(a, b)| (a - b) * (a - b));
                squares.sum()
            };
            let vote = |which: usize| {
                let linear = Learner::Linear(fitted[which].clone());
                linear.vote(&shapes, cells.features(), row)
            };
            // Sums differ by half of what squared distances do.
            for class in 1..count {
                let ours = if count == 2 {
                    vote(0)
                } else {
                    vote(class) - vote(0)
                };
                let expected = (distance(0) - distance(class)) / 2.0;
                assert!((ours - expected).abs() < 1e-9, "row {row}: {ours} for {expected}");
            }
        }
    }
}
