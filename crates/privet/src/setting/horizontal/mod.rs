//! Owners with different rows of the same columns: differentially private boosted trees over all of them.
//!
//! **Papers.** InPrivate, whose owners add one tree after another; and two designs that are better at the same guarantee
//! (`docs/papers.md`).
//!
//! **Who takes part.** *Owners*, each with rows of its own, and a *miner*, who asks and relays and has no rows. Whoever is both takes two
//! seats. Nobody is trusted with rows, and there is no further party. Owners and the miner follow the protocol (they are
//! semi-honest); the miner and up to k owners may put together what they see. Each owner's people are protected by its own ledger.
//!
//! **What happens.**
//!
//! ```text
//!  owner                                                     miner
//!  greeting: schema, key of this run            ─────────►
//!                                               ◄─────────   begin: keys of all owners              nothing is paid before this
//!  pays; for each question:
//!  numbers with a share of noise, in shares     ─────────►                                          protocol = "aggregated"
//!  for each holder, sealed
//!                                               ◄─────────   to holders: who has shared, and what was sealed for the receiver
//!  of a holder: the sum of these shares         ─────────►
//!                                               ◄─────────   the opened noisy sum, and a digest of the model so far
//!  certificate                                  ─────────►
//!                                               ◄─────────   all certificates
//! ```
//!
//! - `protocol = "aggregated"`: one run of trees over all rows. What a curator would ask its table (where labels lie, rows by slot, the
//!   sums of each tree's leaves, rows by score) is asked all owners; each adds a share of the noise, and only the sum is opened. Trees are
//!   cut by public coins that follow from the agreement. Every owner computes the model itself, and stops if the miner's has another
//!   digest. It needs three owners. The first owners are holders of shares, as many as make the shares of all as few bytes as possible.
//! - `"averaged"`: each owner trains private trees on its own rows and sends them; the model is the average.
//! - `"chain"`: one owner after another adds private trees to those that it received. What those say of its rows stays with it. Trees are about one
//!   feature each, or those of the paper (`splits = "noisy-greedy"`). A chain may go round several times, each time on other units
//!   (`rounds`), be measured with paid counts (`quality`, `advance`), and send trees to all who wait (`broadcast`).
//!
//! **Who learns what.**
//!
//! | who | learns | how far |
//! | --- | --- | --- |
//! | whoever sees the model, or all messages that are not sealed | noisy sums, or noisy trees | the ε of each owner's ledger |
//! | an owner | the same, and its own rows | the same |
//! | the miner and up to k owners together | the same, and their own rows and noise: the noise of the others alone covers what is left | the same: that is what noise is made larger for |
//! | the miner and more than k owners, in `"aggregated"` | possibly every sum of a single owner | no bound |
//! | everybody | who takes part, about how many rows each has, who was absent when | in full |
//!
//! **How good is it?** With an evaluation ([`HeldOut`]), each owner keeps some people out of training, by a secret coin for each, and the model is
//! judged by their rows: noisy counts of all owners together, from which everybody computes the same [`PaidReport`]. In `"aggregated"` they are one
//! more secure sum; in the other protocols each owner adds its own noise and the miner adds up. It is paid for besides the trees,
//! from the same ledgers, and the two prices are added up.
//!
//! A person with rows at m owners is in m ledgers. Where one noise covers all (`"aggregated"`), the m changes add up: m²·μ², or m·ε. Where
//! each owner has noise of its own: m·μ², or m·ε. [`OwnerPlan`] says it in numbers.
//!
//! **What it does not do.** An owner that does not follow the protocol can spoil the model: in `"aggregated"` with any numbers, in the other
//! protocols with any trees. It cannot learn more about others. A miner that does not follow it can keep owners out, let them
//! pay for nothing, and spoil the model likewise.
//!
//! **Absence.** Up to d owners may be absent, from the beginning or from any moment on. One that comes back is sent what it missed
//! and takes part again. Beyond d the run ends. Whoever was not there in the beginning joins by a new run, which starts from the model of the
//! run before ([`Plan::starting_from`]). The noise that is really in a sum follows from how many owners shared: values of leaves
//! are made with that.
//!
//! # Paper
//! InPrivate. Errata and figures in `docs/papers.md`; proofs in `docs/proofs/horizontal.md`; messages in `docs/protocols/horizontal.md`.
//!
//! # Deviations
//! Everything that `noisy/trees` changes about Algorithm 1. In `"chain"`: a learning rate, which the paper has not (one half for its trees if none is given); by
//! default an owner adds several trees about one feature each instead of one; numbers are clipped at one bound, which the first owner releases. A
//! unit's round is decided by a coin of its own instead of its place. Quality and advance are measured with noise that is paid for, on units
//! of the owner's own that train no tree; the paper does not say whose rows judge, and measures exactly. As it is printed the chain
//! protects nobody, and is in `privet-research` only.

mod certified;
mod chain;
mod evaluation;
mod joint;
mod local;
mod message;
mod miner;
mod owner;
mod params;
mod plan;
mod quality;
mod rehearsal;
mod resolve;
mod schemas;
mod shared;
mod start;
mod words;

pub use message::{Grown, Message, OpenedSum};
pub use miner::Miner;
pub use owner::Owner;
pub use params::{HeldOut, Horizontal, MOST_OWNERS, Protocol, Recipients};
pub use plan::{MinerPlan, OwnerFacts, OwnerPlan, Plan, Spending};
pub use schemas::schema_differences;
pub use words::{Learning, PersonAtSeveral};

pub use crate::noisy::evaluation::PaidReport;
pub use crate::noisy::trees::{LabelTransform, Places, Splits, Trees};

use crate::Error;
use crate::model::Model;
use crate::party::{Context, PartyEvent, PartyId, Role, TurnOutcome};
use crate::privacy::Certificate;

/// The miner's number in every agreement; all others are owners.
pub const MINER: PartyId = PartyId(0);

/// The number of the one deadline that a party has at a time.
const PATIENCE: u64 = 0;

/// One of the parties.
pub enum Party {
    /// The one that asks.
    Miner(Miner),
    /// One with rows.
    Owner(Owner),
}

/// What a party took part for.
#[derive(Debug)]
pub enum Outcome {
    /// It has the model.
    Trained {
        /// The model.
        model: Box<Model>,
        /// How many owners' rows are in it; of joint sums, in the last of them.
        owners: usize,
        /// How good it is on held-out rows, if that was planned.
        report: Option<Box<PaidReport>>,
    },
    /// It has added its trees to a model that others get, under this promise.
    Contributed(Box<Certificate>),
}

impl Outcome {
    /// The model, if this party gets it.
    pub fn into_model(self) -> Option<Model> {
        match self {
            Self::Trained { model, .. } => Some(*model),
            Self::Contributed(_) => None,
        }
    }
}

impl Role for Party {
    type Message = Message;
    type Output = Outcome;

    fn start(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Miner(party) => party.start(context),
            Self::Owner(party) => party.start(context),
        }
    }

    fn handle(
        self,
        event: PartyEvent<Message>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Miner(party) => party.handle(event, context),
            Self::Owner(party) => party.handle(event, context),
        }
    }

    fn resume(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Miner(party) => party.resume(context),
            Self::Owner(party) => party.resume(context),
        }
    }

    fn waits_for(&self) -> Vec<PartyId> {
        match self {
            Self::Miner(party) => party.waits_for(),
            Self::Owner(_) => vec![MINER],
        }
    }

    fn most_bytes(&self, from: PartyId) -> Option<u64> {
        match self {
            Self::Miner(party) => Some(party.most_bytes()),
            Self::Owner(party) => (from == MINER).then(|| party.most_bytes()),
        }
    }

    fn restore(self, state: &[u8], context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::Miner(party) => party.restore(state, context),
            Self::Owner(party) => party.restore(state, context),
        }
    }

    /// The schema. The library does not look at rows for this; whoever stores the record knows them by a keyed fingerprint.
    fn brings(&self) -> [u8; 32] {
        match self {
            Self::Miner(party) => schemas::digest(party.plan().schema()),
            Self::Owner(party) => schemas::digest(party.schema()),
        }
    }
}
