//! The garbler of one circuit.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::gates::{Garbler, TABLE};
use super::label::Label;
use super::message::{self, Exchange, Kind, first};
use super::{GarbleMessageFault, Keys, SALT, Seed, begin, digest};
use crate::Error;
use crate::circuit::{Circuit, Counted, PART, Wires, Workspace};
use crate::transfer::{self, BLOCK_ROWS, COLUMNS, SenderKeys, SenderSecret};

/// A garbler: takes the evaluator's choices, gives garbled parts, opens the outcome.
pub struct Garbling<C> {
    circuit: Counted<C>,
    secret: Arc<SenderSecret>,
    number: u32,
    seed: Seed,
    input: Zeroizing<Vec<bool>>,
    begin: Exchange,
    /// Parts of choices that have come.
    asked: usize,
    begun: Option<Begun>,
    /// Garbled parts that were sent.
    sent: u32,
}

/// What follows from the evaluator's salt.
struct Begun {
    salt: [u8; SALT],
    /// With the evaluator's salt.
    asked: Exchange,
    /// With both salts.
    both: Exchange,
    transfers: super::hash::Hash,
    garbler: Garbler,
    work: Workspace<Label>,
    step: usize,
}

impl<C: Circuit + Clone> Garbling<C> {
    /// Garbles the circuit of this number. Numbers rise within a run.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the number has been used, or the input has another length than the circuit says.
    pub fn new(
        keys: &mut SenderKeys,
        number: u32,
        circuit: &Counted<C>,
        input: &[bool],
        seed: Seed,
    ) -> Result<Self, Error> {
        if input.len() != circuit.shape().garbler {
            return Err(Error::Misuse(
                "the garbler's input has as many bits as the circuit says",
            ));
        }
        let (secret, run) = keys.take(number)?;
        Ok(Self {
            circuit: circuit.clone(),
            secret,
            number,
            seed,
            input: Zeroizing::new(input.to_vec()),
            begin: begin(&run, number, &**circuit),
            asked: 0,
            begun: None,
            sent: 0,
        })
    }

    /// Whether all choices have come.
    pub fn is_ready(&self) -> bool {
        self.asked == parts(self.circuit.shape().evaluator)
    }

    /// Takes a part of the evaluator's choices.
    ///
    /// # Errors
    /// [`Error::Garble`] if it is not the next part. Nothing has changed then.
    pub fn receive(&mut self, choices: &[u8]) -> Result<(), Error> {
        let bits = self.circuit.shape().evaluator;
        if self.is_ready() {
            return Err(Kind::Choices.wrong(GarbleMessageFault::Over));
        }
        let from = self.asked * BLOCK_ROWS;
        let rows = BLOCK_ROWS.min(bits - from);
        let length = SALT + COLUMNS * rows.div_ceil(8);
        let part = self.asked as u32;
        let body = message::body(Kind::Choices, self.number, part, &self.begin, length, choices)?;
        let (salt, columns) = body.split_at(SALT);
        let salt: [u8; SALT] = std::array::from_fn(|at| salt[at]);
        let begun = match &mut self.begun {
            Some(begun) if begun.salt != salt => return Err(Kind::Choices.wrong(GarbleMessageFault::Salt)),
            Some(begun) => begun,
            none => none.insert(Begun::new(
                &*self.circuit,
                &self.begin,
                &self.seed,
                &self.input,
                salt,
            )),
        };
        let mut rows = transfer::send(&self.secret, &salt, self.asked, rows, columns);
        let (hash, delta) = (&begun.transfers, begun.garbler.delta());
        transfer::correct(
            &self.secret,
            hash,
            from,
            &mut rows,
            delta,
            &mut begun.garbler.tables,
        );
        begun.work.evaluator.extend(rows.iter());
        self.asked += 1;
        Ok(())
    }

    /// The next garbled part; none before all choices have come, and after the last.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        let (is_ready, shape) = (self.is_ready(), self.circuit.shape());
        let begun = self.begun.as_mut().filter(|_| is_ready)?;
        let out = |begun: &Begun| begun.garbler.tables.len();
        while out(begun) < PART && begun.step < shape.steps {
            let gates = self.circuit.step_ands(begun.step);
            begun.garbler.tables.reserve(TABLE * gates);
            self.circuit.step(begun.step, &mut begun.work, &mut begun.garbler);
            begun.step += 1;
            if begun.step == shape.steps {
                let decoding: Vec<bool> = begun.work.output.iter().map(|label| label.colour()).collect();
                begun.garbler.tables.extend(message::pack(&decoding));
                begun.work = Workspace::new(Wires::default(), Wires::default());
            }
        }
        let body = PART.min(out(begun));
        if body == 0 {
            return None;
        }
        let mut message = message::head(Kind::Garbled, self.number, self.sent, &begun.asked, body);
        message.extend(begun.garbler.tables.drain(..body));
        self.sent += 1;
        Some(message)
    }

    /// The output, as the evaluator tells it.
    ///
    /// # Errors
    /// [`Error::Garble`] if it is not the outcome of this circuit; [`Error::Misuse`] if garbled parts are still to be sent.
    pub fn open(mut self, outcome: &[u8]) -> Result<Vec<bool>, Error> {
        let bits = self.circuit.shape().output;
        if !self.is_ready() || self.next_message().is_some() {
            return Err(Error::Misuse("all parts are sent before the outcome is opened"));
        }
        let begun = self.begun.as_ref().ok_or(Error::Misuse("choices have come"))?;
        let length = bits.div_ceil(8);
        let body = message::body(Kind::Outcome, self.number, 0, &begun.both, length, outcome)?;
        message::unpack(body, bits).ok_or_else(|| Kind::Outcome.wrong(GarbleMessageFault::Padding))
    }
}

/// How many parts the choices of so many bits have.
pub(super) fn parts(bits: usize) -> usize {
    bits.div_ceil(BLOCK_ROWS).max(1)
}

impl Begun {
    fn new(circuit: &impl Circuit, begin: &Exchange, seed: &Seed, input: &[bool], salt: [u8; SALT]) -> Self {
        let asked = begin.and("choices", &[&salt]);
        let digest = digest(input);
        let own = first::<SALT>(&seed.derive("privet garble 1 garbler", &asked, &*digest));
        let delta = first(&seed.derive("privet garble 1 delta", &asked, &*digest));
        let both = asked.and("garbled", &[&own]);
        let keys = Keys::new(&both);
        let mut labels = keys.garbler_labels(input.len());
        let mut garbler = Garbler::new(keys.gates, Label::from_bytes(delta));
        for (label, bit) in labels.iter_mut().zip(input) {
            *label = *label ^ (Label::mask(*bit) & garbler.delta());
        }
        let bits = circuit.shape().evaluator;
        garbler.tables.reserve(SALT + 16 * bits);
        garbler.tables.extend(own);
        let evaluator = Wires::new(Vec::with_capacity(bits));
        Self {
            salt,
            asked,
            both,
            transfers: keys.transfers,
            garbler,
            work: Workspace::new(labels, evaluator),
            step: 0,
        }
    }
}

impl<C> fmt::Debug for Garbling<C> {
    /// Prints no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Garbling(circuit {}, …)", self.number)
    }
}
