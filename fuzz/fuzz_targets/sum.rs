//! See `privet_mpc::sum::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    privet_mpc::sum::decode(bytes);
});
