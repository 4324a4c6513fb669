//! `setting = "horizontal"`: owners of different rows of the same columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::{Schema, Section, Table};
use privet::parameters::{self, Builder, Parameters, whole};
use privet::privacy::texts::check_name;
use privet::privacy::{Delta, Epsilon, Relation};
use privet::setting::horizontal::{
    HeldOut, Horizontal, OwnerFacts, OwnerPlan, Plan, Protocol, Spending, Trees, schema_differences,
};

use super::{JobContext, Setting, Source, central};
use crate::place::same_file;

/// What the party is called that asks and relays.
pub(crate) const MINER: &str = "miner";

/// Owners with different rows of the same columns, and their plan.
#[derive(Debug, Clone)]
pub struct HorizontalJob {
    /// What all will do.
    pub plan: Plan,
    /// The trees as the job has them, before a public rule decided about the rest.
    pub trees: Trees,
    /// The owners, in the job's order.
    pub owners: Vec<OwnerJob>,
    /// The file of the model that the run starts from, if it starts from one.
    pub start: Option<PathBuf>,
}

/// An owner with its plan and table.
#[derive(Debug, Clone)]
pub struct OwnerJob {
    /// Its name.
    pub name: String,
    /// Its plan.
    pub plan: OwnerPlan,
    /// Its table. The data set of its schema is the one that its ledger knows.
    pub source: Source,
}

impl OwnerJob {
    /// The data set that pays.
    pub fn dataset(&self) -> &str {
        self.source.schema.dataset()
    }

    /// Reads its table.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn read(&self) -> Result<Table, Error> {
        self.source.read(&self.plan.reads())
    }
}

impl HorizontalJob {
    /// Every file that it reads.
    pub(super) fn files(&self) -> Vec<&Path> {
        let owners = self.owners.iter().map(|owner| owner.source.data.as_path());
        owners.chain(self.start.as_deref()).collect()
    }

    /// The parties' names, in the order of their numbers: the miner comes first.
    pub fn names(&self) -> Vec<String> {
        let owners = self.owners.iter().map(|owner| owner.name.clone());
        [MINER.to_owned()].into_iter().chain(owners).collect()
    }

    /// The tables of all owners.
    pub fn sources(&self) -> Vec<&Source> {
        self.owners.iter().map(|owner| &owner.source).collect()
    }
}

/// The job, or nothing if something was found to be wrong with it; and the files that were looked at.
pub(super) fn read(root: &Section<'_>, around: &JobContext<'_>) -> (Option<Setting>, Vec<PathBuf>) {
    if root.has("data") {
        root.finding_at(
            "data",
            "data belongs to an owner here: write it below each [[owner]]",
        );
    }
    let file = around.path(root, "schema", "\"schema.toml\"");
    let schema = around.schema(root, file.as_deref());
    if let Some(schema) = &schema
        && schema.label().is_none()
    {
        root.finding_at(
            "schema",
            "the schema declares no label, which is what a model learns to predict. Add a line such as\noutcome = { type = \"label\", values = \
             [\"no\", \"yes\"] }",
        );
    }
    let mut own = Horizontal::default();
    own.read(root);
    let algorithm = root.required_section("algorithm", "name = \"trees\"");
    let privacy = root.required_section("privacy", "epsilon = 1.0\ndelta = 1e-6");
    let trees = algorithm.as_ref().and_then(trees);
    // What is wrong with it is found before; without it there is no evaluation.
    let evaluation = root.section("evaluation");
    let evaluation = evaluation.map(|section| parameters::read(HeldOut::default(), &section));
    let spending = privacy.as_ref().map(|privacy| spending(privacy, schema.as_ref()));
    root.allow(&["start"]);
    let start = root.has("start").then(|| around.model(root, "start"));
    let owners = owners(root, around, schema.as_ref());
    let files = owners.iter().filter_map(|owner| owner.schema_file.clone());
    let files = file.iter().cloned().chain(files).collect();
    let enough = enough(root, owners.len(), *own.protocol());

    let job = || {
        let (Some(schema), Some(trees), Some((epsilon, delta, relation))) = (&schema, trees, spending) else {
            return None;
        };
        let (epsilon, delta, relation) = (epsilon?, delta?, relation?);
        // That there is no label, or too few owners, was found before.
        let _ = (schema.label()?, enough.then_some(())?);
        let own = Builder::of(own).trees(trees.clone());
        let own = match evaluation {
            Some(evaluation) => own.evaluation(evaluation?),
            None => own,
        };
        let facts: Option<Vec<OwnerFacts>> = owners.iter().map(OwnerSection::facts).collect();
        let facts = facts?;
        // That the model cannot be read was found before.
        let (start, model) = match start {
            Some(start) => start.map(|(file, model)| (Some(file), Some(model)))?,
            None => (None, None),
        };
        let plan = own
            .build()
            .and_then(|own| own.plan(schema, &relation, Spending { epsilon, delta }, &facts))
            .and_then(|plan| match &model {
                Some(model) => plan.starting_from(model),
                None => Ok(plan),
            });
        let about = |e: &Error| at(e, root, algorithm.as_ref(), privacy.as_ref());
        let plan = plan.inspect_err(about).ok()?;
        let owners: Vec<Option<OwnerJob>> = owners
            .into_iter()
            .enumerate()
            .map(|(place, owner)| owner.job(&plan, place))
            .collect();
        Some(HorizontalJob {
            owners: owners.into_iter().collect::<Option<_>>()?,
            plan,
            trees,
            start,
        })
    };
    let job = job();
    (job.map(|job| Setting::Horizontal(Box::new(job))), files)
}

/// A finding at the section that an error is about.
fn at(e: &Error, root: &Section<'_>, algorithm: Option<&Section<'_>>, privacy: Option<&Section<'_>>) {
    let key = parameters::key(e);
    let of = |section: Option<&Section<'_>>| key.is_some_and(|key| section.is_some_and(|own| own.knows(key)));
    match (key, algorithm, privacy) {
        (Some("owners"), ..) => root.finding_at("owner", e.to_string()),
        (Some("rows_about"), ..) => root.finding_at("owner", e.to_string()),
        (Some(key), _, Some(privacy)) if of(Some(privacy)) => privacy.finding_at(key, e.to_string()),
        (Some(key), Some(algorithm), _) if of(Some(algorithm)) => algorithm.finding_at(key, e.to_string()),
        (Some(key), ..) if root.knows(key) => root.finding_at(key, e.to_string()),
        (_, Some(algorithm), _) => parameters::finding(algorithm, e),
        _ => root.finding(e.to_string()),
    }
}

/// `[algorithm]`.
fn trees(section: &Section<'_>) -> Option<Trees> {
    section.required_choice("name", &[("trees", ())])?;
    let mut trees = Trees::default();
    let before = section.findings();
    trees.read(section);
    (section.findings() == before).then_some(trees)
}

/// `[privacy]`: what each owner spends, and whom that protects. All of it is looked at, so that all findings are made.
fn spending(
    privacy: &Section<'_>,
    schema: Option<&Schema>,
) -> (Option<Epsilon>, Option<Delta>, Option<Relation>) {
    if privacy.has("rows_about") {
        privacy.finding_at(
            "rows_about",
            "rows_about belongs to an owner here: write it below each [[owner]]",
        );
    }
    (
        central::epsilon(privacy),
        central::delta(privacy),
        central::relation(privacy, schema),
    )
}

/// Whether there are owners enough; a finding if not.
fn enough(root: &Section<'_>, owners: usize, protocol: Protocol) -> bool {
    let why = match (owners, protocol) {
        (0, _) => {
            "there is no owner; add lines such as:\n    [[owner]]\n    name = \"north\"\n    data = \"north.csv\"\n    rows_about = 1000".to_owned()
        }
        (1 | 2, Protocol::Aggregated) => format!(
            "{} cannot add up numbers without learning each other's: protocol = \"aggregated\" needs three owners. Add owners, or write protocol = \
             \"averaged\" or \"chain\", which need two",
            if owners == 1 { "one owner" } else { "two owners" }
        ),
        (1, _) => "one owner alone has nobody to train with: use setting = \"central\", or add an owner".to_owned(),
        _ => return true,
    };
    root.finding_at("owner", why);
    false
}

/// An owner's section, and what was found in it. Whatever is absent was found to be wrong.
struct OwnerSection<'a> {
    section: Section<'a>,
    name: Option<String>,
    rows_about: Option<u64>,
    data: Option<PathBuf>,
    schema_file: Option<PathBuf>,
    /// With the name of the owner's own data set.
    schema: Option<Schema>,
}

fn owners<'s>(root: &Section<'s>, around: &JobContext<'_>, schema: Option<&Schema>) -> Vec<OwnerSection<'s>> {
    let sections = root.list("owner");
    let mut all: Vec<OwnerSection<'s>> = Vec::new();
    for section in sections {
        let mut owner = OwnerSection::read(&section, around, schema);
        owner.check_beside(&all);
        all.push(owner);
    }
    all
}

impl<'s> OwnerSection<'s> {
    fn read(section: &Section<'s>, around: &JobContext<'_>, common: Option<&Schema>) -> Self {
        let name = section
            .required_text("name", "\"north\"")
            .map(|found| found.value);
        let name = name.filter(|name| {
            let why = match check_name(name, 100) {
                Err(why) => Some(why),
                Ok(()) if name == MINER => {
                    Some("it is what the party is called that asks and has no rows".into())
                }
                Ok(()) => None,
            };
            if let Some(why) = &why {
                section.finding_at("name", format!("{name:?} is not a valid name of an owner: {why}"));
            }
            why.is_none()
        });
        let data = around.path(section, "data", "\"north.csv\"");
        let rows_about = rows(section);
        section.allow(&["schema"]);
        let schema_file = match section.has("schema") {
            true => around.path(section, "schema", "\"north.toml\""),
            false => None,
        };
        let schema = match (&schema_file, section.has("schema")) {
            (Some(file), _) => around
                .schema(section, Some(file))
                .filter(|own| common.is_none_or(|common| is_alike(section, common, own, name.as_deref()))),
            (None, true) => None,
            (None, false) => common.zip(name.as_ref()).and_then(|(common, name)| {
                let dataset = format!("{}-{name}", common.dataset());
                let checked = check_name(&dataset, 100);
                let checked = checked.map_err(|why| {
                    let why = format!("{dataset:?} is not a valid name of a data set: {why}");
                    section.finding_at("name", why);
                });
                checked.ok().map(|()| common.of_dataset(&dataset))
            }),
        };
        if let (Some(own), Some(common)) = (&schema, common)
            && own.dataset() == common.dataset()
        {
            let why = format!(
                "the data set '{}' is the job's: a budget is one owner's, so give this owner's data set a name of its own",
                own.dataset()
            );
            section.finding_at("schema", why);
        }
        Self {
            section: *section,
            name,
            rows_about,
            data,
            schema_file,
            schema,
        }
    }

    /// Names, data sets and tables are each owner's own.
    fn check_beside(&mut self, others: &[Self]) {
        let mut fine = true;
        let mut say = |key: &str, why: String| {
            self.section.finding_at(key, why);
            fine = false;
        };
        for other in others {
            let who = other.name.as_deref().unwrap_or("another owner");
            if self.name.is_some() && self.name == other.name {
                say(
                    "name",
                    format!("two owners are called '{who}': give each a name of its own"),
                );
                continue;
            }
            if let (Some(own), Some(data)) = (&self.data, &other.data)
                && same_file(own, data)
            {
                let why = format!(
                    "{} is used by {who} already: each owner has rows of its own",
                    own.display()
                );
                say("data", why);
            }
            if let (Some(own), Some(schema)) = (&self.schema, &other.schema)
                && own.dataset() == schema.dataset()
            {
                let why = format!(
                    "the data set '{}' is {who}'s already: a budget is one owner's, so give each data set a name of its own",
                    own.dataset()
                );
                say("schema", why);
            }
        }
        if !fine {
            self.name = None;
        }
    }

    fn facts(&self) -> Option<OwnerFacts> {
        Some(OwnerFacts {
            name: self.name.clone()?,
            rows_about: self.rows_about?,
        })
    }

    /// The owner with its plan, or nothing if something was found to be wrong with it.
    fn job(self, plan: &Plan, place: usize) -> Option<OwnerJob> {
        let own = plan.owner_with(place, self.schema.as_ref()?);
        let own = own.inspect_err(|e| self.section.finding_at("schema", e.to_string()));
        let own = own.ok()?;
        Some(OwnerJob {
            name: self.name?,
            source: Source {
                schema: Arc::clone(own.schema()),
                data: self.data?,
            },
            plan: own,
        })
    }
}

/// Whether an owner's own schema says the same as the job's; if not, a finding with every difference.
fn is_alike(section: &Section<'_>, common: &Schema, own: &Schema, name: Option<&str>) -> bool {
    let found = schema_differences(common, own, name.unwrap_or("this owner"));
    let why = match found {
        Ok(found) if found.is_empty() => return true,
        Ok(found) => format!(
            "this schema differs from the job's, and trees are trained on columns that all owners declare alike:\n    {}",
            found.join("\n    ")
        ),
        Err(e) => e.to_string(),
    };
    section.finding_at("schema", why);
    false
}

/// About how many rows an owner has.
fn rows(section: &Section<'_>) -> Option<u64> {
    if section.has("rows_about") {
        return whole(section, "rows_about");
    }
    section.finding_at(
        "rows_about",
        "rows_about is missing in owner: write about how many rows it has, by public knowledge, such as rows_about = 1000. All parties learn this \
         number; rows are never counted",
    );
    None
}
