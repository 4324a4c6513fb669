//! See `privet_testkit::models::model`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_testkit::models::model(bytes));
