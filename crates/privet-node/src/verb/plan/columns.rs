//! How a feature holder's columns change, in words.

use std::fmt::Write;

use privet::data::schema::{Column, Kind, Number};
use privet::privacy::mechanism::ordered::{Distance, Loss};

use crate::job::FeatureHolderJob;
use crate::verb::words;

/// How one feature holder's columns change, and what that means.
pub(super) fn columns(holder: &FeatureHolderJob, label_holder: &str) -> String {
    let plan = holder.plan.columns();
    let distances = plan.distances();
    let columns: Vec<&Column> = plan.schema().features().collect();
    let described: Vec<String> = columns.iter().map(|column| values(column)).collect();
    let width = |all: &mut dyn Iterator<Item = usize>, least: usize| all.max().unwrap_or(0).max(least);
    let names = width(&mut columns.iter().map(|c| c.name.chars().count()), 6);
    let kinds = width(&mut described.iter().map(|d| d.chars().count()), 6);
    let mut text = format!("\nHOW {}'S COLUMNS CHANGE\n", holder.name.to_uppercase());
    let _ = writeln!(text, "  {}", who(holder, label_holder));
    let steps: Vec<String> = distances.iter().map(step).collect();
    let widest = width(&mut steps.iter().map(|s| s.chars().count()), 20);
    let _ = writeln!(
        text,
        "\n  {:<names$}   {:<kinds$}   {:<widest$}   over the whole domain",
        "column", "values", "from one to the next"
    );
    for (((column, described), step), distance) in columns.iter().zip(&described).zip(&steps).zip(distances) {
        let whole = loss(distance.whole);
        let _ = writeln!(
            text,
            "  {:<names$}   {described:<kinds$}   {step:<widest$}   {whole}",
            column.name
        );
    }
    let record = plan.distance();
    let _ = writeln!(text, "\n  A row, over all columns: {}", loss(record));
    let _ = writeln!(
        text,
        "\n  Somebody who is 50% sure which of two people a row is about can become"
    );
    for (column, distance) in columns.iter().zip(distances).take(SHOWN) {
        for line in meaning(column, distance) {
            let _ = writeln!(text, "  -  {line}");
        }
    }
    if columns.len() > SHOWN {
        let _ = writeln!(
            text,
            "  -  and likewise for {} more columns",
            columns.len() - SHOWN
        );
    }
    let _ = writeln!(
        text,
        "  -  {}, if the two differ in everything as far as can be",
        sure(record)
    );
    text
}

/// So many columns are explained one by one.
const SHOWN: usize = 3;

fn who(holder: &FeatureHolderJob, label_holder: &str) -> String {
    let relation = holder.plan.columns().relation();
    let person = match relation.unit() {
        None => "every row is a person".to_owned(),
        Some(unit) => format!(
            "rows with the same '{unit}' are a person, of whom the first {} used",
            match relation.rows().get() {
                1 => "is".to_owned(),
                k => format!("{k} are"),
            }
        ),
    };
    let what = match relation.private() {
        Some(columns) => format!(
            "what the private columns ({}) of a row say",
            columns.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        ),
        None => "what a row says".to_owned(),
    };
    format!(
        "'{}': {person}. Protected is {what}, from {label_holder} and anybody it informs; not that the row is there.",
        holder.source.schema.dataset(),
    )
}

/// What a column can say, in the words of its schema.
fn values(column: &Column) -> String {
    match &column.kind {
        Kind::Number(number) => {
            let bins = number.cuts().bins();
            format!(
                "{bins} bins{}",
                bin(number, column).map_or(String::new(), |bin| format!(" of {bin}"))
            )
        }
        Kind::Ordinal(declared) => format!("{} steps", declared.values().len()),
        Kind::Flag(declared) => declared.values().join(" or "),
        Kind::Category(declared) => format!("{} values", declared.values().len()),
        kind => kind.name().to_owned(),
    }
}

/// How wide a bin is, if all are alike.
fn bin(number: &Number, column: &Column) -> Option<String> {
    let edges: Vec<f64> = [number.min()]
        .into_iter()
        .chain(number.cuts().points().iter().map(|&x| f64::from(x)))
        .chain([number.max()])
        .collect();
    let widths: Vec<f64> = edges.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let mean = widths.iter().sum::<f64>() / widths.len().max(1) as f64;
    // A whole number's first and last bin reach half a step farther than its bounds do.
    let inner = widths
        .get(1..widths.len().saturating_sub(1))
        .filter(|w| !w.is_empty());
    let alike = |widths: &[f64]| {
        widths
            .iter()
            .all(|width| (width - widths[0]).abs() <= 0.01 * mean)
    };
    let width = match inner {
        Some(inner) if alike(inner) => inner[0],
        None if alike(&widths) => *widths.first()?,
        _ => return None,
    };
    let width = format!("{:.2}", width);
    let width = width.trim_end_matches('0').trim_end_matches('.');
    Some(match &column.measure {
        Some(measure) => format!("{width} {measure}"),
        None => width.to_owned(),
    })
}

/// How sure somebody can become about two people who differ in this column.
fn meaning(column: &Column, distance: &Distance) -> Vec<String> {
    let name = &column.name;
    let near = match &column.kind {
        Kind::Number(number) => {
            let by = bin(number, column).map_or(String::new(), |bin| format!(" ({bin})"));
            format!("by one bin{by}")
        }
        Kind::Ordinal(_) => "by one step".to_owned(),
        _ => return vec![format!("{}, if their '{name}' differs", sure(distance.whole))],
    };
    let mut lines = vec![format!(
        "{}, if their '{name}' differs {near}; {}, if it differs as far as can be",
        sure(distance.within),
        sure(distance.whole)
    )];
    lines.extend(distance.across.map(|across| {
        format!(
            "{}, if their '{name}' differs {near} over a border of two parts",
            sure(across)
        )
    }));
    lines
}

fn step(distance: &Distance) -> String {
    match distance.across {
        None => loss(distance.within),
        Some(across) => format!("{}, over a border {}", loss(distance.within), loss(across)),
    }
}

/// An ε, or that there is none.
pub(super) fn loss(loss: Loss) -> String {
    match loss {
        Loss::Bounded(epsilon) => format!("ε = {}", words::short(&epsilon, words::Round::Up)),
        Loss::Unbounded => "no bound".into(),
    }
}

/// How sure somebody can become who thought it fifty-fifty.
fn sure(loss: Loss) -> String {
    match loss {
        Loss::Bounded(epsilon) => words::certainty(1.0 / (1.0 + (-epsilon.to_f64()).exp())),
        Loss::Unbounded => "certain".into(),
    }
}
