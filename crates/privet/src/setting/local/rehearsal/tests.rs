//! How rows are dealt to made-up owners.

use super::*;
use crate::data::schema::{label, number};
use crate::data::{Intake, Keep};

/// 3,000 rows, a third of which are of the second class.
fn cells() -> (Schema, Cells) {
    let builder = Schema::builder("dealt").columns([number("x", 0.0..=1.0)]);
    let schema = builder
        .columns([label("class", ["a", "b"])])
        .build()
        .expect("a schema");
    let intake = Intake::everything(std::sync::Arc::new(schema.clone()), Keep::Values);
    let mut columns = intake.columns();
    for row in 0..3000 {
        columns[0].text(b"0.5");
        columns[1].text(if row % 3 == 0 { b"b" } else { b"a" });
    }
    let cells = Cells::in_the_clear(vec![intake.piece(columns).expect("a piece")]);
    (schema, cells)
}

/// Rows are dealt once, owners have as many as said, and are as unlike as said: over all owners with more than one row, the share of those who know one class.
#[test]
fn owners_have_as_many_rows_as_said_and_are_as_unlike() {
    let (schema, cells) = cells();
    let spread = |skew| Dealing {
        least: 1,
        most: 7,
        skew,
    };
    let mut of_one = Vec::new();
    for dealing in [Dealing::even(4), spread(0.0), spread(0.7), spread(1.0)] {
        let crowd = Crowd::dealt(&schema, &cells, dealing, 5);
        let all: Vec<&[u32]> = (0..crowd.owners()).map(|owner| crowd.rows(owner)).collect();
        let mut sizes: Vec<usize> = all.iter().map(|rows| rows.len()).collect();
        sizes.sort_unstable();
        sizes.dedup();
        // 750 owners: a size is missing with a probability of (6/7)^750.
        let wanted: Vec<usize> = (dealing.least as usize..=dealing.most as usize).collect();
        assert_eq!(sizes, wanted);
        let mut rows = all.concat();
        rows.sort_unstable();
        let dealt = rows.len();
        rows.dedup();
        assert!(rows.len() == dealt && dealt > 3000 - 7);
        let several = all.iter().filter(|rows| rows.len() > 1);
        let knows_one = |rows: &&&[u32]| {
            rows.iter()
                .all(|row| row.is_multiple_of(3) == rows[0].is_multiple_of(3))
        };
        of_one.push(several.clone().filter(knows_one).count() as f64 / several.count() as f64);
        // Owners in random order: a hundred of one kind in a row have a probability below (2/3)^100.
        let kinds = |owners: Range<usize>| {
            let mut classes = all[owners].concat();
            classes
                .iter_mut()
                .for_each(|row| *row = u32::from(row.is_multiple_of(3)));
            classes.sort_unstable();
            classes.dedup();
            classes.len()
        };
        assert_eq!((kinds(0..100), kinds(100..200)), (2, 2));
    }
    let [even, alike, between, by_class] = of_one[..] else {
        panic!("four ways");
    };
    assert!(even < 0.4 && alike < 0.5, "{of_one:?}");
    assert!(between > alike + 0.1 && between < 0.9, "{of_one:?}");
    // One owner may lie where the first class ends.
    assert!(by_class > 0.997, "{of_one:?}");
    let same = Crowd::new(&schema, &cells, 4, 5);
    assert_eq!(
        same.order,
        Crowd::dealt(&schema, &cells, Dealing::even(4), 5).order
    );
    assert_eq!(same.of_owners(10).owners(), 10);
}
