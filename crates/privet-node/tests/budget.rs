//! What was spent stays spent: overdrafts, void marks, lost ledgers, and tables under another name.
#![allow(clippy::unwrap_used, reason = "a test")]

mod home;

use std::fs;

use home::{Home, limit, told};
use privet::Error;
use privet::privacy::{AddRemove, Ledger, Randomness};
use privet_node::ledger::Store;
use serde_json::Value;

#[test]
fn an_overdraft_is_refused_and_leaves_no_entry() {
    let home = Home::new();
    home.spend("0.7").unwrap();
    let refusal = home.spend("0.4").unwrap_err();
    assert!(
        matches!(&refusal, Error::Budget(text) if text.to_string().contains("left pure ε of 0.3")),
        "{refusal}"
    );
    assert_eq!(Store::read_only(&home.ledger()).unwrap().rows().unwrap().len(), 3);
    let (exit, text) = told(home.privet(&["ledger", "limit", "patients", "--epsilon", "0.5"]));
    assert_eq!(exit, 3, "{text}");
}

#[test]
fn a_fresh_budget_is_never_an_accident() {
    let home = Home::new();
    assert!(Store::create(&home.ledger()).is_err(), "never written over");
    fs::remove_file(home.ledger()).unwrap();
    let (exit, text) = told(home.privet(&["ledger", "limit", "patients", "--epsilon", "1"]));
    assert!(exit == 4 && text.contains("there was a ledger at"), "{text}");
    fs::remove_file(home.path("ledger.db.key")).unwrap();
    assert_eq!(
        told(home.privet(&["ledger", "limit", "patients", "--epsilon", "1"])).0,
        0
    );
    let left: Vec<_> = fs::read_dir(home.folder.path())
        .unwrap()
        .map(|f| f.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.starts_with(".tmp"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_copy_under_another_name_meets_the_old_budget() {
    let home = Home::new();
    let mut store = Store::open(&home.ledger()).unwrap();
    let table = &b"region,label\nnorth,yes\n"[..];
    let grown = &b"region,label\nnorth,yes\nsouth,no\n"[..];
    store.recognise("patients", table).unwrap();
    store.recognise("patients", table).unwrap();
    store.recognise("patients", grown).unwrap();
    for copy in [table, grown] {
        let refusal = store.recognise("copy", copy).unwrap_err();
        let text = refusal.to_string();
        assert!(matches!(refusal, Error::Budget(_)));
        assert!(text.contains("already known as 'patients'"), "{text}");
        assert!(text.contains("privet ledger adopt copy --of patients"), "{text}");
    }
    store.recognise("staff", &b"other rows"[..]).unwrap();
    limit(&mut store, "fresh", "1");
    let refusal = store.recognise("fresh", table).unwrap_err().to_string();
    assert!(refusal.contains("a budget of its own"), "{refusal}");
    assert!(
        store.recognise("staff", table).is_err(),
        "a known name is no way round"
    );

    drop(store);
    assert_eq!(
        told(home.privet(&["ledger", "adopt", "copy", "--of", "patients"])).0,
        0
    );
    let mut store = Store::open(&home.ledger()).unwrap();
    store.recognise("copy", table).unwrap();
    drop(store);

    let (_, exported) = told(home.privet(&["ledger", "export"]));
    let connection = rusqlite::Connection::open(home.ledger()).unwrap();
    let tags: Vec<String> = connection
        .prepare("SELECT tag FROM fingerprints UNION SELECT tag FROM key_check")
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .map(Result::unwrap)
        .collect();
    assert_eq!(tags.len(), 4);
    assert!(tags.iter().all(|tag| !exported.contains(tag)));
}

#[test]
fn the_key_is_kept_and_checked() {
    let home = Home::new();
    let key = home.path("ledger.db.key");
    assert_eq!(fs::read(&key).unwrap().len(), 32);
    Store::open(&home.ledger())
        .unwrap()
        .recognise("patients", &b"rows"[..])
        .unwrap();
    let attempt = || {
        let mut store = Store::open(&home.ledger()).unwrap();
        store
            .recognise("patients", &b"rows"[..])
            .map_err(|e| e.to_string())
    };
    let whole = fs::read(&key).unwrap();
    fs::write(&key, [7; 32]).unwrap();
    assert!(attempt().unwrap_err().contains("belongs to another ledger"));
    fs::write(&key, [7; 31]).unwrap();
    assert!(attempt().unwrap_err().contains("not 32 bytes"));
    fs::remove_file(&key).unwrap();
    assert!(attempt().unwrap_err().contains("is missing"));
    fs::write(&key, whole).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&key, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(attempt().unwrap_err().contains("chmod 600"));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
    }
    attempt().unwrap();
}

#[test]
fn a_seeded_run_marks_the_data_set_for_ever() {
    let home = Home::new();
    let store = Store::open(&home.ledger()).unwrap();
    let ledger = Ledger::open("patients", AddRemove::row(), store, Randomness::seeded(1)).unwrap();
    drop(ledger);
    home.spend("0.1").unwrap();
    assert_eq!(
        told(home.privet(&["ledger", "limit", "patients", "--epsilon", "2"])).0,
        0
    );
    let (exit, text) = told(home.privet(&["ledger", "show", "patients"]));
    assert!(
        exit == 0 && text.contains("VOID") && text.contains("seed"),
        "{text}"
    );
    let json: Value = serde_json::from_slice(
        &home
            .privet(&["ledger", "show", "--json"])
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    assert!(json["datasets"][0]["void"].as_str().unwrap().contains("seed"));
}
