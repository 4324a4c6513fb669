//! See `privet_node::table::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_node::table::decode(bytes));
