//! What the set-up leaves behind, for any number of circuits.

use std::fmt;
use std::sync::Arc;

use aes::Aes128Enc;
use aes::cipher::KeyInit;
use zeroize::Zeroizing;

use super::COLUMNS;
use crate::Error;
use crate::garble::label::Label;
use crate::garble::message::Exchange;

/// The garbler's part: one key of each pair, and which ones they are. Wiped when it goes.
pub struct SenderKeys {
    secret: Arc<SenderSecret>,
    used: Used,
}

pub(crate) struct SenderSecret {
    pub(super) choices: Zeroizing<[u8; 16]>,
    keys: Zeroizing<Vec<[u8; 16]>>,
    pub(super) ciphers: Vec<Aes128Enc>,
}

/// The evaluator's part: both keys of each pair. Wiped when it goes.
pub struct ReceiverKeys {
    secret: Arc<ReceiverSecret>,
    used: Used,
}

pub(crate) struct ReceiverSecret {
    keys: Zeroizing<Vec<[u8; 16]>>,
    /// Both of a pair together.
    pub(super) ciphers: Vec<Aes128Enc>,
}

/// The run, and which circuits it has seen.
struct Used {
    run: Exchange,
    next: u32,
}

impl Used {
    /// Numbers rise: the transfers of a circuit are made once.
    fn take(&mut self, number: u32) -> Result<Exchange, Error> {
        if number < self.next || number == u32::MAX {
            return Err(Error::Misuse("the numbers of circuits rise"));
        }
        self.next = number + 1;
        Ok(self.run)
    }

    fn save(&self) -> Vec<u8> {
        [&self.run.as_bytes()[..], &self.next.to_le_bytes()].concat()
    }

    fn restore(saved: &[u8]) -> Option<(Self, &[u8])> {
        let (run, saved) = saved.split_first_chunk()?;
        let (next, saved) = saved.split_first_chunk()?;
        let used = Self {
            run: Exchange::from_bytes(*run),
            next: u32::from_le_bytes(*next),
        };
        Some((used, saved))
    }
}

fn ciphers(keys: &[[u8; 16]]) -> Vec<Aes128Enc> {
    keys.iter().map(|key| Aes128Enc::new(key.into())).collect()
}

impl SenderSecret {
    /// The choices as a row: what the two rows of a transfer differ by.
    pub(super) fn offset(&self) -> Label {
        Label::from_bytes(*self.choices)
    }
}

const SAVED: Error = Error::Misuse("these bytes are not keys that were saved");

impl SenderKeys {
    pub(super) fn new(run: Exchange, choices: Zeroizing<[u8; 16]>, keys: Zeroizing<Vec<[u8; 16]>>) -> Self {
        let secret = SenderSecret {
            choices,
            ciphers: ciphers(&keys),
            keys,
        };
        Self {
            secret: Arc::new(secret),
            used: Used { run, next: 0 },
        }
    }

    /// For the transfers of a circuit; and the run that it is of.
    pub(crate) fn take(&mut self, number: u32) -> Result<(Arc<SenderSecret>, Exchange), Error> {
        Ok((self.secret.clone(), self.used.take(number)?))
    }

    /// The keys, to be kept where nobody else reads, and which circuits they have served.
    pub fn save(&self) -> Zeroizing<Vec<u8>> {
        let parts = [
            &self.used.save()[..],
            &*self.secret.choices,
            self.secret.keys.as_flattened(),
        ];
        Zeroizing::new(parts.concat())
    }

    /// The keys that were saved.
    ///
    /// # Errors
    /// [`Error::Misuse`] for other bytes.
    pub fn restore(saved: &[u8]) -> Result<Self, Error> {
        let (used, saved) = Used::restore(saved).ok_or(SAVED)?;
        let (choices, keys) = saved.split_first_chunk().ok_or(SAVED)?;
        let keys = whole(keys, COLUMNS)?;
        let mut restored = Self::new(used.run, Zeroizing::new(*choices), keys);
        restored.used = used;
        Ok(restored)
    }
}

impl ReceiverKeys {
    pub(super) fn new(run: Exchange, keys: Zeroizing<Vec<[u8; 16]>>) -> Self {
        let secret = ReceiverSecret {
            ciphers: ciphers(&keys),
            keys,
        };
        Self {
            secret: Arc::new(secret),
            used: Used { run, next: 0 },
        }
    }

    /// For the transfers of a circuit; and the run that it is of.
    pub(crate) fn take(&mut self, number: u32) -> Result<(Arc<ReceiverSecret>, Exchange), Error> {
        Ok((self.secret.clone(), self.used.take(number)?))
    }

    /// The keys, to be kept where nobody else reads, and which circuits they have served.
    pub fn save(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new([&self.used.save()[..], self.secret.keys.as_flattened()].concat())
    }

    /// The keys that were saved.
    ///
    /// # Errors
    /// [`Error::Misuse`] for other bytes.
    pub fn restore(saved: &[u8]) -> Result<Self, Error> {
        let (used, keys) = Used::restore(saved).ok_or(SAVED)?;
        let keys = whole(keys, 2 * COLUMNS)?;
        let mut restored = Self::new(used.run, keys);
        restored.used = used;
        Ok(restored)
    }
}

fn whole(keys: &[u8], count: usize) -> Result<Zeroizing<Vec<[u8; 16]>>, Error> {
    match keys.as_chunks() {
        (keys, []) if keys.len() == count => Ok(Zeroizing::new(keys.to_vec())),
        _ => Err(SAVED),
    }
}

impl fmt::Debug for SenderKeys {
    /// Does not print keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SenderKeys(…)")
    }
}

impl fmt::Debug for ReceiverKeys {
    /// Does not print keys.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceiverKeys(…)")
    }
}
