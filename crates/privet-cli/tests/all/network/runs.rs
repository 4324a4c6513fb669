//! All settings across real processes; through a proxy; through a listener that is none of the two; and through everything that goes wrong.

use std::fs;
use std::time::Duration;

use privet_node::net::Transcript;

use super::proxy::{Faults, Proxy};
use super::{HORIZONTAL, PREDICTION, SECURE, SECURE_OF_THREE, Setting, VERTICAL, World, port};

pub(super) fn transcript(world: &World, party: &str) -> Transcript {
    let text = fs::read_to_string(world.path(&format!("{party}.privet.{party}.transcript.json"))).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The parties that get a model, and that all of theirs say the same.
fn same_models(world: &World, parties: &[&str]) {
    let ensemble = |party: &&str| {
        let bytes = fs::read(world.path(&format!("{party}.privet"))).unwrap();
        let (model, _) = privet::model::Model::from_file(&bytes).unwrap();
        serde_json::to_string(model.ensemble()).unwrap()
    };
    let first = ensemble(&parties[0]);
    assert!(parties.iter().all(|party| ensemble(party) == first));
}

#[test]
fn horizontal_across_four_processes() {
    let world = World::new(HORIZONTAL, "miner", 30, None);
    world.all_end(world.start_all());
    same_models(&world, &["miner", "north", "east", "south"]);
    let said = transcript(&world, "north");
    assert_eq!(said.peers.len(), 1, "an owner speaks to the miner");
    assert!(
        said.revealed.iter().any(|line| line.contains("noisy trees")),
        "{:?}",
        said.revealed
    );
    assert_eq!(said.signatures.len(), 4);
    // What was over begins anew, and the budget says no.
    let mut again = world.start("north");
    assert_eq!(
        again.wait(Duration::from_secs(20)),
        Some(3),
        "{}",
        world.said("north")
    );
}

/// An owner listens; what the miner and the others tell each other goes through it, sealed.
#[test]
fn a_listener_relays_what_it_cannot_read() {
    let world = World::new(HORIZONTAL, "east", 30, None);
    world.all_end(world.start_all());
    same_models(&world, &["miner", "north", "east", "south"]);
    let said = transcript(&world, "north");
    let miner = said.peers.iter().find(|peer| peer.party == "miner").unwrap();
    assert!(miner.relayed && miner.messages_sent > 0);
    let listener = transcript(&world, "east");
    let north = listener.peers.iter().find(|peer| peer.party == "north").unwrap();
    assert_eq!(north.messages_received, 0, "nothing of it was for the listener");
}

#[test]
fn vertical_across_three_processes() {
    let world = World::new(VERTICAL, "bank", 30, None);
    world.all_end(world.start_all());
    assert!(world.path("bank.privet").exists() && !world.path("shop.privet").exists());
    assert!(world.path("shop.privet.shop.certificate.json").exists());
}

#[test]
fn secure_across_three_processes() {
    let world = World::new(SECURE_OF_THREE, "north", 30, None);
    world.all_end(world.start_all());
    same_models(&world, &["north", "south", "west"]);
}

/// Also through an HTTP proxy.
#[test]
fn secure_across_two_processes_through_a_proxy() {
    let world = World::new(SECURE, "north", 30, None);
    let faults = Faults {
        asks_connect: true,
        ..Faults::default()
    };
    let proxy = Proxy::start(world.port, faults, 1);
    let mut north = world.start("north");
    let mut south = world.command("south");
    south.args(["--proxy", &format!("http://127.0.0.1:{}", proxy.port)]);
    let mut south = super::Running {
        party: "south".into(),
        child: south.spawn().unwrap(),
    };
    assert_eq!(
        south.wait(Duration::from_secs(60)),
        Some(0),
        "{}",
        world.said("south")
    );
    assert_eq!(
        north.wait(Duration::from_secs(60)),
        Some(0),
        "{}",
        world.said("north")
    );
    assert!(
        !proxy.seen.lock().unwrap().is_empty(),
        "it went through the proxy"
    );
    same_models(&world, &["north", "south"]);
}

/// Delays, stalls and resets on five pieces in a hundred, and connections that swallow everything.
fn through_faults(setting: Setting, listens: &str, faults: Faults, seed: u64) {
    let dialled = port();
    let world = World::new(setting, listens, 12, Some(dialled));
    // The port of the job is the proxy's.
    let proxy = Proxy::start(world.port, faults, seed);
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    let job = job.replace(
        &format!("127.0.0.1:{dialled}"),
        &format!("127.0.0.1:{}", proxy.port),
    );
    fs::write(world.path("party.toml"), job).unwrap();
    world.all_end(world.start_all());
    let faults = proxy.faults.load(std::sync::atomic::Ordering::Relaxed);
    println!("{} things went wrong", faults);
    assert!(faults > 0, "nothing went wrong");
}

#[test]
fn a_run_survives_what_networks_do() {
    let faults = Faults {
        delay: Duration::from_millis(5),
        stalls: 20,
        resets: 60,
        ..Faults::default()
    };
    through_faults(HORIZONTAL, "miner", faults, 7);
}

/// With a delay of 50 ms, and a swallowed connection now and then: takes minutes.
#[test]
fn every_setting_survives_what_networks_do() {
    if !privet_testkit::skipped::full() {
        return;
    }
    let faults = Faults {
        delay: Duration::from_millis(50),
        stalls: 25,
        resets: 25,
        swallows: 3,
        ..Faults::default()
    };
    through_faults(HORIZONTAL, "miner", faults, 0);
    through_faults(HORIZONTAL, "north", faults, 10);
    through_faults(VERTICAL, "bank", faults, 20);
    through_faults(VERTICAL, "shop", faults, 30);
    through_faults(SECURE, "north", faults, 40);
    // A short run, in which more has to go wrong.
    let many = Faults {
        stalls: 100,
        resets: 100,
        ..faults
    };
    through_faults(PREDICTION, "bank", many, 60);
    through_faults(SECURE_OF_THREE, "south", faults, 50);
}
