//! Released values that are stored with a ledger: what they are bound to, and how the ledger's entry knows them again.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::journal::KeptValue;

/// What a kept value is bound to: names with their values. They are compared whenever the value is used again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Binding(Vec<(String, String)>);

impl Binding {
    /// Also bound to this.
    pub(crate) fn with(mut self, name: &str, value: impl Into<String>) -> Self {
        self.0.push((name.into(), value.into()));
        self
    }

    /// What it says under a name.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| other == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Whether both say something under a name, and not the same.
    pub(crate) fn contradicts(&self, other: &Self, name: &str) -> bool {
        matches!((self.get(name), other.get(name)), (Some(one), Some(other)) if one != other)
    }

    pub(in crate::privacy) fn to_text(&self) -> String {
        // Unwrap safety: pairs of texts always serialise.
        serde_json::to_string(self).expect("pairs of texts are plain data")
    }

    pub(in crate::privacy) fn from_text(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }
}

/// Which value a ledger has kept: the data set, run and purpose of the entry that paid for it, and which draw of a reservation.
#[derive(Debug, Clone, Copy)]
pub struct KeptName<'a> {
    /// The data set's name in that entry.
    pub dataset: &'a str,
    /// The run.
    pub run: &'a str,
    /// What the entry was for.
    pub what: &'a str,
    /// The draw, if a reservation was paid for.
    pub draw: Option<&'a str>,
}

impl KeptName<'_> {
    /// The hash of a value under this name and of what it is bound to. [`Journal::seal`](super::journal::Journal::seal) of it is the
    /// digest in the ledger's entry.
    pub fn hash(&self, kept: &KeptValue) -> [u8; 32] {
        let mut hash = Sha256::new_with_prefix(b"privet kept value 1\0");
        hash.update([u8::from(self.draw.is_some())]);
        let name = [self.dataset, self.run, self.what, self.draw.unwrap_or_default()];
        let parts = name.iter().map(|text| text.as_bytes());
        for part in parts.chain([kept.about.as_bytes(), &kept.value]) {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}
