//! The leaf values of joint trees are those of a curator's trees with the variance of the owners who shared.

use std::any::Any;

use privet::learner::{Learner, SILENT};
use privet::model::Model;
use privet::party::{Fault, PartyId, Simulation};
use privet::privacy::account::{Caps, MuSquared, Price};
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::sampler::{Noise as _, RoundedGaussian};
use privet::privacy::{AddRemove, Ledger, Neighbours, Randomness, Ratio};
use privet::setting::central::{Algorithm, Budget};
use privet::setting::horizontal::{Horizontal, MINER, Miner, Owner, Splits, Trees};
use privet_testkit::chi_square;

use super::protocols::rows;
use super::world::{Labels, Line, Noise, World, identity, schema, spending, table, trees};

/// The most that a test may fail by chance.
const FALSE_ALARM: f64 = 1e-6;
const TREES: u32 = 300;
const LEAVES: u32 = 32;
/// So low that scores stay where they begin: all leaf values follow one law, and without shrinkage those of one tree are independent.
const RATE: f64 = 1e-6;
const OWNERS: usize = 5;
const DELTA: &str = "1e-6";

fn parameters() -> Trees {
    let trees = trees(TREES).leaves(LEAVES).calibrate(false);
    let trees = trees.splits(Splits::OneFeature).learning_rate(RATE);
    // With this ridge hardly any value is cut off at its bound.
    trees.ridge(8.0).shrinkage(0.0).build().unwrap()
}

fn world() -> World {
    let horizontal = Horizontal::builder().absent(1).colluding(1).trees(parameters());
    World::new(
        &horizontal.build().unwrap(),
        Labels::Two,
        spending("4", DELTA),
        rows(Labels::Two, OWNERS, 6),
        Noise::Drawn,
    )
}

/// Draws shares of noise with less than the right variance.
struct Less {
    law: RoundedGaussian,
    random: Randomness,
}

impl Auditor for Less {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        let noisy = |x: &i64| x + self.law.draw(&mut self.random) as i64;
        let output: Vec<i64> = query.answer.iter().map(noisy).collect();
        Some(Box::new(output))
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

/// What a run comes to in which the last owner is absent from the beginning; with shares of noise of another variance, if a factor is given.
fn joint(world: &World, factor: Option<f64>) -> Model {
    let simulation = Simulation::of(world.agreement.clone(), |party, run| {
        if party == MINER {
            return Ok(Miner::party(&world.plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let table = table(world.plan.schema(), &world.rows[place]);
        let mut ledger = world.ledger(place);
        if let Some(factor) = factor {
            // Four shares have twice the deviation of one.
            let share = world.plan.leaf_deviation(4).unwrap() / 2.0 * factor.sqrt();
            let share = Ratio::new((share * 1e3) as u64, 1000).unwrap();
            let (law, random) = (
                RoundedGaussian::new(share).unwrap(),
                Randomness::seeded(50 + place as u64),
            );
            ledger = ledger.audited(Box::new(Less { law, random }))?;
        }
        let plan = world.plan.owner(place)?;
        Owner::party(plan, table, ledger, &run, Some(identity(place)))
    });
    let left = PartyId(OWNERS as u16);
    let ended = simulation.fault(0, Fault::Leave(left)).run().unwrap();
    let miner = ended.outcomes.into_iter().next().unwrap();
    miner.unwrap().into_model().unwrap()
}

/// A curator's trees on the rows of all owners but the last, with the noise of four shares where three pay.
fn central(world: &World) -> Model {
    let Price::Gaussian(paid) = world.plan.price() else {
        panic!("noise is Gaussian")
    };
    let less = Price::Gaussian(MuSquared::from_units(paid.units() / 4 * 3));
    let delta = DELTA.parse().unwrap();
    let rows: Vec<Line> = world.rows[..OWNERS - 1].concat();
    let budget = Budget::with_delta(Caps::from(less).epsilon(delta), delta, rows.len() as u64).unwrap();
    let relation = AddRemove::row().relation();
    let plan = parameters()
        .plan(&schema(Labels::Two), &relation, budget)
        .unwrap();
    let ledger = Ledger::volatile(
        AddRemove::row(),
        Caps::from(plan.price()),
        delta,
        Randomness::seeded(7),
    );
    let table = table(plan.schema(), &rows);
    plan.fit(table, ledger.unwrap(), SILENT).unwrap()
}

/// All leaf values, in tenths of what they would be at a learning rate of 1: few bins tell variances apart with fewer values.
fn values(model: &Model) -> Vec<i64> {
    let members = model.ensemble().members.iter();
    let each = members.flat_map(|member| match &member.learner {
        Learner::Tree(tree) => tree.leaves.iter().map(|value| f64::from(*value) * member.weight),
        other => panic!("{other:?} is no tree"),
    });
    each.map(|value| (value / RATE * 10.0).round() as i64).collect()
}

#[test]
fn leaf_values_are_those_of_a_curator_with_the_surviving_variance_and_half_of_it_is_rejected() {
    let world = world();
    assert_eq!(world.plan.sharing().unwrap().honest(), 3);
    let curator = values(&central(&world));
    assert!(curator.len() > 5000, "{}", curator.len());
    let agree = |joint: &Model| chi_square::agree(values(joint), curator.iter().copied(), FALSE_ALARM);
    let most = curator.iter().filter(|value| value.abs() < 20).count();
    assert!(
        10 * most > 9 * curator.len(),
        "{most} of {} values are not at their bound",
        curator.len()
    );
    let same = agree(&joint(&world, None));
    assert!(!same.is_refused(), "{same:?}");
    let half = agree(&joint(&self::world(), Some(0.5)));
    assert!(half.is_refused(), "half of the variance is told apart");
}
