//! Cells that a spreadsheet program would run as formulas, and how they are written so that it does not.
//!
//! A text cell that begins like a formula is written with an apostrophe before it, which such programs take as "this is text". Readers of
//! Privet take the apostrophe away again, unless the cell is declared with it.

use std::borrow::Cow;

const GUARD: u8 = b'\'';

/// Whether a spreadsheet program may run a cell: it begins with `=`, `+`, `-` or `@`, also after spaces or in their wide forms, or
/// with a tab or carriage return, and is not a number.
pub fn is_formula(cell: &[u8]) -> bool {
    if let [b'\t' | b'\r', ..] = cell {
        return true;
    }
    let rest = cell.trim_ascii();
    match rest {
        [b'=' | b'@', ..] => true,
        [b'+' | b'-', ..] => !is_number(rest),
        // ＝, ＋, － and ＠, which some programs read as the narrow ones.
        [0xef, 0xbc, 0x9d | 0x8b | 0x8d | 0xa0, ..] => true,
        _ => false,
    }
}

/// Whether it is a number in digits: "-inf" is not.
fn is_number(cell: &[u8]) -> bool {
    cell.iter().all(|byte| b"0123456789.eE+-".contains(byte)) && fast_float2::parse::<f64, _>(cell).is_ok()
}

/// A text cell as it is written to a table of text.
pub fn guarded(cell: &[u8]) -> Cow<'_, [u8]> {
    match is_formula(cell) {
        true => [&[GUARD], cell].concat().into(),
        false => cell.into(),
    }
}

/// What was written as this cell, if it has a guard.
pub fn unguarded(cell: &[u8]) -> Option<&[u8]> {
    let (first, rest) = cell.split_first()?;
    (*first == GUARD && is_formula(rest)).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        for formula in [
            "=1+1", "+a", "-b", "@x", "\t=1", "\r1", " =1", "-", "-inf", "+1-2", "＝1", "－1", "-1 000",
        ] {
            let written = guarded(formula.as_bytes());
            assert_eq!(written[0], b'\'', "{formula:?}");
            assert_eq!(unguarded(&written), Some(formula.as_bytes()), "{formula:?}");
        }
        for text in [
            "", "a", "-1", "+2.5", "-1e-5", "'", "'a", "1=1", "<=50K", "ａ", "é", "a@b",
        ] {
            assert_eq!(guarded(text.as_bytes()), text.as_bytes(), "{text:?}");
            assert_eq!(unguarded(text.as_bytes()), None, "{text:?}");
        }
    }
}
