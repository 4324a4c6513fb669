//! `privet keys`: the key of this party, and those of others that it trusts.

use std::fmt::Write;

use serde_json::json;

use super::Answer;
use super::exit::Failure;
use super::request::{KeysCommand, KeysFolder};
use crate::net::{Identity, Trust};

pub(super) fn run(keys: &KeysFolder, verb: &KeysCommand) -> Result<Answer, Failure> {
    let folder = keys.path()?;
    match verb {
        KeysCommand::Init => {
            let identity = Identity::create(folder)?;
            let fingerprint = identity.public().fingerprint();
            let file = Identity::file(folder);
            let text = format!(
                "fingerprint  {fingerprint}\n\nWrote {}. Tell the other parties this fingerprint by a way that you trust, such as a call; each runs\n  \
                 privet keys trust NAME {fingerprint}\nwith the name that the job gives you. Back the file up, and show it to nobody.\n",
                file.display()
            );
            let json = json!({"fingerprint": fingerprint.to_string(), "file": file});
            Ok(Answer::new(text, json))
        }
        KeysCommand::Show => {
            let (identity, trust) = (Identity::load(folder)?, Trust::load(folder)?);
            let fingerprint = identity.public().fingerprint();
            let mut text = format!("fingerprint  {fingerprint}, of this party\n");
            for party in trust.parties() {
                let state = match (&party.until, trust.fingerprint(&party.name)) {
                    (_, Err(_)) if party.revoked => ", REVOKED".to_owned(),
                    (Some(until), Err(_)) => format!(", EXPIRED on {until}"),
                    (Some(until), Ok(_)) => format!(", until {until}"),
                    (None, _) => String::new(),
                };
                let _ = writeln!(
                    text,
                    "trusted      {}, of {}{state}",
                    party.fingerprint, party.name
                );
            }
            let json = json!({"fingerprint": fingerprint.to_string(), "trusted": trust.parties(), "file": trust.file()});
            Ok(Answer::new(text, json))
        }
        KeysCommand::Trust {
            name,
            fingerprint,
            until,
        } => {
            // Without a key of one's own nobody can be met.
            Identity::load(folder)?;
            let mut trust = Trust::load(folder)?;
            trust.insert(name, *fingerprint, until.clone())?;
            let end = until
                .as_ref()
                .map_or_else(String::new, |until| format!(", until {until}"));
            let text = format!("'{name}' is trusted by the key {fingerprint}{end}\n");
            let json = json!({"name": name, "fingerprint": fingerprint.to_string(), "until": until});
            Ok(Answer::new(text, json))
        }
        KeysCommand::Revoke { name } => {
            let mut trust = Trust::load(folder)?;
            if !trust.revoke(name)? {
                return Err(Failure::usage(format!(
                    "no party '{name}' is known: `privet keys show` lists those that are"
                )));
            }
            let text = format!("'{name}' is trusted no more: its connections are refused from now on\n");
            Ok(Answer::new(text, json!({"name": name, "revoked": true})))
        }
    }
}
