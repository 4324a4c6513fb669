//! A folder with a ledger, and the real program to run on it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

use privet::Error;
use privet::data::Schema;
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::mechanism::Laplace;
use privet::privacy::{
    AddRemove, Anchor, Certificate, Delta, Epsilon, Ledger, Neighbours, Norm, Private, Query, Randomness,
    Sensitivity,
};
use privet_node::job::Source;
use privet_node::ledger::Store;
use tempfile::TempDir;

/// A folder with a ledger in which 'patients' may spend ε = 1.
pub(crate) struct Home {
    pub(crate) folder: TempDir,
}

impl Home {
    pub(crate) fn new() -> Self {
        let home = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        limit(&mut Store::create(&home.ledger()).unwrap(), "patients", "1");
        home
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.path("ledger.db")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A table of regions and labels with these rows, in a file of its own.
    pub(crate) fn table(&self, rows: &str) -> Source {
        let file = tempfile::NamedTempFile::with_suffix_in(".csv", &self.folder).unwrap();
        let (_, data) = file.keep().unwrap();
        fs::write(&data, format!("region,label\n{rows}")).unwrap();
        let schema = "dataset = \"patients\"\n[columns]\nregion = { type = \"category\", values = [\"north\", \"south\"] }\n\
                      label = { type = \"label\", values = [\"no\", \"yes\"] }\n";
        let schema = Arc::new(Schema::from_toml("schema.toml", schema).unwrap());
        Source { schema, data }
    }

    /// Runs the real program on this ledger.
    pub(crate) fn privet(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_privet"));
        command
            .args(arguments)
            .current_dir(self.folder.path())
            .env("PRIVET_LEDGER", self.ledger());
        command
    }

    pub(crate) fn spend(&self, epsilon: &str) -> Result<Certificate, Error> {
        spend(Store::open(&self.ledger())?, epsilon)
    }

    pub(crate) fn save(&self, name: &str, certificate: &Certificate) {
        fs::write(self.path(name), serde_json::to_string(certificate).unwrap()).unwrap();
    }

    /// Runs `ledger verify` against a certificate: exit code and everything it said.
    pub(crate) fn verify(&self, against: &str) -> (i32, String) {
        told(self.privet(&["ledger", "verify", "--against", against]))
    }

    pub(crate) fn sql(&self, statement: &str) {
        let connection = rusqlite::Connection::open(self.ledger()).unwrap();
        connection.execute_batch(statement).unwrap();
    }
}

/// The folder of a story below `tests/cases`.
pub(crate) fn case(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/cases")
        .join(name)
}

/// Copies every file of a folder into another, without the folders in it.
pub(crate) fn copy(from: &Path, to: &Path) {
    for file in fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        if file.path().is_dir() {
            continue;
        }
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

pub(crate) fn told(mut command: Command) -> (i32, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap();
    assert!(!text.contains("panicked"), "{text}");
    (status.code().unwrap(), text)
}

pub(crate) fn limit(store: &mut Store, dataset: &str, epsilon: &str) {
    let event = Event::Limit {
        dataset: dataset.into(),
        relation: AddRemove::row().relation(),
        caps: Caps {
            pure: epsilon.parse().unwrap(),
            ..Caps::ZERO
        },
        delta: Delta::ZERO,
    };
    store.record(event).unwrap();
}

pub(crate) fn spend(store: Store, epsilon: &str) -> Result<Certificate, Error> {
    let mut ledger = Ledger::open("patients", AddRemove::row(), store, Randomness::from_os()?)?;
    release(&mut ledger, epsilon)?;
    Ok(ledger.close())
}

pub(crate) fn release(ledger: &mut Ledger<AddRemove>, epsilon: &str) -> Result<(), Error> {
    let epsilon: Epsilon = epsilon.parse()?;
    let claim = Sensitivity::claim(
        &AddRemove::row(),
        Norm::L1(1),
        Anchor::new("laplace#integer-vectors"),
    )?;
    let query = Query::new(1, claim, || Private::new(vec![7]));
    ledger.release("a count", &Laplace::calibrated(epsilon, 1)?, query)?;
    Ok(())
}
