//! How the text of a number is read: by the schema alone.

use super::date::days;
use super::schema::{Column, Kind, Schema};

/// How the numbers of one column are written.
#[derive(Clone, Default)]
pub(super) struct Numeral {
    /// A comma stands before the fraction.
    comma: bool,
    /// Dates, which count as days.
    date: bool,
    /// The unit that may stand before or behind a number.
    measure: Vec<u8>,
}

impl Numeral {
    pub(super) fn of(schema: &Schema, column: &Column) -> Self {
        Self {
            comma: schema.layout().decimal == b',',
            date: matches!(&column.kind, Kind::Number(number) if number.is_date()),
            measure: column.measure.clone().unwrap_or_default().into_bytes(),
        }
    }

    /// The number of a trimmed cell.
    #[inline]
    pub(super) fn parse(&self, cell: &[u8]) -> Option<f64> {
        if self.comma || self.date {
            return self.parse_other(cell);
        }
        parse(cell).or_else(|| self.parse_other(cell))
    }

    #[cold]
    fn parse_other(&self, cell: &[u8]) -> Option<f64> {
        if cell.is_empty() {
            return None;
        }
        if self.date {
            return days(cell).or_else(|| parse(cell));
        }
        self.digits(cell)
            .or_else(|| self.digits(self.without_measure(cell)?))
            .or_else(|| truth(cell))
    }

    fn digits(&self, cell: &[u8]) -> Option<f64> {
        if !self.comma {
            return parse(cell);
        }
        // A point would mean thousands, or a fraction after all: nobody can tell.
        if cell.contains(&b'.') {
            return None;
        }
        let text: Vec<u8> = cell
            .iter()
            .map(|&byte| if byte == b',' { b'.' } else { byte })
            .collect();
        parse(&text)
    }

    fn without_measure<'c>(&self, cell: &'c [u8]) -> Option<&'c [u8]> {
        if self.measure.is_empty() {
            return None;
        }
        let rest = cell
            .strip_suffix(&self.measure[..])
            .or_else(|| cell.strip_prefix(&self.measure[..]))?;
        Some(rest.trim_ascii())
    }
}

/// A number with a point; not what is called not a number.
pub(super) fn parse(cell: &[u8]) -> Option<f64> {
    fast_float2::parse(cell).ok().filter(|x: &f64| !x.is_nan())
}

/// A truth value counts as 0 or 1 among numbers, as it does in files that know types.
fn truth(cell: &[u8]) -> Option<f64> {
    if cell.eq_ignore_ascii_case(b"true") {
        Some(1.0)
    } else {
        cell.eq_ignore_ascii_case(b"false").then_some(0.0)
    }
}

/// The unit that stands before or behind the number in each of these cells, if there is one and it is the same in all.
pub fn common_unit<'c>(cells: impl IntoIterator<Item = &'c [u8]>) -> Option<String> {
    let mut unit: Option<&[u8]> = None;
    for cell in cells {
        let cell = cell.trim_ascii();
        if Schema::MISSING.iter().any(|missing| missing.as_bytes() == cell) {
            continue;
        }
        let is_digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-' | b'+');
        let first = cell.iter().position(is_digit)?;
        let behind = cell.iter().rposition(is_digit)? + 1;
        let (before, after) = (cell[..first].trim_ascii(), cell[behind..].trim_ascii());
        let found = match (before.is_empty(), after.is_empty()) {
            (true, false) => after,
            (false, true) => before,
            _ => return None,
        };
        let number = &cell[first..behind];
        let comma: Vec<u8> = number
            .iter()
            .map(|&byte| if byte == b',' { b'.' } else { byte })
            .collect();
        if parse(&comma).is_none() || unit.is_some_and(|unit| unit != found) {
            return None;
        }
        unit = Some(found);
    }
    let unit = std::str::from_utf8(unit?).ok()?;
    let is_short = unit.chars().count() <= 12 && !unit.chars().any(char::is_control);
    is_short.then(|| unit.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numeral(comma: bool, measure: &str) -> Numeral {
        Numeral {
            comma,
            date: false,
            measure: measure.as_bytes().to_vec(),
        }
    }

    #[test]
    fn a_decimal_comma_is_declared_and_never_guessed() {
        let (point, comma) = (numeral(false, ""), numeral(true, ""));
        for (cell, with_point, with_comma) in [
            ("1,5", None, Some(1.5)),
            ("1.5", Some(1.5), None),
            ("-2", Some(-2.0), Some(-2.0)),
            ("1.234,5", None, None),
            ("1,2,3", None, None),
            ("", None, None),
            ("True", Some(1.0), Some(1.0)),
            ("false", Some(0.0), Some(0.0)),
            ("yes", None, None),
        ] {
            assert_eq!(point.parse(cell.as_bytes()), with_point, "{cell}");
            assert_eq!(comma.parse(cell.as_bytes()), with_comma, "{cell}");
        }
    }

    #[test]
    fn the_declared_unit_may_stand_in_the_cell() {
        let kilos = numeral(false, "kg");
        for (cell, expected) in [
            ("72 kg", Some(72.0)),
            ("72kg", Some(72.0)),
            ("kg 72", Some(72.0)),
            ("72 lb", None),
            ("kg", None),
            ("72", Some(72.0)),
        ] {
            assert_eq!(kilos.parse(cell.as_bytes()), expected, "{cell}");
        }
        assert_eq!(numeral(true, "€").parse("3,50 €".as_bytes()), Some(3.5));
        assert_eq!(numeral(false, "").parse(b"72 kg"), None);
    }

    #[test]
    fn a_unit_is_seen_where_all_cells_have_it() {
        let unit = |cells: &[&str]| common_unit(cells.iter().map(|cell| cell.as_bytes()));
        assert_eq!(unit(&["72 kg", "80.5kg", "NA"]), Some("kg".into()));
        assert_eq!(unit(&["$5", "$7"]), Some("$".into()));
        assert_eq!(unit(&["5%", "7 %"]), Some("%".into()));
        assert_eq!(unit(&["3,5 €", "4 €"]), Some("€".into()));
        for cells in [
            &["72 kg", "80"][..],
            &["72 kg", "80 lb"],
            &["a", "b"],
            &["", "NA"],
            &["12-3 b"],
            &["b12c"],
        ] {
            assert_eq!(unit(cells), None, "{cells:?}");
        }
    }
}
