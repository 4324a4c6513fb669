//! See `privet_mpc::psi::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    privet_mpc::psi::decode(bytes);
});
