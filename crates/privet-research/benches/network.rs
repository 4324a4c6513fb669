//! Parties over loopback TLS beside the simulator, on the same rows: `cargo bench -p privet-research --bench network [-- vertical|horizontal [TURNS]]`.
//!
//! | case | rows | the simulator | at most |
//! | --- | --- | --- | --- |
//! | vertical | 293,600 rows, 300 columns (the shape of OpBoost's Table 3), 80 trees | as `privet simulate` plays it, records in memory | 1.25 |
//! | horizontal | 10 owners of 10,000 rows, 300 trees | every party writes its record to a database of its own, as on the network | 1.5 |
//!
//! Parties of the network are threads of this process, each with its own connections and its record in a database, written before anything
//! that follows from it is sent. Tables are read before the clock starts. Both sides take turns; the median of the turns' ratios is what counts.

use std::error::Error;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use privet::data::Table;
use privet::party::{Agreement, PartyId, Role, RunName, Seat, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::{Delta, Ledger, Randomness, Relation, Unprotected};
use privet::setting::vertical::{LABEL_HOLDER, Mechanism};
use privet::setting::{horizontal, vertical};
use privet::wire::RunId;
use privet_node::job::{HorizontalJob, Job, Setting};
use privet_node::ledger::{RunRecord, Store};
use privet_node::net::{
    Dial, Drive, HeldRun, Identity, KeyCheck, KeyRefusal, Plan, Report, ReportFiles, Seats, Waits, agree,
};
use privet_research::industrial::{self, IndustrialRows};

type Done<T> = Result<T, Box<dyn Error + Send + Sync>>;

const QUIET: &(dyn Fn(&str, u64, u64) + Sync) = &|_, _, _| {};

fn identity(place: usize) -> Identity {
    Identity::from_seed([place as u8 + 1; 32])
}

fn number(turn: u8) -> RunId {
    RunId([turn; 16])
}

/// A new database for each party.
fn databases(folder: &Path, agreement: &Agreement) -> Done<()> {
    for party in agreement.parties() {
        Store::create(&folder.join(format!("{}.db", party.0)))?;
    }
    Ok(())
}

fn record(folder: &Path, agreement: &Agreement, party: PartyId) -> Result<RunRecord, privet::Error> {
    RunRecord::open(&folder.join(format!("{}.db", party.0)), agreement, party, "")
}

/// What a run over the network took.
struct Took {
    seconds: f64,
    /// Bytes of frames and bytes over connections, as their senders count them.
    frames: u64,
    tls: u64,
}

/// One run over loopback; `make` makes the role of a party, and is called on its thread.
fn networked<R: Role>(
    agreement: &Agreement,
    folder: &Path,
    make: &(dyn Fn(PartyId, RunName) -> Result<R, privet::Error> + Sync),
) -> Done<Took> {
    databases(folder, agreement)?;
    let names: Vec<String> = agreement
        .parties()
        .map(|party| format!("party {}", party.0))
        .collect();
    let keys: Vec<_> = (0..names.len()).map(|place| identity(place).public()).collect();
    let check: Arc<KeyCheck> = Arc::new(move |key| {
        let place = keys.iter().position(|own| own == key);
        place
            .map(|place| PartyId(place as u16))
            .ok_or(KeyRefusal::Stranger)
    });
    let seats = |me: PartyId| Seats {
        names: names.clone(),
        me,
        listens: PartyId(0),
        silence: Duration::from_secs(20),
    };
    let waits = Waits {
        patience: Duration::from_secs(120),
        deadline: Duration::from_secs(3600),
    };
    let reports: Vec<Arc<Report>> = (0..names.len())
        .map(|_| {
            Arc::new(Report::new(
                "bench",
                names.clone(),
                ReportFiles::default(),
                |_| {},
            ))
        })
        .collect();
    // As parties do, with connections for control messages: they say when a party is done.
    let mut terms = agreement.terms().clone();
    terms.parties.iter_mut().for_each(|member| member.identity = None);
    let plan = &Plan {
        text: "bench".into(),
        terms,
        fingerprints: (0..names.len())
            .map(|place| identity(place).public().fingerprint())
            .collect(),
        patience: waits.patience,
        deadline: waits.deadline,
    };
    let start = Instant::now();
    let bind = SocketAddr::from(([127, 0, 0, 1], 0));
    let both = (&identity(0), check.clone());
    let (listener, address) = Drive::listen(bind, both, seats(PartyId(0)), reports[0].clone())?;
    let mut drives = vec![listener];
    for party in agreement.parties().skip(1) {
        let dial = Dial {
            address: address.to_string().parse()?,
            proxy: None,
        };
        let place = usize::from(party.0);
        let both = (&identity(place), check.clone());
        drives.push(Drive::dial(dial, both, seats(party), reports[place].clone())?);
    }
    std::thread::scope(|threads| -> Done<()> {
        let names = &names;
        let play = move |(party, mut drive): (PartyId, Drive)| -> Done<()> {
            let me = usize::from(party.0);
            let held = HeldRun::open(&folder.join(format!("{me}.db")), &plan.text, &names[me])?;
            let agreed = agree(&mut drive, plan, &identity(me), &held)?;
            let agreement = &agreed.agreement;
            let record = Box::new(record(folder, agreement, party)?);
            let seat = Seat::take(agreement.clone(), party, record, QUIET, |run| make(party, run))?;
            Ok(drive.run(seat, &agreed, waits, QUIET)?.outcome.map(drop)?)
        };
        let running: Vec<_> = agreement
            .parties()
            .zip(drives)
            .map(|both| threads.spawn(move || play(both)))
            .collect();
        running
            .into_iter()
            .try_for_each(|one| one.join().map_err(|_| "a party panicked")?)
    })?;
    let seconds = start.elapsed().as_secs_f64();
    let traffic: Vec<_> = reports.iter().flat_map(|report| report.traffic()).collect();
    Ok(Took {
        seconds,
        frames: traffic.iter().map(|peer| peer.frame_bytes_sent).sum(),
        tls: traffic.iter().map(|peer| peer.tls_bytes_sent).sum(),
    })
}

/// One run in the simulator, with records in memory or in databases.
fn simulated<R: Role>(
    agreement: &Agreement,
    folder: Option<&Path>,
    make: &(dyn Fn(PartyId, RunName) -> Result<R, privet::Error> + Sync),
) -> Done<f64> {
    if let Some(folder) = folder {
        databases(folder, agreement)?;
    }
    let start = Instant::now();
    let mut simulation = Simulation::of(agreement.clone(), make);
    if let Some(folder) = folder {
        simulation = simulation.stored(|party| Ok(Box::new(record(folder, agreement, party)?)));
    }
    simulation.run()?.all()?;
    Ok(start.elapsed().as_secs_f64())
}

fn ledger(relation: &Relation, caps: Caps, delta: Delta) -> Result<Ledger, privet::Error> {
    Ledger::volatile(relation.clone(), caps, delta, Randomness::from_os()?)
}

/// The turns of a case, and its line.
fn compare<R: Role>(
    (what, most, turns): (&str, f64, u8),
    is_stored: bool,
    agreement: impl Fn(RunId) -> Result<Agreement, privet::Error>,
    make: &(dyn Fn(PartyId, RunName) -> Result<R, privet::Error> + Sync),
) -> Done<()> {
    let mut ratios = Vec::new();
    for turn in 0..turns {
        let (one, two) = (agreement(number(2 * turn))?, agreement(number(2 * turn + 1))?);
        let folders = [tempfile::tempdir()?, tempfile::tempdir()?];
        let simulate = || simulated(&one, is_stored.then(|| folders[0].path()), make);
        let meet = || networked(&two, folders[1].path(), make);
        let (alone, took) = match turn % 2 {
            0 => (simulate()?, meet()?),
            _ => {
                let took = meet()?;
                (simulate()?, took)
            }
        };
        let ratio = took.seconds / alone;
        println!(
            "{what}, turn {turn}: network {:.2} s, simulator {alone:.2} s, ratio {ratio:.3}; {} bytes of frames, {} over TLS, ratio {:.4}",
            took.seconds,
            took.frames,
            took.tls,
            took.tls as f64 / took.frames as f64
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    println!(
        "{what}: median ratio {:.3}, at most {most}",
        ratios[ratios.len() / 2]
    );
    Ok(())
}

fn vertical(turns: u8, rows: usize) -> Done<()> {
    let vertical = industrial::vertical(Mechanism::ClampedGeometric, 0.64)?;
    let [own, other] = IndustrialRows::made(rows, 3).tables()?;
    let plan = vertical.plan(own.schema(), [other.schema()])?;
    let relation = Relation::Replace {
        rows: std::num::NonZeroU32::MIN,
        unit: None,
    };
    let permission = Unprotected::unrecorded("own", &relation, "generated rows");
    let make = |party: PartyId, run: RunName| match party == LABEL_HOLDER {
        true => vertical::LabelHolder::party(plan.label_holder.clone(), own.clone(), permission.clone()),
        false => {
            let plan = plan.feature_holders[0].clone();
            let ledger = ledger(plan.columns().relation(), Caps::ZERO, Delta::ZERO)?;
            vertical::FeatureHolder::party(plan, other.clone(), ledger, &run)
        }
    };
    let names = || vec!["bank".to_owned(), "shop".to_owned()];
    compare(
        ("vertical", 1.25, turns),
        false,
        |run| vertical.agreement(run, names()),
        &make,
    )
}

/// Ten owners with rows of their own, as files, since a job names files.
fn owners(folder: &Path, rows: usize) -> Done<Job> {
    let columns: String = (0..10)
        .map(|column| format!("x{column} = {{ type = \"number\", min = 0, max = 1000 }}\n"))
        .collect();
    let schema = format!(
        "dataset = \"stays\"\n[columns]\n{columns}y = {{ type = \"label\", values = [\"no\", \"yes\"] }}\n"
    );
    fs::write(folder.join("schema.toml"), schema)?;
    let mut job = String::from(
        "setting = \"horizontal\"\nschema = \"schema.toml\"\noutput = \"model.privet\"\n[privacy]\nepsilon = 2.0\ndelta = 1e-6\n[algorithm]\nname = \"trees\"\ntrees = 300\n",
    );
    let names: Vec<String> = (0..10).map(|column| format!("x{column}")).collect();
    for owner in 0..10_u64 {
        let mut text = format!("{},y\n", names.join(","));
        for row in 0..rows as u64 {
            let cells: Vec<u64> = (0..10)
                .map(|column| scattered(owner, row, column) % 1000)
                .collect();
            let label = if cells[0] + cells[1] > 1000 { "yes" } else { "no" };
            text.extend(cells.iter().map(|cell| format!("{cell},")));
            text += label;
            text.push('\n');
        }
        fs::write(folder.join(format!("{owner}.csv")), text)?;
        job += &format!("[[owner]]\nname = \"owner{owner}\"\ndata = \"{owner}.csv\"\nrows_about = {rows}\n");
    }
    fs::write(folder.join("job.toml"), job)?;
    Ok(Job::read(&folder.join("job.toml"))?)
}

fn scattered(owner: u64, row: u64, column: u64) -> u64 {
    let mut x = (owner << 40 | row << 8 | column).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x ^ (x >> 31)
}

fn horizontal(turns: u8, rows: usize) -> Done<()> {
    let folder = tempfile::tempdir()?;
    let job = owners(folder.path(), rows)?;
    let Setting::Horizontal(job) = &job.setting else {
        return Err("another setting".into());
    };
    let job: &HorizontalJob = job;
    let tables: Vec<Table> = job
        .owners
        .iter()
        .map(|owner| owner.read())
        .collect::<Result<_, _>>()?;
    let plan = &job.plan;
    let make = |party: PartyId, run: RunName| match usize::from(party.0).checked_sub(1) {
        None => Ok(horizontal::Miner::party(&plan.miner())),
        Some(place) => {
            let ledger = ledger(plan.relation(), Caps::from(plan.price()), Delta::new(1e-6)?)?;
            let key = Some(identity(place + 1).key());
            horizontal::Owner::party(
                job.owners[place].plan.clone(),
                tables[place].clone(),
                ledger,
                &run,
                key,
            )
        }
    };
    let keys: Vec<_> = (1..=10).map(|place| Some(identity(place).public())).collect();
    compare(
        ("horizontal", 1.5, turns),
        true,
        |run| plan.agreement(run, "miner", &keys),
        &make,
    )
}

fn main() -> Done<()> {
    let given: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with("--"))
        .collect();
    let turns = given.get(1).map_or(Ok(3), |text| text.parse())?;
    let rows = |usual: usize| given.get(2).map_or(Ok(usual), |text| text.parse());
    match given.first().map(String::as_str) {
        Some("vertical") => vertical(turns, rows(industrial::ROWS)?),
        Some("horizontal") => horizontal(turns, rows(10_000)?),
        _ => {
            vertical(turns, rows(industrial::ROWS)?)?;
            horizontal(turns, rows(10_000)?)
        }
    }
}
