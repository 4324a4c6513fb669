//! A job: one TOML file that describes a run, checked as a whole before anything runs.

mod central;
mod horizontal;
mod local;
mod network;
pub mod reference;
mod secure;
mod vertical;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::{Document, Fingerprint, Intake, Points, RawRows, Schema, Section, Table};
use privet::error::Subject;
use privet::model::Model;
use privet::parameters::finding;
use privet::setting::plain;

pub(crate) use horizontal::MINER as MINER_NAME;
pub use horizontal::{HorizontalJob, OwnerJob};
pub use local::LocalJob;
pub use network::Network;
pub use secure::{SecureJob, SecureParty};
pub use vertical::{FeatureHolderJob, Holder, LabelHolderJob, PredictionJob, VerticalJob};

use crate::ledger::{Recognisable, folder_of};
use crate::place::same_file;
use crate::progress::{Progress, going_on};
use crate::table;

/// A job. Everything in it that does not depend on rows has been checked.
#[derive(Debug, Clone)]
pub struct Job {
    /// The setting, with its plan and tables.
    pub setting: Setting,
    /// Where the model goes, or the predictions.
    pub output: PathBuf,
    /// How the parties find each other, if they are on a network.
    pub network: Option<Network>,
    /// The job itself and its schemas.
    files: Vec<PathBuf>,
}

/// The setting of a job, with its plan and tables.
#[derive(Debug, Clone)]
pub enum Setting {
    /// No privacy.
    Plain(plain::Plan, Source),
    /// A curator sees the rows, everybody else the model.
    Central(Box<privet::setting::central::Plan>, Source),
    /// Several parties have columns of the same people.
    Vertical(Box<VerticalJob>),
    /// The same parties have new rows, and one of them has a model.
    Prediction(Box<PredictionJob>),
    /// Several owners have rows of the same columns.
    Horizontal(Box<HorizontalJob>),
    /// Two parties compute jointly on rows of the same columns.
    Secure(Box<SecureJob>),
    /// Many owners send one message each.
    Local(Box<LocalJob>),
}

/// Rows with their schema: a file, or a frame in memory.
pub trait Rows: Recognisable {
    /// The schema.
    fn schema(&self) -> &Arc<Schema>;

    /// Reads the rows.
    ///
    /// # Errors
    /// As [`table::read`]; [`Error::Stopped`] if that was asked for meanwhile.
    fn read(&self, intake: &Intake) -> Result<Table, Error>;
}

/// Rows in memory and their schema.
#[derive(Clone)]
pub struct FrameRows<'a> {
    /// The schema.
    pub schema: Arc<Schema>,
    /// The rows.
    pub rows: &'a (dyn RawRows + Sync),
}

impl Rows for FrameRows<'_> {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn read(&self, intake: &Intake) -> Result<Table, Error> {
        let table = Table::read(intake, self.rows)?;
        going_on()?;
        Ok(table)
    }
}

impl Recognisable for FrameRows<'_> {
    fn fingerprint(&self, points: Points) -> Result<Fingerprint, Error> {
        let intake = Intake::recognising(Arc::clone(&self.schema), points);
        let found = Table::read(&intake, self.rows)?.fingerprint().cloned();
        found.ok_or_else(|| Error::misuse("a table was read without being recognised"))
    }

    fn bytes(&self) -> Result<Option<Box<dyn Read + '_>>, Error> {
        Ok(None)
    }
}

/// One table and its schema.
#[derive(Debug, Clone)]
pub struct Source {
    /// The schema.
    pub schema: Arc<Schema>,
    /// The file.
    pub data: PathBuf,
}

impl Rows for Source {
    fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    fn read(&self, intake: &Intake) -> Result<Table, Error> {
        Self::read(self, intake)
    }
}

impl Source {
    /// Reads the table.
    ///
    /// # Errors
    /// As [`Rows::read`].
    pub fn read(&self, intake: &Intake) -> Result<Table, Error> {
        let bar = Progress::bytes(format!("Reading {}", table::shown(&self.data)));
        let table = table::read(&self.data, intake, &|done, of| bar.at(done, of))?;
        going_on()?;
        Ok(table)
    }
}

impl Recognisable for Source {
    fn fingerprint(&self, points: Points) -> Result<Fingerprint, Error> {
        let intake = Intake::recognising(Arc::clone(&self.schema), points);
        let table = table::read(&self.data, &intake, &|_, _| {})?;
        let found = table.fingerprint().cloned();
        found.ok_or_else(|| Error::Misuse("a table was read without being recognised".into()))
    }

    fn bytes(&self) -> Result<Option<Box<dyn Read + '_>>, Error> {
        let unreadable = |e| Error::data_in(table::shown(&self.data), format!("it cannot be read: {e}"));
        let (bytes, _) = table::opened(&self.data).map_err(unreadable)?;
        Ok(Some(Box::new(bytes)))
    }
}

/// What `[algorithm]` can be, without and with privacy.
const EXAMPLES: [&str; 2] = [
    "name = \"trees\"",
    "name = \"auto\"     # or \"trees\"; `privet help jobs central` lists all, with their parameters",
];

/// The settings by their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SettingName {
    Plain,
    Central,
    Vertical,
    Horizontal,
    Secure,
    Local,
}

/// What reading a job needs besides its text.
struct JobContext<'a> {
    /// Paths in the job are relative to it.
    folder: &'a Path,
    files: JobFiles<'a>,
}

/// Where a job's files come from.
#[derive(Clone, Copy)]
pub struct JobFiles<'a> {
    /// Gives the schema at a path.
    pub schema: &'a dyn Fn(&Path) -> Result<Schema, Error>,
    /// Gives the model at a path.
    pub model: &'a dyn Fn(&Path) -> Result<Model, Error>,
}

impl JobContext<'_> {
    /// The file that a key names.
    fn path(&self, section: &Section<'_>, key: &str, example: &str) -> Option<PathBuf> {
        let found = section.required_text(key, example)?;
        if found.value.is_empty() {
            let why = format!("{key} is empty; write a file's name, such as {key} = {example}");
            section.finding_at(key, why);
            return None;
        }
        if key == "data" && found.value == table::STANDARD_INPUT {
            if !section.name().is_empty() {
                let why = "data = \"-\" is standard input, and there is only one: name a file for each party";
                section.finding_at(key, why);
                return None;
            }
            return Some(found.value.into());
        }
        Some(self.folder.join(found.value))
    }

    /// The schema in a file.
    fn schema(&self, section: &Section<'_>, file: Option<&Path>) -> Option<Schema> {
        (self.files.schema)(file?)
            .inspect_err(|e| section.finding_at("schema", e.to_string()))
            .ok()
    }

    /// The model in the file that a key names.
    fn model(&self, section: &Section<'_>, key: &str) -> Option<(PathBuf, Model)> {
        let file = self.path(section, key, "\"earlier.privet\"")?;
        let model = (self.files.model)(&file).inspect_err(|e| section.finding_at(key, e.to_string()));
        Some((file, model.ok()?))
    }
}

impl Job {
    /// Reads a job and its schema. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`Error::Data`] with everything that is wrong, line by line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::data_in(&name, format!("the job cannot be read: {e}")))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let schema = |path: &Path| {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Error::data(format!("the schema {} cannot be read: {e}", path.display())))?;
            Schema::from_toml(&path.display().to_string(), &text)
        };
        let model = |path: &Path| {
            let unreadable = |e| Error::data(format!("the model {} cannot be read: {e}", path.display()));
            Ok(Model::from_file(&std::fs::read(path).map_err(unreadable)?)?.0)
        };
        let files = JobFiles {
            schema: &schema,
            model: &model,
        };
        let mut job = Self::parse(&name, &text, folder, files)?;
        job.files.push(path.to_owned());
        Ok(job)
    }

    /// Reads a job's text; `files` gives what is at a path.
    ///
    /// # Errors
    /// As [`Job::read`].
    pub fn parse(name: &str, text: &str, folder: &Path, files: JobFiles<'_>) -> Result<Self, Error> {
        let document = Document::parse(name, text)?;
        let root = document.root();
        let network = network::read(&root);
        let (setting, output, files) = parts(&root, &JobContext { folder, files });
        document.finish()?;
        // Whatever is absent was found to be wrong.
        let (Some(setting), Some(output)) = (setting, output) else {
            return Err(Error::data(format!("{name} is incomplete")));
        };
        let mut job = Self {
            setting,
            output,
            network,
            files,
        };
        job.check_network(name)?;
        job.check_output(name)?;
        job.files.dedup();
        Ok(job)
    }

    /// The same job on another table, or with another name for the output.
    ///
    /// # Errors
    /// [`Error::Data`] if the output would overwrite what it is made from; [`Error::Parameter`] if the job has several tables.
    pub fn with(mut self, data: Option<&Path>, output: Option<&Path>) -> Result<Self, Error> {
        if let Some(data) = data {
            match &mut self.setting {
                Setting::Plain(_, source) | Setting::Central(_, source) => source.data = data.to_owned(),
                Setting::Local(job) => {
                    job.own = Some(Source {
                        schema: Arc::clone(job.schema()),
                        data: data.to_owned(),
                    });
                }
                Setting::Vertical(_)
                | Setting::Prediction(_)
                | Setting::Horizontal(_)
                | Setting::Secure(_) => {
                    return Err(Error::parameter(
                        Subject::Flag("--data"),
                        "--data names one table, and this job has one for each party: name them in the job",
                    ));
                }
            }
        }
        if let Some(output) = output {
            self.output = output.to_owned();
        }
        self.check_output("the command")?;
        Ok(self)
    }

    /// The names of its parties, in the order of their numbers; none where one table is all there is.
    pub fn party_names(&self) -> Vec<String> {
        match &self.setting {
            Setting::Plain(..) | Setting::Central(..) | Setting::Local(_) => Vec::new(),
            Setting::Vertical(job) => job.names(),
            Setting::Prediction(job) => job.parties.names(),
            Setting::Horizontal(job) => job.names(),
            Setting::Secure(job) => job.names().into_iter().map(str::to_owned).collect(),
        }
    }

    /// Whoever listens is a party.
    fn check_network(&self, name: &str) -> Result<(), Error> {
        let Some(network) = &self.network else {
            return Ok(());
        };
        let names = self.party_names();
        let why = match names.contains(&network.listens) {
            true => return Ok(()),
            false if names.is_empty() => {
                "[network] is for jobs of several parties, and this one has one table: remove it".to_owned()
            }
            false => format!(
                "listens = {:?} in [network] is no party of this job; its parties are: {}",
                network.listens,
                names.join(", ")
            ),
        };
        Err(Error::data_in(name, why))
    }

    /// The tables of a job that trains.
    pub(crate) fn sources_mut(&mut self) -> Vec<&mut Source> {
        match &mut self.setting {
            Setting::Plain(_, source) | Setting::Central(_, source) => vec![source],
            Setting::Vertical(job) => {
                let others = job.feature_holders.iter_mut().map(|holder| &mut holder.source);
                [&mut job.label_holder.source].into_iter().chain(others).collect()
            }
            Setting::Prediction(_) => Vec::new(),
            Setting::Local(job) => job.own.iter_mut().collect(),
            Setting::Horizontal(job) => job.owners.iter_mut().map(|owner| &mut owner.source).collect(),
            Setting::Secure(job) => job.parties.iter_mut().map(|party| &mut party.source).collect(),
        }
    }

    /// The schema of a job with one table.
    pub(crate) fn schema_file(&self) -> Option<&Path> {
        match self.setting {
            Setting::Plain(..) | Setting::Central(..) => self.files.first().map(PathBuf::as_path),
            _ => None,
        }
    }

    /// The tables that it is made from, and what is kept of them.
    fn tables(&self) -> Vec<&Path> {
        match &self.setting {
            Setting::Plain(_, source) | Setting::Central(_, source) => vec![&source.data],
            Setting::Vertical(job) => job.files(),
            Setting::Prediction(job) => job.files(),
            Setting::Horizontal(job) => job.files(),
            Setting::Secure(job) => job.files(),
            Setting::Local(job) => job.files(),
        }
    }

    /// Every file that it reads.
    pub(crate) fn inputs(&self) -> Vec<&Path> {
        let files = self.files.iter().map(PathBuf::as_path);
        self.tables().into_iter().chain(files).collect()
    }

    /// An output never takes the place of the table, schema, model or job that it is made from, and its folder exists.
    fn check_output(&self, name: &str) -> Result<(), Error> {
        let mut sources = self.inputs().into_iter();
        let (folder, shown) = (folder_of(&self.output), self.output.display());
        let why = if sources.any(|file| same_file(&self.output, file)) {
            let what = match self.setting {
                Setting::Prediction(_) => "predictions",
                _ => "model",
            };
            format!("the {what} would overwrite {shown}: choose another name for output")
        } else if self.output.is_dir() {
            format!("output = {shown} is a folder: name a file in it")
        } else if !folder.is_dir() {
            let folder = folder.display();
            format!("the folder {folder} of output does not exist: make it first")
        } else {
            return Ok(());
        };
        Err(Error::data_in(name, why))
    }
}

/// The setting of a job with its plan, its output, and the files that it was read from; what is absent was found to be wrong.
type JobParts = (Option<Setting>, Option<PathBuf>, Vec<PathBuf>);

fn parts(root: &Section<'_>, around: &JobContext<'_>) -> JobParts {
    let kinds = [
        ("plain", SettingName::Plain),
        ("central", SettingName::Central),
        ("vertical", SettingName::Vertical),
        ("horizontal", SettingName::Horizontal),
        ("secure", SettingName::Secure),
        ("local", SettingName::Local),
    ];
    let kind = root.required_choice("setting", &kinds).map(|found| found.value);
    match kind {
        Some(SettingName::Vertical) => {
            let example = match vertical::is_prediction(root) {
                true => "\"predictions.csv\"",
                false => "\"model.privet\"",
            };
            let output = around.path(root, "output", example);
            let (setting, files) = vertical::read(root, around);
            (setting, output, files)
        }
        Some(SettingName::Horizontal) => {
            let output = around.path(root, "output", "\"model.privet\"");
            let (setting, files) = horizontal::read(root, around);
            (setting, output, files)
        }
        Some(SettingName::Secure) => {
            let output = around.path(root, "output", "\"model.privet\"");
            let (setting, files) = secure::read(root, around);
            (setting, output, files)
        }
        Some(SettingName::Local) => {
            let output = around.path(root, "output", "\"model.privet\"");
            let (setting, files) = local::read(root, around);
            (setting, output, files)
        }
        _ => one_table(root, kind == Some(SettingName::Central), around),
    }
}

/// A curator's plan without a job: `[algorithm]` and `[privacy]` as a job has them.
///
/// # Errors
/// [`Error::Data`] with everything that is wrong.
pub fn central_plan(text: &str, schema: &Schema) -> Result<privet::setting::central::Plan, Error> {
    const NAME: &str = "the parameters";
    let document = Document::parse(NAME, text)?;
    let root = document.root();
    if schema.label().is_none() {
        root.finding("the schema declares no label, which is what a model learns to predict");
    }
    let algorithm = root.required_section("algorithm", EXAMPLES[1]);
    let privacy = root.required_section("privacy", "epsilon = 0.5");
    let plan = algorithm.and_then(|section| central::read(&section, privacy.as_ref(), Some(schema)));
    document.finish()?;
    plan.ok_or_else(|| Error::data(format!("{NAME} are incomplete")))
}

/// The rest of a job that has one table: its setting, its output, and the files that it was read from.
fn one_table(root: &Section<'_>, central: bool, around: &JobContext<'_>) -> JobParts {
    let file = around.path(root, "schema", "\"schema.toml\"");
    let data = around.path(root, "data", "\"patients.csv\"");
    let output = around.path(root, "output", "\"model.privet\"");
    let algorithm = root.required_section("algorithm", EXAMPLES[usize::from(central)]);
    let privacy = match central {
        true => root.required_section("privacy", "epsilon = 0.5\ndelta = 1e-7        # with it, trees are far better; without, the guarantee is pure\nrows_about = 30000  # by public knowledge: it is never counted"),
        false => root.section("privacy"),
    };
    if !central && let Some(privacy) = &privacy {
        let why = "setting = \"plain\" protects nobody and has no privacy parameters: remove [privacy]";
        privacy.finding(why);
        privacy.allow(&privacy.keys().collect::<Vec<_>>());
    }
    let schema = around.schema(root, file.as_deref());
    if let Some(schema) = &schema
        && schema.label().is_none()
    {
        root.finding_at("schema", "the schema declares no label, which is what a model learns to predict. Add a line such as\noutcome = { type = \"label\", values = [\"no\", \"yes\"] }");
    }
    let source = |schema: &Arc<Schema>| {
        data.map(|data| Source {
            schema: Arc::clone(schema),
            data,
        })
    };
    let setting = match (central, algorithm) {
        (_, None) => {
            // What is wrong with the rest is found all the same.
            if let (true, Some(privacy)) = (central, &privacy) {
                central::check(privacy, schema.as_ref());
            }
            None
        }
        (true, Some(section)) => central::read(&section, privacy.as_ref(), schema.as_ref())
            .and_then(|plan| source(plan.schema()).map(|source| Setting::Central(Box::new(plan), source))),
        (false, Some(section)) => without_protection(&section, schema.as_ref())
            .and_then(|plan| source(plan.schema()).map(|source| Setting::Plain(plan, source))),
    };
    (setting, output, file.into_iter().collect())
}

/// `[algorithm]` of `setting = "plain"`.
fn without_protection(section: &Section<'_>, schema: Option<&Schema>) -> Option<plain::Plan> {
    let algorithm = plain::read(section)?;
    // That there is no label was found before.
    let plan = algorithm.plan(schema.filter(|schema| schema.label().is_some())?);
    plan.inspect_err(|e| finding(section, e)).ok()
}
