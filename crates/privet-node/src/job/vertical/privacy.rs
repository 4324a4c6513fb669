//! `[privacy]` of `setting = "vertical"`.

use privet::Error;
use privet::data::Section;
use privet::parameters::{fits, whole};
use privet::privacy::Epsilon;
use privet::privacy::mechanism::ordered::{Alignment as Blocks, Route};
use privet::setting::vertical::{Budget, Builder, Categories, Desensitisation, Mechanism, Vertical};

use super::Wanted;

/// Every parameter, for findings at its line.
const KEYS: [&str; 11] = [
    "epsilon",
    "mechanism",
    "width",
    "across",
    "alpha",
    "clipped",
    "categories",
    "budget",
    "columns",
    "bins",
    "label_epsilon",
];

/// What the section says, or nothing if something was found to be wrong with it.
pub(super) fn read(section: &Section<'_>) -> Option<Wanted> {
    section.allow(&KEYS);
    let epsilon = section
        .required_number("epsilon", "1.0")
        .and_then(|found| positive(section, "epsilon", found.value));
    let mechanism = mechanism(section);
    let categories = section.choice("categories", &Categories::NAMES);
    let budget = budget(section);
    let bins = match section.has("bins") {
        false => Some(Desensitisation::BINS),
        true => whole(section, "bins").and_then(|bins| slots(section, bins)),
    };
    let label_epsilon = match section.has("label_epsilon") {
        false => Some(None),
        true => section
            .number("label_epsilon")
            .and_then(|found| positive(section, "label_epsilon", found.value))
            .map(Some),
    };
    let (bins, budget) = (bins?, budget?);
    let mut builder = Vertical::builder()
        .epsilon(epsilon?)
        .mechanism(mechanism?)
        .budget(budget)
        .bins(bins);
    if let Some(categories) = categories {
        builder = builder.categories(categories.value);
    }
    if let Some(epsilon) = label_epsilon? {
        builder = builder.label_epsilon(epsilon);
    }
    let sampled = matches!(budget, Budget::Sample(_));
    Some(Wanted {
        builder,
        bins,
        sampled,
    })
}

/// What was built, or a finding at the parameter that it is about.
pub(super) fn built(section: &Section<'_>, builder: Builder) -> Option<Vertical> {
    builder.build().inspect_err(|e| about(section, e)).ok()
}

/// A finding at the parameter that an error is about; if that stands elsewhere, at the section.
pub(super) fn about(section: &Section<'_>, e: &Error) {
    match key_of(e) {
        Some(key) => section.finding_at(key, e.to_string()),
        None => section.finding(e.to_string()),
    }
}

/// The parameter of this section that an error is about.
pub(super) fn key_of(e: &Error) -> Option<&'static str> {
    let Error::Parameter(e) = e else { return None };
    KEYS.into_iter().find(|key| e.key() == Some(key))
}

fn positive(section: &Section<'_>, key: &str, number: f64) -> Option<Epsilon> {
    let epsilon = Epsilon::new(number).ok().filter(|e| *e > Epsilon::ZERO);
    if epsilon.is_none() {
        section.finding_at(
            key,
            format!("{key} = {number} cannot be: write a number above zero with at most nine decimals, such as {key} = 1.0"),
        );
    }
    epsilon
}

fn slots(section: &Section<'_>, bins: i64) -> Option<u16> {
    let slots = u16::try_from(bins).ok().filter(|bins| (2..=1024).contains(bins));
    if slots.is_none() {
        section.finding_at("bins", format!("bins = {bins}: it must lie between 2 and 1024"));
    }
    slots
}

fn budget(section: &Section<'_>) -> Option<Budget> {
    let names = [("split", 0), ("full", 1), ("sample", 2)];
    let chosen = match section.has("budget") {
        false => 0,
        true => section.choice("budget", &names)?.value,
    };
    if chosen == 2 {
        let columns = section.required_integer("columns", "3")?.value;
        return fits(section, "columns", columns).map(Budget::Sample);
    }
    if section.has("columns") {
        let why = "columns belongs to budget = \"sample\", which lets so many columns leave: leave it out, or say budget = \"sample\"";
        section.finding_at("columns", why);
        return None;
    }
    Some(if chosen == 0 { Budget::Split } else { Budget::Full })
}

fn mechanism(section: &Section<'_>) -> Option<Mechanism> {
    let names = Mechanism::NAMES.map(|name| (name, name));
    let name = match section.has("mechanism") {
        false => Mechanism::ClampedGeometric.name(),
        true => section.choice("mechanism", &names)?.value,
    };
    let takes: &[&str] = match name {
        "path-geometric" => &["width", "across"],
        "adjusted-map" => &["width", "alpha"],
        "local-map" => &["width"],
        "piecewise" => &["clipped"],
        _ => &[],
    };
    let mut fine = true;
    for key in ["width", "across", "alpha", "clipped"] {
        if section.has(key) && !takes.contains(&key) {
            section.finding_at(key, format!("{key} is no parameter of \"{name}\": leave it out"));
            fine = false;
        }
    }
    let width = match takes.contains(&"width") {
        false => Some(1),
        true => section
            .required_integer("width", "4")
            .and_then(|found| fits(section, "width", found.value)),
    };
    let across = match section.has("across") && takes.contains(&"across") {
        false => Some(None),
        true => section
            .number("across")
            .and_then(|found| positive(section, "across", found.value))
            .map(Some),
    };
    let alpha_thousandths = match takes.contains(&"alpha") {
        false => Some(0),
        true => section
            .required_number("alpha", "2.0")
            .and_then(|found| thousandths(section, found.value)),
    };
    let clipped = match section.has("clipped") && takes.contains(&"clipped") {
        false => Some(true),
        true => section.flag("clipped").map(|found| found.value),
    };
    let (width, across, alpha_thousandths, clipped) = (width?, across?, alpha_thousandths?, clipped?);
    let blocks = Blocks::FirstSlot;
    fine.then_some(match name {
        "path-geometric" => Mechanism::PathGeometric { width, across },
        "global-map" => Mechanism::GlobalMap(Route::default()),
        "adjusted-map" => Mechanism::AdjustedMap {
            width,
            alpha_thousandths,
            blocks,
        },
        "local-map" => Mechanism::LocalMap { width, blocks },
        "piecewise" => Mechanism::Piecewise { clipped },
        _ => Mechanism::ClampedGeometric,
    })
}

fn thousandths(section: &Section<'_>, alpha: f64) -> Option<u32> {
    let thousandths = alpha * 1000.0;
    let whole = (thousandths.round() - thousandths).abs() < 1e-6;
    if !whole || !(1.0..=1e6).contains(&thousandths.round()) {
        section.finding_at(
            "alpha",
            format!(
                "alpha = {alpha} cannot be: write a number from 0.001 to 1000 with at most three decimals"
            ),
        );
        return None;
    }
    Some(thousandths.round() as u32)
}
