//! How far off the noise will put things, told before anything is paid: from parameters, schema and relation alone.

use super::params::private_features;
use super::{Algorithm, Budget, Central, HistogramBayes, logistic};
use crate::Error;
use crate::data::Schema;
use crate::learner::Shape;
use crate::privacy::mechanism::{Laplace, Mechanism};
use crate::privacy::{Epsilon, Relation};

impl Central {
    /// What the noise means, sentence by sentence.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve).
    pub fn noise(&self, schema: &Schema, relation: &Relation) -> Result<Vec<String>, Error> {
        let own = self.resolve(schema, relation)?;
        let (budget, steps) = (own.budget, relation.steps());
        Ok(match &own.algorithm {
            Algorithm::Brc(brc) => {
                let off = brc.deviation(&budget, relation)?;
                let rounds = brc.rounds(&budget);
                vec![
                    format!(
                        "{rounds} random planes are judged. How often each is wrong is released, {} off by noise (one standard error).",
                        points(off)
                    ),
                    format!(
                        "A score is the sum of {rounds} such votes: noise puts it {:.3} off, where a vote of a plane that is right on 60 of 100 rows counts 0.1.",
                        off * f64::from(rounds).sqrt()
                    ),
                ]
            }
            Algorithm::Select(select) => vec![choice(select.candidates, budget.epsilon, &budget, steps)],
            Algorithm::MomentSelect(moment) => {
                let half = budget.share(2)?;
                let columns = private_features(schema, relation).count() as u64;
                let scale = Laplace::calibrated(half, steps * columns)?.variance().sqrt();
                vec![
                    format!(
                        "A direction over {columns} columns is released; noise on each column weighs as much as {} rows at its bound (one standard error).",
                        whole(scale)
                    ),
                    choice(moment.candidates, half, &budget, steps),
                ]
            }
            Algorithm::HistogramBayes(bayes) => counts(bayes, schema, relation, &budget)?,
            Algorithm::Objective(perturbation) => {
                let loss = perturbation.loss(schema, relation)?;
                vec![coefficients(
                    loss.dimension,
                    loss.deviation(budget.epsilon, relation)?,
                )]
            }
            Algorithm::DpLogistic => {
                let columns = schema.features().count();
                let objective = logistic::objective(columns, budget.epsilon, relation)?;
                let off = objective.deviation() / logistic::row(columns);
                vec![coefficients(columns + 1, off)]
            }
            Algorithm::People(people) => {
                let loss = people.heaviest(private_features(schema, relation).count())?;
                let share = budget.share(people.draws(&budget))?;
                let errors = format!(
                    "That is done {} times. How often each classifier is wrong is released too, {} off by noise (one standard error).",
                    people.rounds(&budget),
                    points(people.deviation(&budget, relation)?)
                );
                vec![
                    coefficients(loss.dimension, loss.deviation(share, relation)?),
                    errors,
                ]
            }
            Algorithm::Trees(trees) => super::trees::noise(trees, &budget, schema, relation)?,
            Algorithm::Public => vec!["No private column is looked at, so there is no noise.".into()],
            Algorithm::Auto => Vec::new(),
        })
    }
}

/// How hard noise pulls at coefficients, in rows of which each pulls by one at most.
fn coefficients(dimension: usize, off: f64) -> String {
    format!(
        "{dimension} coefficients are released at once; noise pulls at each as hard as {} rows that agree (one standard error).",
        whole(off)
    )
}

/// The expected loss of a choice by permute-and-flip is at most that of the exponential mechanism, ln K over the rate.
fn choice(candidates: u32, epsilon: Epsilon, budget: &Budget, steps: u64) -> String {
    let rate = epsilon.to_f64() / steps as f64;
    // Each may count twice, from either side.
    let lost = (2.0 * f64::from(candidates)).ln() / rate;
    format!(
        "One of {candidates} random planes is chosen; on average it gets at most {} rows fewer right than the best of them ({} of all rows).",
        whole(lost),
        points(lost / budget.rows as f64)
    )
}

fn counts(
    bayes: &HistogramBayes,
    schema: &Schema,
    relation: &Relation,
    budget: &Budget,
) -> Result<Vec<String>, Error> {
    let shapes = Shape::of(schema);
    let cells: Vec<usize> = private_features(schema, relation)
        .map(|(place, _)| bayes.cells(&shapes[place]))
        .collect();
    let law = Laplace::calibrated(budget.epsilon, relation.steps() * cells.len() as u64)?;
    let off = law.variance().sqrt();
    // Of a cell of average size, smoothed as the model does it, and its twin of the other class.
    let smooth = law.scale().to_f64() + 5.0;
    let terms = cells.iter().map(|&cells| {
        let rows = budget.rows as f64 / 2.0 / cells as f64 + smooth;
        2.0 * law.variance() / rows / rows
    });
    Ok(vec![
        format!(
            "{} columns are counted by class; noise puts each count {} rows off (one standard error). What fewer rows have in common is lost.",
            cells.len(),
            whole(off)
        ),
        format!(
            "Noise puts a row's log-odds about {:.2} off, if its values are neither rare nor frequent.",
            terms.sum::<f64>().sqrt()
        ),
    ])
}

fn points(share: f64) -> String {
    match 100.0 * share {
        points if points < 10.0 => format!("{points:.1} percentage points"),
        points => format!("{points:.0} percentage points"),
    }
}

fn whole(rows: f64) -> String {
    format!("{:.0}", rows.ceil())
}
