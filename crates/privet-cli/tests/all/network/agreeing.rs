//! Parties that do not agree, do not know each other or do not come: refused with a clear line, before anything is paid.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use privet_node::ledger::Store;
use privet_node::net::Trust;

use super::{HORIZONTAL, SECURE, World};

const SOON: Duration = Duration::from_secs(40);

/// Nothing but its limits is in a party's ledger.
fn unspent(world: &World, party: &str) {
    let mut store = Store::open(&world.path(&format!("{party}.db"))).unwrap();
    let book = store.book().unwrap();
    assert_eq!(book.head().entries, 2, "{party} has paid or shown something");
}

#[test]
fn plans_that_differ_are_refused_line_by_line() {
    let world = World::new(SECURE, "north", 4, None);
    let mut north = world.start("north");
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    assert!(job.contains("rounds = 3"), "{job}");
    // The job was read by then, or is read now: either way one of them has other rounds.
    std::thread::sleep(Duration::from_millis(600));
    fs::write(world.path("party.toml"), job.replace("rounds = 3", "rounds = 4")).unwrap();
    let mut south = world.start("south");
    assert_eq!(south.wait(SOON), Some(7), "{}", world.said("south"));
    let said = world.said("south");
    assert!(
        said.contains("here: rounds = 4") && said.contains("north: rounds = 3"),
        "{said}"
    );
    // Nobody who fits comes.
    assert_eq!(north.wait(SOON), Some(7), "{}", world.said("north"));
    assert!(
        world.said("north").contains("rounds = 4"),
        "{}",
        world.said("north")
    );
    unspent(&world, "north");
    unspent(&world, "south");
}

#[test]
fn strangers_and_the_revoked_are_refused_before_any_message() {
    let world = World::new(SECURE, "north", 6, None);
    let mut trust = Trust::load(&world.keys_of("north")).unwrap();
    assert!(trust.revoke("south").unwrap());
    // The listener refuses to plan with somebody whom it has revoked.
    let mut north = world.start("north");
    assert_eq!(north.wait(SOON), Some(2), "{}", world.said("north"));
    assert!(world.said("north").contains("revoked"), "{}", world.said("north"));
    // Trusted again under another key: the dialling party is a stranger there.
    let other = privet_node::net::Identity::from_seed([9; 32])
        .public()
        .fingerprint();
    trust.insert("south", other, None).unwrap();
    let (mut north, mut south) = (world.start("north"), world.start("south"));
    assert_eq!(south.wait(SOON), Some(7), "{}", world.said("south"));
    assert!(
        world
            .said("south")
            .contains("does not know the key of this party"),
        "{}",
        world.said("south")
    );
    assert_eq!(north.wait(SOON), Some(7));
    assert!(
        world.said("north").contains("refused: a stranger"),
        "{}",
        world.said("north")
    );
    unspent(&world, "south");
}

/// Somebody else at the listener's address.
#[test]
fn a_listener_with_another_key_is_refused() {
    let world = World::new(SECURE, "north", 6, None);
    let mut trust = Trust::load(&world.keys_of("south")).unwrap();
    let other = privet_node::net::Identity::from_seed([9; 32])
        .public()
        .fingerprint();
    trust.insert("north", other, None).unwrap();
    let (_north, mut south) = (world.start("north"), world.start("south"));
    assert_eq!(south.wait(SOON), Some(7), "{}", world.said("south"));
    assert!(
        world.said("south").contains("does not have the key"),
        "{}",
        world.said("south")
    );
}

/// Garbage, a beginning of TLS 1.2, silence and a crowd at the listener's door: it logs them, and the run ends well.
#[test]
fn noise_at_the_door_disturbs_nobody() {
    let world = World::new(HORIZONTAL, "miner", 30, None);
    let mut running = vec![world.start("miner")];
    let mut open = Vec::new();
    let until = std::time::Instant::now() + SOON;
    while open.len() < 80 && std::time::Instant::now() < until {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", world.port)) else {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        let bytes: &[u8] = match open.len() % 4 {
            0 => b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            // A ClientHello of TLS 1.2 without supported_versions.
            1 => &tls12(),
            2 => b"\x16\x03\x01",
            _ => b"",
        };
        stream.write_all(bytes).unwrap();
        open.push(stream);
    }
    assert_eq!(open.len(), 80);
    // The beginning of TLS 1.2 is answered with an alert, not with a hello.
    let mut answer = [0; 5];
    open[1].set_read_timeout(Some(SOON)).unwrap();
    open[1].read_exact(&mut answer).unwrap();
    assert_eq!(answer[0], 21, "an alert");
    drop(open);
    running.extend(["north", "east", "south"].map(|party| world.start(party)));
    world.all_end(running);
    let log = fs::read_to_string(world.path("miner.privet.miner.log")).unwrap();
    assert!(log.contains("not of a party"), "{log}");
}

fn tls12() -> Vec<u8> {
    let mut hello = vec![3, 3];
    hello.extend([7; 32]);
    hello.extend([0, 0, 4, 0xc0, 0x2f, 0xc0, 0x30, 1, 0]);
    hello.extend([0, 0]);
    let mut message = vec![1, 0, 0, hello.len() as u8];
    message.extend(hello);
    let mut record = vec![22, 3, 1, 0, message.len() as u8];
    record.extend(message);
    record
}

/// A signed plan is accepted in place of --yes, and no other.
#[test]
fn a_plan_can_be_signed_beforehand() {
    let world = World::new(SECURE, "north", 20, None);
    let party = |name: &str, arguments: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_privet"));
        command
            .args([
                "party",
                "party.toml",
                "--name",
                name,
                "--out",
                &format!("{name}.privet"),
            ])
            .args(["--ledger", &format!("{name}.db")])
            .arg("--keys")
            .arg(world.keys_of(name))
            .args(arguments)
            .current_dir(world.folder.path());
        command.output().unwrap()
    };
    let unasked = party("south", &[]);
    assert_eq!(unasked.status.code(), Some(2), "it must be accepted");
    assert!(party("south", &["--sign", "south.accepted"]).status.success());
    let mut north = world.start("north");
    let accepted = party("south", &["--accepted", "south.accepted"]);
    assert!(
        accepted.status.success(),
        "{}",
        String::from_utf8_lossy(&accepted.stderr)
    );
    assert_eq!(north.wait(SOON), Some(0), "{}", world.said("north"));
    // Another plan is not what was signed.
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    fs::write(world.path("party.toml"), job.replace("rounds = 3", "rounds = 5")).unwrap();
    let other = party("south", &["--accepted", "south.accepted", "--overwrite"]);
    let said = String::from_utf8_lossy(&other.stderr).into_owned();
    assert_eq!(other.status.code(), Some(5), "{said}");
    assert!(said.contains("rounds = 5"), "{said}");
}

/// A peer that never comes back: the run ends after its time and says what it has cost.
#[test]
fn a_peer_that_never_returns_ends_the_run() {
    let world = World::new(SECURE, "north", 3, None);
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    fs::write(
        world.path("party.toml"),
        job.replace("rounds = 3", "rounds = 500"),
    )
    .unwrap();
    let (mut north, mut south) = (world.start("north"), world.start("south"));
    let log = world.path("south.privet.south.log");
    let until = std::time::Instant::now() + SOON;
    while !fs::read_to_string(&log).unwrap_or_default().contains("(frames)") {
        assert!(
            std::time::Instant::now() < until && !south.has_ended(),
            "{}",
            world.said("south")
        );
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(700));
    north.kill();
    assert_eq!(south.wait(SOON), Some(7), "{}", world.said("south"));
    let said = world.said("south");
    assert!(said.contains("What this party has spent and shown"), "{said}");
}
