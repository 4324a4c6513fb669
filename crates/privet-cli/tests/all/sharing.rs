//! One writer, many readers, and people without permission.

use crate::home::{Home, release, told};
use privet::Error;
use privet::privacy::journal::{Entry, Event, Head, Journal};
use privet::privacy::{AddRemove, Ledger, Randomness};
use privet_node::ledger::Store;
use privet_testkit::skipped::runs;

#[test]
fn one_writes_while_others_read() {
    let home = Home::new();
    let store = Store::open(&home.ledger()).unwrap();
    let second = Store::open(&home.ledger()).err().unwrap();
    assert!(second.to_string().contains("ledger.db.lock"), "{second}");
    let (exit, text) = told(home.privet(&["ledger", "limit", "staff", "--epsilon", "1"]));
    assert!(exit == 4 && text.contains("another process is writing"), "{text}");
    // A link to the ledger is the same ledger.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(home.ledger(), home.path("link.db")).unwrap();
        assert!(Store::open(&home.path("link.db")).is_err());
    }
    let mut ledger = Ledger::open(
        "patients",
        AddRemove::row(),
        store,
        Randomness::from_os().unwrap(),
    )
    .unwrap();
    release(&mut ledger, "0.25").unwrap();
    for verb in ["show", "verify", "export"] {
        let (exit, text) = told(home.privet(&["ledger", verb]));
        assert!(
            exit == 0 && (verb == "verify" || text.contains("0.25")),
            "{verb}: {text}"
        );
    }
    drop(ledger);
    assert_eq!(
        told(home.privet(&["ledger", "limit", "staff", "--epsilon", "1"])).0,
        0
    );
}

#[test]
fn an_entry_is_only_appended_where_it_follows() {
    let home = Home::new();
    let mut store = Store::open(&home.ledger()).unwrap();
    let head = store.book().unwrap().head().clone();
    let void = || Event::Void {
        dataset: "patients".into(),
        because: "a test".into(),
        run: None,
        relation: None,
    };
    let first = Entry::after(&head, None, void()).unwrap();
    store.append(&first).unwrap();
    let elsewhere = Head {
        entries: 3,
        hash: "0".repeat(64),
    };
    for stale in [
        first,
        Entry::after(&head, None, void()).unwrap(),
        Entry::after(&elsewhere, None, void()).unwrap(),
        Entry::after(&Head::empty(), None, void()).unwrap(),
    ] {
        let refusal = store.append(&stale).unwrap_err();
        assert!(refusal.to_string().contains("ends at entry 3"), "{refusal}");
    }
    assert_eq!(store.rows().unwrap().len(), 3);
    let mut reader = Store::read_only(&home.ledger()).unwrap();
    let head = reader.book().unwrap().head().clone();
    let entry = Entry::after(&head, None, void()).unwrap();
    assert!(matches!(reader.append(&entry), Err(Error::Journal(_))));
}

/// A folder that may be read and not written, as another user where we are root.
#[cfg(unix)]
#[test]
fn a_folder_without_write_permission_can_be_read_only() {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    use std::path::Path;
    const NOBODY: u32 = 65534;

    let home = Home::new();
    home.spend("0.5").unwrap();
    let mode = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    mode(&home.ledger(), 0o444);
    mode(home.folder.path(), 0o555);
    let root = fs::metadata(home.ledger()).unwrap().uid() == 0;
    let run = |arguments: &[&str]| {
        let mut command = home.privet(arguments);
        if root {
            command.uid(NOBODY);
        }
        command
    };
    let able = run(&["--version"]).output().is_ok();
    if !runs(
        "the ledger of another user, who may not run the program here",
        able,
    ) {
        return;
    }
    for verb in ["show", "verify", "export"] {
        let (exit, text) = told(run(&["ledger", verb]));
        assert_eq!(exit, 0, "{verb}: {text}");
    }
    let (exit, text) = told(run(&["ledger", "limit", "staff", "--epsilon", "1"]));
    assert!(exit == 4 && text.contains("cannot be written"), "{text}");
    let mut elsewhere = run(&["ledger", "limit", "staff", "--epsilon", "1"]);
    elsewhere.env("PRIVET_LEDGER", home.path("new/ledger.db"));
    let (exit, text) = told(elsewhere);
    assert!(exit == 4 && text.contains("folder"), "{text}");

    // The file alone is write-protected, its folder is not.
    mode(home.folder.path(), 0o777);
    mode(&home.path("ledger.db.lock"), 0o666);
    let (exit, text) = told(run(&["ledger", "limit", "staff", "--epsilon", "1"]));
    assert!(exit == 4 && text.contains("cannot be written"), "{text}");
    mode(&home.ledger(), 0o000);
    let (exit, text) = told(run(&["ledger", "show"]));
    assert!(exit == 4 && text.contains("cannot be opened"), "{text}");
}

/// A fresh budget for each folder would be no budget.
#[test]
fn every_folder_meets_the_same_ledger() {
    let home = Home::new();
    let run = |folder: &str, arguments: &[&str]| {
        let folder = home.path(folder);
        std::fs::create_dir_all(&folder).unwrap();
        let mut command = home.privet(arguments);
        command
            .current_dir(folder)
            .env_remove("PRIVET_LEDGER")
            .env_remove("XDG_DATA_HOME")
            .env("HOME", home.path("me"));
        told(command)
    };
    let (exit, text) = run("here", &["ledger", "limit", "staff", "--epsilon", "1"]);
    assert!(exit == 0 && text.contains("There was no ledger"), "{text}");
    let (exit, text) = run("there", &["ledger", "show"]);
    assert!(exit == 0 && text.contains("staff"), "{text}");
    assert!(home.path("me/.local/share/privet/ledger.db").is_file());
}
