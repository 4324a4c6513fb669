//! Dates and times as texts and as numbers: days since 1970-01-01, of the proleptic Gregorian calendar.

/// The days of a date such as `2024-02-29`, with a time behind it if there is one: `2024-02-29T13:30`, `2024-02-29 13:30:05.25+01:00`.
/// A time without a zone counts as it is written.
pub fn days(text: &[u8]) -> Option<f64> {
    let (date, rest) = text.split_at_checked(10)?;
    let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = date else {
        return None;
    };
    let (year, month, day) = (
        digits(&[*y0, *y1, *y2, *y3])?,
        digits(&[*m0, *m1])?,
        digits(&[*d0, *d1])?,
    );
    if !(1..=12).contains(&month) || day < 1 || day > length(year, month) {
        return None;
    }
    let whole = from_civil(year, month, day) as f64;
    match rest {
        [] => Some(whole),
        [b'T' | b't' | b' ', time @ ..] => Some(whole + clock(time)?),
        _ => None,
    }
}

/// The same as text: the date alone if there is no time.
pub fn date(days: f64) -> String {
    // Microseconds: finer than any time of which a day is known.
    let micros = (days.clamp(-1e11, 1e11) * 86_400e6).round();
    let whole = (micros / 86_400e6).floor();
    let rest = (micros - whole * 86_400e6) as u64;
    let (year, month, day) = civil(whole as i64);
    let mut text = format!("{year:04}-{month:02}-{day:02}");
    if rest > 0 {
        let (seconds, micros) = (rest / 1_000_000, rest % 1_000_000);
        text += &format!(
            " {:02}:{:02}:{:02}",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        );
        if micros > 0 {
            text += &format!(".{micros:06}");
        }
    }
    text
}

/// A time of day as a part of a day, less its zone.
fn clock(text: &[u8]) -> Option<f64> {
    let zone = text
        .iter()
        .position(|byte| matches!(byte, b'Z' | b'z' | b'+' | b'-'));
    let (time, zone) = text.split_at(zone.unwrap_or(text.len()));
    let mut parts = time.trim_ascii().split(|&byte| byte == b':');
    let (hour, minute) = (two(parts.next()?)?, two(parts.next()?)?);
    let second = match parts.next() {
        None => 0.0,
        Some(part) if part.first().is_some_and(u8::is_ascii_digit) => {
            fast_float2::parse::<f64, _>(part).ok()?
        }
        Some(_) => return None,
    };
    // A leap second is written as the sixtieth.
    if parts.next().is_some() || hour > 23 || minute > 59 || !(0.0..61.0).contains(&second) {
        return None;
    }
    let ahead = match zone {
        [] | [b'Z' | b'z'] => 0,
        [sign, rest @ ..] => {
            let (hours, minutes) = match rest {
                [a, b] => (two(&[*a, *b])?, 0),
                [a, b, b':', c, d] | [a, b, c, d] => (two(&[*a, *b])?, two(&[*c, *d])?),
                _ => return None,
            };
            let minutes = hours * 60 + minutes;
            if *sign == b'-' { -minutes } else { minutes }
        }
    };
    Some((((hour * 60 + minute - ahead) * 60) as f64 + second) / 86_400.0)
}

fn two(text: &[u8]) -> Option<i64> {
    (text.len() == 2).then(|| digits(text)).flatten()
}

fn digits(text: &[u8]) -> Option<i64> {
    text.iter().try_fold(0, |sum, byte| {
        byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
    })
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Years that begin in March end with the leap day: then each month's first day follows from one formula.
fn from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_days_and_come_back() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("1969-12-31", -1.0),
            ("2000-02-29", 11_016.0),
            ("2024-12-31", 20_088.0),
            ("1970-01-01 12:00", 0.5),
            ("1970-01-01T06:00:00.000Z", 0.25),
            ("1970-01-02T01:00:00+01:00", 1.0),
            ("1969-12-31T18:00-0600", 0.0),
        ] {
            assert_eq!(days(text.as_bytes()), Some(expected), "{text}");
        }
        // From the year 0 to the year 9999.
        for whole in (-719_528..2_932_897).step_by(97) {
            let text = date(f64::from(whole));
            assert_eq!(days(text.as_bytes()), Some(f64::from(whole)), "{text}");
        }
        assert_eq!(date(0.5), "1970-01-01 12:00:00");
        assert_eq!(days(date(19_000.75).as_bytes()), Some(19_000.75));
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in [
            "",
            "2024",
            "2024-13-01",
            "2023-02-29",
            "2024-1-1",
            "01.02.2024",
            "2024-01-01x",
            "2024-01-01T",
            "2024-01-01 25:00",
            "2024-01-01 10:61",
            "2024-01-01 10:00:61",
            "2024-01-01 10:00+1",
            "2024/01/01",
            "2024-01-01 10:00:-5",
        ] {
            assert_eq!(days(text.as_bytes()), None, "{text}");
        }
    }
}
