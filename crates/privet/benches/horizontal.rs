//! Joint trees of many owners beside the trees of one curator on the pooled rows: CPU time as a ratio, and bytes.
//!
//! `cargo bench -p privet --bench horizontal`: 100 owners of 10,000 rows each and 300 trees, then 1,000 owners and 10 trees. With `-- few` or `-- many`
//! only one of them. `PRIVET_ROWS` is another number of rows for each of the 100 owners.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use privet::data::schema::{category, label, number};
use privet::data::{Frame, Intake, Schema, Table};
use privet::learner::SILENT;
use privet::party::{PartyId, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::signature::SigningKey;
use privet::privacy::{AddRemove, Coins, Ledger, Neighbours, Randomness};
use privet::setting::central::{Algorithm, Budget};
use privet::setting::horizontal::{Horizontal, MINER, Miner, Owner, OwnerFacts, Plan, Spending, Trees};
use privet::wire::RunId;

const FEATURES: usize = 14;

fn schema() -> Arc<Schema> {
    let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let builder = Schema::builder("rows").columns(names.map(|name| number(name, 0.0..=1.0)));
    let builder = builder.columns(["m", "n"].map(|name| category(name, ["red", "green", "blue", "black"])));
    Arc::new(
        builder
            .columns([label("y", ["no", "yes"])])
            .build()
            .expect("a schema"),
    )
}

fn table(intake: &Intake, rows: usize, seed: u64) -> Table {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut coins = Coins::from_seed(key);
    let numbers: Vec<Vec<f64>> = (0..12)
        .map(|_| (0..rows).map(|_| coins.unit()).collect())
        .collect();
    let colours: Vec<Vec<&str>> = (0..2)
        .map(|_| {
            (0..rows)
                .map(|_| ["red", "green", "blue", "black"][coins.below(4) as usize])
                .collect()
        })
        .collect();
    let says = |row: usize, chance: f64| numbers[0][row] + numbers[1][row] * numbers[2][row] + chance > 1.3;
    let labels: Vec<&str> = (0..rows)
        .map(|row| if says(row, coins.unit()) { "yes" } else { "no" })
        .collect();
    let mut frame = Frame::new();
    for (name, cells) in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
        .into_iter()
        .zip(&numbers)
    {
        frame = frame.column(name, cells.as_slice());
    }
    for (name, cells) in ["m", "n"].into_iter().zip(&colours) {
        frame = frame.column(name, cells.as_slice());
    }
    frame = frame.column("y", labels.as_slice());
    Table::read(intake, &frame).expect("rows")
}

fn trees(count: u32) -> Trees {
    Trees::builder()
        .trees(count)
        .leaves(12)
        // Owners look for none: the curator has the same work to do.
        .spikes(false)
        .build()
        .expect("parameters")
}

/// CPU time of this process so far.
fn cpu() -> Duration {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after = text.rsplit(") ").next().unwrap_or_default();
    let ticks: u64 = after
        .split(' ')
        .skip(11)
        .take(2)
        .filter_map(|field| field.parse::<u64>().ok())
        .sum();
    Duration::from_millis(10 * ticks)
}

fn identity(place: usize) -> SigningKey {
    let mut bytes = [1; 32];
    bytes[..8].copy_from_slice(&(place as u64).to_le_bytes());
    SigningKey::from_bytes(&bytes)
}

fn ledger(plan: &Plan) -> Ledger<AddRemove> {
    let random = Randomness::from_os().expect("randomness");
    Ledger::volatile(AddRemove::row(), Caps::from(plan.price()), plan.delta(), random).expect("a ledger")
}

fn spending() -> Spending {
    Spending {
        epsilon: "1".parse().expect("an ε"),
        delta: "1e-8".parse().expect("a δ"),
    }
}

fn joint(owners: usize, rows: usize, count: u32, absent: u32) {
    let schema = schema();
    let facts = |place| OwnerFacts {
        name: format!("owner {place}"),
        rows_about: rows as u64,
    };
    let facts: Vec<OwnerFacts> = (0..owners).map(facts).collect();
    let horizontal = Horizontal::builder().absent(absent).colluding(absent.max(1));
    let horizontal = horizontal.trees(trees(count)).build().expect("parameters");
    let relation = AddRemove::row().relation();
    let plan = horizontal
        .plan(&schema, &relation, spending(), &facts)
        .expect("a plan");
    let identities: Vec<_> = (0..owners).map(|place| Some(identity(place).public())).collect();
    let agreement = plan
        .agreement(RunId([1; 16]), "miner", &identities)
        .expect("an agreement");
    let reads = plan.owner(0).expect("an owner").reads();
    let tables: Vec<Table> = (0..owners)
        .map(|place| table(&reads, rows, place as u64))
        .collect();
    let (began, from) = (Instant::now(), cpu());
    // When each sum was opened.
    let opened = Mutex::new(Vec::new());
    let progress = |what: &str, _: u64, _: u64| {
        if what == "joint sums" {
            opened.lock().expect("no panic").push(cpu());
        }
    };
    let simulation = Simulation::of(agreement, |party, run| {
        if party == MINER {
            return Ok(Miner::party(&plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let identity = Some(identity(place));
        Owner::party(
            plan.owner(place)?,
            tables[place].clone(),
            ledger(&plan),
            &run,
            identity,
        )
    });
    let ended = simulation.progress(&progress).run().expect("a run");
    let joint = cpu() - from;
    println!(
        "{owners} owners of {rows} rows, {count} trees: {:.2} CPU s, {:.1} s",
        joint.as_secs_f64(),
        began.elapsed().as_secs_f64()
    );
    let opened = opened.into_inner().expect("no panic");
    if let [first, .., last] = opened[..] {
        println!(
            "of these {:.2} CPU s until the first sum was opened, with key agreement, and {:.1} ms for each further one",
            (first - from).as_secs_f64(),
            1e3 * (last - first).as_secs_f64() / (opened.len() - 1) as f64
        );
    }
    let one = PartyId(1);
    let bytes = ended.bytes(one, MINER) + ended.bytes(MINER, one);
    let each = bytes as f64 / f64::from(count);
    println!(
        "bytes of one owner, both ways: {bytes}, {each:.0} a tree, {:.1} a tree and other owner, with set-up and frames",
        each / (owners - 1) as f64
    );
    ended.all().expect("all end well");
    let budget = Budget::with_delta(spending().epsilon, spending().delta, (owners * rows) as u64);
    let central = trees(count)
        .plan(&schema, &relation, budget.expect("a budget"))
        .expect("a plan");
    let pooled = table(&central.reads(), owners * rows, 0);
    let from = cpu();
    central.fit(pooled, ledger(&plan), SILENT).expect("a model");
    let alone = cpu() - from;
    println!(
        "one curator: {:.2} CPU s; the owners together take {:.2} times as long",
        alone.as_secs_f64(),
        joint.as_secs_f64() / alone.as_secs_f64().max(1e-3)
    );
}

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let wants = |name: &str| asked.is_empty() || asked.iter().any(|arg| arg == name);
    println!("{FEATURES} features");
    if wants("few") {
        let rows = std::env::var("PRIVET_ROWS").ok();
        let rows = rows.and_then(|rows| rows.parse().ok()).unwrap_or(10_000);
        joint(100, rows, 300, 10);
    }
    if wants("many") {
        joint(1_000, 100, 10, 50);
    }
}
