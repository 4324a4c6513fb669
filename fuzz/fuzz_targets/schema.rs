//! See `privet_testkit::decoders::schema`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_testkit::decoders::schema(bytes));
