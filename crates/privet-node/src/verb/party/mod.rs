//! `privet party`: one party of a job on a network, with its own table, ledger and key.

mod accept;
mod horizontal;
mod play;
mod prediction;
mod results;
mod secure;
mod site;
mod vertical;

use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use privet::Error;
use privet::model::Model;
use privet::privacy::Certificate;
use serde_json::json;

use super::exit::{Exit, Failure};
use super::request::Party;
use super::{Answer, output, words, written};
use crate::job::{Job, Network, Setting};
use crate::ledger::{RunRecord, Shared};
use crate::net::{
    Agreed, Dial, Drive, Held, HeldRun, Identity, KeyCheck, KeyRefusal, Report, Trust, Waits, agree,
};
use play::Playing;
use results::{Files, answer, revealed, save_transcript, transcript, unfinished};
use site::Site;

/// What a party has in the end.
enum Gained {
    Model {
        model: Box<Model>,
        /// What else people should know of it.
        told: String,
    },
    Contributed(Box<Certificate>),
    Predictions {
        csv: Vec<u8>,
        rows: usize,
        /// What else people should know of them.
        told: String,
    },
}

impl Gained {
    /// Predictions have none: they are for the label holder alone, and whoever else sees them is not protected.
    fn certificate(&self) -> Option<&Certificate> {
        match self {
            Self::Model { model, .. } => Some(model.certificate()),
            Self::Contributed(certificate) => Some(certificate),
            Self::Predictions { .. } => None,
        }
    }
}

/// What is known before anybody is called. Of rows nothing is read.
struct Prepared {
    job: Job,
    network: Network,
    identity: Identity,
    site: Site,
    /// What all will learn and this party spend, in words.
    shown: String,
}

impl Prepared {
    /// Whatever can be refused is refused here.
    fn of(party: &Party) -> Result<Self, Failure> {
        let job = Job::read(&party.job)?.with(None, party.out.as_deref())?;
        let Some(network) = job.network.clone() else {
            return Err(Failure::usage(format!(
                "{} has no [network]: add who listens and where, such as\n  [network]\n  listens = {:?}\n  address = \"127.0.0.1:7443\"\nTo play \
                 all parties on this machine, run `privet train {}`. Nothing was read.",
                party.job.display(),
                job.party_names().first().map_or("miner", String::as_str),
                party.job.display()
            )));
        };
        let folder = party.keys.path()?;
        let identity = Identity::load(folder)?;
        let trust = Trust::load(folder)?;
        let site = Site::of(&job, &network, party, &identity, &trust)?;
        // Whoever gives a run up needs neither its table nor its model.
        let shown = match party.abandon {
            true => String::new(),
            false => {
                check(&job, &site, party)?;
                accept::shown(&job, &site, party)?
            }
        };
        Ok(Self {
            job,
            network,
            identity,
            site,
            shown,
        })
    }
}

/// What all parties of a run will learn and this one spend: what a party accepts. Nobody is called, and of rows nothing is read.
///
/// # Errors
/// A [`Failure`] if this party could not take part.
pub fn plan(party: &Party) -> Result<Answer, Failure> {
    let Prepared { site, shown, .. } = Prepared::of(party)?;
    let json = json!({
        "plan": site.plan.text.lines().collect::<Vec<_>>(),
        "party": site.name(),
        "role": site.role(),
        "listens": site.seats.name(site.seats.listens),
    });
    Ok(Answer::new(shown, json))
}

pub(super) fn run(party: &Party) -> Result<Answer, Failure> {
    let Prepared {
        job,
        network,
        identity,
        site,
        shown,
    } = Prepared::of(party)?;
    let ledger = party.ledger.path()?;
    if let Some(file) = &party.sign {
        return accept::sign(&site, &identity, file, shown);
    }
    if !party.abandon {
        accept::accepted(&site, &identity, party, &shown)?;
    }
    let shared = Shared::new(party.ledger.open_or_create()?);
    let held = HeldRun::open(ledger, &site.plan.text, site.name())?;
    if party.abandon {
        return abandon(&site, &held, ledger);
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
    match &job.setting {
        Setting::Prediction(_) => prediction::check_output(&job.output, party)?,
        _ => output::check_model(&party.ledger, &job.output, party.overwrite || resumes)?,
    }
    let key = shared.store().signing_key()?;
    let files = Files::of(&job, &site);
    for result in [&job.output, &files.certificate] {
        output::check_set_back(&mut shared.store(), &key, result)?;
    }
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
        Setting::Prediction(job) => prediction::play(job, &mut playing, party),
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
        Gained::Predictions { csv, .. } => written(&job.output, csv)?,
    }
    transcript.outcome = match (&gained, &job.setting) {
        (Gained::Model { .. }, _) => format!("a model, in {}", job.output.display()),
        (Gained::Predictions { .. }, _) => format!("predictions, in {}", job.output.display()),
        (Gained::Contributed(_), Setting::Prediction(_)) => "its part in predictions that others get".into(),
        (Gained::Contributed(_), _) => "its part in a model that others get".into(),
    };
    save_transcript(&files, &transcript)?;
    end(&site, &agreed, &held, ledger)?;
    report.phase("over");
    Ok(answer(&job, &files, &gained, &transcript))
}

/// What people see while a party runs, on standard error.
fn speak(line: &str) {
    use std::io::Write;
    let line = privet::privacy::texts::shown_lines(line);
    let _ = writeln!(std::io::stderr(), "privet: {line}");
}

fn check(job: &Job, site: &Site, party: &Party) -> Result<(), Failure> {
    match &job.setting {
        Setting::Vertical(parties) => vertical::check(parties, site.seats.me, party),
        Setting::Prediction(job) => prediction::check(job, site.seats.me, party),
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
    network: &Network,
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
fn end(site: &Site, agreed: &Agreed, held: &HeldRun, ledger: &std::path::Path) -> Result<(), Failure> {
    RunRecord::remove(ledger, &agreed.agreement, site.seats.me)?;
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

fn abandon(site: &Site, held: &HeldRun, ledger: &std::path::Path) -> Result<Answer, Failure> {
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
    RunRecord::remove(ledger, &agreement, site.seats.me)?;
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
