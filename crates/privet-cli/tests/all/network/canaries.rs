//! Values that stand in one party's table only are looked for in everything that it says, sends and writes.

use std::fs;

use super::proxy::{Faults, Proxy};
use super::{HORIZONTAL, SECURE_OF_THREE, Setting, VERTICAL, World, files, port};

/// What is planted: a row behind the others of a table, and the cells of it that stand nowhere else.
struct Planted {
    table: &'static str,
    row: &'static str,
    cells: &'static [&'static str],
}

/// Neither messages nor logs nor models nor ledgers nor what parties print show any cell that was planted.
fn unseen(setting: Setting, listens: &str, planted: &[Planted]) {
    let dialled = port();
    let world = World::new(setting, listens, 30, Some(dialled));
    let proxy = Proxy::start(world.port, Faults::default(), 3);
    let job = fs::read_to_string(world.path("party.toml")).unwrap();
    fs::write(
        world.path("party.toml"),
        job.replace(&dialled.to_string(), &proxy.port.to_string()),
    )
    .unwrap();
    for Planted { table, row, cells } in planted {
        let text = fs::read_to_string(world.path(table)).unwrap();
        let cells_of = |line: &str| line.split(',').count();
        assert_eq!(cells_of(text.lines().next().unwrap()), cells_of(row), "{table}");
        assert!(
            cells
                .iter()
                .all(|cell| row.contains(cell) && !text.contains(cell))
        );
        fs::write(world.path(table), format!("{text}{row}\n")).unwrap();
        // That the search finds what is there.
        let bytes = fs::read(world.path(table)).unwrap();
        assert!(cells.iter().all(|cell| found(&bytes, cell)));
    }
    world.all_end(world.start_all());
    let seen = proxy.seen.lock().unwrap();
    assert!(seen.len() > 5000, "the run went through the proxy");
    let is_table = |name: &str| planted.iter().any(|planted| planted.table == name);
    let all: Vec<_> = files(world.folder.path())
        .into_iter()
        .map(|file| (file.file_name().unwrap().to_string_lossy().into_owned(), file))
        .filter(|(name, _)| !is_table(name))
        .map(|(name, file)| (name, fs::read(file).unwrap()))
        .collect();
    assert!(
        all.iter().any(|(name, _)| name.ends_with(".db"))
            && all.iter().any(|(name, _)| name.ends_with(".log"))
    );
    for cell in planted.iter().flat_map(|planted| planted.cells) {
        assert!(!found(&seen, cell), "{cell} on the wire");
        for (name, bytes) in &all {
            assert!(!found(bytes, cell), "{cell} in {name}");
        }
    }
    // Nor does the wire show names of the plan: all of it is sealed.
    let first = format!("party 0 = {}", world.setting.parties[0]);
    for public in [
        "privet plan 1",
        &first,
        "desensitised",
        "maboost",
        "learning_rate",
    ] {
        assert!(!found(&seen, public), "{public} in the clear");
    }
}

fn found(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Ids of people that one party has and no other.
#[test]
fn no_private_value_of_vertical_parties_is_seen_anywhere() {
    let planted = [
        Planted {
            table: "shop.csv",
            row: "canary-5d1e77,72,c,0",
            cells: &["canary-5d1e77"],
        },
        Planted {
            table: "bank.csv",
            row: "canary-90b2c4,44,no",
            cells: &["canary-90b2c4"],
        },
    ];
    unseen(VERTICAL, "bank", &planted);
}

/// A number with digits and a category that no other cell has.
#[test]
fn no_private_value_of_owners_is_seen_anywhere() {
    let planted = [
        Planted {
            table: "north.csv",
            row: "61.7390417,20,canary-61d0aa,4,no,1,no",
            cells: &["61.7390417", "canary-61d0aa"],
        },
        Planted {
            table: "south.csv",
            row: "58.1402963,20,canary-7be3f1,4,no,1,no",
            cells: &["58.1402963", "canary-7be3f1"],
        },
    ];
    unseen(HORIZONTAL, "miner", &planted);
}

#[test]
fn no_private_value_of_secure_parties_is_seen_anywhere() {
    let planted = [
        Planted {
            table: "north.csv",
            row: "71.4028513,18.6093471,6,rents,2,yes",
            cells: &["71.4028513", "18.6093471"],
        },
        Planted {
            table: "west.csv",
            row: "33.8120946,21.5570183,3,owns,1,no",
            cells: &["33.8120946", "21.5570183"],
        },
    ];
    unseen(SECURE_OF_THREE, "south", &planted);
}
