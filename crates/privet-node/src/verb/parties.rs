//! Parties on this machine: their ledgers, and the columns that they keep.

use std::fs::File;
use std::path::Path;

use privet::Error;
use privet::data::{Schema, Table};
use privet::error::{JournalFault, Refusal};
use privet::party::{MemoryRecord, Record, RunName};
use privet::privacy::{Ledger, Randomness, Relation};
use privet::setting::vertical::{self, Desensitisation, NoisyLabels, Party, Release, Vertical};

use super::exit::{Exit, Failure};
use super::leave;
use crate::job::{LabelHolder, Source};
use crate::ledger::{Shared, Store};
use crate::record::FileRecord;

/// Opens the ledger that columns are to leave by, after looking whether it has a line for each of these data sets.
pub(super) fn open(path: &Path, sets: &[(&Schema, Relation)]) -> Result<Shared, Failure> {
    lines(path, sets)?;
    Ok(Shared::new(Store::open(path)?))
}

/// Whether the ledger has a line for each of these data sets; if not, how to make them. Nothing is read or written.
pub(super) fn lines(path: &Path, sets: &[(&Schema, Relation)]) -> Result<(), Failure> {
    unlisted(path, sets)?.map_or(Ok(()), |why| Err(refused(&why)))
}

/// That columns do not leave.
pub(super) fn refused(why: &str) -> Failure {
    Failure {
        exit: Exit::Budget,
        message: format!("refused: {why}"),
    }
}

/// Why columns of these data sets are refused, if the ledger has no line for one of them, and how to make it. Nothing is written.
pub(super) fn unlisted(path: &Path, sets: &[(&Schema, Relation)]) -> Result<Option<String>, Failure> {
    let there = std::fs::symlink_metadata(path).is_ok();
    let book = there.then(|| Store::read_only(path)?.book()).transpose()?;
    let known = |(schema, relation): &&(&Schema, Relation)| {
        let account = book.as_ref().and_then(|book| book.account(schema.dataset()));
        account.is_some_and(|account| account.lines().contains_key(relation))
    };
    let missing: Vec<&(&Schema, Relation)> = sets.iter().filter(|set| !known(set)).collect();
    let Some((schema, relation)) = missing.first() else {
        return Ok(None);
    };
    let commands = missing.iter().map(|(schema, relation)| {
        let command = relation.limit_command(schema.dataset());
        format!("`{}`", command.replacen("--epsilon E", "--epsilon 0", 1))
    });
    let commands = commands.collect::<Vec<_>>().join(" and ");
    let why = if there {
        format!(
            "the ledger {} has no line for '{}' when {relation}",
            path.display(),
            schema.dataset()
        )
    } else {
        format!(
            "there is no ledger {} yet, and something has to remember which columns have left",
            path.display()
        )
    };
    Ok(Some(format!(
        "{why}. Run {commands}; columns that leave changed cost no ε, so 0 is enough. Nothing was read."
    )))
}

/// Columns that leave, or left before.
pub(super) struct Leaving<'a> {
    pub(super) desensitisation: &'a Desensitisation,
    pub(super) source: &'a Source,
    /// Its table, with as many bins as leave.
    pub(super) table: &'a Table,
    /// Where they are kept.
    pub(super) kept: &'a Path,
    pub(super) relation: Relation,
    /// Whether its rows are to meet others by ids.
    pub(super) meets: bool,
}

impl Leaving<'_> {
    /// Whether the columns could leave, or left before in this way. Nothing is paid, drawn or written, so that it can be asked of
    /// all parties before the columns of the first one leave.
    pub(super) fn check(&self, shared: &Shared) -> Result<(), Failure> {
        let mut record = kept(self.source, self.kept, shared)?;
        let checked = self
            .ledger(shared)
            .and_then(|ledger| Release::check_keep(self.desensitisation, self.table, ledger, &mut *record));
        Ok(checked.map_err(|e| about(&self.source.data, self.kept, e))?)
    }

    /// Whether rows can meet by their ids, if they are to and no columns have left yet. The ledger says that ids were looked at.
    pub(super) fn check_ids(&self, shared: &Shared) -> Result<(), Failure> {
        if !self.meets || !kept(self.source, self.kept, shared)?.read()?.is_empty() {
            return Ok(());
        }
        let checked = self
            .ledger(shared)
            .and_then(|mut ledger| vertical::FeatureHolder::check_ids(self.table, &mut ledger));
        Ok(checked.map_err(|e| about(&self.source.data, self.kept, e))?)
    }

    /// The columns: drawn and kept, or as they were kept. The table was recognised before.
    pub(super) fn release(&self, shared: &Shared) -> Result<Release, Failure> {
        let is_new = std::fs::symlink_metadata(self.kept).is_err();
        let record = record(self.source, self.kept, shared)?;
        let release = self
            .ledger(shared)
            .and_then(|ledger| Release::keep(self.desensitisation, self.table, ledger, Box::new(record)));
        // Both are decided before anything is drawn, so that nothing was recorded.
        if let (true, Err(Error::Budget(_) | Error::Data(_))) = (is_new, &release) {
            let _ = std::fs::remove_file(self.kept);
        }
        Ok(release.map_err(|e| about(&self.source.data, self.kept, e))?)
    }

    fn ledger(&self, shared: &Shared) -> Result<Ledger, Error> {
        opened(&self.source.schema, self.relation.clone(), shared)
    }
}

/// A party's view of its budget.
fn opened(schema: &Schema, relation: Relation, shared: &Shared) -> Result<Ledger, Error> {
    Ledger::open(schema.dataset(), relation, shared.clone(), Randomness::from_os()?)
}

/// What is wrong with columns that were kept, with where that is.
fn about(data: &Path, kept: &Path, e: Error) -> Error {
    match e {
        Error::Parameter(e) => {
            Error::parameter(e.subject().clone(), format!("{e} (kept in {})", kept.display()))
        }
        Error::Data(e) => Error::Data(e.in_file(data.display())),
        Error::Journal(e) if e.fault() == JournalFault::OtherJob => Error::parameter(
            "kept",
            format!(
                "{} was kept under other settings. A column leaves once: go on with the settings it left with",
                kept.display()
            ),
        ),
        Error::Budget(mut refusal) => {
            if let Refusal::AlreadyDesensitised { kept: at, .. } = &mut *refusal {
                *at = Some(kept.display().to_string());
            }
            Error::Budget(refusal)
        }
        other => other,
    }
}

/// A label holder's labels that change, or did before.
pub(super) struct Labelling<'a> {
    pub(super) vertical: &'a Vertical,
    pub(super) own: &'a LabelHolder,
    pub(super) table: &'a Table,
    pub(super) shared: &'a Shared,
}

impl Labelling<'_> {
    /// Whether the labels could change, or did before in this way: as [`Leaving::check`].
    pub(super) fn check(&self) -> Result<(), Failure> {
        let source = &self.own.source;
        let mut record = kept(source, &self.own.kept, self.shared)?;
        let checked = self
            .ledger()
            .and_then(|ledger| NoisyLabels::check_keep(self.vertical, self.table, ledger, &mut *record));
        Ok(checked.map_err(|e| about(&source.data, &self.own.kept, e))?)
    }

    /// The labels: drawn and kept, or as they were kept. The table was recognised before.
    pub(super) fn labels(&self) -> Result<NoisyLabels, Failure> {
        let (source, kept) = (&self.own.source, &self.own.kept);
        let is_new = std::fs::symlink_metadata(kept).is_err();
        let record = record(source, kept, self.shared)?;
        let labels = self
            .ledger()
            .and_then(|ledger| NoisyLabels::keep(self.vertical, self.table, ledger, Box::new(record)));
        if let (true, Err(Error::Budget(_) | Error::Data(_))) = (is_new, &labels) {
            let _ = std::fs::remove_file(kept);
        }
        Ok(labels.map_err(|e| about(&source.data, kept, e))?)
    }

    fn ledger(&self) -> Result<Ledger, Error> {
        let schema = &self.own.source.schema;
        opened(schema, schema.replaced(), self.shared)
    }
}

/// The record of what has left of a table, which is known by its bytes.
fn record(source: &Source, kept: &Path, shared: &Shared) -> Result<FileRecord, Failure> {
    let Source { schema, data } = source;
    let mut store = shared.store();
    let file = File::open(data)
        .map_err(|e| Failure::input(format!("{}: it cannot be read: {e}", data.display())))?;
    let mark = store.mark(file)?;
    Ok(FileRecord::open(kept, &format!("{}\n{mark}", schema.dataset()))?)
}

/// The same if there is one, without making it; and whether it could be made.
fn kept(source: &Source, kept: &Path, shared: &Shared) -> Result<Box<dyn Record>, Failure> {
    if std::fs::symlink_metadata(kept).is_ok() {
        return Ok(Box::new(record(source, kept, shared)?));
    }
    leave::writable(kept)?;
    Ok(Box::new(MemoryRecord::default()))
}

/// What has left of a party's table.
pub(super) enum Left {
    Columns(Release),
    Labels(NoisyLabels),
}

/// A party that is about to take its seat.
pub(super) struct Seating<'a> {
    pub(super) vertical: &'a Vertical,
    pub(super) schema: &'a Schema,
    pub(super) table: Table,
    /// What has left of it.
    pub(super) left: Left,
    pub(super) shared: Shared,
    pub(super) run: &'a RunName,
}

impl Seating<'_> {
    /// Opens its ledger under `relation`, and takes the seat.
    pub(super) fn seat(self, relation: Relation) -> Result<Party, Error> {
        let ledger = opened(self.schema, relation, &self.shared)?;
        let vertical = self.vertical.clone();
        match self.left {
            Left::Columns(release) => {
                vertical::FeatureHolder::kept(vertical, release, self.table, ledger, self.run)
            }
            Left::Labels(labels) => {
                vertical::LabelHolder::with_kept_labels(vertical, self.table, labels, ledger, self.run)
            }
        }
    }
}
