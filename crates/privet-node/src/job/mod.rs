//! A job: one TOML file that says what is to be done, checked as a whole before anything runs.

mod central;
mod plain;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::Document;
use privet::data::{Intake, Keep, Schema, Table};
use privet::setting::plain::Plain;

pub use central::Curated;

use crate::progress::Progress;
use crate::table::{self, Extra};

/// What is to be done, with everything that can be checked without looking at rows.
#[derive(Debug, Clone)]
pub struct Job {
    /// Who trusts whom, and how models are made.
    pub setting: Setting,
    /// What is public about the table.
    pub schema: Arc<Schema>,
    /// The table.
    pub data: PathBuf,
    /// Where the model goes.
    pub output: PathBuf,
    files: Vec<PathBuf>,
}

/// Who trusts whom, and how models are made.
#[derive(Debug, Clone)]
pub enum Setting {
    /// No privacy.
    Plain(Plain),
    /// A curator sees the rows, everybody else the model.
    Central(Curated),
}

impl Setting {
    /// What must be kept of a table's numbers.
    pub fn keep(&self) -> Keep {
        match self {
            Self::Plain(plain) => plain.keep(),
            Self::Central(curated) => curated.central.keep(),
        }
    }
}

const EXAMPLE: &str = "name = \"stumps\"";

impl Job {
    /// Reads a job and its schema. Paths in it are relative to its folder.
    ///
    /// # Errors
    /// [`Error::Data`] with everything that is wrong, line by line.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path)
            .map_err(|e| Error::Data(format!("{name}: the job cannot be read: {e}")))?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut job = Self::parse(&name, &text, folder, &|path| {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Error::Data(format!("the schema {} cannot be read: {e}", path.display())))?;
            Schema::from_toml(&path.display().to_string(), &text)
        })?;
        job.files.push(path.to_owned());
        Ok(job)
    }

    /// Reads a job's text; `schema` gives the schema at a path.
    ///
    /// # Errors
    /// As [`Job::read`].
    pub fn parse(
        name: &str,
        text: &str,
        folder: &Path,
        schema: &dyn Fn(&Path) -> Result<Schema, Error>,
    ) -> Result<Self, Error> {
        let document = Document::parse(name, text)?;
        let root = document.root();
        let setting = root.required_choice("setting", &[("plain", false), ("central", true)]);
        let central = setting.map(|found| found.value);
        let path = |key: &str, example: &str| {
            let found = root.required_text(key, example)?;
            if found.value.is_empty() {
                root.finding_at(
                    key,
                    format!("{key} is empty; write a file's name, such as {key} = {example}"),
                );
                return None;
            }
            Some(folder.join(found.value))
        };
        let file = path("schema", "\"schema.toml\"");
        let data = path("data", "\"patients.csv\"");
        let output = path("output", "\"model.privet\"");
        let algorithm = root.required_section("algorithm", EXAMPLE);
        let privacy = match central {
            Some(true) => root.required_section("privacy", "epsilon = 0.5"),
            _ => root.section("privacy"),
        };
        if central != Some(true)
            && let Some(privacy) = &privacy
        {
            let why = "setting = \"plain\" protects nobody, so nothing can be said about privacy: leave [privacy] out";
            privacy.finding(why);
            privacy.allow(&privacy.keys().collect::<Vec<_>>());
        }
        let schema = file.as_ref().and_then(|file| {
            schema(file)
                .inspect_err(|e| root.finding_at("schema", e.to_string()))
                .ok()
        });
        if let Some(schema) = &schema
            && schema.label().is_none()
        {
            root.finding_at("schema", "the schema declares no label, which is what a model learns to predict. Add a line such as\noutcome = { type = \"label\", values = [\"no\", \"yes\"] }");
        }
        let setting = algorithm.and_then(|section| match central {
            Some(true) => central::read(&section, privacy.as_ref(), schema.as_ref()).map(Setting::Central),
            _ => plain::read(&section, schema.as_ref()).map(Setting::Plain),
        });
        document.finish()?;
        // Whatever is absent was found to be wrong.
        let (Some(schema), Some(data), Some(output), Some(setting)) = (schema, data, output, setting) else {
            return Err(Error::Data(format!("{name} is not a whole job")));
        };
        let schema = match &setting {
            Setting::Central(curated) => curated
                .central
                .resolve(&schema, &curated.relation)?
                .reads(&schema),
            Setting::Plain(_) => schema,
        };
        let mut job = Self {
            setting,
            schema: Arc::new(schema),
            data,
            output,
            files: file.into_iter().collect(),
        };
        job.check_output(name)?;
        job.files.dedup();
        Ok(job)
    }

    /// The same job on another table, or with another name for the model.
    ///
    /// # Errors
    /// [`Error::Data`] if the model would overwrite what it is made from.
    pub fn with(mut self, data: Option<&Path>, output: Option<&Path>) -> Result<Self, Error> {
        if let Some(data) = data {
            self.data = data.to_owned();
        }
        if let Some(output) = output {
            self.output = output.to_owned();
        }
        self.check_output("the command")?;
        Ok(self)
    }

    /// A model never takes the place of the table, schema or job that it is made from, and its folder exists.
    fn check_output(&self, name: &str) -> Result<(), Error> {
        let real = |path: &Path| std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let output = real(&self.output);
        if output == real(&self.data) || self.files.iter().any(|file| output == real(file)) {
            return Err(Error::Data(format!(
                "{name}: the model would overwrite {}: choose another name for output",
                self.output.display()
            )));
        }
        if output.is_dir() {
            return Err(Error::Data(format!(
                "{name}: output = {} is a folder: name a file in it",
                self.output.display()
            )));
        }
        match self.output.parent() {
            Some(folder) if folder != Path::new("") && !folder.is_dir() => Err(Error::Data(format!(
                "{name}: the folder {} of output does not exist: make it first",
                folder.display()
            ))),
            _ => Ok(()),
        }
    }

    /// Reads the job's table.
    ///
    /// # Errors
    /// As [`table::read`].
    pub fn table(&self) -> Result<Table, Error> {
        let intake = Intake::new(Arc::clone(&self.schema), self.setting.keep());
        let bar = Progress::bytes(format!("Reading {}", self.data.display()));
        table::read(&self.data, &intake, Extra::Refuse, &|done, of| bar.at(done, of))
    }
}

/// Reads `bytes` as a job, with a fixed schema: what is accepted is whole.
pub fn decode(bytes: &[u8]) {
    const SCHEMA: &str = "dataset = \"d\"\n[columns]\nx = { type = \"flag\" }\ny = { type = \"label\", values = [\"a\", \"b\"] }\n";
    let text = String::from_utf8_lossy(bytes);
    let job = Job::parse("job", &text, Path::new(""), &|_| {
        Schema::from_toml("schema", SCHEMA)
    });
    if let Ok(job) = job {
        assert!(job.output != job.data && job.schema.label().is_some());
    }
}
