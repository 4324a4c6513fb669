//! Inconsistencies of a schema, reported all at once.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use super::{Column, Kind, Label, Schema, kind};

/// Which part of a schema is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Dataset,
    Unit,
    Rows,
    /// This key of `[file]`.
    File(&'static str),
    Missing,
    /// All columns together.
    Columns,
    /// The column at this place.
    Column(usize),
}

impl Place {
    /// Whether what is wrong there may be that a column is not declared.
    pub(super) fn wants_a_column(self) -> bool {
        matches!(self, Self::Unit | Self::Columns)
    }
}

impl Schema {
    /// Everything that is wrong with it.
    pub(super) fn faults(&self) -> Vec<(Place, String)> {
        let mut faults = Vec::new();
        if let Err(why) = name(&self.dataset) {
            faults.push((Place::Dataset, why));
        }
        self.unit_faults(&mut faults);
        self.layout_faults(&mut faults);
        for text in &self.missing {
            if text.trim() != text || text.chars().any(char::is_control) {
                faults.push((
                    Place::Missing,
                    format!("missing has {text:?}: cells are trimmed, and have no control characters"),
                ));
            }
        }
        self.column_faults(&mut faults);
        faults
    }

    fn unit_faults(&self, faults: &mut Vec<(Place, String)>) {
        let Some(unit) = &self.unit.column else {
            if self.unit.rows != NonZeroU32::MIN {
                faults.push((
                    Place::Rows,
                    "rows_per_unit needs unit = \"COLUMN\", the column that tells people apart".into(),
                ));
            }
            return;
        };
        let fault = match self.columns.iter().find(|column| &column.name == unit) {
            None => format!("unit = {unit:?} names no declared column"),
            Some(column) if column.kind != Kind::Id => {
                format!("unit = {unit:?} names a column that is not of type \"id\"")
            }
            Some(_) => return,
        };
        faults.push((Place::Unit, fault));
    }

    fn layout_faults(&self, faults: &mut Vec<(Place, String)>) {
        let layout = self.layout;
        let marks = [
            ("delimiter", Some(layout.delimiter)),
            ("quote", Some(layout.quote)),
            ("comment", layout.comment),
        ];
        for (i, &(name, mark)) in marks.iter().enumerate() {
            let Some(mark) = mark else { continue };
            if !mark.is_ascii() || matches!(mark, b'\n' | b'\r') {
                faults.push((
                    Place::File(name),
                    format!("{name} must be an ASCII character that ends no line"),
                ));
            }
            for (other, same) in &marks[..i] {
                if *same == Some(mark) {
                    let mark = char::from(mark);
                    faults.push((Place::File(name), format!("{other} and {name} are both {mark:?}")));
                }
            }
        }
    }

    fn column_faults(&self, faults: &mut Vec<(Place, String)>) {
        let mut names = BTreeSet::new();
        let mut label: Option<&Column> = None;
        let mut weight: Option<&Column> = None;
        for (place, column) in self.columns.iter().enumerate() {
            let mut fault = |why: String| faults.push((Place::Column(place), why));
            let name = &column.name;
            if !names.insert(name) {
                fault(format!("column '{name}' is declared twice"));
            }
            if name.chars().any(char::is_control) {
                fault(format!("column {name:?}: a name cannot have control characters"));
                continue;
            }
            if let Some(measure) = &column.measure
                && measure.chars().any(char::is_control)
            {
                fault(format!("column '{name}': measure cannot have control characters"));
            }
            match &column.kind {
                // Who is one person is what a claim rests on: it cannot be what is replaced.
                Kind::Id if column.private => fault(format!(
                    "column '{name}' is an id: it is never learnt from or shown, so it cannot be marked private; remove private"
                )),
                Kind::Flag(declared) if declared.values().len() != 2 => {
                    fault(format!("column '{name}': a flag has two values, no and yes"));
                }
                Kind::Label(kind) => {
                    if let Label::Number { min, max } = kind
                        && let Err(why) = kind::bounds(*min, *max)
                    {
                        fault(format!("column '{name}': {why}"));
                    }
                    match label {
                        Some(first) => fault(format!(
                            "'{}' and '{name}' are both labels: a model learns one",
                            first.name
                        )),
                        None => label = Some(column),
                    }
                }
                Kind::Weight(max) => {
                    if !(max.is_normal() && *max > 0.0 && *max <= 1e9) {
                        fault(format!(
                            "column '{name}': max = {max}: the largest weight is a number above 0, and at most 1e9"
                        ));
                    }
                    match weight {
                        Some(first) => fault(format!(
                            "'{}' and '{name}' are both weights: a row has one",
                            first.name
                        )),
                        None => weight = Some(column),
                    }
                }
                _ => {}
            }
        }
        // A party may have the label and nothing else.
        if self.features().next().is_none() && self.label().is_none() {
            faults.push((Place::Columns, "no column to learn from is declared".into()));
        }
    }
}

/// The rules for names of data sets; a ledger keeps its budget under it.
fn name(text: &str) -> Result<(), String> {
    let bad = |why| Err(format!("{text:?} cannot be the name of a data set: {why}"));
    if text.is_empty() || text.chars().count() > 100 {
        return bad("it must have 1 to 100 characters");
    }
    if text.chars().any(char::is_control) || text.trim() != text {
        return bad("line breaks, control characters and spaces at its ends look like another name");
    }
    Ok(())
}
