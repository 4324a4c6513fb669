//! Values that stand in one party's table only are looked for in everything that it says, sends and writes.

use std::fs;

use super::proxy::{Faults, Proxy};
use super::{VERTICAL, World, files, port};

/// Ids of people that one party has and no other: neither messages nor logs nor models nor ledgers show them.
#[test]
fn no_private_value_is_seen_anywhere() {
    let dialled = port();
    let world = World::new(VERTICAL, "bank", 30, Some(dialled));
    let proxy = Proxy::start(world.port, Faults::default(), 3);
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    fs::write(
        world.path("party.toml"),
        job.replace(&dialled.to_string(), &proxy.port.to_string()),
    )
    .unwrap();
    let canaries = ["canary-5d1e77", "canary-90b2c4"];
    for (table, canary) in ["shop.csv", "bank.csv"].iter().zip(canaries) {
        let text = fs::read_to_string(world.path(table)).unwrap();
        let last = text.lines().last().unwrap();
        let (_, rest) = last.split_once(',').unwrap();
        let first = text.lines().next().unwrap();
        assert!(
            first.starts_with("client,") || first.starts_with("customer,"),
            "{first}"
        );
        fs::write(world.path(table), format!("{text}{canary},{rest}\n")).unwrap();
    }
    world.all_end(world.start_all());
    let seen = proxy.seen.lock().unwrap();
    assert!(seen.len() > 5000, "the run went through the proxy");
    // That the search finds what is there.
    assert!(found(&fs::read(world.path("shop.csv")).unwrap(), canaries[0]));
    let tables = ["shop.csv", "bank.csv"];
    for canary in canaries {
        assert!(!found(&seen, canary), "on the wire");
        for file in files(world.folder.path()) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = fs::read(&file).unwrap();
            assert!(
                tables.contains(&name.as_str()) || !found(&bytes, canary),
                "in {name}"
            );
        }
    }
    // Nor does the wire show names of the plan: all of it is sealed.
    for public in ["privet plan 1", "party 0 = bank", "desensitised"] {
        assert!(!found(&seen, public), "{public} in the clear");
    }
}

fn found(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
