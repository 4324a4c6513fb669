//! Across processes the same comes out as in the simulator, where public coins and seeded noise are the same.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use privet::Error;
use privet::data::Table;
use privet::party::{Agreement, MemoryRecord, PartyId, Role, RunName, Seat, Simulation, Terms};
use privet::privacy::{Ledger, Randomness, Relation, Unprotected};
use privet::setting::{horizontal, secure, vertical};
use privet::wire::Wire;
use privet_node::job::{Job, Setting as JobSetting};
use privet_node::ledger::{RunRecord, Store};
use privet_node::net::{
    Dial, Drive, HeldRun, Identity, KeyCheck, KeyRefusal, Plan, Report, ReportFiles, Seats, Waits, agree,
};

use super::{HORIZONTAL, SECURE, SECURE_OF_THREE, Setting, VERTICAL, World};

const FOLDER: &str = "PRIVET_BESIDE_FOLDER";
const PARTY: &str = "PRIVET_BESIDE_PARTY";

/// A ledger with seeded noise: everything that comes of it is void.
fn seeded(
    folder: &Path,
    party: &str,
    place: usize,
    dataset: &str,
    relation: &Relation,
) -> Result<Ledger, Error> {
    let store = Store::open(&folder.join(format!("{party}.db")))?;
    Ledger::open(dataset, relation.clone(), store, Randomness::seeded(place as u64))
}

fn horizontal_role(
    job: &Job,
    folder: &Path,
    party: PartyId,
    run: &RunName,
    keys: &[Identity],
) -> Result<horizontal::Party, Error> {
    let JobSetting::Horizontal(job) = &job.setting else {
        panic!("another setting")
    };
    let place = usize::from(party.0);
    let Some(owner) = place.checked_sub(1).map(|place| &job.owners[place]) else {
        return Ok(horizontal::Miner::party(&job.plan.miner()));
    };
    let ledger = seeded(folder, &owner.name, place, owner.dataset(), job.plan.relation())?;
    horizontal::Owner::party(
        owner.plan.clone(),
        owner.read()?,
        ledger,
        run,
        Some(keys[place].key()),
    )
}

fn vertical_role(job: &Job, folder: &Path, party: PartyId, run: &RunName) -> Result<vertical::Party, Error> {
    let JobSetting::Vertical(job) = &job.setting else {
        panic!("another setting")
    };
    let place = usize::from(party.0);
    let Some(holder) = place.checked_sub(1).map(|place| &job.feature_holders[place]) else {
        let own = &job.label_holder;
        let relation = own.source.schema.relation();
        let permission = Unprotected::unrecorded("bank", &relation, "a test");
        return vertical::LabelHolder::party(own.plan.clone(), own.read(own.plan.reads())?, permission);
    };
    let plan = holder.plan.columns();
    let table: Table = holder.read(plan.reads())?;
    let ledger = seeded(
        folder,
        &holder.name,
        place,
        holder.source.schema.dataset(),
        plan.relation(),
    )?;
    vertical::FeatureHolder::party(holder.plan.clone(), table, ledger, run)
}

fn secure_role(
    job: &Job,
    folder: &Path,
    party: PartyId,
    run: &RunName,
    keys: &[Identity],
) -> Result<secure::Party, Error> {
    let JobSetting::Secure(job) = &job.setting else {
        panic!("another setting")
    };
    let place = usize::from(party.0);
    let own = &job.parties[place];
    let ledger = seeded(folder, &own.name, place, own.dataset(), &own.relation)?;
    let identity = Some(keys[place].key());
    match party == secure::INITIATOR {
        true => secure::Initiator::party(own.plan.clone(), own.read()?, ledger, run, identity),
        false => secure::Responder::party(own.plan.clone(), own.read()?, ledger, run, identity),
    }
}

fn keys(names: &[String]) -> Vec<Identity> {
    let key = |place| Identity::from_seed([place as u8 + 1; 32]);
    (0..names.len()).map(key).collect()
}

/// The terms of a job, as a party brings them.
fn terms(job: &Job, keys: &[Identity]) -> Terms {
    let run = privet::wire::RunId([0; 16]);
    let agreement = match &job.setting {
        JobSetting::Horizontal(job) => {
            let owners: Vec<_> = keys[1..].iter().map(|key| Some(key.public())).collect();
            job.plan.agreement(run, "miner", &owners)
        }
        JobSetting::Vertical(job) => job.vertical.agreement(run, job.names()),
        JobSetting::Secure(job) => {
            let all: Vec<_> = keys.iter().map(|key| Some(key.public())).collect();
            job.plan().agreement(run, &job.names(), &all)
        }
        _ => panic!("another setting"),
    };
    let mut terms = agreement.unwrap().terms().clone();
    terms.parties.iter_mut().for_each(|member| member.identity = None);
    terms
}

/// A party as a process of its own. Without the parent's variables it does nothing.
#[test]
fn child() {
    let (Some(folder), Ok(party)) = (std::env::var_os(FOLDER), std::env::var(PARTY)) else {
        return;
    };
    let folder = Path::new(&folder);
    let job = Job::read(&folder.join("party.toml")).unwrap();
    let names = job.party_names();
    let keys = keys(&names);
    let me = names.iter().position(|name| *name == party).unwrap();
    let network = job.network.clone().unwrap();
    let seats = Seats {
        listens: PartyId(names.iter().position(|name| *name == network.listens).unwrap() as u16),
        me: PartyId(me as u16),
        names,
        silence: Duration::from_secs(10),
    };
    let known: Vec<_> = keys.iter().map(Identity::public).collect();
    let check: Arc<KeyCheck> = Arc::new(move |key| {
        let place = known.iter().position(|own| own == key);
        place
            .map(|place| PartyId(place as u16))
            .ok_or(KeyRefusal::Stranger)
    });
    let plan = Plan {
        text: fs::read_to_string(folder.join("party.toml")).unwrap(),
        terms: terms(&job, &keys),
        fingerprints: keys.iter().map(|key| key.public().fingerprint()).collect(),
        patience: Duration::from_secs(60),
        deadline: Duration::from_secs(100),
    };
    let report = Arc::new(Report::new(
        &party,
        seats.names.clone(),
        ReportFiles::default(),
        |_| {},
    ));
    let both = (&keys[me], check);
    let mut drive = match seats.is_listener() {
        true => {
            let port = fs::read_to_string(folder.join("port")).unwrap();
            let bind = format!("127.0.0.1:{port}").parse().unwrap();
            Drive::listen(bind, both, seats, report).unwrap().0
        }
        false => {
            let dial = Dial {
                address: network.address,
                proxy: None,
            };
            Drive::dial(dial, both, seats, report).unwrap()
        }
    };
    let ledger = folder.join(format!("{party}.db"));
    if !ledger.exists() {
        Store::create(&ledger).unwrap();
    }
    let held = HeldRun::open(&ledger, &plan.text, &party).unwrap();
    let agreed = agree(&mut drive, &plan, &keys[me], &held).unwrap();
    fs::write(
        folder.join(format!("{party}.terms")),
        agreed.agreement.terms().to_bytes(),
    )
    .unwrap();
    let me = PartyId(me as u16);
    let record = RunRecord::open(&ledger, &agreed.agreement, me, "").unwrap();
    let agreement = agreed.agreement.clone();
    let waits = Waits {
        patience: Duration::from_secs(60),
        deadline: Duration::from_secs(100),
    };
    let quiet = &|_: &str, _: u64, _: u64| {};
    let ensemble = match &job.setting {
        JobSetting::Horizontal(_) => {
            let seat = Seat::take(agreement, me, Box::new(record), quiet, |run| {
                horizontal_role(&job, folder, me, &run, &keys)
            });
            let driven = drive.run(seat.unwrap(), &agreed, waits, quiet).unwrap();
            driven.outcome.unwrap().into_model().map(|model| ensemble(&model))
        }
        JobSetting::Vertical(_) => {
            let seat = Seat::take(agreement, me, Box::new(record), quiet, |run| {
                vertical_role(&job, folder, me, &run)
            });
            let driven = drive.run(seat.unwrap(), &agreed, waits, quiet).unwrap();
            driven.outcome.unwrap().into_model().map(|model| ensemble(&model))
        }
        _ => {
            let seat = Seat::take(agreement, me, Box::new(record), quiet, |run| {
                secure_role(&job, folder, me, &run, &keys)
            });
            let driven = drive.run(seat.unwrap(), &agreed, waits, quiet).unwrap();
            Some(ensemble(&driven.outcome.unwrap().model))
        }
    };
    if let Some(ensemble) = ensemble {
        fs::write(folder.join(format!("{party}.ensemble")), ensemble).unwrap();
    }
}

fn ensemble(model: &privet::model::Model) -> String {
    serde_json::to_string(model.ensemble()).unwrap()
}

/// The first model of a simulation of these terms, on ledgers of its own.
fn simulated<R: Role>(
    agreement: &Agreement,
    make: impl FnMut(PartyId, RunName) -> Result<R, Error>,
    model: impl Fn(R::Output) -> Option<String>,
) -> String {
    let records = agreement.parties().map(|_| MemoryRecord::default()).collect();
    let ended = Simulation::of(agreement.clone(), make)
        .with_records(records)
        .run()
        .unwrap();
    let mut outcomes = ended.outcomes.into_iter().map(Result::unwrap);
    outcomes.find_map(model).unwrap()
}

fn beside(setting: Setting, listens: &str) {
    let world = World::new(setting, listens, 60, None);
    fs::write(world.path("port"), world.port.to_string()).unwrap();
    let twin = tempfile::tempdir().unwrap();
    for file in super::files(world.folder.path()) {
        if file.parent() == Some(world.folder.path()) {
            fs::copy(&file, twin.path().join(file.file_name().unwrap())).unwrap();
        }
    }
    let children: Vec<_> = world
        .setting
        .parties
        .iter()
        .map(|party| {
            Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "network::beside::child", "--nocapture"])
                .env(FOLDER, world.folder.path())
                .env(PARTY, party)
                .stdout(Stdio::null())
                .spawn()
                .unwrap()
        })
        .collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let first = world.setting.parties[0];
    let terms = Terms::from_bytes(&fs::read(world.path(&format!("{first}.terms"))).unwrap()).unwrap();
    let agreement = Agreement::of(terms).unwrap();
    let job = Job::read(&twin.path().join("party.toml")).unwrap();
    let keys = keys(&job.party_names());
    let folder = twin.path();
    let expected = match &job.setting {
        JobSetting::Horizontal(_) => simulated(
            &agreement,
            |party, run| horizontal_role(&job, folder, party, &run, &keys),
            |outcome| outcome.into_model().map(|model| ensemble(&model)),
        ),
        JobSetting::Vertical(_) => simulated(
            &agreement,
            |party, run| vertical_role(&job, folder, party, &run),
            |outcome| outcome.into_model().map(|model| ensemble(&model)),
        ),
        _ => simulated(
            &agreement,
            |party, run| secure_role(&job, folder, party, &run, &keys),
            |outcome| Some(ensemble(&outcome.model)),
        ),
    };
    let mut models = 0;
    for party in world.setting.parties {
        if let Ok(found) = fs::read_to_string(world.path(&format!("{party}.ensemble"))) {
            assert_eq!(found, expected, "{party}");
            models += 1;
        }
    }
    assert!(models > 0);
}

#[test]
fn horizontal_is_the_same_as_simulated() {
    beside(HORIZONTAL, "miner");
}

#[test]
fn vertical_is_the_same_as_simulated() {
    beside(VERTICAL, "shop");
}

#[test]
fn secure_is_the_same_as_simulated() {
    beside(SECURE, "south");
}

#[test]
fn secure_of_three_is_the_same_as_simulated() {
    beside(SECURE_OF_THREE, "west");
}
