//! `setting = "secure"`: two parties with different rows of the same columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::{Schema, Section, Table};
use privet::parameters::{self, finding};
use privet::privacy::Relation;
use privet::privacy::texts::check_name;
use privet::setting::secure::{Plan, Secure};

use super::{JobContext, Setting, Source};
use crate::place::same_file;

/// Two parties with their plans, the initiator first.
#[derive(Debug, Clone)]
pub struct SecureJob {
    /// The two.
    pub parties: [SecureParty; 2],
}

/// A party with its plan and table.
#[derive(Debug, Clone)]
pub struct SecureParty {
    /// Its name.
    pub name: String,
    /// Its plan: they differ in the name of the data set alone.
    pub plan: Plan,
    /// Its table.
    pub source: Source,
    /// The line of the ledger that lists what is shown.
    pub relation: Relation,
}

impl SecureParty {
    /// The data set whose ledger lists what is shown.
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

impl SecureJob {
    /// Every table that it reads.
    pub(super) fn files(&self) -> Vec<&Path> {
        self.parties
            .iter()
            .map(|party| party.source.data.as_path())
            .collect()
    }

    /// What both will do.
    pub fn plan(&self) -> &Plan {
        &self.parties[0].plan
    }

    /// The parties' names.
    pub fn names(&self) -> [&str; 2] {
        self.parties.each_ref().map(|party| party.name.as_str())
    }

    /// The tables of both.
    pub fn sources(&self) -> Vec<&Source> {
        self.parties.iter().map(|party| &party.source).collect()
    }

    /// The ledger lines that both need.
    pub fn data_sets(&self) -> Vec<(&Schema, &Relation)> {
        let lines = self.parties.iter();
        lines
            .map(|party| (&*party.source.schema, &party.relation))
            .collect()
    }
}

/// The job, or nothing if something was found to be wrong with it; and the files that were looked at.
pub(super) fn read(root: &Section<'_>, around: &JobContext<'_>) -> (Option<Setting>, Vec<PathBuf>) {
    if root.has("data") {
        root.finding_at(
            "data",
            "data belongs to a party here: write it below [initiator] and below [responder]",
        );
    }
    let file = around.path(root, "schema", "\"schema.toml\"");
    let schema = around.schema(root, file.as_deref());
    let algorithm = root.required_section("algorithm", "name = \"maboost\"");
    let secure = algorithm.as_ref().and_then(|section| {
        section.required_choice("name", &[("maboost", ())])?;
        parameters::read(Secure::default(), section)
    });
    let parties = ["initiator", "responder"].map(|role| {
        let section = root.required_section(role, "name = \"north\"\ndata = \"north.csv\"")?;
        let name = section
            .required_text("name", "\"north\"")
            .map(|found| found.value);
        let name = name.filter(|name| {
            let checked = check_name(name, 100);
            let checked = checked.map_err(|why| {
                section.finding_at("name", format!("{name:?} is not a valid name of a party: {why}"))
            });
            checked.is_ok()
        });
        let data = around.path(&section, "data", "\"north.csv\"");
        Some((section, name?, data?))
    });
    let job = || {
        let (schema, secure, algorithm) = (schema.as_ref()?, secure?, algorithm.as_ref()?);
        let [Some(first), Some(second)] = parties else {
            return None;
        };
        if first.1 == second.1 {
            let why = format!(
                "both parties are called '{}': give each a name of its own",
                first.1
            );
            second.0.finding_at("name", why);
            return None;
        }
        if same_file(&first.2, &second.2) {
            let why = format!(
                "{} is used by {} already: each party has rows of its own",
                second.2.display(),
                first.1
            );
            second.0.finding_at("data", why);
            return None;
        }
        let party = |(section, name, data): (Section<'_>, String, PathBuf)| {
            let dataset = format!("{}-{name}", schema.dataset());
            let checked = check_name(&dataset, 100);
            let checked = checked.map_err(|why| {
                section.finding_at(
                    "name",
                    format!("{dataset:?} is not a valid name of a data set: {why}"),
                )
            });
            checked.ok()?;
            let plan = secure.plan(&schema.of_dataset(&dataset));
            let plan = plan.inspect_err(|e| match parameters::key(e) {
                Some("schema") => root.finding_at("schema", e.to_string()),
                _ => finding(algorithm, e),
            });
            let plan = plan.ok()?;
            let schema = Arc::clone(plan.schema());
            let relation = listed_under(plan.relation());
            let source = Source { schema, data };
            Some(SecureParty {
                name,
                plan,
                source,
                relation,
            })
        };
        let parties = [party(first)?, party(second)?];
        Some(Setting::Secure(Box::new(SecureJob { parties })))
    };
    (job(), file.into_iter().collect())
}

/// What is shown is listed whatever changes; a line without any ε is one about people who are replaced.
fn listed_under(relation: &Relation) -> Relation {
    match relation.clone() {
        Relation::AddRemove { rows, unit } => Relation::Replace { rows, unit },
        relation => relation,
    }
}
