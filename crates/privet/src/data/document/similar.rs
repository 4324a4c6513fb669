//! Suggestions for misspelt words.

/// The one among `known` that `word` was probably meant to be.
///
/// ```
/// use privet::data::document::similar;
/// assert_eq!(similar("colums", ["columns", "dataset"]), Some("columns"));
/// assert_eq!(similar("rows-per-unit", ["rows_per_unit"]), Some("rows_per_unit"));
/// assert_eq!(similar("int", ["integer", "number"]), Some("integer"));
/// assert_eq!(similar("colour", ["dataset"]), None);
/// ```
pub fn similar<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 60;
    let plain = |text: &str| -> Vec<char> {
        let letters = text.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).take(LONGEST + 1).collect()
    };
    let wanted = plain(word);
    if wanted.is_empty() || wanted.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for name in known {
        let letters = plain(name);
        let shorter = wanted.len().min(letters.len());
        let begins_alike = shorter >= 3 && wanted[..shorter] == letters[..shorter];
        let away = if letters.len().abs_diff(wanted.len()) > 2 {
            usize::MAX
        } else {
            distance(&wanted, &letters)
        };
        let allowed = match shorter {
            0..2 => 0,
            2..4 => 1,
            _ => 2,
        };
        // Among the equally near, the one that begins alike.
        let rank = match away {
            0 => 0,
            _ if away <= allowed => 2 * away + usize::from(!begins_alike),
            _ if begins_alike => 2 * allowed + 2,
            _ => continue,
        };
        if best.is_none_or(|(least, _)| rank < least) {
            best = Some((rank, name));
        }
    }
    best.map(|(_, name)| name)
}

/// How many letters have to be put in, left out, changed or swapped with the next.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let changed = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut least = changed.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_hand() {
        let letters = |text: &str| text.chars().collect::<Vec<_>>();
        for (a, b, away) in [
            ("", "", 0),
            ("min", "", 3),
            ("min", "mni", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3),
        ] {
            assert_eq!(distance(&letters(a), &letters(b)), away, "{a} {b}");
        }
    }

    #[test]
    fn the_nearest_is_meant_and_the_far_is_not() {
        let known = ["min", "max", "bins", "cuts", "fill"];
        assert_eq!(similar("mni", known), Some("min"));
        assert_eq!(similar("bin", known), Some("bins"), "it begins alike");
        assert_eq!(similar("Max", known), Some("max"));
        assert_eq!(similar("xx", known), None);
        assert_eq!(similar("", known), None);
        assert_eq!(similar(&"min".repeat(1000), known), None);
    }
}
