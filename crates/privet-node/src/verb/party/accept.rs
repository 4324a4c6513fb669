//! What every party will learn and this one spend, and that it accepts this: said with the command, or signed beforehand.

use std::fmt::Write;
use std::path::Path;

use privet::privacy::signature::{Purpose, Signature};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::site::Site;
use super::{horizontal, prediction, secure, vertical};
use crate::job::{Job, Setting};
use crate::net::Identity;
use crate::verb::exit::{Exit, Failure};
use crate::verb::request::Party;
use crate::verb::{Answer, words, written};

/// A plan that a party has accepted.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Acceptance {
    /// The party.
    party: String,
    /// The digest of the plan, in hexadecimal.
    plan: String,
    /// The plan, for people.
    lines: Vec<String>,
    signature: Signature,
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn signed(site: &Site) -> Vec<u8> {
    [&site.plan.digest()[..], site.name().as_bytes()].concat()
}

/// What is accepted, in words.
pub(super) fn shown(job: &Job, site: &Site, party: &Party) -> Result<String, Failure> {
    let (learns, costs) = match &job.setting {
        Setting::Vertical(parties) => vertical::told(parties, site.seats.me),
        Setting::Prediction(job) => prediction::told(job, site.seats.me)?,
        Setting::Horizontal(owners) => horizontal::told(owners, site.seats.me, party)?,
        Setting::Secure(parties) => secure::told(parties, site.seats.me),
        _ => (Vec::new(), Vec::new()),
    };
    let mut text = format!(
        "plan       {}\nparty      {}, {}\nlistens    {}\n\nWHO LEARNS WHAT\n",
        hexadecimal(&site.plan.digest()),
        site.name(),
        site.role(),
        site.seats.name(site.seats.listens)
    );
    for line in learns {
        let _ = writeln!(text, "  -  {line}");
    }
    let _ = writeln!(text, "\nWHAT THIS PARTY SPENDS AND SHOWS");
    for line in costs {
        let _ = writeln!(text, "  -  {line}");
    }
    Ok(words::wrapped(&text))
}

/// Accepts the plan in a file.
pub(super) fn sign(site: &Site, identity: &Identity, file: &Path, shown: String) -> Result<Answer, Failure> {
    let acceptance = Acceptance {
        party: site.name().to_owned(),
        plan: hexadecimal(&site.plan.digest()),
        lines: site.plan.text.lines().map(str::to_owned).collect(),
        signature: identity.key().sign(Purpose::Plan, &signed(site)),
    };
    let json = json!(acceptance);
    written(file, format!("{json:#}\n").as_bytes())?;
    let text = format!(
        "{shown}\nWrote {}: '{}' accepts this plan, and begins with `privet party … --accepted {}`. Nothing was read.\n",
        file.display(),
        site.name(),
        file.display()
    );
    Ok(Answer::new(text, json))
}

/// That the plan is accepted; what it is, if not.
pub(super) fn accepted(site: &Site, identity: &Identity, party: &Party, shown: &str) -> Result<(), Failure> {
    if party.yes || party.abandon {
        return Ok(());
    }
    let Some(file) = &party.accepted else {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "{shown}\nNothing was begun. If you accept this, add --yes; or sign it for later with --sign FILE."
            ),
        ));
    };
    let bad = |why: String| Failure::input(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|e| bad(format!("it cannot be read: {e}")))?;
    let acceptance: Acceptance =
        serde_json::from_str(&text).map_err(|e| bad(format!("it is no accepted plan: {e}")))?;
    let signer = acceptance.signature.verify(Purpose::Plan, &signed(site));
    if signer.ok() == Some(identity.public()) {
        return Ok(());
    }
    Err(bad(
        match acceptance.lines == site.plan.text.lines().collect::<Vec<_>>() {
            true => format!("it was not signed by the key of '{}'", site.name()),
            false => site
                .plan
                .differences(&acceptance.lines.join("\n"), "the accepted plan"),
        },
    ))
}
