//! What a party tells about its run: a log, its status, metrics and a transcript. All of it is public to the parties of the run, and nothing of
//! it comes from rows: names, counts of bytes and messages, times, fingerprints, and which items the ledger lists as shown.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use privet::party::PartyId;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::dial::Bytes;
use super::link::Link;
use super::trust::now;
use crate::ledger::folder_of;

/// Files are written at most so often.
const OFTEN: Duration = Duration::from_secs(1);
/// A log that is longer is begun anew by the next process.
const MOST_LOG: u64 = 64 << 20;
/// The longest text of a line in the log.
const LONGEST: usize = 2000;
/// So many lines of one kind are written in a minute: whoever dials again and again fills neither the disk nor the terminal.
const MOST_LINES: u64 = 60;
const MINUTE: Duration = Duration::from_secs(60);

/// What went between this party and another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerTraffic {
    /// Its name.
    pub party: String,
    /// The fingerprint of its key.
    pub fingerprint: String,
    /// The cipher of the last connection.
    pub cipher: String,
    /// Whether it was reached through the listener, inside a connection of its own.
    pub relayed: bool,
    /// Connections that were made.
    pub connections: u64,
    /// Messages sent.
    pub messages_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes of frames sent.
    pub frame_bytes_sent: u64,
    /// Bytes of frames received.
    pub frame_bytes_received: u64,
    /// Bytes sent over connections, TLS included.
    pub tls_bytes_sent: u64,
    /// Bytes received over connections, TLS included.
    pub tls_bytes_received: u64,
}

/// What a party has of a run when it is over, besides model and certificate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Transcript {
    /// What this file is.
    pub privet: String,
    /// The run.
    pub run: String,
    /// The digest of the agreement that all have signed.
    pub agreement: String,
    /// The plan, line by line.
    pub plan: Vec<String>,
    /// This party.
    pub party: String,
    /// Its role.
    pub role: String,
    /// How it ended.
    pub outcome: String,
    /// Whether it went on after an interruption.
    pub resumed: bool,
    /// The parties in the order of their numbers, with their signatures of the agreement.
    pub signatures: BTreeMap<String, String>,
    /// The key that signs this party's certificates, and its identity's signature of that key.
    pub certificate_key: Option<serde_json::Value>,
    /// What went to and came from each other party, in this process.
    pub peers: Vec<PeerTraffic>,
    /// What the ledger lists as shown or spent in this run, item by item.
    pub revealed: Vec<String>,
}

/// The files of a run.
#[derive(Debug, Clone, Default)]
pub struct ReportFiles {
    /// Lines of JSON.
    pub log: Option<PathBuf>,
    /// The state of the run.
    pub status: Option<PathBuf>,
    /// Metrics as Prometheus reads them.
    pub metrics: Option<PathBuf>,
}

#[derive(Default)]
struct Told {
    traffic: BTreeMap<PartyId, PeerTraffic>,
    /// Counters of connections that are open.
    open: BTreeMap<PartyId, Vec<Arc<Bytes>>>,
    notes: BTreeMap<&'static str, Notes>,
    waiting: String,
    work: Option<(String, u64, u64, Instant)>,
    log: Option<File>,
    written: Option<Instant>,
    phase: String,
}

/// Lines of one kind.
struct Notes {
    all: u64,
    /// When the present minute began, and how many lines came in it.
    since: Instant,
    recent: u64,
}

impl Notes {
    /// Counts a line. Gives how many of an earlier minute were not written, if this one is to be written.
    fn counted(&mut self) -> Option<u64> {
        self.all += 1;
        let mut unwritten = 0;
        if self.since.elapsed() > MINUTE {
            unwritten = self.recent.saturating_sub(MOST_LINES);
            (self.since, self.recent) = (Instant::now(), 0);
        }
        self.recent += 1;
        (self.recent <= MOST_LINES).then_some(unwritten)
    }
}

/// Tells about a run while it goes on.
pub struct Report {
    party: String,
    run: String,
    names: Vec<String>,
    files: ReportFiles,
    began: Instant,
    speak: Box<dyn Fn(&str) + Send + Sync>,
    told: Mutex<Told>,
}

impl Report {
    /// A report of this party into these files; `speak` is told what people should see.
    pub fn new(
        party: &str,
        names: Vec<String>,
        files: ReportFiles,
        speak: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let told = Told {
            log: files.log.as_ref().and_then(|path| continued(path).ok()),
            phase: "agreeing".into(),
            ..Told::default()
        };
        Self {
            party: party.to_owned(),
            run: String::new(),
            names,
            files,
            began: Instant::now(),
            speak: Box::new(speak),
            told: Mutex::new(told),
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn name(&self, party: PartyId) -> String {
        self.names.get(usize::from(party.0)).cloned().unwrap_or_default()
    }

    /// A line in the log. Of many of one kind in a minute only the first are written; all are counted.
    pub fn note(&self, what: &'static str, text: &str) {
        let mut told = self.told();
        let notes = told.notes.entry(what).or_insert_with(|| Notes {
            all: 0,
            since: Instant::now(),
            recent: 0,
        });
        let Some(unwritten) = notes.counted() else { return };
        let mut text: String = text.chars().take(LONGEST).collect();
        if unwritten > 0 {
            text += &format!(" ({unwritten} lines of this kind before it were not written)");
        }
        let line = json!({"time": now(), "party": self.party, "run": self.run, "event": what, "text": text});
        if let Some(log) = &mut told.log {
            let _ = writeln!(log, "{line}");
        }
        drop(told);
        let to_people = [
            "refused",
            "fault",
            "malformed",
            "gone",
            "gave-up",
            "other-plan",
            "bad-signature",
            "phase",
        ];
        if to_people.contains(&what) {
            (self.speak)(&format!("{what}: {text}"));
        }
    }

    /// What the run is at.
    pub fn phase(&self, phase: &str) {
        self.told().phase = phase.to_owned();
        self.note("phase", phase);
        self.write(true);
    }

    pub(super) fn waiting_for(&self, names: &[&str]) {
        let names = names.join(", ");
        let mut told = self.told();
        if told.waiting != names {
            told.waiting = names;
        }
        drop(told);
        self.write(false);
    }

    /// The progress of a piece of work.
    pub fn progress(&self, what: &str, done: u64, of: u64) {
        let mut told = self.told();
        match &mut told.work {
            Some((known, at, all, _)) if known == what && *all == of => *at = done,
            work => *work = Some((what.to_owned(), done, of, Instant::now())),
        }
        drop(told);
        self.write(false);
    }

    pub(super) fn connected(&self, link: &Link, what: &'static str) {
        let how = if link.is_relayed {
            ", through the listener"
        } else {
            ""
        };
        let name = self.name(link.party);
        let text = format!(
            "{name} ({what}) at {}{how}, {}, key {}",
            link.address,
            link.cipher,
            link.key.fingerprint()
        );
        self.note("connected", &text);
        let mut told = self.told();
        told.open.entry(link.party).or_default().push(link.bytes.clone());
        let peer = told.traffic.entry(link.party).or_default();
        peer.party = name;
        peer.fingerprint = link.key.fingerprint().to_string();
        peer.cipher.clone_from(&link.cipher);
        peer.relayed |= link.is_relayed;
        peer.connections += 1;
    }

    pub(super) fn lost(&self, link: Option<Link>) {
        if let Some(link) = link {
            self.finished(&link);
        }
    }

    /// Counts what went over a connection.
    pub(super) fn finished(&self, link: &Link) {
        let mut told = self.told();
        let Told { traffic, open, .. } = &mut *told;
        let Some(open) = open.get_mut(&link.party) else {
            return;
        };
        let Some(place) = open.iter().position(|bytes| Arc::ptr_eq(bytes, &link.bytes)) else {
            return;
        };
        let bytes = open.remove(place);
        let peer = traffic.entry(link.party).or_default();
        peer.tls_bytes_sent += bytes.written.load(Ordering::Relaxed);
        peer.tls_bytes_received += bytes.read.load(Ordering::Relaxed);
    }

    pub(super) fn sent(&self, party: PartyId, bytes: usize, begins: bool) {
        let mut told = self.told();
        let peer = told.traffic.entry(party).or_default();
        peer.frame_bytes_sent += bytes as u64;
        peer.messages_sent += u64::from(begins);
    }

    pub(super) fn received(&self, party: PartyId, bytes: usize, begins: bool) {
        let mut told = self.told();
        let peer = told.traffic.entry(party).or_default();
        peer.frame_bytes_received += bytes as u64;
        peer.messages_received += u64::from(begins);
    }

    /// What went between this party and each other one.
    pub fn traffic(&self) -> Vec<PeerTraffic> {
        let told = self.told();
        let all = told.traffic.iter().map(|(party, peer)| {
            let mut peer = peer.clone();
            peer.party = self.name(*party);
            for bytes in told.open.get(party).into_iter().flatten() {
                peer.tls_bytes_sent += bytes.written.load(Ordering::Relaxed);
                peer.tls_bytes_received += bytes.read.load(Ordering::Relaxed);
            }
            peer
        });
        all.collect()
    }

    /// Writes status and metrics, if it is time or `now` is given.
    pub fn write(&self, now: bool) {
        {
            let mut told = self.told();
            if !now && told.written.is_some_and(|at| at.elapsed() < OFTEN) {
                return;
            }
            told.written = Some(Instant::now());
        }
        if let Some(path) = &self.files.status {
            let _ = replace(path, format!("{:#}\n", self.status()).as_bytes());
        }
        if let Some(path) = &self.files.metrics {
            let _ = replace(path, self.metrics().as_bytes());
        }
    }

    fn status(&self) -> serde_json::Value {
        let traffic = self.traffic();
        let told = self.told();
        let work = told.work.as_ref().map(|(what, done, of, since)| {
            let elapsed = since.elapsed().as_secs_f64();
            let left = (*done > 0 && done <= of).then(|| elapsed * (of - done) as f64 / *done as f64);
            json!({"what": what, "done": done, "of": of, "seconds_left": left.map(|left| left.ceil())})
        });
        json!({
            "party": self.party,
            "phase": told.phase,
            "waits_for": told.waiting,
            "work": work,
            "seconds": self.began.elapsed().as_secs(),
            "written": now(),
            "process": std::process::id(),
            "peers": traffic,
        })
    }

    fn metrics(&self) -> String {
        let mut text = String::new();
        let party = escaped(&self.party);
        let mut kind = |name: &str, help: &str, values: Vec<(String, u64)>| {
            let _ = writeln!(text, "# HELP privet_{name} {help}\n# TYPE privet_{name} counter");
            for (labels, value) in values {
                let _ = writeln!(text, "privet_{name}{{party=\"{party}\"{labels}}} {value}");
            }
        };
        let traffic = self.traffic();
        let of = |get: fn(&PeerTraffic) -> u64| {
            let all = traffic.iter();
            all.map(|peer| (format!(",peer=\"{}\"", escaped(&peer.party)), get(peer)))
                .collect::<Vec<_>>()
        };
        kind(
            "sent_bytes_total",
            "Bytes of frames sent.",
            of(|peer| peer.frame_bytes_sent),
        );
        kind(
            "received_bytes_total",
            "Bytes of frames received.",
            of(|peer| peer.frame_bytes_received),
        );
        kind(
            "sent_tls_bytes_total",
            "Bytes sent, TLS included.",
            of(|peer| peer.tls_bytes_sent),
        );
        kind(
            "received_tls_bytes_total",
            "Bytes received, TLS included.",
            of(|peer| peer.tls_bytes_received),
        );
        kind(
            "sent_messages_total",
            "Messages sent.",
            of(|peer| peer.messages_sent),
        );
        kind(
            "received_messages_total",
            "Messages received.",
            of(|peer| peer.messages_received),
        );
        kind(
            "connections_total",
            "Connections made.",
            of(|peer| peer.connections),
        );
        let told = self.told();
        let notes = told
            .notes
            .iter()
            .map(|(what, notes)| (format!(",event=\"{what}\""), notes.all))
            .collect();
        kind("events_total", "Events, written to the log or not.", notes);
        text
    }
}

/// A value of a label: what Prometheus reads between quotes.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', " ")
}

/// A log that goes on with what is there: in a new file of its owner alone, which takes the place of a link of that name.
fn continued(path: &Path) -> std::io::Result<File> {
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path))?;
    let before = fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() < MOST_LOG);
    if before {
        file.write_all(&fs::read(path)?)?;
    }
    file.persist(path).map_err(|e| e.error)
}

/// Replaces a file, without waiting for the disk: what is lost in a power cut is written again.
fn replace(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder_of(path))?;
    file.write_all(bytes)?;
    file.persist(path).map_err(|e| e.error)?;
    Ok(())
}
