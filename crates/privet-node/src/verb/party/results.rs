//! What a party writes beside its output, and says in the end.

use std::fmt::Write;
use std::path::PathBuf;

use privet::Error;
use privet::privacy::journal::Journal;
use serde_json::json;

use super::Gained;
use super::site::Site;
use crate::job::Job;
use crate::ledger::{Shared, beside};
use crate::net::{Agreed, Report, ReportFiles, Transcript};
use crate::verb::exit::Failure;
use crate::verb::request::Party;
use crate::verb::{Answer, output, words, written};

/// The files beside a party's output.
pub(super) struct Files {
    pub(super) certificate: PathBuf,
    pub(super) transcript: PathBuf,
    status: PathBuf,
    metrics: PathBuf,
    log: PathBuf,
}

impl Files {
    pub(super) fn of(job: &Job, site: &Site) -> Self {
        let name: String = site
            .name()
            .chars()
            .map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' })
            .collect();
        let file = |ending: &str| beside(&job.output, &format!(".{name}.{ending}"));
        Self {
            certificate: file("certificate.json"),
            transcript: file("transcript.json"),
            status: file("status.json"),
            metrics: file("prom"),
            log: file("log"),
        }
    }

    /// None of them takes the place of something that is read or of the ledger.
    pub(super) fn check(&self, job: &Job, party: &Party) -> Result<(), Failure> {
        let results = [
            &self.certificate,
            &self.transcript,
            &self.status,
            &self.metrics,
            &self.log,
        ];
        let results = results.map(PathBuf::as_path);
        if let Some(file) = output::clash(&results, &job.inputs()) {
            return Err(Failure::usage(format!(
                "{} would be overwritten: choose another --out. Nothing was read.",
                file.display()
            )));
        }
        results
            .iter()
            .try_for_each(|file| output::check_ledger(&party.ledger, file))
    }

    pub(super) fn report(&self) -> ReportFiles {
        ReportFiles {
            log: Some(self.log.clone()),
            status: Some(self.status.clone()),
            metrics: Some(self.metrics.clone()),
        }
    }
}

/// What the ledger was told since an entry.
pub(super) fn revealed(shared: &Shared, first: u64) -> Result<Vec<String>, Failure> {
    let entries = shared.store().read(first)?;
    Ok(entries
        .iter()
        .map(|entry| crate::verb::ledger::show::sentence(entry.event()))
        .collect())
}

pub(super) fn transcript(site: &Site, agreed: &Agreed, report: &Report, revealed: Vec<String>) -> Transcript {
    let hexadecimal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let signatures = site.seats.names.iter().zip(&agreed.signatures);
    Transcript {
        privet: "transcript 1".into(),
        run: agreed.agreement.run().to_string(),
        agreement: hexadecimal(&agreed.agreement.digest()),
        plan: site.plan.text.lines().map(str::to_owned).collect(),
        party: site.name().to_owned(),
        role: site.role().to_owned(),
        outcome: String::new(),
        resumed: agreed.is_resumed,
        signatures: signatures
            .map(|(name, signature)| (name.clone(), hexadecimal(signature)))
            .collect(),
        certificate_key: None,
        peers: report.traffic(),
        revealed,
    }
}

pub(super) fn save_transcript(files: &Files, transcript: &Transcript) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(transcript).map_err(|e| Error::internal(e.to_string()))?;
    written(&files.transcript, (text + "\n").as_bytes())
}

/// A run that ended without a result, with what it has cost.
pub(super) fn unfinished(failure: Failure, transcript: &Transcript) -> Failure {
    let mut message = failure.message;
    message.push_str("\nWhat this party has spent and shown in this run:");
    match transcript.revealed.is_empty() {
        true => message.push_str("\n  -  nothing"),
        false => transcript.revealed.iter().for_each(|line| {
            let _ = write!(message, "\n  -  {line}");
        }),
    }
    message.push_str(
        "\nThe same command goes on with the run if all parties still have it; --abandon gives it up, and what was spent stays spent.",
    );
    Failure { message, ..failure }
}

pub(super) fn answer(job: &Job, files: &Files, gained: &Gained, transcript: &Transcript) -> Answer {
    let certified = gained.certificate();
    let mut text = certified.map_or_else(String::new, |certificate| format!("{certificate}\n\n"));
    for peer in &transcript.peers {
        let _ = writeln!(
            text,
            "peer       {}: sent {} in {}, received {} in {}",
            peer.party,
            words::count(peer.frame_bytes_sent, "byte", "bytes"),
            words::count(peer.messages_sent, "message", "messages"),
            words::count(peer.frame_bytes_received, "byte", "bytes"),
            words::count(peer.messages_received, "message", "messages"),
        );
    }
    if transcript.resumed {
        let _ = writeln!(
            text,
            "resumed    a run that was broken off: nothing was paid or drawn a second time"
        );
    }
    let (mut predictions, mut rows) = (None, None);
    let (model, certificate) = match gained {
        Gained::Model { model, told } => {
            text += told;
            let _ = writeln!(
                text,
                "\nWrote {}: {}",
                job.output.display(),
                model.ensemble().summary()
            );
            (Some(&job.output), None)
        }
        Gained::Contributed(_) => {
            let _ = writeln!(text, "\nWrote the above to {}", files.certificate.display());
            (None, Some(&files.certificate))
        }
        Gained::Predictions {
            rows: count, told, ..
        } => {
            text += told;
            let count = *count as u64;
            (predictions, rows) = (Some(&job.output), Some(count));
            let written = words::count(count, "prediction", "predictions");
            let _ = writeln!(text, "\nWrote {written} to {}", job.output.display());
            (None, None)
        }
    };
    let _ = writeln!(
        text,
        "Wrote {}: `privet inspect --transcript` shows it",
        files.transcript.display()
    );
    let json = json!({
        "model": model,
        "predictions": predictions,
        "rows": rows,
        "certificate_file": certificate,
        "certificate": certified,
        "transcript": files.transcript,
        "run": transcript.run,
        "peers": transcript.peers,
        "resumed": transcript.resumed,
    });
    Answer::new(words::wrapped(&text), json)
}
