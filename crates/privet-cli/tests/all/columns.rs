//! Columns leave once, whatever happens: a crash, a file that was cut, a table that has changed.

use std::fs;
use std::time::Duration;

use crate::home::{Home, case, copy, told};
use privet::privacy::journal::{Event, Journal};
use privet_node::ledger::Store;

const SCHEMA: &str = "dataset = \"shop\"\n[columns]\nclient = { type = \"id\" }\nspent = { type = \"number\", min = 0, max = 100 }\n\
                      town = { type = \"category\", values = [\"a\", \"b\", \"c\"] }\n";

/// A folder with a table whose columns may be released.
fn home() -> Home {
    let home = Home::new();
    let rows: String = (0..500)
        .map(|i| format!("p{i},{},{}\n", i * 37 % 100, ["a", "b", "c"][i % 3]))
        .collect();
    fs::write(home.path("shop.csv"), format!("client,spent,town\n{rows}")).unwrap();
    fs::write(home.path("shop.toml"), SCHEMA).unwrap();
    let limit = ["ledger", "limit", "shop", "--epsilon", "0", "--change", "replace"];
    let (exit, text) = told(home.privet(&limit));
    assert_eq!(exit, 0, "{text}");
    home
}

const COMMAND: [&str; 8] = [
    "desensitise",
    "shop.csv",
    "--schema",
    "shop.toml",
    "--epsilon",
    "1",
    "--out",
    "out.csv",
];

fn written(home: &Home) -> String {
    let (exit, text) = told(home.privet(&COMMAND));
    assert_eq!(exit, 0, "{text}");
    fs::read_to_string(home.path("out.csv")).unwrap()
}

/// How often columns left, how often they were drawn once more, and how often values were kept.
fn drawn(home: &Home) -> [usize; 3] {
    let entries = Store::read_only(&home.ledger()).unwrap().read(0).unwrap();
    let count = |is: fn(&Event) -> bool| entries.iter().filter(|entry| is(entry.event())).count();
    [
        count(|event| matches!(event, Event::Desensitise { .. })),
        count(|event| matches!(event, Event::Redraw { .. })),
        count(|event| matches!(event, Event::Kept { .. })),
    ]
}

#[test]
fn the_same_command_writes_the_same_file_and_charges_once() {
    let home = home();
    let first = written(&home);
    assert_eq!(first.lines().count(), 501);
    assert_eq!(first.lines().next(), Some("spent,town"));
    let certificate = fs::read(home.path("out.csv.certificate.json")).unwrap();
    assert_eq!(written(&home), first);
    assert_eq!(drawn(&home), [1, 0, 1]);
    assert_eq!(
        fs::read(home.path("out.csv.certificate.json")).unwrap(),
        certificate
    );
    assert!(
        !home.path("shop.csv.columns").exists(),
        "nothing is written there"
    );
}

#[test]
fn a_kill_at_any_moment_costs_one_charge_and_keeps_one_draw() {
    for wait in (0..60).step_by(4) {
        let home = home();
        let mut child = home.privet(&COMMAND).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(
            !home.path("out.csv").exists()
                || fs::read_to_string(home.path("out.csv")).unwrap().lines().count() == 501
        );
        let first = written(&home);
        assert_eq!(written(&home), first);
        let [charged, again, kept] = drawn(&home);
        assert!(
            charged == 1 && again <= 1 && kept == 1,
            "{charged} {again} {kept}"
        );
    }
}

/// The ledger as a process leaves it that ends after its payment and before its value is kept: nothing was written.
fn forget_last(home: &Home) {
    fs::remove_file(home.path("out.csv.certificate.json")).unwrap();
    home.sql(
        "DELETE FROM kept; DELETE FROM entries WHERE number = (SELECT max(number) FROM entries) AND text LIKE '%\"kept\"%'",
    );
}

#[test]
fn columns_that_were_paid_for_and_never_kept_are_drawn_and_kept() {
    let home = home();
    written(&home);
    forget_last(&home);
    assert_eq!(drawn(&home), [1, 0, 0]);
    let second = written(&home);
    assert_eq!(written(&home), second);
    assert_eq!(drawn(&home), [1, 1, 1]);
}

/// An older ledger in place of the one that says what was kept: the certificate of what was shown is not in it.
#[test]
fn a_certificate_shows_that_the_entry_about_its_value_is_gone() {
    let home = home();
    written(&home);
    fs::copy(home.path("out.csv.certificate.json"), home.path("shown.json")).unwrap();
    assert_eq!(home.verify("shown.json").0, 0);
    forget_last(&home);
    let (exit, text) = home.verify("shown.json");
    assert!(exit == 4 && text.contains("DOES NOT VERIFY"), "{text}");
    written(&home);
    assert_eq!(home.verify("shown.json").0, 4, "nor once another draw was kept");
}

/// The same command once more, after an older copy of the ledger was put back: the certificate that it would replace tells.
#[test]
fn a_ledger_that_was_put_back_draws_nothing_where_its_certificate_lies() {
    let home = home();
    fs::copy(home.ledger(), home.path("backup.db")).unwrap();
    let first = written(&home);
    fs::copy(home.path("backup.db"), home.ledger()).unwrap();
    let (exit, text) = told(home.privet(&COMMAND));
    assert!(exit == 4 && text.contains("an older copy"), "{text}");
    assert!(fs::read_to_string(home.path("out.csv")).unwrap() == first);
    assert_eq!(drawn(&home), [0, 0, 0]);
    // Its owner can decide otherwise; the certificate shows it for ever.
    let certificate = home.path("out.csv.certificate.json");
    fs::rename(certificate, home.path("older.json")).unwrap();
    written(&home);
    assert_eq!(home.verify("older.json").0, 4);
}

/// The same where columns are released to train a model.
#[test]
fn a_model_is_not_trained_again_with_a_ledger_that_was_put_back() {
    let home = Home::new();
    copy(&case("vertical"), home.folder.path());
    let limit = ["ledger", "limit", "shop", "--epsilon", "0", "--change", "replace"];
    assert_eq!(told(home.privet(&limit)).0, 0);
    fs::copy(home.ledger(), home.path("backup.db")).unwrap();
    let train = ["train", "job.toml", "--not-protected", "--overwrite"];
    for _ in 0..2 {
        assert_eq!(told(home.privet(&train)).0, 0);
    }
    assert_eq!(drawn(&home), [1, 0, 1]);
    fs::copy(home.path("backup.db"), home.ledger()).unwrap();
    let (exit, text) = told(home.privet(&train));
    assert!(exit == 4 && text.contains("an older copy"), "{text}");
    assert_eq!(drawn(&home), [0, 0, 0]);
}

/// Whatever is done to the value that was kept: there is no second draw to see, and the ledger's check says what is wrong.
#[test]
fn a_value_that_was_damaged_is_neither_shown_nor_drawn_again() {
    let flip = "UPDATE kept SET value = CAST(substr(value, 1, 99) || (CASE WHEN substr(value, 100, 1) = x'00' THEN x'01' ELSE x'00' \
                END) || substr(value, 101) AS BLOB)";
    let damages = [
        (flip, "was changed"),
        (
            "UPDATE kept SET value = substr(value, 1, length(value) - 1)",
            "was changed",
        ),
        (
            "UPDATE kept SET about = replace(about, 'table', 'tables')",
            "was changed",
        ),
        ("UPDATE kept SET entry = entry + 1", "is missing"),
        ("DELETE FROM kept", "is missing"),
        ("DROP TABLE kept", "is missing"),
    ];
    for (damage, found) in damages {
        let home = home();
        written(&home);
        home.sql(damage);
        for _ in 0..2 {
            fs::remove_file(home.path("out.csv")).ok();
            let (exit, text) = told(home.privet(&COMMAND));
            assert_eq!(exit, 4, "{damage}: {text}");
            assert!(
                text.contains("not drawn again") && text.contains("backup"),
                "{damage}: {text}"
            );
            assert!(!home.path("out.csv").exists(), "{damage}");
            assert_eq!(drawn(&home), [1, 0, 1], "{damage}");
        }
        let (exit, text) = told(home.privet(&["ledger", "verify"]));
        assert!(exit == 4 && text.contains(found), "{damage}: {text}");
        assert!(text.contains("KEPT VALUE LOST"), "{damage}: {text}");
    }
}

/// The last entry is gone, and the value that was kept with it is still there: it was seen.
#[test]
fn a_value_without_its_entry_shows_that_the_entry_was_removed() {
    let home = home();
    written(&home);
    home.sql("DELETE FROM entries WHERE number = (SELECT max(number) FROM entries)");
    for _ in 0..2 {
        fs::remove_file(home.path("out.csv")).ok();
        let (exit, text) = told(home.privet(&COMMAND));
        assert!(
            exit == 4 && text.contains("were removed") && text.contains("not drawn again"),
            "{text}"
        );
        assert!(!home.path("out.csv").exists());
        assert_eq!(drawn(&home), [1, 0, 0]);
        let (exit, text) = told(home.privet(&["ledger", "verify"]));
        assert!(exit == 4 && text.contains("KEPT VALUE WITHOUT ENTRY"), "{text}");
    }
    // Also if the chain was written on since.
    home.sql("UPDATE kept SET entry = 2");
    let (exit, text) = told(home.privet(&["ledger", "verify"]));
    assert!(
        exit == 4 && text.contains("KEPT VALUE WITHOUT ENTRY: a value is kept with entry 2"),
        "{text}"
    );
}

#[test]
fn another_key_is_not_taken_for_the_ledgers() {
    let home = home();
    written(&home);
    let key = fs::read(home.path("ledger.db.key")).unwrap();
    let other: Vec<u8> = key.iter().map(|byte| byte ^ 1).collect();
    fs::write(home.path("ledger.db.key"), other).unwrap();
    let (exit, text) = told(home.privet(&COMMAND));
    assert!(exit == 4 && text.contains("another ledger"), "{text}");
    fs::remove_file(home.path("ledger.db.key")).unwrap();
    let (exit, text) = told(home.privet(&COMMAND));
    assert!(exit == 4 && text.contains("missing"), "{text}");
    // An auditor without the key is told what was not compared.
    let (exit, text) = told(home.privet(&["ledger", "verify"]));
    assert!(exit == 0 && text.contains("not compared"), "{text}");
    assert_eq!(drawn(&home), [1, 0, 1]);
}

/// A wrong key is found also by a ledger that has only paid so far: its certificates commit to it.
#[test]
fn the_key_of_the_first_commitment_is_remembered() {
    let home = Home::new();
    let paid = home.spend("0.1").unwrap();
    assert!(paid.commitment.is_some());
    let key = fs::read(home.path("ledger.db.key")).unwrap();
    let other: Vec<u8> = key.iter().map(|byte| byte ^ 1).collect();
    fs::write(home.path("ledger.db.key"), other).unwrap();
    assert!(home.spend("0.1").unwrap().commitment.is_none());
    let store = Store::read_only(&home.ledger()).unwrap();
    assert!(store.commitment_key().is_none());
    fs::write(home.path("ledger.db.key"), key).unwrap();
    assert!(store.commitment_key().is_some());
}

/// It would be missing from the file without a word.
#[test]
fn a_column_that_was_declared_after_a_release_is_named() {
    let home = home();
    let fewer = SCHEMA.replace(
        "{ type = \"category\", values = [\"a\", \"b\", \"c\"] }",
        "{ type = \"skip\" }",
    );
    assert_ne!(fewer, SCHEMA);
    fs::write(home.path("shop.toml"), &fewer).unwrap();
    let first = written(&home);
    fs::write(home.path("shop.toml"), SCHEMA).unwrap();
    let (exit, text) = told(home.privet(&COMMAND));
    assert_eq!(exit, 5, "{text}");
    assert!(text.contains("the column 'town'"), "{text}");
    assert_eq!(drawn(&home), [1, 0, 1]);
    fs::write(home.path("shop.toml"), fewer).unwrap();
    assert_eq!(written(&home), first);
}

/// What auditors are given: entries, and nothing of what is kept.
#[test]
fn exports_hold_no_kept_values() {
    let home = home();
    written(&home);
    let (exit, lines) = told(home.privet(&["ledger", "export"]));
    assert_eq!(exit, 0);
    let connection = rusqlite::Connection::open(home.ledger()).unwrap();
    let (about, value): (String, Vec<u8>) = connection
        .query_row("SELECT about, value FROM kept", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert!(!lines.contains(&about) && value.len() > 100);
    // Entries, each with its number, text and hash, and nothing else at all.
    let entries = Store::read_only(&home.ledger()).unwrap().rows().unwrap();
    let entries: Vec<_> = entries
        .iter()
        .map(|row| serde_json::json!({"number": row.number, "text": row.text, "hash": row.hash}))
        .collect();
    let exported: Vec<serde_json::Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(exported == entries && entries.len() == 5);
    for verb in ["show", "verify"] {
        let (_, text) = told(home.privet(&["--json", "ledger", verb]));
        assert!(!text.contains(&about), "{verb}");
    }
}

#[test]
fn a_table_that_has_changed_does_not_use_columns_of_the_old_one() {
    let home = home();
    let first = written(&home);
    let table = fs::read_to_string(home.path("shop.csv")).unwrap();
    let (head, rows) = table.split_once('\n').unwrap();
    // As many rows, in another order; or one id that is another.
    let turned: Vec<&str> = rows.lines().rev().collect();
    let turned = format!("{head}\n{}\n", turned.join("\n"));
    let renamed = table.replace("p77,", "q77,");
    for other in [turned, renamed] {
        assert_ne!(other, table);
        fs::write(home.path("shop.csv"), other).unwrap();
        let (exit, text) = told(home.privet(&COMMAND));
        assert_eq!(exit, 4, "{text}");
        assert!(text.contains("has changed since"), "{text}");
    }
    fs::write(home.path("shop.csv"), table).unwrap();
    assert_eq!(written(&home), first);
    assert_eq!(drawn(&home), [1, 0, 1]);
}

/// Two commands at once: one payment, and one value that both write.
#[test]
fn two_processes_write_the_same_columns() {
    for _ in 0..3 {
        let home = home();
        let outs = ["one.csv", "two.csv", "three.csv"];
        let children: Vec<_> = outs
            .iter()
            .map(|out| {
                let mut command = COMMAND;
                command[7] = out;
                home.privet(&command)
                    .stdout(std::process::Stdio::null())
                    .spawn()
                    .unwrap()
            })
            .collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let [first, second, third] = outs.map(|out| fs::read(home.path(out)).unwrap());
        assert!(first == second && second == third);
        let [charged, _, kept] = drawn(&home);
        assert_eq!((charged, kept), (1, 1));
    }
}
