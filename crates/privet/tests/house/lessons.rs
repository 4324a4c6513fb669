//! Each lesson in `docs/lessons.md` names tests that exist, or says why it cannot occur.

use std::collections::BTreeSet;

use crate::proofs::named;

/// How a row begins that needs no test.
const REASON: &str = "cannot occur here: ";

/// Everything wrong with the tables of a page, whose last column says what is done.
pub(crate) fn faults(page: &str, tests: &BTreeSet<String>) -> Vec<String> {
    let rows: Vec<Vec<&str>> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
        .map(|line| line.split(" | ").collect())
        .filter(|cells: &Vec<&str>| cells[0] != "---" && cells[0] != "what went wrong")
        .collect();
    let mut faults = Vec::new();
    if rows.is_empty() {
        faults.push("no lesson was found".to_owned());
    }
    for cells in rows {
        let (lesson, done) = (cells[0], cells[cells.len() - 1]);
        if cells.len() != 3 {
            faults.push(format!("{lesson}: {} cells", cells.len()));
        }
        if named(done).next().is_none() && !done.starts_with(REASON) {
            faults.push(format!("{lesson}: neither a test nor a reason"));
        }
        for missing in named(done).filter(|name| !tests.contains(*name)) {
            faults.push(format!("{lesson}: `{missing}` is no test"));
        }
    }
    faults
}

#[cfg(test)]
mod self_tests {
    use super::*;

    const PAGE: &str = "# Lessons\n\n| what went wrong | where | what we do |\n| --- | --- | --- |\n\
        | a leak | there | a test: `it_leaks_not` |\n| another | there | cannot occur here: there is none |\n";

    fn check(page: &str) -> usize {
        faults(page, &BTreeSet::from(["it_leaks_not".to_owned()])).len()
    }

    #[test]
    fn a_lesson_has_a_test_or_a_reason() {
        assert_eq!(check(PAGE), 0);
        assert_eq!(check(&PAGE.replace("it_leaks_not", "it_leaks")), 1);
        assert_eq!(check(&PAGE.replace("a test: `it_leaks_not`", "care")), 1);
        assert_eq!(
            check(&PAGE.replace("cannot occur here: there is none", "nothing")),
            1
        );
        assert_eq!(check(&PAGE.replace("| there ", "")), 2);
        assert_eq!(check("# Lessons\n"), 1);
    }
}
