//! Parties under `kill -9` at random moments: the right model or a clean refusal, nothing paid twice, nobody waits for ever.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use privet::privacy::journal::{Event, Journal};
use privet_node::ledger::Store;
use privet_testkit::skipped::full;

use super::{HORIZONTAL, PREDICTION, SECURE, SECURE_OF_THREE, Setting, VERTICAL, World};

fn below(most: u64) -> u64 {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).unwrap();
    u64::from_le_bytes(bytes) % most
}

/// How often each thing was paid for, drawn or shown, by what the ledger says; nothing more than once.
fn once(world: &World, party: &str) {
    let path = world.path(&format!("{party}.db"));
    let mut store = Store::open(&path).unwrap();
    store.check().unwrap();
    store.book().unwrap();
    let mut paid: BTreeMap<String, u64> = BTreeMap::new();
    for entry in store.read(0).unwrap() {
        let what = match entry.event() {
            Event::Spend { what, .. } => format!("paid {what}"),
            Event::Desensitise { what, .. } => format!("released {what}"),
            Event::Redraw { what, .. } => format!("drawn once more {what}"),
            _ => continue,
        };
        *paid.entry(what).or_default() += 1;
    }
    assert!(paid.values().all(|times| *times == 1), "{party}: {paid:?}");
}

/// One run in which random parties are killed at random moments and started again. Gives how many were killed.
fn killed(setting: Setting, listens: &str, most: u64, within: u64) -> u64 {
    let world = World::new(setting, listens, 8, None);
    let mut running = world.start_all();
    let mut kills = 0;
    let until = Instant::now() + Duration::from_secs(110);
    while kills < most {
        std::thread::sleep(Duration::from_millis(below(within)));
        if running.iter_mut().all(super::Running::has_ended) {
            break;
        }
        let place = below(running.len() as u64) as usize;
        if running[place].has_ended() {
            continue;
        }
        running[place].kill();
        kills += 1;
        let party = running[place].party.clone();
        running[place] = world.start(&party);
    }
    let mut ended_well = 0;
    for running in &mut running {
        let left = until.saturating_duration_since(Instant::now());
        let code = running.wait(left.max(Duration::from_secs(1)));
        let said = world.said(&running.party);
        assert!(!said.contains("panicked"), "{said}");
        // 7: a peer was gone; 2 and 3: the run was over for it before it was killed, and it does not begin another.
        assert!(
            matches!(code, Some(0 | 2 | 3 | 7)),
            "{} {code:?}: {said}",
            running.party
        );
        ended_well += u64::from(code == Some(0));
    }
    let models = world.setting.parties.iter();
    let models = models
        .filter(|party| world.path(&format!("{party}.privet")).exists())
        .count();
    println!(
        "{} with {listens}: {kills} kills, {ended_well} parties ended well, {models} models",
        world.setting.case
    );
    for party in world.setting.parties {
        once(&world, party);
    }
    kills
}

#[test]
fn killed_parties_go_on() {
    killed(HORIZONTAL, "miner", 2, 700);
}

/// Twenty of each with `PRIVET_FULL`; as many as `PRIVET_KILLS` says, if it says so.
#[test]
fn many_kills_of_each_setting() {
    if !full() {
        return;
    }
    let wanted: u64 = std::env::var("PRIVET_KILLS").map_or(20, |kills| kills.parse().unwrap());
    type Case = (fn() -> Setting, &'static str);
    let all: [Case; 6] = [
        (|| HORIZONTAL, "miner"),
        (|| HORIZONTAL, "north"),
        (|| VERTICAL, "bank"),
        (|| PREDICTION, "bank"),
        (|| SECURE, "north"),
        (|| SECURE_OF_THREE, "north"),
    ];
    std::thread::scope(|threads| {
        for (setting, listens) in all {
            threads.spawn(move || {
                let mut kills = 0;
                while kills < wanted {
                    kills += killed(setting(), listens, 5, 500);
                }
            });
        }
    });
}
