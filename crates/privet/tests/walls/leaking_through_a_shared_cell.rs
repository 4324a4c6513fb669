//! E0277: nor can a shared cell.
use std::cell::RefCell;
use std::rc::Rc;

use privet::privacy::Private;

fn main() {
    let stolen = Rc::new(RefCell::new(0));
    let _ = Private::new(stolen);
}
