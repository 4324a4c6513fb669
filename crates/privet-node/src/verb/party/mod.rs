//! `privet party`: one party of a job on a network, with its own table, ledger and key.

mod accept;
mod horizontal;
mod play;
mod secure;
mod site;
mod vertical;

use std::fmt::Write;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use privet::Error;
use privet::error::JournalFault;
use privet::model::Model;
use privet::privacy::Certificate;
use privet::privacy::journal::Journal;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::request::Party;
use super::{Answer, output, words, written};
use crate::job::{Job, Setting};
use crate::ledger::{RunRecord, Shared, beside};
use crate::net::{
    Agreed, Dial, Drive, Held, HeldRun, Identity, KeyCheck, KeyRefusal, Report, ReportFiles, Transcript,
    Trust, Waits, agree,
};
use play::Playing;
use site::Site;

/// What a party has in the end.
enum Gained {
    Model {
        model: Box<Model>,
        /// What else people should know of it.
        told: String,
    },
    Contributed(Box<Certificate>),
}

impl Gained {
    fn certificate(&self) -> &Certificate {
        match self {
            Self::Model { model, .. } => model.certificate(),
            Self::Contributed(certificate) => certificate,
        }
    }
}

pub(super) fn run(party: &Party) -> Result<Answer, Failure> {
    let job = Job::read(&party.job)?.with(None, party.out.as_deref())?;
    let Some(network) = job.network.clone() else {
        return Err(Failure::usage(format!(
            "{} has no [network]: add who listens and where, such as\n  [network]\n  listens = {:?}\n  address = \"127.0.0.1:7443\"\nTo play all \
             parties on this machine, run `privet train {}`. Nothing was read.",
            party.job.display(),
            job.party_names().first().map_or("miner", String::as_str),
            party.job.display()
        )));
    };
    let folder = party.keys.path()?;
    let identity = Identity::load(folder)?;
    let trust = Trust::load(folder)?;
    let site = Site::of(&job, &network, party, &identity, &trust)?;
    let ledger = party.ledger.path()?;
    // Whatever can be refused is refused before anybody is called; of rows nothing is read.
    check(&job, &site, party)?;
    let shown = accept::shown(&job, &site, party)?;
    if let Some(file) = &party.sign {
        return accept::sign(&site, &identity, file, shown);
    }
    accept::accepted(&site, &identity, party, &shown)?;
    let shared = Shared::new(party.ledger.open_or_create()?);
    let held = HeldRun::open(ledger, &site.plan.text, site.name())?;
    if party.abandon {
        return abandon(&site, &held, ledger, party);
    }
    let resumes = match held.get()? {
        Held::Agreed(bundle) => {
            let agreement = privet::party::Agreement::of(bundle.terms)?;
            if RunRecord::is_over(ledger, &agreement, site.seats.me)? {
                return over(&job, &held, &agreement);
            }
            true
        }
        _ => false,
    };
    output::check_model(&party.ledger, &job.output, party.overwrite || resumes)?;
    let key = shared.store().signing_key()?;
    output::check_set_back(&mut shared.store(), &key, &job.output)?;

    let files = Files::of(&job, &site);
    files.check(&job, party)?;
    let report = Arc::new(Report::new(
        site.name(),
        site.seats.names.clone(),
        files.report(),
        speak,
    ));
    let mut drive = connect(party, &network, &site, &identity, &report)?;
    let agreed = agree(&mut drive, &site.plan, &identity, &held).map_err(|e| stopped(e, false))?;
    report.phase(if agreed.is_resumed { "resumed" } else { "running" });
    let first = held.first()?;
    let waits = Waits {
        patience: site.plan.patience,
        deadline: Duration::from_secs(network.deadline.into()),
    };
    let mut playing = Playing {
        drive: &mut drive,
        agreed: &agreed,
        waits,
        me: site.seats.me,
        path: ledger,
        shared: &shared,
        ledger: &party.ledger,
        identity: &identity,
    };
    let ended = match &job.setting {
        Setting::Vertical(parties) => vertical::play(parties, &mut playing, party),
        Setting::Horizontal(owners) => horizontal::play(owners, &mut playing),
        Setting::Secure(parties) => secure::play(parties, &mut playing),
        _ => Err(Error::internal("other settings have no parties").into()),
    };
    let revealed = revealed(&shared, first)?;
    let mut transcript = transcript(&site, &agreed, &report, revealed);
    transcript.certificate_key = Some(json!({
        "key": key.public().to_string(),
        "fingerprint": key.public().fingerprint().to_string(),
        "certified": identity.certify(&key.public()),
    }));
    let gained = match ended {
        Ok(gained) => gained,
        Err(failure) => {
            transcript.outcome = "no result".into();
            report.phase("ended without a result");
            save_transcript(&files, &transcript)?;
            return Err(unfinished(failure, &transcript));
        }
    };
    match &gained {
        Gained::Model { model, .. } => written(&job.output, &model.to_signed_bytes(&key))?,
        Gained::Contributed(certificate) => {
            written(&files.certificate, certificate.to_signed_json(&key).as_bytes())?;
        }
    }
    transcript.outcome = match &gained {
        Gained::Model { .. } => format!("a model, in {}", job.output.display()),
        Gained::Contributed(_) => "its part in a model that others get".into(),
    };
    save_transcript(&files, &transcript)?;
    end(&site, &agreed, &held, ledger, &shared, &job)?;
    report.phase("over");
    Ok(answer(&job, &files, &gained, &transcript))
}

/// What people see while a party runs, on standard error.
fn speak(line: &str) {
    use std::io::Write;
    let line = privet::privacy::texts::shown_lines(line);
    let _ = writeln!(std::io::stderr(), "privet: {line}");
}

/// The files beside a party's output.
struct Files {
    certificate: PathBuf,
    transcript: PathBuf,
    status: PathBuf,
    metrics: PathBuf,
    log: PathBuf,
}

impl Files {
    fn of(job: &Job, site: &Site) -> Self {
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
    fn check(&self, job: &Job, party: &Party) -> Result<(), Failure> {
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

    fn report(&self) -> ReportFiles {
        ReportFiles {
            log: Some(self.log.clone()),
            status: Some(self.status.clone()),
            metrics: Some(self.metrics.clone()),
        }
    }
}

fn check(job: &Job, site: &Site, party: &Party) -> Result<(), Failure> {
    match &job.setting {
        Setting::Vertical(parties) => vertical::check(parties, site.seats.me, party),
        Setting::Horizontal(owners) => horizontal::check(owners, site.seats.me, party),
        Setting::Secure(parties) => secure::check(parties, site.seats.me, party),
        _ => Err(Failure::usage(format!(
            "{} has one table and needs no parties: run `privet train {}`",
            party.job.display(),
            party.job.display()
        ))),
    }
}

fn connect(
    party: &Party,
    network: &crate::job::Network,
    site: &Site,
    identity: &Identity,
    report: &Arc<Report>,
) -> Result<Drive, Failure> {
    let unconnected =
        |e: std::io::Error| Failure::new(Exit::Unexpected, format!("the network cannot be used: {e}"));
    let check = keys(site, party.keys.path()?.to_owned());
    let both = (identity, check);
    if !site.seats.is_listener() {
        if party.bind.is_some() {
            return Err(Failure::usage(format!(
                "--bind is for the party that listens, which is '{}'",
                network.listens
            )));
        }
        let dial = Dial {
            address: network.address.clone(),
            proxy: party.proxy.clone(),
        };
        return Drive::dial(dial, both, site.seats.clone(), report.clone()).map_err(unconnected);
    }
    // On all addresses, of both versions where the system has them.
    let port = network.address.port();
    let bind = party
        .bind
        .unwrap_or_else(|| SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)));
    let listened = Drive::listen(bind, both, site.seats.clone(), report.clone());
    let listened = match (listened, party.bind) {
        (Err(_), None) => {
            let bind = SocketAddr::from((std::net::Ipv4Addr::UNSPECIFIED, port));
            Drive::listen(
                bind,
                (identity, keys(site, party.keys.path()?.to_owned())),
                site.seats.clone(),
                report.clone(),
            )
        }
        (listened, _) => listened,
    };
    let (drive, address) = listened.map_err(|e| {
        Failure::new(
            Exit::Unexpected,
            format!("nobody can be listened for at port {port}: {e}"),
        )
    })?;
    report.note("phase", &format!("listening at {address}"));
    Ok(drive)
}

/// Whose key it is, by the trust file as it stands at that moment.
fn keys(site: &Site, folder: PathBuf) -> Arc<KeyCheck> {
    let names = site.seats.names.clone();
    Arc::new(move |key| {
        let trust = Trust::load(&folder).map_err(|_| KeyRefusal::Stranger)?;
        let mut why = KeyRefusal::Stranger;
        for (place, name) in names.iter().enumerate() {
            match trust.refusal(name, key) {
                Ok(()) => return Ok(privet::party::PartyId(place as u16)),
                Err(KeyRefusal::Stranger) => {}
                Err(other) => why = other,
            }
        }
        Err(why)
    })
}

/// What the ledger was told since an entry.
fn revealed(shared: &Shared, first: u64) -> Result<Vec<String>, Failure> {
    let entries = shared.store().read(first)?;
    Ok(entries
        .iter()
        .map(|entry| super::ledger::show::sentence(entry.event()))
        .collect())
}

fn transcript(site: &Site, agreed: &Agreed, report: &Report, revealed: Vec<String>) -> Transcript {
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

fn save_transcript(files: &Files, transcript: &Transcript) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(transcript).map_err(|e| Error::internal(e.to_string()))?;
    written(&files.transcript, (text + "\n").as_bytes())
}

/// A run that ended without a result, with what it has cost.
fn unfinished(failure: Failure, transcript: &Transcript) -> Failure {
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

fn stopped(e: Error, begun: bool) -> Failure {
    match e {
        Error::Stopped if begun => Failure::new(
            Exit::Stopped,
            format!(
                "{e}. The ledger has a record of the run: the same command goes on with it, and pays nothing twice"
            ),
        ),
        e => e.into(),
    }
}

/// The run is over: its record and its agreement go.
fn end(
    site: &Site,
    agreed: &Agreed,
    held: &HeldRun,
    ledger: &std::path::Path,
    shared: &Shared,
    job: &Job,
) -> Result<(), Failure> {
    let mark = play::mark_of(job, site.seats.me, shared)?;
    match RunRecord::open(ledger, &agreed.agreement, site.seats.me, &mark) {
        Ok(mut record) => record.wipe()?,
        Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob => {}
        Err(e) => return Err(e.into()),
    }
    Ok(held.remove()?)
}

/// The answer of a party that was killed when its result was written, and before its agreement was removed.
fn over(job: &Job, held: &HeldRun, agreement: &privet::party::Agreement) -> Result<Answer, Failure> {
    held.remove()?;
    let text = format!(
        "The run {} is over: its result, if it had one, is in {}. Give the command again to begin a new run.\n",
        agreement.run(),
        job.output.display()
    );
    let json = json!({"run": agreement.run().to_string(), "over": true, "output": job.output});
    Ok(Answer::new(words::wrapped(&text), json))
}

fn abandon(site: &Site, held: &HeldRun, ledger: &std::path::Path, party: &Party) -> Result<Answer, Failure> {
    let job = Job::read(&party.job)?;
    let bundle = match held.get()? {
        Held::Nothing => {
            return Err(Failure::usage(format!(
                "'{}' has no run of this plan that could be given up",
                site.name()
            )));
        }
        Held::Proposed(bundle) | Held::Agreed(bundle) => bundle,
    };
    let agreement = privet::party::Agreement::of(bundle.terms)?;
    let shared = Shared::new(party.ledger.open()?);
    let mark = play::mark_of(&job, site.seats.me, &shared)?;
    match RunRecord::open(ledger, &agreement, site.seats.me, &mark) {
        Ok(mut record) => record.wipe()?,
        Err(Error::Journal(e)) if e.fault() == JournalFault::OtherJob => {}
        Err(e) => return Err(e.into()),
    }
    held.remove()?;
    let text = format!(
        "Gave up the run {}. What was spent stays spent; the next `privet party` begins a new run.\n",
        agreement.run()
    );
    Ok(Answer::new(
        text,
        json!({"abandoned": agreement.run().to_string()}),
    ))
}

fn answer(job: &Job, files: &Files, gained: &Gained, transcript: &Transcript) -> Answer {
    let mut text = format!("{}\n\n", gained.certificate());
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
    };
    let _ = writeln!(
        text,
        "Wrote {}: `privet inspect --transcript` shows it",
        files.transcript.display()
    );
    let json = json!({
        "model": model,
        "certificate_file": certificate,
        "certificate": gained.certificate(),
        "transcript": files.transcript,
        "run": transcript.run,
        "peers": transcript.peers,
        "resumed": transcript.resumed,
    });
    Answer::new(words::wrapped(&text), json)
}
