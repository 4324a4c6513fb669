//! `[algorithm]` of `setting = "plain"`.

use privet::data::Schema;
use privet::data::document::Section;
use privet::data::schema::Label;
use privet::setting::plain::Plain;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Name {
    Stumps,
    Logistic,
    Constant,
}

/// The algorithm, or nothing if something was found to be wrong with it.
pub(super) fn read(section: &Section<'_>, schema: Option<&Schema>) -> Option<Plain> {
    let names = [("stumps", Name::Stumps), ("logistic", Name::Logistic), ("constant", Name::Constant)];
    let name = section.required_choice("name", &names)?.value;
    let built = match name {
        Name::Stumps => {
            let rounds = section.integer("rounds").map_or(100, |found| found.value);
            if schema.and_then(Schema::label).is_some_and(|(_, label)| matches!(label, Label::Number { .. })) {
                section.finding("name", "name = \"stumps\" needs a label with classes; for a number write name = \"logistic\"");
                return None;
            }
            u32::try_from(rounds)
                .map_err(|_| privet::Error::Parameter(format!("rounds = {rounds}: write a number from 1 to 100000")))
                .and_then(Plain::stumps)
        }
        Name::Logistic => {
            let l2 = section.number("l2").map_or(1.0, |found| found.value);
            Plain::logistic_with(l2)
        }
        Name::Constant => Ok(Plain::constant()),
    };
    let key = if name == Name::Stumps { "rounds" } else { "l2" };
    built.inspect_err(|e| section.finding(key, e.to_string())).ok()
}
