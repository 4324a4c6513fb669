//! The owner's side of the local setting for a phone or a browser: mechanism, codec and a ledger that the host stores. No database, no threads,
//! no files, no clock.
//!
//! A host gives two things: [`Storage`], where the ledger is kept as one piece of bytes, and random bytes of its operating system. Then
//! [`answer`] pays for a message, draws it and gives it, once for each campaign, as `privet contribute` does.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `journal` | the library's journal on a host's storage |
//! | `exports` | the same as functions of a WebAssembly module |
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
#[allow(unsafe_code, reason = "a module's functions and its host's are foreign ones")]
mod exports;
mod journal;

use privet::Error;
use privet::privacy::account::{Caps, Price};
use privet::privacy::{Delta, Epsilon, Ledger, Owner, Private, Randomness};
use privet::setting::local::{Campaign, DataOwner, Message};

pub use journal::{Storage, StoredJournal};

/// The name of everything about the owner of a device.
const DATASET: &str = "me";

/// An owner's one message to a campaign about a vector (for a campaign that asks for a category, its number is the first coordinate): as it was kept,
/// or paid for, drawn and kept. What all campaigns get is at most `cap`, which is fixed by the first answer.
///
/// # Errors
/// [`Error::Data`] for a campaign that cannot be; [`Error::Budget`] if the cap does not allow it; [`Error::Journal`] if storing failed.
pub fn answer<S: Storage + 'static>(
    campaign: &str,
    vector: Vec<f64>,
    cap: Epsilon,
    storage: S,
) -> Result<Vec<u8>, Error> {
    let campaign = Campaign::read("campaign.toml", campaign)?;
    let journal = StoredJournal::open(storage, DATASET, cap)?;
    let mut ledger = Ledger::open(DATASET, Owner, journal, Randomness::from_os()?)?;
    draw(&campaign, vector, &mut ledger)
}

/// A message whose draws follow from a seed, for tests: it protects nobody.
///
/// # Errors
/// As [`answer`].
pub fn rehearse(campaign: &str, vector: Vec<f64>, seed: u64) -> Result<Vec<u8>, Error> {
    let campaign = Campaign::read("campaign.toml", campaign)?;
    let caps = Caps::from(Price::Pure(campaign.epsilon()));
    let mut ledger = Ledger::volatile(Owner, caps, Delta::ZERO, Randomness::seeded(seed))?;
    draw(&campaign, vector, &mut ledger)
}

fn draw(campaign: &Campaign, vector: Vec<f64>, ledger: &mut Ledger<Owner>) -> Result<Vec<u8>, Error> {
    let owner = DataOwner::new(campaign);
    let sent = match campaign.message() {
        Message::Category(_) => owner.contribute_category(ledger, || {
            // `as` saturates and sends NaN to zero.
            Private::new(vector.first().map_or(0, |category| *category as usize))
        }),
        _ => owner.contribute_vector(ledger, || Private::new(vector)),
    };
    Ok(sent?.submission)
}
