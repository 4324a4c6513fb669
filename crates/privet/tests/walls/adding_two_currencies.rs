//! E0308: ε and ρ are not the same money.
use privet::privacy::Epsilon;
use privet::privacy::account::Rho;

fn main() {
    let _ = Epsilon::from_billionths(1).checked_add(Rho::from_units(1));
}
