//! The sum of many owners' vectors, relayed by one miner: packed Shamir sharing modulo 2⁶¹ − 1.
//!
//! ```text
//!  each owner                                   the miner                                    each survivor that is a holder
//!  shares its numbers, one envelope             waits for all, or for a deadline;
//!  for each holder                   ────────►  the survivor set U is who has sent
//!                                               U, and the envelopes of U for it   ────────►  opens them, checks U,
//!                                               opens the sum of U from          ◄────────  answers once: the sum of the
//!                                               as many answers as required                   shares of U
//! ```
//!
//! The first owners are *holders*: as many as make the shares of all as few bytes as possible. The guarantees do not depend on who they are: any
//! owners may collude or be absent, as many as were agreed on.
//!
//! ```
//! use privet_mpc::sealed::SealingKey;
//! use privet_mpc::sum::{Collecting, Seed, SumOwner, SumTerms};
//!
//! # fn main() -> Result<(), privet_mpc::Error> {
//! let terms = SumTerms::new(5, 1, 1, 2)?; // five owners, one may be absent, one may collude; two numbers each
//! let keys = (0..5).map(|_| SealingKey::from_os()).collect::<Result<Vec<_>, _>>()?;
//! let publics: Vec<_> = (0..).zip(&keys).map(|(number, key)| (number, key.public())).collect();
//! let mut collecting = Collecting::new(&terms, 0);
//! let mut rounds = Vec::new();
//! for (me, key) in (0..).zip(&keys) {
//!     let mut owner = SumOwner::new(&terms, me, key, &publics, &[7; 32], 0)?;
//!     let (round, shares) = owner.share(0, &[i64::from(me), -10], Seed::from_os()?)?;
//!     rounds.push((owner, round));
//!     if me != 3 {
//!         collecting.receive(me, shares)?; // owner 3 vanishes
//!     }
//! }
//! let relaying = collecting.fix().map_err(|(_, why)| why)?;
//! let told: Vec<_> = relaying.holders().iter().map(|to| (*to, relaying.message(*to))).collect();
//! let mut opening = relaying.sent();
//! for (from, relayed) in told {
//!     let (owner, round) = rounds.remove(0); // the holders 0, 1 and 2
//!     opening.receive(from, &round.expect("a holder").answer(&owner, &relayed?)?.message)?;
//! }
//! assert_eq!(opening.open()?.numbers, [0 + 1 + 2 + 4, -40]);
//! # Ok(())
//! # }
//! ```
//!
//! # Privacy
//! The miner and up to `colluding` owners, whatever they do, learn from a round at most one sum: over the honest members of one survivor set, at
//! least P − absent − colluding. They can add wrong numbers to it. This holds if each honest owner answers once in a round, X25519, HKDF and
//! AES-128-GCM are as good as they should be, and keys and seeds are fresh: `docs/proofs/sum.md`. The sum itself is shown: what it tells about
//! one owner must be hidden by noise in the numbers, before they are shared. `docs/protocols/sum.md` says who learns what.

mod decode;
mod fault;
mod field;
mod message;
mod miner;
mod misfits;
mod owner;
mod scheme;
mod seed;
mod shape;
mod terms;
#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use decode::decode;
pub use fault::{SumFault, SumMessageFault, SumSender};
pub use miner::{Collecting, Opened, Opening, Relaying};
pub use owner::{Answered, OwnerRound, SumOwner};
pub use seed::Seed;
pub use terms::SumTerms;

/// Sums are modulo this prime.
pub const MODULUS: u64 = <field::Mersenne61 as field::Prime>::MODULUS;
/// The most owners of a sum.
pub const MOST_OWNERS: usize = 10_000;
/// The most numbers of a vector.
pub const MOST_NUMBERS: usize = 4_096;
