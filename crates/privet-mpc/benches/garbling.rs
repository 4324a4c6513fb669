//! Garbled circuits: gates, bytes, rounds and time of one run of each, in memory; and how many ANDs a second one thread garbles and evaluates.
//!
//! The time of each message is the best of several runs (`PRIVET_TIMES`), by the clock: other work on the machine stretches all but the best.
//! Garbling begins when all choices have come; evaluating includes the evaluator's side of the transfers.
#![allow(clippy::unwrap_used, reason = "a benchmark")]

use std::time::Instant;

use privet_mpc::circuit::{Argmin, Backend, Circuit, Counted, Orban, Rendezvous, Shape, Workspace};
use privet_mpc::garble::{Evaluating, Garbling, Seed};
use privet_mpc::transfer::{self, ReceiverKeys, SenderKeys};

fn main() {
    let times: usize = std::env::var("PRIVET_TIMES").map_or(15, |n| n.parse().unwrap());
    let (mut pair, setup) = Pair::new();
    println!("set-up: 2 messages, {} bytes, {:.1} ms", setup.0, 1e3 * setup.1);
    println!(
        "{:<26} {:>8} {:>8} {:>10} {:>10} {:>6} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "circuit",
        "ANDs",
        "XORs",
        "bytes",
        "bound",
        "rounds",
        "choose ms",
        "send ms",
        "garble ms",
        "eval. ms",
        "M/s garb.",
        "M/s eval."
    );
    for places in [34, 256, 4_096] {
        pair.bench(Orban::new(places).unwrap(), times);
    }
    for places in [34, 256, 4_096] {
        pair.bench(Rendezvous::new(places).unwrap(), times);
    }
    for candidates in [1_020, 4_096] {
        pair.bench(Argmin::new(candidates, 32).unwrap(), times);
    }
    pair.bench(Chain, times);
}

/// 64-bit sums one after the other: every gate waits for the one before.
#[derive(Clone)]
struct Chain;

impl Circuit for Chain {
    fn name(&self) -> String {
        "carry chain".into()
    }

    fn shape(&self) -> Shape {
        Shape {
            garbler: 64,
            evaluator: 64,
            output: 64,
            steps: 100,
        }
    }

    #[inline(always)]
    fn step<B: Backend>(&self, _: usize, work: &mut Workspace<B::Wire>, on: &mut B) {
        if work.output.is_empty() {
            work.output = work.evaluator.clone();
        }
        for _ in 0..32 {
            let mut carry = on.constant(false);
            for (sum, other) in work.output.iter_mut().zip(work.garbler.iter()) {
                let (a, b) = (on.xor(*sum, carry), on.xor(*other, carry));
                *sum = on.xor(a, *other);
                let [both] = on.and([a], [b]);
                carry = on.xor(both, carry);
            }
        }
    }
}

struct Pair {
    sender: SenderKeys,
    receiver: ReceiverKeys,
    number: u32,
}

impl Pair {
    /// Both sides after the set-up; its bytes and seconds.
    fn new() -> (Self, (usize, f64)) {
        let started = Instant::now();
        let (expect, offer) = transfer::offer(&[7; 32], Seed::from_os().unwrap());
        let (sender, answer) = transfer::answer(&[7; 32], Seed::from_os().unwrap(), &offer).unwrap();
        let receiver = expect.receive(&answer).unwrap();
        let taken = started.elapsed().as_secs_f64();
        let pair = Self {
            sender,
            receiver,
            number: 0,
        };
        (pair, (offer.len() + answer.len(), taken))
    }

    fn bench<C: Circuit + Clone>(&mut self, circuit: C, times: usize) {
        let circuit = Counted::new(circuit).unwrap();
        let (cost, shape) = (*circuit.cost(), circuit.shape());
        let bits =
            |count: usize, by: usize| -> Vec<bool> { (0..count).map(|at| at * at % by < by / 2).collect() };
        let (x, y) = (bits(shape.garbler, 7), bits(shape.evaluator, 11));
        let expected = circuit.compute(&x, &y).unwrap();
        let mut best: [Vec<f64>; 4] = Default::default();
        for _ in 0..times {
            let number = self.number;
            self.number += 1;
            let mut garbling =
                Garbling::new(&mut self.sender, number, &circuit, &x, Seed::from_os().unwrap()).unwrap();
            let mut evaluating =
                Evaluating::new(&mut self.receiver, number, &circuit, &y, Seed::from_os().unwrap()).unwrap();
            let mut times: [Vec<f64>; 4] = Default::default();
            let mut choices = Vec::new();
            while let Some(part) = timed(&mut times[0], || evaluating.next_message()) {
                choices.push(part);
            }
            for part in &choices {
                timed(&mut times[1], || garbling.receive(part).unwrap());
            }
            let (mut evaluated, mut garbled) = (None, 0);
            while let Some(part) = timed(&mut times[2], || garbling.next_message()) {
                evaluated = timed(&mut times[3], || evaluating.receive(&part).unwrap());
                garbled += part.len() as u64;
            }
            let evaluated = evaluated.unwrap();
            assert_eq!(garbling.open(&evaluated.message).unwrap(), expected);
            let asked: usize = choices.iter().chain([&evaluated.message]).map(Vec::len).sum();
            assert_eq!(asked as u64 + garbled, cost.bytes());
            for (best, times) in best.iter_mut().zip(times) {
                best.resize(times.len(), f64::MAX);
                best.iter_mut()
                    .zip(times)
                    .for_each(|(best, time)| *best = best.min(time));
            }
        }
        let best = best.map(|messages| messages.iter().sum::<f64>());
        let bound =
            32 * cost.ands + 32 * shape.evaluator.next_multiple_of(8) as u64 + 16 * shape.garbler as u64;
        let speed = |seconds: f64| cost.ands as f64 / seconds / 1e6;
        println!(
            "{:<26} {:>8} {:>8} {:>10} {bound:>10} {:>6} {:>9.3} {:>9.3} {:>9.3} {:>9.3} {:>9.1} {:>9.1}",
            circuit.name(),
            cost.ands,
            cost.xors,
            cost.bytes() - cost.heads - cost.outputs,
            cost.rounds,
            1e3 * best[0],
            1e3 * best[1],
            1e3 * best[2],
            1e3 * best[3],
            speed(best[2]),
            speed(best[3]),
        );
        println!(
            "{:<26} heads {} bytes, output bits {} bytes, {} messages",
            "", cost.heads, cost.outputs, cost.messages
        );
    }
}

fn timed<T>(times: &mut Vec<f64>, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let made = work();
    times.push(started.elapsed().as_secs_f64());
    made
}
