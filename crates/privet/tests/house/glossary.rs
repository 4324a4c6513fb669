//! The glossary is sorted and about words that are in use, and phrases that readers could not understand stay away.

/// Phrases that were replaced by plain ones.
pub(crate) const RIDDLES: &[&str] = &[
    "bytes to be.",
    "told how much of how much",
    "how-manieth",
    "there is left",
    "of whoever does not",
    "you claim it, you prove it",
    "makes no sense there",
    "nobody who follows the protocol",
    "nobody is told why",
    "beyond what a computer counts to",
    "pulls at each leaf",
    "puts a prediction about",
    "cannot be what it is",
    "cannot be: write",
    "is no small chance",
    "is no parameter of",
    "leave it out",
    "columns may leave",
    "that have left",
    "nothing leaves",
    "for your own eyes",
    "less than no rows",
    "a wish of a kind",
];

/// The words of a glossary, each with its line.
fn words(page: &str) -> Vec<(usize, &str)> {
    let lines = page.lines().enumerate();
    lines
        .filter_map(|(at, line)| Some((at + 1, line.strip_prefix("- **")?.split_once("**: ")?.0)))
        .collect()
}

/// What is wrong with a glossary, given all other text of the project in lower case.
pub(crate) fn faults(page: &str, others: &str) -> Vec<String> {
    let words = words(page);
    let unsorted = words.windows(2).filter(|pair| pair[0].1 >= pair[1].1);
    let mut faults: Vec<String> = unsorted
        .map(|pair| format!("line {}: '{}' comes after '{}'", pair[1].0, pair[1].1, pair[0].1))
        .collect();
    let unused = words.iter().filter(|(_, word)| !occurs(word, others));
    faults.extend(unused.map(|(line, word)| format!("line {line}: '{word}' occurs nowhere else")));
    if words.is_empty() {
        faults.push("it has no entry of the form \"- **word**: meaning\"".into());
    }
    faults
}

fn occurs(word: &str, text: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        !before.is_some_and(char::is_alphanumeric)
    })
}

/// The riddles in a text, with their lines; a phrase may go on in the next line.
pub(crate) fn riddles(text: &str) -> Vec<(usize, &'static str)> {
    let (mut joined, mut lines) = (String::new(), Vec::new());
    for (at, line) in text.lines().enumerate() {
        let line = line.trim_start().trim_start_matches(['/', '!']).to_lowercase();
        for word in line.split_whitespace() {
            lines.push((joined.len(), at + 1));
            joined += word;
            joined.push(' ');
        }
    }
    let line_of = |place: usize| lines[lines.partition_point(|(begin, _)| *begin <= place) - 1].1;
    let found = RIDDLES.iter().flat_map(|riddle| {
        joined
            .match_indices(riddle)
            .map(|(place, _)| (line_of(place), *riddle))
    });
    found.collect()
}

#[cfg(test)]
mod self_tests {
    use super::*;

    #[test]
    fn an_unsorted_or_unused_word_is_a_fault() {
        let page = "# Glossary\n\n- **cell**: a value.\n- **bin**: an interval\n  of a range.\n";
        assert_eq!(
            faults(page, "a cell lies in bins"),
            ["line 4: 'bin' comes after 'cell'"]
        );
        let sorted = "- **bin**: an interval.\n- **cell**: a value.\n";
        assert!(faults(sorted, "cells, bins").is_empty());
        assert_eq!(
            faults(sorted, "a robin in cells"),
            ["line 1: 'bin' occurs nowhere else"]
        );
        assert_eq!(faults("# Glossary\n", "").len(), 1);
    }

    #[test]
    fn a_riddle_is_found_over_the_end_of_a_line() {
        let code = "fn f() {}\n/// Bytes\n/// to be.\nstruct Writer;\n";
        assert_eq!(riddles(code), [(2, "bytes to be.")]);
        assert!(riddles("/// An output buffer, whose bytes are to be sent.\n").is_empty());
    }
}
