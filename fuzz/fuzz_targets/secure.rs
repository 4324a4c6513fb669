//! See `privet_testkit::secure::secure`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    privet_testkit::secure::secure(bytes);
});
