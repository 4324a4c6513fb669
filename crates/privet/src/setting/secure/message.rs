//! The whole protocol: what the parties say to each other.

use super::params::MOST_PARTIES;
use super::voter::{Voter, VotingNode, VotingTree};
use crate::boost::WholeRates;
use crate::learner::tree::Child;
use crate::learner::{Call, StumpRule};
use crate::party::RunKey;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The most lines of a schema.
const MOST_LINES: usize = 100_000;
/// The longest certificate.
const LONGEST: usize = 1 << 20;
/// The most questions of a tree.
const MOST_NODES: usize = 15;
/// The most parts of a joint computation's message.
const MOST_PARTS: usize = 1 << 16;

/// A message between two parties. Of three or more, responders speak to the initiator, which relays.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// It is there, with the lines of its schema that both must have alike.
    Hello(Vec<String>),
    /// Responder: the run cannot begin, line by line why.
    Refused(Vec<String>),
    /// It has written down what it will show.
    Begin {
        /// How many rows it has, if all rows are to weigh the same.
        rows: Option<u64>,
        /// The set-up of joint computations, if there are any; of three parties or more, its [`RunKey`].
        transfer: Vec<u8>,
    },
    /// Initiator: its choices in a joint computation, in parts.
    Choices(Vec<Vec<u8>>),
    /// Responder: the garbled circuit, in parts.
    Garbled(Vec<Vec<u8>>),
    /// Initiator: what came out.
    Outcome(Vec<u8>),
    /// Its best stump, or its tree.
    Voter(Voter),
    /// What its rows weigh that the classifier is right about, wrong about, or silent on.
    Rates(WholeRates),
    /// It has the model; and what it promised, as a certificate in JSON.
    Finish(String),
    /// Initiator, of three parties or more: the keys of all.
    Keys(Vec<RunKey>),
    /// Initiator, of three parties or more: the stumps of all.
    Voters(Vec<Voter>),
    /// One step of a secure sum.
    Sum(Vec<u8>),
    /// Initiator, of three parties or more: the certificates of all.
    Certificates(Vec<String>),
}

impl Message {
    /// What it is.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "a greeting",
            Self::Refused(_) => "a refusal",
            Self::Begin { .. } => "a beginning",
            Self::Choices(_) => "choices",
            Self::Garbled(_) => "a garbled circuit",
            Self::Outcome(_) => "an outcome",
            Self::Voter(_) => "a classifier",
            Self::Rates(_) => "rates",
            Self::Finish(_) => "the end",
            Self::Keys(_) => "keys",
            Self::Voters(_) => "classifiers",
            Self::Sum(_) => "a step of a sum",
            Self::Certificates(_) => "certificates",
        }
    }
}

fn unknown() -> Malformed {
    Malformed::new("not a message of this protocol")
}

fn lines(from: &mut Reader<'_>) -> Result<Vec<String>, Malformed> {
    from.at_most(MOST_LINES, 8, |from| from.text(1 << 20))
}

fn parts(from: &mut Reader<'_>) -> Result<Vec<Vec<u8>>, Malformed> {
    from.at_most(MOST_PARTS, 8, |from| from.bytes().map(<[u8]>::to_vec))
}

fn write_slots(slots: &[u16], to: &mut Writer) {
    to.list(slots, |slot, to| to.word(u32::from(*slot)));
}

fn slot(from: &mut Reader<'_>) -> Result<u16, Malformed> {
    u16::try_from(from.word()?).map_err(|_| unknown())
}

fn slots(from: &mut Reader<'_>) -> Result<Vec<u16>, Malformed> {
    from.at_most(1 << 16, 4, slot)
}

fn write_rule(rule: &StumpRule, to: &mut Writer) {
    match rule {
        StumpRule::All => to.byte(0),
        StumpRule::AtMost { slot, besides } => {
            to.byte(1);
            to.word(u32::from(*slot));
            write_slots(besides, to);
        }
        StumpRule::OneOf(slots) => {
            to.byte(2);
            write_slots(slots, to);
        }
        StumpRule::UpTo {
            place,
            missing,
            with_missing,
        } => {
            to.byte(3);
            to.long(place.to_bits());
            to.word(u32::from(*missing));
            to.byte((*with_missing).into());
        }
    }
}

fn bit(from: &mut Reader<'_>) -> Result<bool, Malformed> {
    match from.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(unknown()),
    }
}

fn read_rule(from: &mut Reader<'_>) -> Result<StumpRule, Malformed> {
    Ok(match from.byte()? {
        0 => StumpRule::All,
        1 => StumpRule::AtMost {
            slot: slot(from)?,
            besides: slots(from)?,
        },
        2 => StumpRule::OneOf(slots(from)?),
        3 => {
            let place = f64::from_bits(from.long()?);
            // One way to write each place, and none that is not between the bounds.
            if !(-1.0..=1.0).contains(&place) || place == 0.0 && place.is_sign_negative() {
                return Err(unknown());
            }
            StumpRule::UpTo {
                place,
                missing: slot(from)?,
                with_missing: bit(from)?,
            }
        }
        _ => return Err(unknown()),
    })
}

fn write_call(call: &Call, to: &mut Writer) {
    // At most as many features as a schema may have.
    to.word(call.feature as u32);
    to.byte(u8::from(call.left != 0));
    to.byte(u8::from(call.right != 0));
    write_rule(&call.rule, to);
}

fn read_call(from: &mut Reader<'_>) -> Result<Call, Malformed> {
    Ok(Call {
        feature: from.word()? as usize,
        left: bit(from)?.into(),
        right: bit(from)?.into(),
        rule: read_rule(from)?,
    })
}

fn write_child(child: Child, to: &mut Writer) {
    let (kind, place) = match child {
        Child::Node(place) => (0, place),
        Child::Leaf(place) => (1, place),
    };
    to.byte(kind);
    to.word(place);
}

fn read_child(from: &mut Reader<'_>) -> Result<Child, Malformed> {
    Ok(match bit(from)? {
        false => Child::Node(from.word()?),
        true => Child::Leaf(from.word()?),
    })
}

fn write_node(node: &VotingNode, to: &mut Writer) {
    to.word(node.feature as u32);
    write_rule(&node.rule, to);
    write_child(node.left, to);
    write_child(node.right, to);
}

fn read_node(from: &mut Reader<'_>) -> Result<VotingNode, Malformed> {
    Ok(VotingNode {
        feature: from.word()? as usize,
        rule: read_rule(from)?,
        left: read_child(from)?,
        right: read_child(from)?,
    })
}

pub(super) fn write_voter(voter: &Voter, to: &mut Writer) {
    match voter {
        Voter::Stump(call) => {
            to.byte(0);
            write_call(call, to);
        }
        Voter::Tree(tree) => {
            to.byte(1);
            to.list(&tree.nodes, write_node);
            to.list(&tree.leaves, |class, to| to.byte(u8::from(*class != 0)));
        }
    }
}

pub(super) fn read_voter(from: &mut Reader<'_>) -> Result<Voter, Malformed> {
    Ok(match bit(from)? {
        false => Voter::Stump(read_call(from)?),
        true => Voter::Tree(VotingTree {
            nodes: from.at_most(MOST_NODES, 15, read_node)?,
            leaves: from.at_most(MOST_NODES + 1, 1, |from| Ok(bit(from)?.into()))?,
        }),
    })
}

impl Wire for WholeRates {
    fn write(&self, to: &mut Writer) {
        to.long(self.right);
        to.long(self.wrong);
        to.long(self.silent);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let rates = Self {
            right: from.long()?,
            wrong: from.long()?,
            silent: from.long()?,
        };
        rates.is_sound().then_some(rates).ok_or_else(unknown)
    }
}

impl Wire for Message {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Hello(lines) => {
                to.byte(0);
                to.list(lines, |line, to| to.text(line));
            }
            Self::Refused(lines) => {
                to.byte(1);
                to.list(lines, |line, to| to.text(line));
            }
            Self::Begin { rows, transfer } => {
                to.byte(2);
                to.byte(rows.is_some().into());
                to.long(rows.unwrap_or(0));
                to.bytes(transfer);
            }
            Self::Choices(parts) => {
                to.byte(3);
                to.list(parts, |part, to| to.bytes(part));
            }
            Self::Garbled(parts) => {
                to.byte(4);
                to.list(parts, |part, to| to.bytes(part));
            }
            Self::Outcome(outcome) => {
                to.byte(5);
                to.bytes(outcome);
            }
            Self::Voter(voter) => {
                to.byte(6);
                write_voter(voter, to);
            }
            Self::Rates(rates) => to.tagged(7, rates),
            Self::Finish(certificate) => {
                to.byte(8);
                to.text(certificate);
            }
            Self::Keys(keys) => {
                to.byte(9);
                to.list(keys, RunKey::write);
            }
            Self::Voters(voters) => {
                to.byte(10);
                to.list(voters, write_voter);
            }
            Self::Sum(bytes) => {
                to.byte(11);
                to.bytes(bytes);
            }
            Self::Certificates(all) => {
                to.byte(12);
                to.list(all, |one, to| to.text(one));
            }
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(match from.byte()? {
            0 => Self::Hello(lines(from)?),
            1 => Self::Refused(lines(from)?),
            2 => {
                let (is_said, rows) = (bit(from)?, from.long()?);
                if !is_said && rows != 0 {
                    return Err(unknown());
                }
                Self::Begin {
                    rows: is_said.then_some(rows),
                    transfer: from.bytes()?.to_vec(),
                }
            }
            3 => Self::Choices(parts(from)?),
            4 => Self::Garbled(parts(from)?),
            5 => Self::Outcome(from.bytes()?.to_vec()),
            6 => Self::Voter(read_voter(from)?),
            7 => Self::Rates(WholeRates::read(from)?),
            8 => Self::Finish(from.text(LONGEST)?),
            9 => Self::Keys(from.at_most(MOST_PARTIES.into(), 96, RunKey::read)?),
            10 => Self::Voters(from.at_most(MOST_PARTIES.into(), 4, read_voter)?),
            11 => Self::Sum(from.bytes()?.to_vec()),
            12 => Self::Certificates(from.at_most(MOST_PARTIES.into(), 8, |from| from.text(LONGEST))?),
            _ => return Err(unknown()),
        })
    }
}
