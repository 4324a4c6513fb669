//! E0277: a private value cannot be printed.
use privet::privacy::Private;

fn main() {
    let age = Private::new(34);
    println!("{age:?}");
}
