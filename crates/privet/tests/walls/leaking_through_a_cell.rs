//! E0277: nor through a cell, which is not shared between threads.
use std::cell::Cell;

use privet::privacy::Private;

fn main() {
    let stolen = Cell::new(0);
    let mut age = Private::new(34);
    age.update(Private::new(1), |age, n| stolen.set(*age + n));
    let _ = stolen;
}
