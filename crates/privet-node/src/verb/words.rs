//! Numbers in plain words.

use privet::privacy::account::Caps;
use privet::privacy::{Delta, Epsilon, Relation};

/// The direction in which a shown number is rounded; never in our favour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Round {
    Up,
    Down,
}

/// A decimal number with at most six digits after its leading zeros. JSON has the exact one.
pub(super) fn short(exact: &impl ToString, round: Round) -> String {
    let exact = exact.to_string();
    let Some((whole, fraction)) = exact.split_once('.') else {
        return exact;
    };
    let zeros = fraction.len() - fraction.trim_start_matches('0').len();
    let keep = if whole == "0" { zeros + 6 } else { 6 };
    if fraction.len() <= keep {
        return exact;
    }
    let Ok(digits) = format!("{whole}{}", &fraction[..keep]).parse::<u128>() else {
        return exact;
    };
    // Something was cut off, so the last digit that is kept goes up, with its carries.
    let digits = digits + u128::from(round == Round::Up);
    let digits = format!("{digits:0>width$}", width = keep + 1);
    let (whole, fraction) = digits.split_at(digits.len() - keep);
    let text = format!("{whole}.{fraction}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Caps, or what was spent of them.
pub(super) fn caps(caps: &Caps, round: Round) -> String {
    let parts: Vec<String> = [
        ("pure ε", caps.pure.to_string()),
        ("zero-concentrated ρ", caps.rho.to_string()),
        ("Gaussian μ²", caps.mu_squared.to_string()),
    ]
    .into_iter()
    .filter(|(_, amount)| amount != "0")
    .map(|(name, amount)| format!("{name} {}", short(&amount, round)))
    .collect();
    if parts.is_empty() {
        return "nothing".into();
    }
    parts.join(", ")
}

/// The same with the ε that it amounts to at `delta`, if it is not pure ε.
pub(super) fn budget(amount: &Caps, delta: Delta, round: Round) -> String {
    let text = caps(amount, round);
    let plain = Caps {
        pure: amount.pure,
        ..Caps::ZERO
    };
    if *amount == plain || delta == Delta::ZERO {
        return text;
    }
    let epsilon = short(&amount.epsilon(delta), round);
    format!("{text} (ε = {epsilon} at δ = {})", delta.scientific())
}

/// The (ε, δ) of all caps together.
pub(super) fn promise(epsilon: Epsilon, delta: Delta) -> String {
    match (epsilon, delta) {
        (Epsilon::MAX, _) => "no bound on ε".into(),
        (_, Delta::ZERO) => format!("ε = {}", short(&epsilon, Round::Up)),
        _ => format!("ε = {} at δ = {}", short(&epsilon, Round::Up), delta.scientific()),
    }
}

/// What ε means for one person, where `caps` are what may be spent in all.
pub(super) fn meaning(relation: &Relation, epsilon: Epsilon, caps: &Caps) -> String {
    let unit = match relation.rows().get() {
        1 => "one person".to_owned(),
        k => format!("one person of up to {k} rows"),
    };
    let sure = 1.0 / (1.0 + (-epsilon.to_f64()).exp());
    let about = match relation {
        Relation::AddRemove { .. } => format!("that {unit} is in the table"),
        Relation::Replace { .. } => format!("between two people that {unit} could be"),
        Relation::ReplacePrivate { .. } => {
            format!("between two things that the private columns of {unit} could say")
        }
        Relation::Owner => "between two things that everything about an owner could be".to_owned(),
    };
    let mut text = format!(
        "an adversary's odds {about} change by at most a factor e^ε = {}: whoever thought it fifty-fifty can become {}",
        odds(epsilon),
        certainty(sure),
    );
    text += &beyond(epsilon, caps, 1);
    // One row out, another in.
    if let (Relation::AddRemove { .. }, Some(twice)) = (relation, epsilon.checked_mul(2)) {
        text += &format!(
            ". Between two things that the person's row could say, by at most {}{}",
            odds(twice),
            beyond(epsilon, caps, 2)
        );
    }
    text += match relation {
        Relation::AddRemove { .. } => ".",
        Relation::Replace { .. } => ". That a person is in the table at all is not covered.",
        Relation::ReplacePrivate { .. } => ". Who is in the table and all other columns are not covered.",
        Relation::Owner => ". That an owner takes part at all is not covered.",
    };
    text
}

/// e^ε, rounded up.
pub(super) fn odds(epsilon: Epsilon) -> String {
    let factor = epsilon.to_f64().exp();
    match factor {
        f if f < 100.0 => format!("{:.2}", (f * 100.0).ceil() / 100.0),
        f if f < 1e6 => format!("{:.0}", f.ceil()),
        // What `exp` can be off by, and the rounding of ε itself, are less than a part in 10¹².
        f if f < 1e307 => sparse(&format!("{:.0}", (f * (1.0 + 1e-12)).ceil()), 0),
        _ => format!("e^{}", short(&epsilon, Round::Up)),
    }
}

/// How sure somebody is, rounded up.
pub(super) fn certainty(p: f64) -> String {
    if p > 0.999 {
        return "practically certain".into();
    }
    format!("at most {:.1}% sure", (p * 1000.0).ceil() / 10.0)
}

/// How likely it is that odds about something so many steps away move further than `steps` times ε, in words; nothing if they
/// never do, as where all of `caps` is pure ε.
pub(super) fn beyond(epsilon: Epsilon, caps: &Caps, steps: u64) -> String {
    let chance = match (caps.group(steps), epsilon.checked_mul(steps)) {
        (Some(caps), Some(epsilon)) => caps.chance_beyond(epsilon),
        _ => Delta::MAX,
    };
    match chance {
        Delta::ZERO => String::new(),
        _ => format!(", except with a probability of at most {}", probability(chance)),
    }
}

/// Warnings, a line each, before everything else.
pub(super) fn warnings(warnings: &[String]) -> String {
    let lines: String = warnings.iter().map(|why| format!("WARNING  {why}\n")).collect();
    if lines.is_empty() { lines } else { lines + "\n" }
}

/// A probability with two digits, rounded up from its exact decimal.
fn probability(chance: Delta) -> String {
    match chance {
        Delta::ZERO => "0".into(),
        _ => sparse(&chance.units().to_string(), -18),
    }
}

/// An integer of these digits, times a power of ten, with two digits, rounded up. The first digit is not zero.
fn sparse(digits: &str, power: i32) -> String {
    let mut exponent = digits.len() as i32 - 1 + power;
    let (first, rest) = digits.split_at(digits.len().min(2));
    let mut tenths: u32 = format!("{first:0<2}")
        .bytes()
        .fold(0, |sum, digit| 10 * sum + u32::from(digit - b'0'));
    tenths += u32::from(rest.bytes().any(|digit| digit != b'0'));
    if tenths == 100 {
        (tenths, exponent) = (10, exponent + 1);
    }
    match (tenths / 10, tenths % 10) {
        (whole, 0) => format!("{whole}e{exponent}"),
        (whole, tenth) => format!("{whole}.{tenth}e{exponent}"),
    }
}

/// Seconds since 1970 as a date, UTC.
pub(super) fn date(seconds: Option<u64>) -> String {
    let Some(seconds) = seconds else {
        return "no date".into();
    };
    // A clock that is far off ends with the year 9999.
    let seconds = seconds.min(253_402_300_799);
    let (days, time) = (seconds / 86_400, seconds % 86_400);
    // Years that begin in March end with the leap day; 400 of them have 146,097 days, and five months from March on 153.
    let (era, day_of_era) = ((days + 719_468) / 146_097, (days + 719_468) % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = (from_march + 2) % 12 + 1;
    let year = 400 * era + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{:02} {:02}:{:02}:{:02} UTC",
        day,
        time / 3600,
        time / 60 % 60,
        time % 60
    )
}

/// Where the continuation of a line begins: below its text, after the name that stands before two spaces.
fn hanging(line: &str) -> usize {
    let text = line.trim_start();
    let before = line.chars().count() - text.chars().count();
    let name = text.find("  ").filter(|&end| end < 30);
    name.map_or(before, |end| {
        let rest = &text[end..];
        before + text[..end].chars().count() + rest.len() - rest.trim_start().len()
    })
}

/// The text with lines of about 110 characters, so that it reads in a terminal; a number stays with its name, and a command in
/// one line, since it is copied.
pub fn wrapped(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let indent = hanging(line);
        let mut length = 0;
        let mut in_command = false;
        let words = line.split(|c| {
            in_command ^= c == '`';
            c == ' ' && !in_command
        });
        for (i, word) in words.enumerate() {
            let word_length = word.chars().count();
            let holds_on = word.starts_with(|c: char| c == '=' || c.is_ascii_digit());
            if i > 0 && !holds_on && length + 1 + word_length > 110 {
                lines.push('\n');
                lines.extend(std::iter::repeat_n(' ', indent));
                length = indent;
            } else if i > 0 {
                lines.push(' ');
                length += 1;
            }
            lines.push_str(word);
            length += word_length;
        }
        lines.push('\n');
    }
    lines
}

/// "1 entry", "2 entries".
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_shortened_in_our_favour() {
        for (exact, up, down) in [
            ("1", "1", "1"),
            ("0.25", "0.25", "0.25"),
            ("0.0498345873458", "0.0498346", "0.0498345"),
            ("0.9999999", "1", "0.999999"),
            ("12.34567891", "12.345679", "12.345678"),
        ] {
            assert_eq!(short(&exact, Round::Up), up);
            assert_eq!(short(&exact, Round::Down), down);
        }
    }

    #[test]
    fn a_command_stays_in_one_line() {
        let command = "`privet ledger limit clinic --epsilon 0.5`";
        let text = format!("{} Run {command} first", "word ".repeat(20));
        assert_eq!(
            wrapped(&text),
            format!("{} Run\n{command} first\n", "word ".repeat(20))
        );
    }

    #[test]
    fn words_for_known_values() {
        let one: Epsilon = "1".parse().expect("an epsilon");
        assert_eq!(odds(one), "2.72");
        let delta: Delta = "0.0000025".parse().expect("a delta");
        assert_eq!(delta.scientific(), "2.5e-6");
        assert_eq!(date(Some(0)), "1970-01-01 00:00:00 UTC");
        assert_eq!(date(Some(951_827_696)), "2000-02-29 12:34:56 UTC");
        assert_eq!(date(Some(1_798_761_599)), "2026-12-31 23:59:59 UTC");
        assert!(date(Some(u64::MAX)).starts_with("9999-12-"));
    }

    #[test]
    fn two_digits_are_never_too_few() {
        for (exact, shown) in [
            ("0.000001", "1e-6"),
            ("0.000001000000000001", "1.1e-6"),
            ("0.00001", "1e-5"),
            ("0.000032", "3.2e-5"),
            ("0.000032000000000001", "3.3e-5"),
            ("0.0000991", "1e-4"),
            ("0.000000000000000001", "1e-18"),
            ("0.000000000000000017", "1.7e-17"),
        ] {
            let chance: Delta = exact.parse().expect("a chance");
            assert_eq!(probability(chance), shown, "{exact}");
        }
        for (epsilon, factor) in [
            ("4", "54.60"),
            ("10", "22027"),
            ("16", "8.9e6"),
            ("700", "1.1e304"),
            ("1000", "e^1000"),
        ] {
            assert_eq!(odds(epsilon.parse().expect("an epsilon")), factor);
        }
    }
}
