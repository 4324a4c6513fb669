//! States that parties hand over, from which an interrupted run goes on.

use privet_mpc::garble::Seed;
use zeroize::Zeroizing;

use super::course::CourseState;
use super::message::{Message, read_voter, write_voter};
use super::weak::{Round, Weak};
use crate::Error;
use crate::boost::Alpha;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The state of a party between two tries of rounds.
#[derive(Default)]
pub(super) struct SavedScript {
    pub(super) course: CourseState,
    /// The digest of the party's rows.
    pub(super) rows: [u8; 32],
    /// What each row weighs where a class begins.
    pub(super) start: u64,
    pub(super) weights: Zeroizing<Vec<u64>>,
}

/// The state of a party that has begun a round.
pub(super) struct Saved {
    pub(super) script: SavedScript,
    /// How many circuits there were before this round.
    pub(super) circuits: u32,
    /// The keys of transfers before this round.
    pub(super) keys: Zeroizing<Vec<u8>>,
    /// The secrets of the circuit that the round begins with, if it does.
    pub(super) secrets: Option<Secrets>,
}

/// The secrets of one circuit, and a digest of the bits and rows that they are for.
#[derive(Default)]
pub(super) struct Secrets {
    digest: [u8; 32],
    seed: Zeroizing<[u8; 32]>,
    coins: Zeroizing<[u8; 8]>,
}

impl Secrets {
    /// Drawn for an input.
    pub(super) fn draw(digest: [u8; 32]) -> Result<Self, Error> {
        let draw = || {
            Seed::from_os().map_err(|e| match e {
                privet_mpc::Error::Randomness(why) => Error::Randomness(why),
                other => Error::internal(format!("drawing fails for want of randomness only ({other})")),
            })
        };
        let (seed, drawn) = (draw()?, draw()?);
        let mut coins = Zeroizing::new([0; 8]);
        // 48 of them.
        coins[..6].copy_from_slice(&drawn.expose()[..6]);
        Ok(Self {
            digest,
            seed: Zeroizing::new(*seed.expose()),
            coins,
        })
    }

    /// The seed, for the input that it was drawn for and no other.
    pub(super) fn for_input(&self, digest: &[u8; 32]) -> Result<Seed, Error> {
        match self.digest == *digest {
            true => Ok(self.seed()),
            false => Err(Error::data(
                "this run was begun with other rows: go on with the table it was begun with, or begin a new run",
            )),
        }
    }

    pub(super) fn seed(&self) -> Seed {
        Seed::new(*self.seed)
    }

    pub(super) fn coins(&self) -> u64 {
        u64::from_le_bytes(*self.coins)
    }
}

/// How much a party received since its last checkpoint.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Received(usize);

/// The bytes after which a party hands over a checkpoint, so that its record does not grow with every circuit.
const MUCH: usize = 1 << 16;

impl Received {
    pub(super) fn add(&mut self, message: &Message) {
        if let Message::Choices(parts) | Message::Garbled(parts) = message {
            self.0 += parts.iter().map(Vec::len).sum::<usize>();
        }
    }

    pub(super) fn is_much(self) -> bool {
        self.0 >= MUCH
    }
}

fn write_round(round: &Round, to: &mut Writer) {
    to.long(round.output as u64);
    to.long(round.alpha.0.cast_unsigned());
    to.word(round.weak.needed() as u32);
    to.list(round.weak.voters(), write_voter);
}

fn count(from: &mut Reader<'_>) -> Result<usize, Malformed> {
    usize::try_from(from.long()?).map_err(|_| Malformed::new("not a number of this machine"))
}

fn read_round(from: &mut Reader<'_>) -> Result<Round, Malformed> {
    let output = count(from)?;
    let alpha = Alpha(from.long()?.cast_signed());
    let needed = from.word()? as usize;
    let voters = from.list(4, read_voter)?;
    let weak = Weak::of(voters, needed);
    Ok(Round { output, weak, alpha })
}

impl Wire for Secrets {
    fn write(&self, to: &mut Writer) {
        to.fixed(&self.digest);
        to.fixed(&*self.seed);
        to.fixed(&*self.coins);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Ok(Self {
            digest: from.array()?,
            seed: Zeroizing::new(from.array()?),
            coins: Zeroizing::new(from.array()?),
        })
    }
}

impl Wire for Saved {
    fn write(&self, to: &mut Writer) {
        let SavedScript {
            course,
            rows,
            start,
            weights,
        } = &self.script;
        to.long(course.tries);
        to.long(course.output as u64);
        let tried: Vec<usize> = course.tried.iter().copied().collect();
        to.list(&tried, |group, to| to.long(*group as u64));
        to.list(&course.rounds, write_round);
        to.long(course.asked as u64);
        to.byte(course.ended.into());
        to.fixed(rows);
        to.long(*start);
        to.list(weights, |weight, to| to.long(*weight));
        to.word(self.circuits);
        to.bytes(&self.keys);
        to.byte(self.secrets.is_some().into());
        if let Some(secrets) = &self.secrets {
            secrets.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let course = CourseState {
            tries: from.long()?,
            output: count(from)?,
            tried: from.list(8, count)?.into_iter().collect(),
            rounds: from.list(24, read_round)?,
            asked: count(from)?,
            ended: match from.byte()? {
                0 => false,
                1 => true,
                _ => return Err(Malformed::new("not a state")),
            },
        };
        let script = SavedScript {
            course,
            rows: from.array()?,
            start: from.long()?,
            weights: Zeroizing::new(from.list(8, Reader::long)?),
        };
        Ok(Self {
            script,
            circuits: from.word()?,
            keys: Zeroizing::new(from.bytes()?.to_vec()),
            secrets: match from.byte()? {
                0 => None,
                1 => Some(Secrets::read(from)?),
                _ => return Err(Malformed::new("not a state")),
            },
        })
    }
}
