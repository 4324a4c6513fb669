//! Section 5 of MABoost: what a round costs. The protocol runs in memory, with its circuits; beside it the same algorithm in the clear.

use std::time::Instant;

use privet::Error;
use privet::data::Keep;
use privet::setting::secure::{AttributeChoice, Classifier, CoefficientRule, CutPlaces, Secure};
use privet_node::progress::Progress;

use super::{Split, meeting};
use crate::{Data, Measured};

/// What is measured, and over how many rounds.
fn variants() -> Result<Vec<(&'static str, Secure)>, Error> {
    let grid = |rounds| Secure::builder().rounds(rounds);
    let published = |attribute| {
        let data = grid(500).thresholds(CutPlaces::Data);
        data.attribute(attribute).build()
    };
    Ok(vec![
        ("public seed", published(AttributeChoice::Seed)?),
        ("rendezvous", published(AttributeChoice::Rendezvous)?),
        ("by halves", published(AttributeChoice::RendezvousByHalves)?),
        (
            "grid-16, rounded",
            grid(200).coefficient(CoefficientRule::Rounded).build()?,
        ),
        (
            "joint, one attribute",
            grid(200).classifier(Classifier::Joint).build()?,
        ),
        (
            "joint, all attributes",
            grid(20)
                .classifier(Classifier::Joint)
                .attribute(AttributeChoice::All)
                .build()?,
        ),
    ])
}

/// Milliseconds, bytes and messages of a round, set-up and certificates included. The clock stretches where the machine has other work: the least of several
/// runs is nearest.
pub(super) fn measured(data: &Data, runs: u32, bar: &Progress) -> Result<Vec<Measured>, Error> {
    let table = data.train("ionosphere", Keep::Values)?;
    let split = Split::new(&table, 0)?;
    let variants = variants()?;
    let mut all = Vec::new();
    for (done, (method, secure)) in variants.iter().enumerate() {
        let mut found: [Vec<f64>; 4] = Default::default();
        for run in 0..runs {
            bar.at(
                done as u64 * u64::from(runs) + u64::from(run),
                (variants.len() as u32 * runs).into(),
            );
            let rounds = f64::from(*secure.rounds());
            let started = Instant::now();
            split.sides(secure)?.finish(&mut meeting(run.into()));
            let clear = started.elapsed().as_secs_f64();
            let plan = secure.plan(split.train.schema())?;
            let started = Instant::now();
            let ended = plan.rehearsed(split.parties.clone(), &["Alice", "Bob"])?;
            let taken = started.elapsed().as_secs_f64();
            let bytes: u64 = ended.traffic.values().map(|edge| edge.bytes).sum();
            let messages: u64 = ended.traffic.values().map(|edge| edge.messages).sum();
            ended.all()?;
            let each = [
                1e3 * clear / rounds,
                1e3 * taken / rounds,
                bytes as f64 / rounds,
                messages as f64 / rounds,
            ];
            found
                .iter_mut()
                .zip(each)
                .for_each(|(values, value)| values.push(value));
        }
        let metrics = ["ms in the clear", "ms with the protocol", "bytes", "messages"];
        let of = metrics.into_iter().zip(found);
        all.extend(of.map(|(metric, values)| Measured::new(method, None, metric, values)));
    }
    Ok(all)
}
