//! `schema.toml`, to text: the same for the same schema, and nothing left to defaults that may change.

use std::fmt::Write;

use super::{Column, Declared, Kind, Label, Layout, Number, Schema, Spacing, Transform};
use crate::data::document::{key, number, quoted};
use crate::data::{date, days};

impl Schema {
    /// The schema as text from which [`Schema::from_toml`] reads the same schema. Model files carry it.
    pub fn to_toml(&self) -> String {
        let mut out = format!("dataset = {}\n", quoted(&self.dataset));
        let mut line = |text: String| {
            out += &text;
            out.push('\n');
        };
        if let Some(unit) = &self.unit.column {
            line(format!("unit = {}", quoted(unit)));
            line(format!("rows_per_unit = {}", self.unit.rows));
        }
        line(format!(
            "missing = {}",
            list(self.missing.iter().map(|text| quoted(text)))
        ));
        line("\n[file]".into());
        let layout = self.layout;
        line(format!("header = {}", layout.header));
        line(format!("delimiter = {}", mark(layout.delimiter)));
        line(format!("quote = {}", mark(layout.quote)));
        if let Some(comment) = layout.comment {
            line(format!("comment = {}", mark(comment)));
        }
        if layout.decimal != Layout::default().decimal {
            line(format!("decimal = {}", mark(layout.decimal)));
        }
        line("\n[columns]".into());
        for column in &self.columns {
            line(format!("{} = {{ {} }}", key(&column.name), body(column)));
        }
        out
    }
}

fn mark(byte: u8) -> String {
    match byte {
        b'\t' => "\"tab\"".into(),
        byte => quoted(char::from(byte).encode_utf8(&mut [0; 4])),
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// What stands between the braces of a column.
pub(super) fn body(column: &Column) -> String {
    let mut out = format!("type = \"{}\"", column.kind.name());
    // Writing to a string cannot fail.
    let mut also = |key: &str, value: String| {
        let _ = write!(out, ", {key} = {value}");
    };
    match &column.kind {
        Kind::Number(it) => of_number(it, &mut also),
        Kind::Ordinal(it) | Kind::Category(it) | Kind::Flag(it) => of_declared(it, &mut also),
        Kind::Id | Kind::Skip => {}
        Kind::Label(Label::Classes(it)) => of_declared(it, &mut also),
        Kind::Label(Label::Number { min, max }) => {
            also("min", number(*min));
            also("max", number(*max));
        }
        Kind::Weight(max) => also("max", number(*max)),
    }
    if let Some(measure) = &column.measure {
        also("measure", quoted(measure));
    }
    also("private", column.private.to_string());
    out
}

fn of_number(it: &Number, also: &mut impl FnMut(&str, String)) {
    also("min", bound(it, it.min()));
    also("max", bound(it, it.max()));
    if it.transform() != Transform::None {
        also("transform", quoted(it.transform().name()));
    }
    if let Some(units) = it.transform().units() {
        also("scale", number(units.size()));
    }
    if let Some(bins) = it.bins() {
        also("bins", bins.to_string());
    }
    if it.spacing() != Spacing::Even {
        let name = Spacing::NAMES
            .iter()
            .find(|(_, spacing)| *spacing == it.spacing());
        also("spacing", quoted(name.map_or("", |(name, _)| name)));
    }
    if it.has_declared_cuts() {
        also("cuts", list(it.cuts().points().iter().map(|&cut| single(cut))));
    }
    if let Some(fill) = it.fill() {
        also("fill", number(fill));
    }
}

/// A bound as the schema writes it; a time that a text cannot say exactly is a number of days.
pub(super) fn bound(it: &Number, x: f64) -> String {
    let text = date(x);
    match it.is_date() && days(text.as_bytes()) == Some(x) {
        true => quoted(&text),
        false => number(x),
    }
}

fn of_declared(it: &Declared, also: &mut impl FnMut(&str, String)) {
    also("values", list(it.values().iter().map(|value| quoted(value))));
    if let Some(fill) = it.fill() {
        also("fill", quoted(&it.values()[usize::from(fill)]));
    }
}

/// A single-precision number in its few digits, unless reading them in double precision gave another.
fn single(x: f32) -> String {
    let exact = f64::from(x);
    if exact.fract() == 0.0 {
        return number(exact);
    }
    let few = format!("{x:?}");
    match few.parse::<f64>() {
        Ok(read) if read as f32 == x => few,
        _ => number(exact),
    }
}
