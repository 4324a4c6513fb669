//! What each party will do, fixed before the first row is looked at. Only a plan makes a role.

use std::sync::Arc;
use std::time::Duration;

use privet_mpc::sum::{MOST_NUMBERS, SumTerms};
use sha2::{Digest, Sha256};

use super::shared::SharedLaws;
use super::{Horizontal, Protocol, Recipients, schemas};
use crate::Error;
use crate::data::schema::Schema;
use crate::data::{Cells, Intake, Keep, Table};
use crate::noisy::Budget;
use crate::noisy::trees::{self, Before, Growth, Training, Trees, Unchanged};
use crate::parameters::{Parameters, Value};
use crate::party::{Agreement, Edges, Limits, Member, PartyId, Terms};
use crate::privacy::account::Price;
use crate::privacy::signature::PublicKey;
use crate::privacy::{Coins, Delta, Epsilon, Private, Relation, Sharing, getters};
use crate::wire::{RunId, Writer};

/// How often each feature is asked about by one owner of a chain, unless the number of trees is given.
const VISITS: u32 = 3;

/// What is public about an owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnerFacts {
    /// Its name.
    pub name: String,
    /// About how many rows it has, by public knowledge.
    pub rows_about: u64,
}

/// What may be spent of each owner's budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spending {
    /// What may be spent.
    pub epsilon: Epsilon,
    /// With what probability the promise may fail; zero if ε is pure.
    pub delta: Delta,
}

/// What all parties will do: the same for all of them. A copy is cheap.
#[derive(Debug, Clone)]
pub struct Plan(Arc<Fixed>);

#[derive(Debug)]
struct Fixed {
    horizontal: Horizontal,
    schema: Arc<Schema>,
    relation: Relation,
    /// With all rows together.
    budget: Budget,
    owners: Vec<OwnerFacts>,
    /// How many may be absent.
    absent: u32,
    work: Work,
}

#[derive(Debug)]
enum Work {
    /// One run of trees over all rows.
    Together(Box<Together>),
    /// A run of trees of each owner.
    Apart(Vec<Apart>),
}

/// The trees of one owner.
#[derive(Debug)]
struct Apart {
    /// If it trains alone, or first.
    first: trees::Plan,
    /// If it goes on from the trees of others: then it is known where labels lie.
    later: trees::Plan,
}

/// What is fixed about joint sums.
#[derive(Debug)]
pub(super) struct Together {
    pub(super) trees: trees::Plan,
    pub(super) sharing: Sharing,
    pub(super) laws: SharedLaws,
    /// Sums of as many numbers as the largest tree needs.
    pub(super) sums: SumTerms,
    questions: u64,
}

impl Together {
    fn new(plan: trees::Plan, sharing: Sharing, blank: &Growth) -> Result<Self, Error> {
        let [owners, absent, colluding] =
            [sharing.owners(), sharing.absent(), sharing.colluding()].map(|count| count as usize);
        let length = plan.most_numbers().min(MOST_NUMBERS);
        let sums = SumTerms::new(owners, absent, colluding, length);
        let sums = sums.map_err(|e| Error::parameter("absent", e.to_string()))?;
        Ok(Self {
            laws: SharedLaws::new(blank, sharing)?,
            questions: plan.draws(),
            trees: plan,
            sharing,
            sums,
        })
    }

    /// How many rounds a question of so many numbers takes: all are summed at the same time.
    pub(super) fn rounds(&self, numbers: usize) -> u32 {
        numbers.div_ceil(self.sums.length()) as u32
    }

    /// How many questions there are.
    pub(super) fn questions(&self) -> u64 {
        self.questions
    }
}

impl Horizontal {
    /// What these owners will do with rows of this schema, under the relation that all of them pay for.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the parameter that does not fit.
    pub fn plan(
        &self,
        schema: &Schema,
        relation: &Relation,
        spending: Spending,
        owners: &[OwnerFacts],
    ) -> Result<Plan, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        self.check()?;
        schema.has_features()?;
        if schema.label().is_none() {
            return Err(Error::parameter(
                "label",
                "the schema declares no label, which is what a model learns to predict",
            ));
        }
        let schema = Arc::new(schema.spread());
        schema.covered_by(relation)?;
        let count = u32::try_from(owners.len()).unwrap_or(u32::MAX);
        let (absent, sharing) = self.assumed(count)?;
        let rows = owners
            .iter()
            .fold(0_u64, |sum, owner| sum.saturating_add(owner.rows_about));
        let Spending { epsilon, delta } = spending;
        let budget = Budget::with_delta(epsilon, delta, rows)?;
        let features = schema.features().count();
        let facts = |rows, counts_labels| trees::Facts {
            price: budget.price,
            rows,
            features,
            relation,
            unchanged: Unchanged::under(&schema, relation),
            counts_labels,
        };
        let mut horizontal = self.clone();
        let work = match sharing {
            Some(sharing) => {
                let own = facts(rows, true);
                let plan = self.trees.plan(&schema, &own)?;
                horizontal.trees = self.trees.filled(&plan);
                let blank = blank(&plan, &schema, relation, Coins::from_seed([0; 32]))?;
                Work::Together(Box::new(Together::new(plan, sharing, &blank)?))
            }
            None => {
                let each = owners.iter().enumerate().map(|(place, owner)| {
                    Budget::with_delta(epsilon, delta, owner.rows_about)?;
                    let trees = self.local(features, owners.len(), place);
                    let plan = |counts_labels| trees.plan(&schema, &facts(owner.rows_about, counts_labels));
                    Ok(Apart {
                        first: plan(true)?,
                        later: plan(false)?,
                    })
                });
                Work::Apart(each.collect::<Result<_, Error>>()?)
            }
        };
        Ok(Plan(Arc::new(Fixed {
            horizontal,
            schema,
            relation: relation.clone(),
            budget,
            owners: owners.to_vec(),
            absent,
            work,
        })))
    }

    /// How many of so many owners may be absent, and what joint sums assume, if there are any.
    fn assumed(&self, owners: u32) -> Result<(u32, Option<Sharing>), Error> {
        let tenth = owners / 10;
        if self.protocol == Protocol::Aggregated {
            let colluding = self.colluding.unwrap_or(tenth.max(1));
            let sharing = Sharing::new(owners, self.absent.unwrap_or(tenth), colluding)?;
            return Ok((sharing.absent(), Some(sharing)));
        }
        let absent = self.absent.unwrap_or(tenth);
        if owners < 2 || absent >= owners {
            let why = format!(
                "{owners} owners of which {absent} may be absent: two owners are needed, and one of them must be there"
            );
            return Err(Error::parameter("absent", why));
        }
        Ok((absent, None))
    }

    /// The trees of one owner who trains alone, or in a chain.
    fn local(&self, features: usize, owners: usize, place: usize) -> Trees {
        if self.protocol == Protocol::Averaged {
            return self.trees.clone();
        }
        let trees = self.trees.trees.unwrap_or(VISITS * features.max(1) as u32);
        let is_last = place + 1 == owners;
        Trees {
            trees: Some(trees),
            splits: Some(self.trees.splits.unwrap_or_default()),
            learning_rate: Some(self.trees.learning_rate.unwrap_or(CHAIN_RATE)),
            // The scores of a chain are recalibrated once, by its last owner.
            calibrate: if is_last {
                self.trees.calibrate
            } else {
                Some(false)
            },
            ..self.trees.clone()
        }
    }
}

/// The most bytes of an owner's trees, or of those of a chain.
const MOST_LOCAL_BYTES: u64 = 1 << 28;

/// That there was no randomness.
pub(super) fn unrandom(e: privet_mpc::Error) -> Error {
    match e {
        privet_mpc::Error::Randomness(why) => Error::Randomness(why),
        other => Error::internal(format!("drawing fails for want of randomness only ({other})")),
    }
}

/// The learning rate of a chain: measured.
const CHAIN_RATE: f64 = 0.1;

/// A run of trees without rows: what is asked, and what follows from answers.
fn blank(plan: &trees::Plan, schema: &Schema, relation: &Relation, coins: Coins) -> Result<Growth, Error> {
    let cells = Private::new(Cells::default());
    Growth::new(plan, relation, training(schema, relation, cells, None), coins)
}

fn training<'a>(
    schema: &'a Schema,
    relation: &Relation,
    cells: Private<Cells>,
    before: Option<Before>,
) -> Training<'a> {
    Training {
        schema,
        cells,
        features: (0..schema.features().count()).collect(),
        unchanged: Unchanged::under(schema, relation),
        start: None,
        before,
    }
}

impl Plan {
    getters! {
        /// Parameters, with what the public rule decided.
        pub horizontal(&0.horizontal) -> &Horizontal;
        /// The schema that tables are read with.
        pub schema(&0.schema) -> &Arc<Schema>;
        /// Who is protected.
        pub relation(&0.relation) -> &Relation;
        /// What each owner pays.
        pub price(0.budget.price) -> Price;
        /// What each owner may spend.
        pub epsilon(0.budget.epsilon()) -> Epsilon;
        /// With what probability the promise may fail; zero if ε is pure.
        pub delta(0.budget.delta()) -> Delta;
        /// The owners, in the order of their numbers: the first is party 1.
        pub owners(&0.owners) -> &[OwnerFacts];
        /// How many owners may be absent.
        pub absent(0.absent) -> u32;
        /// What whoever runs this should know before it is paid for.
        pub warnings(0.budget.warnings()) -> Vec<String>;
    }

    /// What joint sums assume of owners; none if there are no joint sums.
    pub fn sharing(&self) -> Option<Sharing> {
        self.together().map(|together| together.sharing)
    }

    pub(super) fn together(&self) -> Option<&Together> {
        match &self.0.work {
            Work::Together(together) => Some(together),
            Work::Apart(_) => None,
        }
    }

    /// The trees of one owner, or those of all.
    fn trees(&self, place: usize) -> Option<&trees::Plan> {
        match &self.0.work {
            Work::Together(together) => Some(&together.trees),
            Work::Apart(each) => each.get(place).map(|own| &own.first),
        }
    }

    /// The trees of one owner, who trains them alone or first in a chain, or goes on from others'.
    pub(super) fn local(&self, place: usize, is_first: bool) -> Result<&trees::Plan, Error> {
        match &self.0.work {
            Work::Apart(each) if is_first => each.get(place).map(|own| &own.first),
            Work::Apart(each) => each.get(place).map(|own| &own.later),
            Work::Together(_) => None,
        }
        .ok_or_else(|| Error::internal("an owner of the plan trains alone"))
    }

    /// Names and values that a model keeps.
    pub(super) fn model_settings(&self, place: usize) -> Result<Vec<(String, String)>, Error> {
        let noise = self
            .noise(place)?
            .into_iter()
            .map(|line| ("noise".to_owned(), line));
        Ok(self.settings().into_iter().chain(noise).collect())
    }

    /// The most bytes of a message.
    pub(super) fn most_bytes(&self) -> u64 {
        let Some(together) = self.together() else {
            return MOST_LOCAL_BYTES;
        };
        let slots: usize = trees::slots(self.schema());
        let rounds = u64::from(together.rounds(slots.max(together.sums.length())));
        let owners = self.owners().len() as u64;
        let one = rounds * together.sums.share_bytes() as u64;
        let opened = together.questions() * (32 + 8 * together.sums.length() as u64) + 8 * slots as u64;
        // Besides: the lines of a schema, the keys of all owners, their certificates.
        one.max(opened) + (1 << 22) + owners * (1 << 16)
    }

    /// How often an owner reminds the miner before it gives up.
    pub(super) fn most_reminders(&self) -> u32 {
        self.owners().len() as u32 + 10
    }

    /// Keys that stand for owners which do not take part. Nobody knows their secret halves, so nobody can open what is sealed for them.
    pub(super) fn nobody(&self, agreement: &Agreement) -> impl Fn(usize) -> [u8; 32] + use<> {
        let digest = agreement.digest();
        move |place| {
            let hash = Sha256::new_with_prefix(b"privet horizontal nobody 1\0").chain_update(digest);
            hash.chain_update((place as u64).to_le_bytes()).finalize().into()
        }
    }

    /// How many owners must be there at least.
    pub(super) fn least(&self) -> usize {
        self.owners().len().saturating_sub(self.absent() as usize)
    }

    pub(super) fn patience(&self) -> Duration {
        Duration::from_secs(self.horizontal().patience.into())
    }

    /// Whether owners get the model.
    pub(super) fn is_for_everyone(&self) -> bool {
        self.horizontal().recipients == Recipients::Everyone
    }

    pub(super) fn protocol(&self) -> Protocol {
        self.horizontal().protocol
    }

    /// How much error the noise adds, sentence by sentence: of the model, or of the model of one owner.
    ///
    /// # Errors
    /// None that a plan does not find.
    pub fn noise(&self, place: usize) -> Result<Vec<String>, Error> {
        let rows = match (&self.0.work, self.owners().get(place)) {
            (Work::Apart(_), Some(owner)) => owner.rows_about,
            _ => self.0.budget.rows,
        };
        let facts = trees::Facts {
            price: self.price(),
            rows,
            features: self.schema().features().count(),
            relation: self.relation(),
            unchanged: Unchanged::under(self.schema(), self.relation()),
            counts_labels: true,
        };
        self.trees(place)
            .map_or(Ok(Vec::new()), |plan| plan.noise(&facts))
    }

    /// The standard deviation of the noise in each number of a tree's joint sums, if so many owners share theirs: in steps of the grid
    /// that gradients are summed on. None if there are no joint sums.
    pub fn leaf_deviation(&self, owners: u32) -> Option<f64> {
        self.together()?.laws.leaf_deviation(owners)
    }

    /// What one owner does.
    ///
    /// # Errors
    /// [`Error::Parameter`] if there is no owner of this place.
    pub fn owner(&self, place: usize) -> Result<OwnerPlan, Error> {
        if place >= self.owners().len() {
            let why = format!(
                "there are {} owners, and none of place {place}",
                self.owners().len()
            );
            return Err(Error::parameter("owners", why));
        }
        let plan = self.clone();
        let schema = Arc::clone(self.schema());
        Ok(OwnerPlan { plan, place, schema })
    }

    /// What one owner does whose table has a schema of its own: the data set's name, how its file is written and columns that nothing is
    /// learnt from may be others.
    ///
    /// # Errors
    /// As [`owner`](Self::owner); [`Error::Data`] with all differences, line by line, if the schema says anything else otherwise.
    pub fn owner_with(&self, place: usize, schema: &Schema) -> Result<OwnerPlan, Error> {
        let owner = self.owner(place)?;
        let schema = Arc::new(schema.spread());
        let name = &self.owners()[place].name;
        let found = schemas::schema_differences(self.schema(), &schema, name)?;
        if !found.is_empty() {
            return Err(Error::data(found.join("\n")));
        }
        Ok(OwnerPlan { schema, ..owner })
    }

    /// What the miner does.
    pub fn miner(&self) -> MinerPlan {
        MinerPlan { plan: self.clone() }
    }

    /// Names and values as a job says them, with what the public rule decided.
    pub fn settings(&self) -> Vec<(String, String)> {
        let named = |name: &str, value: String| (name.to_owned(), value);
        let mut all = vec![named("setting", "horizontal".into())];
        let own = self.horizontal();
        all.extend(own.protocol.named("protocol"));
        all.push(named("owners", self.owners().len().to_string()));
        all.push(named("absent", self.absent().to_string()));
        if let Some(sharing) = self.sharing() {
            all.push(named("colluding", sharing.colluding().to_string()));
        }
        all.extend(own.recipients.named("recipients"));
        all.extend(Parameters::settings(&own.trees));
        all.extend(self.0.budget.settings());
        all
    }

    /// What the jobs of all parties must say alike, as names and values: its digest is in the agreement, and so in every frame and record.
    pub fn shared(&self) -> Vec<(String, String)> {
        let mut all = self.settings();
        all.push(("relation".to_owned(), self.relation().to_string()));
        for owner in self.owners() {
            all.push((
                format!("rows about of {}", owner.name),
                owner.rows_about.to_string(),
            ));
        }
        all
    }

    /// The agreement of a run. The miner has number 0, and owners follow in the plan's order; each speaks to the miner only. `identities` are
    /// the keys that owners are known by, in the same order: `protocol = "aggregated"` needs one of each.
    ///
    /// # Errors
    /// As [`Agreement::of`]; [`Error::Parameter`] if there are not as many identities as owners, or one is missing that is needed.
    pub fn agreement(
        &self,
        run: RunId,
        miner: &str,
        identities: &[Option<PublicKey>],
    ) -> Result<Agreement, Error> {
        let needed = self.sharing().is_some();
        if identities.len() != self.owners().len() || needed && identities.contains(&None) {
            return Err(Error::parameter(
                "identities",
                "every owner of a secure sum needs an identity, by which others know that its key is its own",
            ));
        }
        let mut job = Writer::default();
        job.settings(&self.shared());
        let job = Sha256::new_with_prefix(b"privet horizontal job 1\0").chain_update(job.into_bytes());
        let owners = self
            .owners()
            .iter()
            .zip(identities)
            .map(|(owner, identity)| Member {
                name: owner.name.clone(),
                role: "owner".into(),
                identity: *identity,
            });
        let miner = Member {
            name: miner.to_owned(),
            role: "miner".into(),
            identity: None,
        };
        Agreement::of(Terms {
            run,
            parties: [miner].into_iter().chain(owners).collect(),
            edges: Edges::Hub(super::MINER),
            limits: Limits::default(),
            job: job.finalize().into(),
        })
    }

    /// The joint run of trees of this agreement, without rows.
    pub(super) fn blank(&self, agreement: &Agreement) -> Result<Growth, Error> {
        let together = self.joint()?;
        blank(
            &together.trees,
            self.schema(),
            self.relation(),
            coins(agreement, super::MINER),
        )
    }

    /// The same with an owner's rows.
    pub(super) fn growth(&self, agreement: &Agreement, cells: Private<Cells>) -> Result<Growth, Error> {
        let together = self.joint()?;
        let training = training(self.schema(), self.relation(), cells, None);
        Growth::new(
            &together.trees,
            self.relation(),
            training,
            coins(agreement, super::MINER),
        )
    }

    pub(super) fn joint(&self) -> Result<&Together, Error> {
        let together = self.together();
        together.ok_or_else(|| Error::internal("only aggregated trees are trained together"))
    }

    /// What an owner learns from, alone or after others.
    pub(super) fn training(&self, cells: Private<Cells>, before: Option<Before>) -> Training<'_> {
        training(self.schema(), self.relation(), cells, before)
    }
}

/// Public coins of a run, from what all agreed on: those of joint trees, or those of one owner's trees.
pub(super) fn coins(agreement: &Agreement, whose: PartyId) -> Coins {
    let hash = Sha256::new_with_prefix(b"privet horizontal coins 1\0").chain_update(agreement.digest());
    Coins::from_seed(hash.chain_update(whose.0.to_le_bytes()).finalize().into())
}

/// What one owner will do.
#[derive(Debug, Clone)]
pub struct OwnerPlan {
    plan: Plan,
    place: usize,
    /// Of its table.
    schema: Arc<Schema>,
}

impl OwnerPlan {
    getters! {
        /// What all parties will do.
        pub plan(&plan) -> &Plan;
        /// The owner's place among owners; its number in an agreement is one more.
        pub place(place) -> usize;
        /// The schema that its table is read with.
        pub schema(&schema) -> &Arc<Schema>;
    }

    /// The owner's number in every agreement.
    pub fn party(&self) -> PartyId {
        PartyId(self.place as u16 + 1)
    }

    /// What is read of a table.
    pub fn reads(&self) -> Intake {
        Intake::everything(Arc::clone(&self.schema), Keep::Bins)
    }

    pub(super) fn check(&self, table: &Table) -> Result<(), Error> {
        table.is_of(&self.schema, "OwnerPlan::reads")?;
        table.is_whole(Keep::Bins)
    }
}

/// What the miner will do.
#[derive(Debug, Clone)]
pub struct MinerPlan {
    plan: Plan,
}

impl MinerPlan {
    getters! {
        /// What all parties will do.
        pub plan(&plan) -> &Plan;
    }
}
