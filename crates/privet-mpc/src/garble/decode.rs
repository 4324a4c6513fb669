//! Decodes a peer's bytes, which may be invalid. The body of the fuzz target `garble`.

/// Later.
pub fn decode(_: &[u8]) -> bool {
    false
}
