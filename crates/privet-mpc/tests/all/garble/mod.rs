//! Circuits of two parties: what comes out, what it costs, and what is refused.

mod agreeing;

use privet_mpc::circuit::{Circuit, Counted};
use privet_mpc::garble::{Evaluating, Garbling, Seed};
use privet_mpc::transfer::{self, ReceiverKeys, SenderKeys};
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

/// Both sides of a run after its set-up.
struct Pair {
    sender: SenderKeys,
    receiver: ReceiverKeys,
    number: u32,
}

/// All messages of a circuit, in order.
struct Transcript {
    choices: Vec<Vec<u8>>,
    garbled: Vec<Vec<u8>>,
    outcome: Vec<u8>,
    bits: Vec<bool>,
}

fn seed(byte: u8) -> Seed {
    Seed::new([byte; 32])
}

impl Pair {
    fn new(byte: u8) -> Self {
        let agreement = [byte; 32];
        let (expect, offer) = transfer::offer(&agreement, seed(1));
        let (sender, answer) = transfer::answer(&agreement, seed(2), &offer).unwrap();
        let receiver = expect.receive(&answer).unwrap();
        Self {
            sender,
            receiver,
            number: 0,
        }
    }

    /// The next circuit, before a message.
    fn begin<C: Circuit + Clone>(
        &mut self,
        circuit: &Counted<C>,
        garbler: &[bool],
        evaluator: &[bool],
    ) -> (Garbling<C>, Evaluating<C>) {
        let number = self.number;
        self.number += 1;
        let garbling = Garbling::new(&mut self.sender, number, circuit, garbler, seed(3)).unwrap();
        let evaluating = Evaluating::new(&mut self.receiver, number, circuit, evaluator, seed(4)).unwrap();
        (garbling, evaluating)
    }

    fn run<C: Circuit + Clone>(
        &mut self,
        circuit: &Counted<C>,
        garbler: &[bool],
        evaluator: &[bool],
    ) -> Transcript {
        let (mut garbling, mut evaluating) = self.begin(circuit, garbler, evaluator);
        let choices: Vec<Vec<u8>> = std::iter::from_fn(|| evaluating.next_message()).collect();
        for part in &choices {
            assert!(!garbling.is_ready() && garbling.next_message().is_none());
            garbling.receive(part).unwrap();
        }
        let garbled: Vec<Vec<u8>> = std::iter::from_fn(|| garbling.next_message()).collect();
        let mut evaluated = None;
        for part in &garbled {
            assert_eq!(evaluated, None);
            evaluated = evaluating.receive(part).unwrap();
        }
        let evaluated = evaluated.unwrap();
        assert_eq!(garbling.open(&evaluated.message).unwrap(), evaluated.bits);
        Transcript {
            choices,
            garbled,
            outcome: evaluated.message,
            bits: evaluated.bits,
        }
    }
}

fn rng(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

fn random_bits(rng: &mut ChaCha8Rng, count: usize) -> Vec<bool> {
    (0..count).map(|_| rng.next_u32() & 1 == 1).collect()
}
