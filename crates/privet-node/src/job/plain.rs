//! `[algorithm]` of `setting = "plain"`.

use privet::data::Section;
use privet::setting::plain::{Algorithm, Plain};

/// The algorithm, or nothing if something was found to be wrong with it.
pub(super) fn read(section: &Section<'_>) -> Option<Plain> {
    let names = Algorithm::NAMES.map(|name| (name, name));
    let mut builder = Plain::builder().algorithm(section.required_choice("name", &names)?.value);
    let count = |key: &str| {
        let found = section.integer(key)?;
        let count = u32::try_from(found.value).ok();
        if count.is_none() {
            section.finding_at(
                key,
                format!(
                    "{key} = {} cannot be: write a number such as {key} = 100",
                    found.value
                ),
            );
        }
        count
    };
    if let Some(rounds) = count("rounds") {
        builder = builder.rounds(rounds);
    }
    if let Some(iterations) = count("iterations") {
        builder = builder.iterations(iterations);
    }
    if let Some(l2) = section.number("l2") {
        builder = builder.l2(l2.value);
    }
    builder
        .build()
        .inspect_err(|e| {
            let why = e.to_string();
            let about = ["rounds", "iterations", "l2"]
                .into_iter()
                .find(|key| why.starts_with(key));
            section.finding_at(about.unwrap_or("name"), why);
        })
        .ok()
}
