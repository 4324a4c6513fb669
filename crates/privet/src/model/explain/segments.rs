//! The parts of a column's range that a model treats alike.

use serde::Serialize;

use super::TermColumn;
use crate::data::schema::{Column, Kind};
use crate::learner::tree;

/// Neighbouring slots of a column that a model treats alike.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Segment {
    /// The first slot.
    #[serde(skip)]
    pub first: u16,
    /// How many slots there are.
    #[serde(skip)]
    pub slots: u16,
    /// Which cells these are.
    #[serde(flatten)]
    pub means: Meaning,
}

/// Which cells go to a segment.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Meaning {
    /// Numbers from `low` on and below `high`; the last segment has its upper bound, too.
    Between {
        /// The smallest.
        low: f64,
        /// Where the next segment begins.
        high: f64,
    },
    /// One of these values.
    OneOf(Vec<String>),
    /// Values that the schema does not declare.
    Undeclared,
    /// Missing cells.
    Missing,
}

impl Meaning {
    /// In words.
    pub fn name(&self) -> String {
        match self {
            Self::Between { low, high } => format!("{} to {}", short(*low), short(*high)),
            Self::OneOf(values) => values.join(", "),
            Self::Undeclared => "not declared".into(),
            Self::Missing => "missing".into(),
        }
    }
}

/// A number with few digits.
pub(super) fn short(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    let digits = (4 - x.abs().log10().floor() as i32 - 1).clamp(0, 9) as usize;
    let text = format!("{x:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

impl TermColumn {
    /// The segments of a column between which one of `questions` tells a difference; each says whether a slot goes left. Values without an order
    /// stay apart.
    pub(super) fn new(
        feature: usize,
        column: &Column,
        engine: &tree::Column,
        questions: &[&dyn Fn(u16) -> bool],
    ) -> Self {
        let slots = last_possible(column, engine);
        let begins = |slot: usize| {
            slot == 0
                || slot >= engine.ordinary
                || !engine.ordered
                || questions
                    .iter()
                    .any(|left| left(slot as u16) != left(slot as u16 - 1))
        };
        let mut firsts: Vec<usize> = (0..slots).filter(|&slot| begins(slot)).collect();
        firsts.push(slots);
        let segment = |pair: &[usize]| Segment {
            first: pair[0] as u16,
            slots: (pair[1] - pair[0]) as u16,
            means: meaning(&column.kind, pair[0], pair[1]),
        };
        Self {
            feature,
            name: column.name.clone(),
            measure: column.measure.clone(),
            segments: firsts.windows(2).map(segment).collect(),
        }
    }

    /// The segment of a slot.
    pub(super) fn place(&self, slot: u16) -> usize {
        let after = self.segments.partition_point(|segment| segment.first <= slot);
        after.saturating_sub(1)
    }
}

/// How many slots cells can go to: a missing cell that counts as something has none of its own.
fn last_possible(column: &Column, engine: &tree::Column) -> usize {
    let is_filled = match &column.kind {
        Kind::Number(number) => number.fill().is_some(),
        Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => {
            declared.fill().is_some()
        }
        Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => false,
    };
    engine.slots - usize::from(is_filled)
}

fn meaning(kind: &Kind, first: usize, end: usize) -> Meaning {
    match kind {
        Kind::Number(number) => {
            let points = number.cuts().points();
            if first > points.len() {
                return Meaning::Missing;
            }
            let edge = |at: usize| f64::from(points[at - 1]);
            Meaning::Between {
                low: if first == 0 { number.min() } else { edge(first) },
                high: if end > points.len() {
                    number.max()
                } else {
                    edge(end)
                },
            }
        }
        Kind::Ordinal(declared) | Kind::Category(declared) | Kind::Flag(declared) => {
            let values = declared.values();
            match first.checked_sub(values.len()) {
                None => Meaning::OneOf(values[first..end.min(values.len())].to_vec()),
                Some(0) => Meaning::Undeclared,
                Some(_) => Meaning::Missing,
            }
        }
        Kind::Id | Kind::Skip | Kind::Label(_) | Kind::Weight(_) => Meaning::Undeclared,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_few_digits_and_keep_their_size() {
        for (x, text) in [
            (0.0, "0"),
            (17.0, "17"),
            (-0.123456, "-0.1235"),
            (99_999.0, "99999"),
            (1234.56, "1235"),
            (0.000_012_34, "0.00001234"),
        ] {
            assert_eq!(short(x), text);
        }
    }
}
