//! E0369: a local and a central guarantee have no sum.
use privet::privacy::{Epsilon, Guarantee};

fn main() {
    let epsilon = Epsilon::from_billionths(1);
    let _ = Guarantee::Pure { epsilon } + Guarantee::Local { epsilon };
}
