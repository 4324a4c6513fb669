//! Figures of predicted numbers.

use super::interval::mean;
use super::{Estimate, Figure, Figures, Metric, Report};

pub(super) fn numbers(labels: &[f32], values: &[f32]) -> Report {
    let rows: Vec<(f64, f64)> = labels
        .iter()
        .zip(values)
        .map(|(label, value)| (f64::from(*label), f64::from(*value)))
        .collect();
    Report {
        rows: rows.len(),
        figures: Figures::new(vec![absolute(&rows), square(&rows), explained(&rows)]),
    }
}

fn absolute(rows: &[(f64, f64)]) -> Figure {
    let errors = rows.iter().map(|(label, value)| (label - value).abs());
    let estimate = mean(errors).and_then(|(value, error)| Estimate::normal(Metric::Mae, value, error));
    let mut labels: Vec<f64> = rows.iter().map(|(label, _)| *label).collect();
    labels.sort_unstable_by(f64::total_cmp);
    let median = labels.get(labels.len() / 2);
    let constant = median.and_then(|median| mean(labels.iter().map(|label| (label - median).abs())));
    Figure::new(Metric::Mae, estimate, constant.map(|(value, _)| value))
}

fn square(rows: &[(f64, f64)]) -> Figure {
    let squares = rows.iter().map(|(label, value)| (label - value).powi(2));
    let estimate = mean(squares).and_then(|(square, error)| {
        let root = square.sqrt();
        // The root's slope; without any error there is nothing to be uncertain about.
        let error = if root > 0.0 { error / (2.0 * root) } else { 0.0 };
        Estimate::normal(Metric::Rmse, root, error)
    });
    Figure::new(Metric::Rmse, estimate, variance(rows).map(f64::sqrt))
}

fn variance(rows: &[(f64, f64)]) -> Option<f64> {
    let (middle, _) = mean(rows.iter().map(|(label, _)| *label))?;
    // The mean of equal numbers may be rounded.
    if rows.iter().all(|(label, _)| *label == rows[0].0) {
        return Some(0.0);
    }
    mean(rows.iter().map(|(label, _)| (label - middle).powi(2))).map(|(variance, _)| variance)
}

fn explained(rows: &[(f64, f64)]) -> Figure {
    let all = variance(rows).filter(|variance| *variance > 0.0);
    let estimate = all.and_then(|all| {
        let (middle, _) = mean(rows.iter().map(|(label, _)| *label))?;
        let (left, _) = mean(rows.iter().map(|(label, value)| (label - value).powi(2)))?;
        let share = left / all;
        // Both the error and the labels' variance are means of these rows.
        let pulls = rows
            .iter()
            .map(|(label, value)| (share * (label - middle).powi(2) - (label - value).powi(2)) / all);
        let (_, error) = mean(pulls)?;
        Estimate::normal(Metric::R2, 1.0 - share, error)
    });
    Figure::new(Metric::R2, estimate, all.map(|_| 0.0))
}
