//! See `privet_testkit::owners::horizontal`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_testkit::owners::horizontal(bytes));
