//! E0277: what an owner brings to a joint sum cannot be printed.
use privet::privacy::Contribution;

fn print(contribution: &Contribution) {
    println!("{contribution:?}");
}

fn main() {
    let _ = print;
}
