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

/// Units that a draft may name: a draft is published, and letters beside digits may as well be somebody's code. They stand behind a number.
const UNITS: [&str; 61] = [
    "%", "‰", "°", "°C", "°F", "kg", "g", "mg", "µg", "μg", "ug", "ng", "lb", "lbs", "oz", "st", "km", "m",
    "cm", "mm", "µm", "nm", "mi", "ft", "in", "l", "L", "dl", "dL", "ml", "mL", "h", "hrs", "min", "s",
    "sec", "ms", "days", "weeks", "months", "years", "yrs", "mmHg", "mm Hg", "bpm", "mmol/l", "mmol/L",
    "mg/dl", "mg/dL", "g/dl", "g/dL", "g/l", "g/L", "kg/m2", "kg/m²", "km/h", "mph", "kcal", "kWh", "kW",
    "hours",
];

/// Currencies, which stand before or behind a number.
const CURRENCIES: [&str; 26] = [
    "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "₪", "zł", "kr", "US$", "USD", "EUR", "GBP", "JPY", "CHF", "CAD",
    "AUD", "CNY", "INR", "SEK", "NOK", "DKK", "PLN", "BRL",
];

/// A number and what stands before or behind it.
struct Measured<'c> {
    number: &'c [u8],
    unit: &'c [u8],
}

impl<'c> Measured<'c> {
    /// With the unit of a draft, or without one.
    fn of(cell: &'c [u8]) -> Option<Self> {
        let is_digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'-' | b'+');
        let first = cell.iter().position(is_digit)?;
        let behind = cell.iter().rposition(is_digit)? + 1;
        let (before, after) = (cell[..first].trim_ascii(), cell[behind..].trim_ascii());
        let is_one_of = |units: &[&str], text: &[u8]| units.iter().any(|unit| unit.as_bytes() == text);
        let unit = match (before, after) {
            ([], []) => before,
            ([], after) if is_one_of(&UNITS, after) || is_one_of(&CURRENCIES, after) => after,
            (before, []) if is_one_of(&CURRENCIES, before) => before,
            _ => return None,
        };
        Some(Self {
            number: &cell[first..behind],
            unit,
        })
    }
}

fn is_missing(cell: &[u8]) -> bool {
    Schema::MISSING.iter().any(|missing| missing.as_bytes() == cell)
}

/// The well-known unit that stands before or behind the number in each of these cells, if there is one and it is the same in all. A
/// number is what a reader takes for one: `comma` says that one stands before the fraction.
pub fn common_unit<'c>(cells: impl IntoIterator<Item = &'c [u8]>, comma: bool) -> Option<String> {
    let numeral = Numeral {
        comma,
        ..Numeral::default()
    };
    let mut unit: Option<&[u8]> = None;
    for cell in cells {
        let cell = cell.trim_ascii();
        if is_missing(cell) {
            continue;
        }
        let found = Measured::of(cell).filter(|found| !found.unit.is_empty())?;
        numeral.digits(found.number)?;
        if unit.is_some_and(|unit| unit != found.unit) {
            return None;
        }
        unit = Some(found.unit);
    }
    std::str::from_utf8(unit?).ok().map(str::to_owned)
}

/// Whether these cells are numbers, with or without a unit, and some have commas between thousands, as in 2,720. They are not read: with
/// a decimal comma it would be another number.
pub fn has_thousands<'c>(cells: impl IntoIterator<Item = &'c [u8]>) -> bool {
    let mut seen = false;
    for cell in cells {
        let cell = cell.trim_ascii();
        if is_missing(cell) {
            continue;
        }
        let Some(Measured { number, .. }) = Measured::of(cell) else {
            return false;
        };
        let grouped = is_grouped(number);
        if !grouped && parse(number).is_none() {
            return false;
        }
        seen |= grouped;
    }
    seen
}

/// Whether it is written like 1,234,567.8.
fn is_grouped(number: &[u8]) -> bool {
    let number = number.strip_prefix(b"-").unwrap_or(number);
    let point = number.iter().position(|&byte| byte == b'.');
    let (whole, part) = number.split_at(point.unwrap_or(number.len()));
    let mut groups = whole.split(|&byte| byte == b',');
    let is_first = |group: &[u8]| (1..=3).contains(&group.len()) && group[0] != b'0';
    let are_digits = |group: &[u8]| group.iter().all(u8::is_ascii_digit);
    whole.contains(&b',')
        && groups
            .next()
            .is_some_and(|first| is_first(first) && are_digits(first))
        && groups.all(|group| group.len() == 3 && are_digits(group))
        && (part.is_empty() || parse(part).is_some())
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
    fn a_well_known_unit_is_seen_where_all_cells_have_it() {
        let unit = |cells: &[&str], comma| common_unit(cells.iter().map(|cell| cell.as_bytes()), comma);
        assert_eq!(unit(&["72 kg", "80.5kg", "NA"], false), Some("kg".into()));
        assert_eq!(unit(&["$5", "$7"], false), Some("$".into()));
        assert_eq!(unit(&["5%", "7 %"], false), Some("%".into()));
        assert_eq!(unit(&["3,5 €", "4 €"], true), Some("€".into()));
        assert_eq!(unit(&["EUR 4"], false), Some("EUR".into()));
        for cells in [
            &["72 kg", "80"][..],
            &["72 kg", "80 lb"],
            &["a", "b"],
            &["", "NA"],
            &["12-3 b"],
            &["b12c"],
            // Codes and names.
            &["c12", "c7"],
            &["P001"],
            &["E11"],
            &["F0", "F3"],
            &["JONES7"],
            &["7JONES"],
            &["m5"],
            &["kg 72"],
            // No reader takes these for numbers.
            &["$2,720"],
            &["1,000 EUR"],
            &["3,5 €"],
        ] {
            assert_eq!(unit(cells, false), None, "{cells:?}");
        }
        assert_eq!(unit(&["3.5 €"], true), None);
    }

    #[test]
    fn thousands_are_seen() {
        let thousands = |cells: &[&str]| has_thousands(cells.iter().map(|cell| cell.as_bytes()));
        for cells in [
            &["2,720", "3"][..],
            &["$1,000,000.50", "NA"],
            &["1,000 EUR", "5 EUR"],
            &["-1,000"],
        ] {
            assert!(thousands(cells), "{cells:?}");
        }
        for cells in [
            &["2720"][..],
            &["0,125"],
            &["1,00"],
            &["1,000 x"],
            &["a"],
            &[""],
            &["1,5", "1,000"],
            &["1,0000"],
        ] {
            assert!(!thousands(cells), "{cells:?}");
        }
    }
}
