//! What a ledger writes down: events in a hash chain.
//!
//! Entry `n` carries the SHA-256 of its own text and of entry `n − 1`'s hash, so a model that carries the chain's
//! [`Head`] proves what had been spent when it was made: a ledger that was rolled back or cut short does not contain that
//! head any more. Nothing in the chain depends on the rows: names, relations, prices and public counts only.

mod storage;

use std::fmt;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::account::{Caps, Price};
use super::mechanism::ordered::{Distance, Loss};
use super::run::Promise;
use super::texts::shown;
use super::{Delta, Epsilon, Randomness, Relation, Sharing, getters};
use crate::Error;
use crate::error::JournalFault;
pub use storage::{Addition, Decide, Journal, KeptValue, Volatile};

/// A change to a data set's budget. No event lowers the amount spent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Event {
    /// The first entry: a random name for this chain, so that heads of different ledgers never meet.
    Begin {
        /// 32 random bytes in hexadecimal.
        ledger: String,
    },
    /// The caps of a data set under one relation are set or changed.
    Limit {
        /// The data set's name in the schema.
        dataset: String,
        /// Who is protected.
        relation: Relation,
        /// The box of caps.
        caps: Caps,
        /// The δ at which the implied ε is stated.
        delta: Delta,
    },
    /// A price was paid. What is reserved is spent, whether or not it was drawn.
    Spend {
        /// The data set's name in the schema.
        dataset: String,
        /// Who is protected.
        relation: Relation,
        /// What it was for.
        what: String,
        /// What it cost.
        price: Price,
        /// How many draws it bought, at most.
        draws: u64,
        /// Assumptions of the price, besides its proof; usually none.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        assuming: Vec<String>,
        /// The run that it was for, by a random name. Entries that were written before runs had names have none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
        /// What the run promised: stands in its first payment, before anything was drawn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        promise: Option<Promise>,
        /// Whether the price also holds when a unit is added or removed, where the relation is that one is replaced.
        #[serde(default, skip_serializing_if = "is_false")]
        added: bool,
        /// Whether each draw is stored with the ledger before it is given: a later [`Kept`](Event::Kept) says which were.
        #[serde(default, skip_serializing_if = "is_false")]
        stored: bool,
        /// The owners of joint sums, if it paid for shares of noise in such sums: the price holds under what is assumed of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sharing: Option<Sharing>,
        /// Into how many portions units are cut, by a coin of each, if draws are about one portion each: the price is that of the draws
        /// about any one of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        portions: Option<NonZeroU32>,
    },
    /// One message of the local setting was paid for. It is drawn once for its campaign, and stored with the ledger before it is sent: a
    /// later [`Kept`](Event::Kept) says that it was.
    Contribute {
        /// The name of what the owner has.
        dataset: String,
        /// The campaign's name, for people.
        what: String,
        /// SHA-256 of the campaign's file in hexadecimal.
        campaign: String,
        /// The mechanism and its parameters.
        mechanism: String,
        /// The ε of the whole message, when everything about the owner is replaced.
        epsilon: Epsilon,
        /// Where that is proved.
        proof: String,
        /// The series of campaigns that it is a round of: one of them is answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        series: Option<String>,
        /// The run: each message is one of its own, by a random name.
        run: String,
    },
    /// Columns were released desensitised. Their loss depends on distance, so no cap is charged; each column only once.
    Desensitise {
        /// The data set's name in the schema.
        dataset: String,
        /// Who is protected.
        relation: Relation,
        /// What it was for.
        what: String,
        /// The privacy loss of each column, by distance.
        columns: Vec<Distance>,
        /// The privacy loss between two rows: the sum over these columns.
        record: Loss,
        /// The run that it was for, by a name that only its owner gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
        /// Whether the values are stored with the ledger: a later [`Kept`](Event::Kept) says that they were, and without one nobody
        /// has seen them. Entries that were written before values were stored with the ledger do not have this.
        #[serde(default, skip_serializing_if = "is_false")]
        stored: bool,
    },
    /// Columns that were paid for, and neither kept nor shown, were drawn once more under the old entry.
    Redraw {
        /// The data set's name in the schema.
        dataset: String,
        /// The run.
        run: String,
        /// What the old entry was for.
        what: String,
    },
    /// A released value was stored with the ledger, in one transaction with this entry. Only now may it be shown.
    Kept {
        /// The data set's name in the entry that paid for it.
        dataset: String,
        /// The run that paid for it.
        run: String,
        /// What that entry was for.
        what: String,
        /// Which draw of a reservation it is, if a reservation was paid for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        draw: Option<String>,
        /// What that draw costs of the reservation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        price: Option<Price>,
        /// Which portion of the units it is about, if the reservation is for portions.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        portion: Option<u32>,
        /// A hash of the value and of what it is bound to, with a key that stays with the ledger's owner.
        digest: String,
    },
    /// A private value entered a joint computation with this leakage.
    Leak {
        /// The data set's name in the schema.
        dataset: String,
        /// What the other side learns.
        what: String,
        /// Who learns it.
        to: String,
        /// How many items of it.
        count: u64,
        /// Where the leakage is argued.
        proof: String,
        /// The run that it was for, by a name that only its owner gave.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
        /// Whose rows the run is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        relation: Option<Relation>,
    },
    /// The data set was used without protection: its total is void from here on.
    Void {
        /// The data set's name in the schema.
        dataset: String,
        /// Why.
        because: String,
        /// The void run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run: Option<String>,
        /// Whom it would have protected.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        relation: Option<Relation>,
    },
    /// One table under two names: the new name shares the old one's budget from now on.
    Adopt {
        /// The new name.
        dataset: String,
        /// The name whose budget it shares.
        of: String,
    },
}

impl Event {
    /// All names and descriptions in it.
    pub(super) fn texts(&self) -> Vec<&str> {
        match self {
            Self::Begin { ledger } => vec![ledger],
            Self::Limit {
                dataset, relation, ..
            } => [vec![dataset.as_str()], relation.columns()].concat(),
            Self::Spend {
                dataset,
                relation,
                what,
                assuming,
                run,
                ..
            } => {
                let assuming = assuming.iter().chain(run).map(String::as_str).collect();
                [vec![dataset.as_str(), what], relation.columns(), assuming].concat()
            }
            Self::Desensitise {
                dataset,
                relation,
                what,
                columns,
                run,
                ..
            } => {
                let columns = columns.iter().flat_map(|c| [&c.column, &c.mechanism, &c.proof]);
                let columns = columns.chain(run).map(String::as_str).collect();
                [vec![dataset.as_str(), what], relation.columns(), columns].concat()
            }
            Self::Contribute {
                dataset,
                what,
                campaign,
                mechanism,
                proof,
                series,
                run,
                ..
            } => {
                let series = series.iter().map(String::as_str).collect();
                [
                    vec![dataset.as_str(), what, campaign, mechanism, proof, run],
                    series,
                ]
                .concat()
            }
            Self::Redraw { dataset, run, what } => vec![dataset, run, what],
            Self::Kept {
                dataset,
                run,
                what,
                draw,
                digest,
                ..
            } => {
                let draw = draw.iter().map(String::as_str).collect();
                [vec![dataset.as_str(), run, what, digest], draw].concat()
            }
            Self::Leak {
                dataset,
                what,
                to,
                proof,
                run,
                relation,
                ..
            } => {
                let texts = vec![dataset.as_str(), what, to, proof];
                [texts, of_run(run.as_deref(), relation.as_ref())].concat()
            }
            Self::Void {
                dataset,
                because,
                run,
                relation,
            } => {
                let texts = vec![dataset.as_str(), because];
                [texts, of_run(run.as_deref(), relation.as_ref())].concat()
            }
            Self::Adopt { dataset, of } => vec![dataset, of],
        }
    }
}

fn of_run<'a>(run: Option<&'a str>, relation: Option<&'a Relation>) -> Vec<&'a str> {
    let columns = relation.map(Relation::columns).unwrap_or_default();
    run.into_iter().chain(columns).collect()
}

/// A place in a chain: how many entries there are, and the hash of the last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// How many entries the chain has.
    pub entries: u64,
    /// SHA-256 of the last entry in hexadecimal; empty before the first.
    pub hash: String,
}

impl Head {
    /// The head of a chain without entries.
    pub fn empty() -> Self {
        Self {
            entries: 0,
            hash: String::new(),
        }
    }
}

impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entry {} ({})", self.entries, shown(&self.hash))
    }
}

/// One link of the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    text: String,
    hash: String,
    body: Body,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    number: u64,
    /// 16 random bytes: a ledger that is rolled back and then repeats the same events ends in another head.
    nonce: String,
    /// Seconds since 1970, where the journal has a clock.
    at: Option<u64>,
    event: Event,
}

impl Entry {
    /// The entry that follows `head`.
    ///
    /// # Errors
    /// [`Error::Randomness`] if the operating system provides none.
    pub fn after(head: &Head, at: Option<u64>, event: Event) -> Result<Self, Error> {
        let number = head
            .entries
            .checked_add(1)
            .ok_or_else(|| Error::journal(JournalFault::Full, "the ledger is full"))?;
        let body = Body {
            number,
            nonce: random_name::<16>()?,
            at,
            event,
        };
        let text = serde_json::to_string(&body).map_err(|e| {
            Error::journal(JournalFault::Storage, format!("the entry cannot be written: {e}"))
        })?;
        let hash = chained(&head.hash, &text);
        Ok(Self { text, hash, body })
    }

    /// Reads an entry back from its stored text and hash; [`Entry::follows`] checks the hash.
    ///
    /// # Errors
    /// [`Error::Journal`] if the text is not exactly what this version would write.
    pub fn parse(text: String, hash: String) -> Result<Self, Error> {
        let unreadable = |e| {
            Error::journal(
                JournalFault::Damaged,
                format!("this is not an entry of a ledger that this version can read: {e}"),
            )
        };
        let body: Body = serde_json::from_str(&text).map_err(unreadable)?;
        if body.nonce.len() != 32 || !body.nonce.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Error::journal(
                JournalFault::Damaged,
                "this entry has no nonce of 16 bytes",
            ));
        }
        // One text for one entry: what a lenient reader would take for the same is refused.
        if serde_json::to_string(&body).map_err(unreadable)? != text {
            return Err(Error::journal(
                JournalFault::Damaged,
                "this entry is not written the way a ledger writes",
            ));
        }
        Ok(Self { text, hash, body })
    }

    /// Whether the entry is the one that was written after `head`.
    pub fn follows(&self, head: &Head) -> bool {
        head.entries.checked_add(1) == Some(self.body.number) && self.hash == chained(&head.hash, &self.text)
    }

    /// Refuses an entry that does not follow the journal's head.
    ///
    /// # Errors
    /// [`Error::Journal`] if it does not.
    pub fn check_follows(&self, head: &Head) -> Result<(), Error> {
        if self.follows(head) {
            return Ok(());
        }
        let why = format!(
            "the ledger has moved on to entry {} since it was opened: somebody else wrote to it. Open it again.",
            head.entries
        );
        Err(Error::journal(JournalFault::MovedOn, why))
    }

    /// The chain's head once this entry is in it.
    pub fn head(&self) -> Head {
        Head {
            entries: self.body.number,
            hash: self.hash.clone(),
        }
    }

    getters! {
        /// What happened.
        pub event(&body.event) -> &Event;
        /// Its place in the chain, from 1.
        pub number(body.number) -> u64;
        /// When it was written, in seconds since 1970.
        pub at(body.at) -> Option<u64>;
        /// The text that is stored and hashed: one line of JSON.
        pub text(&text) -> &str;
        /// SHA-256 of the previous hash, a line break, and the text.
        pub hash(&hash) -> &str;
    }
}

/// `false` is not written, so that old entries keep their bytes.
fn is_false(flag: &bool) -> bool {
    !flag
}

fn chained(previous: &str, text: &str) -> String {
    let mut hasher = Sha256::new();
    hasher.update(previous);
    hasher.update("\n");
    hasher.update(text);
    hexadecimal(&hasher.finalize())
}

/// A random name of `N` bytes in hexadecimal.
pub(crate) fn random_name<const N: usize>() -> Result<String, Error> {
    let mut name = [0; N];
    Randomness::from_os()?.fill(&mut name);
    Ok(hexadecimal(&name))
}

/// Bytes as text.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)])
        .collect()
}
