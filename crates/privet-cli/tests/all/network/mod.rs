//! Parties as real processes on loopback: all settings, behind a proxy that delays, stalls, resets and swallows; killed; and beside the simulator.
//! Every test says which ports it uses by asking the system for free ones.

mod agreeing;
mod beside;
mod canaries;
mod kills;
mod predicting;
mod proxy;
mod runs;

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use privet_node::net::{Identity, Trust};
use tempfile::TempDir;

use crate::home::{case, copy};

/// A setting with its parties, in the order of their numbers, and the files of a story.
pub(crate) struct Setting {
    case: &'static str,
    job: &'static str,
    pub(crate) parties: &'static [&'static str],
    /// The commands that set limits, by party.
    limits: &'static [(&'static str, &'static str)],
}

pub(crate) const HORIZONTAL: Setting = Setting {
    case: "horizontal",
    job: "job.toml",
    parties: &["miner", "north", "east", "south"],
    limits: &[
        ("north", "stays-north --epsilon 2 --delta 1e-6"),
        ("east", "stays-east --epsilon 2 --delta 1e-6"),
        ("south", "stays-south --epsilon 2 --delta 1e-6"),
    ],
};

pub(crate) const VERTICAL: Setting = Setting {
    case: "vertical",
    job: "three.toml",
    parties: &["bank", "shop", "club"],
    limits: &[
        ("shop", "shop --epsilon 0 --change replace"),
        ("club", "club --epsilon 0 --change replace"),
    ],
};

pub(crate) const SECURE: Setting = Setting {
    case: "secure",
    job: "job.toml",
    parties: &["north", "south"],
    limits: &[
        ("north", "loans-north --epsilon 0 --change replace"),
        ("south", "loans-south --epsilon 0 --change replace"),
    ],
};

pub(crate) const SECURE_OF_THREE: Setting = Setting {
    case: "secure",
    job: "several.toml",
    parties: &["north", "south", "west"],
    limits: &[
        ("north", "loans-north --epsilon 0 --change replace"),
        ("south", "loans-south --epsilon 0 --change replace"),
        ("west", "loans-west --epsilon 0 --change replace"),
    ],
};

/// New people of a bank, for a model that it has.
pub(crate) const PREDICTION: Setting = Setting {
    case: "prediction",
    job: "predict.toml",
    parties: &["bank", "shop"],
    limits: &[("shop", "new-shop --epsilon 0 --change replace")],
};

/// A port that nobody listens at.
pub(crate) fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

/// A folder in which every party has a key, a ledger and its table.
pub(crate) struct World {
    pub(crate) folder: TempDir,
    pub(crate) setting: Setting,
    pub(crate) port: u16,
    /// Where others dial the listener: its port, or that of a proxy.
    pub(crate) listens: String,
}

impl World {
    /// `patience` in seconds; `dialled` is the port that others dial, if it is not the listener's own.
    pub(crate) fn new(setting: Setting, listens: &str, patience: u32, dialled: Option<u16>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy(&case(setting.case), folder.path());
        let port = port();
        let world = Self {
            folder,
            setting,
            port,
            listens: listens.into(),
        };
        let job = fs::read_to_string(world.path(world.setting.job)).unwrap();
        let address = dialled.unwrap_or(port);
        let network = format!(
            "{job}\n[network]\nlistens = \"{listens}\"\naddress = \"127.0.0.1:{address}\"\npatience = {patience}\ndeadline = 120\n"
        );
        fs::write(world.path("party.toml"), network).unwrap();
        world.keys();
        for (party, limit) in world.setting.limits {
            world.privet(&format!("ledger limit {limit} --ledger {party}.db"));
        }
        if world.setting.case == PREDICTION.case {
            world.privet("ledger limit shop --epsilon 0 --change replace --ledger trained.db");
            world.privet("train job.toml --not-protected --ledger trained.db");
        }
        world
    }

    /// Runs a command, which must end well.
    pub(crate) fn privet(&self, arguments: &str) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_privet"));
        let command = command.args(arguments.split(' ')).current_dir(self.folder.path());
        let ended = command.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{arguments}: {said}");
    }

    fn keys(&self) {
        let identity = |party: &str| {
            Identity::create(&self.keys_of(party))
                .unwrap()
                .public()
                .fingerprint()
        };
        let all: Vec<_> = self
            .setting
            .parties
            .iter()
            .map(|party| (*party, identity(party)))
            .collect();
        for party in self.setting.parties {
            let mut trust = Trust::load(&self.keys_of(party)).unwrap();
            for (other, fingerprint) in all.iter().filter(|(other, _)| other != party) {
                trust.insert(other, *fingerprint, None).unwrap();
            }
        }
    }

    pub(crate) fn keys_of(&self, party: &str) -> PathBuf {
        self.path(&format!("keys-{party}"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command of a party; what it says goes into `said-PARTY`, behind what is there.
    pub(crate) fn command(&self, party: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_privet"));
        let said = self.path(&format!("said-{party}"));
        let said = fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(said)
            .unwrap();
        command
            .args(["party", "party.toml", "--yes", "--not-protected", "--name", party])
            .args([
                "--out",
                &format!("{party}.privet"),
                "--ledger",
                &format!("{party}.db"),
            ])
            .arg("--keys")
            .arg(self.keys_of(party))
            .current_dir(self.folder.path())
            .stdout(said.try_clone().unwrap())
            .stderr(said)
            .stdin(Stdio::null());
        if party == self.listens {
            command.args(["--bind", &format!("127.0.0.1:{}", self.port)]);
        }
        command
    }

    pub(crate) fn start(&self, party: &str) -> Running {
        Running {
            party: party.into(),
            child: self.command(party).spawn().unwrap(),
        }
    }

    pub(crate) fn start_all(&self) -> Vec<Running> {
        self.setting
            .parties
            .iter()
            .map(|party| self.start(party))
            .collect()
    }

    pub(crate) fn said(&self, party: &str) -> String {
        fs::read_to_string(self.path(&format!("said-{party}"))).unwrap_or_default()
    }

    /// Every party ends well.
    pub(crate) fn all_end(&self, running: Vec<Running>) {
        for mut running in running {
            let code = running.wait(Duration::from_secs(150));
            let all = self.setting.parties.iter().map(|party| self.said(party));
            assert_eq!(code, Some(0), "{}: {}", running.party, all.collect::<String>());
        }
    }
}

/// A party that runs; killed if the test ends before it.
pub(crate) struct Running {
    pub(crate) party: String,
    child: Child,
}

impl Running {
    /// The exit code, when it has ended; none if it was killed.
    pub(crate) fn wait(&mut self, most: Duration) -> Option<i32> {
        let until = Instant::now() + most;
        while Instant::now() < until {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("{} does not end", self.party);
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// All files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => all.extend(files(&path)),
            false => all.push(path),
        }
    }
    all
}
