//! `[algorithm]` of `setting = "plain"`.

use privet::data::{Schema, Section};
use privet::setting::plain::{Algorithm, Builder, Flavour, Plain, SUMS, THRESHOLDS};

/// Every parameter, for findings at its line.
const KEYS: [&str; 17] = [
    "rounds",
    "thresholds",
    "abstain",
    "iterations",
    "l2",
    "learning_rate",
    "depth",
    "leaves",
    "gamma",
    "min_child_weight",
    "row_share",
    "column_share",
    "seed",
    "flavour",
    "sums",
    "rises",
    "falls",
];

type Counts = [(&'static str, fn(Builder, u32) -> Builder); 4];
type Numbers = [(&'static str, fn(Builder, f64) -> Builder); 6];
type Names = [(&'static str, fn(Builder, Vec<String>) -> Builder); 2];

/// The algorithm, or nothing if something was found to be wrong with it.
pub(super) fn read(section: &Section<'_>, schema: Option<&Schema>) -> Option<Plain> {
    let names = Algorithm::NAMES.map(|name| (name, name));
    let name = section.required_choice("name", &names)?.value;
    checked(
        section,
        parameters(section, Plain::builder().algorithm(name)),
        schema,
    )
}

/// What was built, or a finding at the parameter that it is about.
pub(super) fn checked(section: &Section<'_>, builder: Builder, schema: Option<&Schema>) -> Option<Plain> {
    let plain = builder.build().and_then(|plain| {
        schema.map_or(Ok(()), |schema| plain.check(schema))?;
        Ok(plain)
    });
    plain
        .inspect_err(|e| {
            let why = e.to_string();
            let about = KEYS.into_iter().find(|key| why.starts_with(&format!("{key} ")));
            section.finding_at(about.unwrap_or("name"), why);
        })
        .ok()
}

/// Adds the parameters that the section gives.
pub(super) fn parameters(section: &Section<'_>, mut builder: Builder) -> Builder {
    const COUNTS: Counts = [
        ("rounds", Builder::rounds),
        ("iterations", Builder::iterations),
        ("depth", Builder::depth),
        ("leaves", Builder::leaves),
    ];
    const NUMBERS: Numbers = [
        ("l2", Builder::l2),
        ("learning_rate", Builder::learning_rate),
        ("gamma", Builder::gamma),
        ("min_child_weight", Builder::min_child_weight),
        ("row_share", Builder::row_share),
        ("column_share", Builder::column_share),
    ];
    const NAMES: Names = [("rises", Builder::rises), ("falls", Builder::falls)];
    for (key, set) in COUNTS {
        if let Some(count) = whole(section, key).and_then(|count| fits(section, key, count)) {
            builder = set(builder, count);
        }
    }
    for (key, set) in NUMBERS {
        if let Some(number) = section.number(key) {
            builder = set(builder, number.value);
        }
    }
    for (key, set) in NAMES {
        if let Some(names) = section.texts(key) {
            builder = set(builder, names.value);
        }
    }
    if let Some(seed) = whole(section, "seed").and_then(|seed| fits(section, "seed", seed)) {
        builder = builder.seed(seed);
    }
    if let Some(thresholds) = section.choice("thresholds", &THRESHOLDS) {
        builder = builder.thresholds(thresholds.value);
    }
    if let Some(abstain) = section.flag("abstain") {
        builder = builder.abstain(abstain.value);
    }
    if let Some(flavour) = section.choice("flavour", &Flavour::NAMES) {
        builder = builder.flavour(flavour.value);
    }
    if let Some(sums) = section.choice("sums", &SUMS) {
        builder = builder.sums(sums.value);
    }
    builder
}

pub(super) fn whole(section: &Section<'_>, key: &str) -> Option<i64> {
    section.integer(key).map(|found| found.value)
}

pub(super) fn fits<T: TryFrom<i64>>(section: &Section<'_>, key: &str, number: i64) -> Option<T> {
    let fitting = T::try_from(number).ok();
    if fitting.is_none() {
        section.finding_at(
            key,
            format!("{key} = {number} cannot be: write a number such as {key} = 10"),
        );
    }
    fitting
}
