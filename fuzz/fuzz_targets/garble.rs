//! See `privet_mpc::garble::decode`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    privet_mpc::garble::decode(bytes);
});
