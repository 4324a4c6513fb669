//! E0599: a copied stream would repeat noise.

fn main() {
    let random = privet::privacy::sampler::Randomness::seeded(1);
    let _twin = random.clone();
}
