//! STAND-IN until schemas have a text of their own: replace both functions by `Schema::to_toml` and `Schema::from_toml`.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::data::Schema;
use crate::data::schema::{Column, Declared, Extras, Kind, Label, Layout, Number, Transform, Unit};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    dataset: String,
    unit: (Option<String>, NonZeroU32),
    layout: (bool, u8, u8, Option<u8>),
    missing: Vec<String>,
    columns: Vec<(String, Type, bool, Option<String>)>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Type {
    Number {
        min: f64,
        max: f64,
        integer: bool,
        transform: String,
        bins: Option<u16>,
        cuts: Option<Vec<f64>>,
        fill: Option<f64>,
    },
    Ordinal(Vec<String>, Option<String>),
    Category(Vec<String>, Option<String>),
    Flag(Vec<String>, Option<String>),
    Id,
    Skip,
    Classes(Vec<String>, Option<String>),
    Label(f64, f64),
}

pub(super) fn schema_to_text(schema: &Schema) -> String {
    let list = |declared: &Declared| {
        let fill = declared
            .fill()
            .map(|at| declared.values()[usize::from(at)].clone());
        (declared.values().to_vec(), fill)
    };
    let form = Form {
        dataset: schema.dataset().into(),
        unit: (schema.unit().column.clone(), schema.unit().rows),
        layout: {
            let Layout {
                header,
                delimiter,
                quote,
                comment,
            } = schema.layout();
            (header, delimiter, quote, comment)
        },
        missing: schema.missing().to_vec(),
        columns: schema
            .columns()
            .iter()
            .map(|column| {
                let kind = match &column.kind {
                    Kind::Number(number) => Type::Number {
                        min: number.min(),
                        max: number.max(),
                        integer: number.is_integer(),
                        transform: number.transform().name().into(),
                        bins: number.bins(),
                        cuts: number
                            .has_declared_cuts()
                            .then(|| number.cuts().points().iter().map(|&x| f64::from(x)).collect()),
                        fill: number.fill(),
                    },
                    Kind::Ordinal(declared) => Type::Ordinal(list(declared).0, list(declared).1),
                    Kind::Category(declared) => Type::Category(list(declared).0, list(declared).1),
                    Kind::Flag(declared) => Type::Flag(list(declared).0, list(declared).1),
                    Kind::Id => Type::Id,
                    Kind::Skip => Type::Skip,
                    Kind::Label(Label::Classes(declared)) => {
                        Type::Classes(list(declared).0, list(declared).1)
                    }
                    Kind::Label(Label::Number { min, max }) => Type::Label(*min, *max),
                };
                (column.name.clone(), kind, column.private, column.measure.clone())
            })
            .collect(),
    };
    // Unwrap safety: plain structs with text keys always serialise.
    serde_json::to_string(&form).expect("a schema is plain data")
}

pub(super) fn schema_from_text(text: &str) -> Result<Schema, Error> {
    let form: Form = serde_json::from_str(text)
        .map_err(|e| Error::Data(format!("the model's schema makes no sense: {e}")))?;
    let mut columns = Vec::new();
    for (name, kind, private, measure) in form.columns {
        let declared = |values, fill: Option<String>| Declared::new(values, fill.as_deref());
        let kind = match kind {
            Type::Number {
                min,
                max,
                integer,
                transform,
                bins,
                cuts,
                fill,
            } => {
                let transform = Transform::NAMES
                    .iter()
                    .find(|(known, _)| *known == transform)
                    .map(|(_, transform)| *transform)
                    .ok_or_else(|| Error::Data(format!("the model's schema: no transform '{transform}'")))?;
                let extras = Extras {
                    integer,
                    transform,
                    bins,
                    cuts,
                    fill,
                };
                Kind::Number(Number::new(min, max, extras)?)
            }
            Type::Ordinal(values, fill) => Kind::Ordinal(declared(values, fill)?),
            Type::Category(values, fill) => Kind::Category(declared(values, fill)?),
            Type::Flag(values, fill) => Kind::Flag(declared(values, fill)?),
            Type::Id => Kind::Id,
            Type::Skip => Kind::Skip,
            Type::Classes(values, fill) => Kind::Label(Label::Classes(declared(values, fill)?)),
            Type::Label(min, max) => Kind::Label(Label::Number { min, max }),
        };
        columns.push(Column {
            name,
            kind,
            private,
            measure,
        });
    }
    let unit = Unit {
        column: form.unit.0,
        rows: form.unit.1,
    };
    let layout = Layout {
        header: form.layout.0,
        delimiter: form.layout.1,
        quote: form.layout.2,
        comment: form.layout.3,
    };
    Schema::new(form.dataset, unit, layout, form.missing, columns)
}
