//! What a relation leaves public of a table, and nothing else.

use privet::data::{Public, Target};
use privet::privacy::account::Caps;
use privet::privacy::{AddRemove, Delta, Ledger, Neighbours, Randomness, Replace, ReplacePrivate};

use crate::central::tables::{CORNERS, Open, Row, read, rows};

fn left(open: Open, relation: &impl Neighbours, lines: &[Row]) -> Option<Public> {
    let random = Randomness::from_os().expect("randomness");
    let ledger = Ledger::volatile(relation.clone(), Caps::ZERO, Delta::ZERO, random).expect("a ledger");
    read(open, lines).public(&ledger)
}

#[test]
fn public_columns_are_those_outside_the_relation() {
    for open in [
        Open::Nothing,
        Open::Label,
        Open::LabelAndFeature,
        Open::Feature,
        Open::Features,
    ] {
        // Whoever may be absent or somebody else shows in every column.
        assert_eq!(left(open, &AddRemove::row(), &CORNERS), None);
        assert_eq!(left(open, &Replace::row(), &CORNERS), None);
        let own = left(open, &open.relation(1), &CORNERS).expect("columns are replaced");
        let names = ["p", "x", "colour", "slope"];
        let places: Vec<usize> = (0..4).filter(|&i| !open.private().contains(&names[i])).collect();
        assert_eq!(own.places, places, "{open:?}");
        assert_eq!(own.cells.features().len(), places.len());
        assert_eq!(own.cells.rows(), CORNERS.len());
        let labels = CORNERS.map(|row| u16::from(row[4] == "b")).to_vec();
        let shown = (!open.private().contains(&"y")).then_some(Target::Classes(labels));
        assert_eq!(own.cells.target(), shown.as_ref(), "{open:?}");
        assert_eq!(own.cells.units(), None);
        // Neighbours show the same, whatever their private columns are.
        for one in CORNERS {
            for other in CORNERS {
                let [a, b] = [one, other].map(|row| {
                    let lines = [vec![row], CORNERS.to_vec()].concat();
                    left(open, &open.relation(1), &lines)
                });
                assert!(a == b || !open.agree(&one, &other), "{open:?}: {one:?} {other:?}");
            }
        }
    }
}

#[test]
fn neither_schema_nor_relation_alone_makes_a_column_public() {
    // The relation protects more than the schema asks for.
    let wide = ReplacePrivate::unit(rows(1), ["p", "x", "colour", "slope", "y"]);
    let shown = left(Open::LabelAndFeature, &wide, &CORNERS).expect("columns are replaced");
    assert!(shown.places.is_empty() && shown.cells.target().is_none());
    // The relation protects less: what the schema marks as private stays so.
    let narrow = ReplacePrivate::unit(rows(1), ["x"]);
    let shown = left(Open::Feature, &narrow, &CORNERS).expect("columns are replaced");
    assert_eq!(shown.places, [0]);
    assert!(shown.cells.target().is_none());
}
