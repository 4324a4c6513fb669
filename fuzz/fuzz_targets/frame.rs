//! See `privet_testkit::parties::frame`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| privet_testkit::parties::frame(bytes));
