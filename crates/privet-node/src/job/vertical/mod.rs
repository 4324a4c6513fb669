//! `setting = "vertical"`: one label holder, feature holders, and how columns are changed before they are sent.

mod prediction;
mod sides;

use std::path::{Path, PathBuf};

use privet::Error;
use privet::data::{Schema, Section, Table};
use privet::parameters::{self, Builder, Value};
use privet::privacy::{Epsilon, Relation};
use privet::setting::plain::{Algorithm, Trees};
use privet::setting::vertical::{self, Alignment, Budget, Desensitisation, Protocol, Vertical};

pub use prediction::PredictionJob;
pub(super) use prediction::is_prediction;
pub use sides::{FeatureHolderJob, Holder, LabelHolderJob};

use super::{JobContext, Setting, Source};

/// What a label holder is called if its job does not say.
const LABEL_HOLDER: &str = "label holder";

/// Parties with different columns of the same people, each with its plan.
#[derive(Debug, Clone)]
pub struct VerticalJob {
    /// How columns are changed, rows matched and trees grown.
    pub vertical: Vertical,
    /// The party that has the label.
    pub label_holder: LabelHolderJob,
    /// The others, in the job's order.
    pub feature_holders: Vec<FeatureHolderJob>,
}

impl VerticalJob {
    /// Every file that it reads or keeps.
    pub(super) fn files(&self) -> Vec<&Path> {
        let others = self.feature_holders.iter();
        let others = others.flat_map(|holder| [holder.source.data.as_path(), &holder.kept]);
        let own = &self.label_holder;
        [own.source.data.as_path(), &own.kept]
            .into_iter()
            .chain(others)
            .collect()
    }

    /// The parties' names, in the order of their numbers.
    pub fn names(&self) -> Vec<String> {
        let others = self.feature_holders.iter().map(|holder| holder.name.clone());
        [self.label_holder.name.clone()]
            .into_iter()
            .chain(others)
            .collect()
    }

    /// Each party's name and table, in the order of their numbers.
    pub(crate) fn sources(&self) -> impl Iterator<Item = (&str, &Source)> {
        let own = &self.label_holder;
        let others = self.feature_holders.iter();
        let others = others.map(|holder| (holder.name.as_str(), &holder.source));
        [(own.name.as_str(), &own.source)].into_iter().chain(others)
    }

    /// The data sets that a ledger needs a line for, each with whom it protects.
    pub fn data_sets(&self) -> Vec<(&Schema, &Relation)> {
        let others = self.feature_holders.iter();
        let others = others.map(|holder| (&*holder.source.schema, holder.plan.columns().relation()));
        let own = &self.label_holder;
        let labels = self.vertical.label_epsilon().is_some();
        others
            .chain(labels.then(|| (&*own.source.schema, own.plan.relation())))
            .collect()
    }

    /// Rows that are said to be in the same order are as many, and rows that are matched by ids are not more than was agreed on. Asked before
    /// anything is released: to correct a table afterwards would make another.
    ///
    /// # Errors
    /// [`Error::Data`] if a party has another number of rows, or too many.
    pub fn check_rows(&self, mine: &Table, theirs: &[Table]) -> Result<(), Error> {
        let LabelHolderJob { name, source, .. } = &self.label_holder;
        let rows = mine.rows_under(self.label_holder.plan.relation());
        if *self.vertical.alignment() == Alignment::Private {
            self.check_most(name, source, rows)?;
            for (holder, table) in self.feature_holders.iter().zip(theirs) {
                let rows = table.rows_under(holder.plan.columns().relation());
                self.check_most(&holder.name, &holder.source, rows)?;
            }
            return Ok(());
        }
        for (holder, table) in self.feature_holders.iter().zip(theirs) {
            let found = table.rows_under(holder.plan.columns().relation());
            if let (Some(rows), Some(found)) = (rows, found)
                && rows != found
            {
                return Err(Error::data(format!(
                    "alignment = \"given\" means that row 1 of {} is row 1 of {}, but {name} has {rows} rows and {} has {found}: \
                     use alignment = \"private\", or correct the tables. Nothing was released.",
                    source.data.display(),
                    holder.source.data.display(),
                    holder.name
                )));
            }
        }
        Ok(())
    }

    /// That a party does not bring more rows than was agreed on.
    fn check_most(&self, name: &str, source: &Source, rows: Option<usize>) -> Result<(), Error> {
        match (self.vertical.most_ids(), rows) {
            (Some(most), Some(rows)) if rows as u64 > *most => Err(Error::data(format!(
                "most_ids = {most} is the most rows that a party may bring, and {name} has {rows} in {}: write a larger number into the jobs of \
                 all parties. Nothing was released.",
                source.data.display()
            ))),
            _ => Ok(()),
        }
    }

    /// What all parties will do.
    pub fn plan(&self) -> vertical::Plan {
        let others = self.feature_holders.iter();
        vertical::Plan {
            label_holder: self.label_holder.plan.clone(),
            feature_holders: others.map(|holder| holder.plan.clone()).collect(),
        }
    }

    /// The label holder in a sentence.
    pub fn trainer(&self) -> String {
        match self.label_holder.name.as_str() {
            LABEL_HOLDER => format!("the {LABEL_HOLDER}"),
            name => name.to_owned(),
        }
    }
}

/// The schema of rows that have all columns, if they go together.
fn joined<'a>(own: &Schema, others: impl Iterator<Item = &'a Schema>, bins: u16) -> Option<Schema> {
    let coarse: Vec<Schema> = others.map(|schema| schema.coarse(bins)).collect();
    let features = own.features().chain(coarse.iter().flat_map(Schema::features));
    let columns = features.chain(own.label().map(|(column, _)| column)).cloned();
    let builder = Schema::builder(own.dataset()).missing(own.missing());
    builder.columns(columns).build().ok()
}

/// What a job says of its parties, read before it is known what they do.
struct Read<'a> {
    privacy: Option<Section<'a>>,
    protected: Option<(Desensitisation, Builder<Vertical>)>,
    own: Option<sides::PartySection<'a>>,
    others: Vec<sides::PartySection<'a>>,
    /// Whether names, columns and files of all parties go together.
    together: bool,
}

/// The job, or nothing if something was found to be wrong with it; and the files that were looked at.
pub(super) fn read(root: &Section<'_>, around: &JobContext<'_>) -> (Option<Setting>, Vec<PathBuf>) {
    for key in ["schema", "data"].into_iter().filter(|key| root.has(key)) {
        root.finding_at(
            key,
            format!("{key} belongs to a party here: write it below [label_holder] and below each [feature_holder.NAME]"),
        );
    }
    if is_prediction(root) {
        return prediction::read(root, around);
    }
    let protocol = Protocol::read(root, "protocol").unwrap_or(Protocol::Columns);
    let privacy = root.required_section("privacy", "epsilon = 1.0");
    let algorithm = root.required_section(
        "algorithm",
        "name = \"trees\"  # or, to predict new rows, no [algorithm] and at the top: model = \"model.privet\"",
    );
    let read = Read::new(root, around, privacy, Vertical::builder().protocol(protocol));
    let files = read.files();

    let schemas: Option<Vec<&Schema>> = read.others.iter().map(|side| side.schema.as_ref()).collect();
    let own_schema = read.own.as_ref().and_then(|side| side.schema.as_ref());
    // Names in `rises` are looked for among all columns; of columns that are drawn by chance nobody knows which.
    let all = match (own_schema, &schemas, &read.protected) {
        (Some(own), Some(others), Some((changes, _))) if !others.is_empty() && read.together => {
            let is_sampled = matches!(changes.budget(), Budget::Sample(_));
            let sent = others.iter().copied().filter(|_| !is_sampled);
            joined(own, sent, *changes.bins())
        }
        _ => None,
    };
    let trees = algorithm.and_then(|section| trees(&section, all.as_ref()));
    let job = trees.and_then(|trees| read.job(root, Some(trees), false));
    (job.map(|job| Setting::Vertical(Box::new(job))), files)
}

impl<'a> Read<'a> {
    fn new(
        root: &Section<'a>,
        around: &JobContext<'_>,
        privacy: Option<Section<'a>>,
        start: Builder<Vertical>,
    ) -> Self {
        const EXAMPLE: &str = "schema = \"bank.toml\"\ndata = \"bank.csv\"\nid = \"customer\"";
        let alignment = Alignment::read(root, "alignment").unwrap_or(Alignment::Private);
        let start = start.alignment(alignment);
        let start = match most_ids(root, alignment) {
            Some(most) => start.most_ids(most),
            // A finding, or not needed.
            None => start,
        };
        let protected = privacy.as_ref().and_then(|section| protected(section, start));
        let reading = sides::PartyReader { around, alignment };
        let own = root
            .required_section("label_holder", EXAMPLE)
            .map(|section| reading.label_holder(&section));
        let others = reading.feature_holders(root);
        Self {
            privacy,
            protected,
            together: sides::check_together(own.as_ref(), &others),
            own,
            others,
        }
    }

    /// The schemas that were looked at.
    fn files(&self) -> Vec<PathBuf> {
        let sides = self.own.iter().chain(&self.others);
        sides.filter_map(|side| side.schema_file.clone()).collect()
    }

    /// The parties with their plans: for training by these trees, or for predicting, by columns or by branches.
    fn job(self, root: &Section<'_>, trees: Option<Trees>, branches: bool) -> Option<VerticalJob> {
        let (privacy, (_, builder)) = (self.privacy?, self.protected?);
        let vertical = match &trees {
            Some(trees) => builder.trees(trees.clone()).build(),
            None => builder.build(),
        };
        let vertical = vertical.inspect_err(|e| match parameters::key(e) {
            Some("most_ids") if root.has("most_ids") => root.finding_at("most_ids", e.to_string()),
            // It was found to be missing before.
            Some("most_ids") => {}
            _ => privacy.finding(e.to_string()),
        });
        let vertical = vertical.ok()?;
        let own = self.own.and_then(|side| match trees {
            Some(_) => side.label_holder(&vertical, &privacy),
            None => side.predictor(&vertical),
        });
        // Every side is looked at, so that all findings are made.
        let others = self.others.into_iter();
        let others = others.map(|side| side.feature_holder(&vertical, &privacy, root, branches));
        let others: Vec<Option<FeatureHolderJob>> = others.collect();
        Some(VerticalJob {
            label_holder: own?,
            feature_holders: others.into_iter().collect::<Option<_>>()?,
            vertical,
        })
    }
}

/// `most_ids`: the most rows that a party may bring, where rows are matched by ids.
fn most_ids(root: &Section<'_>, alignment: Alignment) -> Option<u64> {
    root.allow(&["most_ids"]);
    let why = match (alignment, root.has("most_ids")) {
        (Alignment::Private, true) => return Option::<u64>::read(root, "most_ids"),
        (Alignment::Private, false) => {
            "most_ids is missing; add: most_ids = 100000. It is the most rows that a party may bring, and bounds how many people the others can \
             ask about"
        }
        (Alignment::Given, true) => {
            "most_ids is not used with alignment = \"given\", where no ids are matched: remove it"
        }
        (Alignment::Given, false) => return None,
    };
    root.finding_at("most_ids", why);
    None
}

/// `[privacy]`: how columns and labels are changed, or nothing if something was found to be wrong with it.
fn protected(
    section: &Section<'_>,
    start: Builder<Vertical>,
) -> Option<(Desensitisation, Builder<Vertical>)> {
    let before = section.findings();
    // Where it is missing or wrong, that is a finding.
    let any = Desensitisation::builder().epsilon(Epsilon::from_billionths(1_000_000_000));
    if !section.has("epsilon") {
        section.required_number("epsilon", "1.0");
    }
    // First, so that the key is known whatever else is wrong.
    let label_epsilon = Option::<Epsilon>::read(section, "label_epsilon");
    // Unwrap safety: any ε above zero will do, and the rest are defaults.
    let changes = parameters::read(any.build().expect("defaults"), section)?;
    let builder = match label_epsilon {
        Some(epsilon) => start.label_epsilon(epsilon),
        None => start,
    };
    let builder = builder.desensitisation(changes.clone());
    (section.findings() == before).then_some((changes, builder))
}

/// `[algorithm]`: trees, with the defaults of this setting.
fn trees(section: &Section<'_>, schema: Option<&Schema>) -> Option<Trees> {
    section.required_choice("name", &[("trees", ())])?;
    let start = Trees::builder().rounds(80);
    // Leaves alone bound no depth, as everywhere.
    let start = match section.has("leaves") {
        true => start,
        false => start.depth(3),
    };
    // Unwrap safety: these are within their ranges.
    let trees = parameters::read(start.build().expect("defaults"), section)?;
    let labelled = schema.filter(|schema| schema.label().is_some());
    let plan = labelled.map_or(Ok(()), |schema| trees.plan(schema).map(drop));
    plan.inspect_err(|e| parameters::finding(section, e)).ok()?;
    Some(trees)
}
