//! Secure sums: what comes out whoever is absent, and what is refused.

mod agreeing;
mod holding;
mod refusing;
mod vectors;

use privet_mpc::Error;
use privet_mpc::sealed::SealingKey;
use privet_mpc::sum::{
    Collecting, Opened, Opening, OwnerRound, Relaying, Seed, SumFault, SumOwner, SumTerms,
};

/// What an owner has shared: the state of a holder, and the message.
type Shared = (Option<OwnerRound>, Vec<u8>);

/// All owners of a run, in one place.
struct Run {
    terms: SumTerms,
    owners: Vec<SumOwner>,
}

fn keys(owners: usize) -> (Vec<SealingKey>, Vec<(u16, [u8; 32])>) {
    let key = |owner: usize| {
        let mut bytes = [3; 32];
        // The lowest bits of a key do not count.
        bytes[1..9].copy_from_slice(&(owner as u64).to_le_bytes());
        SealingKey::new(bytes)
    };
    let keys: Vec<SealingKey> = (0..owners).map(key).collect();
    let publics = (0..)
        .map(|place| 2 * place + 1)
        .zip(keys.iter().map(SealingKey::public));
    let publics = publics.collect();
    (keys, publics)
}

/// A seed for tests: every owner and round has another one.
fn seed(owner: usize, round: u32) -> Seed {
    let mut bytes = [5; 32];
    bytes[..8].copy_from_slice(&(owner as u64).to_le_bytes());
    bytes[8..12].copy_from_slice(&round.to_le_bytes());
    Seed::new(bytes)
}

impl Run {
    fn new(terms: SumTerms, agreement: u8) -> Self {
        let (keys, publics) = keys(terms.owners());
        let owner = |(me, key)| SumOwner::new(&terms, me, key, &publics, &[agreement; 32], 0).unwrap();
        let owners = (0..).zip(&keys).map(owner).collect();
        Self { terms, owners }
    }

    fn of(owners: usize, absent: usize, colluding: usize, length: usize) -> Self {
        Self::new(SumTerms::new(owners, absent, colluding, length).unwrap(), 7)
    }

    /// Everybody shares its numbers.
    fn share(&mut self, round: u32, numbers: &[Vec<i64>]) -> Vec<Shared> {
        let owners = self.owners.iter_mut().zip(numbers).enumerate();
        owners
            .map(|(me, (owner, numbers))| owner.share(round, numbers, seed(me, round)).unwrap())
            .collect()
    }

    /// The survivor set of those whose bit is set.
    fn relay(&self, round: u32, shared: &[Shared], set: u32) -> Relaying {
        let mut collecting = Collecting::new(&self.terms, round);
        for (owner, (_, shares)) in (0_u16..).zip(shared) {
            if set >> owner & 1 == 1 {
                collecting.receive(owner, shares.clone()).unwrap();
            }
        }
        collecting.fix().map_err(|(_, why)| why).unwrap()
    }

    /// All holders among the survivors but those whose bit is set answer.
    fn answers(&self, shared: Vec<Shared>, relaying: Relaying, silent: u32) -> Opening {
        let told: Vec<(u16, Vec<u8>)> = relaying
            .holders()
            .iter()
            .map(|to| (*to, relaying.message(*to).unwrap()))
            .collect();
        let mut opening = relaying.sent();
        let mut rounds: Vec<Option<OwnerRound>> = shared.into_iter().map(|(round, _)| round).collect();
        for (from, relayed) in told.iter().filter(|(from, _)| silent >> from & 1 == 0) {
            let round = rounds[usize::from(*from)].take().unwrap();
            let answered = round.answer(&self.owners[usize::from(*from)], relayed).unwrap();
            assert_eq!(answered.survivors, opening.survivors());
            opening.receive(*from, &answered.message).unwrap();
        }
        opening
    }

    /// A whole round.
    fn sum(&mut self, round: u32, numbers: &[Vec<i64>], set: u32, silent: u32) -> Result<Opened, Error> {
        let shared = self.share(round, numbers);
        let relaying = self.relay(round, &shared, set);
        self.answers(shared, relaying, silent).open()
    }
}

#[track_caller]
fn fault<T>(result: Result<T, Error>) -> SumFault {
    match result {
        Err(Error::Sum(fault)) => fault,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it was taken"),
    }
}
