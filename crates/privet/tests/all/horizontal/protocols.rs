//! All protocols, from the first message to the model.

use privet::model::Model;
use privet::party::Simulated;
use privet::setting::horizontal::{Horizontal, Outcome, Protocol, Recipients};

use super::world::{Labels, Line, Noise, World, lines, spending, trees};

pub(super) fn horizontal(protocol: Protocol, count: u32) -> Horizontal {
    let builder = Horizontal::builder().protocol(protocol).absent(1);
    builder.trees(trees(count).build().unwrap()).build().unwrap()
}

pub(super) fn rows(labels: Labels, owners: usize, each: usize) -> Vec<Vec<Line>> {
    (0..owners)
        .map(|owner| lines(labels, each, owner as u8 + 1))
        .collect()
}

/// The model of each party; all have one.
pub(super) fn models(ended: Simulated<Outcome>) -> Vec<Model> {
    assert!(ended.late.is_empty(), "{:?}", ended.late);
    let outcomes = ended.all().unwrap().into_iter();
    outcomes.map(|outcome| outcome.into_model().unwrap()).collect()
}

#[test]
fn every_protocol_gives_everybody_the_same_trees() {
    for protocol in [Protocol::Aggregated, Protocol::Averaged, Protocol::Chain] {
        for labels in [Labels::Two, Labels::Three, Labels::Number] {
            for spend in [spending("2", "1e-6"), spending("2", "0")] {
                let horizontal = horizontal(protocol, 4);
                let world = World::new(&horizontal, labels, spend, rows(labels, 5, 60), Noise::Drawn);
                let models = models(world.simulation().run().unwrap());
                assert_eq!(models.len(), 6);
                let trees = match protocol {
                    Protocol::Aggregated => 4,
                    Protocol::Averaged | Protocol::Chain => 20,
                };
                let outputs = if labels == Labels::Three { 3 } else { 1 };
                assert_eq!(models[0].ensemble().members.len(), trees * outputs);
                for model in &models {
                    assert_eq!(model.ensemble(), models[0].ensemble(), "{protocol:?} {labels:?}");
                }
                // The miner has no ledger, and everybody has what the owners say.
                assert!(models[0].certificate().claims.is_empty());
                assert_eq!(models[0].certificate().parties.len(), 5);
                assert_eq!(models[3].certificate().parties.len(), 4);
            }
        }
    }
}

#[test]
fn a_model_for_the_miner_stays_with_the_miner() {
    for protocol in [Protocol::Averaged, Protocol::Chain] {
        let horizontal = Horizontal::builder()
            .protocol(protocol)
            .recipients(Recipients::Miner);
        let horizontal = horizontal.trees(trees(2).build().unwrap()).build().unwrap();
        let rows = rows(Labels::Two, 3, 40);
        let world = World::new(
            &horizontal,
            Labels::Two,
            spending("2", "1e-6"),
            rows,
            Noise::Drawn,
        );
        let outcomes = world.simulation().run().unwrap().all().unwrap();
        let got: Vec<bool> = outcomes
            .into_iter()
            .map(|outcome| outcome.into_model().is_some())
            .collect();
        assert_eq!(got, [true, false, false, false]);
    }
}

/// Without noise, joint trees are those of one table with everybody's rows.
#[test]
fn exact_joint_trees_are_those_of_the_pooled_rows() {
    for labels in [Labels::Two, Labels::Three, Labels::Number] {
        let rows = rows(labels, 5, 40);
        let pooled = vec![rows.concat(), Vec::new(), Vec::new(), Vec::new(), Vec::new()];
        let horizontal = horizontal(Protocol::Aggregated, 6);
        let spend = spending("4", "1e-6");
        let apart = World::new(&horizontal, labels, spend, rows, Noise::Exact);
        let mut together = World::new(&horizontal, labels, spend, pooled, Noise::Exact);
        // The same plan and the same coins: only the rows stand elsewhere.
        (together.plan, together.agreement) = (apart.plan.clone(), apart.agreement.clone());
        let [one, other] = [apart, together].map(|world| models(world.simulation().run().unwrap()));
        assert_eq!(one[0].ensemble(), other[0].ensemble(), "{labels:?}");
    }
}
