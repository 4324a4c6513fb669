//! Requests of parties on a network, from what was typed.

use std::ffi::OsString;

use privet_node::verb::{Command, Failure, KeysCommand, KeysFolder, LedgerFile, Party};

use super::{output_kind, wait};
use crate::low::{self, KeysVerb};

type Env<'a> = &'a dyn Fn(&str) -> Option<OsString>;

pub(super) fn keys_of(low: low::Keys, env: Env<'_>) -> Result<Command, Failure> {
    let verb = match low.verb {
        KeysVerb::Init => KeysCommand::Init,
        KeysVerb::Show => KeysCommand::Show,
        KeysVerb::Trust {
            name,
            fingerprint,
            until,
        } => KeysCommand::Trust {
            name,
            fingerprint: fingerprint.parse()?,
            until,
        },
        KeysVerb::Revoke { name } => KeysCommand::Revoke { name },
    };
    Ok(Command::Keys {
        keys: KeysFolder::new(low.keys.keys, env),
        verb,
    })
}

pub(super) fn party_of(low: low::Party, env: Env<'_>) -> Result<Party, Failure> {
    let ledger = LedgerFile::new(low.ledger.ledger, env).waiting(wait(&low.patience));
    Ok(Party {
        job: low.job,
        role: low.role,
        name: low.name,
        out: low.out,
        overwrite: low.overwrite,
        not_protected: low.not_protected,
        id: low.id,
        what: output_kind(low.what),
        yes: low.yes,
        accepted: low.accepted,
        sign: low.sign,
        abandon: low.abandon,
        bind: low.bind,
        proxy: low.proxy.as_deref().map(str::parse).transpose()?,
        keys: KeysFolder::new(low.keys.keys, env),
        ledger,
    })
}
