//! What the sides show each other.

use privet_mpc::circuit::{Argmin, Circuit, Counted, Less, Rendezvous};
use privet_mpc::garble::{Evaluating, Garbling, digest};
use privet_mpc::transfer::{ReceiverKeys, SenderKeys};
use rand_core::Rng;

use super::{Pair, random_bits, rng, seed};

const HEAD: usize = 17;

/// The simulator of `docs/proofs/garbling.md`: random corrections and tables, and decoding bits that make of the labels that come out whatever the output is. An evaluator cannot
/// tell, and decodes to that output; so garbled bytes need not be made from the garbler's input.
#[test]
fn the_simulator_decodes_to_the_output_whatever_it_is() {
    fn simulate<C: Circuit + Clone>(pair: &mut Pair, circuit: &Counted<C>, output: &[bool]) {
        let mut rng = rng(7);
        let input = random_bits(&mut rng, circuit.shape().evaluator);
        let number = pair.number;
        let real = pair.run(circuit, &vec![false; circuit.shape().garbler], &input);
        // Heads follow from what both know. All bodies are random, but for the decoding bits.
        let mut simulated = real.garbled;
        for part in &mut simulated {
            rng.fill_bytes(&mut part[HEAD..]);
        }
        let bytes = output.len().div_ceil(8);
        let evaluate = |parts: &[Vec<u8>], pair: &Pair| {
            // The evaluator as it was before: numbers rise, so its keys are made again.
            let mut keys = Pair::new(9).receiver;
            assert_eq!(keys.save().len(), pair.receiver.save().len());
            let mut evaluating = Evaluating::new(&mut keys, number, circuit, &input, seed(4)).unwrap();
            while evaluating.next_message().is_some() {}
            let outcomes = parts.iter().map(|part| evaluating.receive(part).unwrap());
            outcomes.last().flatten().unwrap().bits
        };
        let last = simulated.last_mut().unwrap();
        let decoding = last.len() - bytes;
        last[decoding..].fill(0);
        let colours = evaluate(&simulated, pair);
        let last = simulated.last_mut().unwrap();
        for (at, (colour, bit)) in colours.iter().zip(output).enumerate() {
            last[decoding + at / 8] |= u8::from(colour ^ bit) << (at % 8);
        }
        assert_eq!(evaluate(&simulated, pair), output);
    }

    let mut pair = Pair::new(9);
    let argmin = Counted::new(Argmin::new(70, 32).unwrap()).unwrap();
    let rendezvous = Counted::new(Rendezvous::new(34).unwrap()).unwrap();
    for byte in [0, 0x55, 0xff] {
        let output = |bits: usize| -> Vec<bool> { (0..bits).map(|at| byte >> (at % 8) & 1 == 1).collect() };
        simulate(&mut pair, &argmin, &output(7));
        simulate(&mut pair, &rendezvous, &output(7));
    }
}

/// All inputs of a small circuit: kinds, numbers, parts, lengths and order are the same, and what is in the clear is the output.
#[test]
fn lengths_and_order_are_the_same_for_all_inputs() {
    let circuit = Counted::new(Less::new(3).unwrap()).unwrap();
    let bits = |number: usize| -> Vec<bool> { (0..3).map(|at| number >> at & 1 == 1).collect() };
    let mut pair = Pair::new(3);
    for (x, y) in (0..64).map(|both| (both >> 3, both & 7)) {
        let number = pair.number;
        let seen = pair.run(&circuit, &bits(x), &bits(y));
        assert_eq!(seen.bits, [x < y]);
        let heads = |messages: &[Vec<u8>]| -> Vec<(usize, Vec<u8>)> {
            messages
                .iter()
                .map(|one| (one.len(), one[..9].to_vec()))
                .collect()
        };
        let head = |kind: u8| [&[kind][..], &number.to_le_bytes(), &[0; 4]].concat();
        assert_eq!(heads(&seen.choices), [(HEAD + 16 + 128, head(0x16))]);
        assert_eq!(
            heads(&seen.garbled),
            [(HEAD + 16 + 3 * 16 + 3 * 32 + 1, head(0x17))]
        );
        assert_eq!(
            heads(std::slice::from_ref(&seen.outcome)),
            [(HEAD + 1, head(0x18))]
        );
        assert_eq!(seen.outcome[HEAD], u8::from(x < y));
    }
}

/// A rebuilt party says the same; another input, another seed or another number share nothing with it.
#[test]
fn what_is_drawn_follows_from_seed_input_and_number() {
    let circuit = Counted::new(Argmin::new(5, 6).unwrap()).unwrap();
    let (x, y) = (
        circuit.input(&[1, 2, 3, 4, 5]).unwrap(),
        circuit.input(&[9; 5]).unwrap(),
    );
    let transcript = |number: u32, x: &[bool], y: &[bool], garbler: u8, evaluator: u8| {
        let pair = Pair::new(9);
        // Keys that were kept are as good as the first ones.
        let mut sender = SenderKeys::restore(&pair.sender.save()).unwrap();
        let mut receiver = ReceiverKeys::restore(&pair.receiver.save()).unwrap();
        let mut garbling = Garbling::new(&mut sender, number, &circuit, x, seed(garbler)).unwrap();
        let mut evaluating = Evaluating::new(&mut receiver, number, &circuit, y, seed(evaluator)).unwrap();
        let choices = evaluating.next_message().unwrap();
        garbling.receive(&choices).unwrap();
        let garbled = garbling.next_message().unwrap();
        (choices[HEAD..].to_vec(), garbled[HEAD..].to_vec())
    };
    let (choices, garbled) = transcript(0, &x, &y, 1, 2);
    assert_eq!(transcript(0, &x, &y, 1, 2), (choices.clone(), garbled.clone()));
    // Blocks of 16 bytes that two transcripts have in common, in any place.
    let shared = |a: &[u8], b: &[u8]| {
        let blocks = |of: &[u8]| of.as_chunks::<16>().0.to_vec();
        let b = blocks(b);
        blocks(a).iter().filter(|block| b.contains(block)).count()
    };
    let (mut other_x, mut other_y) = (x.clone(), y.clone());
    other_x[3] ^= true;
    other_y[3] ^= true;
    // The garbler's input or seed: the choices are the same, and nothing of what is garbled.
    for (x, seed) in [(&other_x, 1), (&x, 5)] {
        let (same, other) = transcript(0, x, &y, seed, 2);
        assert_eq!(same, choices);
        assert_eq!(shared(&garbled, &other), 0);
    }
    // The evaluator's input or seed, or the number: nothing is the same.
    for (number, y, seed) in [(0, &other_y, 2), (0, &y, 6), (1, &y, 2)] {
        let (other_choices, other) = transcript(number, &x, y, 1, seed);
        assert_eq!(shared(&choices, &other_choices), 0);
        assert_eq!(shared(&garbled, &other), 0);
    }
    assert_ne!(digest(&x), digest(&other_x));
    assert_ne!(digest(&[false; 3]), digest(&[false; 4]));
    assert_eq!(format!("{:?}", seed(7)), "Seed(…)");
}
