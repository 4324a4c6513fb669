//! Figure 1: a line of 1,000 rows of one class and 1,000 of the other, with thresholds that are drawn blindly; and, void, with
//! the paper's own, which are fitted to flipped labels and so read the private rows.

use std::sync::Arc;

use privet::Error;
use privet::boost::Learner;
use privet::data::{Intake, Keep, Schema, Table};
use privet::learner::Term;
use privet::model::Model;
use privet::privacy::Epsilon;
use privet::setting::central::{Brc, Budget, Normaliser, Planes};

use super::super::{Data, Experiment, Measured, coins, each_run};
use super::flips::Flips;
use super::run::{accuracy, private};
use privet_node::progress::Progress;

const SCHEMA: &str = "dataset = \"toy\"\n[columns]\nx = { type = \"integer\", min = 0, max = 1999 }\n\
                      side = { type = \"label\", values = [\"-\", \"+\"], private = false }\n";
const ROWS: usize = 2000;
const ROUNDS: u32 = 50;
const CLIP: f64 = 2.0;
/// Rows of one bucket of figures 1 b and 1 c.
const BUCKET: usize = 200;

pub(super) fn experiments() -> Vec<Experiment> {
    vec![Experiment::new(("brc", "figure 1", "toy"), 100, measure)]
}

/// What draws the thresholds, and how the share of a bucket and its mean coefficient are called.
type Generator = (
    &'static str,
    fn(f64, u32) -> Result<Model, Error>,
    [&'static str; 2],
);
const GENERATORS: [Generator; 2] = [
    ("thresholds", blind, ["share", "alpha"]),
    ("label flips (void)", flipped, ["share (void)", "alpha (void)"]),
];

/// Accuracy by ε (1 a); at ε = 100 the share of thresholds (1 b) and the mean coefficient (1 c) by bucket.
fn measure(_: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let epsilons = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 100.0];
    let half = vec![0.5; runs as usize];
    let mut all = vec![Measured::new("constant", None, "accuracy", half)];
    for (place, (method, model, metrics)) in GENERATORS.into_iter().enumerate() {
        for (done, epsilon) in epsilons.into_iter().enumerate() {
            let all_of_them = (GENERATORS.len() * epsilons.len()) as u64;
            bar.at((place * epsilons.len() + done) as u64, all_of_them);
            let models = each_run(runs, |run| model(epsilon, run))?;
            let table = line()?;
            let values = models.iter().map(|model| accuracy(model, &table));
            let values = values.collect::<Result<Vec<f64>, Error>>()?;
            all.push(Measured::new(method, Some(epsilon), "accuracy", values));
            if epsilon == 100.0 {
                all.extend(buckets(&models, metrics));
            }
        }
    }
    Ok(all)
}

fn blind(epsilon: f64, _: u32) -> Result<Model, Error> {
    let brc = Brc::builder()
        .rounds(ROUNDS)
        .lower(CLIP)
        .upper(CLIP)
        .planes(Planes::Thresholds)
        .normaliser(Normaliser::Weights)
        .build()?;
    private(&brc, Budget::pure(Epsilon::new(epsilon)?, ROWS as u64)?, line()?)
}

/// As printed. Void: no ledger is asked.
fn flipped(epsilon: f64, run: u32) -> Result<Model, Error> {
    let flips = Flips {
        rounds: ROUNDS,
        probability: 0.49,
        clip: CLIP,
        epsilon,
    };
    flips.fit(line()?, &mut coins(run.into()))
}

fn line() -> Result<Table, Error> {
    let schema = Arc::new(Schema::from_toml("toy", SCHEMA)?);
    let intake = Intake::everything(schema, Keep::Values);
    let mut columns = intake.columns();
    for row in 0..ROWS {
        columns[0].text(row.to_string().as_bytes());
        columns[1].text(if row < ROWS / 2 { b"-" } else { b"+" });
    }
    Ok(Table::new(&intake, vec![intake.piece(columns)?]))
}

fn buckets(models: &[Model], [share, alpha]: [&'static str; 2]) -> Vec<Measured> {
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
    let shares = NAMES.iter().zip(&found).map(|(method, own)| {
        let values = [own.len() as f64 / total.max(1) as f64];
        Measured::new(method, Some(100.0), share, values)
    });
    let weights = NAMES.iter().zip(&found);
    let weights = weights.map(|(method, own)| Measured::new(method, Some(100.0), alpha, own.clone()));
    shares.chain(weights).collect()
}
