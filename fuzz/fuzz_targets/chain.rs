//! See `privet_testkit::decoders::chain`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_testkit::decoders::chain(bytes));
