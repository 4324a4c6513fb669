//! `setting = "local"`: many owners who each send one message, and a data user who may have rows of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Section};
use privet::parameters::{finding, key};
use privet::privacy::Epsilon;
use privet::setting::local::{self, Algorithm, Plan, Task};

use super::central::epsilon;
use super::{JobContext, Setting, Source};

/// What is learnt from local messages, and where files go.
#[derive(Debug, Clone)]
pub struct LocalJob {
    schema: Arc<Schema>,
    algorithm: Arc<dyn Algorithm>,
    epsilons: Vec<Epsilon>,
    owners: u64,
    rows_each: u32,
    /// How many own rows a simulation gives the data user.
    pub own_rows: usize,
    /// The data user's own rows, if there are any.
    pub own: Option<Source>,
    /// The folder with campaigns and what was collected for them.
    pub campaigns: PathBuf,
}

impl LocalJob {
    /// What is asked and learnt, by public facts alone.
    ///
    /// # Errors
    /// [`Error::Parameter`] with what does not fit.
    pub fn plan(&self) -> Result<Plan, Error> {
        let Some(largest) = self.epsilons.iter().max() else {
            return Err(Error::internal("a job has an ε"));
        };
        let task = Task::new(&self.schema, *largest, self.rows_each, self.schema.dataset())?;
        let task = task.with_epsilons(&self.epsilons)?;
        Plan::new(Arc::clone(&self.algorithm), task, self.owners)
    }

    /// What is read of the own rows.
    pub fn reads(&self) -> Intake {
        Intake::everything(Arc::clone(&self.schema), Keep::Values)
    }

    /// The schema of owners' rows and own rows.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// How many rows an owner has, about.
    pub fn rows_each(&self) -> u32 {
        self.rows_each
    }

    /// The files that it is made from.
    pub(super) fn files(&self) -> Vec<&Path> {
        self.own.iter().map(|own| own.data.as_path()).collect()
    }
}

/// The job, or nothing if something was found to be wrong with it; and the files that were looked at.
pub(super) fn read(root: &Section<'_>, around: &JobContext<'_>) -> (Option<Setting>, Vec<PathBuf>) {
    let file = around.path(root, "schema", "\"schema.toml\"");
    let campaigns = around.path(root, "campaigns", "\"campaigns\"");
    root.allow(&["data"]);
    let data = match root.has("data") {
        true => around.path(root, "data", "\"own.csv\"").map(Some),
        false => Some(None),
    };
    let schema = around.schema(root, file.as_deref());
    let section = root.required_section("algorithm", "name = \"auto\"");
    let algorithm = section.as_ref().and_then(local::read);
    let privacy = root.required_section("privacy", "epsilon = 1.0");
    let epsilons = privacy.as_ref().and_then(epsilons);
    let people = root.required_section("owners", "about = 10000\nrows_each = 1");
    let whole = |key: &str, otherwise: Option<i64>| {
        let people = people.as_ref()?;
        let found = match otherwise {
            Some(otherwise) => people.integer(key).map_or(otherwise, |found| found.value),
            None => people.required_integer(key, "10000")?.value,
        };
        if found < 1 {
            people.finding_at(key, format!("{key} = {found}: write a number above zero"));
        }
        u64::try_from(found).ok().filter(|found| *found > 0)
    };
    let (owners, each, own_rows) = (
        whole("about", None),
        whole("rows_each", Some(1)),
        whole("own_rows", Some(100)),
    );
    let job = || {
        let schema = Arc::new(schema?);
        let source = data?.map(|data| Source {
            schema: Arc::clone(&schema),
            data,
        });
        let job = LocalJob {
            schema,
            algorithm: Arc::from(algorithm?),
            epsilons: epsilons?,
            owners: owners?,
            rows_each: u32::try_from(each?).unwrap_or(u32::MAX),
            own_rows: usize::try_from(own_rows?).unwrap_or(usize::MAX),
            own: source,
            campaigns: campaigns?,
        };
        if job.own.is_none() && job.algorithm.needs_own_rows() {
            let why = "this algorithm takes axes, lengths or α from rows of the data user: name them with data = \"own.csv\"; without any, write name = \"collect-once\" \
                       with learner = \"bayes\"";
            section.as_ref()?.finding_at("name", why);
            return None;
        }
        let checked = job.plan().inspect_err(|e| match (key(e), &section, &people) {
            (Some("epsilon"), ..) => {
                if let Some(privacy) = &privacy {
                    privacy.finding_at("epsilon", e.to_string());
                }
            }
            (Some("schema"), ..) => root.finding_at("schema", e.to_string()),
            (Some("owners"), _, Some(people)) => people.finding_at("about", e.to_string()),
            (_, Some(section), _) => finding(section, e),
            _ => {}
        });
        checked.ok()?;
        Some(Setting::Local(Box::new(job)))
    };
    (job(), file.into_iter().collect())
}

/// One ε, or those from which owners choose.
fn epsilons(privacy: &Section<'_>) -> Option<Vec<Epsilon>> {
    if !privacy.is_list("epsilon") {
        return epsilon(privacy).map(|one| vec![one]);
    }
    let found = privacy.numbers("epsilon")?.value;
    let mut all = Vec::with_capacity(found.len());
    for number in found {
        match Epsilon::new(number) {
            Ok(one) if one > Epsilon::ZERO => all.push(one),
            _ => {
                let why = format!("epsilon = {number} is not an ε: write numbers above zero");
                privacy.finding_at("epsilon", why);
                return None;
            }
        }
    }
    if all.is_empty() {
        privacy.finding_at("epsilon", "epsilon = [] is empty: write at least one number");
        return None;
    }
    Some(all)
}
