//! A schema in plain words.

use super::write::bound;
use super::{Column, Declared, Kind, Label, Number, Schema, Spacing, Transform};
use crate::data::document::number as digits;

impl Schema {
    /// What the schema means, and what may be worth a second thought. It follows from the schema alone. Where it leaves bins open,
    /// it says what each algorithm makes of that.
    pub fn explain(&self) -> String {
        self.explained(Bins::LeftOpen)
    }

    /// The same of a schema that rows were read by, as a model's is: its bins are settled.
    pub fn explain_as_read(&self) -> String {
        self.explained(Bins::Settled)
    }

    fn explained(&self, bins: Bins) -> String {
        let mut out = format!("Data set {:?}: {}\n\n", self.dataset, self.who());
        out += &format!("{}\n\nColumns\n", self.what_is_private());
        let wide = self.columns.iter().map(|c| c.name.chars().count()).max();
        let wide = wide.unwrap_or(0).min(24);
        for column in &self.columns {
            out += &format!("  {:wide$}  {}\n", column.name, column.in_words(self, bins));
        }
        if bins == Bins::LeftOpen && self.columns.iter().any(Column::differs_by_algorithm) {
            out += "\nNumbers without declared bins are binned as the algorithm chooses, and desensitised columns into as \
                    many bins as the job says. privet inspect shows the bins of a model.\n";
        }
        let missing: Vec<String> = self.missing.iter().map(|text| format!("{text:?}")).collect();
        out += &match &missing[..] {
            [] => "\nNo text means \"missing\".\n".to_owned(),
            texts => format!("\nA cell is missing if it is one of {}.\n", texts.join(", ")),
        };
        if self.layout.decimal == b',' {
            out += "Numbers have a comma before their fraction; one with a point counts as missing.\n";
        }
        let remarks = self.remarks();
        if !remarks.is_empty() {
            out += "\nWorth a second thought\n";
            for remark in remarks {
                out += &format!("  - {remark}\n");
            }
        }
        out
    }

    fn who(&self) -> String {
        match &self.unit.column {
            None => "each row is one person.".into(),
            Some(column) => {
                format!(
                    "rows with the same '{column}' are one person; {} used.",
                    match self.unit.rows.get() {
                        1 => "the first row of each is".to_owned(),
                        rows => format!("the first {rows} rows of each are"),
                    }
                ) + " Rows without it are not."
            }
        }
    }

    fn what_is_private(&self) -> String {
        let read = || {
            let not_read = |column: &&Column| !matches!(column.kind, Kind::Id | Kind::Skip);
            self.columns.iter().filter(not_read)
        };
        let names = |private: bool| {
            let those = read().filter(|column| column.private == private);
            let names: Vec<String> = those.map(|column| format!("'{}'", column.name)).collect();
            names.join(", ")
        };
        match (names(true), names(false)) {
            (private, _) if private.is_empty() => "Nothing is private: anybody may know all of it.".into(),
            (_, public) if public.is_empty() => {
                "Everything that is read is private, and so is whether somebody is in the table at all."
                    .into()
            }
            (private, public) => format!(
                "Private: {private}.\nPublic: {public}. Who is in the table, and what these columns say, is not protected."
            ),
        }
    }

    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        match self.label() {
            None => remarks.push(
                "No column is of type \"label\": this table can be predicted for, but not learnt from alone."
                    .into(),
            ),
            Some((label, _)) if !label.private && self.features().all(|column| column.private) => {
                remarks.push(format!(
                    "'{}', which is to be predicted, is public while all else is private. It is often what people would \
                     rather keep to themselves.",
                    label.name
                ));
            }
            Some(_) => {}
        }
        for column in &self.columns {
            let name = &column.name;
            match &column.kind {
                Kind::Id if self.unit.column.is_none() => remarks.push(format!(
                    "'{name}' is an id that nothing uses. If people have several rows, add unit = {name:?} so that a person \
                     is protected as a whole."
                )),
                Kind::Number(number) => remarks.extend(better_scale(number).map(|scale| format!(
                    "'{name}' goes from {} to {}: in bins of equal width most small numbers share one bin. transform = \"{}\" \
                     would tell them apart.",
                    digits(number.min()),
                    digits(number.max()),
                    scale.name()
                ))),
                Kind::Category(it) | Kind::Ordinal(it) if it.values().len() > 1000 => remarks.push(format!(
                    "'{name}' has {} values: few people share one, and noise hides small groups. Fewer and broader values \
                     learn better.",
                    it.values().len()
                )),
                _ => {}
            }
            if let Some(fill) = fill_of(&column.kind) {
                remarks.push(format!(
                    "A missing '{name}' counts as {fill}, and nobody can tell the two apart later."
                ));
            }
        }
        remarks
    }
}

/// A scale that fits bounds so far apart that equal bins say little.
fn better_scale(number: &Number) -> Option<Transform> {
    const WIDE: f64 = 10_000.0;
    let even = number.transform() == Transform::None
        && number.spacing() == Spacing::Even
        && !number.has_declared_cuts();
    match (number.min(), number.max()) {
        (min, max) if even && min > 0.0 && max / min >= WIDE => Some(Transform::Log),
        (0.0, max) if even && max >= WIDE => Some(Transform::Log1p(None)),
        _ => None,
    }
}

fn fill_of(kind: &Kind) -> Option<String> {
    match kind {
        Kind::Number(number) => number.fill().map(digits),
        Kind::Ordinal(it) | Kind::Category(it) | Kind::Flag(it) | Kind::Label(Label::Classes(it)) => it
            .fill()
            .map(|fill| format!("{:?}", it.values()[usize::from(fill)])),
        _ => None,
    }
}

/// Whether bins that nothing is said about are still to be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Bins {
    LeftOpen,
    Settled,
}

impl Column {
    /// Whether its bins are another algorithm's choice.
    fn differs_by_algorithm(&self) -> bool {
        matches!(&self.kind, Kind::Number(number) if bins(number) != bins(&number.spread()))
    }

    fn in_words(&self, schema: &Schema, settled: Bins) -> String {
        let measure = self
            .measure
            .as_ref()
            .map_or_else(String::new, |unit| format!(" {unit}"));
        let whose = if self.private { "private" } else { "public" };
        match &self.kind {
            Kind::Number(number) => format!(
                "{}, {whose}: {} to {}{measure}; {}; what lies beyond counts as the bound, {}",
                self.kind.name(),
                bound(number, number.min()),
                bound(number, number.max()),
                match settled {
                    Bins::LeftOpen if self.differs_by_algorithm() => format!(
                        "{} (trees with privacy: {})",
                        bins(number),
                        bins(&number.spread())
                    ),
                    _ => bins(number),
                },
                match number.fill() {
                    None => "missing cells have a slot of their own".into(),
                    Some(fill) => format!("missing cells count as {}", digits(fill)),
                }
            ),
            Kind::Ordinal(it) => format!(
                "ordinal, {whose}: {}, in this order{measure}; {}",
                values(it),
                slots(it)
            ),
            Kind::Category(it) => format!("category, {whose}: {}{measure}; {}", values(it), slots(it)),
            Kind::Flag(it) => format!("flag, {whose}: {}{measure}; {}", values(it), slots(it)),
            Kind::Id if schema.unit.column.as_ref() == Some(&self.name) => {
                "id: tells people apart; never learnt from".into()
            }
            Kind::Id => "id: never learnt from, and not read".into(),
            Kind::Skip => "not read".into(),
            Kind::Label(Label::Classes(it)) => {
                let first = &it.values()[0];
                format!(
                    "what is to be predicted, {whose}: {}{measure}; missing cells count as {:?}, undeclared ones as {first:?}",
                    values(it),
                    it.fill().map_or(first, |fill| &it.values()[usize::from(fill)]),
                )
            }
            Kind::Label(Label::Number { min, max }) => format!(
                "what is to be predicted, {whose}: {} to {}{measure}; missing cells count as {}",
                digits(*min),
                digits(*max),
                digits((min + max) / 2.0)
            ),
            Kind::Weight(max) => format!(
                "how much a row counts in training, {whose}: 0 to {}{measure}; a row without one has a weight of zero",
                digits(*max)
            ),
        }
    }
}

fn bins(number: &Number) -> String {
    let count = number.cuts().bins();
    let each = number.is_integer()
        && number.bins().is_none()
        && !number.has_declared_cuts()
        && count as f64 == number.max() - number.min() + 1.0;
    match number.transform() {
        _ if number.has_declared_cuts() => format!("{count} bins between declared cuts"),
        _ if each => format!("{count} bins, one for each"),
        Transform::None if number.spacing() == Spacing::Mixed => {
            format!("{count} bins, half of them even and half finer towards zero")
        }
        transform if number.spacing() == Spacing::Mixed => {
            format!(
                "{count} bins, half of them even and half on a {} scale",
                transform.name()
            )
        }
        Transform::None => format!("{count} bins of equal width"),
        transform => {
            let units = transform.units().map_or_else(String::new, |units| {
                format!(" in units of {}", digits(units.size()))
            });
            let article = if transform.name().starts_with('a') {
                "an"
            } else {
                "a"
            };
            format!(
                "{count} bins of equal width on {article} {} scale{units}",
                transform.name()
            )
        }
    }
}

fn values(it: &Declared) -> String {
    const SHOWN: usize = 8;
    let mut names: Vec<String> = it.values().iter().take(SHOWN).map(|v| format!("{v:?}")).collect();
    if it.values().len() > SHOWN {
        names.push(format!("and {} more", it.values().len() - SHOWN));
    }
    names.join(", ")
}

fn slots(it: &Declared) -> String {
    match it.fill() {
        None => "other values share a slot, missing cells have their own".into(),
        Some(fill) => format!(
            "other values share a slot, missing cells count as {:?}",
            it.values()[usize::from(fill)]
        ),
    }
}
