//! Exchanges as another implementation makes them.

use std::path::Path;

use privet_mpc::circuit::{Argmin, Circuit, Counted, Orban, Rendezvous, Sum};
use privet_mpc::garble::{Evaluating, Garbling, Seed};
use privet_mpc::transfer::{self, ReceiverKeys, SenderKeys};
use serde_json::Value;

fn hex(text: &Value) -> Vec<u8> {
    let text = text.as_str().unwrap();
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn seed(text: &Value) -> Seed {
    Seed::new(hex(text).try_into().unwrap())
}

fn bits(text: &Value) -> Vec<bool> {
    text.as_str().unwrap().chars().map(|bit| bit == '1').collect()
}

fn repeat<C: Circuit + Clone>(
    sender: &mut SenderKeys,
    receiver: &mut ReceiverKeys,
    circuit: C,
    made: &Value,
) {
    let circuit = Counted::new(circuit).unwrap();
    assert_eq!(circuit.name(), made["name"].as_str().unwrap());
    assert_eq!(circuit.cost().ands, made["ands"].as_u64().unwrap());
    let number = made["number"].as_u64().unwrap() as u32;
    let (x, y) = (bits(&made["garbler"]), bits(&made["evaluator"]));
    let mut garbling = Garbling::new(sender, number, &circuit, &x, seed(&made["seeds"][0])).unwrap();
    let mut evaluating = Evaluating::new(receiver, number, &circuit, &y, seed(&made["seeds"][1])).unwrap();
    let choices = evaluating.next_message().unwrap();
    assert_eq!(choices, hex(&made["choices"]));
    garbling.receive(&choices).unwrap();
    let garbled = garbling.next_message().unwrap();
    assert_eq!(garbled, hex(&made["garbled"]));
    let evaluated = evaluating.receive(&garbled).unwrap().unwrap();
    assert_eq!(evaluated.message, hex(&made["outcome"]));
    assert_eq!(evaluated.bits, bits(&made["output"]));
    assert_eq!(circuit.compute(&x, &y).unwrap(), evaluated.bits);
}

#[test]
fn exchanges_are_what_another_implementation_makes_them() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../vectors/garbling/exchanges.json");
    let made: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let agreement = hex(&made["agreement"]).try_into().unwrap();
    let (expect, offer) = transfer::offer(&agreement, seed(&made["seeds"][0]));
    assert_eq!(offer, hex(&made["offer"]));
    let (mut sender, answer) = transfer::answer(&agreement, seed(&made["seeds"][1]), &offer).unwrap();
    assert_eq!(answer, hex(&made["answer"]));
    let mut receiver = expect.receive(&answer).unwrap();

    let circuits = made["circuits"].as_array().unwrap();
    assert_eq!(circuits.len(), 5);
    let (s, r) = (&mut sender, &mut receiver);
    repeat(s, r, Orban::new(11).unwrap(), &circuits[0]);
    repeat(s, r, Sum::new(9).unwrap(), &circuits[1]);
    repeat(s, r, Argmin::new(6, 3).unwrap(), &circuits[2]);
    repeat(s, r, Rendezvous::new(5).unwrap(), &circuits[3]);
    repeat(s, r, Orban::new(200).unwrap(), &circuits[4]);
}
