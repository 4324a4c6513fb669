//! How good models are beside those of one owner alone, a constant, and rows without protection. Draws are seeded, so that figures stay.

use privet::data::Frame;
use privet::learner::SILENT;
use privet::model::Model;
use privet::privacy::account::Caps;
use privet::privacy::{AddRemove, Ledger, Neighbours, Randomness};
use privet::setting::central::{Algorithm, Budget};
use privet::setting::horizontal::{Horizontal, Protocol, Trees};

use super::protocols::{models, rows};
use super::world::{Labels, Line, Noise, World, lines, schema, spending, table};

const OWNERS: usize = 8;
const EACH: usize = 400;

/// The share of rows whose class a model finds.
fn accuracy(model: &Model, rows: &[Line]) -> f64 {
    let column = |place: usize| -> Vec<String> { rows.iter().map(|row| row[place].clone()).collect() };
    let frame = Frame::new()
        .column("x", column(0))
        .column("z", column(1))
        .column("colour", column(2));
    let classes = model.predict(&frame).unwrap().classes().unwrap();
    let right = classes
        .iter()
        .zip(rows)
        .filter(|(class, row)| ["a", "b"][usize::from(**class)] == row[3]);
    right.count() as f64 / rows.len() as f64
}

#[test]
fn many_owners_learn_more_than_one_and_more_together_than_apart() {
    let test = lines(Labels::Two, 4000, 99);
    let share = |class: &str| test.iter().filter(|row| row[3] == class).count() as f64 / test.len() as f64;
    let constant = share("a").max(share("b"));
    let spend = spending("0.5", "1e-6");
    let train = |protocol: Protocol, noise: Noise| {
        let horizontal = Horizontal::builder().protocol(protocol).build().unwrap();
        let world = World::new(
            &horizontal,
            Labels::Two,
            spend,
            rows(Labels::Two, OWNERS, EACH),
            noise,
        );
        accuracy(&models(world.simulation().run().unwrap())[0], &test)
    };
    let aggregated = train(Protocol::Aggregated, Noise::Drawn);
    let apart = [Protocol::Averaged, Protocol::Chain].map(|protocol| train(protocol, Noise::Drawn));
    let exact = train(Protocol::Aggregated, Noise::Exact);
    let alone = {
        let budget = Budget::with_delta(spend.epsilon, spend.delta, EACH as u64).unwrap();
        let relation = AddRemove::row().relation();
        let plan = Trees::default()
            .plan(&schema(Labels::Two), &relation, budget)
            .unwrap();
        let random = Randomness::seeded(1);
        let ledger =
            Ledger::volatile(AddRemove::row(), Caps::from(plan.price()), spend.delta, random).unwrap();
        let rows = &rows(Labels::Two, 1, EACH)[0];
        accuracy(
            &plan.fit(table(plan.schema(), rows), ledger, SILENT).unwrap(),
            &test,
        )
    };
    let figures = format!(
        "constant {constant:.3}, alone {alone:.3}, averaged and chain {apart:.3?}, aggregated {aggregated:.3}, without noise {exact:.3}"
    );
    println!("{figures}");
    assert!(
        aggregated > constant + 0.2 && aggregated > alone + 0.02,
        "{figures}"
    );
    assert!(apart.iter().all(|apart| *apart > constant + 0.1), "{figures}");
    assert!(exact >= aggregated - 0.02, "{figures}");
}
