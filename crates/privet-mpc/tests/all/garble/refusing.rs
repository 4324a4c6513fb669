//! What is not the message that is expected is refused with data, and the right one is still taken after it.

use privet_mpc::Error;
use privet_mpc::circuit::{Argmin, Circuit, Counted, Less, Orban, Rendezvous, Sum};
use privet_mpc::garble::{
    Evaluated, Evaluating, GarbleFault, GarbleMessageFault as Fault, GarbleParty, Garbling,
};
use privet_mpc::transfer::{self, ReceiverKeys, SenderKeys};

use super::{Pair, seed};

const HEAD: usize = 17;

#[track_caller]
fn refused<T>(from: GarbleParty, fault: Fault, result: Result<T, Error>) {
    match result {
        Err(error) => assert_eq!(error, Error::Garble(GarbleFault { from, fault })),
        Ok(_) => panic!("it was taken, and should have been refused: {fault:?}"),
    }
}

#[track_caller]
fn misused<T>(result: Result<T, Error>) {
    assert!(matches!(result.err(), Some(Error::Misuse(_))));
}

/// Every way in which a message can be another one, and what is said of it.
fn changed(message: &[u8]) -> Vec<(Fault, Vec<u8>)> {
    let with = |at: usize| {
        let mut other = message.to_vec();
        other[at] ^= 1;
        other
    };
    let u32_at = |at: usize| u32::from_le_bytes(message[at..at + 4].try_into().unwrap());
    let length = |bytes: usize| Fault::Length {
        bytes,
        expected: message.len(),
    };
    let mut changed = vec![
        (Fault::Kind { kind: message[0] ^ 1 }, with(0)),
        (
            Fault::Number {
                number: u32_at(1) ^ 1,
                expected: u32_at(1),
            },
            with(1),
        ),
        (
            Fault::Part {
                part: u32_at(5) ^ 1,
                expected: u32_at(5),
            },
            with(5),
        ),
        (Fault::Exchange, with(9)),
        (Fault::Exchange, with(16)),
        (length(message.len() + 1), [message, &[0]].concat()),
    ];
    for bytes in [0, 1, HEAD - 1, HEAD, message.len() - 1] {
        changed.push((length(bytes), message[..bytes].to_vec()));
    }
    changed
}

/// Two parts of choices, and seven garbled ones.
fn large() -> Counted<Orban> {
    Counted::new(Orban::new(5_000).unwrap()).unwrap()
}

#[test]
fn changed_cut_and_lengthened_messages_are_refused_and_change_nothing() {
    let (circuit, mut pair) = (large(), Pair::new(1));
    let (x, y) = (vec![true; 5_000], vec![true; 5_000]);
    let (mut garbling, mut evaluating) = pair.begin(&circuit, &x, &y);
    while let Some(part) = evaluating.next_message() {
        for (fault, other) in changed(&part) {
            refused(GarbleParty::Evaluator, fault, garbling.receive(&other));
        }
        garbling.receive(&part).unwrap();
    }
    let mut evaluated: Option<Evaluated> = None;
    while let Some(part) = garbling.next_message() {
        for (fault, other) in changed(&part) {
            refused(GarbleParty::Garbler, fault, evaluating.receive(&other));
        }
        evaluated = evaluating.receive(&part).unwrap();
    }
    let evaluated = evaluated.unwrap();
    assert_eq!(evaluated.bits, [true]);
    for (fault, other) in changed(&evaluated.message) {
        let (mut again, mut choosing) = Pair::new(1).begin(&circuit, &x, &y);
        while let Some(part) = choosing.next_message() {
            again.receive(&part).unwrap();
        }
        while again.next_message().is_some() {}
        refused(GarbleParty::Evaluator, fault, again.open(&other));
    }
}

#[test]
fn repeated_and_exchanged_parts_are_refused() {
    let (circuit, mut pair) = (large(), Pair::new(1));
    let (mut garbling, mut evaluating) = pair.begin(&circuit, &vec![true; 5_000], &vec![false; 5_000]);
    let choices: Vec<_> = std::iter::from_fn(|| evaluating.next_message()).collect();
    let part = |part, expected| Fault::Part { part, expected };
    refused(GarbleParty::Evaluator, part(1, 0), garbling.receive(&choices[1]));
    garbling.receive(&choices[0]).unwrap();
    refused(GarbleParty::Evaluator, part(0, 1), garbling.receive(&choices[0]));
    let mut resalted = choices[1].clone();
    resalted[HEAD] ^= 1;
    refused(GarbleParty::Evaluator, Fault::Salt, garbling.receive(&resalted));
    garbling.receive(&choices[1]).unwrap();
    refused(GarbleParty::Evaluator, Fault::Over, garbling.receive(&choices[1]));

    let garbled: Vec<_> = std::iter::from_fn(|| garbling.next_message()).collect();
    refused(GarbleParty::Garbler, part(1, 0), evaluating.receive(&garbled[1]));
    for (at, message) in (0_u32..).zip(&garbled) {
        assert_eq!(
            evaluating.receive(message).unwrap().is_some(),
            at as usize + 1 == garbled.len()
        );
        let again = match at as usize + 1 == garbled.len() {
            true => Fault::Over,
            false => part(at, at + 1),
        };
        refused(GarbleParty::Garbler, again, evaluating.receive(message));
    }
}

#[test]
fn messages_of_another_run_circuit_or_exchange_are_refused() {
    let sum = Counted::new(Sum::new(9).unwrap()).unwrap();
    let less = Counted::new(Less::new(9).unwrap()).unwrap();
    let bits = [true; 9];
    let choices = |pair: &mut Pair| pair.begin(&sum, &bits, &bits).1.next_message().unwrap();
    let (mut garbling, mut evaluating) = Pair::new(1).begin(&sum, &bits, &bits);
    // The same number and lengths, under another agreement, and of another circuit.
    refused(
        GarbleParty::Evaluator,
        Fault::Exchange,
        garbling.receive(&choices(&mut Pair::new(2))),
    );
    let mut other = Pair::new(1).begin(&less, &bits, &bits).0;
    refused(
        GarbleParty::Evaluator,
        Fault::Exchange,
        other.receive(&choices(&mut Pair::new(1))),
    );
    // The garbler's answer to other choices.
    let (mut garbling_other, mut evaluating_other) = Pair::new(1).begin(&sum, &bits, &[false; 9]);
    garbling_other
        .receive(&evaluating_other.next_message().unwrap())
        .unwrap();
    garbling.receive(&evaluating.next_message().unwrap()).unwrap();
    let garbled = garbling_other.next_message().unwrap();
    refused(
        GarbleParty::Garbler,
        Fault::Exchange,
        evaluating.receive(&garbled),
    );
    // And its outcome.
    let outcome = evaluating_other.receive(&garbled).unwrap().unwrap();
    while garbling.next_message().is_some() {}
    refused(
        GarbleParty::Evaluator,
        Fault::Exchange,
        garbling.open(&outcome.message),
    );
}

#[test]
fn bits_beyond_the_last_are_refused() {
    let circuit = Counted::new(Sum::new(9).unwrap()).unwrap();
    let (mut garbling, mut evaluating) = Pair::new(1).begin(&circuit, &[true; 9], &[true; 9]);
    garbling.receive(&evaluating.next_message().unwrap()).unwrap();
    let mut garbled = garbling.next_message().unwrap();
    *garbled.last_mut().unwrap() ^= 0x80;
    refused(GarbleParty::Garbler, Fault::Padding, evaluating.receive(&garbled));
    *garbled.last_mut().unwrap() ^= 0x80;
    let mut outcome = evaluating.receive(&garbled).unwrap().unwrap().message;
    *outcome.last_mut().unwrap() ^= 0x80;
    assert!(garbling.next_message().is_none());
    refused(GarbleParty::Evaluator, Fault::Padding, garbling.open(&outcome));
}

#[test]
fn a_set_up_that_is_not_one_is_refused() {
    let agreement = [5; 32];
    let begin = || transfer::offer(&agreement, seed(1));
    let (expect, offer) = begin();
    let answer = |offer: &[u8]| transfer::answer(&agreement, seed(2), offer);
    for (fault, other) in changed(&offer) {
        refused(GarbleParty::Evaluator, fault, answer(&other));
    }
    let identity = [&offer[..HEAD], &[0; 32]].concat();
    refused(GarbleParty::Evaluator, Fault::Point { at: 0 }, answer(&identity));
    let other_agreement = transfer::offer(&[6; 32], seed(1)).1;
    refused(GarbleParty::Evaluator, Fault::Exchange, answer(&other_agreement));

    let (_, points) = answer(&offer).unwrap();
    for (fault, other) in changed(&points) {
        refused(GarbleParty::Garbler, fault, begin().0.receive(&other));
    }
    let mut no_point = points.clone();
    no_point[HEAD + 32 * 127] ^= 1;
    refused(
        GarbleParty::Garbler,
        Fault::Point { at: 127 },
        begin().0.receive(&no_point),
    );
    let other_offer = transfer::offer(&agreement, seed(9)).0;
    refused(
        GarbleParty::Garbler,
        Fault::Exchange,
        other_offer.receive(&points),
    );
    assert!(expect.receive(&points).is_ok());
}

#[test]
fn sizes_numbers_and_turns_that_cannot_be_are_misuse() {
    for places in [0, Orban::MOST + 1] {
        misused(Orban::new(places));
        misused(Rendezvous::new(places));
    }
    for (candidates, bits) in [(0, 1), (1, 0), (1, 65), (Argmin::MOST + 1, 1)] {
        misused(Argmin::new(candidates, bits));
    }
    for bits in [0, 65] {
        misused(Sum::new(bits));
        misused(Less::new(bits));
    }
    misused(Argmin::new(2, 3).unwrap().input(&[1]));
    misused(Argmin::new(2, 3).unwrap().input(&[1, 8]));
    misused(Rendezvous::new(3).unwrap().input(&[true; 2], 0));

    let circuit = Counted::new(Sum::new(2).unwrap()).unwrap();
    misused(circuit.compute(&[true], &[true; 2]));
    let mut pair = Pair::new(1);
    misused(Garbling::new(&mut pair.sender, 3, &circuit, &[true], seed(3)));
    misused(Evaluating::new(
        &mut pair.receiver,
        3,
        &circuit,
        &[true; 3],
        seed(3),
    ));
    let mut garbling = Garbling::new(&mut pair.sender, 3, &circuit, &[true; 2], seed(3)).unwrap();
    let mut evaluating = Evaluating::new(&mut pair.receiver, 3, &circuit, &[true; 2], seed(3)).unwrap();
    for number in [0, 3] {
        misused(Garbling::new(
            &mut pair.sender,
            number,
            &circuit,
            &[true; 2],
            seed(3),
        ));
        misused(Evaluating::new(
            &mut pair.receiver,
            number,
            &circuit,
            &[true; 2],
            seed(3),
        ));
    }
    // Saved keys remember it.
    let mut sender = SenderKeys::restore(&pair.sender.save()).unwrap();
    let mut receiver = ReceiverKeys::restore(&pair.receiver.save()).unwrap();
    misused(Garbling::new(&mut sender, 3, &circuit, &[true; 2], seed(3)));
    misused(Evaluating::new(&mut receiver, 3, &circuit, &[true; 2], seed(3)));
    misused(SenderKeys::restore(&pair.receiver.save()));
    misused(ReceiverKeys::restore(&pair.sender.save()));

    misused(evaluating.receive(&[]));
    let choices = evaluating.next_message().unwrap();
    garbling.receive(&choices).unwrap();
    misused(garbling.open(&[]));
}

#[test]
fn a_circuit_that_does_not_fill_its_output_is_misuse() {
    #[derive(Clone)]
    struct Empty;

    impl Circuit for Empty {
        fn name(&self) -> String {
            "empty".into()
        }

        fn shape(&self) -> privet_mpc::circuit::Shape {
            privet_mpc::circuit::Shape {
                garbler: 1,
                evaluator: 1,
                output: 1,
                steps: 1,
            }
        }

        fn step<B: privet_mpc::circuit::Backend>(
            &self,
            _: usize,
            _: &mut privet_mpc::circuit::Workspace<B::Wire>,
            _: &mut B,
        ) {
        }
    }

    misused(Counted::new(Empty));
}
