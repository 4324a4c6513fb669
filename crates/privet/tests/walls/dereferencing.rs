//! E0614: a private value cannot be dereferenced.
use privet::privacy::Private;

fn main() {
    let age: i64 = *Private::new(34);
    let _ = age;
}
