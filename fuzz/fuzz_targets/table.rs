//! See `privet_research::decoders::table`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_research::decoders::table(bytes));
