//! The evaluator of one circuit.

use std::fmt;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::garbling::parts;
use super::gates::{Evaluator, TABLE};
use super::hash::Hash;
use super::label::Label;
use super::message::{self, Exchange, Kind, first};
use super::{GarbleMessageFault, Keys, SALT, Seed, begin, digest};
use crate::Error;
use crate::circuit::{Circuit, Counted, PART, Wires, Workspace};
use crate::transfer::{self, BLOCK_ROWS, ReceiverKeys, ReceiverSecret, Rows};

/// An evaluator: gives its choices, takes garbled parts.
pub struct Evaluating<C> {
    circuit: Counted<C>,
    secret: Arc<ReceiverSecret>,
    number: u32,
    input: Zeroizing<Vec<bool>>,
    salt: [u8; SALT],
    begin: Exchange,
    /// With the evaluator's salt.
    asked: Exchange,
    /// Parts of choices that were given.
    given: usize,
    /// Of the transfers; from the first on they become labels of the input.
    rows: Rows,
    /// Garbled parts that have come, and bytes of them.
    received: u32,
    bytes: usize,
    /// What has come and was not used.
    buffer: Vec<u8>,
    begun: Option<Begun>,
}

/// What follows from the garbler's salt.
struct Begun {
    /// With both salts.
    both: Exchange,
    transfers: Hash,
    gates: Hash,
    gate: u64,
    /// Evaluator's bits whose labels are ready.
    ready: usize,
    work: Workspace<Label>,
    step: usize,
    is_over: bool,
}

/// What came out, and the message that tells the garbler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluated {
    /// The output of the circuit.
    pub bits: Vec<bool>,
    /// For the garbler.
    pub message: Vec<u8>,
}

impl<C: Circuit + Clone> Evaluating<C> {
    /// Evaluates the circuit of this number. Numbers rise within a run.
    ///
    /// # Errors
    /// [`Error::Misuse`] if the number has been used, or the input has another length than the circuit says.
    pub fn new(
        keys: &mut ReceiverKeys,
        number: u32,
        circuit: &Counted<C>,
        input: &[bool],
        seed: Seed,
    ) -> Result<Self, Error> {
        if input.len() != circuit.shape().evaluator {
            return Err(Error::Misuse(
                "the evaluator's input has as many bits as the circuit says",
            ));
        }
        let (secret, run) = keys.take(number)?;
        let begin = begin(&run, number, &**circuit);
        let salt = first(&seed.derive("privet garble 1 evaluator", &begin, &*digest(input)));
        Ok(Self {
            circuit: circuit.clone(),
            secret,
            number,
            input: Zeroizing::new(input.to_vec()),
            salt,
            begin,
            asked: begin.and("choices", &[&salt]),
            given: 0,
            rows: Zeroizing::new(Vec::with_capacity(input.len())),
            received: 0,
            bytes: 0,
            buffer: Vec::new(),
            begun: None,
        })
    }

    /// The next part of the choices; none after the last.
    pub fn next_message(&mut self) -> Option<Vec<u8>> {
        if self.given == parts(self.input.len()) {
            return None;
        }
        let block = self.given * BLOCK_ROWS..self.input.len().min((self.given + 1) * BLOCK_ROWS);
        let room = SALT + 16 * block.len().next_multiple_of(8);
        let mut message = message::head(Kind::Choices, self.number, self.given as u32, &self.begin, room);
        message.extend(self.salt);
        let bits = &self.input[block];
        let rows = transfer::receive(&self.secret, &self.salt, self.given, bits, &mut message);
        self.rows.extend(rows.iter());
        self.given += 1;
        Some(message)
    }

    /// Takes a garbled part. The last one gives the output.
    ///
    /// # Errors
    /// [`Error::Garble`] if it is not the next part; nothing has changed then. [`Error::Misuse`] if choices are still to be sent.
    pub fn receive(&mut self, garbled: &[u8]) -> Result<Option<Evaluated>, Error> {
        if self.given != parts(self.input.len()) {
            return Err(Error::Misuse(
                "all choices are sent before a garbled part is taken",
            ));
        }
        let total = SALT + garbled_bytes(&self.circuit);
        let length = PART.min(total - self.bytes);
        if length == 0 {
            return Err(Kind::Garbled.wrong(GarbleMessageFault::Over));
        }
        let (number, part) = (self.number, self.received);
        let body = message::body(Kind::Garbled, number, part, &self.asked, length, garbled)?;
        if self.bytes + length == total {
            self.check_decoding(body)?;
        }
        self.received += 1;
        self.bytes += length;
        self.buffer.extend_from_slice(body);
        self.advance()
    }

    /// That no decoding bit stands beyond the last.
    fn check_decoding(&self, last: &[u8]) -> Result<(), Error> {
        let beyond = self.circuit.shape().output % 8;
        match last.last() {
            Some(byte) if beyond != 0 && byte >> beyond != 0 => {
                Err(Kind::Garbled.wrong(GarbleMessageFault::Padding))
            }
            _ => Ok(()),
        }
    }

    /// Uses as much as has come.
    fn advance(&mut self) -> Result<Option<Evaluated>, Error> {
        let shape = self.circuit.shape();
        let mut used = 0;
        if self.begun.is_none() {
            let salt: [u8; SALT] = first_of(&self.buffer);
            used = SALT;
            let both = self.asked.and("garbled", &[&salt]);
            let keys = Keys::new(&both);
            let labels = keys.garbler_labels(shape.garbler);
            self.begun = Some(Begun {
                both,
                transfers: keys.transfers,
                gates: keys.gates,
                gate: 0,
                ready: 0,
                work: Workspace::new(labels, Wires::default()),
                step: 0,
                is_over: false,
            });
        }
        let Some(begun) = &mut self.begun else {
            return Ok(None);
        };
        if begun.ready < shape.evaluator {
            let (corrections, _) = self.buffer[used..].as_chunks::<16>();
            let left = self.input[begun.ready..]
                .iter()
                .zip(&mut self.rows[begun.ready..]);
            for ((bit, row), correction) in left.zip(corrections) {
                let [[hash]] = begun.transfers.hash::<1, 1, 1>(&[[*row]], begun.ready as u64);
                *row = hash ^ (Label::mask(*bit) & Label::from_bytes(*correction));
                begun.ready += 1;
                used += 16;
            }
        }
        if begun.ready == shape.evaluator && !self.rows.is_empty() {
            begun.work.evaluator = std::mem::take(&mut self.rows);
        }
        while begun.ready == shape.evaluator && begun.step < shape.steps {
            let bytes = TABLE * self.circuit.step_ands(begun.step);
            let Some(tables) = self.buffer.get(used..used + bytes) else {
                break;
            };
            let mut evaluator = Evaluator::new(&begun.gates, begun.gate, tables);
            self.circuit.step(begun.step, &mut begun.work, &mut evaluator);
            if evaluator.is_short {
                return Err(Error::Misuse("a circuit has the same gates each time"));
            }
            begun.gate = evaluator.gate();
            begun.step += 1;
            used += bytes;
        }
        self.buffer.drain(..used);
        let decoding = message::unpack(&self.buffer, shape.output);
        let all = self.bytes == SALT + garbled_bytes(&self.circuit);
        let Some(decoding) = decoding.filter(|_| all && begun.step == shape.steps && !begun.is_over) else {
            return Ok(None);
        };
        begun.is_over = true;
        let output = begun.work.output.iter().zip(decoding);
        let bits: Vec<bool> = output.map(|(label, zero)| label.colour() ^ zero).collect();
        begun.work = Workspace::new(Wires::default(), Wires::default());
        let packed = message::pack(&bits);
        let mut message = message::head(Kind::Outcome, self.number, 0, &begun.both, packed.len());
        message.extend(packed);
        Ok(Some(Evaluated { bits, message }))
    }
}

/// Corrections, tables and decoding bits.
fn garbled_bytes<C: Circuit>(circuit: &Counted<C>) -> usize {
    let cost = circuit.cost();
    (cost.corrections + cost.tables) as usize + circuit.shape().output.div_ceil(8)
}

/// The first bytes; zeros if there are too few, which no part of the expected length has.
fn first_of<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.first_chunk().copied().unwrap_or([0; N])
}

impl<C> fmt::Debug for Evaluating<C> {
    /// Prints no secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Evaluating(circuit {}, …)", self.number)
    }
}
