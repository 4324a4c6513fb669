//! Decodes a peer's bytes, which may be invalid. The body of the fuzz target `garble`.

use std::sync::OnceLock;

use zeroize::Zeroizing;

use super::message::{HEAD, Kind};
use super::{Evaluating, Garbling, Seed};
use crate::circuit::{Argmin, Counted};
use crate::transfer::{self, ReceiverKeys, SenderKeys};

const AGREEMENT: [u8; 32] = [7; 32];

/// Both sides of a run after its set-up, a circuit, and all messages as they should be.
struct Ready {
    circuit: Counted<Argmin>,
    sender: Zeroizing<Vec<u8>>,
    receiver: Zeroizing<Vec<u8>>,
    offer: Vec<u8>,
    answer: Vec<u8>,
    choices: Vec<u8>,
    garbled: Vec<u8>,
    outcome: Vec<u8>,
}

impl Ready {
    /// Made once: base transfers take longer than a fuzzer wants to wait.
    fn get() -> &'static Self {
        static READY: OnceLock<Ready> = OnceLock::new();
        READY.get_or_init(|| {
            // Unwrap safety: circuit, keys and inputs are ours.
            let circuit = Argmin::new(3, 4).and_then(Counted::new).expect("a circuit");
            let (expect, offer) = transfer::offer(&AGREEMENT, Seed::new([1; 32]));
            let (sender, answer) =
                transfer::answer(&AGREEMENT, Seed::new([2; 32]), &offer).expect("an answer");
            let mut ready = Self {
                circuit,
                sender: sender.save(),
                receiver: expect.receive(&answer).expect("keys").save(),
                offer,
                answer,
                choices: Vec::new(),
                garbled: Vec::new(),
                outcome: Vec::new(),
            };
            let (mut garbling, mut evaluating) = (ready.garbling(), ready.evaluating());
            ready.choices = evaluating.next_message().expect("choices");
            garbling.receive(&ready.choices).expect("choices");
            ready.garbled = garbling.next_message().expect("a garbled part");
            let evaluated = evaluating.receive(&ready.garbled).expect("a garbled part");
            ready.outcome = evaluated.expect("an outcome").message;
            ready
        })
    }

    fn garbling(&self) -> Garbling<Argmin> {
        // Unwrap safety: they were saved, and the input fits.
        let mut keys = SenderKeys::restore(&self.sender).expect("keys");
        let input = self.circuit.input(&[3, 1, 15]).expect("an input");
        Garbling::new(&mut keys, 0, &self.circuit, &input, Seed::new([3; 32])).expect("a garbler")
    }

    fn evaluating(&self) -> Evaluating<Argmin> {
        // Unwrap safety: they were saved, and the input fits.
        let mut keys = ReceiverKeys::restore(&self.receiver).expect("keys");
        let input = self.circuit.input(&[2, 9, 0]).expect("an input");
        Evaluating::new(&mut keys, 0, &self.circuit, &input, Seed::new([4; 32])).expect("an evaluator")
    }
}

/// Receives `bytes` as each of the messages. If they begin with 0x24 to 0x28, the rest is put under the head of that message, for otherwise
/// few changed bytes would come further. Says whether they were taken.
pub fn decode(bytes: &[u8]) -> bool {
    let ready = Ready::get();
    let message = |kind: Kind, right: &[u8]| match bytes.split_first() {
        Some((first, body)) if *first == kind as u8 + 0x10 => [&right[..HEAD], body].concat(),
        _ => bytes.to_vec(),
    };

    let mut taken = false;
    let offer = message(Kind::Offer, &ready.offer);
    if let Ok((_, answer)) = transfer::answer(&AGREEMENT, Seed::new([2; 32]), &offer) {
        assert_eq!(answer.len(), ready.answer.len());
        taken = true;
    }
    let (expect, _) = transfer::offer(&AGREEMENT, Seed::new([1; 32]));
    taken |= expect.receive(&message(Kind::Points, &ready.answer)).is_ok();

    let mut garbling = ready.garbling();
    if garbling.receive(&message(Kind::Choices, &ready.choices)).is_ok() {
        assert!(garbling.is_ready());
        let garbled = garbling.next_message().map(|part| part.len());
        assert_eq!(garbled, Some(ready.garbled.len()));
        taken = true;
    }

    let mut evaluating = ready.evaluating();
    // Unwrap safety: an evaluator has choices.
    evaluating.next_message().expect("choices");
    if let Ok(evaluated) = evaluating.receive(&message(Kind::Garbled, &ready.garbled)) {
        let evaluated = evaluated.expect("it has one part");
        assert_eq!(
            (evaluated.bits.len(), evaluated.message.len()),
            (2, ready.outcome.len())
        );
        taken = true;
    }

    let mut garbling = ready.garbling();
    // Unwrap safety: these are the right choices.
    garbling.receive(&ready.choices).expect("choices");
    while garbling.next_message().is_some() {}
    if let Ok(bits) = garbling.open(&message(Kind::Outcome, &ready.outcome)) {
        assert_eq!(bits.len(), 2);
        taken = true;
    }
    taken
}

/// The messages of the fuzz corpus as they should be: offer, points, choices, garbled, outcome.
#[cfg(test)]
mod tests {
    use super::*;

    /// Without the files nobody would see that changed bytes come anywhere. `PRIVET_WRITE_CORPUS` writes them.
    #[test]
    fn the_corpus_has_each_message() {
        let ready = Ready::get();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/garble");
        let messages = [
            ("offer", &ready.offer),
            ("points", &ready.answer),
            ("choices", &ready.choices),
            ("garbled", &ready.garbled),
            ("outcome", &ready.outcome),
        ];
        for (name, message) in messages {
            let path = format!("{folder}/{name}");
            if std::env::var_os("PRIVET_WRITE_CORPUS").is_some() {
                let body = [&[message[0] + 0x10], &message[HEAD..]].concat();
                std::fs::write(&path, message).expect("written");
                std::fs::write(format!("{path}-body"), body).expect("written");
            }
            assert_eq!(&std::fs::read(&path).expect(&path), message);
            let body = std::fs::read(format!("{path}-body")).expect(&path);
            assert_eq!(body[1..], message[HEAD..]);
            assert!(decode(message) && decode(&body));
        }
    }
}
