//! Functions of a WebAssembly module.
//!
//! The host allocates with [`privet_allocate`], writes a campaign's text and a vector there, and calls [`privet_answer`]. It provides three functions in
//! the module `privet`: `random(pointer, length)` fills memory with bytes of its operating system, `load(pointer)` gives how many bytes are stored and copies
//! them to the pointer unless that is zero, `store(pointer, length)` stores bytes whole and durably and gives zero if it did.

use privet::privacy::Epsilon;

use crate::{Storage, answer, rehearse};

#[link(wasm_import_module = "privet")]
unsafe extern "C" {
    fn random(pointer: *mut u8, length: usize);
    fn load(pointer: *mut u8) -> usize;
    fn store(pointer: *const u8, length: usize) -> u32;
}

/// The operating system's generator, for the `getrandom` crate.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(
    pointer: *mut u8,
    length: usize,
) -> Result<(), getrandom::Error> {
    // SAFETY: the caller gives memory of this length, and the host fills it.
    unsafe { random(pointer, length) };
    Ok(())
}

/// The host's storage.
struct Host;

impl Storage for Host {
    fn load(&mut self) -> Result<Vec<u8>, String> {
        // SAFETY: a null pointer asks for the length only.
        let length = unsafe { load(std::ptr::null_mut()) };
        let mut bytes = vec![0; length];
        if length > 0 {
            // SAFETY: there is room for as much as the host has just said.
            let copied = unsafe { load(bytes.as_mut_ptr()) };
            if copied != length {
                return Err("what is stored changed while it was read".into());
            }
        }
        Ok(bytes)
    }

    fn store(&mut self, bytes: &[u8]) -> Result<(), String> {
        // SAFETY: the bytes are there until the host returns.
        match unsafe { store(bytes.as_ptr(), bytes.len()) } {
            0 => Ok(()),
            code => Err(format!("code {code}")),
        }
    }
}

/// Memory for the host to write to; it is given back by the call that reads it.
#[unsafe(no_mangle)]
extern "C" fn privet_allocate(length: usize) -> *mut u8 {
    Box::leak(vec![0u8; length].into_boxed_slice()).as_mut_ptr()
}

/// Takes back memory of [`privet_allocate`].
unsafe fn taken(pointer: *mut u8, length: usize) -> Vec<u8> {
    // SAFETY: the caller says that it came from `privet_allocate` with this length.
    unsafe { Vec::from_raw_parts(pointer, length, length) }
}

unsafe fn arguments(text: *mut u8, length: usize, vector: *mut u8, coordinates: usize) -> (String, Vec<f64>) {
    // SAFETY: as the caller says.
    let (text, vector) = unsafe { (taken(text, length), taken(vector, 8 * coordinates)) };
    let text = String::from_utf8_lossy(&text).into_owned();
    let (vector, _) = vector.as_chunks::<8>();
    (
        text,
        vector.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
    )
}

/// Where the result is: its first byte is 0 before a submission, 1 before an error's text; four bytes of length come before it.
fn given(result: Result<Vec<u8>, privet::Error>) -> *const u8 {
    let (kind, bytes) = match result {
        Ok(bytes) => (0, bytes),
        Err(e) => (1, e.to_string().into_bytes()),
    };
    let length = bytes.len() as u32 + 1;
    let all = [&length.to_le_bytes()[..], &[kind], &bytes].concat();
    Box::leak(all.into_boxed_slice()).as_ptr()
}

/// The owner's one message to a campaign: [`answer`](crate::answer). The cap is in billionths.
///
/// # Safety
/// Both pointers come from [`privet_allocate`], with the length of the text and eight bytes for each coordinate.
#[unsafe(no_mangle)]
unsafe extern "C" fn privet_answer(
    text: *mut u8,
    length: usize,
    vector: *mut u8,
    coordinates: usize,
    cap: u64,
) -> *const u8 {
    // SAFETY: as said above.
    let (text, vector) = unsafe { arguments(text, length, vector, coordinates) };
    given(answer(&text, vector, Epsilon::from_billionths(cap), Host))
}

/// A message whose draws follow from a seed: [`rehearse`](crate::rehearse).
///
/// # Safety
/// As [`privet_answer`].
#[unsafe(no_mangle)]
unsafe extern "C" fn privet_rehearse(
    text: *mut u8,
    length: usize,
    vector: *mut u8,
    coordinates: usize,
    seed: u64,
) -> *const u8 {
    // SAFETY: as said above.
    let (text, vector) = unsafe { arguments(text, length, vector, coordinates) };
    given(rehearse(&text, vector, seed))
}
