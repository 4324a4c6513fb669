//! Which slot a text goes to.

use super::guard::unguarded;
use super::schema::Declared;

/// Other words for no and yes.
pub(crate) const TRUTHS: [[&str; 10]; 2] = [
    ["0", "no", "n", "f", "False", "FALSE", "No", "NO", "N", "F"],
    ["1", "yes", "y", "t", "True", "TRUE", "Yes", "YES", "Y", "T"],
];

/// The slot of each text, prepared once for a column.
///
/// A table of twice as many places as texts, in which a text is looked for from the place that its bytes give. Its texts
/// are the schema's, so a cell cannot make it slow: each is looked for among few neighbours.
#[derive(Debug, Clone)]
pub(super) struct Lookup {
    places: Vec<Option<(Box<[u8]>, u16)>>,
    pub(super) other: u16,
    pub(super) missing: u16,
}

impl Lookup {
    pub(super) fn new(declared: &Declared, missing: &[String]) -> Self {
        let count = declared.values().len() + missing.len() + 2 * TRUTHS[0].len();
        let mut lookup = Self {
            places: vec![None; (2 * count).next_power_of_two()],
            other: declared.other(),
            missing: declared.missing(),
        };
        for text in missing {
            lookup.insert(text, declared.missing());
        }
        if declared.values() == ["false", "true"] {
            for (slot, words) in TRUTHS.iter().enumerate() {
                words.iter().for_each(|word| lookup.insert(word, slot as u16));
            }
        }
        // A declared value is a value, whatever else it may mean.
        for (slot, value) in declared.values().iter().enumerate() {
            lookup.insert(value, slot as u16);
        }
        lookup
    }

    fn insert(&mut self, text: &str, slot: u16) {
        let mask = self.places.len() - 1;
        let mut place = hash(text.as_bytes()) & mask;
        // At most half of the places are ever taken.
        while self.places[place]
            .as_ref()
            .is_some_and(|(known, _)| **known != *text.as_bytes())
        {
            place = (place + 1) & mask;
        }
        self.places[place] = Some((text.as_bytes().into(), slot));
    }

    #[inline]
    pub(super) fn text(&self, cell: &[u8]) -> u16 {
        let found = self.find(cell);
        found.unwrap_or_else(|| self.without_guard(cell))
    }

    /// The slot of a cell that is not declared as it stands: it may have been guarded against spreadsheet programs.
    #[cold]
    fn without_guard(&self, cell: &[u8]) -> u16 {
        let found = unguarded(cell).and_then(|cell| self.find(cell));
        found.unwrap_or(self.other)
    }

    #[inline]
    fn find(&self, cell: &[u8]) -> Option<u16> {
        let mask = self.places.len() - 1;
        let mut place = hash(cell) & mask;
        while let Some((known, slot)) = &self.places[place] {
            if **known == *cell {
                return Some(*slot);
            }
            place = (place + 1) & mask;
        }
        None
    }
}

/// Mixes eight bytes at a time.
#[inline]
fn hash(text: &[u8]) -> usize {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(ODD);
        (product >> 64) as u64 ^ product as u64
    };
    let mut words = text.chunks_exact(8);
    let mut state = ODD ^ text.len() as u64;
    for word in &mut words {
        state = mix(
            state,
            word.iter().rev().fold(0, |sum, &byte| sum << 8 | u64::from(byte)),
        );
    }
    let rest = words
        .remainder()
        .iter()
        .fold(0, |sum, &byte| sum << 8 | u64::from(byte));
    mix(mix(state, rest), 0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_declared_text_has_its_slot_and_no_other_has_one() {
        let values: Vec<String> = (0..5000).map(|i| format!("value {}", i * 7)).collect();
        let declared = Declared::new(values.clone(), None).expect("values");
        let lookup = Lookup::new(&declared, &["?".into(), "value 7".into()]);
        for (slot, value) in values.iter().enumerate() {
            assert_eq!(lookup.text(value.as_bytes()), slot as u16, "{value}");
        }
        assert_eq!(lookup.text(b"?"), 5001);
        for other in ["", "value 1", "value 70000000", "\0", "value 7\0"] {
            assert_eq!(lookup.text(other.as_bytes()), 5000, "{other:?}");
        }
        assert_eq!(lookup.text(b"no"), 5000, "a word of truth only among truths");
    }

    #[test]
    fn a_guarded_formula_is_the_declared_value() {
        let values = ["=1+1", "-", "'=a", "=a"].map(String::from).to_vec();
        let lookup = Lookup::new(&Declared::new(values, None).expect("values"), &[]);
        let cells = ["=1+1", "'=1+1", "-", "'-", "'=a", "''=1+1", "'x", "=b", "'=b"];
        let slots = cells.map(|cell| lookup.text(cell.as_bytes()));
        // A declared text is itself first of all.
        assert_eq!(slots, [0, 0, 1, 1, 2, 4, 4, 4, 4]);
    }

    #[test]
    fn truths_have_many_words() {
        let declared = Declared::new(vec!["false".into(), "true".into()], None).expect("values");
        let lookup = Lookup::new(&declared, &[String::new()]);
        let slots =
            ["false", "0", "FALSE", "true", "Yes", "1", "maybe", ""].map(|word| lookup.text(word.as_bytes()));
        assert_eq!(slots, [0, 0, 0, 1, 1, 1, 2, 3]);
    }
}
