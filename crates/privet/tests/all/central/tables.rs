//! Small schemas, rows at their corners, and every algorithm with every option.

use std::num::NonZeroU32;

use crate::central::curator::{Builder, Central};
use privet::data::schema::{Domain, category, label, number, ordinal};
use privet::data::{Keep, Schema, Table};
use privet::privacy::{Epsilon, ReplacePrivate};
use privet::setting::central::{Clip, Coefficient, Encoding, Normaliser, Planes, Splits};

use crate::home::schema;

/// A public or private number `p`, a number `x`, a category, an ordinal, and a label.
pub(crate) type Row = [&'static str; 5];
pub(crate) type Lines = Vec<Row>;

/// What a schema leaves public.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Open {
    Nothing,
    /// The label, and no feature.
    Label,
    /// The label and `p`.
    LabelAndFeature,
    /// `p`; the label is private.
    Feature,
    /// Every feature; the label is private.
    Features,
}

impl Open {
    /// The columns that stay private.
    pub(crate) fn private(self) -> &'static [&'static str] {
        match self {
            Self::Nothing => &["p", "x", "colour", "slope", "y"],
            Self::Label => &["p", "x", "colour", "slope"],
            Self::LabelAndFeature => &["x", "colour", "slope"],
            Self::Feature => &["x", "colour", "slope", "y"],
            Self::Features => &["y"],
        }
    }

    pub(crate) fn schema(self) -> Schema {
        self.schema_of(Domain::from(["a", "b"]))
    }

    /// The same columns with another label.
    pub(crate) fn schema_of(self, of: Domain) -> Schema {
        let columns = [
            number("p", -1.0..=1.0),
            number("x", -1.0..=1.0),
            category("colour", ["red", "green", "blue"]),
            ordinal("slope", ["low", "middle", "high"]),
            label("y", of),
        ];
        schema(columns.map(|column| {
            let private = self.private().contains(&column.name());
            column.private(private)
        }))
    }

    /// Replacing the private columns of a unit of up to k rows.
    pub(crate) fn relation(self, k: u32) -> ReplacePrivate {
        ReplacePrivate::unit(rows(k), self.private().iter().copied())
    }

    /// Whether two rows agree in what is public.
    pub(crate) fn agree(self, one: &Row, other: &Row) -> bool {
        let names = ["p", "x", "colour", "slope", "y"];
        let mut cells = names.iter().zip(one.iter().zip(other));
        cells.all(|(name, (a, b))| a == b || self.private().contains(name))
    }
}

pub(crate) fn rows(k: u32) -> NonZeroU32 {
    NonZeroU32::new(k).expect("above zero")
}

pub(crate) fn read(open: Open, lines: &[Row]) -> Table {
    crate::home::table(open.schema(), Keep::Values, lines)
}

/// Rows at the ends of everything, with missing and undeclared cells, beyond the bounds, and both labels.
pub(crate) const CORNERS: [Row; 8] = [
    ["1", "1", "red", "high", "a"],
    ["1", "1", "red", "high", "b"],
    ["1", "-1", "blue", "low", "a"],
    ["1", "-1", "blue", "low", "b"],
    ["1", "-7", "octarine", "high", "b"],
    ["1", "1e300", "green", "low", "b"],
    ["1", "", "?", "", "a"],
    ["1", "", "", "?", "a"],
];

/// The same, with `p` at its ends too where it may differ.
pub(crate) fn corners(open: Open) -> Lines {
    let free = open.private().contains(&"p");
    let each = CORNERS.map(|[p, x, colour, slope, y]| [if free { x } else { p }, x, colour, slope, y]);
    each.to_vec()
}

/// Other people.
pub(crate) fn others() -> Lines {
    vec![
        ["0.5", "0.25", "green", "middle", "b"],
        ["-0.9", "-1", "red", "low", "a"],
        ["", "0.7", "", "high", "a"],
        ["1", "", "blue", "?", "b"],
        ["0.1", "0.1", "octarine", "middle", "b"],
    ]
}

pub(crate) fn epsilon(text: &str) -> Epsilon {
    text.parse().expect("an epsilon")
}

/// Trees without a recalibration, which has tests of its own: its claim is reached by anybody, and would hide what others reach.
pub(crate) fn start(algorithm: &str, price: &str, about: u64) -> Builder {
    let builder = Central::builder()
        .algorithm(algorithm)
        .epsilon(epsilon(price))
        .rows_about(about);
    match algorithm {
        "trees" => builder.calibrate(false),
        _ => builder,
    }
}

pub(crate) fn built(builder: Builder) -> Central {
    builder.build().expect("parameters")
}

/// All kinds of planes but the one that only fits public columns beside a private label.
fn planes() -> impl Iterator<Item = Planes> {
    let all = Planes::NAMES.into_iter().map(|(_, planes)| planes);
    all.filter(|planes| *planes != Planes::PaidPublic)
}

/// Boosting with paid public classifiers, with every other option.
pub(crate) fn paid_public(price: &str, about: u64) -> Vec<Central> {
    let mut all = Vec::new();
    for (_, clip) in Clip::NAMES {
        for (_, normaliser) in Normaliser::NAMES {
            let brc = start("brc", price, about).rounds(3).planes(Planes::PaidPublic);
            all.push(built(brc.clip(clip).normaliser(normaliser)));
        }
    }
    all
}

/// Every algorithm that looks at private columns, and every option of boosting.
pub(crate) fn algorithms(price: &str, about: u64) -> Vec<Central> {
    let start = |name| start(name, price, about);
    let mut all = vec![
        start("select").candidates(7),
        start("histogram-bayes"),
        start("histogram-bayes").bins(2),
        start("moment-select").candidates(7),
        start("objective"),
        start("objective").encoding(Encoding::Indicators),
        start("people").rounds(3).clip(Clip::Project),
        start("people").rounds(2).normaliser(Normaliser::Weights),
        start("auto"),
        start("forest").trees(3).depth(2),
        start("trees").trees(4).leaves(3),
        start("trees").trees(3).splits(Splits::Mixed).gradient_clip(1.0),
        start("trees").trees(2).splits(Splits::Random).depth(2),
    ];
    // Two of the sixteen ways to boost for each kind of planes, so that every option stands beside others.
    for (number, planes) in planes().enumerate() {
        for other in [false, true] {
            let pick = |bit: usize| usize::from((number >> bit & 1 == 1) != other);
            let brc = start("brc").rounds(3).planes(planes).clip(Clip::NAMES[pick(0)].1);
            let brc = brc.normaliser(Normaliser::NAMES[pick(1)].1);
            all.push(brc.coefficient(Coefficient::NAMES[usize::from(other)].1));
        }
    }
    all.into_iter().map(built).collect()
}

/// Every combination of options of boosting.
pub(crate) fn every_boosting(price: &str, about: u64) -> Vec<Central> {
    let mut all = Vec::new();
    for planes in planes() {
        for (_, clip) in Clip::NAMES {
            for (_, normaliser) in Normaliser::NAMES {
                for (_, coefficient) in Coefficient::NAMES {
                    let brc = start("brc", price, about).rounds(3).planes(planes).clip(clip);
                    all.push(built(brc.normaliser(normaliser).coefficient(coefficient)));
                }
            }
        }
    }
    all
}
