//! What both parties will do, fixed before the first row is looked at. Only a plan makes a role.

use std::sync::Arc;

use privet_mpc::circuit::Argmin;
use sha2::{Digest, Sha256};

use super::grid::Merging;
use super::joint::{self, Shown};
use super::side::constant;
use super::{AttributeChoice, Classifier, CutPlaces, Secure};
use crate::Error;
use crate::boost::{Alpha, TOTAL};
use crate::data::schema::{Label, Schema};
use crate::data::{Intake, Keep};
use crate::learner::{Call, Learner, Shape, StumpRule};
use crate::parameters::Parameters;
use crate::party::{Agreement, Edges, Limits, Member, Terms};
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
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        self.check()?;
        schema.has_features()?;
        match schema.label() {
            Some((_, Label::Classes(declared))) if declared.values().len() == 2 => {}
            _ => {
                return Err(Error::parameter(
                    "schema",
                    "setting = \"secure\" needs a label of two classes, such as outcome = { type = \"label\", values = [\"no\", \"yes\"] }",
                ));
            }
        }
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
        pub(super) shapes(&0.shapes) -> &[Shape];
        pub(super) merging(&0.merging) -> &[Merging];
    }

    /// How many attributes there are.
    pub fn attributes(&self) -> usize {
        self.0.shapes.len()
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

    /// The stumps that a joint computation chooses from, about one attribute or all: the two constants first.
    pub(super) fn candidates(&self, attribute: Option<usize>) -> Vec<Call> {
        let first = attribute.unwrap_or(0);
        let mut all = vec![constant(first, 0), constant(first, 1)];
        let attributes = match attribute {
            Some(attribute) => attribute..attribute + 1,
            None => 0..self.attributes(),
        };
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
        let each = self.0.merging.iter().map(|merging| 2 * merging.rules().len());
        2 + match self.secure().attribute {
            AttributeChoice::All => each.sum::<usize>(),
            _ => each.max().unwrap_or(0),
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
                    "a joint computation chooses from {most} stumps at most, and a feature has {count}: declare fewer values of it, or write \
                     classifier = \"merged\""
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

    /// Whether there are joint computations.
    pub fn has_circuits(&self) -> bool {
        let secure = self.secure();
        let meets = !matches!(secure.attribute, AttributeChoice::Seed | AttributeChoice::All);
        meets || secure.classifier == Classifier::Joint || joint::shown(self) == Shown::Comparisons
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let own = [named("setting", "secure"), named("algorithm", Secure::NAME)];
        own.into_iter().chain(self.secure().settings()).collect()
    }

    /// The agreement of a run between two parties: the initiator has number 0, the responder number 1.
    ///
    /// # Errors
    /// As [`Agreement::of`].
    pub fn agreement(&self, run: RunId, [initiator, responder]: [&str; 2]) -> Result<Agreement, Error> {
        let mut job = Writer::default();
        job.settings(&self.settings());
        let job = Sha256::new_with_prefix(b"privet secure job 1\0").chain_update(job.into_bytes());
        let member = |name: &str, role: &str| Member {
            name: name.to_owned(),
            role: role.to_owned(),
            identity: None,
        };
        Agreement::of(Terms {
            run,
            parties: vec![member(initiator, "initiator"), member(responder, "responder")],
            edges: Edges::All,
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
