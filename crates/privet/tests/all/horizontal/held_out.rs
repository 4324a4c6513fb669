//! Who is held out is known to the owner alone.

use std::any::Any;
use std::sync::{Arc, Mutex};

use privet::party::Item;
use privet::privacy::audit::{Auditor, Observed};
use privet::setting::horizontal::Protocol;

use super::judges::{Judges, PROTOCOLS, dimension, judged_by, seen, world};
use super::protocols::rows;
use super::world::{Labels, Noise};

const OWNERS: usize = 4;

/// Writes down the seeds that the ledger's randomness gives for coins, or puts another in their place.
struct Seeds {
    judges: Judges,
    drawn: Arc<Mutex<Vec<[u8; 32]>>>,
    in_place: Option<[u8; 32]>,
}

impl Auditor for Seeds {
    fn query(&mut self, query: Observed) -> Option<Box<dyn Any + Send>> {
        self.judges.query(query)
    }

    fn released(&mut self, _: Box<dyn Any + Send>) {}

    fn coins(&mut self, seed: [u8; 32]) -> [u8; 32] {
        let seed = self.in_place.unwrap_or(seed);
        self.drawn.lock().unwrap().push(seed);
        seed
    }

    fn parts_begin(&mut self, _: usize, _: u64) {}

    fn part_ends(&mut self) {}

    fn parts_end(&mut self) {}
}

/// How a run ended: each owner's counts of held-out rows, its seeds, and all that was sent.
struct Ran {
    agreement: [u8; 32],
    counts: Vec<Vec<i64>>,
    seeds: Vec<Vec<[u8; 32]>>,
    sent: Vec<Vec<u8>>,
}

/// The same agreement, rows, names and keys each time; the owners' own randomness is another for another `seed`.
fn run(protocol: Protocol, seed: u64, in_place: Option<[u8; 32]>) -> Ran {
    let labels = Labels::Two;
    let world = world(protocol, labels, "1e-6", rows(labels, OWNERS, 60), Noise::Drawn);
    let seen = seen(OWNERS);
    let drawn: Vec<Arc<Mutex<Vec<[u8; 32]>>>> = (0..OWNERS).map(|_| Arc::default()).collect();
    let auditor = |place: usize| -> Box<dyn Auditor> {
        let judges = Judges {
            dimension: dimension(labels),
            seen: Arc::clone(&seen[place]),
            exact: true,
        };
        let drawn = Arc::clone(&drawn[place]);
        Box::new(Seeds {
            judges,
            drawn,
            in_place,
        })
    };
    let simulation = judged_by(&world, auditor, seed).without_checkpoints();
    let records = simulation.records();
    simulation.run().unwrap().all().unwrap();
    let received = records.iter().flat_map(|record| record.items());
    let received = received.filter_map(|item| match item {
        Item::Received { message, .. } => Some(message),
        _ => None,
    });
    Ran {
        agreement: world.agreement.digest(),
        counts: seen
            .iter()
            .map(|own| own.lock().unwrap()[0].answer.clone())
            .collect(),
        seeds: drawn.iter().map(|own| own.lock().unwrap().clone()).collect(),
        sent: received.map(|message| message.to_vec()).collect(),
    }
}

/// Whoever knows the agreement, the keys in it and even the rows does not know who is held out: with the same of all of them, and another randomness
/// of the owners, others are. With the same seed of the coins, and another randomness in everything else, the same are. No seed is ever sent.
///
/// Four owners have 60 rows each and hold out 24 on average, of two classes: eight numbers of deviation 2.7,
/// which all agree by chance with a probability of about 0.11⁸, below 10⁻⁷. These draws are seeded, so that the test gives the same each time.
#[test]
fn who_is_held_out_follows_from_nothing_that_others_know() {
    for protocol in PROTOCOLS {
        let [one, other] = [1, 2].map(|seed| run(protocol, seed, None));
        assert_eq!(one.agreement, other.agreement);
        assert!(one.seeds.iter().all(|seeds| !seeds.is_empty()), "{protocol:?}");
        assert_ne!(one.counts, other.counts, "{protocol:?}");
        let fixed = Some([7; 32]);
        let [again, elsewhere] = [3, 4].map(|seed| run(protocol, seed, fixed));
        assert_eq!(
            again.counts, elsewhere.counts,
            "{protocol:?}: the coins alone decide"
        );
        assert_ne!(again.counts, one.counts);
        assert!(one.sent.len() > 10, "{protocol:?}");
        let is_sent = |seed: &[u8; 32]| {
            let mut sent = one.sent.iter();
            sent.any(|message| message.windows(32).any(|bytes| bytes == seed))
        };
        assert!(!one.seeds.iter().flatten().any(is_sent), "{protocol:?}");
    }
}
