//! Columns and labels that a version before kept in files of their own: each is taken into the ledger once, and compared ever after.

use std::fs;
use std::path::Path;

use crate::home::{Home, copy, told};
use privet::privacy::journal::{Event, Journal};
use privet_node::ledger::Store;
use privet_node::record::earlier;

/// A ledger, tables, and what was kept of them in files, as the version before wrote them.
fn before() -> Home {
    let home = Home {
        folder: tempfile::tempdir().unwrap(),
    };
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/before/kept");
    copy(&kept, home.folder.path());
    #[cfg(unix)]
    for key in ["ledger.db.key", "ledger.db.signing"] {
        use std::os::unix::fs::PermissionsExt;
        let owner = fs::Permissions::from_mode(0o600);
        fs::set_permissions(home.path(key), owner).unwrap();
    }
    // Jobs of that time need one line more.
    let job = fs::read_to_string(home.path("noisy.toml")).unwrap();
    fs::write(home.path("noisy.toml"), format!("most_ids = 1000\n{job}")).unwrap();
    home
}

const SHOP: &str = "desensitise shop.csv --schema shop.toml --epsilon 3 --out out.csv";
const MEMBERS: &str =
    "desensitise members.csv --schema members.toml --epsilon 2 --label-epsilon 1 --out out.csv";
const CLUB: &str =
    "desensitise club.csv --schema club.toml --epsilon 2 --budget sample --columns 1 --out out.csv";
const TRAIN: &str = "train noisy.toml --overwrite";

fn run(home: &Home, command: &str) -> (i32, String) {
    told(home.privet(&command.split(' ').collect::<Vec<_>>()))
}

/// How often columns were released, drawn once more, and kept.
fn counts(home: &Home) -> [usize; 3] {
    let entries = Store::read_only(&home.ledger()).unwrap().read(0).unwrap();
    let count = |is: fn(&Event) -> bool| entries.iter().filter(|entry| is(entry.event())).count();
    [
        count(|event| matches!(event, Event::Desensitise { .. })),
        count(|event| matches!(event, Event::Redraw { .. })),
        count(|event| matches!(event, Event::Kept { .. })),
    ]
}

#[test]
fn each_file_is_imported_once_and_needed_no_more() {
    for (command, old, files) in [
        (SHOP, "changed.csv", &["shop.csv.columns"][..]),
        (
            MEMBERS,
            "members.out.csv",
            &["members.csv.columns", "members.csv.labels"],
        ),
        (CLUB, "club.out.csv", &["club.csv.columns"]),
    ] {
        let home = before();
        let released = counts(&home)[0];
        let old = fs::read(home.path(old)).unwrap();
        for _ in 0..2 {
            let (exit, text) = run(&home, command);
            assert_eq!(exit, 0, "{text}");
            assert_eq!(fs::read(home.path("out.csv")).unwrap(), old, "{command}");
            assert_eq!(counts(&home), [released, 0, files.len()]);
            assert_eq!(home.verify("out.csv.certificate.json").0, 0);
        }
        for file in files {
            fs::remove_file(home.path(file)).unwrap();
        }
        let (exit, text) = run(&home, command);
        assert_eq!(exit, 0, "{text}");
        assert_eq!(fs::read(home.path("out.csv")).unwrap(), old, "{command}");
        assert_eq!(counts(&home), [released, 0, files.len()]);
    }
}

#[test]
fn a_training_takes_columns_and_labels_over() {
    let home = before();
    let released = counts(&home)[0];
    for _ in 0..2 {
        let (exit, text) = run(&home, TRAIN);
        assert_eq!(exit, 0, "{text}");
        assert_eq!(counts(&home), [released, 0, 2]);
        assert_eq!(home.verify("model.privet").0, 0);
    }
}

/// A file that was cut, changed or exchanged is not used, before it was imported and afterwards; and nothing is drawn for want of it.
#[test]
fn a_file_that_does_not_match_is_refused() {
    let damages: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.truncate(bytes.len() - 1),
        |bytes| bytes.truncate(300),
        |bytes| {
            let middle = bytes.len() / 2;
            bytes[middle] ^= 1;
        },
        |bytes| bytes[3] ^= 1,
    ];
    for imported in [false, true] {
        for damage in damages {
            let home = before();
            if imported {
                assert_eq!(run(&home, SHOP).0, 0);
            }
            let counted = counts(&home);
            let file = home.path("shop.csv.columns");
            let mut bytes = fs::read(&file).unwrap();
            damage(&mut bytes);
            fs::write(&file, bytes).unwrap();
            fs::remove_file(home.path("out.csv")).ok();
            let (exit, text) = run(&home, SHOP);
            assert!(exit == 3 || exit == 4, "{text}");
            assert!(text.contains("shop.csv.columns"), "{text}");
            assert!(!home.path("out.csv").exists());
            assert_eq!(counts(&home), counted, "{text}");
            // The ledger has its own copy, once it was imported.
            fs::remove_file(&file).unwrap();
            let (exit, text) = run(&home, SHOP);
            assert_eq!(exit, if imported { 0 } else { 3 }, "{text}");
            assert_eq!(counts(&home), counted, "{text}");
        }
    }
    // Another table's.
    let home = before();
    fs::copy(home.path("club.csv.columns"), home.path("shop.csv.columns")).unwrap();
    let (exit, text) = run(&home, SHOP);
    assert!(exit == 4 && text.contains("another table"), "{text}");
}

/// Labels of three classes, read with two of them, with others, or in another order.
#[test]
fn labels_are_of_their_classes() {
    let classes = r#"["no", "yes", "late"]"#;
    let with = |home: &Home, other: &str| {
        let schema = fs::read_to_string(home.path("public.toml")).unwrap();
        fs::write(home.path("public.toml"), schema.replace(classes, other)).unwrap();
        let (exit, text) = run(home, TRAIN);
        fs::write(home.path("public.toml"), schema).unwrap();
        (exit, text)
    };
    let home = before();
    let (exit, text) = with(&home, r#"["no", "yes"]"#);
    assert!(exit != 0 && text.contains("classes"), "{text}");
    assert_eq!(run(&home, TRAIN).0, 0);
    let counted = counts(&home);
    for other in [
        r#"["yes", "no", "late"]"#,
        r#"["no", "yes"]"#,
        r#"["no", "yes", "late", "never"]"#,
    ] {
        let (exit, text) = with(&home, other);
        assert!(exit == 5 && text.contains("classes"), "{other}: {text}");
        assert_eq!(counts(&home), counted);
    }
    assert_eq!(run(&home, TRAIN).0, 0);
}

/// What can be read of a file that was cut at any byte, or changed in one.
#[test]
fn a_cut_loses_the_last_item_and_a_changed_byte_is_damage() {
    let home = before();
    let mark = {
        let mut store = Store::open(&home.ledger()).unwrap();
        store
            .mark(fs::File::open(home.path("shop.csv")).unwrap())
            .unwrap()
    };
    let about = format!("shop\n{mark}");
    let whole = fs::read(home.path("shop.csv.columns")).unwrap();
    let path = home.path("other");
    assert!(earlier(&path, &about).unwrap().is_none(), "no such file");
    for cut in 0..whole.len() {
        fs::write(&path, &whole[..cut]).unwrap();
        let found = earlier(&path, &about).unwrap();
        let said = format!("{found:?}");
        assert!(found.is_none() || said.contains("value: None"), "cut at {cut}");
    }
    for at in 0..whole.len() {
        let mut other = whole.clone();
        other[at] ^= 1 << (at % 8);
        fs::write(&path, &other).unwrap();
        let damage = earlier(&path, &about).unwrap_err();
        assert!(damage.to_string().contains("damaged at byte"), "{damage}");
    }
    fs::write(&path, &whole).unwrap();
    assert!(earlier(&path, &about).unwrap().is_some());
    let other = earlier(&path, "another table").unwrap_err();
    assert!(other.to_string().contains("has changed since"), "{other}");
}
