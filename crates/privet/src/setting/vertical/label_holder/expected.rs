//! What a label holder waits for.

use super::{Goal, LabelHolder, Run, Stage};
use crate::data::Schema;
use crate::data::schema::MOST_SLOTS_OF_PEER;
use crate::party::PartyId;
use crate::setting::vertical::Protocol;
use crate::wire::MOST_BYTES;

/// Settings, a schema and a certificate take at most so many bytes.
const TEXTS: u64 = 1 << 24;

impl LabelHolder {
    /// The schema of its table, before the first message.
    pub(in crate::setting::vertical) fn schema(&self) -> Option<&Schema> {
        match &self.0 {
            Stage::Ready(ready) => Some(ready.table.schema()),
            _ => None,
        }
    }

    /// Whether it waits, or will wait, for a message of this party.
    pub(in crate::setting::vertical) fn needs(&self, party: PartyId) -> bool {
        match &self.0 {
            Stage::ExpectColumns(expecting) if expecting.run.plan.vertical.protocol == Protocol::Columns => {
                expecting.asked.contains_key(&party)
            }
            Stage::ExpectThresholds(expecting, _) => expecting.asked.contains_key(&party),
            _ => true,
        }
    }

    /// The most bytes of a message of this party, if one is expected.
    pub(in crate::setting::vertical) fn most_bytes(&self, from: PartyId) -> Option<u64> {
        match &self.0 {
            Stage::Ready(_) | Stage::Training(_) => None,
            Stage::ExpectAnswers(expecting) => {
                // A point of 32 bytes for each of its ids, a tag of 16 for each of ours.
                let most = expecting.run.plan.vertical.most_ids.unwrap_or(0);
                expecting.asked.get(&from).map(|_| 48 * most + 1024)
            }
            Stage::ExpectColumns(expecting) => expecting
                .asked
                .get(&from)
                .map(|()| expecting.run.most_bytes(from)),
            Stage::ExpectThresholds(expecting, ranked) => {
                expecting.asked.get(&from).map(|()| ranked.most_bytes())
            }
        }
    }

    pub(in crate::setting::vertical) fn waits_for(&self) -> Vec<PartyId> {
        match &self.0 {
            Stage::Ready(_) | Stage::Training(_) => Vec::new(),
            Stage::ExpectAnswers(expecting) => expecting.asked.keys().copied().collect(),
            Stage::ExpectColumns(expecting) => expecting.asked.keys().copied().collect(),
            Stage::ExpectThresholds(expecting, _) => expecting.asked.keys().copied().collect(),
        }
    }
}

impl Run {
    /// The most bytes that a feature holder sends: for each common row the answers to what it was asked, or values of its columns. How many columns
    /// it has is not known here, but how many slots they have at most.
    fn most_bytes(&self, from: PartyId) -> u64 {
        let rows = self.rows.len() as u64;
        let values = match &self.goal {
            Goal::Predict { branches: true, .. } => {
                let asked = self.questions.get(&from).map_or(0, Vec::len) as u64;
                asked * (8 + rows.div_ceil(8))
            }
            // A column has at least two slots. Its values take at most a byte for each of these in a row, or two where they are ranks.
            _ => MOST_SLOTS_OF_PEER as u64 * (2 * rows + 16),
        };
        (TEXTS + values).min(MOST_BYTES as u64)
    }
}
