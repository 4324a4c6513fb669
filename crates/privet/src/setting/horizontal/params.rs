//! Parameters of the setting.

use crate::Error;
use crate::noisy::trees::{Splits, Trees};
use crate::parameters::{Parameters, named_values, parameters, plain_values, readable};

/// The most owners of one run: a miner takes part besides them.
pub const MOST_OWNERS: u32 = crate::party::MOST_PARTIES as u32 - 1;

parameters! {
    /// Private trees over the rows of several owners.
    pub struct Horizontal("horizontal") {
        /// How owners train together.
        protocol: Protocol = Protocol::Aggregated;
        /// How many owners may be absent, d: the run goes on without them. A tenth of all if not given.
        absent: Option<u32> = None, in 0..=MOST_OWNERS;
        /// How many owners may collude, k, the miner included: noise is made larger so that the rows of all others stay protected from
        /// them. A tenth of all, and at least one, if not given. For `protocol = "aggregated"`.
        colluding: Option<u32> = None, in 0..=MOST_OWNERS;
        /// Who gets the model.
        recipients: Recipients = Recipients::Everyone;
        /// How long the miner waits for an owner before it goes on without it, in seconds.
        patience: u32 = 600, in 1..=604_800;
        /// The trees: of all owners together, or of each owner where each trains its own.
        trees: Trees = Trees::default();
    } where Self::agree
}

readable! {
    Horizontal { protocol: Protocol, absent: Option<u32>, colluding: Option<u32>, recipients: Recipients, patience: u32, trees: Trees }
}

named_values! {
    /// How owners train together.
    pub enum Protocol {
        /// Every tree's sums are added up over all owners by a secure sum, with one noise that all owners make in shares.
        Aggregated = "aggregated",
        /// Each owner trains a private model of its own; the model is their average.
        Averaged = "averaged",
        /// One owner after another adds private trees of its own to those of the owners before it.
        Chain = "chain",
    }

    /// Who gets the model.
    pub enum Recipients {
        /// The miner and all owners.
        Everyone = "everyone",
        /// The miner alone.
        Miner = "miner",
    }
}

// Trees have a section of their own in a job.
plain_values! {
    Trees: |_, _| None, |_| None, |own: &Self, _| Parameters::settings(own);
}

impl Horizontal {
    fn agree(&self) -> Result<(), Error> {
        self.trees.check()?;
        if self.trees.splits == Some(Splits::NoisyGreedy) {
            return Err(Error::parameter(
                "splits",
                "splits = \"noisy-greedy\" needs all rows in one place to choose questions by their gain: write \"one-feature\", \"mixed\" or \
                 \"random\"",
            ));
        }
        if self.trees.balance.0 {
            return Err(Error::parameter(
                "balance",
                "balance = true is for other algorithms: trees learn from all rows. Remove it",
            ));
        }
        if self.trees.public_trees.is_some() {
            return Err(Error::parameter(
                "public_trees",
                "public_trees are for setting = \"central\": owners show each other no public columns. Remove it",
            ));
        }
        if self.protocol != Protocol::Aggregated && self.colluding.is_some() {
            return Err(Error::parameter(
                "colluding",
                "colluding is for protocol = \"aggregated\": here each owner's own noise protects its rows, however many others collude. \
                 Remove it",
            ));
        }
        if self.protocol == Protocol::Aggregated && self.recipients == Recipients::Miner {
            return Err(Error::parameter(
                "recipients",
                "recipients = \"miner\" is for other protocols: in \"aggregated\" every owner computes the model itself",
            ));
        }
        Ok(())
    }
}
