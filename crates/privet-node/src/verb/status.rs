//! `privet status`: what a run with others is at, from the file that the party writes.

use std::fmt::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::Value;

use super::exit::Failure;
use super::{Answer, words};

/// A status that is older than this is of a process that has ended or was killed.
const STALE: u64 = 30;

pub(super) fn run(file: &Path) -> Result<Answer, Failure> {
    let bad = |why: String| Failure::input(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
    let status: Value =
        serde_json::from_str(&text).map_err(|e| bad(format!("it is no status of a party: {e}")))?;
    let said = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let mut out = String::new();
    let _ = writeln!(out, "party      {}", said(&status["party"]));
    let _ = writeln!(out, "state      {}", said(&status["phase"]));
    let waits = said(&status["waits_for"]);
    if !waits.is_empty() {
        let _ = writeln!(out, "waits for  {waits}");
    }
    let work = &status["work"];
    if let (Some(done), Some(of)) = (work["done"].as_u64(), work["of"].as_u64()) {
        let left = work["seconds_left"].as_f64();
        let left = left.map_or_else(String::new, |left| format!(", about {left} s left"));
        let _ = writeln!(out, "work       {}: {done} of {of}{left}", said(&work["what"]));
    }
    let _ = writeln!(out, "running    {} s", said(&status["seconds"]));
    for peer in status["peers"].as_array().into_iter().flatten() {
        let number = |key: &str| peer[key].as_u64().unwrap_or_default();
        let _ = writeln!(
            out,
            "peer       {}: sent {} in {}, received {} in {}, {}",
            said(&peer["party"]),
            words::count(number("frame_bytes_sent"), "byte", "bytes"),
            words::count(number("messages_sent"), "message", "messages"),
            words::count(number("frame_bytes_received"), "byte", "bytes"),
            words::count(number("messages_received"), "message", "messages"),
            words::count(number("connections"), "connection", "connections"),
        );
    }
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let written = status["written"].as_u64().unwrap_or_default();
    if said(&status["phase"]) != "over" && now.saturating_sub(written) > STALE {
        let _ = writeln!(
            out,
            "\nThis was written {} s ago: the process has ended or was killed. The same `privet party` command goes on with the run.",
            now.saturating_sub(written)
        );
    }
    Ok(Answer::new(words::wrapped(&out), status))
}
