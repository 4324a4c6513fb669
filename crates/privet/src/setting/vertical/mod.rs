//! Parties with different columns of the same people: features are changed before they are sent, trees are trained on them.
//!
//! **Who takes part.** One *label holder*, who knows what is to be predicted and perhaps some columns; one or more *feature
//! holders*, who know other columns of the same people. They do not trust each other with rows, and nobody else takes part.
//!
//! **What happens.**
//!
//! ```text
//!  label holder                                              feature holder
//!  greeting: settings, offer of ids (masked)    ─────────►
//!                                               ◄─────────   answer (masked)                      alignment = "private"
//!  which rows are common to all                 ─────────►
//!                                                            pay, draw all rows once, keep
//!                                               ◄─────────   columns: ⌈log₂|D|⌉ bits a value, and what they mean
//!  trains; nothing goes back                                 is done
//! ```
//!
//! Every value of a feature holder's column is changed by itself, so that near values look alike
//! ([`ordered`](crate::privacy::mechanism::ordered)). It is drawn once, for all rows of the table, and kept by the ledger: whoever
//! asks again is told the same. What the values mean comes from the schema.
//!
//! **Who learns what.**
//!
//! | who | learns | how far |
//! | --- | --- | --- |
//! | the label holder | each feature holder's columns of the common rows, changed | a distance per value, the sum over columns for a row: printed |
//! | the label holder, by `alignment = "private"` | which of its people each feature holder knows, and how many rows that has | in full |
//! | a feature holder, likewise | which of its people all know, and how many rows the label holder has | in full |
//! | a feature holder, from training | nothing: it is told nothing about labels | |
//! | whoever sees the model, or asks it often | may learn about the label holder's rows and labels, unless `label_epsilon` is given and its own columns are public | no bound |
//!
//! **As published** (`protocol = "as_published"`). Feature holders send ranks in 32 bits; the label holder asks for the values on
//! both sides of its splits. That takes more bytes, and what is asked depends on labels. Ranks hide nothing: with more rows than slots
//! every slot occurs, and a rank is a slot.
//!
//! **Predictions.** A model asks about slots of public bins, so whoever has all columns of a row can use it on raw values. Where columns stay
//! apart, [`LabelHolder::predicting`] gathers them as in training: changed once, kept, and charged as another release; or
//! only the answers to the model's questions, by which the feature holder learns what the model asks about its columns, and so
//! something about labels. [`Plan::check_model`] says before anything is released whether a model can be given these columns.
//!
//! # Paper
//! OpBoost. Errata and figures in `docs/papers.md`, proofs in `docs/proofs/ordered.md` and `docs/proofs/alignment.md`.
//!
//! # Deviations
//! The default noise is clamped geometric, which spends exactly what it declares. ε is split over columns unless `budget` says
//! otherwise. Domains are declared. A value that is missing counts as the middle of its domain, unless the schema has a fill.
//! Label holders may be given noisy labels. Every column of a feature holder changes, whether its schema calls it private or not: what needs
//! no protection belongs in the label holder's table.

mod answering;
mod asking;
mod checkpoint;
mod columns;
mod desensitisation;
mod feature_holder;
mod joined;
mod kept;
mod label_holder;
mod meeting;
mod message;
mod own;
mod packed;
mod params;
mod plan;
mod predicting;
mod rehearsal;
mod release;
mod texts;

pub use columns::ColumnsPlan;
pub use desensitisation::{Budget, Categories, Desensitisation, Mechanism};
pub use feature_holder::FeatureHolder;
pub use kept::Earlier;
pub use label_holder::LabelHolder;
pub use message::{Meeting, Message, Ordinals, Question, Wanted};
pub use own::NoisyLabels;
pub use params::{Alignment, Protocol, Vertical};
pub use plan::{FeatureHolderPlan, LabelHolderPlan, Plan};
pub use release::Release;
pub use texts::Texts;

use sha2::{Digest, Sha256};

use crate::Error;
use crate::model::{Model, Predictions};
use crate::party::{Context, PartyEvent, PartyId, Role, TurnOutcome};
use crate::privacy::Certificate;

/// The label holder's number in every agreement; all others are feature holders.
pub const LABEL_HOLDER: PartyId = PartyId(0);

/// One of the parties.
pub enum Party {
    /// The one with the labels.
    LabelHolder(LabelHolder),
    /// One with columns.
    FeatureHolder(FeatureHolder),
}

/// What a party took part for.
#[derive(Debug)]
pub enum Outcome {
    /// The label holder has a model.
    Trained {
        /// The model.
        model: Box<Model>,
        /// How many rows all parties have in common.
        rows: usize,
    },
    /// The label holder knows what its model says of the rows that all parties have.
    Predicted {
        /// Their numbers in the label holder's table, which rise.
        rows: Vec<usize>,
        /// What the model says of them, in this order.
        predictions: Box<Predictions>,
    },
    /// The feature holder has sent its columns, under this promise.
    Contributed(Box<Certificate>),
}

impl Outcome {
    /// The model, if one was trained.
    pub fn into_model(self) -> Option<Model> {
        match self {
            Self::Trained { model, .. } => Some(*model),
            _ => None,
        }
    }
}

impl Party {
    /// Whether it waits, or will wait, for a message of another party.
    fn needs(&self, party: PartyId) -> bool {
        match self {
            Self::LabelHolder(own) => own.needs(party),
            Self::FeatureHolder(_) => party == LABEL_HOLDER,
        }
    }
}

impl Role for Party {
    type Message = Message;
    type Output = Outcome;

    fn start(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::LabelHolder(party) => party.start(context),
            Self::FeatureHolder(_) => Ok(TurnOutcome::Continue(self)),
        }
    }

    fn handle(
        self,
        event: PartyEvent<Message>,
        context: &mut Context<'_, Message>,
    ) -> Result<TurnOutcome<Self>, Error> {
        if let PartyEvent::Gone(party) = event
            && !self.needs(party)
        {
            return Ok(TurnOutcome::Continue(self));
        }
        // Every party has columns or labels that nobody else has: one that is gone too early ends the run.
        let (from, message) = event.message(context)?;
        match self {
            Self::LabelHolder(party) => party.handle(from, message, context),
            Self::FeatureHolder(party) => party.handle(from, message, context),
        }
    }

    fn resume(self, context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::LabelHolder(party) => party.resume(context),
            Self::FeatureHolder(_) => Err(Error::internal("a feature holder has no long work")),
        }
    }

    fn waits_for(&self) -> Vec<PartyId> {
        match self {
            Self::LabelHolder(party) => party.waits_for(),
            Self::FeatureHolder(_) => vec![LABEL_HOLDER],
        }
    }

    fn restore(self, state: &[u8], context: &mut Context<'_, Message>) -> Result<TurnOutcome<Self>, Error> {
        match self {
            Self::LabelHolder(party) => party.restore(state, context),
            Self::FeatureHolder(party) => party.restore(state, context),
        }
    }

    /// The schema. The library does not look at rows for this; whoever stores the record knows them by a keyed fingerprint.
    fn brings(&self) -> [u8; 32] {
        let schema = match self {
            Self::LabelHolder(party) => party.schema(),
            Self::FeatureHolder(party) => party.schema(),
        };
        schema.map_or([0; 32], |schema| Sha256::digest(schema.to_toml()).into())
    }

    fn most_bytes(&self, from: PartyId) -> Option<u64> {
        match self {
            Self::LabelHolder(party) => party.most_bytes(from),
            Self::FeatureHolder(party) => (from == LABEL_HOLDER).then(|| party.most_bytes()),
        }
    }
}
