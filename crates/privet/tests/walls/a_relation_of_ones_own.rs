//! E0277: neighbour relations are those of the proofs.
use privet::privacy::{AddRemove, Neighbours, Relation};

#[derive(Debug, Clone)]
struct Anything;

impl Neighbours for Anything {
    fn relation(&self) -> Relation {
        AddRemove::row().relation()
    }

    fn within(&self) -> AddRemove {
        AddRemove::row()
    }

    fn steps(&self) -> u64 {
        0
    }
}

fn main() {}
