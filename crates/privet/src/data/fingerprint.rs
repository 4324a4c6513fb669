//! The fingerprint that recognises a table in any form: text, Parquet, Arrow or columns in memory.
//!
//! Each column is hashed by itself, so that neither the order nor the names of columns matter. Its cells are brought to one form first
//! ("1", "1.0", a whole number and `true` are one; empty, "NA" and null are one) and then read as the coefficients of a polynomial,
//! which is evaluated at two secret points modulo 2⁶¹ - 1. Two different columns with n coefficients agree with probability at most
//! (n/2⁶⁰)² over the points. Values of two pieces can be put together, so a table can be hashed in parallel, and in any blocks.

/// 2⁶¹ - 1, a prime.
const PRIME: u64 = (1 << 61) - 1;

/// Texts for "missing" that programs write, in lower case. A schema's own are not asked: the same file must give the same fingerprint
/// under another schema.
const MISSING: [&str; 7] = ["na", "n/a", "nan", "null", "none", "nil", "?"];

/// The secret points at which columns are evaluated. No `Debug`, on purpose.
#[derive(Clone, Copy)]
pub struct Points([u64; 2]);

impl Points {
    /// From secret bytes; whoever knows them can make two tables with one fingerprint.
    pub fn new(secret: [u8; 16]) -> Self {
        let value = u128::from_le_bytes(secret);
        // Neither 0 nor 1, for which the order of cells would not matter.
        Self([value as u64, (value >> 64) as u64].map(|x| 2 + x % (PRIME - 2)))
    }
}

/// One cell, in the canonical form of all sources.
#[derive(Debug, Clone, Copy, PartialEq)]
enum CanonicalCell<'c> {
    Missing,
    /// Single precision: a number must not depend on whether it was stored in 32 or 64 bits.
    Number(u32),
    Text(&'c [u8]),
}

impl<'c> CanonicalCell<'c> {
    fn number(x: f64) -> Self {
        match x as f32 {
            x if x.is_nan() => Self::Missing,
            // Zero has one sign here.
            x => Self::Number((x + 0.0).to_bits()),
        }
    }

    fn text(text: &'c [u8]) -> Self {
        let text = text.trim_ascii();
        if text.is_empty() {
            return Self::Missing;
        }
        if let Ok(x) = fast_float2::parse::<f64, _>(text) {
            return Self::number(x);
        }
        let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
        match () {
            () if is("true") => Self::number(1.0),
            () if is("false") => Self::number(0.0),
            () if MISSING.iter().any(|word| is(word)) => Self::Missing,
            () => Self::Text(text),
        }
    }
}

/// The hash of one column's cells so far.
#[derive(Clone)]
pub(super) struct ColumnHash {
    points: Points,
    values: [u64; 2],
    /// How many coefficients there were.
    length: u64,
    rows: usize,
    /// The first cell, and whether any other differs from it.
    first: Option<Vec<u8>>,
    varies: bool,
}

impl ColumnHash {
    pub(super) fn new(points: Points) -> Self {
        Self {
            points,
            values: [0; 2],
            length: 0,
            rows: 0,
            first: None,
            varies: false,
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn text(&mut self, text: &[u8]) {
        self.take(CanonicalCell::text(text));
    }

    pub(super) fn number(&mut self, number: Option<f64>) {
        self.take(number.map_or(CanonicalCell::Missing, CanonicalCell::number));
    }

    /// Every sequence of cells has coefficients of its own: what comes first says what a cell is, and how long.
    fn take(&mut self, cell: CanonicalCell<'_>) {
        self.rows += 1;
        if !self.varies {
            self.compare(cell);
        }
        match cell {
            CanonicalCell::Missing => self.push(1 << 32),
            CanonicalCell::Number(bits) => self.push(2 << 32 | u64::from(bits)),
            CanonicalCell::Text(text) => {
                self.push(3 << 32 | text.len() as u64 & 0xffff_ffff);
                for chunk in text.chunks(7) {
                    let mut bytes = [0; 8];
                    bytes[..chunk.len()].copy_from_slice(chunk);
                    self.push(u64::from_le_bytes(bytes));
                }
            }
        }
    }

    fn compare(&mut self, cell: CanonicalCell<'_>) {
        let bytes = match cell {
            CanonicalCell::Missing => vec![0],
            CanonicalCell::Number(bits) => bits.to_le_bytes().to_vec(),
            CanonicalCell::Text(text) => [b"text", text].concat(),
        };
        match &self.first {
            None => self.first = Some(bytes),
            Some(first) => self.varies = *first != bytes,
        }
    }

    fn push(&mut self, coefficient: u64) {
        self.length += 1;
        for (value, point) in self.values.iter_mut().zip(self.points.0) {
            *value = reduced(u128::from(*value) * u128::from(point) + u128::from(coefficient));
        }
    }

    /// This column, and the cells of another piece behind it.
    pub(super) fn then(mut self, next: &Self) -> Self {
        self.append(next);
        self
    }

    /// Takes the cells of another piece behind its own.
    pub(super) fn append(&mut self, next: &Self) {
        for ((value, after), point) in self.values.iter_mut().zip(next.values).zip(self.points.0) {
            *value = reduced(u128::from(*value) * u128::from(power(point, next.length)) + u128::from(after));
        }
        self.length += next.length;
        self.rows += next.rows;
        self.varies |=
            next.varies || self.first.is_some() && next.first.is_some() && self.first != next.first;
        if self.first.is_none() {
            self.first.clone_from(&next.first);
        }
    }
}

fn reduced(product: u128) -> u64 {
    // Below 2¹²²: two folds and one subtraction are enough.
    let folded = (product & u128::from(PRIME)) + (product >> 61);
    let folded = (folded as u64 & PRIME) + (folded >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

fn power(point: u64, mut exponent: u64) -> u64 {
    let (mut result, mut square) = (1u64, point);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = reduced(u128::from(result) * u128::from(square));
        }
        square = reduced(u128::from(square) * u128::from(square));
        exponent >>= 1;
    }
    result
}

/// The fingerprint of a table. It depends on private rows, so it is only used as input of a keyed hash. No `Debug`, on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Fingerprint {
    /// For each column its value, and whether its cells differ; sorted.
    columns: Vec<([u8; 32], bool)>,
}

impl Fingerprint {
    pub(super) fn of(columns: impl Iterator<Item = ColumnHash>) -> Self {
        let mut columns: Vec<([u8; 32], bool)> = columns
            .map(|column| {
                let [first, second] = column.values;
                let parts = [first, second, column.length, column.rows as u64];
                let mut bytes = [0; 32];
                for (to, part) in bytes.chunks_exact_mut(8).zip(parts) {
                    to.copy_from_slice(&part.to_le_bytes());
                }
                (bytes, column.varies)
            })
            .collect();
        columns.sort_unstable();
        Self { columns }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.columns.iter().all(|(column, _)| column[24..] == [0; 8])
    }

    /// One value for each column, sorted.
    pub fn columns(&self) -> impl Iterator<Item = &[u8; 32]> {
        self.columns.iter().map(|(column, _)| column)
    }

    /// The same without constant columns, which unrelated tables often share.
    pub fn telling(&self) -> impl Iterator<Item = &[u8; 32]> {
        let telling = self.columns.iter().filter(|(_, tells)| *tells);
        telling.map(|(column, _)| column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: [u8; 16] = *b"sixteen  bytes !";

    fn hash(cells: &[&str]) -> ColumnHash {
        let mut column = ColumnHash::new(Points::new(SECRET));
        cells.iter().for_each(|cell| column.text(cell.as_bytes()));
        column
    }

    fn print(cells: &[&str]) -> Fingerprint {
        Fingerprint::of(std::iter::once(hash(cells)))
    }

    #[test]
    fn one_form_for_every_way_to_write_a_cell() {
        let same: [(&[&str], &[&str]); 6] = [
            (&["1", "0"], &["1.0", "0e5"]),
            (&["1", "0"], &["true", "False"]),
            (&["0.1", "2"], &["0.10000000149011612", " 2 "]),
            (&["", "x"], &["NA", "x"]),
            (&["null", "x"], &["?", "x"]),
            (&["-0", "7"], &["0", "007"]),
        ];
        for (one, other) in same {
            assert!(print(one) == print(other), "{one:?} {other:?}");
        }
        let different: [(&[&str], &[&str]); 6] = [
            (&["1", "0"], &["0", "1"]),
            (&["ab", "c"], &["a", "bc"]),
            (&["", "x"], &["0", "x"]),
            (&["x", "y"], &["x", "y", "y"]),
            (&["12345678", "x"], &["1234567", "8", "x"]),
            (&["abcdefgh", "x"], &["abcdefg\0h", "x"]),
        ];
        for (one, other) in different {
            assert!(print(one) != print(other), "{one:?} {other:?}");
        }
    }

    #[test]
    fn numbers_and_texts_agree() {
        let mut column = ColumnHash::new(Points::new(SECRET));
        for x in [
            Some(0.1),
            None,
            Some(f64::NAN),
            Some(9_007_199_254_740_993.0),
            Some(-0.0),
        ] {
            column.number(x);
        }
        let text = print(&["0.1", "", "NaN", "9007199254740993", "0"]);
        assert!(Fingerprint::of(std::iter::once(column)) == text);
    }

    #[test]
    fn pieces_put_together_are_the_whole() {
        let cells = ["a", "17", "", "a longer text than one coefficient", "3.5", "3.5"];
        let whole = Fingerprint::of(std::iter::once(hash(&cells)));
        for cut in 0..=cells.len() {
            let joined = hash(&cells[..cut]).then(&hash(&cells[cut..]));
            assert!(Fingerprint::of(std::iter::once(joined)) == whole, "cut at {cut}");
        }
    }

    #[test]
    fn a_column_that_says_the_same_of_all_rows_tells_nothing() {
        let telling = |column| Fingerprint::of(std::iter::once(column)).telling().count();
        assert_eq!(telling(hash(&["x", "x", "x"])), 0);
        assert_eq!(telling(hash(&["x", "x"]).then(&hash(&["x"]))), 0);
        assert_eq!(telling(hash(&["x", "x"]).then(&hash(&["y"]))), 1);
        assert!(print(&["x", "x"]) != print(&["x", "x", "x"]));
    }

    #[test]
    fn arithmetic_is_that_of_the_field() {
        for x in [0, 1, PRIME - 1, PRIME, PRIME + 1, u64::MAX >> 2] {
            for y in [0u64, 1, 2, PRIME - 1, 1 << 60] {
                let product = u128::from(x % PRIME) * u128::from(y) + 7;
                assert_eq!(u128::from(reduced(product)), product % u128::from(PRIME));
            }
        }
        assert_eq!(power(3, 5), 243);
        assert_eq!(power(5, PRIME - 1), 1, "Fermat");
    }
}
