//! The public data sets: how they are described, and where to get them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use privet::Error;
use privet::data::{Intake, Keep, Schema, Table};

use super::Records;
use privet_node::table::{self, Extra};

/// A data set that experiments use.
struct Known {
    name: &'static str,
    schema: &'static str,
    /// The file for training, and one for testing if its publisher split it.
    files: (&'static str, Option<&'static str>),
    from: &'static str,
}

const KNOWN: [Known; 12] = [
    Known {
        name: "adult",
        schema: include_str!("../reproduce/schemas/adult.toml"),
        files: ("adult.data", Some("adult.test")),
        from: "https://archive.ics.uci.edu/dataset/2/adult",
    },
    Known {
        name: "bank",
        schema: include_str!("../reproduce/schemas/bank.toml"),
        files: ("bank-full.csv", None),
        from: "https://archive.ics.uci.edu/dataset/222/bank+marketing",
    },
    Known {
        name: "credit-default",
        schema: include_str!("../reproduce/schemas/credit-default.toml"),
        files: ("UCI_Credit_Card.csv", None),
        from: "https://archive.ics.uci.edu/dataset/350/default+of+credit+card+clients",
    },
    Known {
        name: "sepsis",
        schema: include_str!("../reproduce/schemas/sepsis.toml"),
        files: ("s41598-020-73558-3_sepsis_survival_primary_cohort.csv", None),
        from: "https://archive.ics.uci.edu/dataset/827/sepsis+survival+minimal+clinical+records",
    },
    Known {
        name: "casp",
        schema: include_str!("../reproduce/schemas/casp.toml"),
        files: ("CASP.csv", None),
        from: "https://archive.ics.uci.edu/dataset/265/physicochemical+properties+of+protein+tertiary+structure",
    },
    Known {
        name: "covtype",
        schema: include_str!("../reproduce/schemas/covtype.toml"),
        files: ("covtype.data.gz", None),
        from: "https://archive.ics.uci.edu/dataset/31/covertype",
    },
    Known {
        name: "gss",
        schema: include_str!("../reproduce/schemas/gss.toml"),
        files: ("GSS_15235.csv", None),
        from: "https://gss.norc.org",
    },
    Known {
        name: "kc-house",
        schema: include_str!("../reproduce/schemas/kc-house.toml"),
        files: ("kc_house_data.csv", None),
        from: "https://www.kaggle.com/datasets/harlfoxem/housesalesprediction",
    },
    Known {
        name: "ionosphere",
        schema: include_str!("../reproduce/schemas/ionosphere.toml"),
        files: ("ionosphere.data", None),
        from: "https://archive.ics.uci.edu/dataset/52/ionosphere",
    },
    Known {
        name: "pendigits",
        schema: include_str!("../reproduce/schemas/pendigits.toml"),
        files: ("pendigits.tra", Some("pendigits.tes")),
        from: "https://archive.ics.uci.edu/dataset/81/pen+based+recognition+of+handwritten+digits",
    },
    Known {
        name: "powerplant",
        schema: include_str!("../reproduce/schemas/powerplant.toml"),
        files: ("powerplant.csv", None),
        from: "https://archive.ics.uci.edu/dataset/294/combined+cycle+power+plant",
    },
    Known {
        name: "sf-salaries",
        schema: include_str!("../reproduce/schemas/sf-salaries.toml"),
        files: ("Salaries.csv.gz", None),
        from: "https://www.kaggle.com/datasets/kaggle/sf-salaries",
    },
];

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

    /// A data set's rows for training, or all of them if its publisher did not split it.
    ///
    /// # Errors
    /// [`Error::Data`] if it is not there.
    pub fn train(&self, name: &str, keep: Keep) -> Result<Table, Error> {
        let known = known(name)?;
        self.read(known, known.files.0, keep)
    }

    /// A data set's rows for testing, if its publisher split it.
    ///
    /// # Errors
    /// [`Error::Data`] if they are not there.
    pub fn test(&self, name: &str, keep: Keep) -> Result<Table, Error> {
        let known = known(name)?;
        let file = known
            .files
            .1
            .ok_or_else(|| Error::misuse(format!("'{name}' comes in one piece")))?;
        self.read(known, file, keep)
    }

    /// All rows of a data set as texts.
    ///
    /// # Errors
    /// [`Error::Data`] if it is not there.
    pub fn records(&self, name: &str) -> Result<Records, Error> {
        let known = known(name)?;
        let schema = Schema::from_toml(&format!("{}.toml", known.name), known.schema)?;
        let mut all = String::new();
        for file in std::iter::once(known.files.0).chain(known.files.1) {
            let path = self.folder.join(known.name).join(file);
            all += &text(known, file, &path)?;
        }
        Records::parse(schema, &all, &self.folder.join(known.name))
    }

    fn read(&self, known: &Known, file: &str, keep: Keep) -> Result<Table, Error> {
        let path = self.folder.join(known.name).join(file);
        let schema = Schema::from_toml(&format!("{}.toml", known.name), known.schema)?;
        let intake = Intake::everything(Arc::new(schema), keep);
        let missing = |e: std::io::Error| missing(known, &path, &e);
        if file != "adult.test" {
            std::fs::metadata(&path).map_err(missing)?;
            return table::read(&path, &intake, Extra::Refuse, &|_, _| {});
        }
        let text = text(known, file, &path)?;
        table::read_csv(
            file,
            std::io::Cursor::new(text.into_bytes()),
            &intake,
            Extra::Refuse,
        )
    }
}

/// A file's text. The labels of one of them end in a full stop.
fn text(known: &Known, file: &str, path: &Path) -> Result<String, Error> {
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

fn known(name: &str) -> Result<&'static Known, Error> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .ok_or_else(|| Error::misuse(format!("no data set '{name}' is known")))
}

fn missing(known: &Known, path: &Path, e: &std::io::Error) -> Error {
    Error::data(format!(
        "the data set '{}' is not there ({}: {e}). Get it from {} and put its files into a folder '{}' of the folder that \
         PRIVET_DATA names.",
        known.name,
        path.display(),
        known.from,
        known.name
    ))
}
