//! The parties of `setting = "vertical"`: who has which table.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::schema::Kind;
use privet::data::{Intake, Schema, Section, Table};
use privet::parameters;
use privet::privacy::Relation;
use privet::privacy::texts::check_name;
use privet::setting::vertical::{Alignment, FeatureHolderPlan, LabelHolderPlan, Protocol, Vertical};

use super::super::{JobContext, Source};
use super::LABEL_HOLDER;
use crate::ledger::beside;
use crate::place::same_file;

/// A party with its plan and table.
#[derive(Debug, Clone)]
pub struct Holder<P> {
    /// Its name.
    pub name: String,
    /// Its plan.
    pub plan: P,
    /// Its table.
    pub source: Source,
    /// The column by which rows are matched; none if they are in the same order.
    pub id: Option<String>,
    /// Where released columns or labels are kept.
    pub kept: PathBuf,
}

/// The party that has the label.
pub type LabelHolderJob = Holder<LabelHolderPlan>;
/// A party that has columns and no label.
pub type FeatureHolderJob = Holder<FeatureHolderPlan>;

impl<P> Holder<P> {
    /// Reads what is asked for of its table, with ids if rows are matched by them.
    ///
    /// # Errors
    /// As [`Source::read`].
    pub fn read(&self, intake: Intake) -> Result<Table, Error> {
        match &self.id {
            Some(column) => self.source.read(&intake.aligned_by(column)?),
            None => self.source.read(&intake),
        }
    }
}

/// Reads the sections of parties.
pub(super) struct PartyReader<'a> {
    pub(super) around: &'a JobContext<'a>,
    pub(super) alignment: Alignment,
}

/// A party's section, and what was found in it.
pub(super) struct PartySection<'a> {
    section: Section<'a>,
    name: Option<String>,
    pub(super) schema_file: Option<PathBuf>,
    pub(super) schema: Option<Schema>,
    data: Option<PathBuf>,
    /// Nothing where it is wrong; inside, nothing where it is not needed.
    id: Option<Option<String>>,
    kept: Option<PathBuf>,
}

impl PartyReader<'_> {
    pub(super) fn label_holder<'s>(&self, section: &Section<'s>) -> PartySection<'s> {
        section.allow(&["name"]);
        let name = match section.has("name") {
            true => section.text("name").map(|found| found.value),
            false => Some(LABEL_HOLDER.into()),
        };
        section.allow(&["kept"]);
        let mut side = self.side(section, name, ["\"bank.toml\"", "\"bank.csv\"", "\"customer\""]);
        side.kept = self.kept(section, &side, ["labels", "\"bank.labels\""]);
        side
    }

    pub(super) fn feature_holders<'s>(&self, root: &Section<'s>) -> Vec<PartySection<'s>> {
        const EXAMPLE: &str = "{ schema = \"shop.toml\", data = \"shop.csv\", id = \"client\" }";
        let all = root.section("feature_holder").map(|all| all.sections(EXAMPLE));
        if all.as_ref().is_none_or(Vec::is_empty) {
            root.finding_at(
                "feature_holder",
                "there is no feature holder; add lines such as:\n    [feature_holder.shop]\n    schema = \"shop.toml\"\n    data = \
                 \"shop.csv\"\n    id = \"client\"",
            );
        }
        all.unwrap_or_default()
            .iter()
            .map(|section| {
                section.allow(&["kept"]);
                let name = Some(section.name().to_owned());
                let mut side = self.side(section, name, ["\"shop.toml\"", "\"shop.csv\"", "\"client\""]);
                side.kept = self.kept(section, &side, ["columns", "\"shop.columns\""]);
                side
            })
            .collect()
    }

    /// Where a party keeps what it has released: beside its data, if the job says nothing else.
    fn kept(
        &self,
        section: &Section<'_>,
        side: &PartySection<'_>,
        [what, example]: [&str; 2],
    ) -> Option<PathBuf> {
        if section.has("kept") {
            return self.around.path(section, "kept", example);
        }
        Some(beside(side.data.as_deref()?, &format!(".{what}")))
    }

    fn side<'s>(&self, section: &Section<'s>, name: Option<String>, examples: [&str; 3]) -> PartySection<'s> {
        let [schema, data, id] = examples;
        let schema_file = self.around.path(section, "schema", schema);
        let data = self.around.path(section, "data", data);
        let schema = self.around.schema(section, schema_file.as_deref());
        let id = match self.alignment {
            Alignment::Private => section.required_text("id", id).and_then(|found| {
                let schema = schema.as_ref()?;
                let column = schema.columns().iter().find(|c| c.name == found.value);
                if column.is_some_and(|column| column.kind == Kind::Id) {
                    return Some(Some(found.value));
                }
                let ids = schema.columns().iter().filter(|c| c.kind == Kind::Id);
                let ids: Vec<&str> = ids.map(|c| c.name.as_str()).collect();
                section.finding_at(
                    "id",
                    match ids[..] {
                        [] => format!(
                            "the schema has no column '{0}' of type id to match rows by: add {0} = {{ type = \"id\" }} to its [columns]",
                            found.value
                        ),
                        _ => format!(
                            "the schema has no column '{}' of type id to match rows by; it has: {}",
                            found.value,
                            ids.join(", ")
                        ),
                    },
                );
                None
            }),
            Alignment::Given => {
                if section.has("id") {
                    section.finding_at("id", "id is not used with alignment = \"given\", where row 1 here is row 1 there: remove it");
                }
                Some(None)
            }
        };
        if let Some(name) = &name
            && let Err(why) = check_name(name, 100)
        {
            section.finding_at("name", format!("{name:?} is not a valid name of a party: {why}"));
        }
        PartySection {
            section: *section,
            name,
            schema_file,
            schema,
            data,
            id,
            kept: None,
        }
    }
}

impl PartySection<'_> {
    /// The label holder, or nothing if something was found to be wrong with it.
    pub(super) fn label_holder(self, vertical: &Vertical, privacy: &Section<'_>) -> Option<LabelHolderJob> {
        let plan = vertical.label_holder(self.schema.as_ref()?);
        let plan = plan.inspect_err(|e| self.finding(e, privacy)).ok()?;
        if vertical.label_epsilon().is_some() {
            self.check_rows();
        }
        self.holder(plan)
    }

    /// The label holder of a job for predicting: its new rows need no label.
    pub(super) fn predictor(self, vertical: &Vertical) -> Option<LabelHolderJob> {
        let plan = vertical.predictor(self.schema.as_ref()?);
        self.holder(plan)
    }

    /// The feature holder, or nothing if something was found to be wrong with it.
    pub(super) fn feature_holder(
        self,
        vertical: &Vertical,
        privacy: &Section<'_>,
        root: &Section<'_>,
        branches: bool,
    ) -> Option<FeatureHolderJob> {
        let schema = self.schema.as_ref()?;
        let plan = vertical.feature_holder(schema);
        let plan = plan.inspect_err(|e| self.finding(e, privacy)).ok()?;
        let plan = plan.asked(branches);
        if *vertical.protocol() == Protocol::AsPublished
            && let Some(column) = schema.features().find(|c| matches!(c.kind, Kind::Category(_)))
        {
            root.finding_at(
                "protocol",
                format!(
                    "protocol = \"as_published\" ranks values, and the column '{}' of {} has no order: declare it as an ordinal, or use \
                     protocol = \"columns\"",
                    column.name,
                    self.section.name()
                ),
            );
        }
        self.check_rows();
        self.holder(plan)
    }

    /// A finding at the parameter that an error is about, or else at the schema.
    fn finding(&self, e: &Error, privacy: &Section<'_>) {
        match parameters::key(e).filter(|key| privacy.knows(key)) {
            Some(key) => privacy.finding_at(key, e.to_string()),
            None => self.section.finding_at("schema", e.to_string()),
        }
    }

    /// Rows are matched one by one: a person of several rows could be told by their number.
    fn check_rows(&self) {
        if let Some(Relation::Replace { rows, .. }) = self.schema.as_ref().map(Schema::replaced)
            && rows.get() > 1
        {
            self.section.finding_at(
                "schema",
                format!(
                    "the schema says that a person has up to {rows} rows, and changed values show how many there are of each: write \
                     rows_per_unit = 1, or declare what everybody may know with private = false"
                ),
            );
        }
    }

    fn holder<P>(self, plan: P) -> Option<Holder<P>> {
        let schema = Arc::new(self.schema?);
        Some(Holder {
            name: self.name?,
            plan,
            source: Source {
                schema,
                data: self.data?,
            },
            id: self.id?,
            kept: self.kept?,
        })
    }
}

/// Whether names, data sets, columns and files of all parties go together; findings where they do not.
pub(super) fn check_together(own: Option<&PartySection<'_>>, others: &[PartySection<'_>]) -> bool {
    let mut fine = true;
    let (mut names, mut sets, mut columns) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut files: Vec<(&Path, String, bool)> = Vec::new();
    for side in own.into_iter().chain(others) {
        let who = side.name.clone().unwrap_or_default();
        let mut say = |key: &str, why: String| {
            side.section.finding_at(key, why);
            fine = false;
        };
        if names.insert(who.clone(), ()).is_some() {
            say(
                "name",
                format!("two parties are called '{who}': give each a name of its own"),
            );
        }
        for (key, file) in [
            ("schema", &side.schema_file),
            ("data", &side.data),
            ("kept", &side.kept),
        ] {
            let Some(file) = file else { continue };
            // Two parties may describe their tables by one file, which nobody writes.
            let is_schema = key == "schema";
            let mut before = files.iter().filter(|(_, _, schema)| !(is_schema && *schema));
            if let Some((_, before, _)) = before.find(|(before, ..)| same_file(before, file)) {
                let why = format!(
                    "{} is used by {before} already: each party has files of its own",
                    file.display()
                );
                say(key, why);
            }
            files.push((file, who.clone(), is_schema));
        }
        let Some(schema) = &side.schema else { continue };
        if let Some(before) = sets.insert(schema.dataset().to_owned(), who.clone()) {
            let why = format!(
                "the data set '{}' is {before}'s already: a budget is one party's, so give each data set a name of its own",
                schema.dataset()
            );
            say("schema", why);
        }
        let read = schema
            .columns()
            .iter()
            .filter(|c| !matches!(c.kind, Kind::Id | Kind::Skip));
        for column in read {
            if let Some(before) = columns.insert(column.name.clone(), who.clone()) {
                let why = format!(
                    "the column '{}' is {before}'s already, and a model knows columns by name: rename one of them in its table and schema, \
                     or declare it as type = \"skip\" here",
                    column.name
                );
                say("schema", why);
            }
        }
    }
    fine
}
