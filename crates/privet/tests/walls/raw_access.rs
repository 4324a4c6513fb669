//! E0624: only the ground floor reads a private value.
use privet::privacy::Private;

fn main() {
    let age = Private::new(34);
    let _ = age.expose();
}
