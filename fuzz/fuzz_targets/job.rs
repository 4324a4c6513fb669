//! See `privet_node::job::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_node::job::decode(bytes));
