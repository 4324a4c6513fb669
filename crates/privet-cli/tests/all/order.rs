//! Nothing is recorded before everything that can be refused has been: no payment, no void mark, no table that was not used.
//!
//! Each test refuses a run for a reason that an earlier version found too late, and compares what the ledger holds.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use crate::home::{self, copy, told};
use privet::data::Schema;
use privet_node::job::Source;
use privet_node::ledger::Store;
use tempfile::TempDir;

const PRIVET: &str = env!("CARGO_BIN_EXE_privet");

/// The files of a case in a folder of their own, with a ledger.
struct Folder(TempDir);

impl Folder {
    fn of(case: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&home::case(case), folder.path());
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// A file with a part of its text replaced, under another name.
    fn edit(&self, name: &str, (from, to): (&str, &str), new: &str) {
        let text = fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{text}");
        self.write(new, &text.replace(from, to));
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(self.0.path())
            .env("HOME", self.0.path())
            .env("PRIVET_LEDGER", "ledger.db");
        command
    }

    /// How it ended, and everything that it said.
    fn privet(&self, typed: &str) -> (i32, String) {
        let mut command = self.command(PRIVET);
        command.args(typed.split_whitespace());
        told(command)
    }

    /// The same on a terminal. `script` is part of every Linux distribution (util-linux).
    #[cfg(target_os = "linux")]
    fn on_a_terminal(&self, typed: &str) -> (i32, String) {
        let mut script = self.command("script");
        script.args(["-qec", &format!("{PRIVET} {typed}"), "/dev/null"]);
        script.env("SHELL", "/bin/sh").env("TERM", "dumb");
        script.stdin(std::process::Stdio::null());
        told(script)
    }

    fn does(&self, typed: &str) {
        let (exit, text) = self.privet(typed);
        assert_eq!(exit, 0, "privet {typed}: {text}");
    }

    /// How many entries the chain has, and how many tables are known.
    fn ledger(&self) -> (usize, i64) {
        let entries = Store::read_only(&self.path("ledger.db")).unwrap().rows().unwrap();
        let connection = rusqlite::Connection::open(self.path("ledger.db")).unwrap();
        let count = connection.query_row(
            "SELECT count(*) FROM fingerprints WHERE tag LIKE 'columns:%'",
            [],
            |row| row.get(0),
        );
        (entries.len(), count.unwrap())
    }

    /// That a command is refused with this exit code for this reason, and the ledger stays as it is.
    fn refuses(&self, (exit, text): (i32, String), expected: i32, why: &str, before: (usize, i64)) {
        assert!(exit == expected && text.contains(why), "exit {exit}: {text}");
        assert_eq!(self.ledger(), before, "entries and known tables, after: {text}");
    }

    /// Makes `file` known to the ledger as the table of 'elsewhere'.
    fn known_elsewhere(&self, schema: &str, file: &str) {
        let mut store = Store::open(&self.path("ledger.db")).unwrap();
        let text = fs::read_to_string(self.path(schema)).unwrap();
        let source = Source {
            schema: Arc::new(Schema::from_toml(schema, &text).unwrap()),
            data: self.path(file),
        };
        store.recognise(&[("elsewhere", &source)]).unwrap();
    }
}

/// A clinic with a budget of ε = 4 at δ = 1e-6, and a model that was paid for.
fn clinic() -> Folder {
    let folder = Folder::of("trees");
    folder.does("ledger limit clinic --epsilon 4 --delta 1e-6");
    folder
}

/// The same with pure ε, which evaluations are paid in.
fn pure() -> Folder {
    let folder = Folder::of("trees");
    folder.does("ledger limit clinic --epsilon 3");
    folder.does("train pure.toml");
    folder
}

#[test]
fn an_evaluation_that_cannot_be_paid_for_reads_nothing() {
    let folder = pure();
    let before = folder.ledger();
    for file in ["clinic.csv", "not-there.csv"] {
        let evaluate = format!("evaluate model.privet --data {file} --spend 2.5");
        folder.refuses(folder.privet(&evaluate), 3, "no data was looked at", before);
    }
    // A table that is new, and does not parse: nothing of it is remembered.
    folder.write("broken.csv", "age,pressure\n1,2,3,4\n");
    let evaluate = "evaluate model.privet --data broken.csv --spend 0.1";
    folder.refuses(folder.privet(evaluate), 5, "broken.csv", before);
    // With other line ends it is the same table.
    folder.edit("clinic.csv", ("\n", "\r\n"), "same.csv");
    folder.does("evaluate model.privet --data same.csv --spend 0.1");
    assert_eq!(folder.ledger(), (before.0 + 1, before.1));
    // Paid for, a new one is remembered.
    let text = fs::read_to_string(folder.path("clinic.csv")).unwrap();
    let last = text.lines().last().unwrap();
    folder.write("more.csv", &format!("{text}{last}\n"));
    folder.does("evaluate model.privet --data more.csv --spend 0.1");
    assert_eq!(folder.ledger(), (before.0 + 2, before.1 + 1));
}

#[test]
fn a_table_that_does_not_parse_is_not_remembered() {
    let folder = clinic();
    folder.write("broken.csv", "age,pressure\n1,2,3,4\n");
    let before = folder.ledger();
    let train = folder.privet("train job.toml --data broken.csv");
    folder.refuses(train, 5, "broken.csv", before);
    folder.does("train job.toml");
}

#[test]
fn a_model_that_was_paid_for_is_not_overwritten() {
    let folder = clinic();
    folder.does("train job.toml");
    let (before, model) = (folder.ledger(), fs::read(folder.path("model.privet")).unwrap());
    for file in ["clinic.csv", "not-there.csv"] {
        let train = folder.privet(&format!("train job.toml --data {file}"));
        folder.refuses(train, 2, "--overwrite", before);
    }
    // A model of a later version, or one that was cut off, was paid for all the same.
    folder.write("later.privet", "{\"privet-model\":99,\"body");
    let train = folder.privet("train job.toml --out later.privet");
    folder.refuses(train, 2, "--overwrite", before);
    // No other verb writes over a model either.
    let predict = "predict model.privet --data clinic.csv --out later.privet";
    folder.refuses(folder.privet(predict), 2, "later.privet is a model", before);
    let export = "export model.privet --format onnx --out later.privet";
    folder.refuses(folder.privet(export), 2, "later.privet is a model", before);
    let chain = "ledger export --out later.privet";
    folder.refuses(folder.privet(chain), 2, "later.privet is a model", before);
    assert_eq!(fs::read(folder.path("model.privet")).unwrap(), model);
    // Whoever says so gets a new one, and what is no model is no loss.
    folder.does("train job.toml --overwrite");
    assert_ne!(fs::read(folder.path("model.privet")).unwrap(), model);
    folder.write("notes.txt", "a draft");
    folder.does("ledger limit clinic --epsilon 8 --delta 1e-6");
    folder.does("train job.toml --out notes.txt");
}

#[cfg(target_os = "linux")]
#[test]
fn a_model_that_cannot_be_written_is_not_paid_for() {
    let folder = clinic();
    let before = folder.ledger();
    let train = folder.privet("train job.toml --out /proc/model.privet");
    folder.refuses(train, 5, "/proc/model.privet cannot be written", before);
}

/// A schema whose classes times bins no memory holds: found from the schema, though only when a model is fitted.
fn too_wide(folder: &Folder) {
    let values: Vec<String> = (0..33_000).map(|i| format!("\"{i}\"")).collect();
    let schema = format!(
        "dataset = \"wide\"\n[columns]\nx = {{ type = \"number\", min = 0, max = 1 }}\ny = {{ type = \"label\", values = [{}] }}\n",
        values.join(", ")
    );
    folder.write("wide.toml", &schema);
    folder.write("wide.csv", "x,y\n0.5,1\n0.25,2\n");
    let job = "setting = \"plain\"\nschema = \"wide.toml\"\ndata = \"wide.csv\"\noutput = \"wide.privet\"\n\n[algorithm]\nname = \"stumps\"\n";
    folder.write("wide-job.toml", job);
}

#[test]
fn plain_training_that_is_refused_voids_nothing() {
    let folder = clinic();
    too_wide(&folder);
    let before = folder.ledger();
    let train = folder.privet("train wide-job.toml --not-protected");
    folder.refuses(train, 5, "too many to learn from", before);
}

/// Private columns whose baseline needs numbers, which trees are read without.
#[cfg(target_os = "linux")]
#[test]
fn trees_are_simulated_on_a_terminal() {
    let folder = clinic();
    let before = folder.ledger();
    for (job, label) in [("job.toml", "accuracy"), ("number.toml", "MAE")] {
        let (exit, text) = folder.on_a_terminal(&format!("simulate {job} --not-protected"));
        assert!(
            exit == 0 && text.contains(label) && text.contains("logistic, no privacy"),
            "{job}, exit {exit}: {text}"
        );
    }
    assert_eq!(folder.ledger(), (before.0 + 2, before.1 + 1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_simulation_that_is_refused_voids_nothing() {
    let folder = clinic();
    folder.write("broken.csv", "age,pressure\n1,2,3,4\n");
    folder.edit("clinic.csv", ("\n", "\r\n"), "copy.csv");
    folder.known_elsewhere("schema.toml", "copy.csv");
    too_wide(&folder);
    let before = folder.ledger();
    let simulate = |typed: &str| folder.on_a_terminal(&format!("simulate {typed} --not-protected"));
    folder.refuses(simulate("job.toml --data broken.csv"), 5, "broken.csv", before);
    folder.refuses(simulate("job.toml --data copy.csv"), 3, "'elsewhere'", before);
    folder.refuses(simulate("wide-job.toml"), 5, "too many to learn from", before);
}

/// A bank and a shop, whose shop may release its columns.
fn parties() -> Folder {
    let folder = Folder::of("vertical");
    folder.does("ledger limit shop --epsilon 0 --change replace");
    folder.does("ledger limit club --epsilon 0 --change replace");
    folder
}

#[test]
fn nobody_s_columns_leave_if_another_party_refuses() {
    let folder = parties();
    folder.known_elsewhere("bank.toml", "bank.csv");
    let before = folder.ledger();
    let train = folder.privet("train job.toml --not-protected");
    folder.refuses(train, 3, "'elsewhere'", before);
    // The second one's record is of something else.
    let folder = parties();
    folder.write("club.csv.columns", "notes, and no record\n");
    let before = folder.ledger();
    let train = folder.privet("train three.toml --not-protected");
    folder.refuses(train, 4, "club.csv.columns", before);
    assert!(!folder.path("shop.csv.columns").exists());
    // The second one has a column whose name no ledger takes.
    let folder = parties();
    for (file, from, to) in [
        ("club.csv", "visits", "vis\u{200b}its"),
        ("club.toml", "visits", "\"vis\\u200Bits\""),
    ] {
        folder.edit(file, (from, to), file);
    }
    let before = folder.ledger();
    let train = folder.privet("train three.toml --not-protected");
    folder.refuses(train, 5, "vis\\u200Bits", before);
    // A model is in the way.
    let folder = parties();
    folder.write("model.privet", "{\"privet-model\":1,");
    let before = folder.ledger();
    folder.refuses(
        folder.privet("train job.toml --not-protected"),
        2,
        "--overwrite",
        before,
    );
}

#[test]
fn columns_stay_if_the_labels_beside_them_cannot_leave() {
    let folder = Folder::of("desensitise");
    folder.does("ledger limit members --epsilon 0 --change replace");
    folder.write("members.csv.labels", "notes, and no record\n");
    let before = folder.ledger();
    let desensitise =
        "desensitise members.csv --schema members.toml --epsilon 3 --label-epsilon 1 --out changed.csv";
    folder.refuses(folder.privet(desensitise), 4, "members.csv.labels", before);
    assert!(!folder.path("members.csv.columns").exists());
    // Nor does anything leave to a place where a model stands, or that cannot be written.
    folder.write("changed.csv", "{\"privet-model\":1,");
    folder.refuses(folder.privet(desensitise), 2, "changed.csv is a model", before);
}

#[cfg(target_os = "linux")]
#[test]
fn a_simulation_of_parties_voids_all_or_none() {
    let folder = parties();
    folder.known_elsewhere("shop.toml", "shop.csv");
    let before = folder.ledger();
    let simulate = folder.on_a_terminal("simulate job.toml --not-protected");
    folder.refuses(simulate, 3, "'elsewhere'", before);
}
