//! Columns leave once, whatever happens: a crash, a file that was cut, a table that has changed.

use std::fs;
use std::time::Duration;

use crate::home::{Home, told};
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

/// How often columns left, and how often they were drawn once more.
fn drawn(home: &Home) -> (usize, usize) {
    let entries = Store::read_only(&home.ledger()).unwrap().read().unwrap();
    let count = |is: fn(&Event) -> bool| entries.iter().filter(|entry| is(entry.event())).count();
    (
        count(|event| matches!(event, Event::Desensitise { .. })),
        count(|event| matches!(event, Event::Redraw { .. })),
    )
}

#[test]
fn the_same_command_writes_the_same_file_and_charges_once() {
    let home = home();
    let first = written(&home);
    assert_eq!(first.lines().count(), 501);
    assert_eq!(first.lines().next(), Some("spent,town"));
    assert_eq!(written(&home), first);
    assert_eq!(drawn(&home), (1, 0));
}

#[test]
fn a_kill_at_any_moment_costs_one_charge_and_at_most_one_draw_more() {
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
        let (charged, again) = drawn(&home);
        assert!(charged == 1 && again <= 1, "{charged} {again}");
    }
}

/// A record that was cut is one that a crash left: its columns are drawn once more, and never a third time.
#[test]
fn columns_that_were_never_kept_are_drawn_once_more_and_no_oftener() {
    let home = home();
    written(&home);
    let kept = home.path("shop.csv.columns");
    let cut = || {
        let bytes = fs::read(&kept).unwrap();
        fs::write(&kept, &bytes[..bytes.len() - 1]).unwrap();
    };
    cut();
    let second = written(&home);
    assert_eq!(written(&home), second);
    assert_eq!(drawn(&home), (1, 1));
    cut();
    let (exit, text) = told(home.privet(&COMMAND));
    assert_eq!(exit, 3, "{text}");
    assert!(text.contains("drawn twice already"), "{text}");
    assert_eq!(drawn(&home), (1, 1));
}

#[test]
fn a_table_that_has_changed_does_not_use_columns_of_the_old_one() {
    let home = home();
    written(&home);
    let table = fs::read_to_string(home.path("shop.csv")).unwrap();
    // As many rows, in another order: nothing but the mark can tell.
    let (head, rows) = table.split_once('\n').unwrap();
    let turned: Vec<&str> = rows.lines().rev().collect();
    fs::write(home.path("shop.csv"), format!("{head}\n{}\n", turned.join("\n"))).unwrap();
    let (exit, text) = told(home.privet(&COMMAND));
    assert_eq!(exit, 4, "{text}");
    assert!(text.contains("has changed since"), "{text}");
    fs::write(home.path("shop.csv"), table).unwrap();
    fs::remove_file(home.path("shop.csv.columns")).unwrap();
    let (exit, text) = told(home.privet(&COMMAND));
    assert_eq!(exit, 3, "{text}");
    assert!(text.contains("has been desensitised already"), "{text}");
    assert!(
        !home.path("shop.csv.columns").exists(),
        "nothing is left of a refusal"
    );
    assert_eq!(drawn(&home), (1, 0));
}
