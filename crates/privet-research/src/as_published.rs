//! What papers print, or compare with, and what protects nobody.
//!
//! Nothing here takes a ledger: a leave that says why ([`Unprotected`](crate::privacy::Unprotected)) is asked for, and whatever
//! comes of it is void.

mod flips;
pub mod inprivate;
mod pate;

pub use flips::Flips;
pub use inprivate::InPrivate;
pub use pate::{Pate, Students};

use crate::privacy::Coins;

/// Laplace noise as a textbook has it, from public coins.
fn laplace(scale: f64, coins: &mut Coins) -> f64 {
    let size = -scale * (1.0 - coins.unit()).ln();
    if coins.below(2) == 0 { size } else { -size }
}
