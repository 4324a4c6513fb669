//! What both parties will do, fixed before the first row is looked at. Only a plan makes a role.

use std::ops::Range;
use std::sync::Arc;

use privet_mpc::circuit::Argmin;
use sha2::{Digest, Sha256};

use super::grid::Merging;
use super::joint::{self, Shown};
use super::side::constant;
use super::voter::{Voter, VotingTree};
use super::{AttributeChoice, Classifier, CutPlaces, INITIATOR, Secure};
use crate::Error;
use crate::boost::{Alpha, TOTAL};
use crate::data::schema::{Label, Schema};
use crate::data::{Intake, Keep};
use crate::learner::{Call, Learner, Shape, StumpRule};
use crate::parameters::Parameters;
use crate::party::{Agreement, Edges, Limits, Member, Terms};
use crate::privacy::signature::PublicKey;
use crate::privacy::{Coins, Relation, getters};
use crate::wire::{RunId, Writer};

/// The most attributes of a schema.
pub const MOST_ATTRIBUTES: usize = 4096;

/// What both parties will do. A copy is cheap.
#[derive(Debug, Clone)]
pub struct Plan(Arc<Fixed>);

#[derive(Debug)]
struct Fixed {
    secure: Secure,
    schema: Arc<Schema>,
    parties: u16,
    outputs: usize,
    relation: Relation,
    shapes: Vec<Shape>,
    merging: Vec<Merging>,
}

impl Secure {
    /// What two parties will do with rows of this schema.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the parameter that does not fit.
    pub fn plan(&self, schema: &Schema) -> Result<Plan, Error> {
        self.plan_for(2, schema)
    }

    /// What so many parties will do with rows of this schema.
    ///
    /// # Errors
    /// As [`plan`](Self::plan); and if so many cannot do this.
    pub fn plan_for(&self, parties: u16, schema: &Schema) -> Result<Plan, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        self.check()?;
        self.agree_for(parties)?;
        schema.has_features()?;
        schema.has_no_weights("setting = \"secure\"")?;
        let classes = match schema.label() {
            Some((_, Label::Classes(declared))) => declared.values().len(),
            _ => 0,
        };
        let outputs = match classes {
            0 | 1 => {
                return Err(Error::parameter(
                    "schema",
                    "setting = \"secure\" needs a label of two classes or more, such as outcome = { type = \"label\", values = [\"no\", \"yes\"] }",
                ));
            }
            2 => 1,
            more => more,
        };
        let schema = Arc::new(schema.clone());
        let shapes = Shape::of(&schema);
        if shapes.len() > MOST_ATTRIBUTES {
            let why = format!(
                "the schema has {} features, and {MOST_ATTRIBUTES} are possible",
                shapes.len()
            );
            return Err(Error::parameter("schema", why));
        }
        let most = usize::from(self.bins);
        let plan = Plan(Arc::new(Fixed {
            secure: self.clone(),
            parties,
            outputs,
            relation: match schema.relation() {
                // Nothing is private; a ledger is kept all the same.
                Relation::ReplacePrivate { rows, unit, columns } if columns.is_empty() => {
                    Relation::Replace { rows, unit }
                }
                relation => relation,
            },
            merging: shapes.iter().map(|shape| Merging::new(*shape, most)).collect(),
            shapes,
            schema,
        }));
        plan.is_small()?;
        plan.is_short()?;
        Ok(plan)
    }
}

impl Plan {
    getters! {
        /// The parameters.
        pub secure(&0.secure) -> &Secure;
        /// The schema that tables are read with.
        pub schema(&0.schema) -> &Arc<Schema>;
        /// Whose rows each ledger is about.
        pub relation(&0.relation) -> &Relation;
        /// How many parties there are.
        pub parties(0.parties) -> u16;
        /// How many scores the model has: one for two classes, else one for each class, which is told from all others in rounds of its own.
        pub outputs(0.outputs) -> usize;
        pub(super) shapes(&0.shapes) -> &[Shape];
        pub(super) merging(&0.merging) -> &[Merging];
    }

    /// The rounds of all classes together, at most.
    pub fn all_rounds(&self) -> u64 {
        u64::from(self.secure().rounds) * self.outputs() as u64
    }

    /// How often it is asked whether a class needs more rounds, at most: after each of its rounds but the last.
    pub(super) fn all_stops(&self) -> u64 {
        match self.secure().stop_at {
            Some(_) => u64::from(self.secure().rounds - 1) * self.outputs() as u64,
            None => 0,
        }
    }

    /// Tries of rounds, at most: where opposite stumps are tried again, each group of attributes may be tried in each round.
    pub(super) fn all_tries(&self) -> u64 {
        match self.secure().retry {
            true => self.all_rounds().saturating_mul(self.groups() as u64),
            false => self.all_rounds(),
        }
    }

    /// Circuits of one rendezvous, at most.
    pub(super) fn halvings(&self) -> u64 {
        match self.secure().attribute {
            AttributeChoice::Seed | AttributeChoice::All => 0,
            AttributeChoice::Rendezvous => 1,
            AttributeChoice::RendezvousByHalves => {
                u64::from(self.groups().max(1).next_power_of_two().ilog2()) + 1
            }
        }
    }

    /// That circuits can be numbered: no number serves twice.
    fn is_short(&self) -> Result<(), Error> {
        let meetings = self.all_tries().saturating_mul(self.halvings());
        // A search and a comparison in each round.
        let most = meetings
            .saturating_add(2 * self.all_rounds())
            .saturating_add(self.all_stops());
        if most < u64::from(u32::MAX) {
            return Ok(());
        }
        Err(Error::parameter(
            "rounds",
            format!(
                "rounds = {} for each of {} classes may need {most} joint computations, and {} are possible: write fewer rounds, or retry = false",
                self.secure().rounds,
                self.outputs(),
                u32::MAX - 1
            ),
        ))
    }

    /// How many attributes there are.
    pub fn attributes(&self) -> usize {
        self.0.shapes.len()
    }

    /// How many groups of attributes there are to choose from.
    pub fn groups(&self) -> usize {
        self.attributes().div_ceil(self.secure().group.into())
    }

    /// The attributes of a group.
    pub(super) fn group(&self, group: usize) -> Range<usize> {
        let each = usize::from(self.secure().group);
        let begin = (group * each).min(self.attributes());
        begin..(begin + each).min(self.attributes())
    }

    /// How many votes of three parties or more make a majority.
    ///
    /// # Paper
    /// MABoost, section 8: above one half plus a constant.
    pub(super) fn needed(&self) -> usize {
        let parties = f64::from(self.parties());
        // At most as many as there are: the constant is below one half.
        ((parties * (0.5 + self.secure().majority)) as usize + 1).min(self.parties().into())
    }

    /// Whether a table's numbers are kept besides their bins.
    pub fn keep(&self) -> Keep {
        match self.secure().thresholds {
            CutPlaces::Grid => Keep::Bins,
            CutPlaces::Data => Keep::Values,
        }
    }

    /// What is read of a table.
    pub fn reads(&self) -> Intake {
        Intake::everything(Arc::clone(self.schema()), self.keep())
    }

    /// δ in the unit of weights.
    pub(super) fn smoothing(&self) -> u64 {
        // Exact: below 2^48.
        (self.secure().smoothing * TOTAL as f64) as u64
    }

    /// The coefficient of `coefficient = "constant"`.
    pub(super) fn constant(&self) -> Alpha {
        Alpha::nearest(self.secure().constant)
    }

    /// The stumps that a joint computation chooses from, about one group of attributes or all: the two constants first.
    pub(super) fn candidates(&self, group: Option<usize>) -> Vec<Call> {
        let attributes = match group {
            Some(group) => self.group(group),
            None => 0..self.attributes(),
        };
        let first = attributes.start;
        let mut all = vec![constant(first, 0), constant(first, 1)];
        for feature in attributes {
            for rule in self.0.merging[feature].rules() {
                for left in [0, 1] {
                    all.push(Call {
                        feature,
                        rule: rule.clone(),
                        left,
                        right: 1 - left,
                    });
                }
            }
        }
        all
    }

    /// How many stumps a joint computation chooses from at most.
    pub fn most_candidates(&self) -> usize {
        let each: Vec<usize> = self
            .0
            .merging
            .iter()
            .map(|merging| 2 * merging.rules().len())
            .collect();
        let of_group = |group| self.group(group).map(|feature| each[feature]).sum::<usize>();
        2 + match self.secure().attribute {
            AttributeChoice::All => each.iter().sum(),
            _ => (0..self.groups()).map(of_group).max().unwrap_or(0),
        }
    }

    /// That a joint computation can choose from all stumps.
    fn is_small(&self) -> Result<(), Error> {
        let (count, most) = (self.most_candidates(), Argmin::MOST);
        if self.secure().classifier != Classifier::Joint || count <= most {
            return Ok(());
        }
        Err(match self.secure().attribute {
            AttributeChoice::All => Error::parameter(
                "attribute",
                format!(
                    "a joint computation chooses from {most} stumps at most, and all features together have {count}: write attribute = \"seed\", or \
                     fewer bins"
                ),
            ),
            _ => Error::parameter(
                "schema",
                format!(
                    "a joint computation chooses from {most} stumps at most, and a feature or group of features has {count}: declare fewer values, write a \
                     smaller group, or write classifier = \"merged\""
                ),
            ),
        })
    }

    /// That a stump of the other party is one that it could have found.
    pub(super) fn check_stump(&self, call: &Call) -> Result<(), &'static str> {
        let vote = |class: u16| f64::from(class) * 2.0 - 1.0;
        let stump = Learner::Stump(call.stump(vote(call.left), vote(call.right)));
        if call.left > 1 || call.right > 1 || stump.check(self.shapes()).is_err() {
            return Err("a stump that does not fit the schema");
        }
        if (call.rule == StumpRule::All) != (call.left == call.right) {
            return Err("a stump that asks for nothing");
        }
        let is_number = self.shapes()[call.feature].number;
        let is_possible = match (&call.rule, self.secure().thresholds) {
            (StumpRule::All, _) => true,
            (rule, CutPlaces::Grid) => self.merging()[call.feature].has(rule),
            (StumpRule::UpTo { .. }, CutPlaces::Data) => is_number,
            (_, CutPlaces::Data) => !is_number,
        };
        is_possible
            .then_some(())
            .ok_or("a stump that its parameters do not allow")
    }

    /// That a tree of the other party is one that it could have grown.
    pub(super) fn check_tree(&self, tree: &VotingTree) -> Result<(), &'static str> {
        let misfit = "a tree that does not fit the schema";
        for node in &tree.nodes {
            let merging = self.merging().get(node.feature).ok_or(misfit)?;
            let question = Call {
                feature: node.feature,
                rule: node.rule.clone(),
                left: 0,
                right: 1,
            };
            self.check_stump(&question)?;
            if node.rule == StumpRule::All || !merging.has(&node.rule) {
                return Err("a tree that its parameters do not allow");
            }
        }
        let as_sent = tree.tree(self.shapes());
        let fits = as_sent.check(&Shape::columns(self.shapes())).is_ok();
        if !fits || tree.leaves.iter().any(|class| *class > 1) {
            return Err(misfit);
        }
        match as_sent.depth() <= usize::from(self.secure().depth) {
            true => Ok(()),
            false => Err("a tree that is too deep"),
        }
    }

    /// That a classifier of another party is one that it could have found, about this group of attributes or about any.
    pub(super) fn check_voter(&self, voter: &Voter, group: Option<usize>) -> Result<(), &'static str> {
        match voter {
            Voter::Stump(call) if self.secure().depth == 1 => self.check_stump(call)?,
            Voter::Tree(tree) if self.secure().depth > 1 => self.check_tree(tree)?,
            _ => return Err("a classifier of another kind"),
        }
        let Some(group) = group else {
            return Ok(());
        };
        let chosen = self.group(group);
        match voter.features().iter().all(|feature| chosen.contains(feature)) {
            true => Ok(()),
            false => Err("a classifier about another attribute"),
        }
    }

    /// Whether there are joint computations by circuits.
    pub fn has_circuits(&self) -> bool {
        let secure = self.secure();
        let meets = !matches!(secure.attribute, AttributeChoice::Seed | AttributeChoice::All);
        meets
            || self.all_stops() > 0
            || secure.classifier == Classifier::Joint
            || joint::shown(self) == Shown::Comparisons
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let own = [named("setting", "secure"), named("algorithm", Secure::NAME)];
        own.into_iter().chain(self.secure().settings()).collect()
    }

    /// The agreement of a run: the initiator has number 0, responders follow. `identities` are the keys that parties are known by, in the same order: of
    /// three parties or more each needs one.
    ///
    /// # Errors
    /// [`Error::Misuse`] if there are not as many names as parties; [`Error::Parameter`] if there are not as many identities, or one is missing that is
    /// needed; as [`Agreement::of`].
    pub fn agreement(
        &self,
        run: RunId,
        names: &[&str],
        identities: &[Option<PublicKey>],
    ) -> Result<Agreement, Error> {
        if names.len() != usize::from(self.parties()) {
            return Err(Error::misuse(
                "an agreement names as many parties as the plan has",
            ));
        }
        if identities.len() != names.len() || self.parties() > 2 && identities.contains(&None) {
            return Err(Error::parameter(
                "identities",
                "every party of three or more needs an identity, by which others know that its key is its own",
            ));
        }
        let mut job = Writer::default();
        job.settings(&self.settings());
        // Parties with labels of different classes have different agreements; two classes are what every run had once.
        if self.outputs() > 1 {
            job.long(self.outputs() as u64);
        }
        // What several parties add up is shared as version 2 of these messages says.
        if self.parties() > 2 {
            job.byte(2);
        }
        let job = Sha256::new_with_prefix(b"privet secure job 1\0").chain_update(job.into_bytes());
        let member = |(place, (name, identity)): (usize, (&&str, &Option<PublicKey>))| Member {
            name: (*name).to_owned(),
            role: if place == 0 { "initiator" } else { "responder" }.to_owned(),
            identity: *identity,
        };
        Agreement::of(Terms {
            run,
            parties: names.iter().zip(identities).enumerate().map(member).collect(),
            edges: match self.parties() {
                2 => Edges::All,
                _ => Edges::Hub(INITIATOR),
            },
            limits: Limits::default(),
            job: job.finalize().into(),
        })
    }
}

/// Public coins of a run, from what both agreed on.
pub fn coins(agreement: &Agreement) -> Coins {
    let hash = Sha256::new_with_prefix(b"privet secure coins 1\0").chain_update(agreement.digest());
    Coins::from_seed(hash.finalize().into())
}
