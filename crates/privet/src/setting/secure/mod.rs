//! Parties with different rows of the same columns: stumps or shallow trees boosted in a joint computation that shows what is declared, and nothing else.
//!
//! **Paper.** MABoost.
//!
//! **Who takes part.** An *initiator* and one *responder* or more, each with rows of its own. There is no further party, and nobody is trusted with rows. All follow
//! the protocol (they are semi-honest).
//!
//! **What happens.** In every round each party finds its best stump about one attribute; the two become one classifier that abstains where they differ. Its
//! coefficient follows from the weights of rows that it is right and wrong about, and both reweigh their own rows. Or one stump of a public grid is found that errs
//! least on the rows of both ([`Classifier::Joint`]). Whatever is compared without being told is compared in garbled circuits (`privet_mpc::garble`). Three parties or more vote with
//! their stumps, and add up weights by secure sums (`privet_mpc::sum`); the initiator relays.
//!
//! Of more than two classes each is told from all others in rounds of its own, one after another; the model has a score for each.
//!
//! **Who learns what.**
//!
//! | who | learns | how far |
//! | --- | --- | --- |
//! | the other party, or each other one | the items of [`Plan::items`], which the ledger lists before the first message | in full; nothing else |
//! | whoever sees the model | its stumps and coefficients | in full |
//!
//! There is no noise and no ε. Which items there are is chosen by parameters: thresholds from the data or from a public grid; coefficients exact, rounded or constant;
//! attributes by public coins or by a rendezvous. Defaults show no number of any row.
//!
//! **What it does not do.** It does not hide whether somebody's row was used from whoever knows all other rows. A party that does not follow the protocol can learn
//! more and spoil the model.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `params`, `plan`, `leaks`, `words` | parameters, what is fixed before rows are read, what will be shown |
//! | `grid`, `side`, `voter`, `weak` | the public grid, one party's rows with their weights, its stump or tree, the classifier of a round |
//! | `course` | what all decide alike from what they were shown |
//! | `joint`, `circuits` | what enters joint computations |
//! | `party`, `message`, `certified` | the parties, and their messages |
//! | `pair`, `script`, `checkpoint` | one of two parties, step by step |
//! | `several` | one of three or more |
//! | `clear`, `rehearsal` | the same algorithm in the clear, and all parties in one process |
//!
//! # Paper
//! MABoost. Errata and figures in `docs/papers.md`; proofs in `docs/proofs/secure.md`; messages in `docs/protocols/secure.md`.
//!
//! # Deviations
//! The weight update is derived again (`boost/abstain`). Each party's rows weigh one half at the beginning, and δ is a public constant, so that with
//! `coefficient = "rounded"` or `"constant"` weights tell no number of rows (exact rates of the first round do). "Error below ½" is read relative to a party's own weight. Weights, rates and coefficients are whole numbers (`boost/whole`).

mod certified;
mod checkpoint;
mod circuits;
pub mod clear;
mod course;
mod grid;
mod joint;
mod leaks;
mod message;
mod pair;
mod params;
mod party;
mod plan;
mod rehearsal;
mod script;
mod several;
mod side;
mod voter;
mod weak;
mod words;

pub use leaks::Item;
pub use message::Message;
pub use params::{
    AttributeChoice, Classifier, CoefficientRule, CutPlaces, MOST_PARTIES, Secure, StartWeights,
};
pub use party::{INITIATOR, Initiator, Outcome, Party, RESPONDER, Responder};
pub use plan::{MOST_ATTRIBUTES, Plan, coins};
pub use side::Side;
pub use voter::{Voter, VotingNode, VotingTree};
pub use weak::{Round, Weak};
