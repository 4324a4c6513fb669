//! What parties tell each other before a run, and beside it.

use privet::party::{MOST_PARTIES, PartyId, Terms};
use privet::wire::{Malformed, Reader, Wire, Writer};

/// The most bytes of a plan.
pub(super) const MOST_PLAN: usize = 1 << 21;
/// The most bytes of a reason.
const MOST_WHY: usize = 1 << 14;

/// What a dialling party begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// The canonical plan, line by line.
    pub plan: String,
    /// Bytes of its own, which go into the number of a new run.
    pub nonce: [u8; 16],
    /// The run of this plan that is not over for it, if there is one.
    pub held: Option<Bundle>,
}

/// Terms, and who has signed them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bundle {
    /// What is agreed on.
    pub terms: Terms,
    /// A signature of each party, in the order of their numbers; empty until all have signed.
    pub signatures: Vec<[u8; 64]>,
}

/// A control message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// A dialling party to the listener.
    Opening(Box<Opening>),
    /// The listener to all: these are the terms of a new run; with the nonces that its number follows from.
    Proposal {
        /// The listener's plan.
        plan: String,
        /// The terms.
        terms: Terms,
        /// The nonces, in the order of the parties.
        nonces: Vec<[u8; 16]>,
    },
    /// A dialling party to the listener: its signature of the terms.
    Signed([u8; 64]),
    /// The listener to all: everybody has signed; and who is done already.
    Agreed {
        /// The terms with all signatures.
        bundle: Bundle,
        /// Parties that need nothing more.
        done: Vec<PartyId>,
    },
    /// There will be no run, for this reason.
    Refused {
        /// The listener's plan, if it is another one.
        plan: Option<String>,
        /// The reason.
        why: String,
    },
    /// This party needs nothing more, and nobody needs anything of it.
    Done(PartyId),
}

impl Wire for Bundle {
    fn write(&self, to: &mut Writer) {
        self.terms.write(to);
        to.list(&self.signatures, |signature, to| to.fixed(signature));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            terms: Terms::read(from)?,
            signatures: from.at_most(MOST_PARTIES, 64, Reader::array)?,
        })
    }
}

impl Wire for Control {
    fn write(&self, to: &mut Writer) {
        match self {
            Self::Opening(opening) => {
                to.byte(1);
                to.text(&opening.plan);
                to.fixed(&opening.nonce);
                match &opening.held {
                    None => to.byte(0),
                    Some(held) => to.tagged(1, held),
                }
            }
            Self::Proposal { plan, terms, nonces } => {
                to.byte(2);
                to.text(plan);
                terms.write(to);
                to.list(nonces, |nonce, to| to.fixed(nonce));
            }
            Self::Signed(signature) => {
                to.byte(3);
                to.fixed(signature);
            }
            Self::Agreed { bundle, done } => {
                to.tagged(4, bundle);
                to.list(done, |party, to| party.write(to));
            }
            Self::Refused { plan, why } => {
                to.byte(5);
                match plan {
                    None => to.byte(0),
                    Some(plan) => {
                        to.byte(1);
                        to.text(plan);
                    }
                }
                to.text(why);
            }
            Self::Done(party) => to.tagged(6, party),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let unknown = || Malformed::new("no control message");
        Ok(match from.byte()? {
            1 => Self::Opening(Box::new(Opening {
                plan: from.text(MOST_PLAN)?,
                nonce: from.array()?,
                held: match from.byte()? {
                    0 => None,
                    1 => Some(Bundle::read(from)?),
                    _ => return Err(unknown()),
                },
            })),
            2 => Self::Proposal {
                plan: from.text(MOST_PLAN)?,
                terms: Terms::read(from)?,
                nonces: from.at_most(MOST_PARTIES, 16, Reader::array)?,
            },
            3 => Self::Signed(from.array()?),
            4 => Self::Agreed {
                bundle: Bundle::read(from)?,
                done: from.at_most(MOST_PARTIES, 4, PartyId::read)?,
            },
            5 => Self::Refused {
                plan: match from.byte()? {
                    0 => None,
                    1 => Some(from.text(MOST_PLAN)?),
                    _ => return Err(unknown()),
                },
                why: from.text(MOST_WHY)?,
            },
            6 => Self::Done(PartyId::read(from)?),
            _ => return Err(unknown()),
        })
    }
}
