//! States that parties hand over, from which an interrupted run goes on.

use std::collections::BTreeSet;

use privet_mpc::garble::Seed;
use zeroize::Zeroizing;

use super::message::{Message, read_call, write_call};
use super::weak::{Round, Weak};
use crate::Error;
use crate::boost::Alpha;
use crate::wire::{Malformed, Reader, Wire, Writer};

/// The state of a party between two tries of rounds.
#[derive(Default)]
pub(super) struct SavedScript {
    pub(super) tries: u64,
    pub(super) tried: BTreeSet<usize>,
    pub(super) rounds: Vec<Round>,
    /// The digest of the party's rows.
    pub(super) rows: [u8; 32],
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

    pub(super) fn is_for(&self, digest: &[u8; 32]) -> bool {
        self.digest == *digest
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
    to.long(round.alpha.0.cast_unsigned());
    let (first, second) = round.weak.stumps();
    write_call(first, to);
    to.byte(second.is_some().into());
    if let Some(second) = second {
        write_call(second, to);
    }
}

fn read_round(from: &mut Reader<'_>) -> Result<Round, Malformed> {
    let alpha = Alpha(from.long()?.cast_signed());
    let first = read_call(from)?;
    let second = match from.byte()? {
        0 => None,
        1 => Some(read_call(from)?),
        _ => return Err(Malformed::new("not a round")),
    };
    let weak = Weak::of(first, second);
    Ok(Round { weak, alpha })
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
            tries,
            tried,
            rounds,
            rows,
            weights,
        } = &self.script;
        to.long(*tries);
        let tried: Vec<usize> = tried.iter().copied().collect();
        to.list(&tried, |attribute, to| to.long(*attribute as u64));
        to.list(rounds, write_round);
        to.fixed(rows);
        to.list(weights, |weight, to| to.long(*weight));
        to.word(self.circuits);
        to.bytes(&self.keys);
        to.byte(self.secrets.is_some().into());
        if let Some(secrets) = &self.secrets {
            secrets.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let tries = from.long()?;
        let tried = from.list(8, |from| {
            usize::try_from(from.long()?).map_err(|_| Malformed::new("not an attribute"))
        })?;
        let script = SavedScript {
            tries,
            tried: tried.into_iter().collect(),
            rounds: from.list(16, read_round)?,
            rows: from.array()?,
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
