//! Which owners take part, and which of them are there.

use std::collections::BTreeSet;

use crate::Error;
use crate::error::PeerError;
use crate::party::{Context, PartyId};
use crate::setting::horizontal::message::Message;
use crate::setting::horizontal::plan::Plan;

/// Which owners take part, and which of them are there.
#[derive(Debug, Clone)]
pub(super) struct Attendance {
    all: BTreeSet<PartyId>,
    gone: BTreeSet<PartyId>,
    /// Owners that broke the rules: nothing more is taken from them.
    excluded: BTreeSet<PartyId>,
    /// How many must be there.
    least: usize,
}

impl Attendance {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            all: (1..=plan.owners().len() as u16).map(PartyId).collect(),
            gone: BTreeSet::new(),
            excluded: BTreeSet::new(),
            least: plan.least(),
        }
    }

    /// Only these owners take part: the others came too late.
    pub(super) fn only(&mut self, owners: impl Iterator<Item = PartyId>) {
        self.all = owners.collect();
    }

    pub(super) fn is_here(&mut self, party: PartyId) {
        self.gone.remove(&party);
    }

    pub(super) fn is_gone(&mut self, party: PartyId) {
        self.gone.insert(party);
    }

    pub(super) fn exclude(&mut self, party: PartyId) {
        self.excluded.insert(party);
    }

    pub(super) fn is_excluded(&self, party: PartyId) -> bool {
        self.excluded.contains(&party)
    }

    /// Whether an owner takes part and is there.
    pub(super) fn has(&self, party: PartyId) -> bool {
        self.all.contains(&party) && !self.gone.contains(&party) && !self.excluded.contains(&party)
    }

    /// Whether an owner takes part, there or not.
    pub(super) fn takes_part(&self, party: PartyId) -> bool {
        self.all.contains(&party) && !self.excluded.contains(&party)
    }

    /// The owners that are there.
    pub(super) fn here(&self) -> Vec<PartyId> {
        self.missing(|_| false)
    }

    /// The owners that are there and of whom something is missing.
    pub(super) fn missing(&self, came: impl Fn(PartyId) -> bool) -> Vec<PartyId> {
        let all = self.all.iter().copied();
        all.filter(|party| self.has(*party) && !came(*party)).collect()
    }

    /// Whether anything is missing of an owner that is there. Asked after every message.
    pub(super) fn misses(&self, came: impl Fn(PartyId) -> bool) -> bool {
        self.all.iter().any(|party| !came(*party) && self.has(*party))
    }

    /// Owners that take part, that are gone, and that are excluded.
    pub(super) fn saved(&self) -> [Vec<PartyId>; 3] {
        [&self.all, &self.gone, &self.excluded].map(|owners| owners.iter().copied().collect())
    }

    pub(super) fn restore(&mut self, [all, gone, excluded]: [Vec<PartyId>; 3]) {
        self.all = all.into_iter().collect();
        self.gone = gone.into_iter().collect();
        self.excluded = excluded.into_iter().collect();
    }

    /// That the owners of whom something came are enough to go on with.
    ///
    /// # Errors
    /// [`Error::Peer`] that names the others.
    pub(super) fn check(
        &self,
        came: &BTreeSet<PartyId>,
        context: &Context<'_, Message>,
    ) -> Result<(), Error> {
        if came.len() >= self.least {
            return Ok(());
        }
        let owners = context.agreement().parties().skip(1);
        let absent = owners.filter(|party| !came.contains(party));
        Err(Error::Peer(PeerError {
            parties: absent.map(|party| context.name(party).to_owned()).collect(),
            what: format!("too many owners are absent: {} must be there", self.least),
        }))
    }
}
