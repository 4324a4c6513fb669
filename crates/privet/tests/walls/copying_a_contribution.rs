//! E0277: what an owner brings to a joint sum enters it once.
use privet::privacy::Contribution;

fn copy(contribution: &Contribution) -> Contribution {
    Contribution::clone(contribution)
}

fn main() {
    let _ = copy;
}
