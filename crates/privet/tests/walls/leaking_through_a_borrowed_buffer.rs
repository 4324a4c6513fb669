//! E0597: a borrowed buffer cannot be wrapped and filled.
use privet::privacy::Private;

fn main() {
    let mut stolen = Vec::new();
    let ages = Private::new(vec![34]);
    let _ = ages.zip(Private::new(&mut stolen), |ages, stolen: &mut Vec<i32>| stolen.extend(ages));
}
