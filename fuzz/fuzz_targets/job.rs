//! See `privet_research::decoders::job`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_research::decoders::job(bytes));
