//! E0369: a private value cannot be compared, so it decides no branch.
use privet::privacy::Private;

fn main() {
    if Private::new(34) == Private::new(35) {
        std::process::exit(1);
    }
}
