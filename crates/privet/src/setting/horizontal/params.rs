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
        /// How often a chain goes round. Each round is about units of its own: about half of them are in the first, half of those that remain
        /// in the next and so on. For `protocol = "chain"`.
        rounds: u32 = 1, in 1..=16;
        /// How many turns owners of a chain have together, at most: only whole rounds are begun. As many as the rounds need if not given.
        turns: Option<u32> = None, in 1..=1_000_000;
        /// A chain ends after a round by which accuracy has risen by less than this, from the second round on; for numbers, by which the mean absolute
        /// error has fallen by less than this share of the size that errors are clipped to. The measurements are paid for. If not given, all rounds are
        /// made.
        advance: Option<f64> = None, in 0.0..=1.0;
        /// An owner's trees are left out if accuracy falls by more than this with them, or the mean absolute error of numbers rises by more than this
        /// share, measured on other units of that owner. The measurement is paid for. If not given, no trees are left out.
        quality: Option<f64> = None, in 0.0..=1.0;
        /// Whether an owner's trees go to all who still wait in its round, who apply them to their rows meanwhile; else the next owner is sent all
        /// trees when its turn comes.
        broadcast: bool = false;
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
        protocol: Protocol, absent: Option<u32>, colluding: Option<u32>, rounds: u32, turns: Option<u32>, advance: Option<f64>,
        quality: Option<f64>, broadcast: bool, recipients: Recipients, patience: u32, trees: Trees, evaluation: Option<HeldOut>,
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
    /// Whether some of each owner's units judge.
    pub(super) fn judges(&self) -> bool {
        self.advance.is_some() || self.quality.is_some()
    }

    /// Whether a chain is more than one round that sends trees to the next owner.
    pub(super) fn names_rounds(&self) -> bool {
        self.rounds > 1 || self.judges() || self.broadcast
    }

    fn check_chain(&self) -> Result<(), Error> {
        let given = [
            ("rounds", self.rounds > 1),
            ("turns", self.turns.is_some()),
            ("advance", self.advance.is_some()),
            ("quality", self.quality.is_some()),
            ("broadcast", self.broadcast),
        ];
        let given = given.into_iter().find(|(_, given)| *given);
        if let (Some((name, _)), true) = (given, self.protocol != Protocol::Chain) {
            let why =
                format!("{name} is for protocol = \"chain\", where one owner comes after another. Remove it");
            return Err(Error::parameter(name, why));
        }
        if self.advance.is_some() && self.rounds < 3 {
            return Err(Error::parameter(
                "advance",
                "advance decides from the second round on whether there is another: write rounds = 3 or more, such as rounds = 5",
            ));
        }
        Ok(())
    }

    fn agree(&self) -> Result<(), Error> {
        self.trees.check()?;
        self.evaluation.as_ref().map_or(Ok(()), Parameters::check)?;
        if self.trees.splits == Some(Splits::NoisyGreedy) && self.protocol == Protocol::Aggregated {
            return Err(Error::parameter(
                "splits",
                "splits = \"noisy-greedy\" needs all rows of a tree in one place to choose questions by their gain: write \"one-feature\", \
                 \"mixed\", \"pairs\" or \"random\", or protocol = \"averaged\" or \"chain\", where a tree is one owner's",
            ));
        }
        self.check_chain()?;
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
        if self.protocol != Protocol::Aggregated && self.trees.label_transform.is_some() {
            return Err(Error::parameter(
                "label_transform",
                "label_transform is for protocol = \"aggregated\", where all owners grow one model: remove it",
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
