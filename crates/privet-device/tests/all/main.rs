//! The device's side, as its host sees it: natively, and as a WebAssembly module.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use privet::privacy::Epsilon;
use privet::setting::local::Campaign;
use privet_device::{Storage, answer, rehearse};
use privet_testkit::skipped;

const CAMPAIGNS: [&str; 4] = [
    "version = 1\nname = \"a\"\nepsilon = 1.0\nmessage = \"vector\"\ndimension = 50\nradius = 2.0\n",
    "version = 1\nname = \"b\"\nepsilon = 5.0\nmessage = \"coordinates\"\ndimension = 50\nradius = 2.0\n",
    "version = 1\nname = \"c\"\nepsilon = 1.0\nmessage = \"signs\"\ndimension = 11\nradius = 2.0\n",
    "version = 1\nname = \"d\"\nepsilon = 1.0\nmessage = \"category\"\ncategories = 12\n",
];

fn vector() -> Vec<f64> {
    (0..50).map(|i| f64::from(i % 7) / 10.0 - 0.2).collect()
}

#[derive(Clone, Default)]
struct Memory {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Writes that still succeed.
    left: Arc<Mutex<Option<usize>>>,
}

impl Storage for Memory {
    fn load(&mut self) -> Result<Vec<u8>, String> {
        Ok(self.bytes.lock().unwrap().clone())
    }

    fn store(&mut self, bytes: &[u8]) -> Result<(), String> {
        let mut left = self.left.lock().unwrap();
        match left.as_mut() {
            Some(0) => return Err("no room".into()),
            Some(more) => *more -= 1,
            None => {}
        }
        *self.bytes.lock().unwrap() = bytes.to_vec();
        Ok(())
    }
}

fn cap(billionths: u64) -> Epsilon {
    Epsilon::from_billionths(billionths)
}

#[test]
fn a_device_answers_once_also_after_a_restart() {
    for text in CAMPAIGNS {
        let memory = Memory::default();
        let first = answer(text, vector(), cap(6_000_000_000), memory.clone()).unwrap();
        let campaign = Campaign::read("campaign.toml", text).unwrap();
        campaign.read_submission(&first).unwrap();
        // Another vector and another cap change nothing.
        let again = answer(text, vec![2.0; 50], cap(1), memory.clone()).unwrap();
        assert_eq!(again, first);
        let other = answer(
            &format!("{text}# another\n"),
            vector(),
            cap(6_000_000_000),
            memory,
        );
        match campaign.epsilon() > cap(3_000_000_000) {
            true => assert!(other.is_err(), "the cap is used up"),
            false => assert_ne!(other.unwrap()[10..26], first[10..26], "another token"),
        }
    }
}

/// A host that fails at any of its writes: nothing is given, and what is given later is one message.
#[test]
fn nothing_is_given_that_was_not_stored() {
    let text = CAMPAIGNS[0];
    let mut writes = 0;
    loop {
        let memory = Memory::default();
        *memory.left.lock().unwrap() = Some(writes);
        let first = answer(text, vector(), cap(1_000_000_000), memory.clone());
        *memory.left.lock().unwrap() = None;
        let second = answer(text, vector(), cap(1_000_000_000), memory.clone()).unwrap();
        let third = answer(text, vector(), cap(1_000_000_000), memory).unwrap();
        assert_eq!(second, third);
        if let Ok(first) = first {
            assert_eq!(first, second);
            break;
        }
        writes += 1;
    }
    // The chain's beginning, the limit, the payment, the message.
    assert_eq!(writes, 4);
}

#[test]
fn damaged_storage_is_an_error() {
    let memory = Memory::default();
    answer(CAMPAIGNS[0], vector(), cap(1_000_000_000), memory.clone()).unwrap();
    let whole = memory.bytes.lock().unwrap().clone();
    for place in (0..whole.len())
        .filter(|place| !(15..47).contains(place))
        .step_by(7)
    {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x55;
        *memory.bytes.lock().unwrap() = damaged;
        let answered = answer(CAMPAIGNS[0], vector(), cap(1_000_000_000), memory.clone());
        assert!(answered.is_err(), "byte {place}");
    }
}

/// The module, if it was built: see `.ci/run`.
fn module() -> Option<Vec<u8>> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target")),
        PathBuf::from,
    );
    let file = target.join("wasm32-unknown-unknown/release/privet_device.wasm");
    let found = std::fs::read(file).ok();
    skipped::runs(
        "the device as a WebAssembly module (.ci/run builds it)",
        found.is_some(),
    );
    found
}

struct HostState {
    stored: Vec<u8>,
    drawn: u64,
}

type Caller<'a> = wasmi::Caller<'a, HostState>;

fn memory(caller: &Caller<'_>) -> wasmi::Memory {
    caller
        .get_export("memory")
        .and_then(wasmi::Extern::into_memory)
        .unwrap()
}

struct Module {
    store: wasmi::Store<HostState>,
    instance: wasmi::Instance,
}

impl Module {
    fn new(bytes: &[u8], stored: Vec<u8>) -> Self {
        let engine = wasmi::Engine::default();
        let module = wasmi::Module::new(&engine, bytes).unwrap();
        let mut store = wasmi::Store::new(&engine, HostState { stored, drawn: 0 });
        let mut linker = wasmi::Linker::new(&engine);
        let random = |mut caller: Caller<'_>, pointer: u32, length: u32| {
            caller.data_mut().drawn += 1;
            let mut bytes = vec![0; length as usize];
            // Any bytes will do for a test.
            for (i, byte) in bytes.iter_mut().enumerate() {
                *byte = (caller.data().drawn as usize * 131 + i * 29) as u8;
            }
            memory(&caller)
                .write(&mut caller, pointer as usize, &bytes)
                .unwrap();
        };
        let load = |mut caller: Caller<'_>, pointer: u32| -> u32 {
            let stored = caller.data().stored.clone();
            if pointer != 0 {
                memory(&caller)
                    .write(&mut caller, pointer as usize, &stored)
                    .unwrap();
            }
            stored.len() as u32
        };
        let save = |mut caller: Caller<'_>, pointer: u32, length: u32| -> u32 {
            let mut bytes = vec![0; length as usize];
            memory(&caller)
                .read(&caller, pointer as usize, &mut bytes)
                .unwrap();
            caller.data_mut().stored = bytes;
            0
        };
        linker.func_wrap("privet", "random", random).unwrap();
        linker.func_wrap("privet", "load", load).unwrap();
        linker.func_wrap("privet", "store", save).unwrap();
        let instance = linker.instantiate_and_start(&mut store, &module).unwrap();
        Self { store, instance }
    }

    fn put(&mut self, bytes: &[u8]) -> u32 {
        let allocate = self
            .instance
            .get_typed_func::<u32, u32>(&self.store, "privet_allocate")
            .unwrap();
        let pointer = allocate.call(&mut self.store, bytes.len() as u32).unwrap();
        let memory = self.instance.get_memory(&self.store, "memory").unwrap();
        memory.write(&mut self.store, pointer as usize, bytes).unwrap();
        pointer
    }

    fn call(&mut self, function: &str, text: &str, vector: &[f64], number: u64) -> Result<Vec<u8>, String> {
        let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
        let (at_text, at_vector) = (self.put(text.as_bytes()), self.put(&bytes));
        let function = self
            .instance
            .get_typed_func::<(u32, u32, u32, u32, u64), u32>(&self.store, function)
            .unwrap();
        let arguments = (at_text, text.len() as u32, at_vector, vector.len() as u32, number);
        let at = function.call(&mut self.store, arguments).unwrap() as usize;
        let memory = self.instance.get_memory(&self.store, "memory").unwrap();
        let mut length = [0; 4];
        memory.read(&self.store, at, &mut length).unwrap();
        let mut result = vec![0; u32::from_le_bytes(length) as usize];
        memory.read(&self.store, at + 4, &mut result).unwrap();
        match result.split_first() {
            Some((0, submission)) => Ok(submission.to_vec()),
            Some((_, why)) => Err(String::from_utf8_lossy(why).into_owned()),
            None => Err("nothing".into()),
        }
    }
}

#[test]
fn a_module_draws_the_same_bytes_and_answers_once() {
    let Some(bytes) = module() else {
        return;
    };
    println!("the module has {} bytes", bytes.len());
    let mut module = Module::new(&bytes, Vec::new());
    for text in CAMPAIGNS {
        for seed in [1, 2, 3] {
            let there = module.call("privet_rehearse", text, &vector(), seed).unwrap();
            assert_eq!(there, rehearse(text, vector(), seed).unwrap());
        }
    }
    let first = module
        .call("privet_answer", CAMPAIGNS[0], &vector(), 1_000_000_000)
        .unwrap();
    let campaign = Campaign::read("campaign.toml", CAMPAIGNS[0]).unwrap();
    campaign.read_submission(&first).unwrap();
    // A new instance has only what the host stored.
    let stored = module.store.data().stored.clone();
    let mut restarted = Module::new(&bytes, stored);
    assert_eq!(
        restarted.call("privet_answer", CAMPAIGNS[0], &[0.5], 1).unwrap(),
        first
    );
    let other = restarted.call("privet_answer", CAMPAIGNS[1], &vector(), 9_000_000_000);
    assert!(other.is_err(), "the cap is used up");
}
