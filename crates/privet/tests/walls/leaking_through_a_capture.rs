//! E0594: a closure cannot carry a private value out through a variable.
use privet::privacy::Private;

fn main() {
    let mut stolen = 0;
    let _ = Private::new(34).map(|age| stolen = age);
    let _ = stolen;
}
