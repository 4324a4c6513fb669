//! `privet ledger verify`

mod against;
mod file;
mod unnamed;

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

use privet::privacy::journal::{Entry, Journal};
use privet::privacy::signature::PublicKey;
use privet::privacy::{Book, BudgetLine, REFUTED, Sharing, texts};
use serde_json::json;

use crate::ledger::{KeptCheck, Store};
use crate::verb::Answer;
use crate::verb::exit::{Exit, Failure};
use crate::verb::words::{self, count};
pub(in crate::verb) use file::Stated;

pub(in crate::verb) fn run(path: &Path, against: &[impl AsRef<Path>]) -> Result<Answer, Failure> {
    // Files first: a mistyped name is not a broken ledger.
    let certificates = against
        .iter()
        .map(|file| Ok((file.as_ref(), Stated::read(file.as_ref())?)))
        .collect::<Result<Vec<_>, Failure>>()?;
    let mut store = Store::read_only(path)?;
    store.check()?;
    let own = store.public_key()?;
    let entries = store.read(0)?;
    let book = Book::of(&entries)?;
    if entries.is_empty() {
        return Err(privet::Error::journal(
            privet::error::JournalFault::Damaged,
            format!(
                "the ledger {} has no first entry: it was emptied. Remove the files beside it that end in -wal and -shm, then put it back from a backup.",
                store.path().display()
            ),
        )
        .into());
    }

    let mut text = String::new();
    let head = book.head();
    let _ = writeln!(
        text,
        "The ledger is whole: {}, each follows from the one before, and none exceeds its limit.",
        count(head.entries, "entry", "entries")
    );
    let mut checks = Vec::new();
    let kept = store.check_kept(&entries)?;
    let mut sound = kept.missing.is_empty() && kept.damaged.is_empty() && kept.strays.is_empty();
    write_kept(&mut text, &kept);
    let accounts = book.names().keys().filter_map(|name| book.account(name));
    let lines: Vec<&BudgetLine> = accounts.flat_map(|account| account.lines().values()).collect();
    let assuming: BTreeSet<&String> = lines.iter().flat_map(|line| &line.assuming).collect();
    let sharing: BTreeSet<&Sharing> = lines.iter().flat_map(|line| &line.sharing).collect();
    for sentence in &assuming {
        let _ = writeln!(
            text,
            "Some of its prices hold provided that {sentence}, {REFUTED}."
        );
    }
    for sharing in &sharing {
        let _ = writeln!(text, "Some of its prices hold provided that {sharing}.");
    }
    let key = store.commitment_key();
    let ledger = against::Compared {
        entries: &entries,
        key: key.as_ref(),
    };
    for (file, stated) in certificates {
        let Stated {
            certificate, signer, ..
        } = &stated;
        let signed_elsewhere = signer.is_some_and(|signer| Some(signer) != own);
        let found = against::VerifiedCertificate::of(&ledger, certificate, signed_elsewhere);
        let shown = file.display();
        let problem = found.as_ref().err();
        sound &= problem.is_none();
        let _ = match &found {
            Ok(found) if found.is_without_rows => writeln!(
                text,
                "{shown}: made by a party that has no rows and paid nothing; the parts of the owners are checked."
            ),
            Ok(found) if found.is_foreign => writeln!(
                text,
                "{shown}: made with another ledger, against which it can be checked; here only the parts of parties are."
            ),
            Ok(found) => writeln!(
                text,
                "{shown}: made at entry {}, and {}.",
                certificate.ledger.entries,
                found.words()
            ),
            Err(problem) => writeln!(text, "{shown}: DOES NOT VERIFY: {}", texts::shown(problem)),
        };
        let parts = found.as_ref().map_or(&[][..], |found| &found.parts);
        for (party, made) in parts {
            let party = texts::shown(party);
            let _ = match made {
                Some(made) => writeln!(
                    text,
                    "{shown}: the part of {party} was made at entry {made}, and what it says follows from the entries of its runs."
                ),
                None => writeln!(
                    text,
                    "{shown}: what the part of {party} says follows from the entries of the runs that it names; at which entry it was made, and whether \
                     it leaves out a run and what that showed, can be told only with the ledger's key."
                ),
            };
        }
        let others = found.as_ref().map_or(&[][..], |found| &found.elsewhere);
        for party in others {
            let party = texts::shown(party);
            let _ = writeln!(
                text,
                "{shown}: the part of {party} can be checked only against its own ledger."
            );
        }
        let _ = writeln!(text, "{shown}: {}.", signature(&stated, own));
        checks.push(json!({
            "file": file,
            "verified": problem.is_none(),
            "problem": problem,
            "parts": parts.iter().map(|(party, made)| json!({"party": party, "made_at": made})).collect::<Vec<_>>(),
            "elsewhere": others,
            "signed_by": signer.map(|key| key.fingerprint().to_string()),
        }));
    }
    let last = entries.last().and_then(Entry::at);
    let _ = writeln!(text, "It ends at {head}, written {}.", words::date(last));
    let mut json = json!({"ledger": store.path(), "verified": sound, "head": head, "against": checks});
    if !assuming.is_empty() {
        json["assuming"] = json!(assuming);
    }
    if !sharing.is_empty() {
        json["sharing"] = json!(sharing);
    }
    if kept.values > 0 || !kept.strays.is_empty() {
        json["kept"] = json!({
            "values": kept.values,
            "missing": kept.missing,
            "damaged": kept.damaged,
            "without_entry": kept.strays,
            "compared": kept.compared,
        });
    }
    let mut answer = Answer::new(text, json);
    if !sound {
        answer.exit = Exit::Ledger;
    }
    Ok(answer)
}

/// What was found about the values that are stored with the ledger.
fn write_kept(text: &mut String, kept: &KeptCheck) {
    for entry in &kept.strays {
        let _ = writeln!(
            text,
            "KEPT VALUE WITHOUT ENTRY: a value is kept with entry {entry}, and no such entry says so: entries were removed from the ledger \
             after the value may have been seen. Remove the files beside the ledger that end in -wal and -shm, then put it back from a backup."
        );
    }
    if kept.values == 0 {
        return;
    }
    let values = count(
        kept.values,
        "released value is kept with it",
        "released values are kept with it",
    );
    let found = match (kept.missing.is_empty() && kept.damaged.is_empty(), kept.compared) {
        (false, _) => "see below",
        (true, true) => "whole and unchanged",
        (true, false) => "but not compared with the digest of its entry, since the ledger's key is not here",
    };
    let _ = writeln!(text, "{values}, {found}.");
    let both = [(&kept.missing, "is missing"), (&kept.damaged, "was changed")];
    for (entries, what) in both {
        for entry in entries {
            let _ = writeln!(
                text,
                "KEPT VALUE LOST: the value of entry {entry} {what}. Remove the files beside the ledger that end in -wal and -shm, then \
                 put it back from a backup; the value is not drawn again."
            );
        }
    }
}

fn signature(stated: &Stated, own: Option<PublicKey>) -> String {
    let what = match stated.beside {
        true => "its certificate is signed",
        false => "signed",
    };
    let rest = match stated.beside {
        true => "; the rest of the file is not",
        false => "",
    };
    match stated.signer {
        None => "not signed".into(),
        Some(key) if Some(key) == own => format!("{what} with this ledger's key{rest}"),
        Some(key) => format!(
            "{what} by {}, which is not this ledger's key{rest}",
            key.fingerprint()
        ),
    }
}
