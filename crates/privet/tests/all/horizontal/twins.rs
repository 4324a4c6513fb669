//! Two runs of a chain on neighbouring tables, the second fed from the record of the first: one row moves answers about one portion only, and
//! no further than was claimed. And the noise of measurements, beside half of it.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use privet::party::{Item, Simulation};
use privet::privacy::Norm;
use privet::privacy::Randomness;
use privet::privacy::Ratio;
use privet::privacy::audit::{Auditor, Observed};
use privet::privacy::sampler::{Noise as _, RoundedGaussian};
use privet::setting::horizontal::{MINER, Message, Miner, Owner, Party};
use privet::wire::Wire;

use super::protocols::rows;
use super::rounds::greedy;
use super::world::{Labels, Noise, World, identity, lines, spending, table};

/// One query of a run: the portion that it is about, its claim, the answer without noise.
#[derive(Clone)]
struct Seen {
    portion: Option<u32>,
    norm: Norm,
    answer: Vec<i64>,
}

#[derive(Default)]
struct Tape {
    portion: Option<u32>,
    seen: [Vec<Seen>; 2],
    outputs: Vec<Box<dyn Any + Send>>,
    is_second: bool,
    /// From which coins of units follow.
    seed: u8,
}

#[derive(Clone, Default)]
struct Taped(Arc<Mutex<Tape>>);

impl Auditor for Taped {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        let mut tape = self.0.lock().unwrap();
        let (run, portion) = (usize::from(tape.is_second), tape.portion);
        tape.seen[run].push(Seen {
            portion,
            norm: query.norm,
            answer: query.answer,
        });
        if !tape.is_second {
            return None;
        }
        let at = tape.seen[1].len() - 1;
        let output = &tape.outputs[at];
        match (output.downcast_ref::<Vec<i64>>(), output.downcast_ref::<usize>()) {
            (Some(numbers), _) => Some(Box::new(numbers.clone())),
            (_, Some(choice)) => Some(Box::new(*choice)),
            _ => None,
        }
    }

    fn released(&mut self, output: Box<dyn Any + Send>) {
        let mut tape = self.0.lock().unwrap();
        if !tape.is_second {
            tape.outputs.push(output);
        }
    }

    fn coins(&mut self, _: [u8; 32]) -> [u8; 32] {
        [self.0.lock().unwrap().seed; 32]
    }

    fn portion(&mut self, portion: Option<u32>) {
        self.0.lock().unwrap().portion = portion;
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

fn taped<'a>(world: &'a World, tapes: &'a [Taped]) -> Simulation<'a, Party> {
    Simulation::of(world.agreement.clone(), move |party, run| {
        if party == MINER {
            return Ok(Miner::party(&world.plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let table = table(world.plan.schema(), &world.rows[place]);
        let ledger = world.ledger(place).audited(Box::new(tapes[place].clone()))?;
        Owner::party(
            world.plan.owner(place)?,
            table,
            ledger,
            &run,
            Some(identity(place)),
        )
    })
}

/// How much of a claim lies between two answers.
fn moved(one: &Seen, other: &Seen) -> f64 {
    let apart = one.answer.iter().zip(&other.answer).map(|(a, b)| (a - b) as f64);
    let apart: Vec<f64> = apart.collect();
    match one.norm {
        Norm::L1(bound) => apart.iter().map(|x| x.abs()).sum::<f64>() / bound as f64,
        Norm::L2Squared(bound) => (apart.iter().map(|x| x * x).sum::<f64>() / bound as f64).sqrt(),
        Norm::Width(bound) => {
            let most = apart.iter().copied().fold(f64::MIN, f64::max);
            let least = apart.iter().copied().fold(f64::MAX, f64::min);
            (most - least) / bound as f64
        }
    }
}

/// Portions whose answers one row of the second owner moves, and the most that an answer is moved.
fn moves(labels: Labels, seed: u8, delta: &str) -> (BTreeSet<Option<u32>>, f64) {
    let horizontal = greedy().rounds(3).quality(1.0).build().unwrap();
    let mut rows = rows(labels, 2, 24);
    let spend = spending("4", delta);
    let world = World::new(&horizontal, labels, spend, rows.clone(), Noise::Drawn);
    // A row comes, and others keep their places. About how many rows there are is public, and the same.
    rows[1].extend(lines(labels, 1, seed));
    let mut more = World::new(&horizontal, labels, spend, rows.clone(), Noise::Drawn);
    (more.plan, more.agreement) = (world.plan.clone(), world.agreement.clone());
    compared(&world, &more, seed)
}

/// The most of a claim that an answer is moved by, between two worlds whose second owners have neighbouring tables.
pub(super) fn most_moved(world: &World, more: &World) -> f64 {
    compared(world, more, 1).1
}

fn compared(world: &World, more: &World, seed: u8) -> (BTreeSet<Option<u32>>, f64) {
    let tapes: Vec<Taped> = world.rows.iter().map(|_| Taped::default()).collect();
    tapes.iter().for_each(|tape| tape.0.lock().unwrap().seed = seed);
    taped(world, &tapes).run().unwrap().all().unwrap();
    tapes
        .iter()
        .for_each(|tape| tape.0.lock().unwrap().is_second = true);
    taped(more, &tapes).run().unwrap().all().unwrap();
    let tape = tapes[1].0.lock().unwrap();
    let [one, other] = &tape.seen;
    assert_eq!(one.len(), other.len(), "the same questions");
    let (mut portions, mut most) = (BTreeSet::new(), 0.0_f64);
    for (one, other) in one.iter().zip(other) {
        assert_eq!((one.portion, one.norm), (other.portion, other.norm));
        let moved = moved(one, other);
        if moved > 0.0 {
            portions.insert(one.portion);
            most = most.max(moved);
        }
    }
    (portions, most)
}

/// Coins follow from the seed, so that this is the same each time.
#[test]
fn one_row_moves_answers_about_one_portion_by_its_claim_and_no_more() {
    let mut found = BTreeSet::new();
    for labels in [Labels::Two, Labels::Number] {
        for seed in 1..=12 {
            let (portions, most) = moves(labels, seed, if seed % 2 == 0 { "1e-6" } else { "0" });
            assert_eq!(portions.len(), 1, "{labels:?} {seed}: {portions:?}");
            assert!(most > 0.05 && most <= 1.0 + 1e-9, "{labels:?} {seed}: {most}");
            found.extend(portions);
        }
    }
    let all: BTreeSet<Option<u32>> = (0..4).map(Some).collect();
    assert_eq!(found, all, "each portion was seen to move");
}

/// The noise in measurements is what each of them was charged for; half its variance is told apart. False alarm: 512 squares beyond five standard
/// deviations, below 10⁻⁵.
#[test]
fn the_noise_of_measurements_is_what_was_paid_for_and_half_of_it_is_rejected() {
    let owners = 8;
    let horizontal = greedy().rounds(16).quality(1.0).build().unwrap();
    let rows = rows(Labels::Two, owners, 30);
    let world = World::new(
        &horizontal,
        Labels::Two,
        spending("4", "1e-6"),
        rows,
        Noise::Drawn,
    );
    let tapes: Vec<Taped> = (0..owners).map(|_| Taped::default()).collect();
    let simulation = taped(&world, &tapes);
    let records = simulation.records();
    simulation.run().unwrap().all().unwrap();
    let told = records[0].items().into_iter().filter_map(|item| match item {
        Item::Received { message, .. } => Message::from_bytes(&message).ok(),
        _ => None,
    });
    let told: Vec<Vec<i64>> = told
        .filter_map(|message| match message {
            Message::Turned { measured, .. } => Some(measured),
            _ => None,
        })
        .collect();
    assert_eq!(told.len(), 16 * owners);
    // Round by round, owner by owner.
    let mut noise = Vec::new();
    let mut claim = None;
    for (turn, told) in told.iter().enumerate() {
        let tape = tapes[turn % owners].0.lock().unwrap();
        let mut judged = tape.seen[0].iter().filter(|seen| seen.portion == Some(16));
        let exact = judged.nth(turn / owners).unwrap();
        claim = Some(exact.norm);
        noise.extend(told.iter().zip(&exact.answer).map(|(told, exact)| told - exact));
    }
    // A sixteenth of μ² for each, of a row that moves one count by one.
    assert_eq!(claim, Some(Norm::L2Squared(1)));
    let privet::privacy::account::Price::Gaussian(whole) = world.plan.price() else {
        panic!("with a δ, μ² is paid")
    };
    let variance = 16.0 / whole.to_f64();
    // The mean of n squares is off by a share of √(2/n), one standard deviation; rounding adds a twelfth.
    let fits = |noise: &[i64]| {
        let squares: f64 = noise.iter().map(|x| (*x as f64).powi(2)).sum();
        let mean = squares / noise.len() as f64;
        (mean / (variance + 1.0 / 12.0) - 1.0).abs() < 5.0 * (2.0 / noise.len() as f64).sqrt()
    };
    assert!(fits(&noise), "{noise:?}");
    let curator = |share: f64| -> Vec<i64> {
        let sigma = Ratio::new(((variance * share).sqrt() * 1e6) as u64, 1_000_000).unwrap();
        let law = RoundedGaussian::new(sigma).unwrap();
        let mut random = Randomness::seeded(11);
        (0..noise.len()).map(|_| law.draw(&mut random) as i64).collect()
    };
    assert!(fits(&curator(1.0)) && !fits(&curator(0.5)) && !fits(&curator(0.25)));
}
