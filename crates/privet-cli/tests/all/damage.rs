//! The ledger's file edited, cut short, rolled back, or of another format.

use std::fs;

use crate::home::{Home, told};
use privet::Error;
use privet::error::JournalFault;
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::mechanism::ordered::{ClampedGeometric, Column};
use privet::privacy::{Delta, Ledger, Neighbours, Private, Randomness, ReplacePrivate};
use privet_node::ledger::Store;
use serde_json::Value;

#[test]
fn an_edited_entry_does_not_verify() {
    for edit in [
        "UPDATE entries SET text = replace(text, '\"0.5\"', '\"0.4\"') WHERE number = 3",
        "UPDATE entries SET hash = replace(hash, substr(hash, 1, 1), 'x') WHERE number = 3",
        "DELETE FROM entries WHERE number = 2",
        "UPDATE entries SET number = number + 10 WHERE number >= 2",
        "UPDATE entries SET text = 'nonsense' WHERE number = 3",
        "UPDATE entries SET text = x'ff00ff' WHERE number = 3",
        "UPDATE entries SET number = -number WHERE number = 3",
    ] {
        let home = Home::new();
        let certificate = home.spend("0.5").unwrap();
        home.save("model.json", &certificate);
        home.sql(edit);
        for verb in ["verify", "show"] {
            let (exit, text) = told(home.privet(&["ledger", verb]));
            assert_eq!(exit, 4, "{edit}: {text}");
        }
        assert!(matches!(home.spend("0.1"), Err(Error::Journal(_))), "{edit}");
        let (exit, _) = told(home.privet(&["ledger", "export"]));
        assert!(
            exit == 0 || edit.contains("x'ff"),
            "what is there can be exported: {edit}"
        );
    }
}

/// Every byte of the file in turn would take long; these are spread over all of it.
#[test]
fn a_flipped_byte_is_found_or_harmless() {
    let home = Home::new();
    home.save("model.json", &home.spend("0.5").unwrap());
    let whole = fs::read(home.ledger()).unwrap();
    let at = whole.windows(7).position(|w| w == b"a count").unwrap();
    let mut broken = whole.clone();
    broken[at] = b'b';
    fs::write(home.ledger(), &broken).unwrap();
    let (exit, text) = home.verify("model.json");
    assert_eq!(exit, 4, "{text}");
    assert!(text.contains("ledger entry 3"), "{text}");
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut broken = whole.clone();
        broken[at] ^= 0x55;
        fs::write(home.ledger(), &broken).unwrap();
        let (exit, text) = home.verify("model.json");
        assert!(exit == 0 || exit == 4, "byte {at}: exit {exit}: {text}");
    }
}

#[test]
fn a_file_that_was_cut_is_refused() {
    let home = Home::new();
    home.spend("0.5").unwrap();
    let whole = fs::read(home.ledger()).unwrap();
    for keep in [0, 1, 50, 100, 4096, 5000, whole.len() / 2, whole.len() - 4096] {
        fs::write(home.ledger(), &whole[..keep]).unwrap();
        for verb in [
            &["ledger", "verify"][..],
            &["ledger", "limit", "patients", "--epsilon", "2"],
        ] {
            let (exit, text) = told(home.privet(verb));
            assert_eq!(exit, 4, "{keep} bytes, {verb:?}: {text}");
        }
    }
}

#[test]
fn a_ledger_that_was_rolled_back_or_cut_short_is_found_by_a_certificate() {
    let home = Home::new();
    home.spend("0.1").unwrap();
    let before = fs::read(home.ledger()).unwrap();
    let certificate = home.spend("0.2").unwrap();
    home.save("model.json", &certificate);
    let model = serde_json::json!({"trees": [], "certificate": certificate});
    fs::write(home.path("model2.json"), model.to_string()).unwrap();
    for file in ["model.json", "model2.json"] {
        assert_eq!(home.verify(file).0, 0);
    }

    fs::write(home.ledger(), &before).unwrap();
    for file in ["model.json", "model2.json"] {
        let (exit, text) = home.verify(file);
        assert_eq!(exit, 4);
        assert!(
            text.contains("this ledger ends at entry 3, the model was made at entry 4"),
            "{text}"
        );
    }
    assert_eq!(
        told(home.privet(&["ledger", "verify"])).0,
        0,
        "alone it cannot tell"
    );

    // Written on after the rollback.
    home.spend("0.3").unwrap();
    let (exit, text) = home.verify("model.json");
    assert_eq!(exit, 4);
    assert!(text.contains("entry 4 of this ledger is not the one"), "{text}");

    // The last row cut off with a tool for databases.
    home.save("model.json", &home.spend("0.1").unwrap());
    assert_eq!(home.verify("model.json").0, 0);
    home.sql("DELETE FROM entries WHERE number = 5");
    let (exit, text) = home.verify("model.json");
    assert!(
        exit == 4 && text.contains("ends at entry 4, the model was made at entry 5"),
        "{text}"
    );

    let json: Value = serde_json::from_slice(
        &home
            .privet(&["ledger", "verify", "--json", "--against", "model.json"])
            .output()
            .unwrap()
            .stdout,
    )
    .unwrap();
    assert_eq!(json["verified"], false);
}

#[test]
fn an_edited_certificate_is_found() {
    let home = Home::new();
    let mut certificate = home.spend("0.5").unwrap();
    certificate.payments[0].what = "something cheaper".into();
    home.save("model.json", &certificate);
    let (exit, text) = home.verify("model.json");
    assert!(exit == 4 && text.contains("is not in this ledger"), "{text}");
    certificate.payments.clear();
    certificate.recorded = false;
    home.save("model.json", &certificate);
    let (exit, text) = home.verify("model.json");
    assert!(exit == 4 && text.contains("made without a ledger"), "{text}");
}

#[test]
fn a_later_format_is_refused_and_left_alone() {
    let home = Home::new();
    home.sql("PRAGMA user_version = 2");
    let before = fs::read(home.ledger()).unwrap();
    for verb in [
        &["ledger", "show"][..],
        &["ledger", "limit", "x", "--epsilon", "1"],
    ] {
        let (exit, text) = told(home.privet(verb));
        assert!(exit == 4 && text.contains("has format 2"), "{text}");
    }
    assert_eq!(fs::read(home.ledger()).unwrap(), before);
    home.sql("PRAGMA user_version = 1; PRAGMA application_id = 7");
    let (exit, text) = told(home.privet(&["ledger", "show"]));
    assert!(exit == 4 && text.contains("not a ledger"), "{text}");
}

#[test]
fn an_edited_certificate_does_not_verify() {
    let home = Home::new();
    home.spend("0.5").unwrap();
    let certificate = home.spend("0.1").unwrap();
    home.save("model.json", &certificate);
    let path = home.path("model.json");
    let (exit, text) = told(home.privet(&["ledger", "verify", "--against", path.to_str().unwrap()]));
    assert_eq!(exit, 0, "{text}");
    let whole: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 5] = [
        ("a smaller total", |c| {
            c["total"]["guarantee"]["pure"]["epsilon"] = "0.1".into()
        }),
        ("no total", |c| c["total"] = Value::Null),
        ("a smaller claim", |c| {
            c["claims"][0]["guarantee"]["pure"]["epsilon"] = "0.01".into()
        }),
        ("no payments", |c| c["payments"] = Value::Array(Vec::new())),
        ("another payment", |c| {
            c["payments"][0]["what"] = "something else".into()
        }),
    ];
    for (name, edit) in edits {
        let mut edited = whole.clone();
        edit(&mut edited);
        fs::write(&path, edited.to_string()).unwrap();
        let (exit, text) = told(home.privet(&["ledger", "verify", "--against", path.to_str().unwrap()]));
        assert_eq!(exit, 4, "{name}: {text}");
        assert!(text.contains("edited"), "{name}: {text}");
    }
}

#[test]
fn an_edited_distance_does_not_verify() {
    let home = Home::new();
    let relation = ReplacePrivate::unit(2.try_into().unwrap(), ["age"]);
    let mut store = Store::open(&home.ledger()).unwrap();
    let limit = Event::Limit {
        dataset: "shoppers".into(),
        relation: relation.relation(),
        caps: Caps::ZERO,
        delta: Delta::ZERO,
    };
    store.record(limit).unwrap();
    let mut ledger = Ledger::open("shoppers", relation, store, Randomness::from_os().unwrap()).unwrap();
    let mechanism = ClampedGeometric::new("0.08".parse().unwrap(), 10).unwrap();
    let ages = Column::slots("age", &mechanism, Private::new(vec![3, 4]));
    ledger.desensitise("a partner", vec![ages]).unwrap();
    home.save("model.json", &ledger.close());
    let (exit, text) = home.verify("model.json");
    assert_eq!(exit, 0, "{text}");
    let (_, text) = told(home.privet(&["ledger", "show", "shoppers"]));
    assert!(
        text.contains("1 column desensitised, by which two rows can be told apart by 0.72"),
        "{text}"
    );

    let path = home.path("model.json");
    let whole: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    type Edit = fn(&mut Value);
    let edits: [(&str, Edit); 4] = [
        ("a smaller unit of distance", |c| {
            c["claims"][0]["guarantee"]["distance"]["columns"][0]["within"]["bounded"] = "0.01".into()
        }),
        ("a smaller record", |c| {
            c["claims"][0]["guarantee"]["distance"]["record"]["bounded"] = "0.08".into()
        }),
        ("fewer rows", |c| {
            c["claims"][0]["guarantee"]["distance"]["unit"]["bounded"] = "0.72".into()
        }),
        ("a total without it", |c| c["total"]["desensitised"] = Value::Null),
    ];
    for (name, edit) in edits {
        let mut edited = whole.clone();
        edit(&mut edited);
        fs::write(&path, edited.to_string()).unwrap();
        let (exit, text) = home.verify("model.json");
        assert_eq!(exit, 4, "{name}: {text}");
        assert!(text.contains("edited"), "{name}: {text}");
    }
}

/// What a program can do about a ledger depends on what is wrong with it.
#[test]
fn a_fault_of_a_ledger_is_told_by_its_kind() {
    let home = Home::new();
    let fault = |opened: Result<Store, Error>| match opened {
        Err(Error::Journal(e)) => e.fault(),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("opened"),
    };
    let whole = Store::open(&home.ledger()).unwrap();
    drop(whole);
    assert_eq!(fault(Store::create(&home.ledger())), JournalFault::Occupied);
    assert_eq!(fault(Store::open(&home.path("none.db"))), JournalFault::Missing);
    fs::write(home.path("text.db"), "dataset = \"no ledger\"\n".repeat(100)).unwrap();
    assert_eq!(fault(Store::open(&home.path("text.db"))), JournalFault::Foreign);
    home.sql("DROP TABLE entries");
    let read = Store::open(&home.ledger()).and_then(|mut store| store.book().map(|_| store));
    assert_eq!(fault(read), JournalFault::Damaged, "a table is missing");
    home.sql("PRAGMA user_version = 99");
    assert_eq!(fault(Store::open(&home.ledger())), JournalFault::OtherVersion);
}
