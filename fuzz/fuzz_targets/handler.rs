//! See `crates/privet-cli/tests/all/handler.rs`.
#![no_main]

#[path = "../../crates/privet-cli/tests/all/handler.rs"]
mod handler;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| handler::handler(bytes));
