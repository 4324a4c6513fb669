//! The local setting: millions of owners, of whom each sends one locally private message to a data user whom nobody trusts.
//!
//! A data user publishes a [`Campaign`]: a file that says what is asked, by which mechanism and under which ε. Each [`DataOwner`] answers it
//! once: its ledger pays, draws the message, stores it, and gives the same bytes whenever they are asked for. A [`Submission`] is what is
//! sent: a frame of fixed length, at most 96 bytes.
//!
//! | file | what it holds |
//! | --- | --- |
//! | `campaign` | a campaign's file, checked and resolved |
//! | `encoding` | how an owner's rows become what is sent |
//! | `owner` | how an owner answers |
//! | `collector`, `register` | counts messages, each token once |
//! | `collected` | sums of messages, and how those of several collectors are added |
//! | `submission` | what is sent, and how it is read |
//! | `params`, `plan`, `course`, `answer` | what is learnt: parameters, the plan, and a course of campaigns in which each question follows from the answers |
//! | `once`, `sgd`, `samme` | the algorithms: one collection; gradient steps; boosting over rounds |
//! | `solving`, `bayes`, `whitening` | boosting for free on collected means, naive Bayes, principal axes |
//! | `own` | the data user's own rows, which nothing protects |
//! | `shuffled` | what an honest shuffler would add |
//! | `rehearsal` | owners in one process, for simulations |
//!
//! # Paper
//! LocalBoost. As published, labels are sent in the clear and weights show in the range of a message, so that no ε holds; here both are
//! part of what the whole message is drawn for. What tokens do: they stop a message that is sent twice from being counted twice. What they
//! do not do: stop somebody who makes up owners.

mod answer;
mod bayes;
mod campaign;
mod collected;
mod collector;
mod course;
pub mod encoding;
mod once;
mod own;
mod owner;
mod params;
mod plan;
mod register;
mod rehearsal;
mod samme;
mod sgd;
mod shuffled;
mod solving;
mod submission;
#[cfg(test)]
mod tests;
mod whitening;

pub use answer::Answer;
pub use campaign::{Campaign, CampaignDraft, Message, Round};
pub use collected::{Collected, Input, Refusal, Refused, Share};
pub use collector::Collector;
pub use course::{Algorithm, Learnt, Next, Task};
pub use encoding::Encoding;
pub use own::OwnRows;
pub use owner::{Contributed, DataOwner};
pub use params::{
    AlphaSource, Auto, CollectOnce, GramSource, LdpSgd, OnceLearner, Samme, VectorMessage, WeakLearner, read,
    reference,
};
pub use plan::{Plan, owners_help};
pub use rehearsal::{Crowd, Dealing, Voice};
pub use submission::{BadSubmission, LONGEST_SUBMISSION, Submission};
