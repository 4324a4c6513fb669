//! `privet inspect --transcript`

use std::fmt::Write;
use std::path::Path;

use super::exit::Failure;
use super::{Answer, words};
use crate::net::Transcript;

/// The transcript of a run with others.
pub(super) fn run(file: &Path) -> Result<Answer, Failure> {
    let bad = |why: String| Failure::input(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
    let transcript: Transcript =
        serde_json::from_str(&text).map_err(|e| bad(format!("it is no transcript of a run: {e}")))?;
    let mut out = String::new();
    let _ = writeln!(out, "run        {}", transcript.run);
    let _ = writeln!(out, "agreement  {}", transcript.agreement);
    let _ = writeln!(out, "party      {}, {}", transcript.party, transcript.role);
    let _ = writeln!(out, "outcome    {}", transcript.outcome);
    if transcript.resumed {
        let _ = writeln!(
            out,
            "resumed    after an interruption: what follows is counted since then"
        );
    }
    let _ = writeln!(out, "\nWHO HAS SIGNED");
    for name in transcript.signatures.keys() {
        let _ = writeln!(out, "  -  {name}");
    }
    let _ = writeln!(out, "\nWHAT WENT OVER THE NETWORK");
    for peer in &transcript.peers {
        let how = if peer.relayed {
            ", through the listener, sealed"
        } else {
            ""
        };
        let _ = writeln!(
            out,
            "  -  {}: sent {} in {}, received {} in {}; with TLS {} and {}; {}{how}; {}; key {}",
            peer.party,
            words::count(peer.frame_bytes_sent, "byte", "bytes"),
            words::count(peer.messages_sent, "message", "messages"),
            words::count(peer.frame_bytes_received, "byte", "bytes"),
            words::count(peer.messages_received, "message", "messages"),
            peer.tls_bytes_sent,
            peer.tls_bytes_received,
            words::count(peer.connections, "connection", "connections"),
            peer.cipher,
            peer.fingerprint,
        );
    }
    let _ = writeln!(out, "\nWHAT WAS SPENT AND SHOWN");
    for line in &transcript.revealed {
        let _ = writeln!(out, "  -  {line}");
    }
    if transcript.revealed.is_empty() {
        let _ = writeln!(out, "  -  nothing by this party");
    }
    let json = serde_json::to_value(&transcript).map_err(|e| bad(e.to_string()))?;
    Ok(Answer::new(words::wrapped(&out), json))
}
