//! `setting = "vertical"`: one label holder, feature holders, and how columns change before they leave.

mod privacy;
mod sides;

use std::path::{Path, PathBuf};

use privet::Error;
use privet::data::{Schema, Section, Table};
use privet::parameters;
use privet::setting::plain::{Algorithm, Trees};
use privet::setting::vertical::{Alignment, Builder, Protocol, Vertical};

pub use sides::{FeatureHolder, LabelHolder};

use super::Surroundings;

/// What a label holder is called if its job does not say.
const LABEL_HOLDER: &str = "label holder";

/// Parties with different columns of the same people.
#[derive(Debug, Clone)]
pub struct Apart {
    /// How columns change, rows meet and trees grow.
    pub vertical: Vertical,
    /// The same where rows have met already: to simulate.
    pub met: Vertical,
    /// The party that knows what is to be predicted.
    pub label_holder: LabelHolder,
    /// The others, in the job's order.
    pub feature_holders: Vec<FeatureHolder>,
}

impl Apart {
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

    /// Rows that are said to stand in the same order are as many, before anything leaves: to mend a table afterwards would make
    /// another.
    ///
    /// # Errors
    /// [`Error::Data`] if a party has another number of rows.
    pub fn check_given(&self, mine: &Table, theirs: &[Table]) -> Result<(), Error> {
        if self.vertical.alignment() != Alignment::Given {
            return Ok(());
        }
        let LabelHolder { name, source, .. } = &self.label_holder;
        let rows = mine.rows_under(&source.schema.replaced());
        for (holder, table) in self.feature_holders.iter().zip(theirs) {
            let found = table.rows_under(&holder.relation());
            if let (Some(rows), Some(found)) = (rows, found)
                && rows != found
            {
                return Err(Error::data(format!(
                    "alignment = \"given\" means that row 1 of {} is row 1 of {}, but {name} has {rows} rows and {} has {found}: \
                     use alignment = \"private\", or mend the tables. Nothing has left.",
                    source.data.display(),
                    holder.source.data.display(),
                    holder.name
                )));
            }
        }
        Ok(())
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

/// The job, or nothing if something was found to be wrong with it; and the files that were looked at.
pub(super) fn read(root: &Section<'_>, around: &Surroundings<'_>) -> (Option<Apart>, Vec<PathBuf>) {
    const EXAMPLE: &str = "schema = \"bank.toml\"\ndata = \"bank.csv\"\nid = \"customer\"";
    let alignment = chosen(root, "alignment", &Alignment::NAMES);
    let protocol = chosen(root, "protocol", &Protocol::NAMES);
    for key in ["schema", "data"].into_iter().filter(|key| root.has(key)) {
        root.finding_at(
            key,
            format!("{key} belongs to a party here: write it below [label_holder] and below each [feature_holder.NAME]"),
        );
    }
    let privacy = root.required_section("privacy", "epsilon = 1.0");
    let algorithm = root.required_section("algorithm", "name = \"trees\"");
    let desensitisation = privacy.and_then(|section| privacy::read(&section));
    let reading = sides::Reading { around, alignment };
    let own = root
        .required_section("label_holder", EXAMPLE)
        .map(|section| reading.label_holder(&section));
    let others = reading.feature_holders(root);
    let mut files: Vec<PathBuf> = own.iter().flat_map(|side| side.schema_file.clone()).collect();
    files.extend(others.iter().filter_map(|side| side.schema_file.clone()));

    let schemas: Option<Vec<&Schema>> = others.iter().map(|side| side.schema.as_ref()).collect();
    let own_schema = own.as_ref().and_then(|side| side.schema.as_ref());
    let apart = sides::check_together(own.as_ref(), &others);
    // Names in `rises` are looked for among all columns; of columns that are drawn by chance nobody knows which.
    let all = match (own_schema, &schemas, &desensitisation) {
        (Some(own), Some(others), Some(d)) if !others.is_empty() && apart => {
            let leaving = others.iter().copied().filter(|_| !d.is_sampled());
            joined(own, leaving, d.bins)
        }
        _ => None,
    };
    let trees = algorithm.and_then(|section| trees(&section, all.as_ref()));
    let whole = desensitisation.zip(trees).zip(privacy);
    let Some(((desensitisation, trees), privacy)) = whole else {
        return (None, files);
    };
    let builder = desensitisation.builder.trees(trees).protocol(protocol);
    let verticals = privacy::built(&privacy, builder.clone().alignment(alignment))
        .zip(privacy::built(&privacy, builder.alignment(Alignment::Given)));
    let Some((vertical, met)) = verticals else {
        return (None, files);
    };
    if let Some(side) = &own {
        side.check_label_holder(&vertical, &privacy);
    }
    for side in &others {
        side.check_feature_holder(&vertical, &privacy, root);
    }
    let own = own.and_then(sides::Side::label_holder);
    let others: Option<Vec<FeatureHolder>> = others.into_iter().map(sides::Side::feature_holder).collect();
    let apart = own.zip(others).map(|(label_holder, feature_holders)| Apart {
        vertical,
        met,
        label_holder,
        feature_holders,
    });
    (apart, files)
}

/// One of several names, or the first kind if nothing is said.
fn chosen<T: Clone + Default>(root: &Section<'_>, key: &str, names: &[(&str, T)]) -> T {
    root.choice(key, names)
        .map(|found| found.value)
        .unwrap_or_default()
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

/// A vertical builder, and what must be known of it before it is built.
#[derive(Debug, Clone)]
struct Wanted {
    builder: Builder,
    bins: u16,
    sampled: bool,
}

impl Wanted {
    fn is_sampled(&self) -> bool {
        self.sampled
    }
}
