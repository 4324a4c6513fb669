//! Parameters of the setting.

use crate::Error;
use crate::noisy::trees::{Splits, Trees};
use crate::parameters::{NeededEpsilon, Parameters, named_values, parameters, plain_values, readable};

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
        /// How the model is judged on rows that no tree has learnt from, if it is.
        evaluation: Option<HeldOut> = None;
    } where Self::agree
}

parameters! {
    /// People whose rows are held out of training, and what noisy figures of the model on these rows cost.
    pub struct HeldOut("evaluation") {
        /// What the figures cost of each owner's budget, besides the trees.
        epsilon: NeededEpsilon = NeededEpsilon(None);
        /// How many of a hundred people are held out at each owner, by a secret coin for each person.
        held_out: u32 = 20, in 1..=90;
    } where Self::is_paid
}

readable! {
    Horizontal {
        protocol: Protocol, absent: Option<u32>, colluding: Option<u32>, recipients: Recipients, patience: u32, trees: Trees,
        evaluation: Option<HeldOut>,
    }
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

// Trees and the evaluation have sections of their own in a job.
plain_values! {
    Trees: |_, _| None, |_| None, |own: &Self, _| Parameters::settings(own);
    HeldOut: |_, _| None, |_| None, |own: &Self, _| Parameters::settings(own);
}

impl HeldOut {
    fn is_paid(&self) -> Result<(), Error> {
        self.epsilon.check("epsilon", "HeldOut")
    }
}

impl Horizontal {
    fn agree(&self) -> Result<(), Error> {
        self.trees.check()?;
        self.evaluation.as_ref().map_or(Ok(()), Parameters::check)?;
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
        if self.evaluation.is_some() && self.recipients == Recipients::Miner {
            return Err(Error::parameter(
                "recipients",
                "recipients = \"miner\" does not go with an evaluation: owners judge the model on their own held-out rows, so they must get it",
            ));
        }
        Ok(())
    }
}
