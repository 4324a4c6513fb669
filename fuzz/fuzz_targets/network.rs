//! See `privet_node::net::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_research::decoders::network(bytes));
