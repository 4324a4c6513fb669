//! Owners of joint sums with ledgers and records in files: what they drew for a tree is in no file after that tree.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use memchr::memmem;
use privet::Error;
use privet::data::schema::{label, number};
use privet::data::{Frame, Intake, Keep, Schema, Table};
use privet::party::{Item, PartyId, Record, Simulation};
use privet::privacy::account::Caps;
use privet::privacy::journal::Event;
use privet::privacy::signature::SigningKey;
use privet::privacy::{AddRemove, Ledger, Neighbours, Randomness, ledger};
use privet::setting::horizontal::{Horizontal, MINER, Miner, Owner, OwnerFacts, Plan, Spending, Trees};
use privet::wire::RunId;

use super::{PLACE, bytes_of};
use crate::ledger::record::RunRecord;
use crate::ledger::{Shared, Store};

const OWNERS: usize = 4;
const TREES: u32 = 2;

/// What an owner has drawn for trees.
#[derive(Default)]
struct Secrets {
    /// Numbers with their shares of noise, and seeds.
    plain: Vec<Vec<u8>>,
    /// The same as they stood in the ledger.
    sealed: Vec<Vec<u8>>,
    /// How many of them were in a file after a checkpoint.
    found: usize,
}

/// A record that looks for them.
struct Watched {
    record: RunRecord,
    folder: PathBuf,
    secrets: Arc<Mutex<Secrets>>,
    /// Checkpoints are added to earlier items, and drop nothing.
    sloppy: bool,
}

impl Record for Watched {
    fn read(&mut self, place: u64) -> Result<Option<Item>, Error> {
        self.record.read(place)
    }

    fn append(&mut self, items: Vec<Item>) -> Result<(), Error> {
        let mut secrets = self.secrets.lock().expect("no panic");
        let mut places = Vec::new();
        for (place, item) in (self.record.end..).zip(&items) {
            if let Item::Once { what, value } = item
                && (what.starts_with("share ") || what.starts_with("seeds "))
            {
                // After their number.
                secrets.plain.push(value[8..].to_vec());
                places.push(place);
            }
        }
        self.record.append(items)?;
        let mut sealed: Vec<Vec<u8>> = Vec::new();
        for place in places {
            let select = "SELECT item FROM records WHERE run = ?1 AND place = ?2";
            let row = (&self.record.run, place as i64);
            let item = self
                .record
                .connection
                .query_row(select, row, |row| row.get(0))
                .expect("it was written");
            sealed.push(item);
        }
        let there = count(&bytes_of(&self.folder), &sealed);
        assert_eq!(there, sealed.len(), "what was written is found");
        secrets.sealed.extend(sealed);
        Ok(())
    }

    fn replace(&mut self, checkpoint: Item) -> Result<(), Error> {
        match self.sloppy {
            true => self.record.append(vec![checkpoint])?,
            false => self.record.replace(checkpoint)?,
        }
        let mut secrets = self.secrets.lock().expect("no panic");
        secrets.found += found(&self.folder, &secrets);
        Ok(())
    }
}

/// How many secrets are in the files of a folder: as they stood in the ledger, by their first or last bytes; themselves, as a whole.
fn found(folder: &Path, secrets: &Secrets) -> usize {
    let bytes = bytes_of(folder);
    let plain = secrets.plain.iter();
    count(&bytes, &secrets.sealed)
        + plain
            .filter(|secret| memmem::find(&bytes, secret).is_some())
            .count()
}

/// Of how many of these the first or the last bytes are there.
fn count(bytes: &[u8], sealed: &[Vec<u8>]) -> usize {
    let is_there = |item: &&Vec<u8>| {
        let ends = [&item[..PLACE], &item[item.len() - PLACE..]];
        ends.iter().any(|end| memmem::find(bytes, end).is_some())
    };
    sealed.iter().filter(is_there).count()
}

fn plan() -> Plan {
    let columns = [number("x", 0.0..=1.0)];
    let schema = Schema::builder("rows").columns(columns);
    let schema = schema
        .columns([label("y", ["no", "yes"])])
        .build()
        .expect("a schema");
    let trees = Trees::builder().trees(TREES).leaves(4).calibrate(false);
    let horizontal = Horizontal::builder().absent(1).colluding(1);
    let horizontal = horizontal.trees(trees.build().expect("parameters"));
    let owner = |place| OwnerFacts {
        name: format!("owner {place}"),
        rows_about: 4,
    };
    let owners: Vec<OwnerFacts> = (0..OWNERS).map(owner).collect();
    let spending = Spending {
        epsilon: "1".parse().expect("an ε"),
        delta: "1e-6".parse().expect("a δ"),
    };
    let horizontal = horizontal.build().expect("parameters");
    let plan = horizontal.plan(&schema, &AddRemove::row().relation(), spending, &owners);
    plan.expect("a plan")
}

/// Runs all parties in a folder, each with a ledger and a record of its own; what each owner drew.
fn run(folder: &Path, sloppy: bool) -> Vec<Arc<Mutex<Secrets>>> {
    let plan = plan();
    let identity = |place: usize| SigningKey::from_bytes(&[place as u8 + 1; 32]);
    let identities: Vec<_> = (0..OWNERS).map(|place| Some(identity(place).public())).collect();
    let agreement = plan.agreement(RunId([2; 16]), "miner", &identities);
    let agreement = agreement.expect("an agreement");
    let path = |party: PartyId| folder.join(format!("{}.ledger", party.0));
    for party in agreement.parties() {
        let mut store = Store::create(&path(party)).expect("a ledger");
        let limit = Event::Limit {
            dataset: "rows".into(),
            relation: plan.relation().clone(),
            caps: Caps::from(plan.price()),
            delta: plan.delta(),
        };
        ledger::append(&mut store, limit).expect("a limit");
    }
    let secrets: Vec<Arc<Mutex<Secrets>>> = agreement.parties().map(|_| Arc::default()).collect();
    let simulation = Simulation::of(agreement.clone(), |party, run| {
        if party == MINER {
            return Ok(Miner::party(&plan.miner()));
        }
        let place = usize::from(party.0) - 1;
        let intake = Intake::everything(Arc::clone(plan.schema()), Keep::Bins);
        let frame = Frame::new().column("x", [0.1, 0.4, 0.6, 0.9].as_slice());
        let frame = frame.column("y", ["no", "yes", "no", "yes"].as_slice());
        let table = Table::read(&intake, &frame)?;
        let store = Shared::new(Store::open(&path(party))?);
        let ledger = Ledger::open("rows", AddRemove::row(), store, Randomness::from_os()?)?;
        Owner::party(plan.owner(place)?, table, ledger, &run, Some(identity(place)))
    });
    let ended = simulation
        .stored(|party| {
            Ok(Box::new(Watched {
                record: RunRecord::open(&path(party), &agreement, party, "a table")?,
                folder: folder.into(),
                secrets: Arc::clone(&secrets[usize::from(party.0)]),
                sloppy,
            }))
        })
        .run();
    ended.expect("a run").all().expect("all end well");
    secrets.into_iter().skip(1).collect()
}

#[test]
fn what_owners_drew_for_a_tree_is_in_no_file_after_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for secrets in run(folder.path(), false) {
        let secrets = secrets.lock().expect("no panic");
        let draws = 2 * TREES as usize;
        assert_eq!((secrets.plain.len(), secrets.sealed.len()), (draws, draws));
        assert_eq!(secrets.found, 0);
        // One that is planted is found.
        let planted = folder.path().join("planted");
        fs::write(&planted, &secrets.plain[0]).expect("written");
        assert_eq!(found(folder.path(), &secrets), 1);
        fs::remove_file(planted).expect("removed");
    }
}

/// A record whose checkpoints drop nothing is noticed.
#[test]
fn secrets_that_stay_in_a_record_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    for secrets in run(folder.path(), true) {
        assert!(secrets.lock().expect("no panic").found > 0);
    }
}
