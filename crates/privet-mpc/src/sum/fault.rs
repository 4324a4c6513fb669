//! What can be wrong with a secure sum, with data.

use std::fmt;

/// What is wrong, and with whom. Owners are numbered from 0, in the order of the set-up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SumFault {
    /// Fewer than three owners: a sum of two shows each the other's numbers.
    FewOwners {
        /// How many there are.
        owners: usize,
    },
    /// More owners than can be.
    ManyOwners {
        /// How many there may be.
        most: usize,
    },
    /// Nobody is said to collude; but every holder sees a share of all others, so one at least must learn nothing from shares.
    NobodyColludes,
    /// So many may be absent or collude that two different sums of one round could be opened.
    ManyAbsent {
        /// How many owners there are.
        owners: usize,
        /// How many may be absent.
        absent: usize,
        /// How many may collude with the miner.
        colluding: usize,
    },
    /// A vector without numbers, with more than there may be, or not with as many as were agreed on.
    Length {
        /// How many numbers it has.
        length: usize,
        /// How many it may have.
        most: usize,
    },
    /// Bytes that are no message of this round.
    Message {
        /// Who sent them.
        from: SumSender,
        /// What is wrong with them.
        fault: SumMessageFault,
    },
    /// An owner sent the same kind of message twice in one round.
    Twice {
        /// Which owner.
        owner: u16,
    },
    /// There is no such owner.
    NoOwner {
        /// Which number was given.
        owner: u16,
    },
    /// An owner that is not in the survivor set.
    NoSurvivor {
        /// Which owner.
        owner: u16,
    },
    /// An owner that holds no shares: it is told no survivor set, and has nothing to answer.
    NoHolder {
        /// Which owner.
        owner: u16,
    },
    /// Fewer survivors than there must be.
    FewSurvivors {
        /// How many there are.
        survivors: usize,
        /// How many there must be.
        least: usize,
    },
    /// The miner asks this owner to answer for a survivor set that it is not in.
    LeftOut,
    /// An envelope was not sealed by this owner for us in this round, or holds no shares.
    Envelope {
        /// The owner that it should be from.
        from: u16,
    },
    /// Fewer answers than a sum needs.
    FewAnswers {
        /// How many there are.
        answers: usize,
        /// How many are needed.
        least: usize,
    },
    /// The answers do not lie on polynomials of the agreed degree: an owner answered wrongly, or shared wrongly with one that answered.
    Inconsistent {
        /// The owners whose answers do not fit; nobody if it is not determined.
        owners: Vec<u16>,
    },
}

/// Who sent a message of a secure sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SumSender {
    /// The party that relays and adds.
    Miner,
    /// An owner.
    Owner(u16),
}

/// What is wrong with the bytes of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SumMessageFault {
    /// It has another length than its terms say.
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
    /// A message of another round.
    Round {
        /// Its round.
        round: u32,
        /// The round that it was expected in.
        expected: u32,
    },
    /// Its survivor set names owners that do not exist.
    Survivors,
    /// A number that is not below the modulus.
    NoFieldElement,
}

impl fmt::Display for SumSender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Miner => f.write_str("the miner"),
            Self::Owner(owner) => write!(f, "owner {owner}"),
        }
    }
}

impl fmt::Display for SumMessageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { bytes, expected } => {
                write!(f, "a message of {bytes} bytes where {expected} were expected")
            }
            Self::Kind { kind } => write!(f, "a message of another kind or version ({kind:#04x})"),
            Self::Round { round, expected } => {
                write!(f, "a message of round {round} in round {expected}")
            }
            Self::Survivors => f.write_str("a survivor set with owners that do not exist"),
            Self::NoFieldElement => f.write_str("a number that is not below 2^61 - 1"),
        }
    }
}

impl fmt::Display for SumFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewOwners { owners } => {
                write!(
                    f,
                    "a secure sum needs at least three owners, and there are {owners}"
                )
            }
            Self::ManyOwners { most } => write!(f, "there are more than {most} owners"),
            Self::NobodyColludes => {
                f.write_str("at least one owner must be assumed to collude with the miner")
            }
            Self::ManyAbsent {
                owners,
                absent,
                colluding,
            } => write!(
                f,
                "with {absent} absent and {colluding} colluding owners of {owners}, two sums of one round could be opened: there must be \
                 more than 3 x absent + colluding owners (with one absent, colluding + 3 suffice)"
            ),
            Self::Length { length, most } => {
                write!(f, "a vector of {length} numbers where 1 to {most} can be summed")
            }
            Self::Message { from, fault } => write!(f, "{from} sent {fault}"),
            Self::Twice { owner } => write!(f, "owner {owner} sent a second message in one round"),
            Self::NoOwner { owner } => write!(f, "there is no owner {owner}"),
            Self::NoSurvivor { owner } => write!(f, "owner {owner} is not in the survivor set of this round"),
            Self::NoHolder { owner } => write!(f, "owner {owner} holds no shares, and does not answer"),
            Self::FewSurvivors { survivors, least } => {
                write!(f, "{survivors} owners survive where {least} must")
            }
            Self::LeftOut => {
                f.write_str("the miner asks for an answer about a survivor set without this owner")
            }
            Self::Envelope { from } => write!(
                f,
                "an envelope that is not what owner {from} sealed for this owner in this round"
            ),
            Self::FewAnswers { answers, least } => {
                write!(f, "{answers} answers, and {least} are needed to open the sum")
            }
            Self::Inconsistent { owners } if owners.is_empty() => {
                f.write_str("the answers do not lie on one polynomial, and whose are wrong cannot be said")
            }
            Self::Inconsistent { owners } => {
                let owners: Vec<String> = owners.iter().map(u16::to_string).collect();
                write!(
                    f,
                    "the answers do not lie on one polynomial: not those of owners {}",
                    owners.join(", ")
                )
            }
        }
    }
}
