//! Exact samplers on integers.
//!
//! No floating point on the path of a draw, the law exactly as stated, and the same work whatever comes out: proofs in
//! `docs/proofs/samplers.md`, reasons in `docs/decisions/0003-exact-noise.md`.
//!
//! | file | law |
//! | --- | --- |
//! | `bits`, `bernoulli` | uniform integers, rational coins, coins of probability `exp(-x)` |
//! | `table` | inversion of any law by certified thresholds: what the others are made of |
//! | `geometric`, `laplace`, `shares` | `exp(-k/scale)`, one- and two-sided, and shares that sum to it |
//! | `half`, `normal`, `rounded` | a real Gaussian rounded to integers, and what it is drawn from |
//! | `decay`, `select` | one of many candidates: permute-and-flip and the exponential mechanism |

pub(crate) mod bernoulli;
pub(crate) mod bits;
mod decay;
mod geometric;
mod half;
mod laplace;
mod noise;
mod normal;
mod randomness;
mod rounded;
mod select;
mod shares;
pub(crate) mod table;

pub use bernoulli::exp_coin;
pub use bits::{coin, uniform};
pub use geometric::Geometric;
pub use laplace::DiscreteLaplace;
pub use noise::Noise;
pub use randomness::Randomness;
pub use rounded::RoundedGaussian;
pub use select::Selection;
pub use shares::LaplaceShare;
