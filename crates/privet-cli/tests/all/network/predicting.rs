//! Parties that predict new rows together, as real processes: the same predictions as on one machine, by columns and by branches.

use std::fs;
use std::time::{Duration, Instant};

use super::proxy::{Faults, Proxy};
use super::runs::transcript;
use super::{PREDICTION, Running, Setting, World, port};

const SOON: Duration = Duration::from_secs(40);

/// What one machine predicts for the bank, from the columns that the shop's ledger has kept.
fn on_one_machine(world: &World, job: &str, ledger: &str) -> String {
    world.privet(&format!(
        "predict {job} --not-protected --id customer --out alone.csv --ledger {ledger}"
    ));
    fs::read_to_string(world.path("alone.csv")).unwrap()
}

fn bank(world: &World) -> Running {
    let mut command = world.command("bank");
    Running {
        party: "bank".into(),
        child: command.args(["--id", "customer"]).spawn().unwrap(),
    }
}

fn predicted(world: &World) -> String {
    fs::read_to_string(world.path("bank.privet")).unwrap()
}

/// Waits until the bank has signed and its run goes on.
fn is_running(world: &World) {
    let until = Instant::now() + SOON;
    let status = world.path("bank.privet.bank.status.json");
    while !fs::read_to_string(&status).is_ok_and(|text| text.contains("\"running\"")) {
        assert!(Instant::now() < until, "{}", world.said("bank"));
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The shop has neither the model nor the bank's table, and gets no prediction.
#[test]
fn predictions_across_processes_are_those_of_one_machine() {
    for job in ["predict.toml", "branches.toml"] {
        let setting = Setting { job, ..PREDICTION };
        let world = World::new(setting, "bank", 30, None);
        let apart = world.path("apart");
        fs::create_dir(&apart).unwrap();
        for file in ["party.toml", "new-bank.toml", "new-shop.toml", "new-shop.csv"] {
            fs::copy(world.path(file), apart.join(file)).unwrap();
        }
        fs::rename(world.path("shop.db"), apart.join("shop.db")).unwrap();
        let shop = Running {
            party: "shop".into(),
            child: world.command("shop").current_dir(&apart).spawn().unwrap(),
        };
        world.all_end(vec![bank(&world), shop]);
        let found = predicted(&world);
        assert_eq!(found, on_one_machine(&world, job, "apart/shop.db"), "{job}");
        assert_eq!(
            found.lines().count(),
            17,
            "a heading, and the people whom both know: {found}"
        );
        let said = transcript(&world, "bank");
        assert!(said.outcome.starts_with("predictions"), "{}", said.outcome);
        assert!(apart.join("shop.privet.shop.certificate.json").exists());
        assert!(!apart.join("shop.privet").exists());
    }
}

/// Killed when it has signed and not yet predicted, the bank goes on, and the shop releases nothing a second time.
#[test]
fn a_party_that_is_killed_while_it_predicts_goes_on() {
    let dialled = port();
    let world = World::new(PREDICTION, "bank", 30, Some(dialled));
    let faults = Faults {
        delay: Duration::from_millis(60),
        ..Faults::default()
    };
    let proxy = Proxy::start(world.port, faults, 5);
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    let job = job.replace(&dialled.to_string(), &proxy.port.to_string());
    fs::write(world.path("party.toml"), job).unwrap();
    let shop = world.start("shop");
    let mut killed = bank(&world);
    is_running(&world);
    killed.kill();
    world.all_end(vec![bank(&world), shop]);
    assert!(transcript(&world, "bank").resumed, "{}", world.said("bank"));
    assert_eq!(
        predicted(&world),
        on_one_machine(&world, "predict.toml", "shop.db")
    );
}

/// Where the certificate of a party lies that its ledger knows nothing of, the ledger is an older copy: nothing is drawn again.
#[test]
fn a_ledger_that_was_put_back_sends_nothing() {
    let world = World::new(PREDICTION, "bank", 30, None);
    fs::copy(world.path("shop.db"), world.path("older.db")).unwrap();
    world.all_end(vec![bank(&world), world.start("shop")]);
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(world.path(&format!("shop.db{ending}")));
    }
    fs::copy(world.path("older.db"), world.path("shop.db")).unwrap();
    let mut shop = world.start("shop");
    assert_eq!(shop.wait(SOON), Some(4), "{}", world.said("shop"));
    assert!(
        world.said("shop").contains("put back to an older copy"),
        "{}",
        world.said("shop")
    );
}

/// What a run has predicted is there, and the run is over, also if the model was moved away while it went on; and a run is given up without it.
#[test]
fn a_run_ends_and_is_given_up_without_its_model() {
    let dialled = port();
    let world = World::new(PREDICTION, "bank", 30, Some(dialled));
    let faults = Faults {
        delay: Duration::from_millis(60),
        ..Faults::default()
    };
    let proxy = Proxy::start(world.port, faults, 5);
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    let job = job.replace(&dialled.to_string(), &proxy.port.to_string());
    fs::write(world.path("party.toml"), job).unwrap();
    let running = [bank(&world), world.start("shop")];
    is_running(&world);
    // The bank has read it when it sends its first message.
    let until = Instant::now() + SOON;
    let log = world.path("bank.privet.bank.log");
    while !fs::read_to_string(&log).is_ok_and(|text| text.contains("shop (frames)")) {
        assert!(Instant::now() < until, "{}", world.said("bank"));
        std::thread::sleep(Duration::from_millis(2));
    }
    fs::rename(world.path("model.privet"), world.path("away.privet")).unwrap();
    world.all_end(running.into());
    fs::rename(world.path("away.privet"), world.path("model.privet")).unwrap();
    assert_eq!(
        predicted(&world),
        on_one_machine(&world, "predict.toml", "shop.db")
    );
    // Begun again and given up, with neither table nor model.
    let mut killed = bank(&world);
    let mut shop = world.start("shop");
    is_running(&world);
    killed.kill();
    shop.kill();
    fs::remove_file(world.path("model.privet")).unwrap();
    fs::remove_file(world.path("new-bank.csv")).unwrap();
    let mut command = world.command("bank");
    let mut given_up = Running {
        party: "bank".into(),
        child: command.arg("--abandon").spawn().unwrap(),
    };
    assert_eq!(given_up.wait(SOON), Some(0), "{}", world.said("bank"));
}

/// A shop that accepted columns is not asked questions, nor the other way round.
#[test]
fn ways_of_predicting_that_differ_are_refused() {
    let world = World::new(PREDICTION, "bank", 4, None);
    let apart = world.path("apart");
    fs::create_dir(&apart).unwrap();
    for file in ["new-bank.toml", "new-shop.toml", "new-shop.csv", "shop.db"] {
        fs::copy(world.path(file), apart.join(file)).unwrap();
    }
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    let other = job.replacen("most_ids", "predict = \"branches\"\nmost_ids", 1);
    assert_ne!(job, other);
    fs::write(apart.join("party.toml"), other).unwrap();
    let mut bank = bank(&world);
    let mut shop = Running {
        party: "shop".into(),
        child: world.command("shop").current_dir(&apart).spawn().unwrap(),
    };
    assert_eq!(shop.wait(SOON), Some(7), "{}", world.said("shop"));
    let said = world.said("shop");
    assert!(
        said.contains("here: predict = branches") && said.contains("bank: predict = columns"),
        "{said}"
    );
    assert_eq!(bank.wait(SOON), Some(7), "{}", world.said("bank"));
    assert!(!world.path("bank.privet").exists());
}

/// What a party accepts says who learns the predictions, and, where the model is known, what it asks.
#[test]
fn a_plan_says_who_learns_predictions() {
    let setting = Setting {
        job: "branches.toml",
        ..PREDICTION
    };
    let world = World::new(setting, "bank", 4, None);
    let shown = |party: &str| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_privet"));
        let ledger = format!("{party}.db");
        command.args(["party", "party.toml", "--not-protected", "--name", party]);
        command.args(["--ledger", &ledger]).arg("--keys");
        command.arg(world.keys_of(party)).current_dir(world.folder.path());
        let said = String::from_utf8(command.output().unwrap().stderr).unwrap();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (bank, shop) = (shown("bank"), shown("shop"));
    for said in [&bank, &shop] {
        assert!(said.contains("Predictions are written for bank."), "{said}");
        assert!(
            said.contains("shop learns what the model asks about its columns"),
            "{said}"
        );
    }
    assert!(
        bank.contains("questions about 'spent'") || bank.contains("question about 'spent'"),
        "{bank}"
    );
    assert!(!shop.contains("about 'spent'"), "{shop}");
}
