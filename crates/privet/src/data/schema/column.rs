//! One column of `schema.toml`, from text.

use super::{Column, Declared, Extras, Kind, Label, Number, Spacing, Transform, Units};
use crate::Error;
use crate::data::document::{Found, Section, key as bare, quoted};

/// What to write for a column.
pub(super) const EXAMPLE: &str = "{ type = \"integer\", min = 0, max = 120 }";

/// What a label without a number has no use for.
pub(super) const NO_FILL: &str =
    "fill is for labels with values; a label without a number counts as the middle";

/// The type of a column, as a schema names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Number,
    Integer,
    Date,
    Ordinal,
    Category,
    Flag,
    Id,
    Skip,
    Label,
    Weight,
}

const TYPES: [(&str, Type); 10] = [
    ("number", Type::Number),
    ("integer", Type::Integer),
    ("date", Type::Date),
    ("ordinal", Type::Ordinal),
    ("category", Type::Category),
    ("flag", Type::Flag),
    ("id", Type::Id),
    ("skip", Type::Skip),
    ("label", Type::Label),
    ("weight", Type::Weight),
];

/// What other programs call these types.
const ELSEWHERE: [(&str, &[&str]); 8] = [
    ("number", &["float", "double", "real", "numeric"]),
    ("integer", &["long"]),
    ("date", &["datetime", "timestamp", "time"]),
    ("category", &["string", "text", "enum", "nominal"]),
    ("flag", &["bool", "boolean", "binary"]),
    ("label", &["target", "class"]),
    ("weight", &["weights", "sample_weight"]),
    ("skip", &["ignore"]),
];

const NUMBERS: &[Type] = &[Type::Number, Type::Integer];

/// Keys that only some types have, with those types.
const SPECIAL: [(&str, &[Type]); 9] = {
    use Type::{Category, Date, Flag, Integer, Label, Number, Ordinal, Weight};
    [
        ("min", &[Number, Integer, Date, Label]),
        ("max", &[Number, Integer, Date, Label, Weight]),
        ("bins", &[Number, Integer, Date]),
        ("cuts", &[Number, Integer, Date]),
        ("spacing", NUMBERS),
        ("transform", NUMBERS),
        ("scale", NUMBERS),
        ("values", &[Ordinal, Category, Flag, Label]),
        ("fill", &[Number, Integer, Ordinal, Category, Flag, Label]),
    ]
};

impl Type {
    fn name(self) -> &'static str {
        TYPES
            .iter()
            .find(|(_, kind)| *kind == self)
            .map_or("", |(name, _)| name)
    }

    /// Why a column of this type cannot have a key, if it cannot.
    pub(super) fn refuses(self, key: &str, column: &str) -> Option<String> {
        let (_, kinds) = SPECIAL.iter().find(|(special, _)| *special == key)?;
        let names: Vec<&str> = kinds.iter().map(|kind| kind.name()).collect();
        (!kinds.contains(&self)).then(|| {
            format!(
                "{key} is for columns of type {}; column '{column}' is of type {}: remove it, or change the type",
                names.join(", "),
                self.name()
            )
        })
    }
}

/// Whether a column is private by default.
pub(super) fn default_privacy(kind: &Kind) -> bool {
    !matches!(kind, Kind::Id | Kind::Skip)
}

/// A transform in units, if some are given.
pub(super) fn scaled(transform: Transform, scale: Option<f64>) -> Result<Transform, Error> {
    match scale {
        None => Ok(transform),
        Some(scale) => transform.in_units(Units::new(scale)?),
    }
}

/// The column; where something was found, a stand-in of its type, or nothing if even that is unknown.
pub(super) fn read(section: Section<'_>) -> Option<Column> {
    let private = section.flag("private").map(|found| found.value);
    let measure = section.text("measure").map(|found| found.value);
    let Some(kind) = kind_of(section) else {
        // Whatever else it has may be right.
        section.allow(&SPECIAL.map(|(key, _)| key));
        return None;
    };
    for (key, _) in SPECIAL.iter().filter(|(key, _)| section.has(key)) {
        if let Some(why) = kind.refuses(key, section.name()) {
            section.finding_at(key, why);
        }
    }
    let read = match kind {
        Type::Number | Type::Integer | Type::Date => number(section, kind),
        Type::Ordinal => declared(section, kind).map(Kind::Ordinal),
        Type::Category => declared(section, kind).map(Kind::Category),
        Type::Flag => declared(section, kind).map(Kind::Flag),
        Type::Id => Some(Kind::Id),
        Type::Skip => Some(Kind::Skip),
        Type::Label => label(section),
        Type::Weight => weight(section),
    };
    let kind = read.or_else(|| stand_in(kind))?;
    Some(Column {
        name: section.name().into(),
        private: private.unwrap_or(default_privacy(&kind)),
        kind,
        measure,
    })
}

fn kind_of(section: Section<'_>) -> Option<Type> {
    if !section.has("type") {
        section.finding_at(
            "type",
            format!(
                "column '{}' needs a type, such as: {} = {EXAMPLE}",
                section.name(),
                bare(section.name())
            ),
        );
        return None;
    }
    let written = section.text("type")?.value;
    if let Some((ours, _)) = ELSEWHERE.iter().find(|(_, theirs)| theirs.contains(&&*written)) {
        section.finding_at(
            "type",
            format!("type = \"{written}\" is not known; did you mean \"{ours}\"?"),
        );
        return None;
    }
    section.choice("type", &TYPES).map(|found| found.value)
}

/// A column of this type, so that the rest of the schema can be checked.
fn stand_in(kind: Type) -> Option<Kind> {
    let values = Declared::new(vec!["no".into(), "yes".into()], None).ok()?;
    Some(match kind {
        Type::Number | Type::Integer | Type::Date => {
            Kind::Number(Number::new(0.0, 1.0, Extras::default()).ok()?)
        }
        Type::Ordinal => Kind::Ordinal(values),
        Type::Category => Kind::Category(values),
        Type::Flag => Kind::Flag(values),
        Type::Id => Kind::Id,
        Type::Skip => Kind::Skip,
        Type::Label => Kind::Label(Label::Classes(values)),
        Type::Weight => Kind::Weight(1.0),
    })
}

/// What was read, if it was right: inside, whether it was there.
fn right<T>(section: Section<'_>, key: &str, found: Option<Found<T>>) -> Option<Option<T>> {
    match found {
        None if section.has(key) => None,
        found => Some(found.map(|found| found.value)),
    }
}

fn number(section: Section<'_>, kind: Type) -> Option<Kind> {
    let bound = |key| match kind {
        Type::Date => section.date(key),
        _ => section.number(key),
    };
    let (min, max) = (bound("min"), bound("max"));
    let bins = right(section, "bins", section.integer("bins"));
    let cuts = right(section, "cuts", section.numbers("cuts"));
    let transform = transform(section);
    let spacing = right(section, "spacing", section.choice("spacing", &Spacing::NAMES));
    let fill = right(section, "fill", section.number("fill"));
    needs_bounds(section, kind.name());
    let bins = match bins? {
        None => None,
        Some(bins) => Some(few(section, bins)?),
    };
    let extras = Extras {
        integer: kind == Type::Integer,
        date: kind == Type::Date,
        transform: transform?,
        bins,
        spacing: spacing?.unwrap_or_default(),
        cuts: cuts?,
        fill: fill?,
    };
    let number = Number::new(min?.value, max?.value, extras);
    of_column(section, number).map(Kind::Number)
}

fn transform(section: Section<'_>) -> Option<Transform> {
    let named = section.choice("transform", &Transform::NAMES);
    let named = right(section, "transform", named);
    let scale = right(section, "scale", section.number("scale"))?;
    scaled(named?.unwrap_or_default(), scale)
        .map_err(|why| section.finding_at("scale", format!("column '{}': {why}", section.name())))
        .ok()
}

fn few(section: Section<'_>, bins: i64) -> Option<u16> {
    let few = u16::try_from(bins).ok();
    if few.is_none() {
        let name = section.name();
        section.finding_at(
            "bins",
            format!("column '{name}': bins = {bins}: 1 to 65000 are possible"),
        );
    }
    few
}

/// A finding if a bound is not there.
fn needs_bounds(section: Section<'_>, kind: &str) {
    let name = section.name();
    let (min, max) = match kind {
        "date" => ("\"2000-01-01\"", "\"2029-12-31\""),
        _ => ("0", "120"),
    };
    let (needs, example) = match (section.has("min"), section.has("max")) {
        (true, true) => return,
        (true, false) => ("max", format!("max = {max}")),
        (false, true) => ("min", format!("min = {min}")),
        (false, false) => (
            "min and max",
            format!(
                "{} = {{ type = \"{kind}\", min = {min}, max = {max} }}",
                bare(name)
            ),
        ),
    };
    section.finding(format!(
        "column '{name}' needs {needs}, from public knowledge and not from this table, such as: {example}"
    ));
}

fn declared(section: Section<'_>, kind: Type) -> Option<Declared> {
    let values = right(section, "values", section.texts("values"));
    let fill = right(section, "fill", section.text("fill"));
    let values = match values? {
        Some(values) => values,
        None if kind == Type::Flag => vec!["false".into(), "true".into()],
        None => {
            section.finding_at(
                "values",
                format!(
                    "column '{}' needs its values, from public knowledge and not from this table, such as: {} = {{ type = {}, \
                     values = [\"low\", \"high\"] }}",
                    section.name(),
                    bare(section.name()),
                    quoted(kind.name())
                ),
            );
            return None;
        }
    };
    let fill = fill?;
    of_column(section, Declared::new(values, fill.as_deref()))
}

fn label(section: Section<'_>) -> Option<Kind> {
    let is_number = section.has("min") || section.has("max");
    let name = section.name();
    section.allow(&["values", "min", "max", "fill"]);
    if section.has("values") && is_number {
        section.finding_at(
            "values",
            format!("column '{name}' has both values and bounds; a label is one of some values, or a number"),
        );
        return None;
    }
    if section.has("values") {
        return declared(section, Type::Label).map(|values| Kind::Label(Label::Classes(values)));
    }
    let (min, max) = (section.number("min"), section.number("max"));
    if section.has("fill") {
        section.finding_at("fill", NO_FILL);
    }
    if !is_number {
        section.finding_at(
            "values",
            format!(
                "column '{name}' needs its values, or min and max, from public knowledge and not from this table, such as: {} \
                 = {{ type = \"label\", values = [\"no\", \"yes\"] }}",
                bare(name)
            ),
        );
        return None;
    }
    needs_bounds(section, "label");
    Some(Kind::Label(Label::Number {
        min: min?.value,
        max: max?.value,
    }))
}

fn weight(section: Section<'_>) -> Option<Kind> {
    if !section.has("max") {
        let name = section.name();
        section.finding_at(
            "max",
            format!(
                "column '{name}' needs max, the largest weight that a row can have, from public knowledge and not from this table, such as: {} = \
                 {{ type = \"weight\", max = 5 }}",
                bare(name)
            ),
        );
    }
    Some(Kind::Weight(section.number("max")?.value))
}

/// What a constructor refuses becomes a finding at the column's line.
fn of_column<T>(section: Section<'_>, made: Result<T, Error>) -> Option<T> {
    made.map_err(|why| section.finding(format!("column '{}': {why}", section.name())))
        .ok()
}
