//! Several writers, many readers, and people without permission.

use crate::home::{Home, case, copy, release, told};
use privet::Error;
use privet::privacy::journal::{Entry, Event, Head, Journal};
use privet::privacy::{AddRemove, Ledger, Randomness};
use privet_node::ledger::Store;
use privet_testkit::skipped::runs;

/// Runs that overlap take turns, and each sees what the other has spent.
#[test]
fn two_runs_take_turns_while_others_read() {
    let home = Home::new();
    let open = |path: &std::path::Path| {
        let store = Store::open(path).unwrap();
        Ledger::open(
            "patients",
            AddRemove::row(),
            store,
            Randomness::from_os().unwrap(),
        )
        .unwrap()
    };
    let mut one = open(&home.ledger());
    // A link to the ledger is the same ledger.
    #[cfg(unix)]
    std::os::unix::fs::symlink(home.ledger(), home.path("link.db")).unwrap();
    #[cfg(not(unix))]
    std::fs::hard_link(home.ledger(), home.path("link.db")).unwrap();
    let mut other = open(&home.path("link.db"));
    release(&mut one, "0.25").unwrap();
    release(&mut other, "0.5").unwrap();
    assert!(matches!(release(&mut one, "0.5"), Err(Error::Budget(_))));
    release(&mut one, "0.25").unwrap();
    for verb in ["show", "verify", "export"] {
        let (exit, text) = told(home.privet(&["ledger", verb]));
        assert!(
            exit == 0 && (verb == "verify" || text.contains("0.25")),
            "{verb}: {text}"
        );
    }
    // Another process writes while both are open.
    let limit = ["ledger", "limit", "staff", "--epsilon", "1"];
    assert_eq!(told(home.privet(&limit)).0, 0);
    assert!(matches!(release(&mut other, "0.1"), Err(Error::Budget(_))));
}

/// A process that holds the ledger is waited for, and not for ever.
#[test]
fn a_writer_that_does_not_end_is_waited_for_so_long_as_was_said() {
    let home = Home::new();
    let holder = rusqlite::Connection::open(home.ledger()).unwrap();
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let limit = ["ledger", "limit", "staff", "--epsilon", "1", "--wait", "0"];
    let (exit, text) = told(home.privet(&limit));
    assert!(exit == 4 && text.contains("another process is writing"), "{text}");
    assert!(
        text.contains("--wait SECONDS") && text.contains("fuser"),
        "{text}"
    );
    assert_eq!(
        told(home.privet(&["ledger", "show"])).0,
        0,
        "readers need not wait"
    );
    // The holder ends while the command waits.
    let mut waiting = home.privet(&["ledger", "limit", "staff", "--epsilon", "1", "--wait", "60"]);
    let child = waiting.stdout(std::process::Stdio::null()).spawn();
    std::thread::sleep(std::time::Duration::from_millis(300));
    holder.execute_batch("ROLLBACK").unwrap();
    assert!(child.unwrap().wait().unwrap().success());
    let (exit, text) = told(home.privet(&["ledger", "limit", "staff", "--epsilon", "1", "--wait", "x"]));
    assert_eq!(exit, 2, "{text}");
}

/// What a second user can open of an earlier version's lock file holds up nobody.
#[test]
fn a_lock_on_the_old_lock_file_blocks_nobody() {
    let home = Home::new();
    let lock = std::fs::File::create(home.path("ledger.db.lock")).unwrap();
    lock.lock().unwrap();
    home.spend("0.5").unwrap();
    let limit = ["ledger", "limit", "staff", "--epsilon", "1", "--wait", "0"];
    assert_eq!(told(home.privet(&limit)).0, 0);
}

/// Nobody else can read the ledger, or hold it up with a lock of their own.
#[cfg(unix)]
#[test]
fn ledger_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let store = Store::open(&home.ledger()).unwrap();
    let mut ledger = Ledger::open(
        "patients",
        AddRemove::row(),
        store,
        Randomness::from_os().unwrap(),
    )
    .unwrap();
    release(&mut ledger, "0.25").unwrap();
    Store::open(&home.ledger()).unwrap().signing_key().unwrap();
    let mut seen = 0;
    for file in std::fs::read_dir(home.folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{:?} has mode {mode:o}", file.file_name());
        seen += 1;
    }
    // The ledger, its log and index, and two keys.
    assert_eq!(seen, 5);
}

const FOLDER: &str = "PRIVET_PAYING_FOLDER";

/// A process of the test below: pays ten times. Without the parent's variable it does nothing.
#[test]
fn paying_child() {
    let Some(folder) = std::env::var_os(FOLDER) else {
        return;
    };
    let folder = std::path::Path::new(&folder);
    // All begin at the same moment.
    while !folder.join("go").exists() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let store = Store::open_waiting(&folder.join("ledger.db"), std::time::Duration::from_secs(600)).unwrap();
    let mut ledger = Ledger::open(
        "patients",
        AddRemove::row(),
        store,
        Randomness::from_os().unwrap(),
    )
    .unwrap();
    for _ in 0..10 {
        release(&mut ledger, "0.02").unwrap();
    }
    assert_eq!(ledger.close().payments.len(), 10);
}

#[test]
fn four_processes_that_pay_at_once_all_pay_and_all_finish() {
    let home = Home::new();
    let child = || {
        std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "sharing::paying_child", "--nocapture"])
            .env(FOLDER, home.folder.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let mut children: Vec<_> = (0..4).map(|_| child()).collect();
    std::fs::write(home.path("go"), "").unwrap();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    let mut store = Store::open(&home.ledger()).unwrap();
    store.check().unwrap();
    let book = store.book().unwrap();
    assert_eq!(book.account("patients").unwrap().payments(), 40);
    // 40 payments of 0.02: a fifth process has 0.2 left, and not a bit more.
    home.spend("0.2").unwrap();
    assert!(matches!(home.spend("0.000000001"), Err(Error::Budget(_))));
}

/// The same with the command: four models at once.
#[test]
fn four_fits_at_once_all_pay_and_all_finish() {
    let home = Home::new();
    copy(&case("trees"), home.folder.path());
    let limit = ["ledger", "limit", "clinic", "--epsilon", "4"];
    assert_eq!(told(home.privet(&limit)).0, 0);
    let outs = [1, 2, 3, 4].map(|n| format!("{n}.privet"));
    let fits = outs.each_ref().map(|out| {
        let mut fit = home.privet(&["train", "pure.toml", "--out", out, "--wait", "600"]);
        fit.stdout(std::process::Stdio::null()).spawn().unwrap()
    });
    for mut fit in fits {
        assert!(fit.wait().unwrap().success());
    }
    let book = Store::open(&home.ledger()).unwrap().book().unwrap();
    assert_eq!(book.account("clinic").unwrap().payments(), 4);
    for out in outs {
        assert_eq!(home.verify(&out).0, 0, "{out}");
    }
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
    let append = |store: &mut Store, known: &Head, entry: &Entry| {
        store.transact(known, &mut |_, _| Ok(Some(entry.clone().into())))
    };
    let first = Entry::after(&head, None, void()).unwrap();
    append(&mut store, &head, &first).unwrap();
    let elsewhere = Head {
        entries: 3,
        hash: "0".repeat(64),
    };
    for stale in [
        first.clone(),
        Entry::after(&head, None, void()).unwrap(),
        Entry::after(&elsewhere, None, void()).unwrap(),
        Entry::after(&Head::empty(), None, void()).unwrap(),
    ] {
        let refusal = append(&mut store, &first.head(), &stale).unwrap_err();
        assert!(refusal.to_string().contains("moved on to entry 3"), "{refusal}");
    }
    // Whoever knows another third entry is told that the ledger was replaced.
    let next = Entry::after(&elsewhere, None, void()).unwrap();
    let refusal = append(&mut store, &elsewhere, &next).unwrap_err();
    assert!(
        refusal.to_string().contains("no longer has the entry 3"),
        "{refusal}"
    );
    assert_eq!(store.rows().unwrap().len(), 3);
    let mut reader = Store::read_only(&home.ledger()).unwrap();
    let head = reader.book().unwrap().head().clone();
    let entry = Entry::after(&head, None, void()).unwrap();
    assert!(matches!(
        append(&mut reader, &head, &entry),
        Err(Error::Journal(_))
    ));
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
