//! Naive Bayes from cells: how often each bin of a column comes with each class.

use super::answer::Answer;
use super::course::{Learnt, Next, means_of};
use super::encoding::Encoding;
use crate::Error;
use crate::boost::{Ensemble, Learner, Link, Member};
use crate::data::schema::Kind;
use crate::learner::{Linear, Shape, Term};

/// A class has at least this share.
const LEAST: f64 = 0.05;
/// What is added to each frequency besides twice the deviation of its noise.
const SMOOTHING: f64 = 0.01;

/// A classifier from the answer to a campaign for cells.
pub(super) fn bayes(encoding: &Encoding, answer: &Answer) -> Result<Next, Error> {
    let (columns, categories) = encoding
        .cells()
        .ok_or_else(|| Error::internal("an encoding for cells has cells"))?;
    let classes = encoding.classes();
    let means = means_of(answer, columns * categories)?;
    let schema = encoding.schema();
    let shapes = Shape::of(schema);
    let tables = means
        .chunks_exact(categories)
        .zip(answer.deviations.chunks_exact(categories));
    let tables: Vec<(&[f64], &[f64])> = tables.collect();
    let prior = prior(&tables, classes);
    let mut terms = vec![Vec::with_capacity(columns); classes];
    for ((table, deviations), (column, shape)) in tables.iter().zip(schema.features().zip(&shapes)) {
        let bins = match &column.kind {
            Kind::Number(number) => number.cuts().bins(),
            Kind::Ordinal(it) | Kind::Category(it) | Kind::Flag(it) => it.values().len(),
            Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => 1,
        };
        // What an owner sends for cells that are missing or not declared.
        let otherwise = if shape.number { bins / 2 } else { 0 };
        for (class, terms) in terms.iter_mut().enumerate() {
            let smoothed = |bin: usize| {
                let place = bin * classes + class;
                // A frequency is at most one: noise that is larger says as little, and all bins of a column without messages are alike.
                let noise = deviations[place].min(1.0);
                table[place].max(0.0) + (2.0 * noise + SMOOTHING) * prior[class]
            };
            let total: f64 = (0..bins).map(smoothed).sum();
            let of_slot = |slot: usize| {
                let bin = if slot < bins { slot } else { otherwise };
                (smoothed(bin) / total).ln()
            };
            terms.push((0..shape.slots).map(of_slot).collect::<Vec<f64>>());
        }
    }
    let sums: Vec<Linear> = terms
        .into_iter()
        .zip(&prior)
        .map(|(terms, share)| Linear {
            intercept: share.ln(),
            terms: terms.into_iter().map(Term::Slots).collect(),
        })
        .collect();
    let ensemble = match &sums[..] {
        [first, second] => Ensemble::of_sum(Link::Logistic, difference(second, first)),
        _ => {
            let member = |(output, linear)| Member::new(1.0, output, Learner::Linear(linear));
            let members = sums.into_iter().enumerate().map(member).collect();
            Ensemble::new(Link::Softmax, vec![0.0; classes], members)
        }
    };
    Ok(Next::Done(Box::new(Learnt {
        schema: (**schema).clone(),
        ensemble,
        rounds: Vec::new(),
    })))
}

/// The share of each class: the mean over columns that there are messages of.
fn prior(tables: &[(&[f64], &[f64])], classes: usize) -> Vec<f64> {
    let mut shares = vec![0.0; classes];
    let heard =
        |(_, deviations): &&(&[f64], &[f64])| deviations.iter().all(|deviation| deviation.is_finite());
    let columns = tables.iter().filter(heard).count();
    for (table, _) in tables.iter().filter(heard) {
        for (place, mean) in table.iter().enumerate() {
            shares[place % classes] += mean / columns as f64;
        }
    }
    shares
        .iter_mut()
        .for_each(|share| *share = share.clamp(LEAST, 1.0));
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| share / total).collect()
}

fn difference(one: &Linear, other: &Linear) -> Linear {
    let terms = one.terms.iter().zip(&other.terms).map(|pair| match pair {
        (Term::Slots(a), Term::Slots(b)) => Term::Slots(a.iter().zip(b).map(|(a, b)| a - b).collect()),
        (term, _) => term.clone(),
    });
    Linear {
        intercept: one.intercept - other.intercept,
        terms: terms.collect(),
    }
}
