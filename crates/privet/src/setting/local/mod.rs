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
//!
//! # Paper
//! LocalBoost. As published, labels are sent in the clear and weights show in the range of a message, so that no ε holds; here both are
//! part of what the whole message is drawn for. What tokens do: they stop a message that is sent twice from being counted twice. What they
//! do not do: stop somebody who makes up owners.

mod campaign;
mod collected;
mod collector;
pub mod encoding;
mod owner;
mod register;
mod submission;
#[cfg(test)]
mod tests;

pub use campaign::{Campaign, CampaignDraft, Message, Round};
pub use collected::{Collected, Input, Refusal, Refused, Share};
pub use collector::Collector;
pub use encoding::Encoding;
pub use owner::{Contributed, DataOwner};
pub use submission::{BadSubmission, LONGEST_SUBMISSION, Submission};
