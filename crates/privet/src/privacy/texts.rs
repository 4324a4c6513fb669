//! Names and descriptions in ledgers and certificates.

use super::journal::Event;

/// The longest name or description, in bytes.
const LONGEST: usize = 1000;

/// Texts stand in certificates and tables: one line each, of a readable length, and no two that look alike.
pub(super) fn check_texts(event: &Event) -> Result<(), String> {
    for text in event.texts() {
        if text.is_empty() || text.trim() != text || text.len() > LONGEST || text.chars().any(is_unseen) {
            return Err(format!(
                "{text:?} is not a valid name or description: it must be one line of 1 to {LONGEST} bytes, without spaces at its ends \
                 or characters that cannot be seen"
            ));
        }
    }
    Ok(())
}

/// Whether a text can be shown in one line, of whatever length.
pub(super) fn is_one_line(text: &str) -> bool {
    !text.chars().any(is_unseen)
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

/// Line breaks, control characters, and marks that have no width or turn the direction of writing.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}
