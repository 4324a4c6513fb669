//! E0308: what a closure makes of the whole table are no rows that could be cut into parts.
use privet::privacy::{Partition, Private, PerRow};

fn cut(table: Private<PerRow<i64>>) -> Partition<PerRow<(i64, i64)>> {
    let derived = table.map(|rows| {
        let sum = rows.as_slice().iter().sum::<i64>();
        Private::rows(rows.as_slice().iter().map(|row| (*row, sum)).collect())
    });
    Partition::by(derived, 50, |row: &(i64, i64)| row.0 as usize)
}

fn main() {
    let _ = cut;
}
