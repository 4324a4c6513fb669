//! The whole protocol: what parties say to each other.

use crate::party::{PartyId, RunKey};
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The longest text in a message: a model, a certificate or a line of a schema.
const LONGEST: usize = 1 << 28;
/// The most lines of a schema.
const MOST_LINES: usize = 100_000;
/// The most turns whose trees are in a message: those of all rounds.
const MOST_TURNS: usize = 16 * MOST_OWNERS;
/// The most counts of a measurement.
const MOST_COUNTS: usize = 16;
/// The most owners of a message.
const MOST_OWNERS: usize = super::params::MOST_OWNERS as usize;

/// A message between the miner and an owner.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Owner: it is there, with the lines of its schema that all must have alike; and its key of this run, if there are joint sums.
    Hello {
        /// The lines.
        schema: Vec<String>,
        /// The key.
        key: Option<RunKey>,
    },
    /// Miner: the run cannot begin, line by line why; without lines, it has begun without this owner.
    Refused(Vec<String>),
    /// Miner: the run begins. In joint sums these are the owners that take part, with their keys; a chain begins with a [`Turn`](Self::Turn).
    Begin(Vec<(PartyId, RunKey)>),
    /// Miner, in a chain: the receiver's turn, with the trees that it does not have yet.
    Turn {
        /// The round, from zero.
        round: u32,
        /// How many times trees were added before these; those are replaced if it is zero.
        known: u32,
        /// Trees that were added since, one turn after another.
        more: Vec<Grown>,
    },
    /// Miner, in a chain: trees that were added in somebody's turn, for one who waits.
    Added {
        /// How many times trees were added before.
        known: u32,
        /// The trees.
        grown: Grown,
    },
    /// Owner, in a chain: what it adds in its turn.
    Turned {
        /// The round.
        round: u32,
        /// Its own trees.
        grown: Grown,
        /// How good the chain was before and is after that, as noisy counts; nothing if that is not measured.
        measured: Vec<i64>,
        /// The promise that holds for all its turns, as a certificate in JSON.
        certificate: String,
    },
    /// Owner: its own trees, and the promise that holds for them, as a certificate in JSON.
    Trees {
        /// The trees.
        grown: Grown,
        /// The certificate.
        certificate: String,
    },
    /// Owner: its noised numbers for one question, in shares that are sealed for each owner.
    Shares {
        /// The number of the question.
        number: u32,
        /// The shares.
        sealed: Vec<u8>,
    },
    /// Miner: which owners have shared their numbers, and what they have sealed for the receiver.
    Survivors {
        /// The number of the question.
        number: u32,
        /// What they have sealed.
        sealed: Vec<u8>,
    },
    /// Owner: the sum of the shares that were sealed for it.
    Answer {
        /// The number of the question.
        number: u32,
        /// The sum.
        sum: Vec<u8>,
    },
    /// Miner: noisy sums that were opened, from one question on.
    Opened {
        /// The number of the first question.
        first: u32,
        /// The sums.
        sums: Vec<OpenedSum>,
        /// The digest of everything that follows from these and all sums before.
        digest: [u8; 32],
        /// Whether the owner is asked to share its numbers for the next question.
        asks: bool,
    },
    /// Owner: it is there, and has the sums of all questions before this one.
    Here {
        /// The number of the question.
        next: u32,
    },
    /// Owner: the promise that holds for what it added to the sums, as a certificate in JSON.
    Certified(String),
    /// Miner, where owners train their own trees: the model, to be judged on held-out rows.
    Judge(Grown),
    /// Owner: its counts of how the model does on its held-out rows, with its own noise.
    Judged(Vec<i64>),
    /// Miner, where owners have judged the model: the counts of all owners, added up, and the certificates of all who took part.
    Report {
        /// The counts.
        sum: OpenedSum,
        /// The certificates, in JSON.
        certificates: Vec<(PartyId, String)>,
    },
    /// Miner: the model, where the owner has not computed it and gets it; and the certificates of all who took part.
    Finished {
        /// The model's trees.
        trees: Option<Grown>,
        /// The certificates, in JSON.
        certificates: Vec<(PartyId, String)>,
    },
}

/// Trees, as they are sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Grown {
    /// The ensemble, in JSON.
    pub ensemble: String,
    /// The size that residuals are clipped to, if labels are numbers.
    pub unit: Option<f64>,
}

/// A sum over owners that was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenedSum {
    /// How many owners' numbers are in it.
    pub contributions: u32,
    /// The numbers.
    pub values: Vec<i64>,
}

impl Message {
    /// What it is.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello { .. } => "a greeting",
            Self::Refused(_) => "a refusal",
            Self::Begin(_) => "the beginning",
            Self::Turn { .. } => "a turn",
            Self::Added { .. } => "added trees",
            Self::Turned { .. } => "trees of a turn",
            Self::Trees { .. } => "trees",
            Self::Shares { .. } => "shares",
            Self::Survivors { .. } => "a list of owners who shared",
            Self::Answer { .. } => "an answer",
            Self::Opened { .. } => "opened sums",
            Self::Here { .. } => "a sign of life",
            Self::Certified(_) => "a certificate",
            Self::Judge(_) => "a model to judge",
            Self::Judged(_) => "counts of held-out rows",
            Self::Report { .. } => "the counts of all owners",
            Self::Finished { .. } => "the end",
        }
    }
}

impl Wire for Grown {
    fn write(&self, to: &mut Writer) {
        to.text(&self.ensemble);
        match self.unit {
            None => to.byte(0),
            Some(unit) => {
                to.byte(1);
                to.long(unit.to_bits());
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            ensemble: from.text(LONGEST)?,
            unit: match from.byte()? {
                0 => None,
                1 => {
                    let unit = f64::from_bits(from.long()?);
                    let is_unit = unit.is_finite() && unit > 0.0;
                    Some(unit)
                        .filter(|_| is_unit)
                        .map_or_else(|| Err(unknown()), |unit| Ok(Some(unit)))?
                }
                _ => return Err(unknown()),
            },
        })
    }
}

impl Wire for OpenedSum {
    fn write(&self, to: &mut Writer) {
        to.word(self.contributions);
        write_numbers(&self.values, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            contributions: from.word()?,
            values: read_numbers(from)?,
        })
    }
}

/// Numbers near zero take few bytes: seven bits each, the lowest first, and whether more follow.
fn write_numbers(values: &[i64], to: &mut Writer) {
    to.word(values.len() as u32);
    for value in values {
        let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
        while rest >= 0x80 {
            to.byte(rest as u8 | 0x80);
            rest >>= 7;
        }
        to.byte(rest as u8);
    }
}

fn read_numbers(from: &mut Reader<'_>) -> Result<Vec<i64>, Malformed> {
    let mut values = Vec::new();
    for _ in 0..from.word()? {
        let (mut folded, mut shift) = (0u64, 0);
        loop {
            let byte = from.byte()?;
            let bits = u64::from(byte & 0x7f);
            // One way to write a number: no bits beyond the last, and no empty end.
            if shift > 63 || shift == 63 && bits > 1 || byte == 0 && shift > 0 {
                return Err(unknown());
            }
            folded |= bits << shift;
            shift += 7;
            if byte < 0x80 {
                break;
            }
        }
        values.push((folded >> 1).cast_signed() ^ -(folded & 1).cast_signed());
    }
    Ok(values)
}

fn unknown() -> Malformed {
    Malformed::new("not a message of this protocol")
}

fn optional<T: Wire>(value: Option<&T>, to: &mut Writer) {
    match value {
        None => to.byte(0),
        Some(value) => to.tagged(1, value),
    }
}

fn read_optional<T: Wire>(from: &mut Reader<'_>) -> Result<Option<T>, Malformed> {
    match from.byte()? {
        0 => Ok(None),
        1 => T::read(from).map(Some),
        _ => Err(unknown()),
    }
}

fn write_certificates(all: &[(PartyId, String)], to: &mut Writer) {
    to.list(all, |(party, certificate), to| {
        party.write(to);
        to.text(certificate);
    });
}

fn read_certificates(from: &mut Reader<'_>) -> Result<Vec<(PartyId, String)>, Malformed> {
    from.at_most(MOST_OWNERS, 12, |from| {
        Ok((PartyId::read(from)?, from.text(LONGEST)?))
    })
}

fn lines(from: &mut Reader<'_>) -> Result<Vec<String>, Malformed> {
    from.at_most(MOST_LINES, 8, |from| from.text(1 << 20))
}

impl Wire for Message {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Hello { schema, key } => {
                to.byte(0);
                to.list(schema, |line, to| to.text(line));
                optional(key.as_ref(), to);
            }
            Self::Refused(lines) => {
                to.byte(1);
                to.list(lines, |line, to| to.text(line));
            }
            Self::Begin(keys) => {
                to.byte(2);
                to.list(keys, |(party, key), to| {
                    party.write(to);
                    key.write(to);
                });
            }
            Self::Turn { round, known, more } => {
                to.byte(32);
                to.word(*round);
                to.word(*known);
                to.list(more, Wire::write);
            }
            Self::Added { known, grown } => {
                to.byte(33);
                to.word(*known);
                grown.write(to);
            }
            Self::Turned {
                round,
                grown,
                measured,
                certificate,
            } => {
                to.byte(34);
                to.word(*round);
                grown.write(to);
                to.list(measured, |count, to| to.long(count.cast_unsigned()));
                to.text(certificate);
            }
            Self::Trees { grown, certificate } => {
                to.tagged(4, grown);
                to.text(certificate);
            }
            Self::Shares { number, sealed } => {
                to.byte(5);
                to.word(*number);
                to.bytes(sealed);
            }
            Self::Survivors { number, sealed } => {
                to.byte(6);
                to.word(*number);
                to.bytes(sealed);
            }
            Self::Answer { number, sum } => {
                to.byte(7);
                to.word(*number);
                to.bytes(sum);
            }
            Self::Opened {
                first,
                sums,
                digest,
                asks,
            } => {
                to.byte(8);
                to.word(*first);
                to.list(sums, Wire::write);
                to.fixed(digest);
                to.byte(u8::from(*asks));
            }
            Self::Here { next } => {
                to.byte(9);
                to.word(*next);
            }
            Self::Certified(certificate) => {
                to.byte(10);
                to.text(certificate);
            }
            Self::Finished { trees, certificates } => {
                to.byte(11);
                optional(trees.as_ref(), to);
                write_certificates(certificates, to);
            }
            Self::Judge(grown) => to.tagged(12, grown),
            Self::Judged(counts) => {
                to.byte(13);
                write_numbers(counts, to);
            }
            Self::Report { sum, certificates } => {
                to.tagged(14, sum);
                write_certificates(certificates, to);
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match from.byte()? {
            0 => Self::Hello {
                schema: lines(from)?,
                key: read_optional(from)?,
            },
            1 => Self::Refused(lines(from)?),
            2 => Self::Begin(from.at_most(MOST_OWNERS, 100, |from| {
                Ok((PartyId::read(from)?, RunKey::read(from)?))
            })?),
            32 => Self::Turn {
                round: from.word()?,
                known: from.word()?,
                more: from.at_most(MOST_TURNS, 5, Grown::read)?,
            },
            33 => Self::Added {
                known: from.word()?,
                grown: Grown::read(from)?,
            },
            34 => Self::Turned {
                round: from.word()?,
                grown: Grown::read(from)?,
                measured: from.at_most(MOST_COUNTS, 8, |from| Ok(from.long()?.cast_signed()))?,
                certificate: from.text(LONGEST)?,
            },
            4 => Self::Trees {
                grown: Grown::read(from)?,
                certificate: from.text(LONGEST)?,
            },
            5 => Self::Shares {
                number: from.word()?,
                sealed: from.bytes()?.to_vec(),
            },
            6 => Self::Survivors {
                number: from.word()?,
                sealed: from.bytes()?.to_vec(),
            },
            7 => Self::Answer {
                number: from.word()?,
                sum: from.bytes()?.to_vec(),
            },
            8 => Self::Opened {
                first: from.word()?,
                sums: from.list(8, OpenedSum::read)?,
                digest: from.array()?,
                asks: match from.byte()? {
                    0 => false,
                    1 => true,
                    _ => return Err(unknown()),
                },
            },
            9 => Self::Here { next: from.word()? },
            10 => Self::Certified(from.text(LONGEST)?),
            11 => Self::Finished {
                trees: read_optional(from)?,
                certificates: read_certificates(from)?,
            },
            12 => Self::Judge(Grown::read(from)?),
            13 => Self::Judged(read_numbers(from)?),
            14 => Self::Report {
                sum: OpenedSum::read(from)?,
                certificates: read_certificates(from)?,
            },
            _ => return Err(unknown()),
        })
    }
}
