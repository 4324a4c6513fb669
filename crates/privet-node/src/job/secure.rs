//! `setting = "secure"`: parties with different rows of the same columns.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::{Schema, Section, Table};
use privet::parameters::{self, finding};
use privet::privacy::Relation;
use privet::privacy::texts::check_name;
use privet::setting::secure::{MOST_PARTIES, Plan, Secure};

use super::{JobContext, Setting, Source};
use crate::place::same_file;

/// Two parties or more with their plans, the initiator first.
#[derive(Debug, Clone)]
pub struct SecureJob {
    /// All of them: at least two.
    pub parties: Vec<SecureParty>,
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

    /// What all will do.
    pub fn plan(&self) -> &Plan {
        &self.parties[0].plan
    }

    /// The parties' names.
    pub fn names(&self) -> Vec<&str> {
        self.parties.iter().map(|party| party.name.as_str()).collect()
    }

    /// The tables of all.
    pub fn sources(&self) -> Vec<&Source> {
        self.parties.iter().map(|party| &party.source).collect()
    }

    /// The ledger lines that all need.
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
            "data belongs to a party here: write it below [initiator] and below each [[responder]]",
        );
    }
    let file = around.path(root, "schema", "\"schema.toml\"");
    let schema = around.schema(root, file.as_deref());
    let algorithm = root.required_section("algorithm", "name = \"maboost\"");
    let secure = algorithm.as_ref().and_then(|section| {
        section.required_choice("name", &[("maboost", ())])?;
        parameters::read(Secure::default(), section)
    });
    let example = "name = \"north\"\ndata = \"north.csv\"";
    let mut sections: Vec<Section<'_>> = root.required_section("initiator", example).into_iter().collect();
    let has_initiator = !sections.is_empty();
    match root.has("responder") {
        true => sections.extend(root.list("responder")),
        // It is missing, and said so.
        false => sections.extend(root.required_section("responder", example)),
    }
    let count = sections.len();
    let mut parties: Vec<PartySection<'_>> = Vec::new();
    for section in sections {
        if let Some(party) = PartySection::read(section, around)
            && party.is_its_own(&parties)
        {
            parties.push(party);
        }
    }
    let job = || {
        let (schema, secure, algorithm) = (schema.as_ref()?, secure?, algorithm.as_ref()?);
        // What is missing was found to be wrong.
        if !has_initiator || count < 2 || parties.len() < count {
            return None;
        }
        let Ok(count) = u16::try_from(count) else {
            root.finding_at("responder", format!("there are more than {MOST_PARTIES} parties"));
            return None;
        };
        let party = |PartySection { section, name, data }: PartySection<'_>| {
            let dataset = format!("{}-{name}", schema.dataset());
            let checked = check_name(&dataset, 100);
            let checked = checked.map_err(|why| {
                section.finding_at(
                    "name",
                    format!("{dataset:?} is not a valid name of a data set: {why}"),
                )
            });
            checked.ok()?;
            let plan = secure.plan_for(count, &schema.of_dataset(&dataset));
            let plan = plan.inspect_err(|e| match parameters::key(e) {
                Some("schema") => root.finding_at("schema", e.to_string()),
                Some("parties") => root.finding_at("responder", e.to_string()),
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
        // The first finding about parameters is that of all.
        let parties: Option<Vec<SecureParty>> = parties.into_iter().map(party).collect();
        Some(Setting::Secure(Box::new(SecureJob { parties: parties? })))
    };
    (job(), file.into_iter().collect())
}

/// `[initiator]` or `[responder]`.
struct PartySection<'a> {
    section: Section<'a>,
    name: String,
    data: PathBuf,
}

impl<'a> PartySection<'a> {
    fn read(section: Section<'a>, around: &JobContext<'_>) -> Option<Self> {
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
        Some(Self {
            section,
            name: name?,
            data: data?,
        })
    }

    /// Names and tables are each party's own.
    fn is_its_own(&self, others: &[Self]) -> bool {
        for other in others {
            if self.name == other.name {
                let why = format!(
                    "two parties are called '{}': give each a name of its own",
                    other.name
                );
                self.section.finding_at("name", why);
                return false;
            }
            if same_file(&self.data, &other.data) {
                let why = format!(
                    "{} is used by {} already: each party has rows of its own",
                    self.data.display(),
                    other.name
                );
                self.section.finding_at("data", why);
                return false;
            }
        }
        true
    }
}

/// What is shown is listed whatever changes; a line without any ε is one about people who are replaced.
fn listed_under(relation: &Relation) -> Relation {
    match relation.clone() {
        Relation::AddRemove { rows, unit } => Relation::Replace { rows, unit },
        relation => relation,
    }
}
