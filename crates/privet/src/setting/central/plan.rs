//! What a run will do, fixed before the first row is looked at.

use std::fmt;
use std::sync::Arc;

use super::rows::CuratorRows;
use super::{Budget, Progress};
use crate::Error;
use crate::boost::Ensemble;
use crate::data::schema::{Column, Label, Schema};
use crate::data::{Intake, Keep, Table};
use crate::learner::SILENT;
use crate::model::{Model, Settings};
use crate::parameters::{Name, Parameters, at, belongs};
use crate::privacy::account::{Caps, Price};
use crate::privacy::{Delta, Epsilon, Ledger, Neighbours, Randomness, Relation, getters};

/// Parameters with a `balance`.
pub trait Balanced {
    /// Whether the algorithm learns from as many rows of one class as of the other.
    fn is_balanced(&self) -> bool;
}

/// The parameters of an algorithm that a curator can run.
pub trait Algorithm: Name + Balanced + fmt::Debug + Send + Sync {
    /// Whether it is trees, or can become trees: only these learn more than two classes, and make use of a δ.
    fn may_be_trees(&self) -> bool {
        false
    }

    /// Whether rows can have weights; if not, a schema that declares some is refused.
    fn weighs_rows(&self) -> bool {
        false
    }

    /// Whether these facts allow for it at all: as a rule, there are private columns, and they do not drown in noise.
    ///
    /// # Errors
    /// [`Error::Parameter`] if they do not.
    fn check(&self, facts: &Facts) -> Result<(), Error> {
        facts.check_private(self.name())
    }

    /// What it will do on a table of which these facts are public.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the parameter that does not fit them.
    fn resolve(&self, facts: &Facts) -> Result<Resolved, Error>;

    /// Checks the parameters against a schema and a budget, under the relation that will be paid for, and fixes everything that can be
    /// known before the first row is looked at.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the parameter that does not fit.
    fn plan(&self, schema: &Schema, relation: &Relation, budget: Budget) -> Result<Plan, Error> {
        #[cfg(feature = "audit")]
        crate::parameters::count_plan();
        let mut facts = Facts {
            schema: Arc::new(schema.clone()),
            relation: relation.clone(),
            budget,
            balanced: self.is_balanced(),
        };
        if budget.delta != Delta::ZERO && !self.may_be_trees() {
            let why = belongs("delta", ["trees", "forest", "auto"].into_iter(), self.name());
            return Err(Error::parameter("delta", why));
        }
        schema.has_features()?;
        if !self.weighs_rows() {
            schema.has_no_weights(&format!("name = \"{}\"", self.name()))?;
        }
        facts.check_label(self.name(), self.may_be_trees())?;
        self.check(&facts)?;
        let resolved = self.resolve(&facts)?;
        facts.check_balance()?;
        if resolved.keep == Keep::Bins || resolved.spread {
            // Trees and counts see bins, and take bins for numbers of which nobody knows how they are spread.
            facts.schema = Arc::new(match resolved.finer {
                true => schema.finer(),
                false => schema.spread(),
            });
        }
        Ok(Plan { facts, resolved })
    }
}

/// What is public about a run.
#[derive(Debug, Clone)]
pub struct Facts {
    pub(super) schema: Arc<Schema>,
    pub(super) relation: Relation,
    pub(super) budget: Budget,
    pub(super) balanced: bool,
}

impl Facts {
    /// The features that are paid for.
    pub(super) fn private_features(&self) -> impl Iterator<Item = (usize, &Column)> {
        private_features(&self.schema, &self.relation)
    }

    pub(super) fn has_public_label(&self) -> bool {
        let label = self.schema.label();
        label.is_some_and(|(label, _)| label.is_public(&self.relation))
    }

    pub(super) fn public_features(&self) -> usize {
        let features = self.schema.features();
        features.filter(|column| column.is_public(&self.relation)).count()
    }

    pub(super) fn two_classes(&self) -> bool {
        let label = self.schema.label();
        matches!(label, Some((_, Label::Classes(declared))) if declared.values().len() == 2)
    }

    pub(super) fn has_many_classes(&self) -> bool {
        let label = self.schema.label();
        matches!(label, Some((_, Label::Classes(declared))) if declared.values().len() > 2)
    }

    fn check_label(&self, name: &str, any: bool) -> Result<(), Error> {
        let why = match self.schema.label() {
            Some(_) if any || self.two_classes() => return Ok(()),
            Some((column, _)) => format!(
                "name = \"{name}\" tells two classes apart; the label '{}' has more, or is a number",
                column.name
            ),
            None => "name: the schema declares no label, which is what a model learns to predict".into(),
        };
        Err(Error::parameter("name", why))
    }

    fn check_balance(&self) -> Result<(), Error> {
        if !self.balanced || self.has_public_label() {
            return Ok(());
        }
        Err(Error::parameter(
            "balance",
            "balance = true picks rows by their label, which is private here: one changed label would change which other rows are \
             learnt from. Remove it",
        ))
    }

    pub(super) fn check_private(&self, name: &str) -> Result<(), Error> {
        if self.private_features().next().is_none() {
            let weight = self.schema.weight().map(|(column, _)| column);
            if let Some(weight) = weight.filter(|weight| !weight.is_public(&self.relation)) {
                let why = format!(
                    "name = \"{name}\" is for private features or a private label, and only the weight '{}' is private: declare another column private, or \
                     the weight public by private = false",
                    weight.name
                );
                return Err(Error::parameter("name", why));
            }
            let why = format!(
                "name = \"{name}\" is for private columns, and the schema declares none: use setting = \"plain\""
            );
            return Err(Error::parameter("name", why));
        }
        // One number about one column, with all of ε: if even that drowns, nothing can be learnt.
        let Budget { epsilon, rows, .. } = self.budget;
        let noise = self.relation.steps() as f64 / epsilon.to_f64();
        if rows as f64 > noise {
            return Ok(());
        }
        let why = format!(
            "rows_about = {rows} is too few: at epsilon = {epsilon} noise weighs as much as {noise:.0} rows, so nothing could be learnt. \
             Raise epsilon, or do without private columns"
        );
        Err(Error::parameter("rows_about", why))
    }
}

/// What an algorithm will do.
#[derive(Debug, Clone)]
pub struct Resolved {
    pub(super) name: &'static str,
    pub(super) settings: Vec<(String, String)>,
    pub(super) noise: Vec<String>,
    pub(super) train: Arc<dyn Train>,
    /// Why the algorithm was chosen, if a rule chose it.
    pub(super) because: Option<String>,
    pub(super) price: Price,
    pub(super) keep: Keep,
    /// Whether numbers have bins for an unknown distribution, although they are kept as they are.
    pub(super) spread: bool,
    /// Whether bins are fine enough to find spikes in.
    pub(super) finer: bool,
    /// Why its models protect nobody, if they do not.
    pub(super) void: Option<&'static str>,
}

impl Resolved {
    /// What `parameters` make of all of the budget, with what their noise means, on numbers as they are.
    pub(super) fn new<P: Parameters>(
        parameters: &P,
        facts: &Facts,
        noise: Vec<String>,
        train: impl Train + 'static,
    ) -> Self {
        Self {
            name: P::NAME,
            settings: parameters.settings(),
            noise,
            train: Arc::new(train),
            because: None,
            price: facts.budget.price,
            keep: Keep::Values,
            spread: false,
            finer: false,
            void: None,
        }
    }
}

/// What a training run works with besides rows.
pub(super) struct Run<'r> {
    pub(super) facts: &'r Facts,
    /// Pays for everything.
    pub(super) ledger: &'r mut Ledger,
    pub(super) progress: Progress<'r>,
}

impl Run<'_> {
    /// Tells how far it has come; an error if it is to stop.
    pub(super) fn at(&self, done: u64, of: u64) -> Result<(), Error> {
        at(self.progress, done, of)
    }
}

/// What can be trained on a table.
pub(super) trait Train: fmt::Debug + Send + Sync {
    /// Trains an ensemble, paying for it.
    fn train(&self, table: Table, run: Run<'_>) -> Result<Ensemble, Error>;
}

/// What can be trained on numbers behind the wall, and public columns in front of it.
pub(super) trait TrainOnRows: fmt::Debug + Send + Sync {
    /// Trains an ensemble, paying for it.
    fn train(&self, rows: &CuratorRows, run: Run<'_>) -> Result<Ensemble, Error>;
}

impl<T: TrainOnRows> Train for T {
    fn train(&self, table: Table, run: Run<'_>) -> Result<Ensemble, Error> {
        let mut rows = CuratorRows::new(table, &run.facts.relation)?;
        if run.facts.balanced {
            rows.balance(&mut run.ledger.coins()?);
        }
        TrainOnRows::train(self, &rows, run)
    }
}

/// Everything that is fixed before the first row is looked at: what is read, what it costs, how much error noise adds. Only a plan can
/// train.
#[derive(Debug, Clone)]
pub struct Plan {
    facts: Facts,
    resolved: Resolved,
}

impl Plan {
    getters! {
        /// The name of the algorithm, which may be one that a rule chose.
        pub name(resolved.name) -> &'static str;
        /// The schema that tables are read with.
        pub schema(&facts.schema) -> &Arc<Schema>;
        /// What is kept of a table's numbers.
        pub keep(resolved.keep) -> Keep;
        /// Who is protected.
        pub relation(&facts.relation) -> &Relation;
        /// What may be spent.
        pub epsilon(facts.budget.epsilon) -> Epsilon;
        /// With what probability the promise may fail; zero if ε is pure.
        pub delta(facts.budget.delta) -> Delta;
        /// What will be charged: nothing if no private column is looked at.
        pub price(resolved.price) -> Price;
        /// Why its models protect nobody, if they do not.
        pub void(resolved.void) -> Option<&'static str>;
        /// How much error the noise adds, sentence by sentence.
        pub noise(&resolved.noise) -> &[String];
        /// What whoever runs this should know before it is paid for.
        pub warnings(facts.budget.warnings()) -> Vec<String>;
    }

    /// What is read of a table.
    pub fn reads(&self) -> Intake {
        Intake::everything(Arc::clone(self.schema()), self.keep())
    }

    /// Names and values as a job says them, defaults included.
    pub fn settings(&self) -> Vec<(String, String)> {
        let named = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let mut all = vec![named("setting", "central"), named("algorithm", self.name())];
        all.extend(self.resolved.settings.iter().cloned());
        all.extend(self.resolved.because.as_ref().map(|why| named("chosen", why)));
        all.extend(self.facts.balanced.then(|| named("balance", "true")));
        all.extend(self.facts.budget.settings());
        all
    }

    /// Trains a model on a table that was read with what [`reads`](Self::reads) asks for, and closes the run.
    ///
    /// # Errors
    /// As [`train`](Self::train).
    pub fn fit<N: Neighbours>(
        &self,
        table: Table,
        ledger: Ledger<N>,
        progress: Progress<'_>,
    ) -> Result<Model, Error> {
        let mut ledger = ledger.at_run_time();
        let schema = table.schema().clone();
        let ensemble = self.train(table, &mut ledger, progress)?;
        let noise = self.noise().iter().map(|line| ("noise".to_owned(), line.clone()));
        let settings = self.settings().into_iter().chain(noise).collect();
        Model::new(schema, ensemble, ledger.close(), Settings::new(settings))
    }

    /// Trains an ensemble, paying for it from `ledger`.
    ///
    /// # Privacy
    /// At most the ε of its budget, pure unless that has a δ, under the ledger's relation; `docs/proofs/central.md`.
    ///
    /// # Errors
    /// [`Error::Budget`] and [`Error::Journal`] as the ledger says; [`Error::Misuse`] if the table was read with another schema, or the
    /// ledger protects others than the plan was made for, or fewer columns or smaller units than the schema asks for (that people
    /// are replaced, not added or removed, is for the job to say); [`Error::Stopped`] if `progress` says so: what was reserved
    /// by then stays spent. What the rows say is never the reason.
    pub fn train(
        &self,
        table: Table,
        ledger: &mut Ledger,
        progress: Progress<'_>,
    ) -> Result<Ensemble, Error> {
        table.is_of(&self.facts.schema, "Plan::reads")?;
        table.is_whole(self.keep())?;
        if *ledger.relation() != self.facts.relation {
            return Err(Error::Misuse(format!(
                "the plan was made for the case that {}, the budget is for the case that {}",
                self.facts.relation,
                ledger.relation()
            )));
        }
        ledger.promise(self.price(), self.delta())?;
        let facts = &self.facts;
        self.resolved.train.train(
            table,
            Run {
                facts,
                ledger,
                progress,
            },
        )
    }

    /// Trains as [`fit`](Self::fit) does, with a budget of its own that no ledger records: for simulations, and for rows that are public.
    /// The certificate says that nothing was recorded.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and [`Error::Randomness`] if there is none.
    pub fn rehearse(&self, table: Table) -> Result<Model, Error> {
        let (relation, caps) = (self.relation().clone(), Caps::from(self.price()));
        let ledger = Ledger::volatile(relation, caps, self.delta(), Randomness::from_os()?)?;
        self.fit(table, ledger, SILENT)
    }
}

/// What it will do and cost, in words.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let features: Vec<&str> = self
            .schema()
            .features()
            .map(|column| column.name.as_str())
            .collect();
        writeln!(
            f,
            "Algorithm: {}, learning from {}",
            self.name(),
            features.join(", ")
        )?;
        writeln!(
            f,
            "Price: {}, for the case that {}",
            self.price(),
            self.relation()
        )?;
        if self.delta() != Delta::ZERO {
            writeln!(f, "That is ε = {} at δ = {}", self.epsilon(), self.delta())?;
        }
        if let Some(why) = self.void() {
            writeln!(f, "It protects nobody: {why}")?;
        }
        for line in self.warnings().iter().chain(self.noise()) {
            writeln!(f, "{line}")?;
        }
        Ok(())
    }
}

/// The features that are paid for: all, or those that are not public where the label is.
pub(super) fn private_features<'s>(
    schema: &'s Schema,
    relation: &Relation,
) -> impl Iterator<Item = (usize, &'s Column)> {
    let learns_freely = schema.label().is_some_and(|(label, _)| label.is_public(relation));
    let relation = relation.clone();
    schema
        .features()
        .enumerate()
        .filter(move |(_, column)| !(learns_freely && column.is_public(&relation)))
}
