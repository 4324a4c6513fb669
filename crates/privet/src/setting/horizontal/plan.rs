//! What each party will do, fixed before the first row is looked at. Only a plan makes a role.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::chain::Chain;
use super::evaluation::Judging;
use super::resolve::{Apart, Together};
use super::start::Start;
use super::{Horizontal, Protocol, Recipients, schemas};
use crate::Error;
use crate::data::schema::Schema;
use crate::data::{Cells, Intake, Keep, Table};
use crate::noisy::Budget;
use crate::noisy::trees::{self, Before, Growth, Training, Unchanged};
use crate::parameters::{Parameters, Value};
use crate::party::{Agreement, Edges, Limits, Member, PartyId, Terms};
use crate::privacy::account::Price;
use crate::privacy::signature::PublicKey;
use crate::privacy::{Coins, Delta, Epsilon, Private, Relation, Sharing, getters};
use crate::wire::{RunId, Writer};

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
pub struct Plan(pub(super) Arc<Fixed>, pub(super) Option<Arc<Start>>);

#[derive(Debug)]
pub(super) struct Fixed {
    pub(super) horizontal: Horizontal,
    pub(super) schema: Arc<Schema>,
    pub(super) relation: Relation,
    /// Of the trees, with all rows together.
    pub(super) budget: Budget,
    /// What each owner pays: for the trees, and for the evaluation if there is one.
    pub(super) price: Price,
    /// The same as ε, at the run's δ.
    pub(super) epsilon: Epsilon,
    /// How the model is judged, if it is.
    pub(super) judging: Option<Judging>,
    pub(super) owners: Vec<OwnerFacts>,
    /// How many may be absent.
    pub(super) absent: u32,
    pub(super) work: Work,
    /// Of `protocol = "chain"`.
    pub(super) chain: Option<Chain>,
}

#[derive(Debug)]
pub(super) enum Work {
    /// One run of trees over all rows.
    Together(Box<Together>),
    /// Runs of trees of each owner, round by round.
    Apart(Vec<Vec<Apart>>),
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

/// A table of one owner, or none, with what trees were trained before.
pub(super) fn training<'a>(
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
        /// What each owner pays in all: for the trees, and for the evaluation if there is one.
        pub price(0.price) -> Price;
        /// The same as ε.
        pub epsilon(0.epsilon) -> Epsilon;
        /// What the trees cost each owner.
        pub training_price(0.budget.price) -> Price;
        /// The same as ε.
        pub training_epsilon(0.budget.epsilon()) -> Epsilon;
        /// How the model is judged on held-out rows, if it is.
        pub(super) judging(0.judging.as_ref()) -> Option<&Judging>;
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
            Work::Apart(each) => each.get(place)?.first().map(|own| &own.first),
        }
    }

    /// The trees of one owner in a round.
    pub(super) fn local(&self, place: usize, round: u32) -> Result<&Apart, Error> {
        let found = self.rounds(place)?.get(round as usize);
        found.ok_or_else(|| Error::internal("a round of the plan"))
    }

    /// The trees of one owner in all rounds.
    pub(super) fn rounds(&self, place: usize) -> Result<&[Apart], Error> {
        match &self.0.work {
            Work::Apart(each) => each.get(place).map(Vec::as_slice),
            Work::Together(_) => None,
        }
        .ok_or_else(|| Error::internal("an owner of the plan trains alone"))
    }

    /// What is fixed about a chain.
    pub(super) fn chain(&self) -> Result<&Chain, Error> {
        let chain = self.0.chain.as_ref();
        chain.ok_or_else(|| Error::internal("only owners of a chain come one after another"))
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
        let judged = self.judging().map_or(0, Judging::dimension);
        let slots = together.slots.max(judged);
        let rounds = u64::from(together.rounds(slots.max(together.sums.length())));
        let owners = self.owners().len() as u64;
        let one = rounds * together.sums.relay_bytes(self.owners().len()) as u64;
        let opened = together.questions() * (32 + 8 * together.sums.length() as u64) + 8 * slots as u64;
        // Besides: the lines of a schema, the keys of all owners, their certificates.
        one.max(opened) + (1 << 22) + owners * (1 << 16)
    }

    /// How often an owner reminds the miner before it gives up.
    pub(super) fn most_reminders(&self) -> u32 {
        self.owners().len() as u32 + 10
    }

    /// The keys that stand for owners which do not take part.
    pub(super) fn nobody(&self, agreement: &Agreement) -> Nobody {
        let digest = agreement.digest();
        let key = |place: usize| {
            let hash = Sha256::new_with_prefix(b"privet horizontal nobody 1\0").chain_update(digest);
            hash.chain_update((place as u64).to_le_bytes()).finalize().into()
        };
        let keys: Vec<[u8; 32]> = (0..self.owners().len()).map(key).collect();
        let sorted = keys.iter().copied().collect();
        Nobody { keys, sorted }
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
            (Work::Apart(_), Some(owner)) => {
                let chain = self.0.chain.as_ref();
                chain.map_or(owner.rows_about, |chain| chain.rows(owner.rows_about, 0))
            }
            _ => self.0.budget.rows,
        };
        let facts = trees::Facts {
            price: self.training_price(),
            rows: self.judging().map_or(rows, |judging| judging.learnt(rows)),
            features: self.schema().features().count(),
            relation: self.relation(),
            unchanged: Unchanged::under(self.schema(), self.relation()),
            counts_labels: true,
            one_curator: false,
        };
        self.trees(place)
            .map_or(Ok(Vec::new()), |plan| plan.noise(&facts))
    }

    /// The standard deviation of the noise in each number of a tree's joint sums, if so many owners share theirs: in steps of the grid
    /// that gradients are summed on. None if there are no joint sums.
    pub fn leaf_deviation(&self, owners: u32) -> Option<f64> {
        self.together()?.laws.leaf_deviation(owners)
    }

    /// The standard deviation of the noise in each count of held-out rows, if so many owners add theirs; none if there is no evaluation.
    pub fn report_deviation(&self, owners: u32) -> Option<f64> {
        let judging = self.judging()?;
        match self.together() {
            Some(together) => together.laws.report_deviation(owners),
            None => judging.own_deviation(owners).ok(),
        }
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
        if let Some(chain) = self.0.chain.as_ref().filter(|_| own.names_rounds()) {
            all.push(named("rounds", chain.rounds.to_string()));
            all.extend(own.advance.named("advance"));
            all.extend(own.quality.named("quality"));
            all.extend(own.broadcast.named("broadcast"));
        }
        all.extend(own.recipients.named("recipients"));
        all.extend(self.start_settings());
        all.extend(Parameters::settings(&own.trees));
        all.extend(self.0.budget.settings());
        if let Some(judging) = self.judging() {
            all.push(named(
                "evaluation_epsilon",
                judging.budget().epsilon().to_string(),
            ));
            all.push(named("held_out", judging.percent().to_string()));
        }
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
        let job = Sha256::new_with_prefix(b"privet horizontal job 3\0").chain_update(job.into_bytes());
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
        self.growth(agreement, Private::new(Cells::default()))
    }

    /// The same with an owner's rows.
    pub(super) fn growth(&self, agreement: &Agreement, cells: Private<Cells>) -> Result<Growth, Error> {
        let together = self.joint()?;
        let training = self.training(cells, self.before());
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
    coins_of_round(agreement, whose, 0)
}

/// Those of one owner's trees in a round.
pub(super) fn coins_of_round(agreement: &Agreement, whose: PartyId, round: u32) -> Coins {
    let hash = Sha256::new_with_prefix(b"privet horizontal coins 1\0").chain_update(agreement.digest());
    let mut hash = hash.chain_update(whose.0.to_le_bytes());
    if round > 0 {
        hash.update(round.to_le_bytes());
    }
    Coins::from_seed(hash.finalize().into())
}

/// Keys that stand for owners which do not take part, by their places. Nobody knows their secret halves, so nobody can open what is sealed for
/// them; an owner that says one of them is its own knows it no more than others do, and could only make a sum fail.
pub(super) struct Nobody {
    keys: Vec<[u8; 32]>,
    sorted: BTreeSet<[u8; 32]>,
}

/// What is said of such an owner.
pub(super) const NOBODY: &str = "its key of this run is one that stands for owners which do not take part";

impl Nobody {
    pub(super) fn keys(&self) -> &[[u8; 32]] {
        &self.keys
    }

    pub(super) fn contains(&self, key: Option<&[u8; 32]>) -> bool {
        key.is_some_and(|key| self.sorted.contains(key))
    }
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
