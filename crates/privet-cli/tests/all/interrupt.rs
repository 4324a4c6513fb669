//! Ctrl-C: a run stops between two steps, and what was paid stays paid.
#![cfg(unix)]

use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::home::{Home, case, copy, told};
use privet::privacy::journal::{Event, Journal};
use privet_node::ledger::Store;

/// A folder with a table of private rows, and a job that takes far longer than anybody waits.
fn home(job: &str) -> Home {
    let home = Home::new();
    let schema = "dataset = \"patients\"\n[columns]\nage = { type = \"number\", min = 0, max = 100 }\nweight = { type = \"number\", min = 0, max = 200 }\n\
                  ill = { type = \"label\", values = [\"no\", \"yes\"] }\n";
    fs::write(home.path("schema.toml"), schema).unwrap();
    let rows: String = (0..20_000)
        .map(|i| {
            format!(
                "{},{},{}\n",
                i * 7 % 100,
                i * 13 % 200,
                ["no", "yes"][usize::from(i * 7 % 100 + i % 5 > 50)]
            )
        })
        .collect();
    fs::write(home.path("patients.csv"), format!("age,weight,ill\n{rows}")).unwrap();
    let job = format!("schema = \"schema.toml\"\ndata = \"patients.csv\"\noutput = \"model.privet\"\n{job}");
    fs::write(home.path("job.toml"), job).unwrap();
    home
}

fn started(home: &Home, arguments: &[&str]) -> Child {
    let mut command = home.privet(arguments);
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
}

/// Waits until the ledger says that the run has begun, or the run has ended.
fn begun(home: &Home, child: &mut Child, is: fn(&Event) -> bool) {
    while child.try_wait().unwrap().is_none() {
        let entries = Store::read_only(&home.ledger()).unwrap().read(0).unwrap();
        if entries.iter().any(|entry| is(entry.event())) {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn stopped(home: &Home, output: &Output) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{told}");
    assert!(
        told.contains("press Ctrl-C again") && told.contains("stopped, as asked"),
        "{told}"
    );
    assert!(output.stdout.is_empty());
    assert!(!home.path("model.privet").exists());
    for file in fs::read_dir(home.folder.path()).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(!name.starts_with(".tmp"), "{name} was left behind");
    }
}

const CENTRAL: &str = "setting = \"central\"\n[privacy]\nepsilon = 0.5\nrows_about = 20000\n[algorithm]\nname = \"trees\"\ntrees = 100000\ndepth = 10\nsplits = \"random\"\n";

#[test]
fn a_private_run_stops_and_what_was_reserved_stays_spent() {
    let home = home(CENTRAL);
    let mut child = started(&home, &["train", "job.toml"]);
    begun(&home, &mut child, |event| matches!(event, Event::Spend { .. }));
    interrupt(&child);
    stopped(&home, &child.wait_with_output().unwrap());
    let mut store = Store::read_only(&home.ledger()).unwrap();
    let book = store.book().unwrap();
    let lines = book.account("patients").unwrap().lines();
    let spent = lines.values().next().unwrap().spent;
    assert_eq!(spent.pure.to_string(), "0.5", "what was reserved stays spent");
    drop(store);
    assert_eq!(told(home.privet(&["ledger", "verify"])).0, 0);
    // Nothing keeps the next run from the ledger.
    let (exit, text) = told(home.privet(&["ledger", "limit", "patients", "--epsilon", "2"]));
    assert_eq!(exit, 0, "{text}");
}

/// Wherever the second one comes, the process ends with the same code.
#[test]
fn a_second_one_ends_the_process() {
    let home = home("setting = \"plain\"\n[algorithm]\nname = \"stumps\"\nrounds = 100000\n");
    let mut child = started(&home, &["train", "job.toml", "--not-protected"]);
    begun(&home, &mut child, |event| {
        !matches!(event, Event::Limit { .. } | Event::Begin { .. })
    });
    interrupt(&child);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    assert!(!home.path("model.privet").exists());
}

/// A folder with three owners of rows, each with a budget for one run of many trees.
fn owners() -> Home {
    let home = Home::new();
    copy(&case("horizontal"), home.folder.path());
    let job = fs::read_to_string(home.path("job.toml")).unwrap();
    fs::write(home.path("job.toml"), job.replace("trees = 4", "trees = 60")).unwrap();
    for owner in ["north", "east", "south"] {
        let dataset = format!("stays-{owner}");
        let limit = ["ledger", "limit", &dataset, "--epsilon", "2", "--delta", "1e-6"];
        assert_eq!(told(home.privet(&limit)).0, 0);
    }
    home
}

fn payments(home: &Home) -> usize {
    let entries = Store::read_only(&home.ledger()).unwrap().read(0).unwrap();
    entries
        .iter()
        .filter(|entry| matches!(entry.event(), Event::Spend { .. }))
        .count()
}

/// Each budget has room for one run: whoever paid twice would be refused.
#[test]
fn a_run_of_owners_goes_on_after_a_stop_or_a_kill() {
    for kills in [false, true] {
        let home = owners();
        let mut child = started(&home, &["train", "job.toml"]);
        begun(&home, &mut child, |event| matches!(event, Event::Spend { .. }));
        if kills {
            child.kill().unwrap();
            child.wait().unwrap();
        } else {
            interrupt(&child);
            let output = child.wait_with_output().unwrap();
            stopped(&home, &output);
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(told.contains("the same command goes on with it"), "{told}");
        }
        let paid = payments(&home);
        let (exit, text) = told(home.privet(&["train", "job.toml"]));
        assert_eq!(exit, 0, "{text}");
        assert!(text.contains("resumed    a run that was broken off"), "{text}");
        assert!(
            (1..=6).contains(&paid) && payments(&home) == 6,
            "{paid} payments before"
        );
        assert_eq!(
            told(home.privet(&["ledger", "verify", "--against", "model.privet"])).0,
            0
        );
        // The records are gone: what comes next is another run, for which nothing remains.
        let (exit, text) = told(home.privet(&["train", "job.toml", "--overwrite"]));
        assert_eq!(exit, 3, "{text}");
    }
}
