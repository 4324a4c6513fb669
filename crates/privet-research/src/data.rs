//! The public data sets: how they are described, and where to get them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::schema::Kind;
use privet::data::{Intake, Keep, Schema, Table};

use super::Records;
use privet_node::table;

/// A data set that experiments use.
struct KnownDataSet {
    name: &'static str,
    /// Its folder, which another name may share.
    folder: &'static str,
    schema: &'static str,
    /// The file for training, and one for testing if its publisher split it.
    files: &'static [&'static str],
    from: &'static str,
}

/// Data sets by their names, each with its files and where to get them; the schema of a name is a file of that name.
macro_rules! known {
    (@folder $name:literal) => { $name };
    (@folder $name:literal $folder:literal) => { $folder };
    ($($name:literal $(in $folder:literal)?: $train:literal $(and $test:literal)?, $from:literal;)*) => {[$(KnownDataSet {
        name: $name,
        folder: known!(@folder $name $($folder)?),
        schema: include_str!(concat!("../reproduce/schemas/", $name, ".toml")),
        files: &[$train $(, $test)?],
        from: $from,
    }),*]};
}

const KNOWN: [KnownDataSet; 14] = known! {
    "adult": "adult.data" and "adult.test", "https://archive.ics.uci.edu/dataset/2/adult";
    "bank": "bank-full.csv", "https://archive.ics.uci.edu/dataset/222/bank+marketing";
    "credit-default": "UCI_Credit_Card.csv", "https://archive.ics.uci.edu/dataset/350/default+of+credit+card+clients";
    "sepsis": "s41598-020-73558-3_sepsis_survival_primary_cohort.csv",
        "https://archive.ics.uci.edu/dataset/827/sepsis+survival+minimal+clinical+records";
    "casp": "CASP.csv", "https://archive.ics.uci.edu/dataset/265/physicochemical+properties+of+protein+tertiary+structure";
    "covtype": "covtype.data.gz", "https://archive.ics.uci.edu/dataset/31/covertype";
    "gss": "GSS_15235.csv", "https://gss.norc.org";
    "gss-films" in "gss": "GSS_15235.csv" and "GSS_5079.csv", "https://gss.norc.org";
    "kc-house": "kc_house_data.csv", "https://www.kaggle.com/datasets/harlfoxem/housesalesprediction";
    "ionosphere": "ionosphere.data", "https://archive.ics.uci.edu/dataset/52/ionosphere";
    "pendigits": "pendigits.tra" and "pendigits.tes",
        "https://archive.ics.uci.edu/dataset/81/pen+based+recognition+of+handwritten+digits";
    "powerplant": "powerplant.csv", "https://archive.ics.uci.edu/dataset/294/combined+cycle+power+plant";
    "sf-salaries": "Salaries.csv.gz", "https://www.kaggle.com/datasets/kaggle/sf-salaries";
    "sf-jobs" in "sf-salaries": "Salaries.csv.gz", "https://www.kaggle.com/datasets/kaggle/sf-salaries";
};

/// The folder with the data sets.
pub struct Data {
    folder: PathBuf,
}

impl Data {
    /// This folder.
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
        }
    }

    /// The path of a file in the folder of a data set.
    pub(crate) fn path(&self, dataset: &str, file: &str) -> PathBuf {
        self.folder.join(dataset).join(file)
    }

    /// A data set's rows for training, or all of them if its publisher did not split it.
    ///
    /// # Errors
    /// [`Error::Data`] if it is not there.
    pub fn train(&self, name: &str, keep: Keep) -> Result<Table, Error> {
        self.read(known(name)?, 0, keep)
    }

    /// A data set's rows for testing, if its publisher split it.
    ///
    /// # Errors
    /// [`Error::Data`] if they are not there.
    pub fn test(&self, name: &str, keep: Keep) -> Result<Table, Error> {
        self.read(known(name)?, 1, keep)
    }

    /// All rows of a data set as texts.
    ///
    /// # Errors
    /// [`Error::Data`] if it is not there.
    pub fn records(&self, name: &str) -> Result<Records, Error> {
        let known = known(name)?;
        let folder = self.folder.join(known.folder);
        let schema = known.schema()?;
        let mut all = String::new();
        for file in known.files {
            let text = text(known, file, &folder.join(file))?;
            let again = schema.layout().header && !all.is_empty();
            let rows = if again {
                text.split_once('\n').map_or("", |(_, rows)| rows)
            } else {
                &text
            };
            all.push_str(rows.trim_end());
            all.push('\n');
        }
        if known.name == "sf-jobs" {
            all = job_words(&all, &schema);
        }
        Records::parse(schema, &all, &folder)
    }

    fn read(&self, known: &KnownDataSet, file: usize, keep: Keep) -> Result<Table, Error> {
        let one_piece = || Error::misuse(format!("'{}' comes in one piece", known.name));
        let file = *known.files.get(file).ok_or_else(one_piece)?;
        let path = self.folder.join(known.folder).join(file);
        let intake = Intake::everything(Arc::new(known.schema()?), keep);
        let missing = |e: std::io::Error| missing(known, &path, &e);
        if file != "adult.test" {
            std::fs::metadata(&path).map_err(missing)?;
            return table::read(&path, &intake, &|_, _| {});
        }
        let text = text(known, file, &path)?;
        table::read_csv(file, std::io::Cursor::new(text.into_bytes()), &intake)
    }
}

/// A file's text. The labels of one of them end in a full stop.
fn text(known: &KnownDataSet, file: &str, path: &Path) -> Result<String, Error> {
    let mut text = String::new();
    let opened = std::fs::File::open(path).and_then(|mut opened| match file.ends_with(".gz") {
        true => flate2::read::GzDecoder::new(opened).read_to_string(&mut text),
        false => opened.read_to_string(&mut text),
    });
    opened.map_err(|e| missing(known, path, &e))?;
    Ok(match file {
        "adult.test" => text.replace("K.\n", "K\n"),
        _ => text,
    })
}

/// Instead of each job's title, which may have commas, the first of the schema's words that is in it. Titles are the second of
/// twelve cells.
fn job_words(text: &str, schema: &Schema) -> String {
    let words = schema.columns().iter().find_map(|column| match &column.kind {
        Kind::Category(declared) => Some(declared.values()),
        _ => None,
    });
    let words = words.unwrap_or_default();
    let line = |line: &str| {
        let (id, rest) = line.split_once(',')?;
        let commas: Vec<usize> = rest.match_indices(',').map(|(at, _)| at).collect();
        let (title, cells) = rest.split_at(*commas.get(commas.len().checked_sub(10)?)?);
        let title = title.to_uppercase();
        let word = words
            .iter()
            .find(|word| title.contains(*word))
            .map_or("", |word| word);
        Some(format!("{id},{word}{cells}\n"))
    };
    text.lines().filter_map(line).collect()
}

impl KnownDataSet {
    fn schema(&self) -> Result<Schema, Error> {
        Schema::from_toml(&format!("{}.toml", self.name), self.schema)
    }
}

fn known(name: &str) -> Result<&'static KnownDataSet, Error> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| Error::misuse(format!("no data set '{name}' is known")))
}

fn missing(known: &KnownDataSet, path: &Path, e: &std::io::Error) -> Error {
    Error::data(format!(
        "the data set '{}' is not there ({}: {e}). Get it from {} and put its files into a folder '{}' of the folder that \
         PRIVET_DATA names.",
        known.name,
        path.display(),
        known.from,
        known.folder
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_become_words() {
        let schema = known("sf-jobs").and_then(KnownDataSet::schema).expect("a schema");
        let text = "Id,JobTitle,a,b,c,d,e,f,g,h,i,j\n1,\"Nurse, Registered\",1,2,3,4,5,6,2011,,SF,\n2,Bee Keeper,1,2,3,4,5,6,2014,,SF,FT\n";
        let lines = "Id,,a,b,c,d,e,f,g,h,i,j\n1,NURSE,1,2,3,4,5,6,2011,,SF,\n2,,1,2,3,4,5,6,2014,,SF,FT\n";
        assert_eq!(job_words(text, &schema), lines);
    }
}
