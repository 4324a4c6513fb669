//! Names and descriptions: which characters they may have, and how those of others are shown.
//!
//! A character that has no width or turns the direction of writing makes two names look alike. Where a name is declared,
//! [`check_name`] refuses it. Where somebody else chose the name, [`shown`] makes it visible.

use std::borrow::Cow;
use std::fmt;

use super::journal::Event;

/// The longest name or description, in bytes.
const LONGEST: usize = 1000;

/// Texts stand in certificates and tables: one line each, of a readable length, and no two that look alike.
pub(super) fn check_texts(event: &Event) -> Result<(), String> {
    event.texts().into_iter().try_for_each(check_text)
}

/// The same of one text, asked before anything is paid for.
pub(crate) fn check_text(text: &str) -> Result<(), String> {
    if text.is_empty() || text.trim() != text || text.len() > LONGEST || text.chars().any(is_unseen) {
        return Err(format!(
            "{text:?} is not a valid name or description: it must be one line of 1 to {LONGEST} bytes, without spaces at its ends \
             or characters that cannot be seen"
        ));
    }
    Ok(())
}

/// Whether a text can be shown in one line, of whatever length.
pub(super) fn is_one_line(text: &str) -> bool {
    let is_plain = |byte: u8| (b' '..=b'~').contains(&byte);
    text.bytes().all(is_plain) || !text.chars().any(is_unseen)
}

/// The text, changed so that [`check_texts`] accepts it: for reasons that must be recorded in any case.
pub(super) fn readable(text: &str) -> String {
    let seen: String = text
        .chars()
        .map(|c| if is_unseen(c) { ' ' } else { c })
        .take(LONGEST / 4)
        .collect();
    let seen = seen.trim();
    if seen.is_empty() {
        "no reason was given".into()
    } else {
        seen.into()
    }
}

/// Line breaks, control characters, and marks that have no width or turn the direction of writing. What is in ledgers was checked by
/// this rule, so it never grows: [`is_hidden`] does.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a character cannot be seen, or turns the direction of writing: control characters, what Unicode calls ignorable by default, and
/// letters that are empty.
pub fn is_hidden(c: char) -> bool {
    is_unseen(c)
        || matches!(
            c,
            '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        )
        || matches!(c, '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0080}'..='\u{e0fff}')
}

/// A character that cannot be seen, and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hidden {
    /// The character.
    pub character: char,
    /// How many characters stand before it, and one.
    pub place: usize,
}

/// The first character of a text that cannot be seen.
///
/// ```
/// use privet::privacy::texts;
///
/// let hidden = texts::hidden("in\u{200b}come").expect("a space without width");
/// assert_eq!(hidden.to_string(), "U+200B (zero width space) as its character 3");
/// assert!(texts::hidden("income").is_none());
/// ```
pub fn hidden(text: &str) -> Option<Hidden> {
    let mut all = text.chars().enumerate();
    all.find(|(_, c)| is_hidden(*c))
        .map(|(before, character)| Hidden {
            character,
            place: before + 1,
        })
}

impl Hidden {
    /// Its number and what it is called.
    pub fn name(&self) -> String {
        let name = match self.character {
            '\n' => "line feed",
            '\r' => "carriage return",
            '\t' => "tab",
            c if c.is_control() => "control character",
            '\u{ad}' => "soft hyphen",
            '\u{61c}' => "Arabic letter mark",
            '\u{200b}' => "zero width space",
            '\u{200c}' => "zero width non-joiner",
            '\u{200d}' => "zero width joiner",
            '\u{200e}' => "left-to-right mark",
            '\u{200f}' => "right-to-left mark",
            '\u{202a}' => "left-to-right embedding",
            '\u{202b}' => "right-to-left embedding",
            '\u{202c}' => "pop directional formatting",
            '\u{202d}' => "left-to-right override",
            '\u{202e}' => "right-to-left override",
            '\u{2060}' => "word joiner",
            '\u{2066}'..='\u{2069}' => "directional isolate",
            '\u{feff}' => "byte order mark",
            '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => "variation selector",
            _ => "invisible character",
        };
        format!("U+{:04X} ({name})", u32::from(self.character))
    }

    /// As it is written in TOML and by [`shown`].
    pub fn escaped(&self) -> String {
        match u32::from(self.character) {
            number @ ..=0xffff => format!("\\u{number:04X}"),
            number => format!("\\U{number:08X}"),
        }
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} as its character {}", self.name(), self.place)
    }
}

/// Checks a name that is declared now: of a party or a data set, say. It has 1 to `longest` characters, no spaces at its ends, and none
/// that cannot be seen.
///
/// # Errors
/// What is wrong and how to fix it, in words that follow the name.
pub fn check_name(text: &str, longest: usize) -> Result<(), String> {
    if text.is_empty() || text.chars().count() > longest {
        return Err(format!("it must have 1 to {longest} characters"));
    }
    if let Some(hidden) = hidden(text) {
        return Err(format!(
            "it has {hidden}, which cannot be seen: remove that character"
        ));
    }
    if text.trim() != text {
        return Err("remove the spaces at its ends".into());
    }
    Ok(())
}

/// A name that somebody else chose, with each character that cannot be seen as its number.
///
/// ```
/// assert_eq!(privet::privacy::texts::shown("cl\u{202e}inic"), "cl\\u202Einic");
/// ```
pub fn shown(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same for a text of several lines: line feeds and tabs stay.
pub fn shown_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c == '\n' || c == '\t')
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let hides = |c: char| is_hidden(c) && !stays(c);
    if !text.chars().any(hides) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match hides(character) {
            true => out += &Hidden { character, place: 1 }.escaped(),
            false => out.push(character),
        }
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ledgers_refuse_is_hidden_and_letters_are_not() {
        for c in (0..=0x0010_ffff).filter_map(char::from_u32) {
            assert!(!is_unseen(c) || is_hidden(c), "{c:?}");
            assert!(
                !(c.is_alphanumeric() && is_hidden(c)) || "\u{115f}\u{1160}\u{3164}\u{ffa0}".contains(c),
                "{c:?}"
            );
        }
        for text in [
            "Straße",
            "日本",
            "‏שלום".trim_start_matches('\u{200f}'),
            "naïve café",
            "a b",
            "☂",
        ] {
            assert_eq!(hidden(text), None, "{text}");
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn names_are_refused_with_the_place_and_the_character() {
        let why = check_name("bank\u{202e}knab", 100).expect_err("it turns the direction");
        assert_eq!(
            why,
            "it has U+202E (right-to-left override) as its character 5, which cannot be seen: remove that character"
        );
        for bad in ["", " a", "a\n", "a\u{e0041}", "ㅤ", &"a".repeat(101)] {
            assert!(check_name(bad, 100).is_err(), "{bad:?}");
        }
        assert_eq!(check_name("label holder", 100), Ok(()));
        assert_eq!(shown("a\u{e0041}\tb\n"), "a\\U000E0041\\u0009b\\u000A");
        assert_eq!(shown_lines("a\u{1b}[1m\tb\n"), "a\\u001B[1m\tb\n");
    }
}
