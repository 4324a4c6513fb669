//! Checks of where results are written, before anything is read or paid.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use privet::model::Model;
use privet::privacy::signature::SigningKey;

use super::exit::{Exit, Failure};
use super::ledger::verify::Stated;
use super::request::LedgerFile;
use super::written;
use crate::ledger::{Store, belongs_to, folder_of};
use crate::place::same_file;
use crate::record::is_record;

/// So much must fit where a result will be written: more than most models have.
const ROOM: usize = 8 << 20;

/// Refuses to overwrite a file that would have to be paid for again: the ledger, a model, or a record of released columns.
pub(super) fn check(ledger: &LedgerFile, out: &Path) -> Result<(), Failure> {
    check_ledger(ledger, out)?;
    check_paid(out)
}

/// The first of these results that would overwrite something that is read, or an earlier one, whatever they are called.
pub(super) fn clash<'o>(results: &[&'o Path], read: &[&Path]) -> Option<&'o Path> {
    let clashes = |(i, result): &(usize, &&Path)| {
        let earlier = results[..*i].iter();
        earlier.chain(read).any(|other| same_file(result, other))
    };
    let found = results.iter().enumerate().find(clashes);
    found.map(|(_, result)| *result)
}

/// The same without looking for the ledger. What is not a file at all is not replaced by one.
pub(super) fn check_paid(out: &Path) -> Result<(), Failure> {
    if std::fs::metadata(out).is_ok_and(|found| !found.is_file()) {
        return Err(Failure::usage(format!(
            "{} is a folder or a device, not a file: name a file. Nothing was read.",
            out.display()
        )));
    }
    let what = match opening(out) {
        begins if Model::is_begun(&begins) => "a model",
        begins if is_record(&begins) => "a record of released columns",
        _ => return Ok(()),
    };
    Err(Failure::usage(format!(
        "{} is {what}, and would be overwritten: choose another name. Nothing was read.",
        out.display()
    )))
}

/// Refuses to replace a file that is there, unless `overwrite` is given: it may be somebody's only copy. An empty one holds nothing.
pub(super) fn check_new(out: &Path, overwrite: bool) -> Result<(), Failure> {
    if overwrite || std::fs::metadata(out).map_or(true, |found| found.len() == 0) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{} exists already: choose another name, or add --overwrite to replace it. Nothing was written.",
        out.display()
    )))
}

/// The same for a record of released columns, which may be continued.
pub(super) fn check_record(ledger: &LedgerFile, kept: &Path) -> Result<(), Failure> {
    match is_record(&opening(kept)) {
        true => Ok(()),
        false => check(ledger, kept),
    }
}

pub(super) fn check_ledger(ledger: &LedgerFile, out: &Path) -> Result<(), Failure> {
    match ledger.path() {
        Ok(path) if belongs_to(path, out) => Err(Failure::usage(format!(
            "{} is the ledger's own file: choose another name. Nothing was read.",
            out.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses to write a model where it cannot be written, or, unless `overwrite` is given, where another model is.
pub(super) fn check_model(ledger: &LedgerFile, out: &Path, overwrite: bool) -> Result<(), Failure> {
    let is_model = Model::is_begun(&opening(out));
    if is_model && !overwrite {
        return Err(Failure::usage(format!(
            "{} is a model already, and what was paid for it is spent: write the new one elsewhere with --out FILE, or add \
             --overwrite to replace it. Nothing was read.",
            out.display()
        )));
    }
    if !is_model {
        check(ledger, out)?;
    }
    check_writable(out)
}

/// Refuses to release anything with a ledger that was put back to an older copy: the result that stands at `out` was signed with its key at an
/// entry that it does not have. What was released since would be drawn again, and be seen twice.
pub(super) fn check_set_back(store: &mut Store, key: &SigningKey, out: &Path) -> Result<(), Failure> {
    let Ok(Stated {
        certificate, signer, ..
    }) = Stated::read(out)
    else {
        return Ok(());
    };
    let head = &certificate.ledger;
    if signer != Some(key.public()) || head.entries == 0 || store.book()?.contains(head) {
        return Ok(());
    }
    let (out, ledger, entry) = (out.display(), store.path().display(), head.entries);
    Err(Failure::new(
        Exit::Ledger,
        format!(
            "{out} was made with the ledger {ledger} at its entry {entry}, and the ledger does not have that entry: it was put back to an older copy. \
             What was released since then would be drawn again, and whoever has seen both draws could take noise off. Put the latest copy of \
             the ledger back. If there is none, what it does not know of stays released: move {out} away to go on. Nothing was drawn."
        ),
    ))
}

/// Where a model will be written, and whether one is there.
pub(super) fn describe(out: &Path) -> String {
    match Model::is_begun(&opening(out)) {
        true => format!(
            "{}, where a model is already: `privet train` will refuse without --overwrite",
            out.display()
        ),
        false => out.display().to_string(),
    }
}

/// Checks that a file can be written there and that there is room for it, before anything is paid.
pub(super) fn check_writable(out: &Path) -> Result<(), Failure> {
    let Err(e) = try_room(out, ROOM) else {
        return Ok(());
    };
    let room = match e.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            format!(
                " (it is tried with {} MiB, so that nothing is paid in vain)",
                ROOM >> 20
            )
        }
        _ => String::new(),
    };
    Err(Failure::input(format!(
        "{} cannot be written: {e}{room}. Nothing was read.",
        out.display()
    )))
}

/// Writes so many bytes beside a file, and removes them.
fn try_room(out: &Path, bytes: usize) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder_of(out))?;
    let block = [0; 1 << 16];
    for from in (0..bytes).step_by(block.len()) {
        file.write_all(&block[..block.len().min(bytes - from)])?;
    }
    // Some file systems find out only now.
    file.as_file().sync_all()
}

/// Writes what was paid for. Where that fails, it is kept somewhere else, since it cannot be had again for nothing.
pub(super) fn written_paid(out: &Path, bytes: &[u8]) -> Result<(), Failure> {
    written(out, bytes).map_err(|failure| {
        let name = out.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("{}. {}", failure.message, rescued(&format!("-{name}"), bytes));
        Failure { message, ..failure }
    })
}

/// Writes what was paid for, and could not be written where it belongs, to the folder for temporary files, and says where it is.
pub fn rescued(ending: &str, bytes: &[u8]) -> String {
    let folder = std::env::temp_dir();
    let kept = tempfile::Builder::new()
        .prefix("privet-")
        .suffix(ending)
        .tempfile_in(&folder)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            Ok(file.keep()?.1)
        });
    match kept {
        Ok(file) => format!(
            "What was paid for it is spent, so it was written to {} instead: move it to where it is to stay",
            file.display()
        ),
        Err(e) => format!(
            "What was paid for it is spent, and {} cannot be written either ({e}): the result is lost. Make room; running this again pays again",
            folder.display()
        ),
    }
}

/// The first bytes of a file; none if there is no such file. Opening anything else, such as a pipe, might wait for ever.
fn opening(path: &Path) -> Vec<u8> {
    let mut begins = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(64).read_to_end(&mut begins);
    }
    begins
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_tried_and_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("model.privet");
        try_room(&out, 100_000).expect("there is room");
        let left = std::fs::read_dir(folder.path()).expect("a folder").count();
        assert_eq!(left, 0);
        let nowhere = folder.path().join("nowhere/model.privet");
        assert!(try_room(&nowhere, 1).is_err());
    }

    #[test]
    fn what_was_paid_for_is_kept_elsewhere() {
        let folder = tempfile::tempdir().expect("a folder");
        // A folder stands where the file should be.
        let out = folder.path().join("model.privet");
        std::fs::create_dir_all(out.join("x")).expect("a folder");
        let failure = written_paid(&out, b"a model").expect_err("a folder is no file");
        let said = failure.message;
        assert!(
            said.contains("What was paid for it is spent, so it was written to "),
            "{said}"
        );
        let kept = said
            .split("written to ")
            .nth(1)
            .and_then(|rest| rest.split(" instead").next());
        let kept = Path::new(kept.expect("a name"));
        assert_eq!(std::fs::read(kept).expect("a file"), b"a model");
        std::fs::remove_file(kept).expect("it is there");
    }
}
