//! See `privet_testkit::parties::record`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_testkit::parties::record(bytes));
