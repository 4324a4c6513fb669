//! Private set intersection by Diffie–Hellman on ristretto255: which rows several parties have in common.
//!
//! One *label holder* and any number of *feature holders* have a list of ids each. In the end all of them hold the same
//! sequence of common rows, each as numbers of its own rows, and nobody has seen another id.
//!
//! ```text
//!  label holder, ids x, exponent a                    feature holder, ids y, exponent b
//!  offer       a·H(x), sorted           ──────────►
//!                                       ◄──────────   b·H(y), sorted; b·(a·H(x)), in the order of the offer    answer
//!  pair        a·(b·H(y)) meets b·(a·H(x))
//!  settle      over all feature holders ──────────►   which places of its sorted list are common, in common order
//! ```
//!
//! A sorted list of masked points has an order that tells nothing; an answer keeps the order it answers, so that the asker
//! can match it; the common order is that of the doubly masked points with the first feature holder.
//!
//! ```
//! use privet_mpc::psi::{self, Ids, Key, Run};
//!
//! # fn main() -> Result<(), privet_mpc::Error> {
//! let run = Run::new([7; 32]);          // both sides know it, and never use it again
//! let bank = Ids::new(["ann", "bob", "cid"])?;
//! let shop = Ids::new(["dan", "cid", "ann"])?;
//!
//! let (expect_answer, offer) = psi::offer(&Key::from_os()?, run, &bank)?;
//! let (expect_common, answer) = psi::answer(&Key::from_os()?, run, &shop, &offer)?;
//! let (rows, told) = psi::settle(vec![expect_answer.receive(&answer)?])?;
//! let theirs = expect_common.receive(&told[0])?;
//!
//! assert_eq!(rows.len(), 2);
//! for (row, their) in rows.iter().zip(theirs) {
//!     assert_eq!(["ann", "bob", "cid"][*row], ["dan", "cid", "ann"][their]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Privacy
//! Everybody learns which of its rows are common to all, and how many ids its partner has. The label holder also learns, of
//! every feature holder, which of its own ids that one has. This holds for parties that follow the protocol, if the decisional
//! Diffie–Hellman problem is hard on ristretto255 and SHA-512 is as good as a random oracle. Whoever chooses ids chooses what
//! to ask about, and membership in the intersection is what the protocol is for: it is not protected. `docs/protocols/alignment.md`
//! has the argument, and what a party that does not follow the protocol can do.
//!
//! # Deviations
//! The textbook sends a·(b·H(y)) back, so that both sides can match. Here the label holder tells the places instead. That is
//! far fewer bytes, lets no feature holder see which ids only itself and the label holder have, and never lends the label
//! holder's exponent to points that a peer chose. A label holder that lies could lie as well in the textbook's reply.

mod agreement;
mod decode;
mod feature_holder;
mod group;
mod ids;
mod label_holder;
mod message;

pub use agreement::{Key, Role, Run};
#[doc(hidden)]
pub use decode::decode;
pub use feature_holder::{ExpectCommon, answer, check_offer};
pub use ids::{Ids, MOST_IDS};
pub use label_holder::{ExpectAnswer, Pair, Settled, offer, settle};
