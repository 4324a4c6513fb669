//! Figure 1: a line of 1,000 rows of one class and 1,000 of the other.

use std::sync::Arc;

use privet::Error;
use privet::boost::Learner;
use privet::data::{Intake, Keep, Schema, Table};
use privet::learner::Term;
use privet::model::Model;
use privet::privacy::Epsilon;
use privet::setting::central::{Central, Normaliser, Planes};
use rayon::prelude::*;

use super::super::{Data, Experiment, Measured};
use super::run::{accuracy, private};
use crate::progress::Progress;

const SCHEMA: &str = "dataset = \"toy\"\n[columns]\nx = { type = \"integer\", min = 0, max = 1999 }\n\
                      side = { type = \"label\", values = [\"-\", \"+\"], private = false }\n";
const ROWS: usize = 2000;
/// Rows of one bucket of figures 1 b and 1 c.
const BUCKET: usize = 200;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![Experiment {
        paper: "brc",
        item: "figure 1",
        dataset: "toy",
        runs: 100,
        measure: Box::new(measure),
    }]
}

/// Accuracy by ε (1 a); at ε = 100 the share of thresholds (1 b) and the mean coefficient (1 c) by bucket.
fn measure(_: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let epsilons = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 100.0];
    let mut all = vec![Measured {
        method: "constant",
        epsilon: None,
        metric: "accuracy",
        values: vec![0.5; runs as usize],
    }];
    for (done, epsilon) in epsilons.into_iter().enumerate() {
        bar.at(done as u64, epsilons.len() as u64);
        let models = (0..runs).into_par_iter().map(|_| model(epsilon));
        let models = models.collect::<Result<Vec<Model>, Error>>()?;
        let table = line()?;
        let values = models.iter().map(|model| accuracy(model, &table));
        all.push(Measured {
            method: "thresholds",
            epsilon: Some(epsilon),
            metric: "accuracy",
            values: values.collect::<Result<_, _>>()?,
        });
        if epsilon == 100.0 {
            all.extend(buckets(&models));
        }
    }
    Ok(all)
}

fn model(epsilon: f64) -> Result<Model, Error> {
    let central = Central::builder()
        .algorithm("brc")
        .epsilon(Epsilon::new(epsilon)?)
        .rows_about(ROWS as u64)
        .rounds(50)
        .lower(2.0)
        .upper(2.0)
        .planes(Planes::Thresholds)
        .normaliser(Normaliser::Weights)
        .build()?;
    private(&central, line()?)
}

fn line() -> Result<Table, Error> {
    let schema = Arc::new(Schema::from_toml("toy", SCHEMA)?);
    let intake = Intake::new(schema, Keep::Values);
    let mut columns = intake.columns();
    for row in 0..ROWS {
        columns[0].text(row.to_string().as_bytes());
        columns[1].text(if row < ROWS / 2 { b"-" } else { b"+" });
    }
    Ok(Table::new(&intake, vec![intake.piece(columns)?]))
}

fn buckets(models: &[Model]) -> Vec<Measured> {
    const NAMES: [&str; 10] = [
        "0-199",
        "200-399",
        "400-599",
        "600-799",
        "800-999",
        "1000-1199",
        "1200-1399",
        "1400-1599",
        "1600-1799",
        "1800-1999",
    ];
    let mut found: Vec<Vec<f64>> = vec![Vec::new(); NAMES.len()];
    for member in models.iter().flat_map(|model| &model.ensemble().members) {
        let Learner::Plane(plane) = &member.learner else {
            continue;
        };
        let Some(Term::Number { slope, .. }) = plane.linear.terms.first() else {
            continue;
        };
        let at = (1.0 - plane.linear.intercept / slope) / 2.0 * ROWS as f64;
        found[(at as usize / BUCKET).min(NAMES.len() - 1)].push(member.weight);
    }
    let total: usize = found.iter().map(Vec::len).sum();
    let shares = NAMES.iter().zip(&found).map(|(method, own)| Measured {
        method,
        epsilon: Some(100.0),
        metric: "share",
        values: vec![own.len() as f64 / total.max(1) as f64],
    });
    let weights = NAMES.iter().zip(&found).map(|(method, own)| Measured {
        method,
        epsilon: Some(100.0),
        metric: "alpha",
        values: own.clone(),
    });
    shares.chain(weights).collect()
}
