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
    /// Whether a number may be written otherwise than it is declared: some are declared, and no two are one number.
    numbers: bool,
    pub(super) other: u16,
    pub(super) missing: u16,
}

impl Lookup {
    pub(super) fn new(declared: &Declared, missing: &[String]) -> Self {
        let count = 2 * (declared.values().len() + missing.len() + TRUTHS[0].len());
        let mut lookup = Self {
            places: vec![None; (2 * count).next_power_of_two()],
            numbers: false,
            other: declared.other(),
            missing: declared.missing(),
        };
        let slots = || declared.values().iter().zip(0_u16..);
        let mut numbers: Vec<&[u8]> = slots()
            .filter_map(|(text, _)| shortest(text.as_bytes()))
            .collect();
        numbers.sort_unstable();
        let are_different = numbers.windows(2).all(|pair| pair[0] != pair[1]);
        let is_truth = declared.values() == ["false", "true"];
        if are_different {
            let of_missing = missing.iter().map(|text| (text, declared.missing()));
            for (text, slot) in of_missing.chain(slots()) {
                if let Some(number) = shortest(text.as_bytes()) {
                    lookup.numbers = true;
                    lookup.insert(number, slot);
                }
            }
            lookup.numbers |= is_truth;
        }
        // What is written as it is declared is that, whatever else it may mean; and a declared value is a value.
        for text in missing {
            lookup.insert(text.as_bytes(), declared.missing());
        }
        if is_truth {
            for (slot, words) in TRUTHS.iter().enumerate() {
                words
                    .iter()
                    .for_each(|word| lookup.insert(word.as_bytes(), slot as u16));
            }
        }
        for (value, slot) in slots() {
            lookup.insert(value.as_bytes(), slot);
        }
        lookup
    }

    fn insert(&mut self, text: &[u8], slot: u16) {
        let mask = self.places.len() - 1;
        let mut place = hash(text) & mask;
        // At most half of the places are ever taken.
        while self.places[place]
            .as_ref()
            .is_some_and(|(known, _)| **known != *text)
        {
            place = (place + 1) & mask;
        }
        self.places[place] = Some((text.into(), slot));
    }

    #[inline]
    pub(super) fn text(&self, cell: &[u8]) -> u16 {
        let found = self.find(cell);
        found.unwrap_or_else(|| self.otherwise(cell))
    }

    /// The slot of a cell that is not declared as it stands: it may have been guarded against spreadsheet programs, or be a number that
    /// another program wrote, such as 1.0 for 1.
    #[cold]
    fn otherwise(&self, cell: &[u8]) -> u16 {
        let guarded = || unguarded(cell).and_then(|cell| self.find(cell));
        let number = || shortest(cell).filter(|_| self.numbers);
        let found = guarded().or_else(|| number().and_then(|number| self.find(number)));
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

/// The shortest way to write a decimal number, which is a part of the text: 1 for 1.0, 0 for -0.0. Nothing else is a number here: 01 may be
/// a code, and so may 1e3.
fn shortest(text: &[u8]) -> Option<&[u8]> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let whole = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if whole == 0 || whole > 1 && digits[0] == b'0' {
        return None;
    }
    let end = match &digits[whole..] {
        [] => whole,
        [b'.', part @ ..] if !part.is_empty() && part.iter().all(u8::is_ascii_digit) => {
            let last = part.iter().rposition(|&byte| byte != b'0');
            last.map_or(whole, |last| whole + last + 2)
        }
        _ => return None,
    };
    let digits = &digits[..end];
    match (text.first(), digits) {
        (Some(b'-'), b"0") => Some(digits),
        (Some(b'-'), _) => Some(&text[..end + 1]),
        _ => Some(digits),
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

    #[test]
    fn a_number_may_be_written_otherwise_than_it_is_declared() {
        let lookup = |values: &[&str], missing: &[&str]| {
            let values = values.iter().map(|&value| value.to_owned()).collect();
            let missing: Vec<String> = missing.iter().map(|&text| text.to_owned()).collect();
            Lookup::new(&Declared::new(values, None).expect("values"), &missing)
        };
        let slots = |lookup: &Lookup, cells: &[&str]| {
            cells
                .iter()
                .map(|cell| lookup.text(cell.as_bytes()))
                .collect::<Vec<_>>()
        };
        let classes = lookup(&["0", "1", "-2", "2.50"], &["-9"]);
        let cells = ["1.0", "0.0", "-0.0", "1.00", "-2.0", "2.5", "2.500", "-9.0"];
        assert_eq!(slots(&classes, &cells), [1, 0, 0, 1, 2, 3, 3, 5]);
        // What may be a code, or is another number.
        let cells = [
            "01", "1.", ".0", "1e0", "1.01", "10", "1.0.0", "-", "", "+1", "0x1", "2",
        ];
        assert_eq!(slots(&classes, &cells), [4; 12]);
        let reals = lookup(&["1.0", "2.0"], &["1"]);
        assert_eq!(
            slots(&reals, &["2", "1.0", "1"]),
            [1, 0, 3],
            "as it is written first of all"
        );
        let ambiguous = lookup(&["1", "1.0", "2"], &[]);
        assert_eq!(slots(&ambiguous, &["1.00", "2.0", "1.0", "1"]), [3, 3, 1, 0]);
        let truths = lookup(&["false", "true"], &[]);
        assert_eq!(slots(&truths, &["1.0", "0.0", "2.0"]), [1, 0, 2]);
        let words = lookup(&["a", "01"], &[]);
        assert_eq!(slots(&words, &["1", "1.0"]), [2, 2]);
    }
}
