//! E0596: a closure cannot carry a private value out through a collection.
use privet::privacy::Private;

fn main() {
    let mut stolen = Vec::new();
    let _ = Private::new(34).zip(Private::new(1), |age, n| stolen.push(age + n));
    let _ = stolen;
}
