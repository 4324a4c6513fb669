//! The noise in joint sums is that of a curator with the variance of the owners who shared.

use std::any::Any;
use std::sync::{Arc, Mutex};

use privet::party::{Fault, Item, PartyId, Simulation};
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::sampler::{Noise as _, RoundedGaussian};
use privet::privacy::{Randomness, Ratio};
use privet::setting::horizontal::{Horizontal, MINER, Message, Miner, Owner, Plan};
use privet::wire::Wire;
use privet_testkit::chi_square;

use super::protocols::rows;
use super::world::{Labels, Noise, World, identity, spending, table, trees};

/// The most that a test may fail by chance.
const FALSE_ALARM: f64 = 1e-6;
const TREES: u32 = 300;
const LEAVES: u32 = 32;

type Answers = Arc<Mutex<Vec<Vec<i64>>>>;

/// Writes down the exact answers, and lets noise be drawn.
struct Exactly(Answers);

impl Auditor for Exactly {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        self.0.lock().unwrap().push(query.answer);
        None
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

/// The noise in the sums of a run in which the last owner is absent from the beginning, and the variance that one share has.
fn noise() -> (Vec<i64>, Plan) {
    let trees = trees(TREES).leaves(LEAVES).calibrate(false).build().unwrap();
    let horizontal = Horizontal::builder().absent(1).colluding(1).trees(trees);
    let horizontal = horizontal.build().unwrap();
    let rows = rows(Labels::Two, 5, 6);
    let world = World::new(
        &horizontal,
        Labels::Two,
        spending("4", "1e-6"),
        rows,
        Noise::Drawn,
    );
    let answers: Vec<Answers> = (0..5).map(|_| Answers::default()).collect();
    let simulation = Simulation::of(world.agreement.clone(), |party, run| {
        if party == MINER {
            return Ok(Miner::party(&world.plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let table = table(world.plan.schema(), &world.rows[place]);
        let ledger = world
            .ledger(place)
            .audited(Box::new(Exactly(Arc::clone(&answers[place]))))?;
        Owner::party(
            world.plan.owner(place)?,
            table,
            ledger,
            &run,
            Some(identity(place)),
        )
    })
    .without_checkpoints();
    let records = simulation.records();
    let ended = simulation.fault(0, Fault::Leave(PartyId(5))).run().unwrap();
    assert!(ended.outcomes[..5].iter().all(Result::is_ok));
    let mut noise = Vec::new();
    let mut question = 0;
    for item in records[1].items() {
        let Item::Received { message, .. } = item else {
            continue;
        };
        let Ok(Message::Opened { sums, .. }) = Message::from_bytes(&message) else {
            continue;
        };
        for sum in sums {
            assert_eq!(sum.contributions, 4);
            for (place, value) in sum.values.iter().enumerate() {
                let exact: i64 = answers[..4]
                    .iter()
                    .map(|own| own.lock().unwrap()[question][place])
                    .sum();
                noise.push(value - exact);
            }
            question += 1;
        }
    }
    assert_eq!(question, TREES as usize);
    (noise, world.plan)
}

#[test]
fn noise_in_shares_is_that_of_a_curator_with_the_surviving_variance_and_half_of_it_is_rejected() {
    let (noise, plan) = noise();
    // Three honest shares of four pay for μ²; four are present.
    let squares: f64 = noise.iter().map(|x| (*x as f64).powi(2)).sum();
    let deviation = (squares / noise.len() as f64).sqrt();
    let sharing = plan.sharing().unwrap();
    assert_eq!(sharing.honest(), 3);
    let declared = plan.leaf_deviation(4).unwrap();
    assert!(
        (deviation / declared - 1.0).abs() < 0.1,
        "{deviation} and {declared}"
    );
    let central = |scale: f64| -> Vec<i64> {
        let sigma = Ratio::new((declared * scale * 1e3) as u64, 1000).unwrap();
        let law = RoundedGaussian::new(sigma).unwrap();
        let mut random = Randomness::seeded(5);
        (0..noise.len()).map(|_| law.draw(&mut random) as i64).collect()
    };
    let same = chi_square::agree(noise.iter().copied(), central(1.0), FALSE_ALARM);
    assert!(!same.is_refused(), "{same:?}");
    let half = chi_square::agree(noise.iter().copied(), central(0.5f64.sqrt()), FALSE_ALARM);
    assert!(
        half.is_refused(),
        "a curator with half the variance is told apart"
    );
}
