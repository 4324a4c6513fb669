//! `setting = "local"`: many owners who each send one message, and a data user who may have rows of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Section};
use privet::parameters::{finding, key};
use privet::privacy::Epsilon;
use privet::setting::local::{self, Algorithm, Dealing, Plan, Task};

use super::central::epsilon;
use super::{JobContext, Setting, Source};

/// What is learnt from local messages, and where files go.
#[derive(Debug, Clone)]
pub struct LocalJob {
    schema: Arc<Schema>,
    algorithm: Arc<dyn Algorithm>,
    epsilons: Vec<Epsilon>,
    owners: u64,
    dealing: Dealing,
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
        let each = self.dealing.least.midpoint(self.dealing.most);
        let task = Task::new(&self.schema, *largest, each, self.schema.dataset())?;
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

    /// How many rows owners have, about, and how a simulation deals them.
    pub fn dealing(&self) -> Dealing {
        self.dealing
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
    let (owners, own_rows) = (whole("about", None), whole("own_rows", Some(100)));
    let dealing = people.as_ref().and_then(dealing);
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
            dealing: dealing?,
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

/// How many rows owners have: a number, or the least and the most; and how unlike they are in a simulation.
fn dealing(people: &Section<'_>) -> Option<Dealing> {
    let skew = people.number("skew").map_or(0.0, |found| found.value);
    if !(0.0..=1.0).contains(&skew) {
        let why =
            format!("skew = {skew}: write a number from 0 (owners are alike) to 1 (each knows one class)");
        people.finding_at("skew", why);
    }
    let found = match people.is_list("rows_each") {
        true => people.numbers("rows_each")?.value,
        false => vec![
            people
                .integer("rows_each")
                .map_or(1.0, |found| found.value as f64),
        ],
    };
    let (Some(&least), Some(&most), 1..=2) = (found.first(), found.last(), found.len()) else {
        people.finding_at(
            "rows_each",
            "rows_each is a number, or two, such as [1, 7]: the least and the most",
        );
        return None;
    };
    let is_count = |x: f64| x.fract() == 0.0 && (1.0..=f64::from(u32::MAX)).contains(&x);
    if !is_count(least) || !is_count(most) || least > most {
        let written: Vec<String> = found.iter().map(ToString::to_string).collect();
        let why = format!(
            "rows_each = {}: write a whole number above zero, or two, of which the first is not larger, such as [1, 7]",
            written.join(", ")
        );
        people.finding_at("rows_each", why);
        return None;
    }
    Some(Dealing {
        least: least as u32,
        most: most as u32,
        skew,
    })
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
