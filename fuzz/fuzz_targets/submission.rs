//! See `privet_testkit::submissions::submission`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_testkit::submissions::submission(bytes));
