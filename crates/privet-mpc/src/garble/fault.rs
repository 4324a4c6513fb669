//! What can be wrong with a message between garbler and evaluator, with data.

use std::fmt;

/// Who sent a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GarbleParty {
    /// Who garbles, and sends in the transfers.
    Garbler,
    /// Who evaluates, and receives in the transfers.
    Evaluator,
}

/// Bytes that are not the message that is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GarbleFault {
    /// Who sent them.
    pub from: GarbleParty,
    /// What is wrong with them.
    pub fault: GarbleMessageFault,
}

/// What is wrong with the bytes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GarbleMessageFault {
    /// It has another length than the circuit says.
    Length {
        /// How many bytes it has.
        bytes: usize,
        /// How many it must have.
        expected: usize,
    },
    /// Another kind of message, or another version.
    Kind {
        /// Its first byte.
        kind: u8,
    },
    /// A message of another circuit of the run.
    Number {
        /// The number of its circuit.
        number: u32,
        /// The number that was expected.
        expected: u32,
    },
    /// A part that was sent before, or whose turn has not come.
    Part {
        /// Its number.
        part: u32,
        /// The number that was expected.
        expected: u32,
    },
    /// A message of another run, another circuit, or another exchange with the same number.
    Exchange,
    /// A point that is not in the group, or is the identity.
    Point {
        /// Which one.
        at: usize,
    },
    /// Bits that are set beyond the last.
    Padding,
    /// Another salt than in the first part.
    Salt,
    /// Nothing more was expected.
    Over,
}

impl fmt::Display for GarbleParty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Garbler => "the garbler",
            Self::Evaluator => "the evaluator",
        })
    }
}

impl fmt::Display for GarbleFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} sent {}", self.from, self.fault)
    }
}

impl fmt::Display for GarbleMessageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { bytes, expected } => {
                write!(f, "a message of {bytes} bytes where {expected} were expected")
            }
            Self::Kind { kind } => write!(f, "a message of another kind or version ({kind:#04x})"),
            Self::Number { number, expected } => {
                write!(
                    f,
                    "a message of circuit {number} where circuit {expected} is computed"
                )
            }
            Self::Part { part, expected } => write!(f, "part {part} where part {expected} was expected"),
            Self::Exchange => f.write_str("a message of another run, circuit or exchange"),
            Self::Point { at } => write!(
                f,
                "a point (number {at}) that is not in the group, or is the identity"
            ),
            Self::Padding => f.write_str("a message with bits beyond the last"),
            Self::Salt => f.write_str("a part whose salt is not that of the first part"),
            Self::Over => f.write_str("a message after the last"),
        }
    }
}
