//! The output is the cleartext twin's, and the bytes are the counting twin's.

use privet_mpc::circuit::{Argmin, Circuit, Counted, Less, Orban, Rendezvous, Sum};
use rand_core::Rng;

use super::{Pair, random_bits, rng};

/// Runs a circuit on random inputs, and compares bits, bytes and messages with the twins.
fn agrees<C: Circuit + Clone>(pair: &mut Pair, circuit: C, times: usize) {
    let circuit = Counted::new(circuit).unwrap();
    let (shape, cost) = (circuit.shape(), *circuit.cost());
    let mut rng = rng(circuit.name().len() as u64);
    for _ in 0..times {
        let (x, y) = (
            random_bits(&mut rng, shape.garbler),
            random_bits(&mut rng, shape.evaluator),
        );
        let seen = pair.run(&circuit, &x, &y);
        assert_eq!(seen.bits, circuit.compute(&x, &y).unwrap(), "{}", circuit.name());
        let all = seen.choices.iter().chain(&seen.garbled).chain([&seen.outcome]);
        let (messages, bytes) = all.fold((0, 0), |(count, bytes), one| {
            (count + 1, bytes + one.len() as u64)
        });
        assert_eq!(
            (messages, bytes),
            (cost.messages, cost.bytes()),
            "{}",
            circuit.name()
        );
    }
    let padded = shape.evaluator.next_multiple_of(8) as u64;
    assert!(
        cost.choices + cost.corrections + cost.tables
            <= 32 * (cost.ands + padded) + 16 * shape.garbler as u64
    );
}

#[test]
fn circuits_give_what_their_cleartext_twin_gives_in_the_bytes_of_their_counting_twin() {
    let mut pair = Pair::new(9);
    for places in [1, 2, 3, 7, 8, 9, 34, 2_049] {
        agrees(&mut pair, Orban::new(places).unwrap(), 3);
        agrees(&mut pair, Rendezvous::new(places).unwrap(), 3);
    }
    for bits in [1, 2, 31, 64] {
        agrees(&mut pair, Sum::new(bits).unwrap(), 5);
        agrees(&mut pair, Less::new(bits).unwrap(), 5);
    }
    for (candidates, bits) in [
        (1, 1),
        (2, 1),
        (3, 5),
        (63, 2),
        (64, 3),
        (65, 3),
        (1_020, 32),
        (129, 64),
    ] {
        agrees(&mut pair, Argmin::new(candidates, bits).unwrap(), 1);
        agrees(&mut pair, Argmin::new(candidates, bits).unwrap().with_sum(), 1);
    }
}

#[test]
fn circuits_compute_what_they_say() {
    let mut rng = rng(1);
    for places in [1, 5, 34, 256, 3_000] {
        let (orban, rendezvous) = (
            Counted::new(Orban::new(places).unwrap()).unwrap(),
            Counted::new(Rendezvous::new(places).unwrap()).unwrap(),
        );
        for density in [0, 1, 2, 3] {
            let some = |rng: &mut _| -> Vec<bool> {
                let bits = (0..density + 1).map(|_| random_bits(rng, places));
                bits.reduce(|a, b| a.iter().zip(b).map(|(a, b)| a & b).collect())
                    .unwrap()
            };
            let (x, y) = (some(&mut rng), some(&mut rng));
            let common: Vec<usize> = (0..places).filter(|at| x[*at] && y[*at]).collect();
            assert_eq!(orban.compute(&x, &y).unwrap(), [!common.is_empty()]);
            let (a, b) = (rng.next_u64(), rng.next_u64());
            let (a_input, b_input) = (rendezvous.input(&x, a).unwrap(), rendezvous.input(&y, b).unwrap());
            let output = rendezvous.compute(&a_input, &b_input).unwrap();
            let coins = u128::from((a ^ b) & ((1 << 48) - 1));
            let chosen = (coins * common.len() as u128) >> 48;
            assert_eq!(rendezvous.decode(&output), common.get(chosen as usize).copied());
        }
    }
    for (candidates, bits) in [(1, 8), (2, 3), (7, 2), (100, 3), (1_020, 32), (300, 64)] {
        let circuit = Counted::new(Argmin::new(candidates, bits).unwrap().with_sum()).unwrap();
        let index_only = Counted::new(Argmin::new(candidates, bits).unwrap()).unwrap();
        for _ in 0..5 {
            let mut numbers =
                || -> Vec<u64> { (0..candidates).map(|_| rng.next_u64() >> (64 - bits)).collect() };
            let (x, y) = (numbers(), numbers());
            let sums = x
                .iter()
                .zip(&y)
                .map(|(x, y)| x.wrapping_add(*y) & (u64::MAX >> (64 - bits)));
            let (index, sum) = sums.enumerate().min_by_key(|(_, sum)| *sum).unwrap();
            let (x, y) = (circuit.input(&x).unwrap(), circuit.input(&y).unwrap());
            let output = circuit.compute(&x, &y).unwrap();
            assert_eq!(
                (circuit.decode(&output), circuit.decode_sum(&output)),
                (Some(index), Some(sum))
            );
            let output = index_only.compute(&x, &y).unwrap();
            assert_eq!(
                (index_only.decode(&output), index_only.decode_sum(&output)),
                (Some(index), None)
            );
        }
    }
}

/// Bounds of the secure setting's issue.
#[test]
fn gates_are_as_few_as_was_asked() {
    for (places, most) in [(34, 1_100), (256, 2_300), (4_096, 22_000)] {
        let orban = Counted::new(Orban::new(places).unwrap()).unwrap();
        assert_eq!(orban.cost().ands, 2 * places as u64 - 1);
        let rendezvous = Counted::new(Rendezvous::new(places).unwrap()).unwrap();
        assert!(
            rendezvous.cost().ands <= most,
            "{places}: {:?}",
            rendezvous.cost()
        );
    }
}
