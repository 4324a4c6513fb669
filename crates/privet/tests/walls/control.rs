//! compiles: the other cases fail for their own reason, not because the library cannot be used at all.

fn main() {
    let random = privet::privacy::sampler::Randomness::seeded(1);
    assert!(random.is_seeded());
}
